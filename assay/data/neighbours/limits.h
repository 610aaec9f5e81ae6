// Bounds for the error of float32 estimates of distances: which rows they decide, and which need float64.
//
// A distance is computed from the cells of the table: |a - b| / deviation, in float64. An estimate uses scaled
// coordinates, which are rounded to float32. So it is off by the rounding of the two coordinates, and by float32
// arithmetic. Both are bounded here, for each query. If an estimate is above the ceiling of a limit, the distance is
// above the limit. If it is at most the floor, the distance is at most the limit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "assay/data/neighbours.h"

namespace assay {

// The order of coordinates in a block: first those that only match or differ (categories), then the numbers; within
// each kind, those that differ most between rows come first.
struct BlockLayout {
  Norm norm = Norm::linf;
  size_t mismatches = 0;
  std::vector<uint32_t> position;  // position[c]: where coordinate c of the space lies in a block
  // One entry for each number, in the order of a block. Empty if coordinates are the cells themselves, not scaled.
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
  float mismatch = 1;             // what a mismatch counts as in the estimate of a box
};

// The most that rounding of coordinates can change the distance of the query from any row of the pool.
double rounding_slack(const BlockLayout& layout, std::span<const float> values);
// What a mismatch counts as in the estimate of a box: 1 under l1 and l2. Under l-infinity it is above the ceiling of
// every limit below 1 and at most the ceiling of all others, because a mismatch is exactly 1, without rounding.
float mismatch_estimate(const BlockLayout& layout, double slack);

// Called for every block, so they are here to be inlined.
namespace limits {

// Room for the rounding of a difference and of a limit: relative, and absolute for tiny numbers with fewer digits.
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
// Under l1 and l2 each of the d terms is rounded when it is subtracted, when it is squared, and at most d times when it
// is added: each time by 2^-24 relative or, below the smallest normal number, by an absolute error. The ceiling bounds
// e^x by 1 + x + x^2, which holds up to 30 million terms.
inline double relative_error(const BlockLayout& layout) {
  return (static_cast<double>(layout.coordinates()) + 10) * 0x1p-24;
}
inline double absolute_error(const BlockLayout& layout) {
  return (static_cast<double>(layout.coordinates()) + 2) * std::numeric_limits<float>::min();
}

}  // namespace limits

// If the distance of a row is at most `limit`, its estimate is at most this ceiling.
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

// If an estimate is at most this floor, the exact distance is at most `limit`.
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

// Whether mismatches can put a row beyond the limit. Under l-infinity they cannot if the limit is 1 or more.
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
