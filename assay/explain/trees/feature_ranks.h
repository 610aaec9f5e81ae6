// Rows as ranks: each feature's place among the numbers that some trees compare it with, in 16 bits, so that the
// decision of a branch is one test of an interval and many rows are decided at once.
//
//   rank(x) = 1 + number of cuts below x; 0 where x is missing
//
// Cuts are float32 numbers c such that every branch's true side is a union of classes (c', c] of neighbouring cuts,
// with or without the missing. Comparisons of float32 features with float64 thresholds stay exact: x <= t where x is at
// most the largest float32 up to t. Branches whose true side is no interval of ranks (sets, zeros that count as
// missing) read it from a table of bits, one for each rank.
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
  uint32_t column = 0;  // of the ranks; from FeatureRanks::columns() on it is that of a bit test of the tree
  uint16_t lowest = 0;
  uint16_t width = 0;
  uint16_t flip = 0;
};

// The rows go true where their bit is set.
struct BitTest {
  uint32_t column = 0;      // of the ranks
  uint32_t first_word = 0;  // of the bits of the column's ranks
};

// What a tree adds to the size of the ranks' tables: sums over trees bound those of all together.
struct RankDemand {
  size_t cuts = 0;
  size_t bit_tests = 0;
};
// No tree that does not fit is gone through to its end: its demand is then one that does not fit, and no more.
RankDemand rank_demand(const TreeEnsemble& trees, std::span<const uint32_t> branches);
// Whether ranks fit into 16 bits and bits into 64 MiB.
bool ranks_fit(const RankDemand& demand);

class FeatureRanks {
 public:
  // For these branches of all trees that go together: ranks_fit() of their demand.
  FeatureRanks(const TreeEnsemble& trees, std::span<const uint32_t> branches);

  // Features that are compared with anything.
  size_t columns() const { return features_.size(); }
  // The test of one of the branches; what is no interval is appended to the tree's bit tests.
  RankTest test(const TreeNode& branch, std::vector<BitTest>& bit_tests);
  // ranks[column * kRankRows + i] of row i of at most kRankRows rows; those of the missing rows are 0.
  void rank(std::span<const float* const> rows, uint16_t* ranks) const;
  // decided[t * kRankRows + i]: 1 where row i goes true by bit test t, 0 where not.
  void decide(std::span<const BitTest> tests, const uint16_t* ranks, uint16_t* decided) const;

 private:
  std::span<const float> cuts(size_t column) const {
    return std::span(cuts_).subspan(first_cut_[column], first_cut_[column + 1] - first_cut_[column]);
  }
  // The rank of every number up to this cut, and above the one before.
  uint16_t rank_of(size_t column, float x) const;

  const TreeEnsemble* trees_;
  std::vector<uint32_t> column_of_feature_;
  std::vector<uint32_t> features_;  // of each column
  std::vector<uint32_t> first_cut_;
  std::vector<float> cuts_;  // of each column ascending
  std::vector<uint64_t> bits_;
};

}  // namespace assay
