#include "assay/aggregate/mixtures/simplex.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "assay/core/random.h"

namespace assay::testing {
namespace {

std::vector<double> random_weights(size_t count, RandomStream& draw) {
  std::vector<double> made;
  double total = 0;
  for (size_t j = 0; j < count; j++) total += made.emplace_back(-std::log(1 - draw.uniform()));
  for (double& each : made) each /= total;
  return made;
}

TEST(Simplex, RepresentableWeightsSumToOneInFloat32) {
  RandomStream draw(1, "representable");
  for (size_t i = 0; i < 2000; i++) {
    const std::vector<double> given = random_weights(1 + draw.below(12), draw);
    const std::vector<double> made = representable_weights(given);
    double total = 0;
    for (size_t j = 0; j < made.size(); j++) {
      EXPECT_EQ(static_cast<double>(static_cast<float>(made[j])), made[j]);
      EXPECT_NEAR(made[j], given[j], 12.0 / 16777216);
      EXPECT_GE(made[j], 0);
      total += made[j];
    }
    EXPECT_EQ(total, 1);
  }
}

// Rows (0, 3) and (2, 1): with v = (a, 1 - a) they give 3 - 3 a and 1 + a, equal at a = 1 / 2, where both are 1.5. Mix:
// 2 q = 3 p + q for both columns alike, with p + q = 1: p = 1 / 4.
TEST(Simplex, MatrixGameByHand) {
  const std::vector<double> rows = {0, 3, 2, 1};
  const MatrixGame game = solve_matrix_game(MatrixView<const double>(rows.data(), 2, 2));
  EXPECT_NEAR(game.bound, 1.5, 1e-12);
  EXPECT_NEAR(game.weights[0], 0.5, 1e-12);
  EXPECT_NEAR(game.mix[0], 0.25, 1e-12);
}

// Both sides reach the same value: each proves the other right.
TEST(Simplex, MatrixGamesHaveNoGap) {
  RandomStream draw(2, "games");
  for (size_t i = 0; i < 2000; i++) {
    const size_t m = 1 + draw.below(7);
    const size_t n = 1 + draw.below(30);
    Matrix64 rows(n, m);
    for (double& each : rows.values()) {
      each = i % 3 == 0 ? std::round(2 * draw.normal()) : draw.normal() * (i % 3 == 1 ? 1e-3 : 1);
    }
    const MatrixGame game = solve_matrix_game(rows.view());
    double most = -INFINITY;
    for (size_t k = 0; k < n; k++) {
      double value = 0;
      for (size_t j = 0; j < m; j++) value += rows(k, j) * game.weights[j];
      most = std::max(most, value);
    }
    EXPECT_NEAR(most, game.bound, 1e-9) << m << " x " << n;
    EXPECT_GE(most, game.bound - 1e-12);
  }
}

// At the minimum of a convex quadratic every weight in use has the least slope.
TEST(Simplex, QuadraticMinimumSatisfiesItsConditions) {
  RandomStream draw(3, "quadratics");
  for (size_t i = 0; i < 2000; i++) {
    const size_t m = 1 + draw.below(7);
    const size_t rank = 1 + draw.below(8);
    Matrix64 factor(rank, m);
    for (double& each : factor.values()) each = draw.normal();
    Matrix64 hessian(m, m);
    for (size_t j = 0; j < m; j++) {
      for (size_t k = 0; k < m; k++) {
        for (size_t l = 0; l < rank; l++) hessian(j, k) += factor(l, j) * factor(l, k);
      }
    }
    std::vector<double> gradient(m);
    for (double& each : gradient) each = draw.normal();
    const std::vector<double> at = random_weights(m, draw);
    const std::vector<double> found = minimise_on_simplex(at, gradient, hessian.view());
    std::vector<double> slope = gradient;
    for (size_t j = 0; j < m; j++) {
      for (size_t k = 0; k < m; k++) slope[j] += hessian(j, k) * (found[k] - at[k]);
    }
    const double least = *std::ranges::min_element(slope);
    double total = 0;
    for (size_t j = 0; j < m; j++) {
      EXPECT_GE(found[j], 0);
      total += found[j];
      if (found[j] > 1e-6) {
        EXPECT_NEAR(slope[j], least, 1e-6) << m << " members, rank " << rank;
      }
    }
    EXPECT_NEAR(total, 1, 1e-12);
  }
}

}  // namespace
}  // namespace assay::testing
