// The vector arithmetic of neighbour search, on blocks of kBlockRows rows (or boxes), stored coordinate by coordinate.
//
// First, float32 estimates from the scaled coordinates drop rows that are surely beyond a limit. They never drop a row
// within it. Then the distances of the rows that are left are computed from the cells in float64, in the order of the
// space's coordinates, by the same arithmetic on every vector target. So results are those of a float64 search through
// all rows; float32 only saves time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/data/neighbours.h"
#include "assay/data/neighbours/limits.h"

namespace assay {

// The rows of one block.
struct BlockRows {
  const float* values = nullptr;  // coordinates: coordinates() x kBlockRows
  const float* cells = nullptr;   // cells of the table: numbers() x kBlockRows
};

// Bit i is set if row i may be within the limit: its estimate is at most limits.ceiling.
uint32_t rows_under(const BlockLayout& layout, const BlockRows& rows, const BlockQuery& query,
                    const BlockLimits& limits);

// What the estimates say of the rows of a block: bit i of each mask is for row i.
struct BlockEstimate {
  uint32_t under = 0;   // as rows_under
  uint32_t surely = 0;  // estimate at most limits.floor: the distance is at most the limit
  uint32_t zero = 0;    // estimate 0: the distance may be 0
};
BlockEstimate estimate_rows(const BlockLayout& layout, const BlockRows& rows, const BlockQuery& query,
                            const BlockLimits& limits);

// As rows_under, for boxes: the distance of a box is that of its nearest point. estimates receives kBlockRows numbers:
// a nearer box has a smaller one, and they may be compared with a later ceiling. boxes: coordinates() x (kBlockRows
// lower bounds, kBlockRows upper bounds).
uint32_t boxes_under(const BlockLayout& layout, const float* boxes, const BlockQuery& query, float ceiling,
                     float* estimates);

// The float64 distances of all rows of a block, or of one row: both give the same bits.
void exact_distances(const BlockLayout& layout, const BlockRows& rows, const BlockQuery& query, double* distances);
double exact_distance(const BlockLayout& layout, const BlockRows& rows, size_t row, const BlockQuery& query);
// exact_distances takes about as long as this many calls of exact_distance.
inline constexpr int kFewBlockRows = 2;

}  // namespace assay
