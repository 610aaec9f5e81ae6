#include "assay/data/neighbours/limits.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/data/neighbours/space.h"

namespace assay {
namespace {

// Half a unit in the last place of float32, and what float64 lost before, taking off the mean and dividing.
constexpr double kRounding = 0x1p-24 * (1 + 0x1p-16);
// The same where coordinates are so small that they have fewer digits.
constexpr double kSmallest = std::numeric_limits<float>::denorm_min();

}  // namespace

double rounding_slack(const BlockLayout& layout, std::span<const float> values) {
  if (!layout.scaled()) return 0;
  double total = 0;
  for (size_t i = 0; i < layout.numbers(); ++i) {
    const float value = values[layout.mismatches + i];
    if (value == kMissingCoordinate) continue;
    const double off = (layout.largest[i] + std::abs(value)) * kRounding + 2 * kSmallest;
    switch (layout.norm) {
      case Norm::linf: total = std::max(total, off); break;
      case Norm::l1: total += off; break;
      case Norm::l2: total += off * off; break;
    }
  }
  // A distance under l2 moves by no more than the length of what its coordinates moved by.
  return (layout.norm == Norm::l2 ? std::sqrt(total) : total) * (1 + 0x1p-20);
}

float mismatch_estimate(const BlockLayout& layout, double slack) {
  if (layout.norm != Norm::linf) return 1;
  return std::nextafter(limits::highest_estimate(1, slack), std::numeric_limits<float>::infinity());
}

}  // namespace assay
