#include "assay/core/budget.h"

#include <fmt/format.h>

#include "assay/core/error.h"

namespace assay {

void Spending::take_bytes(uint64_t count) {
  context_.check_cancelled();
  if (count > context_.budget.bytes - bytes_) {
    fail_input(fmt::format("{}: takes more than the {} bytes of memory that are allowed", where_,
                           context_.budget.bytes));
  }
  bytes_ += count;
}

void Spending::take_steps(uint64_t count) {
  context_.check_cancelled();
  if (count > context_.budget.steps - steps_) {
    fail_input(fmt::format("{}: takes more than the {} steps of computation that are allowed", where_,
                           context_.budget.steps));
  }
  steps_ += count;
}

}  // namespace assay
