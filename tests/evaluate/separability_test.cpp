#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/evaluate/common.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {
namespace {

// Small whole numbers, so that players are often equal.
Matrix random_values(size_t rows, size_t players, uint64_t seed) {
  RandomStream stream(seed, "separability test");
  Matrix made(rows, players);
  for (float& v : made.values()) v = static_cast<float>(stream.below(3)) - 1;
  return made;
}

// l0 distances: rows 0 and 1 differ in one player, 0 and 2 in two, 1 and 2 in one.
TEST(Separability, IsTheMeanOverPairs) {
  Trial trial = bare_trial({{1, 2}, {1, 3}, {2, 3}});
  const Scores found = scored("separability", "", trial);
  EXPECT_EQ(found.values, (std::vector<double>{1.5, 1, 1.5}));
  EXPECT_DOUBLE_EQ(found.mean, 4.0 / 3);
  EXPECT_TRUE(found.standard_error.empty());
  // Squares (1/6)^2 + (1/3)^2 + (1/6)^2 = 1/6; 4 x 2 / (3 x 1) x 1/6 = 4/9.
  EXPECT_DOUBLE_EQ(found.mean_error, 2.0 / 3);
}

// All-zero rows are explanations like others; equal ones have distance 0.
TEST(Separability, OfEqualExplanationsIsZero) {
  Trial trial = bare_trial({{0, 0}, {0, 0}, {0, 0}});
  const Scores found = scored("separability", "", trial);
  EXPECT_EQ(found.values, (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(found.mean_error, 0);
}

TEST(Separability, OneRowHasNoPartnerAndTwoHaveNoError) {
  Trial one = bare_trial({{1, 2}});
  const Scores alone = scored("separability", "", one);
  EXPECT_TRUE(std::isnan(alone.values[0]));
  ASSERT_EQ(alone.undefined.size(), 1U);
  EXPECT_EQ(alone.undefined[0].reason, "no other row to compare with");
  Trial two = bare_trial({{1}, {3}});
  const Scores pair = scored("separability", "", two);
  EXPECT_EQ(pair.values, (std::vector<double>{1, 1}));
  EXPECT_TRUE(std::isnan(pair.mean_error));
  EXPECT_EQ(pair.notes.size(), 1U);
}

// Rows 0 and 2 are the same input: each is compared with row 1 alone. -0 is 0.
TEST(Separability, RowsOfEqualInputsAreNotDistinct) {
  Trial trial = bare_trial({{1, 2}, {1, 3}, {5, 7}});
  trial.data = dataset_of(matrix_of({{0, 1}, {4, 1}, {-0.0F, 1}}));
  EXPECT_EQ(scored("separability", "", trial).values, (std::vector<double>{1, 1.5, 2}));
  trial.data = dataset_of(matrix_of({{0, NAN}, {0, NAN}, {0, NAN}}));
  const Scores none = scored("separability", "", trial);
  EXPECT_EQ(none.undefined.at(0).rows, 3U);
}

// l2 of (0, 0), (3, 4) and (NaN, 1): 5 for both, undefined for the third, which is nobody's partner.
TEST(Separability, TakesOtherDistancesAndLeavesOutWhatIsNoNumber) {
  Trial trial = bare_trial({{0, 0}, {3, 4}, {NAN, 1}});
  const Scores found = scored("separability", ":distance=l2", trial);
  EXPECT_EQ(found.values[0], 5);
  EXPECT_EQ(found.values[1], 5);
  EXPECT_TRUE(std::isnan(found.values[2]));
  EXPECT_EQ(found.undefined.at(0).reason, kNotFinite);
  // Of unit norm (0.6, 0.8); cosine to a zero vector is undefined.
  EXPECT_NEAR(scored("separability", ":distance=l1:normalise=unit", trial).values[0], 1.4, 1e-6);
  const Scores cosine = scored("separability", ":distance=cosine", trial);
  EXPECT_EQ(cosine.undefined.at(0).reason, "no distance to any other row is defined");
}

TEST(Separability, EqualsTheDoubleLoop) {
  const Matrix values = random_values(40, 6, 1);
  for (const std::string distance : {"l0", "l1", "l2", "kendall"}) {
    Trial trial{explanations_of(values)};
    const Scores found = scored("separability", ":distance=" + distance, trial);
    for (size_t a = 0; a < values.rows(); a++) {
      double sum = 0;
      for (size_t b = 0; b < values.rows(); b++) {
        if (a != b) sum += distance_between(explanation_distance(distance), values.row(a), values.row(b));
      }
      EXPECT_NEAR(found.values[a], sum / 39, 1e-12) << distance;
    }
  }
}

// Sampled partners: within five standard errors of all pairs, and the errors of the right size.
TEST(Separability, SampledPartnersEstimateAllPairs) {
  Trial trial{explanations_of(random_values(400, 6, 2))};
  const Scores exact = scored("separability", "", trial);
  const Scores sampled = scored("separability", ":partners=50", trial, on_threads(2, 9));
  EXPECT_TRUE(exact.standard_error.empty());
  ASSERT_EQ(sampled.standard_error.size(), 400U);
  double squares = 0;
  double own = 0;  // variance of the mean of the rows' sampling errors
  for (size_t r = 0; r < 400; r++) {
    own += sampled.standard_error[r] * sampled.standard_error[r] / (400.0 * 400);
    const double apart = (sampled.values[r] - exact.values[r]) / sampled.standard_error[r];
    EXPECT_LT(std::abs(apart), 5) << r;
    squares += apart * apart / 400;
  }
  EXPECT_NEAR(squares, 1, 0.25);
  EXPECT_EQ(sampled.notes.size(), 1U);
  const double both = std::sqrt(exact.mean_error * exact.mean_error + own);
  EXPECT_NEAR(sampled.mean_error, both, 0.2 * both);
  const Scores other = scored("separability", ":partners=50", trial, on_threads(2, 10));
  EXPECT_NE(other.values, sampled.values);
}

// A row is never its own partner: explanations that all differ everywhere have distance d to each partner.
TEST(Separability, ARowIsNotItsOwnPartner) {
  Matrix values(30, 3);
  for (size_t i = 0; i < 90; i++) values.values()[i] = static_cast<float>(i);
  Trial trial{explanations_of(values)};
  for (const double value : scored("separability", ":partners=20", trial).values) EXPECT_EQ(value, 3);
}

// The last row alone differs: others score above 0 when they draw it, 1 / 11 of the time.
TEST(Separability, EveryOtherRowMayBeAPartner) {
  Matrix values(12, 1);
  values(11, 0) = 1;
  Trial trial{explanations_of(values)};
  const Scores found = scored("separability", ":partners=10", trial);
  EXPECT_EQ(found.values[11], 1);
  double mean = 0;
  for (size_t r = 0; r < 11; r++) mean += found.values[r] / 11;
  EXPECT_NEAR(mean, 1.0 / 11, 0.08);
  EXPECT_GT(mean, 0);
}

// The standard error of the mean is that of means over fresh rows: 300 data sets of 25 rows.
TEST(Separability, TheErrorOfTheMeanIsThatOfFreshRows) {
  RunningMoments means;
  RunningMoments errors;
  for (uint64_t draw = 0; draw < 300; draw++) {
    RandomStream stream(draw, "separability data");
    Matrix values(25, 1);
    for (float& v : values.values()) v = static_cast<float>(std::exp(stream.normal()));
    Trial trial{explanations_of(values)};
    const Scores found = scored("separability", ":distance=l1", trial);
    means.add(found.mean);
    errors.add(found.mean_error * found.mean_error);
  }
  EXPECT_NEAR(std::sqrt(errors.mean()) / means.standard_deviation(), 1, 0.25);
}

// 297 of 300 rows have one input: each of them has the same two partners to draw from, and none is without. Rows 100,
// 150 and 200 are of other inputs, below and above it, and row 200 has no explanation.
TEST(Separability, PartnersAreDrawnFromOtherInputsAlone) {
  Matrix x(300, 1);
  Matrix values(300, 2);
  for (size_t r = 0; r < 300; r++) {
    x(r, 0) = r == 100 ? 0.0F : r == 150 ? 2.0F : r == 200 ? 3.0F : 1.0F;
    values(r, 0) = x(r, 0);
  }
  values(200, 1) = NAN;
  Trial trial{explanations_of(values)};
  trial.data = dataset_of(x);
  const Scores found = scored("separability", ":partners=2", trial);
  ASSERT_EQ(found.undefined.size(), 1U);
  EXPECT_EQ(found.undefined[0].rows, 1U);
  for (size_t r = 0; r < 300; r++) {
    EXPECT_EQ(std::isnan(found.values[r]), r == 200) << r;
    // Rows 100 and 150 are 1 player apart from each other too.
    EXPECT_EQ(r == 200 ? 1 : found.values[r], 1) << r;
  }
  // All of one input: nobody to draw.
  trial.data = dataset_of(Matrix(300, 1));
  EXPECT_EQ(scored("separability", ":partners=2", trial).coverage, 0);
}

// Half of the rows explain 0 and half 1: every row is 1/2 from its partners on average, so that rows do not differ and
// all of the error is that of drawing 10 partners: sqrt(1/4 / 10 / 5000).
TEST(Separability, TheErrorOfTheMeanHasAPartForTheDrawing) {
  Matrix values(5000, 1);
  for (size_t r = 0; r < 5000; r += 2) values(r, 0) = 1;
  Trial trial{explanations_of(values)};
  const double expected = std::sqrt(0.25 / 10 / 5000);
  EXPECT_NEAR(scored("separability", ":partners=10", trial).mean_error, expected, 0.2 * expected);
}

TEST(Separability, BitsDoNotDependOnThreads) {
  Trial trial{explanations_of(random_values(300, 6, 3))};
  expect_same_scores_on_threads("separability", "", trial);
  expect_same_scores_on_threads("separability", ":partners=20:distance=l2", trial);
}

}  // namespace
}  // namespace assay::testing
