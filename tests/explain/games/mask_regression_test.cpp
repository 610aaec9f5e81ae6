#include "assay/explain/games/mask_regression.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "assay/core/random.h"

namespace assay::testing {
namespace {

Coalitions random_masks(size_t masks, size_t players, uint64_t seed) {
  Coalitions made(players);
  RandomStream random(seed, "mask regression test");
  for (size_t s = 0; s < masks; s++) {
    std::vector<uint64_t> bits(made.words());
    for (size_t i = 0; i < players; i++) {
      if (s == 0 || random.below(2) == 1) bits[i / 64] |= uint64_t{1} << i % 64;
    }
    made.add(bits);
  }
  return made;
}

std::vector<double> random_values(size_t count, uint64_t seed) {
  std::vector<double> made(count);
  RandomStream random(seed, "mask regression test, values");
  for (double& each : made) each = 3 + random.normal();
  return made;
}

struct Fitted {
  std::vector<double> coefficients;
  std::vector<float> errors;
  bool has_errors = false;
};

Fitted fitted(const Coalitions& masks, double width, double ridge, std::vector<double> values, MaskForm form,
              unsigned threads = 1) {
  Context context;
  context.threads = threads;
  const MaskRegression regression(masks, {.width = width, .ridge = ridge, .draws = 1}, context, form);
  regression.centre(values);
  Fitted made{std::vector<double>(masks.players()), std::vector<float>(masks.players()), regression.has_errors()};
  regression.coefficients(values, made.coefficients);
  regression.errors(values, made.coefficients, made.errors);
  return made;
}

struct Problem {
  size_t masks;
  size_t players;
};

// One system has a row for each player, the other a row for each mask: what they solve is the same.
TEST(MaskRegression, BothFormsAreOne) {
  for (const Problem& problem : {Problem{25, 40}, Problem{40, 40}, Problem{90, 30}, Problem{70, 200}, Problem{8, 12}}) {
    for (const double ridge : {0.01, 1.0, 100.0}) {
      for (const double width : {2.0, 4.5}) {
        const Coalitions masks = random_masks(problem.masks, problem.players, problem.masks);
        const std::vector<double> values = random_values(problem.masks, problem.players);
        const Fitted by_players = fitted(masks, width, ridge, values, MaskForm::by_players);
        const Fitted by_masks = fitted(masks, width, ridge, values, MaskForm::by_masks);
        double size = 0;
        for (const double each : by_players.coefficients) size = std::max(size, std::abs(each));
        EXPECT_EQ(by_players.has_errors, by_masks.has_errors);
        for (size_t i = 0; i < problem.players; i++) {
          EXPECT_NEAR(by_players.coefficients[i], by_masks.coefficients[i], 1e-10 * size);
          if (by_players.has_errors) {
            EXPECT_NEAR(by_players.errors[i], by_masks.errors[i], 2e-6F * by_players.errors[i]);
          }
        }
      }
    }
  }
}

// A ridge so small that the fit goes through all values: every residual is there all the same.
TEST(MaskRegression, FewMasksAndHardlyAnyRidge) {
  const Coalitions masks = random_masks(50, 200, 4);
  const std::vector<double> values = random_values(50, 5);
  const Fitted small = fitted(masks, 10, 1e-9, values, MaskForm::best);
  const Fitted smaller = fitted(masks, 10, 1e-11, values, MaskForm::best);
  for (size_t i = 0; i < 200; i++) {
    EXPECT_NEAR(small.coefficients[i], smaller.coefficients[i], 1e-7);
    EXPECT_GT(small.errors[i], 0);
    EXPECT_NEAR(small.errors[i], smaller.errors[i], 1e-5F * small.errors[i]);
  }
}

TEST(MaskRegression, AFixedPartOfAllValuesChangesNothing) {
  for (const MaskForm form : {MaskForm::by_players, MaskForm::by_masks}) {
    const Coalitions masks = random_masks(30, 40, 1);
    std::vector<double> values(30);
    for (size_t s = 0; s < 30; s++) values[s] = static_cast<double>(s % 5) / 4;
    const Fitted plain = fitted(masks, 4, 1, values, form);
    for (double& each : values) each += 1e6;  // exact: multiples of 1/4
    const Fitted shifted = fitted(masks, 4, 1, values, form);
    EXPECT_EQ(plain.coefficients, shifted.coefficients);
    const Fitted same = fitted(masks, 4, 1, std::vector<double>(30, 0.1), form);
    for (const double each : same.coefficients) EXPECT_EQ(each, 0);
  }
}

TEST(MaskRegression, BitsDoNotDependOnThreads) {
  const Coalitions masks = random_masks(150, 300, 2);
  const std::vector<double> values = random_values(150, 3);
  const Fitted one = fitted(masks, 13, 1, values, MaskForm::best, 1);
  for (const unsigned threads : {2U, 7U}) {
    const Fitted other = fitted(masks, 13, 1, values, MaskForm::best, threads);
    EXPECT_EQ(one.coefficients, other.coefficients);
    EXPECT_EQ(one.errors, other.errors);
  }
}

TEST(MaskRegression, SaysWhatItKeeps) {
  EXPECT_EQ(MaskRegression::size(2048, 30'000), (2.0 * 2048 + 30'000) * 2048);
  // Regressors with a row for each mask and for each player's ridge, and the solver.
  EXPECT_EQ(MaskRegression::size(2048, 100), (2048.0 + 100) * 100 + 100 * 2048.0);
  EXPECT_EQ(MaskRegression::enough_for_errors(3), 16U);
  EXPECT_EQ(MaskRegression::enough_for_errors(100), 106U);
}

}  // namespace
}  // namespace assay::testing
