// What float32 estimates of distances can say, and where only float64 can.
//
// A distance is computed from the cells as they are in the table: |a - b| / deviation, in float64. Estimates are
// differences of scaled coordinates, which are rounded to float32, so they are off by what that rounding took from the
// two coordinates, and by the arithmetic. Both are bounded here, for each query: an estimate above the ceiling of a
// limit is surely of a row beyond it, one at or under its floor surely of a row within it.
#pragma once

#include <cstddef>
#include <cstdint>
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

struct BlockLimits {
  float ceiling;          // the estimate of every row whose distance is at most the limit is at most this
  float floor;            // rows whose estimate is at most this have a distance of at most the limit
  bool mismatches_count;  // whether a mismatch alone can put a row beyond the limit
};
BlockLimits estimate_limits(const BlockLayout& layout, const BlockQuery& query, double limit);

}  // namespace assay
