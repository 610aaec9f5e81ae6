// What a kernel costs beyond its values. Most kernels touch each element of their inputs and outputs about once and
// hold nothing; those that do more say so by deriving from KernelCost as well.
#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/model/ops/kernel.h"

namespace assay {

// Files set the sizes, so sums and products may overflow: the result is then UINT64_MAX.
inline uint64_t saturated_sum(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }
inline uint64_t saturated_product(uint64_t a, uint64_t b) { return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b; }

class KernelCost {
 public:
  // Steps of one turn of an innermost loop that compilers do not vectorise.
  static constexpr uint64_t kSlowSteps = 8;

  virtual ~KernelCost() = default;
  // What forward takes beyond one step for each element of its inputs and outputs, in multiply-adds of a product of
  // float32 matrices (about 0.1 ns).
  virtual uint64_t further_steps() const { return 0; }
  // Memory that the kernel itself holds: transposed weights, tables of positions.
  virtual size_t held_bytes() const { return 0; }
};

inline uint64_t further_steps(const Kernel& kernel) {
  const auto* cost = dynamic_cast<const KernelCost*>(&kernel);
  return cost == nullptr ? 0 : cost->further_steps();
}

inline size_t held_bytes(const Kernel& kernel) {
  const auto* cost = dynamic_cast<const KernelCost*>(&kernel);
  return cost == nullptr ? 0 : cost->held_bytes();
}

}  // namespace assay
