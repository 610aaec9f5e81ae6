#include "assay/explain/trees/leaf_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "assay/core/random.h"
#include "tests/explain/trees/random_trees.h"

namespace assay::testing {
namespace {

bool has(size_t set, size_t j) { return (set >> j & 1) != 0; }

// phi of the game v over all 2^k coalitions.
std::vector<double> brute_force(size_t k, const std::function<long double(size_t)>& v) {
  std::vector<long double> values;
  for (size_t set = 0; set < size_t{1} << k; set++) values.push_back(v(set));
  return shapley_of_values(values);
}

std::vector<double> interventional(size_t k, const std::vector<double>& counts, double weight) {
  LeafTableScratch scratch;
  std::vector<double> values(k << k);
  interventional_leaf_table(k, counts, weight, scratch, values);
  return values;
}

std::vector<double> by_covers(const std::vector<double>& ratios, double weight) {
  LeafTableScratch scratch;
  std::vector<double> values(ratios.size() << ratios.size());
  path_leaf_table(ratios, weight, scratch, values);
  return values;
}

TEST(LeafTables, TwoPlayersByHand) {
  // One reference row that turns away at player 0 and comes at player 1 (u = 10b). A row with both on the leaf's side
  // (q = 11b) differs in player 0 alone, who gets all: v = 0, 1 with it. A row that only player 0 brings (q = 01b)
  // needs player 0 in and player 1 out: v({0}) = 1 and 0 elsewhere, 1/2 and -1/2. Rows that player 0 turns away get
  // nothing.
  const std::vector<double> one = interventional(2, {0, 0, 1, 0}, 3);
  EXPECT_EQ(one, (std::vector<double>{0, 0, 1.5, -1.5, 0, 0, 3, 0}));
  // r = 1/2, 1/4. Player 0 of q = 11b: (1 - 1/2) (1/4 + 1) / 2 = 5/16, player 1: (1 - 1/4) (1/2 + 1) / 2 = 9/16; their
  // sum is 1 - 1/8.
  const std::vector<double> two = by_covers({0.5, 0.25}, 1);
  EXPECT_NEAR(two[6], 5.0 / 16, 1e-15);
  EXPECT_NEAR(two[7], 9.0 / 16, 1e-15);
  // q = 00b: -1/2 * (1/4 + 0) / 2 and -1/4 * (1/2 + 0) / 2.
  EXPECT_NEAR(two[0], -1.0 / 16, 1e-15);
  EXPECT_NEAR(two[1], -1.0 / 16, 1e-15);
}

TEST(LeafTables, InterventionalValuesAreThoseOfAllCoalitions) {
  for (size_t k = 0; k <= 7; k++) {
    RandomStream random(k, "counts");
    const size_t patterns = size_t{1} << k;
    std::vector<double> counts(patterns);
    for (double& count : counts) count = random.uniform() < 0.3 ? random.below(5) : 0;
    const std::vector<double> found = interventional(k, counts, 0.25);
    for (size_t q = 0; q < patterns; q++) {
      const auto expected = brute_force(k, [&](size_t set) {
        long double sum = 0;
        // The leaf is reached where the row is on its side for those of the set, the reference row for the others.
        for (size_t u = 0; u < patterns; u++) sum += ((q & set) | (u & ~set)) == patterns - 1 ? counts[u] : 0;
        return sum / 4;
      });
      for (size_t j = 0; j < k; j++) EXPECT_NEAR(found[q * k + j], expected[j], 1e-13) << k << " " << q << " " << j;
    }
  }
}

TEST(LeafTables, ValuesByCoversAreThoseOfAllCoalitions) {
  for (size_t k = 0; k <= 8; k++) {
    RandomStream random(k, "ratios");
    std::vector<double> ratios(k);
    for (double& ratio : ratios) ratio = random.uniform();
    if (k > 2) ratios[1] = 0;
    if (k > 4) ratios[3] = 1;
    if (k > 5) ratios[5] = 1e-9;
    const std::vector<double> found = by_covers(ratios, -2);
    for (size_t q = 0; q < size_t{1} << k; q++) {
      const auto expected = brute_force(k, [&](size_t set) {
        long double product = -2;
        for (size_t j = 0; j < k; j++) product *= has(set, j) ? (has(q, j) ? 1 : 0) : ratios[j];
        return product;
      });
      for (size_t j = 0; j < k; j++) EXPECT_NEAR(found[q * k + j], expected[j], 1e-14) << k << " " << q << " " << j;
    }
  }
}

// The most players that any table has, where coalitions are too many: the row's values sum to v(all) - v(nobody).
TEST(LeafTables, ManyPlayersShareAllThatTheLeafAdds) {
  constexpr size_t kPlayers = 13;
  constexpr size_t kPatterns = size_t{1} << kPlayers;
  RandomStream random(1, "many");
  std::vector<double> counts(kPatterns);
  for (size_t i = 0; i < 100; i++) counts[random.below(kPatterns) | random.below(kPatterns)]++;
  counts[kPatterns - 1] = 5;
  const double references = std::accumulate(counts.begin(), counts.end(), 0.0);
  std::vector<double> ratios(kPlayers);
  for (double& ratio : ratios) ratio = random.uniform();
  const double mean_of_nobody = std::accumulate(ratios.begin(), ratios.end(), 1.0, std::multiplies<>());
  const std::vector<double> first = interventional(kPlayers, counts, 1);
  const std::vector<double> second = by_covers(ratios, 1);
  for (size_t q = 0; q < kPatterns; q++) {
    const double all = q == kPatterns - 1 ? 1 : 0;
    const auto sum = [&](const std::vector<double>& of) {
      return std::accumulate(of.data() + q * kPlayers, of.data() + (q + 1) * kPlayers, 0.0);
    };
    ASSERT_NEAR(sum(first), references * all - 5, 1e-11) << q;
    ASSERT_NEAR(sum(second), all - mean_of_nobody, 1e-14) << q;
  }
}

TEST(LeafTables, PlayersWhomNothingTellsApartGetExactlyNothing) {
  // All reference rows are on the leaf's side for player 1; so is the row in the patterns with that bit.
  const std::vector<double> counts = {0, 0, 3, 7, 0, 0, 1, 11};
  const std::vector<double> found = interventional(3, counts, 1.0 / 22);
  for (const size_t q : {2U, 3U, 6U, 7U}) EXPECT_EQ(found[q * 3 + 1], 0) << q;
  EXPECT_NE(found[6 * 3], 0);
}

// Bit for bit, but for the sign of a zero.
TEST(LeafTables, SingleRowsAreThoseOfTheTable) {
  for (size_t k = 0; k <= 9; k++) {
    RandomStream random(k, "rows");
    const size_t patterns = size_t{1} << k;
    std::vector<double> counts(patterns);
    std::vector<uint16_t> seen;
    std::vector<double> of_seen;
    for (size_t u = 0; u < patterns; u++) {
      if (random.uniform() > 0.3) continue;
      counts[u] = 1 + static_cast<double>(random.below(5));
      seen.push_back(static_cast<uint16_t>(u));
      of_seen.push_back(counts[u]);
    }
    std::vector<double> ratios(k);
    for (double& ratio : ratios) ratio = random.uniform() < 0.2 ? random.below(2) : random.uniform();
    for (const double weight : {0.37, -1.9e-3}) {
      const std::vector<double> against = interventional(k, counts, weight);
      const std::vector<double> covers = by_covers(ratios, weight);
      std::vector<double> row(k);
      for (uint32_t q = 0; q < patterns; q++) {
        interventional_leaf_row(k, seen, of_seen, weight, q, row);
        EXPECT_TRUE(std::ranges::equal(row, std::span(against).subspan(q * k, k))) << k << ", " << q;
        path_leaf_row(ratios, weight, q, row);
        EXPECT_TRUE(std::ranges::equal(row, std::span(covers).subspan(q * k, k))) << k << ", " << q;
      }
    }
  }
}

}  // namespace
}  // namespace assay::testing
