#include "assay/core/rank_pairs.h"

#include <gtest/gtest.h>

#include <vector>

#include "assay/core/random.h"

namespace assay {
namespace {

RankPairs by_looking_at_each(const std::vector<double>& a, const std::vector<double>& b) {
  RankPairs found;
  for (size_t i = 0; i < a.size(); i++) {
    for (size_t j = 0; j < i; j++) {
      found.pairs++;
      found.apart += (a[i] - a[j]) * (b[i] - b[j]) < 0 ? 1 : 0;
      found.tied_a += a[i] == a[j] ? 1 : 0;
      found.tied_b += b[i] == b[j] ? 1 : 0;
      found.tied_both += a[i] == a[j] && b[i] == b[j] ? 1 : 0;
    }
  }
  return found;
}

// Of few different values there are many ties, of many none.
TEST(RankPairs, AreThoseOfAllPairs) {
  for (uint64_t trial = 0; trial < 300; trial++) {
    RandomStream random(trial, "rank pairs test");
    const size_t count = random.below(40);
    const uint32_t levels = 1 + random.below(20);
    std::vector<double> a(count);
    std::vector<double> b(count);
    for (size_t i = 0; i < count; i++) {
      a[i] = random.below(levels);
      b[i] = random.below(levels);
    }
    const RankPairs expected = by_looking_at_each(a, b);
    const RankPairs found = count_rank_pairs(a, b);
    EXPECT_EQ(found.pairs, expected.pairs);
    EXPECT_EQ(found.apart, expected.apart);
    EXPECT_EQ(found.tied_a, expected.tied_a);
    EXPECT_EQ(found.tied_b, expected.tied_b);
    EXPECT_EQ(found.tied_both, expected.tied_both);
  }
}

}  // namespace
}  // namespace assay
