#include "assay/data/neighbours/limits.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/data/neighbours/space.h"

namespace assay {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
// Half a unit in the last place of float32, and what float64 lost before, taking off the mean and dividing.
constexpr double kRounding = 0x1p-24 * (1 + 0x1p-16);
// The same where coordinates are so small that they have fewer digits.
constexpr double kSmallest = std::numeric_limits<float>::denorm_min();

float float_above(double value) {
  if (!(value < std::numeric_limits<float>::max())) return kInfinity;
  return std::nextafter(static_cast<float>(value), kInfinity);
}

float float_below(double value) {
  if (!(value < std::numeric_limits<float>::max())) return std::numeric_limits<float>::max();
  return std::nextafter(static_cast<float>(value), -kInfinity);
}

// Under l-infinity: a difference of float32 numbers is rounded once.
float highest_estimate(double limit, double slack) { return float_above((limit + slack) * (1 + 0x1p-22)); }

}  // namespace

double rounding_slack(const BlockLayout& layout, std::span<const float> values) {
  if (!layout.scaled()) return 0;
  double total = 0;
  for (size_t i = 0; i < layout.numbers(); ++i) {
    const float value = values[layout.mismatches + i];
    if (value == kMissing) continue;
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
  return layout.norm == Norm::linf ? std::nextafter(highest_estimate(1, slack), kInfinity) : 1;
}

BlockLimits estimate_limits(const BlockLayout& layout, const BlockQuery& query, double limit) {
  if (limit < 0) return {-1, -1, true};
  if (layout.norm == Norm::linf) {
    const float ceiling = highest_estimate(limit, query.slack);
    const float floor = float_below((limit - query.slack) * (1 - 0x1p-22));
    return limit < 1 ? BlockLimits{ceiling, floor, true} : BlockLimits{std::max(ceiling, query.mismatch), floor, false};
  }
  // Each of the d terms is rounded when subtracted, squared and at most d times when added, by 2^-24 relative each time
  // (or absolute, below the smallest normal number).
  const auto d = static_cast<double>(layout.coordinates());
  const double relative = (d + 8) * 0x1p-24;  // e^x is at most 1 + x + x^2 here
  const double absolute = (d + 1) * std::numeric_limits<float>::min();
  const auto sum = [&](double distance) { return layout.norm == Norm::l2 ? distance * distance : distance; };
  const float ceiling = float_above(sum(limit + query.slack) * (1 + relative * (1 + relative)) + absolute);
  const double inner = limit - query.slack;
  const float floor = inner < 0 ? -1 : float_below(sum(inner) * (1 - relative) - absolute);
  return {ceiling, floor, true};
}

}  // namespace assay
