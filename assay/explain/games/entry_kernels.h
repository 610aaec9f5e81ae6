// The vector loops of entry_tables.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "assay/core/matrix.h"
#include "assay/explain/games/entry_tables.h"

namespace assay {

// deltas[of_column[c] * stride + j] += differences[c] * weights[c][j] for all columns c in ascending order, in float64.
// Columns whose difference is 0 are skipped.
void add_deltas(MatrixView<const float> weights, std::span<const uint32_t> of_column,
                std::span<const double> differences, double* deltas, size_t stride);

// Writes the tables of all chunks, one after the other. Row m of a chunk's table is its row 0 plus the deltas of the
// players whose bits are set in m. Row 0 is `base` in the last chunk and zero in the others. Rows of deltas, base and
// tables have `stride` numbers, a multiple of the vector length.
void build_tables(const TablePlan& plan, const float* deltas, const float* base, size_t stride, float* tables);

// sums[i * width + j] = sum over chunks c of tables[rows[i * chunks + c] * stride + j] for i < count and j < width.
void sum_table_rows(const float* tables, size_t stride, const uint32_t* rows, size_t chunks, size_t count, size_t width,
                    float* sums);

}  // namespace assay
