// Ranks of feature values among the numbers that trees compare them with, in 16 bits. A branch is then one test of an
// interval, and vector code tests many rows at once.
//
//   rank(x) = 1 + number of cuts below x; 0 where x is missing
//
// Cuts are float32 numbers. The true side of every branch is a union of intervals (c', c] between neighbouring cuts,
// with or without the missing values. Comparisons with float64 thresholds stay exact: x <= t is the same as x <= c,
// with c the largest float32 up to t. Branches whose true side is no single interval of ranks (sets, zeros that count
// as missing) use a table with one bit for each rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/core/matrix.h"
#include "assay/model/trees/ensemble.h"

namespace assay {

// Rows that are ranked and decided together: whole vectors of 16-bit numbers.
inline constexpr size_t kRankRows = 128;

// A row goes to the true child where ((rank - lowest) <= width) differs from flip, in unsigned arithmetic; flip has all
// bits or none.
struct RankTest {
  uint32_t column = 0;  // of the ranks; columns() + t is the result of bit test t of the tree
  uint16_t lowest = 0;
  uint16_t width = 0;
  uint16_t flip = 0;
};

// The rows go true where their bit is set.
struct BitTest {
  uint32_t column = 0;      // of the ranks
  uint32_t first_word = 0;  // of the bits of the column's ranks
};

// How much of the ranks' tables a tree takes. The sum over trees is an upper bound for all trees together.
struct RankDemand {
  size_t cuts = 0;
  size_t bit_tests = 0;
};
// Counting stops as soon as the demand is too large to fit; the result is then too small, but still does not fit.
RankDemand rank_demand(const TreeEnsemble& trees, std::span<const uint32_t> branches);
// Whether ranks fit into 16 bits and bits into 64 MiB.
bool ranks_fit(const RankDemand& demand);

class FeatureRanks {
 public:
  // For these branches, of all trees that share ranks. ranks_fit() must hold for their demand.
  FeatureRanks(const TreeEnsemble& trees, std::span<const uint32_t> branches);

  // The number of features that some branch tests.
  size_t columns() const { return features_.size(); }
  // The test of one of the branches. If its true side is no interval of ranks, a bit test is appended to bit_tests.
  RankTest test(const TreeNode& branch, std::vector<BitTest>& bit_tests);
  // Writes ranks[column * kRankRows + i] for row i of at most kRankRows rows; ranks of rows beyond the last are 0.
  void rank(std::span<const float* const> rows, uint16_t* ranks) const;
  // Writes ranks[column] for one row.
  void rank_row(const float* row, uint16_t* ranks) const;
  // Whether a row with this rank in the test's column goes true.
  bool goes_true(const BitTest& test, uint16_t rank) const {
    return (bits_[test.first_word + rank / 64] >> (rank % 64) & 1) != 0;
  }
  // decided[t * kRankRows + i]: 1 where row i goes true by bit test t, 0 where not.
  void decide(std::span<const BitTest> tests, const uint16_t* ranks, uint16_t* decided) const;

 private:
  std::span<const float> cuts(size_t column) const {
    return std::span(cuts_).subspan(first_cut_[column], first_cut_[column + 1] - first_cut_[column]);
  }
  // The rank of x.
  uint16_t rank_of(size_t column, float x) const;

  const TreeEnsemble* trees_;
  std::vector<uint32_t> column_of_feature_;
  std::vector<uint32_t> features_;  // of each column
  std::vector<uint32_t> first_cut_;
  std::vector<float> cuts_;  // of each column ascending
  std::vector<uint64_t> bits_;
};

}  // namespace assay
