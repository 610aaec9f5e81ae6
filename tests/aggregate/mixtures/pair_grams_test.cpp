#include "assay/aggregate/mixtures/pair_grams.h"

#include <gtest/gtest.h>

#include <cmath>

#include "assay/aggregate/mixtures/pair_objectives.h"
#include "tests/aggregate/mixtures/toy.h"

namespace assay::testing {
namespace {

// Kept or made again in each pass, on any threads: the same bits.
TEST(PairGrams, MemoryDoesNotMatter) {
  MemberTrial trial = random_with_pool(3, 50, 300, 5, 1);
  const AggregateTask task = trial.task();
  const Members members(task, true);
  MixtureNeighbourOptions options;
  options.radius = 4;
  options.weighting = "inverse_distance";
  const PairGrams kept(task, members, options, on_threads(2));
  const PairGrams again(task, members, options, on_threads(3), 1000);
  ASSERT_TRUE(kept.kept());
  ASSERT_FALSE(again.kept());
  ASSERT_GT(kept.pairs(), 64U * 50U) << "rows must come in several parts";
  // No sum of some of them is that of the others: proportional members never cancel, which would leave rounding alone.
  const std::vector<double> weights = {0.1875, 0.5625, 0.25};

  for (const Fold fold : {Fold::mean, Fold::max}) {
    const SublinearPoint a = mixture_sensitivity(kept, fold, weights, on_threads(1));
    const SublinearPoint b = mixture_sensitivity(again, fold, weights, on_threads(7));
    EXPECT_EQ(a.value, b.value);
    EXPECT_EQ(a.gradient, b.gradient);
    const Scores scores =
        score_of_mixture(trial,
                         fold == Fold::mean ? "avg_sensitivity:normalise=raw:radius=4:weighting=inverse_distance"
                                            : "max_sensitivity:normalise=raw:radius=4:weighting=inverse_distance",
                         weights);
    EXPECT_NEAR(a.value, scores.mean, 1e-6 * scores.mean);  // mixtures are rounded to float32 there
  }
  Matrix64 tried(2, 3);
  for (size_t j = 0; j < 3; j++) tried(0, j) = weights[j];
  tried(1, 2) = 1;
  const std::vector<double> unit = UnitSensitivity(kept).means(tried.view(), on_threads(2));
  EXPECT_EQ(unit, UnitSensitivity(again).means(tried.view(), on_threads(1)));
  for (size_t t = 0; t < 2; t++) {
    const Scores scores = score_of_mixture(trial, "avg_sensitivity:normalise=raw:radius=4:weighting=inverse_distance",
                                           tried.row(t), {}, true);
    EXPECT_NEAR(unit[t], scores.mean, 1e-6 * scores.mean);
  }
}

// x = (3, 4) / 5 against z = (4, 3) / 5 and (0, 1) against (1, 0): differences (-0.2, 0.2) and (-1, 1), so that G is
// 0.08, 0.4, 2.
TEST(PairGrams, ByHand) {
  MemberTrial trial = with_pool({matrix_of({{3, 4}}), matrix_of({{0, 2}})}, {matrix_of({{4, 3}}), matrix_of({{5, 0}})},
                                matrix_of({{0, 0}}), matrix_of({{0, 2}}));
  const AggregateTask task = trial.task();
  const Members members(task, true);
  MixtureNeighbourOptions options;
  options.space = "raw";
  options.weighting = "inverse_distance";
  const PairGrams grams(task, members, options, {});
  size_t calls = 0;
  grams.each_pair(
      true,
      [&](size_t i, const PairSpan& pairs) {
        calls++;
        EXPECT_EQ(i, 0U);
        ASSERT_EQ(pairs.count, 1U);
        EXPECT_NEAR(pairs.grams[0], 0.08, 1e-7);
        EXPECT_NEAR(pairs.grams[1], 0.4, 1e-7);
        EXPECT_NEAR(pairs.grams[2], 2, 1e-7);
        EXPECT_EQ(pairs.factors[0], 0.5);
      },
      on_threads(1));
  EXPECT_EQ(calls, 1U);
}

// y = x0 + 2 x1 + x0 x1 is 4 at the reference (0, 2) and at the neighbour (4, 0), whose first member is noise: its
// difference to (0.6, 0.8) is that itself. The second's is (0, 1) - (1, 0).
TEST(PairGrams, NoiseOfANeighbourIsZero) {
  MemberTrial trial =
      with_pool({matrix_of({{3, 4}}), matrix_of({{0, 2}})}, {matrix_of({{2e-7F, -2e-7F}}), matrix_of({{5, 0}})},
                matrix_of({{3, 0}}), matrix_of({{4, 0}}));
  trial.setting->reference.rows = matrix_of({{0, 2}});
  trial.pool_targets = freeze_targets(*trial.setting->model, trial.pool->x.view(), {}, {});
  for (Explanations& member : trial.members) {
    member.base = {4};
    member.output = {3};
  }
  const AggregateTask task = trial.task();
  const Members members(task, true);
  MixtureNeighbourOptions options;
  options.space = "raw";
  options.radius = 2;
  const PairGrams grams(task, members, options, {});
  EXPECT_EQ(grams.pairs(), 1U);
  grams.each_pair(
      true,
      [&](size_t, const PairSpan& pairs) {
        EXPECT_NEAR(pairs.grams[0], 1, 1e-6);
        EXPECT_NEAR(pairs.grams[1], 0.8 - 0.6, 1e-6);
        EXPECT_NEAR(pairs.grams[2], 2, 1e-6);
      },
      on_threads(1));
  EXPECT_EQ(grams.pool_grams()(0, 0), 0);
}

}  // namespace
}  // namespace assay::testing
