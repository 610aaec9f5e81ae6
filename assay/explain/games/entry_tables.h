// Entries of coalitions: the outputs of an affine first layer, which are linear in the mask,
//   entry(S) = entry(reference) + sum over players p in S of delta_p,
//   delta_p = sum over p's columns c of weights[c] * (x_c - reference_c).
//
// Players are cut into small chunks. A table holds the sum of deltas of every subset of a chunk, made by one addition
// each. A coalition's entries are the sum of one table row for each chunk. Where tables would cost more than they save
// (many players), entries are a product of the 0/1 masks and the deltas instead.
//
// Cost of a row, in additions of entries: 2^(players of the chunk) for each chunk's table, then one for each coalition
// and chunk (with a product: for each coalition and player).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/core/matrix.h"
#include "assay/explain/games/coalitions.h"

namespace assay {

// How the players are cut into chunks. At least two chunks; with one player the first chunk is empty.
struct TablePlan {
  static constexpr size_t kMostChunks = 16;
  static constexpr size_t kMostPlayers = 8;  // of a chunk

  size_t chunks = 0;                                     // 0: no tables, a product instead
  std::array<uint32_t, kMostChunks + 1> first_player{};  // of each chunk; then the number of players
  std::array<uint32_t, kMostChunks + 1> first_row{};     // of each chunk in the table; then the number of rows

  size_t rows() const { return first_row[chunks]; }
};

// The cheapest plan for this number of coalitions of each row.
TablePlan plan_tables(size_t players, size_t coalitions, size_t entries);

// rows[i * plan.chunks + c] = the row of chunk c's table for coalition begin + i.
void find_table_rows(const TablePlan& plan, const Coalitions& coalitions, size_t begin, size_t count, uint32_t* rows);

// masks[i * mask_stride(players) + p] = 1 where coalition begin + i has player p, else 0.
inline size_t mask_stride(size_t players) { return (players + 7) / 8 * 8; }
void write_masks(const Coalitions& coalitions, size_t begin, size_t count, float* masks);

// differences[c] = x_c - reference_c.
void subtract(std::span<const float> x, std::span<const float> reference, std::vector<double>& differences);

// entries[r][j] = bias[j] + sum over columns c of rows[r][c] * weights[c][j], in float64.
Matrix64 affine_entries(MatrixView<const float> rows, MatrixView<const float> weights, std::span<const float> bias);

// The number of entries of a row in memory: rounded up to whole vectors.
inline size_t padded(size_t entries) { return (entries + 15) / 16 * 16; }

}  // namespace assay
