#include "assay/aggregate/mixtures/unit_distances.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "assay/aggregate/mixtures/pair_objectives.h"
#include "assay/aggregate/mixtures/simplex.h"
#include "tests/aggregate/mixtures/toy.h"

namespace assay::testing {
namespace {

// One pair, two weights. G = 2 and norms 1, 1: orthogonal ends, sqrt 2. G = 1 and norms 1, 2 (parallel): 1 - 1 = 0.
// Norms 0 and 1: 1, whatever G; 0 and 0: 0. Times the factor 3, on top of 10.
TEST(UnitDistances, ByHand) {
  const std::vector<double> gram = {1};
  const std::vector<double> factor = {3};
  const std::vector<uint32_t> other = {1};
  WeightBlocks weights;
  weights.blocks.push_back({{0}, std::vector<double>(kUnitWidth, 0.0)});
  std::vector<double> row_norms(kUnitWidth, 0.0);
  std::vector<double> pool_norms(2 * kUnitWidth, 0.0);  // the second row is the neighbour
  const auto set = [&](size_t t, double square, double a, double b) {
    weights.blocks[0].products[t] = square;
    row_norms[t] = a;
    pool_norms[kUnitWidth + t] = b;
  };
  set(0, 2, 1, 1);
  set(1, 1, 1, 2);
  set(7, 1, 0, 1);
  set(8, 1, 1, 0);
  set(15, 9, 1, 1);  // no squares of more than 4 but by rounding
  std::vector<double> sums(kUnitWidth, 10.0);
  add_unit_distances({1, gram.data(), factor.data(), other.data()}, 1, {weights, row_norms.data(), pool_norms.data()},
                     sums.data());
  for (size_t t = 0; t < kUnitWidth; t++) {
    const double expected = t == 0 ? std::sqrt(2.0) : t == 7 || t == 8 ? 1.0 : t == 15 ? 2.0 : 0.0;
    EXPECT_NEAR(sums[t], 10 + 3 * expected, 1e-14) << t;
  }
}

// From as near as float64 can tell to opposite, with norms down to the least that counts: to the last digits.
TEST(UnitDistances, AreExactAtAllScales) {
  const std::vector<double> factor = {1};
  const std::vector<uint32_t> other = {0};
  WeightBlocks weights;
  weights.blocks.push_back({{0}, std::vector<double>(kUnitWidth, 1.0)});
  for (double norm = 1; norm > 1e-7; norm /= 3) {
    for (double distance = 2; distance > 1e-15; distance /= 1.7) {
      const std::vector<double> gram = {distance * distance * norm * norm};
      const std::vector<double> norms(kUnitWidth, norm);
      std::vector<double> sums(kUnitWidth, 0.0);
      add_unit_distances({1, gram.data(), factor.data(), other.data()}, 1, {weights, norms.data(), norms.data()},
                         sums.data());
      EXPECT_NEAR(sums[3] / distance, 1, 1e-15) << norm << " " << distance;
    }
  }
}

// Every product that is not 0 is in the block of its weights, at their column; blocks of few members are small.
TEST(UnitDistances, BlocksHoldWhatTheirWeightsMix) {
  const size_t members = 9;
  const size_t tried = 100;
  Matrix64 weights(tried, members);
  for (size_t t = 0; t < tried; t++) {
    weights(t, t % members) += 0.25;
    weights(t, (t / members + t) % members) += 0.75;
  }
  const WeightBlocks made = block_weights(weights.view());
  ASSERT_EQ(made.width(), 112U);
  std::vector<bool> seen(tried, false);
  size_t entries = 0;
  for (size_t t = 0; t < tried; t++) {
    seen[made.order[t]] = true;
    const WeightBlock& block = made.blocks[t / kUnitWidth];
    std::vector<double> found(packed_size(members), 0.0);
    for (size_t k = 0; k < block.entries.size(); k++) {
      found[block.entries[k]] = block.products[k * kUnitWidth + t % kUnitWidth];
    }
    EXPECT_EQ(found, packed_products(weights.row(made.order[t]))) << t;
    entries += block.entries.size();
  }
  EXPECT_EQ(std::ranges::count(seen, true), static_cast<std::ptrdiff_t>(tried));
  EXPECT_LT(entries, tried * packed_size(members) / 2);
}

// Against one pair and one list of weights at a time, with zero and opposite members, for numbers of weights that do
// not fill vectors.
TEST(UnitDistances, AreThoseOfSinglePairs) {
  for (uint64_t seed = 0; seed < 24; seed++) {
    const size_t members = 1 + seed % 6;
    MemberTrial trial = random_with_pool(members, 15, 40, 5, seed);
    const AggregateTask task = trial.task();
    const Members unit(task, true);
    MixtureNeighbourOptions options;
    options.radius = 2.0;
    if (seed % 2 == 1) options.weighting = "inverse_distance";
    const PairGrams grams(task, unit, options, {});
    const UnitSensitivity sensitivity(grams);
    const size_t tried = 1 + 7 * seed;
    Matrix64 weights(tried, members);
    RandomStream draw(seed, "weights");
    for (size_t t = 0; t < tried; t++) {
      std::vector<double> made = vertex_weights(members, t % members);
      if (t == members) made.assign(members, 1 / static_cast<double>(members));
      double total = 0;
      for (double& each : made) total += each += t > members ? draw.uniform() : 0.0;
      for (size_t j = 0; j < members; j++) weights(t, j) = made[j] / total;
    }
    const std::vector<double> found = sensitivity.means(weights.view(), {});
    ASSERT_EQ(found.size(), tried);
    for (size_t t = 0; t < tried; t++) {
      std::vector<double> of_rows(grams.rows().size());
      grams.each_pair(true,
                      [&](size_t i, const PairSpan& pairs) {
                        of_rows[i] = sensitivity.of_row(i, pairs, Fold::mean, weights.row(t));
                      },
                      {});
      double mean = 0;
      for (const double each : of_rows) mean += each / static_cast<double>(of_rows.size());
      // Roots of what cancels are good to 1e-8.
      EXPECT_NEAR(found[t], mean, 1e-8 * sensitivity.scale({})) << "seed " << seed << ", weights " << t;
    }
  }
}

}  // namespace
}  // namespace assay::testing
