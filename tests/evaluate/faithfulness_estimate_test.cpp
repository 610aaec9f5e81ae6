#include <gtest/gtest.h>

#include <cmath>

#include "assay/core/statistics.h"
#include "tests/evaluate/subsets/subset_trials.h"

namespace assay::testing {
namespace {

// The product toy: y = x1 x2 at (3, 5) against (1, 2): 15; without 1 it is 5, without 2 it is 6: losses 10 and 9.
// Two players make r = 1 or -1: attributions 7 and 6 (Shapley) order them alike, 5 and 8 do not.
TEST(FaithfulnessEstimate, ByHand) {
  for (const auto& [phi, expected] : std::vector<std::pair<std::vector<float>, double>>{{{7, 6}, 1}, {{5, 8}, -1}}) {
    const Toy toy = product_toy();
    Trial trial = trial_of(setting_of(toy.model, matrix_of({{3, 5}}), matrix_of({{1, 2}})), matrix_of({phi}));
    const Scores scores = scored("faithfulness_estimate", "", trial);
    EXPECT_NEAR(scores.values[0], expected, 1e-12);
    EXPECT_EQ(scores.evaluations, 2U);
  }
}

// The linear toy has losses 2, -3, 0 at its first row; attributions 1, 0, -1 deviate by 1, 0, -1, losses by 7/3, -8/3,
// 1/3 from -1/3: products 2, squares 2 and 114/9, r = 2 / sqrt(228/9) = 6 / sqrt(228).
TEST(FaithfulnessEstimate, ByHandOnThreePlayers) {
  const Toy toy = linear_toy();
  Trial trial =
      trial_of(setting_of(toy.model, matrix_of({{1, 2, 3}}), matrix_of({{0, 1, -1}})), matrix_of({{1, 0, -1}}));
  EXPECT_NEAR(scored("faithfulness_estimate", "", trial).values[0], 6 / std::sqrt(228), 1e-6);
}

TEST(FaithfulnessEstimate, AgreesWithMaskedRows) {
  for (const size_t references : {1, 3}) {
    Trial trial = network_trial({.players = 7, .columns = 16, .references = references}, references);
    const Scores scores = scored("faithfulness_estimate", "", trial);
    EXPECT_TRUE(scores.standard_error.empty());
    for (size_t row = 0; row < 5; row++) {
      std::vector<double> losses;
      std::vector<double> phi;
      for (size_t p = 0; p < 7; p++) {
        phi.push_back(trial.explanations.values(row, p));
        losses.push_back(value_without(*trial.setting, row, 0) - value_without(*trial.setting, row, uint64_t{1} << p));
      }
      EXPECT_NEAR(scores.values[row], pearson(phi, losses), 1e-4);
    }
  }
}

// Occlusion is what it asks for: r = 1 for any model.
TEST(FaithfulnessEstimate, OcclusionHasOne) {
  Trial trial = explained_trial(fixture_setting("torch_mlp_script"), "occlusion");
  const Scores scores = scored("faithfulness_estimate", "", trial);
  for (const double r : scores.values) {
    if (std::isnan(r)) continue;
    EXPECT_NEAR(r, 1, 1e-5);
  }
  EXPECT_GT(scores.coverage, 0.5);
}

TEST(FaithfulnessEstimate, UndefinedRefusedAndTheSameOnThreads) {
  Trial constant = trial_of(setting_of(constant_model(2, -3), matrix_of({{1, 2}, {3, 4}}), matrix_of({{0, 0}})),
                            matrix_of({{1, 2}, {0, 0}}));
  const Scores scores = scored("faithfulness_estimate", "", constant);
  EXPECT_EQ(scores.coverage, 0);
  EXPECT_EQ(scores.undefined.size(), 2U);
  Trial one = linear_trial(1, 2, 0);
  const auto criterion = find_criterion("faithfulness_estimate").make(parse_spec("criterion", "faithfulness_estimate"));
  EXPECT_EQ(criterion->refuses(one.task()), "needs two players or more, and there is 1");
  Trial trial = network_trial({.rows = 40, .references = 2}, 8);
  expect_same_scores_on_threads("faithfulness_estimate", "", trial);
}

}  // namespace
}  // namespace assay::testing
