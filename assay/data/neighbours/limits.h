// What float32 estimates of distances can say, and where only float64 can.
//
// A distance is computed from the cells as they are in the table: |a - b| / deviation, in float64. Estimates are
// differences of scaled coordinates, which are rounded to float32, so they are off by what that rounding took from the
// two coordinates, and by the arithmetic. Both are bounded here, for each query: an estimate above the ceiling of a
// limit is surely of a row beyond it, one at or under its floor surely of a row within it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "assay/data/neighbours.h"

namespace assay {

// How coordinates lie in a block: those that only match or not first, then the numbers, each kind in the order in which
// it is visited.
struct BlockLayout {
  Norm norm = Norm::linf;
  size_t mismatches = 0;
  std::vector<uint32_t> position;  // of each coordinate of the space in a block
  // By number, in the order of a block. Empty where coordinates are the cells themselves, and distances differences.
  std::vector<double> deviation;
  std::vector<double> inverse;  // 1 / deviation
  std::vector<double> largest;  // the largest coordinate of the pool, without its sign

  size_t coordinates() const { return position.size(); }
  size_t numbers() const { return position.size() - mismatches; }
  bool scaled() const { return !deviation.empty(); }
};

struct BlockQuery {
  const float* values = nullptr;  // coordinates, in block order
  const float* cells = nullptr;   // of the numbers, in block order
  bool missing = false;           // whether a number of the query or of the pool is missing
  double slack = 0;               // how far rounding of coordinates can move a distance
  float mismatch = 1;             // what a mismatch counts in the estimate of a box
};

// How far the distance of the query from any row of the pool can be from that of their rounded coordinates.
double rounding_slack(const BlockLayout& layout, std::span<const float> values);
// Under l-infinity more than the ceiling of every limit below 1, and no more than that of any other: a mismatch is
// exactly 1, and must not be blurred like a number.
float mismatch_estimate(const BlockLayout& layout, double slack);

// Asked for at every block, so they are here to be inlined.
namespace limits {

// Twice the rounding of a difference and of a limit itself, relative, and absolute where float32 has fewer digits.
inline constexpr double kRelative = 0x1p-21;
inline constexpr double kAbsolute = 0x1p-147;

inline float rounded_up(double value) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  return value < kLargest ? static_cast<float>(value) : std::numeric_limits<float>::infinity();
}
inline float rounded_down(double value) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  return value < kLargest ? static_cast<float>(value) : kLargest;
}
// Under l-infinity a difference of float32 numbers is rounded once.
inline float highest_estimate(double limit, double slack) {
  return rounded_up((limit + slack) * (1 + kRelative) + kAbsolute);
}
// Otherwise each of the d terms is rounded when subtracted, squared and at most d times when added, by 2^-24 relative
// each time, or absolute, below the smallest normal number. (e^x is less than 1 + x + x^2 up to 30 million terms.)
inline double relative_error(const BlockLayout& layout) {
  return (static_cast<double>(layout.coordinates()) + 10) * 0x1p-24;
}
inline double absolute_error(const BlockLayout& layout) {
  return (static_cast<double>(layout.coordinates()) + 2) * std::numeric_limits<float>::min();
}

}  // namespace limits

// The estimate of every row whose distance is at most the limit is at most this.
inline float estimate_ceiling(const BlockLayout& layout, const BlockQuery& query, double limit) {
  if (limit < 0) return -1;
  if (layout.norm == Norm::linf) {
    const float highest = limits::highest_estimate(limit, query.slack);
    return limit < 1 ? highest : std::max(highest, query.mismatch);
  }
  const double distance = limit + query.slack;
  const double error = limits::relative_error(layout);
  return limits::rounded_up((layout.norm == Norm::l2 ? distance * distance : distance) * (1 + error + error * error) +
                            limits::absolute_error(layout));
}

// Rows whose estimate is at most this have a distance of at most the limit.
inline float estimate_floor(const BlockLayout& layout, const BlockQuery& query, double limit) {
  const double distance = limit - query.slack;
  if (distance < 0) return -1;
  if (layout.norm == Norm::linf) {
    return limits::rounded_down(distance * (1 - limits::kRelative) - limits::kAbsolute);
  }
  return limits::rounded_down((layout.norm == Norm::l2 ? distance * distance : distance) *
                                  (1 - limits::relative_error(layout)) -
                              limits::absolute_error(layout));
}

// Whether a mismatch alone can put a row beyond the limit.
inline bool mismatches_count(const BlockLayout& layout, double limit) { return layout.norm != Norm::linf || limit < 1; }

struct BlockLimits {
  float ceiling;
  float floor;
  bool mismatches_count;
};

inline BlockLimits estimate_limits(const BlockLayout& layout, const BlockQuery& query, double limit) {
  return {estimate_ceiling(layout, query, limit), estimate_floor(layout, query, limit),
          mismatches_count(layout, limit)};
}

}  // namespace assay
