#include "assay/aggregate/mixtures/unit_distances.h"

#include <gtest/gtest.h>

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
  std::vector<double> products(kUnitWidth, 0.0);
  std::vector<double> row_norms(kUnitWidth, 0.0);
  std::vector<double> pool_norms(2 * kUnitWidth, 0.0);  // the second row is the neighbour
  const auto set = [&](size_t t, double square, double a, double b) {
    products[t] = square;
    row_norms[t] = a;
    pool_norms[kUnitWidth + t] = b;
  };
  set(0, 2, 1, 1);
  set(1, 1, 1, 2);
  set(7, 1, 0, 1);
  set(8, 1, 1, 0);
  set(30, 9, 1, 1);  // no squares of more than 4 but by rounding
  std::vector<double> sums(kUnitWidth, 10.0);
  add_unit_distances({1, gram.data(), factor.data(), other.data()},
                     {kUnitWidth, 1, products.data(), row_norms.data(), pool_norms.data()}, sums.data());
  for (size_t t = 0; t < kUnitWidth; t++) {
    const double expected = t == 0 ? std::sqrt(2.0) : t == 7 || t == 8 ? 1.0 : t == 30 ? 2.0 : 0.0;
    EXPECT_NEAR(sums[t], 10 + 3 * expected, 1e-14) << t;
  }
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
