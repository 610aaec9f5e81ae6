#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/evaluate/subsets/subset_trials.h"

namespace assay::testing {
namespace {

Trial linear(std::vector<float> weights, std::vector<float> phi) {
  const Matrix ones = matrix_of({std::vector<float>(weights.size(), 1)});
  const Matrix zeros(1, weights.size());
  return trial_of(setting_of(linear_model(weights), ones, zeros), matrix_of({std::move(phi)}));
}

// y = x1 - 2 x2 + 3 x3 + 0.5 at (1, 1, 1) against 0, attributions 1, -2, 3.
// By strength 1, 2, 3: 0.5, 1.5, -0.5, 2.5: the second of three steps falls.
// By value 2, 1, 3: 0.5, -1.5, -0.5, 2.5: the first falls, the other two do not.
TEST(Monotonicity, ByHand) {
  Trial trial = linear({1, -2, 3}, {1, -2, 3});
  EXPECT_EQ(scored("monotonicity", "", trial).values[0], 0);
  EXPECT_NEAR(scored("monotonicity", ":form=share", trial).values[0], 2.0 / 3, 1e-15);
  EXPECT_EQ(scored("monotonicity", ":first_step=false", trial).values[0], 0);
  EXPECT_NEAR(scored("monotonicity", ":form=share:first_step=false", trial).values[0], 1.0 / 2, 1e-15);
  EXPECT_EQ(scored("monotonicity", ":order=value", trial).values[0], 0);
  EXPECT_NEAR(scored("monotonicity", ":order=value:form=share", trial).values[0], 2.0 / 3, 1e-15);
  EXPECT_EQ(scored("monotonicity", ":order=value:first_step=false", trial).values[0], 1);
  EXPECT_EQ(scored("monotonicity", "", trial).evaluations, 4U);
  EXPECT_EQ(scored("monotonicity", ":first_step=false", trial).evaluations, 3U);
}

TEST(Monotonicity, PositiveEvidenceIsMonotone) {
  Trial trial = linear({1, 2, 0, 3}, {1, 2, 0, 3});
  EXPECT_EQ(scored("monotonicity", "", trial).values[0], 1) << "a player without effect is no fall";
  // One player of two columns, one of none falling.
  Trial one = linear({2}, {0.1F});
  EXPECT_EQ(scored("monotonicity", "", one).values[0], 1);
}

// Of a model that has these values with no player, with one, and so on.
double share_not_falling(const std::vector<float>& values) {
  const size_t players = values.size() - 1;
  const auto model = black_box_model(players, [values](MatrixView<const float> x, MatrixView<float> out) {
    for (size_t r = 0; r < x.rows(); r++) {
      const auto present = std::ranges::count(x.row(r), 1.0F);
      out(r, 0) = values[static_cast<size_t>(present)];
    }
  });
  const std::vector<float> ones(players, 1);
  Trial trial = trial_of(setting_of(model, matrix_of({ones}), Matrix(1, players)), matrix_of({ones}));
  return scored("monotonicity", ":form=share", trial).values[0];
}

// Steps of float32 below 100 are 7.6e-6: 2e-5 less is 2.3e-5 less there, 4e-5 is 3.8e-5, and 2.5e-5 is allowed.
TEST(Monotonicity, RoundingIsNoFall) {
  EXPECT_EQ(share_not_falling({0, 100, 100 - 2e-5F, 101}), 1);
  EXPECT_NEAR(share_not_falling({0, 100, 100 - 4e-5F, 101}), 2.0 / 3, 1e-15);
  // Of the numbers at hand: a fall of 0.01 from 100 is none less because 1e6 comes later.
  EXPECT_NEAR(share_not_falling({0, 100, 100 - 1e-2F, 1e6F}), 2.0 / 3, 1e-15);
  EXPECT_TRUE(std::isnan(share_not_falling({100, 100, 100 - 2e-5F})));
  EXPECT_TRUE(std::isnan(share_not_falling({1, NAN, 2})));
}

// 3e5 + x1 - x2 / 4 + x3: float32 has steps of 1/32 there, and a fall of 1/4 is real.
TEST(Monotonicity, SeesFallsBesideALargeOffset) {
  const auto model = black_box_model(3, [](MatrixView<const float> x, MatrixView<float> out) {
    for (size_t r = 0; r < x.rows(); r++) out(r, 0) = 3e5F + x(r, 0) - x(r, 1) / 4 + x(r, 2);
  });
  Trial trial = trial_of(setting_of(model, matrix_of({{1, 1, 1}}), matrix_of({{0, 0, 0}})), matrix_of({{1, 2, 3}}));
  EXPECT_EQ(scored("monotonicity", "", trial).values[0], 0);
  EXPECT_NEAR(scored("monotonicity", ":form=share", trial).values[0], 2.0 / 3, 1e-15);
}

// Groups, a background and targets of both classes, against walks made a prediction at a time.
TEST(Monotonicity, AgreesWithMaskedRows) {
  size_t monotone = 0;
  for (uint64_t seed = 0; seed < 6; seed++) {
    Trial trial = network_trial({.players = 3, .columns = 7, .rows = 8, .references = 1 + seed % 3}, seed);
    for (const bool strength : {true, false}) {
      const std::string order = strength ? ":order=strength" : ":order=value";
      const Scores all = scored("monotonicity", order, trial);
      const Scores share = scored("monotonicity", order + ":form=share", trial);
      for (size_t row = 0; row < 8; row++) {
        std::vector<size_t> players = {0, 1, 2};
        const auto phi = trial.explanations.values.row(row);
        std::ranges::sort(players, [&](size_t a, size_t b) {
          return strength ? std::abs(phi[a]) < std::abs(phi[b]) : phi[a] < phi[b];
        });
        uint64_t removed = 7;
        double before = value_without(*trial.setting, row, removed);
        double kept = 0;
        for (const size_t p : players) {
          removed &= ~(uint64_t{1} << p);
          const double after = value_without(*trial.setting, row, removed);
          kept += after >= before ? 1 : 0;
          before = after;
        }
        EXPECT_NEAR(share.values[row], kept / 3, 1e-12);
        EXPECT_EQ(all.values[row], kept == 3 ? 1 : 0);
        monotone += kept == 3 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(monotone, 5U) << "both answers are there";
  EXPECT_LT(monotone, 90U);
}

// Ties go by index: y = x1 - x2 with equal attributions is 0, 1, 0: one of two steps.
TEST(Monotonicity, EqualAttributionsAreAddedByIndex) {
  Trial trial = linear({1, -1}, {-2, 2});
  EXPECT_NEAR(scored("monotonicity", ":form=share", trial).values[0], 0.5, 1e-15);
  Trial turned = linear({-1, 1}, {2, -2});
  EXPECT_NEAR(scored("monotonicity", ":form=share", turned).values[0], 0.5, 1e-15);
  EXPECT_EQ(scored("monotonicity", ":form=share:first_step=false", turned).values[0], 1)
      << "the second player is added last";
}

TEST(Monotonicity, UndefinedAndRefused) {
  Trial constant = trial_of(setting_of(constant_model(2, 4), matrix_of({{1, 2}, {3, 4}, {5, 6}}), matrix_of({{0, 0}})),
                            matrix_of({{1, 2}, {0, 0}, {NAN, 1}}));
  const Scores scores = scored("monotonicity", "", constant);
  EXPECT_EQ(scores.coverage, 0);
  ASSERT_EQ(scores.undefined.size(), 3U);
  const auto has = [&](std::string_view reason) {
    return std::ranges::any_of(scores.undefined, [&](const Undefined& each) { return each.reason == reason; });
  };
  EXPECT_TRUE(has("the model's value does not change as players are added"));
  EXPECT_TRUE(has("all attributions are 0"));
  EXPECT_TRUE(has("attributions are not all numbers"));
  const auto broken = black_box_model(2, [](MatrixView<const float> x, MatrixView<float> out) {
    for (size_t r = 0; r < x.rows(); r++) out(r, 0) = 1 / x(r, 0);
  });
  Trial infinite = trial_of(setting_of(broken, matrix_of({{1, 2}}), matrix_of({{0, 0}})), matrix_of({{1, 2}}));
  EXPECT_EQ(scored("monotonicity", "", infinite).undefined.at(0).reason,
            "the model's value is no number for some coalition");
  Trial one = linear_trial(1, 2, 0);
  const auto criterion = find_criterion("monotonicity").make(parse_spec("criterion", "monotonicity:first_step=false"));
  EXPECT_TRUE(criterion->refuses(one.task()).has_value());
}

TEST(Monotonicity, SameBitsOnAnyNumberOfThreads) {
  Trial trial = network_trial({.players = 12, .columns = 20, .rows = 70, .references = 2}, 8);
  expect_same_scores_on_threads("monotonicity", ":form=share", trial);
}

}  // namespace
}  // namespace assay::testing
