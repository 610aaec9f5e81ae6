#include "assay/explain/games/entry_tables.h"

#include <algorithm>

#include "assay/explain/games/entry_kernels.h"

namespace assay {
namespace {

// Tables beyond the second-level cache are slower than a product.
constexpr size_t kMostTableBytes = size_t{1} << 20;
// A product does so many additions of entries in the time of one from tables, and a call of it takes as long as so
// many.
constexpr size_t kProductGain = 3;
constexpr size_t kProductCall = 8;

TablePlan cut(size_t players, size_t chunks) {
  TablePlan plan;
  plan.chunks = chunks;
  for (size_t c = 0; c < chunks; c++) {
    const size_t end = players * (c + 1) / chunks;
    plan.first_player[c + 1] = static_cast<uint32_t>(end);
    plan.first_row[c + 1] = plan.first_row[c] + (uint32_t{1} << (end - plan.first_player[c]));
  }
  return plan;
}

// The numbers 0 and 1 of every eight bits.
constexpr std::array<std::array<float, 8>, 256> kEightMasks = [] {
  std::array<std::array<float, 8>, 256> made{};
  for (size_t bits = 0; bits < 256; bits++) {
    for (size_t p = 0; p < 8; p++) made[bits][p] = (bits >> p & 1) != 0 ? 1.0F : 0.0F;
  }
  return made;
}();

}  // namespace

TablePlan plan_tables(size_t players, size_t coalitions, size_t entries) {
  size_t best = 0;
  size_t least = coalitions * players / kProductGain + kProductCall;
  const size_t most_rows = kMostTableBytes / sizeof(float) / std::max<size_t>(1, padded(entries));
  const size_t fewest = (players + TablePlan::kMostPlayers - 1) / TablePlan::kMostPlayers;
  for (size_t chunks = std::max<size_t>(2, fewest); chunks <= TablePlan::kMostChunks; chunks++) {
    if (coalitions * chunks >= least) break;
    // players % chunks of the chunks have one player more than the others.
    const size_t rows = (chunks + players % chunks) << (players / chunks);
    if (rows + coalitions * chunks >= least || rows > most_rows) continue;
    best = chunks;
    least = rows + coalitions * chunks;
  }
  return best == 0 ? TablePlan() : cut(players, best);
}

void find_table_rows(const TablePlan& plan, const Coalitions& coalitions, size_t begin, size_t count, uint32_t* rows) {
  std::array<uint32_t, TablePlan::kMostChunks> low{};
  for (size_t c = 0; c < plan.chunks; c++) low[c] = plan.first_row[c + 1] - plan.first_row[c] - 1;
  if (plan.chunks == 2 && coalitions.words() == 1) {
    const uint32_t shift = plan.first_player[1];
    for (size_t i = 0; i < count; i++) {
      const uint64_t bits = coalitions.word(begin + i, 0);
      rows[2 * i] = static_cast<uint32_t>(bits) & low[0];
      rows[2 * i + 1] = plan.first_row[1] + (static_cast<uint32_t>(bits >> shift) & low[1]);
    }
    return;
  }
  if (coalitions.words() == 1) {
    for (size_t c = 0; c < plan.chunks; c++) {
      const uint32_t shift = std::min<uint32_t>(plan.first_player[c], 63);
      const uint32_t first = plan.first_row[c];
      uint32_t* out = rows + c;
      for (size_t i = begin; i < begin + count; i++, out += plan.chunks) {
        *out = first + (static_cast<uint32_t>(coalitions.word(i, 0) >> shift) & low[c]);
      }
    }
    return;
  }
  for (size_t i = 0; i < count; i++) {
    for (size_t c = 0; c < plan.chunks; c++) {
      const size_t word = plan.first_player[c] / 64;
      const size_t shift = plan.first_player[c] % 64;
      // A chunk at the end without players may begin behind the last word.
      uint64_t bits = word < coalitions.words() ? coalitions.word(begin + i, word) >> shift : 0;
      if (shift != 0 && word + 1 < coalitions.words()) bits |= coalitions.word(begin + i, word + 1) << (64 - shift);
      rows[i * plan.chunks + c] = plan.first_row[c] + (static_cast<uint32_t>(bits) & low[c]);
    }
  }
}

void write_masks(const Coalitions& coalitions, size_t begin, size_t count, float* masks) {
  const size_t stride = mask_stride(coalitions.players());
  for (size_t i = begin; i < begin + count; i++) {
    for (size_t p = 0; p < stride; p += 8, masks += 8) {
      std::copy_n(kEightMasks[coalitions.word(i, p / 64) >> p % 64 & 255].data(), 8, masks);
    }
  }
}

void subtract(std::span<const float> x, std::span<const float> reference, std::vector<double>& differences) {
  differences.resize(x.size());
  for (size_t c = 0; c < x.size(); c++) differences[c] = static_cast<double>(x[c]) - reference[c];
}

Matrix64 affine_entries(MatrixView<const float> rows, MatrixView<const float> weights, std::span<const float> bias) {
  Matrix64 entries(rows.rows(), weights.cols());
  const std::vector<uint32_t> together(weights.rows(), 0);
  std::vector<double> values(weights.rows());
  for (size_t r = 0; r < rows.rows(); r++) {
    const auto row = rows.row(r);
    std::copy(row.begin(), row.end(), values.begin());
    std::copy(bias.begin(), bias.end(), entries.row(r).begin());
    add_deltas(weights, together, values, entries.row(r).data(), entries.cols());
  }
  return entries;
}

}  // namespace assay
