// Pairs of items that two lists of values order alike, apart, or not at all: what Kendall's statistics are made of.
#pragma once

#include <cstdint>
#include <span>

namespace assay {

struct RankPairs {
  uint64_t pairs = 0;      // of items
  uint64_t apart = 0;      // ordered one way by a and the other by b
  uint64_t tied_a = 0;     // equal in a
  uint64_t tied_b = 0;     // equal in b
  uint64_t tied_both = 0;  // equal in both
};

// No value is NaN. Cost: n ln n, by counting the exchanges of a merge sort (Knight 1966).
RankPairs count_rank_pairs(std::span<const double> a, std::span<const double> b);

}  // namespace assay
