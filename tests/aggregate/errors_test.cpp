#include "assay/aggregate/errors.h"

#include "assay/core/statistics.h"
#include "tests/aggregate/trial.h"

namespace assay::testing {
namespace {

TEST(AggregateErrors, ByHand) {
  // g = (3, 4), ||g|| = 5, u = (0.6, 0.8), s = (0.1, 0.2), w = 0.5:
  // var_1 = 0.25 (0.64^2 0.01 + 0.36 0.64 0.04) / 25 = 0.25 (0.004096 + 0.009216) / 25 = 0.00013312
  // var_2 = 0.25 (0.36^2 0.04 + 0.64 0.36 0.01) / 25 = 0.25 (0.005184 + 0.002304) / 25 = 0.00007488
  MemberTrial trial = one_row({{3, 4}, {0, 0}});
  trial.members[0].standard_error = matrix_of({{0.1F, 0.2F}});
  const AggregateTask task = trial.task();
  EXPECT_TRUE(has_sampled_members(task));
  const Matrix errors = weighted_errors(task, Members(task, true), matrix_of({{0.5F, 0.5F}})).sampling;
  EXPECT_NEAR(errors(0, 0), std::sqrt(0.00013312), 1e-7);
  EXPECT_NEAR(errors(0, 1), std::sqrt(0.00007488), 1e-7);
}

// Noise that is taken for zero has no direction, and no error of it: scaled, it would be 1e16.
TEST(AggregateErrors, AMemberThatIsZeroUpToRoundingHasNone) {
  MemberTrial trial = one_row({{3, 4}, {3e-17F, -3e-17F}});
  for (Explanations& member : trial.members) member.output = member.base = {0.15};
  trial.members[1].standard_error = matrix_of({{0.1F, 0.2F}});
  const AggregateTask task = trial.task();
  const Matrix errors = weighted_errors(task, Members(task, true), matrix_of({{0.5F, 0.5F}})).sampling;
  EXPECT_EQ(errors(0, 0), 0);
  EXPECT_EQ(errors(0, 1), 0);
}

TEST(AggregateErrors, WithoutSamplingThereAreNone) {
  MemberTrial trial = one_row({{3, 4}, {1, 0}});
  EXPECT_FALSE(has_sampled_members(trial.task()));
}

// Members drawn again and again with these errors: the spread of their weighted sum is what the formula says.
TEST(AggregateErrors, AreTheSpreadOverDraws) {
  const std::vector<std::vector<double>> centre = {{2, -1, 0.5, 3}, {0.2, 0.4, -0.1, 0}};
  const std::vector<std::vector<double>> error = {{0.02, 0.05, 0.01, 0.04}, {0.004, 0.001, 0.006, 0.002}};
  const std::vector<float> weights = {0.3F, 0.7F};
  MemberTrial trial = one_row({{2, -1, 0.5F, 3}, {0.2F, 0.4F, -0.1F, 0}});
  for (size_t j = 0; j < 2; j++) {
    const std::vector<float> narrow(error[j].begin(), error[j].end());
    trial.members[j].standard_error = matrix_of({narrow});
  }
  const WeightedErrors found = weighted_errors(trial.task(), Members(trial.task(), true), matrix_of({weights}));
  EXPECT_TRUE(found.background.empty());
  const Matrix& expected = found.sampling;
  std::vector<RunningMoments> spread(4);
  RandomStream draw(3, "spread");
  for (int i = 0; i < 40000; i++) {
    std::vector<double> sum(4);
    for (size_t j = 0; j < 2; j++) {
      std::vector<double> values(4);
      double squares = 0;
      for (size_t p = 0; p < 4; p++) {
        values[p] = centre[j][p] + error[j][p] * draw.normal();
        squares += values[p] * values[p];
      }
      for (size_t p = 0; p < 4; p++) sum[p] += weights[j] * values[p] / std::sqrt(squares);
    }
    for (size_t p = 0; p < 4; p++) spread[p].add(sum[p]);
  }
  // 40,000 draws know a standard deviation to 0.35 %; what is not of first order is smaller.
  for (size_t p = 0; p < 4; p++) EXPECT_NEAR(spread[p].standard_deviation() / expected(0, p), 1, 0.015) << p;
}

// Three members with the same errors from the same rows: their mean has the error of one of them, not a root of a third
// of it.
TEST(AggregateErrors, OfOneBackgroundMoveAllMembers) {
  MemberTrial trial = one_row({{2, -1, 0.5F, 3}, {2, -1, 0.5F, 3}, {2, -1, 0.5F, 3}});
  for (Explanations& member : trial.members) member.background_error = matrix_of({{0.02F, 0.05F, 0.01F, 0.04F}});
  const float third = 1.0F / 3;
  const Matrix weights = matrix_of({{third, third, third}});
  const WeightedErrors found = weighted_errors(trial.task(), Members(trial.task(), true), weights);
  EXPECT_TRUE(found.sampling.empty());
  // The same error as that of the first alone.
  const WeightedErrors alone = weighted_errors(trial.task(), Members(trial.task(), true), matrix_of({{1, 0, 0}}));
  for (size_t p = 0; p < 4; p++) EXPECT_NEAR(found.background(0, p), alone.background(0, p), 1e-7) << p;
}

}  // namespace
}  // namespace assay::testing
