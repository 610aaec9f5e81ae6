// Counts how two lists order pairs of items: alike, oppositely, or tied. Kendall's statistics are computed from this.
#pragma once

#include <cstdint>
#include <span>

namespace assay {

struct RankPairs {
  uint64_t pairs = 0;      // all pairs of items
  uint64_t apart = 0;      // ordered one way by a and the other by b
  uint64_t tied_a = 0;     // equal in a
  uint64_t tied_b = 0;     // equal in b
  uint64_t tied_both = 0;  // equal in both
};

// No value may be NaN. Cost: n ln n, by counting the exchanges of a merge sort (Knight 1966).
RankPairs count_rank_pairs(std::span<const double> a, std::span<const double> b);

}  // namespace assay
