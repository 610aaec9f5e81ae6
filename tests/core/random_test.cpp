#include "assay/core/random.h"

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace assay {
namespace {

// The known-answer vectors that Salmon et al. publish for Philox4x32-10 pin the generator underneath.
TEST(Random, GeneratorMatchesPublishedVectors) {
  using Philox = r123::Philox4x32;
  const auto zero = Philox()(Philox::ctr_type{{0, 0, 0, 0}}, Philox::key_type{{0, 0}});
  EXPECT_EQ((std::array<uint32_t, 4>{zero[0], zero[1], zero[2], zero[3]}),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const auto pi = Philox()(Philox::ctr_type{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
                           Philox::key_type{{0xa4093822, 0x299f31d0}});
  EXPECT_EQ((std::array<uint32_t, 4>{pi[0], pi[1], pi[2], pi[3]}),
            (std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, SameNameGivesTheSameNumbersAndAnyOtherDifferent) {
  const auto first = [](uint64_t seed, const char* purpose, uint64_t row, uint32_t draw) {
    return RandomStream(seed, purpose, row, draw).bits64();
  };
  const uint64_t base = first(1, "a", 2, 3);
  EXPECT_EQ(base, first(1, "a", 2, 3));
  EXPECT_NE(base, first(2, "a", 2, 3));
  EXPECT_NE(base, first(1, "b", 2, 3));
  EXPECT_NE(base, first(1, "a", 3, 3));
  EXPECT_NE(base, first(1, "a", 2, 4));
  EXPECT_NE(base, first(1, "a", uint64_t{2} << 32, 3));
}

TEST(Random, UniformFillsTheUnitInterval) {
  RandomStream random(7, "uniform");
  constexpr int kCount = 100000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kCount; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    squares += u * u;
  }
  // Five standard errors around 1/2 and 1/3.
  EXPECT_NEAR(sum / kCount, 1.0 / 2, 5 * std::sqrt(1.0 / 12 / kCount));
  EXPECT_NEAR(squares / kCount, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / kCount));
}

TEST(Random, NormalHasTheMomentsOfANormal) {
  RandomStream random(7, "normal");
  constexpr int kCount = 100000;
  double moments[5] = {};
  for (int i = 0; i < kCount; ++i) {
    const double z = random.normal();
    for (int p = 1; p <= 4; ++p) moments[p] += std::pow(z, p) / kCount;
  }
  EXPECT_NEAR(moments[1], 0, 5 * std::sqrt(1.0 / kCount));
  EXPECT_NEAR(moments[2], 1, 5 * std::sqrt(2.0 / kCount));
  EXPECT_NEAR(moments[3], 0, 5 * std::sqrt(15.0 / kCount));
  EXPECT_NEAR(moments[4], 3, 5 * std::sqrt(96.0 / kCount));
}

TEST(Random, BelowIsUniform) {
  RandomStream random(7, "below");
  constexpr uint32_t kBound = 7;
  constexpr int kCount = 70000;
  std::array<int, kBound> counts{};
  for (int i = 0; i < kCount; ++i) ++counts.at(random.below(kBound));
  double chi_squared = 0;
  for (const int c : counts) chi_squared += std::pow(c - kCount / 7.0, 2) / (kCount / 7.0);
  EXPECT_LT(chi_squared, 27.9);  // the 0.9999 quantile of chi squared with 6 degrees of freedom
}

TEST(Random, BelowOneIsZero) { EXPECT_EQ(RandomStream(1, "one").below(1), 0u); }

TEST(Random, PermutationsAreUniform) {
  std::map<std::vector<uint32_t>, int> counts;
  constexpr int kCount = 24000;
  for (uint32_t draw = 0; draw < kCount; ++draw) {
    std::vector<uint32_t> order(4);
    RandomStream(3, "permutation", 0, draw).permutation(order);
    ++counts[order];
  }
  EXPECT_EQ(counts.size(), 24u);
  double chi_squared = 0;
  for (const auto& [order, count] : counts) chi_squared += std::pow(count - 1000.0, 2) / 1000.0;
  EXPECT_LT(chi_squared, 56.7);  // 0.9999 quantile, 23 degrees of freedom
}

TEST(Random, SubsetsAreSortedDistinctAndUniform) {
  std::map<std::vector<uint32_t>, int> counts;
  constexpr int kCount = 20000;
  for (uint32_t draw = 0; draw < kCount; ++draw) {
    std::vector<uint32_t> members(3);
    RandomStream(3, "subset", 0, draw).subset(6, members);
    ASSERT_TRUE(std::ranges::is_sorted(members));
    ASSERT_EQ(std::set<uint32_t>(members.begin(), members.end()).size(), 3u);
    ASSERT_LT(members.back(), 6u);
    ++counts[members];
  }
  EXPECT_EQ(counts.size(), 20u);
  double chi_squared = 0;
  for (const auto& [members, count] : counts) chi_squared += std::pow(count - 1000.0, 2) / 1000.0;
  EXPECT_LT(chi_squared, 50.8);  // 0.9999 quantile, 19 degrees of freedom
}

TEST(Random, SubsetOfEverythingAndOfNothing) {
  std::vector<uint32_t> all(5);
  RandomStream(1, "all").subset(5, all);
  EXPECT_EQ(all, (std::vector<uint32_t>{0, 1, 2, 3, 4}));
  std::vector<uint32_t> none;
  RandomStream(1, "none").subset(5, none);
  EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace assay
