// The vector arithmetic of neighbour search, over blocks of kBlockRows rows (or boxes) stored coordinate by coordinate.
//
// A float32 pass over scaled coordinates says which rows of a block may be within a limit; it never drops one that is.
// What it lets through is computed from the cells in float64, in the order of the space's coordinates, by one
// arithmetic whatever the vector target. So results are those of a float64 search through all rows, and only the time
// depends on float32.
#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/data/neighbours.h"
#include "assay/data/neighbours/limits.h"

namespace assay {

// The rows of one block.
struct BlockRows {
  const float* values = nullptr;  // coordinates() x kBlockRows
  const float* cells = nullptr;   // numbers() x kBlockRows
};

// One bit per row: 0 where the distance is known to be above the limit.
uint32_t rows_under(const BlockLayout& layout, const BlockRows& rows, const BlockQuery& query,
                    const BlockLimits& limits);

// What estimates say of the rows of a block, one bit for each.
struct BlockEstimate {
  uint32_t under = 0;   // as rows_under
  uint32_t surely = 0;  // those of them at or under the floor: their distance is at most the limit
  uint32_t zero = 0;    // those of them that may be at distance 0
};
BlockEstimate estimate_rows(const BlockLayout& layout, const BlockRows& rows, const BlockQuery& query,
                            const BlockLimits& limits);

// rows_under for boxes, by the distance to the nearest corner, face or inner point; estimates (kBlockRows of them)
// order boxes by closeness and may be compared with a later ceiling. boxes: coordinates() x (kBlockRows lower bounds,
// kBlockRows upper bounds).
uint32_t boxes_under(const BlockLayout& layout, const float* boxes, const BlockQuery& query, float ceiling,
                     float* estimates);

// The distances of all rows of a block, and that of one: equal to the last bit.
void exact_distances(const BlockLayout& layout, const BlockRows& rows, const BlockQuery& query, double* distances);
double exact_distance(const BlockLayout& layout, const BlockRows& rows, size_t row, const BlockQuery& query);
// A pass over the whole block costs about as much as this many rows one by one.
inline constexpr int kFewBlockRows = 2;

}  // namespace assay
