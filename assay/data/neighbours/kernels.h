// The vector arithmetic of neighbour search, over blocks of kBlockRows rows (or boxes) stored coordinate by coordinate.
//
// A float32 pass says which rows of a block may be within a ceiling; it never drops one that is. What it lets through
// is computed in float64, in the order of the space's coordinates, by one arithmetic whatever the vector target. So
// results are those of a float64 search through all rows, and only the time depends on float32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/data/neighbours.h"

namespace assay {

// How coordinates lie in a block: those that only match or not first, then the numbers, each kind in the order in which
// it is visited.
struct BlockLayout {
  Norm norm = Norm::linf;
  size_t mismatches = 0;
  std::vector<uint32_t> position;  // of each coordinate of the space in a block
  size_t coordinates() const { return position.size(); }
};

struct BlockQuery {
  const float* values = nullptr;  // in block order
  bool missing = false;           // whether a number of the query or of the pool is missing
};

// The float32 ceiling under which the estimate of every row lies whose float64 distance is at most `limit`.
float estimate_ceiling(const BlockLayout& layout, double limit);

// One bit per row: 0 where the distance is known to be above the limit of the ceiling.
// block: coordinates() x kBlockRows values.
uint32_t rows_under(const BlockLayout& layout, const float* block, const BlockQuery& query, float ceiling);

// The float32 floor at or under which only estimates of rows lie whose float64 distance is at most `limit`.
float estimate_floor(const BlockLayout& layout, double limit);

// What estimates say of the rows of a block, one bit for each.
struct BlockEstimate {
  uint32_t under = 0;   // as rows_under
  uint32_t surely = 0;  // those of them at or under the floor: their distance is at most its limit
  uint32_t zero = 0;    // those of them that may be at distance 0
};
BlockEstimate estimate_rows(const BlockLayout& layout, const float* block, const BlockQuery& query, float ceiling,
                            float floor);

// rows_under for boxes, by the distance to the nearest corner, face or inner point; estimates (kBlockRows of them)
// order boxes by closeness and may be compared with a later ceiling. boxes: coordinates() x (kBlockRows lower bounds,
// kBlockRows upper bounds).
uint32_t boxes_under(const BlockLayout& layout, const float* boxes, const BlockQuery& query, float ceiling,
                     float* estimates);

// The distances of all rows of a block, and that of one: equal to the last bit.
void exact_distances(const BlockLayout& layout, const float* block, const BlockQuery& query, double* distances);
double exact_distance(const BlockLayout& layout, const float* block, size_t row, const BlockQuery& query);

}  // namespace assay
