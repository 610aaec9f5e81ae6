#include "assay/core/vector_target.h"

#include <fmt/format.h>
#include <hwy/highway.h>

#include <atomic>
#include <bit>

#include "assay/core/error.h"

namespace assay {
namespace {

// Highway's target bits: the lower, the better.
std::vector<int64_t> runnable_targets() {
  std::vector<int64_t> out;
  auto mask = static_cast<uint64_t>(hwy::SupportedTargets() & HWY_TARGETS);
  for (; mask != 0; mask &= mask - 1) out.push_back(static_cast<int64_t>(uint64_t{1} << std::countr_zero(mask)));
  return out;
}

// The best one, or the one that was pinned; 0 until it is asked for. Asking the processor takes microseconds, far more
// on a virtual machine, and every result names its target.
std::atomic<int64_t> target_in_use = 0;

}  // namespace

std::string vector_target() {
  if (target_in_use == 0) target_in_use = runnable_targets().front();
  return hwy::TargetName(target_in_use);
}

std::vector<std::string> vector_targets() {
  std::vector<std::string> names;
  for (const int64_t target : runnable_targets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

void pin_vector_target(std::string_view name) {
  // Forget an earlier pin, to see all that the machine has.
  hwy::SetSupportedTargetsForTest(0);
  target_in_use = 0;
  for (const int64_t target : runnable_targets()) {
    if (name != hwy::TargetName(target)) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    return;
  }
  fail_input("vector target", joined(vector_targets(), "or"), in_quotes(name));
}

}  // namespace assay
