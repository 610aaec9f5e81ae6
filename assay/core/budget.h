// Counts the memory and steps that one job takes, and ends the job when they exceed its context's Budget.
//
// Sizes in a file are not trusted: code that takes memory or time because a file says so charges it here first. A job
// over budget then ends with an error message, not with a machine out of memory. Each charge also checks for
// cancellation. An account belongs to one job (one file read, one graph folded, one front filtered), so that no job
// pays for an earlier one. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "assay/core/context.h"

namespace assay {

class Spending {
 public:
  // where: what the job works on, for messages ("m.onnx: node 'conv1' (Conv)"). context must outlive the account.
  Spending(const Context& context, std::string where) : context_(context), where_(std::move(where)) {}

  const Context& context() const { return context_; }
  const std::string& where() const { return where_; }
  // Messages name this from now on.
  void at(std::string where) { where_ = std::move(where); }
  // Charge the job: an input error if the total exceeds the budget, Error(cancelled) if the caller asked to stop.
  void take_bytes(uint64_t count);
  void take_steps(uint64_t count);
  // For memory that was freed.
  void give_back_bytes(uint64_t count) { bytes_ -= count < bytes_ ? count : bytes_; }

  uint64_t bytes() const { return bytes_; }
  uint64_t steps() const { return steps_; }
  uint64_t bytes_left() const { return context_.budget.bytes < bytes_ ? 0 : context_.budget.bytes - bytes_; }

 private:
  const Context& context_;
  std::string where_;
  uint64_t bytes_ = 0;
  uint64_t steps_ = 0;
};

// Checks for cancellation in every `every`-th turn: for loops whose turns are too short to check each time.
class Interruptible {
 public:
  explicit Interruptible(const Context& context, uint32_t every = 1 << 14) : context_(context), every_(every) {}
  void turn() {
    if (++turns_ % every_ == 0) context_.check_cancelled();
  }

 private:
  const Context& context_;
  uint32_t every_;
  uint32_t turns_ = 0;
};

// For messages: "198 bytes", "1.6 GiB".
std::string bytes_in_words(uint64_t bytes);

}  // namespace assay
