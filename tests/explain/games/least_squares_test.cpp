#include "assay/explain/games/least_squares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/random.h"
#include "assay/core/vector_target.h"

namespace assay::testing {
namespace {

Matrix64 random_matrix(size_t rows, size_t cols, uint64_t seed) {
  Matrix64 made(rows, cols);
  RandomStream random(seed, "least squares test");
  for (double& value : made.values()) value = random.normal();
  return made;
}

TEST(LeastSquares, ALineThroughThreePointsByHand) {
  // y = a + b x at x = 0, 1, 2 with weights 1, 2, 1: mean x 1, weighted sum of squares 2, so b = (y2 - y0) / 2 and
  // a = (y0 + 2 y1 + y2) / 4 - b. Leverages: 1/4 + (x - 1)^2 / 2 times the weight: 3/4, 1/2, 3/4.
  Matrix64 x(3, 2);
  for (size_t p = 0; p < 3; p++) {
    x(p, 0) = 1;
    x(p, 1) = static_cast<double>(p);
  }
  const auto fit = weighted_least_squares(x.view(), std::vector<double>{1, 2, 1}, {});
  ASSERT_TRUE(fit);
  std::vector<double> line(2);
  multiply(fit->solver, std::vector<double>{1, 5, 3}, line);
  EXPECT_NEAR(line[1], 1, 1e-14);
  EXPECT_NEAR(line[0], 2.5, 1e-14);
  EXPECT_NEAR(fit->leverage[0], 0.75, 1e-14);
  EXPECT_NEAR(fit->leverage[1], 0.5, 1e-14);
  EXPECT_NEAR(fit->leverage[2], 0.75, 1e-14);
}

// Weighted residuals of the best fit are orthogonal to every regressor: nothing else is.
TEST(LeastSquares, ResidualsAreOrthogonalToTheRegressors) {
  const Matrix64 x = random_matrix(203, 17, 1);
  const Matrix64 y = random_matrix(1, 203, 2);
  std::vector<double> weights(203);
  for (size_t p = 0; p < 203; p++) weights[p] = 0.01 + static_cast<double>(p % 7);
  const auto fit = weighted_least_squares(x.view(), weights, {});
  ASSERT_TRUE(fit);
  std::vector<double> beta(17);
  multiply(fit->solver, y.row(0), beta);
  double leverage = 0;
  std::vector<double> products(17);
  for (size_t p = 0; p < 203; p++) {
    double residual = y(0, p);
    for (size_t i = 0; i < 17; i++) residual -= x(p, i) * beta[i];
    for (size_t i = 0; i < 17; i++) products[i] += weights[p] * residual * x(p, i);
    leverage += fit->leverage[p];
  }
  for (const double product : products) EXPECT_NEAR(product, 0, 1e-10);
  EXPECT_NEAR(leverage, 17, 1e-10);  // the trace of a projection
}

TEST(LeastSquares, RefusesDesignsThatDoNotDetermineTheTerms) {
  Matrix64 x = random_matrix(50, 6, 3);
  const std::vector<double> weights(50, 1.0);
  ASSERT_TRUE(weighted_least_squares(x.view(), weights, {}));
  for (size_t p = 0; p < 50; p++) x(p, 4) = x(p, 1) - 2 * x(p, 2);
  EXPECT_FALSE(weighted_least_squares(x.view(), weights, {}));
  EXPECT_FALSE(weighted_least_squares(random_matrix(5, 6, 4).view(), std::vector<double>(5, 1.0), {}));
  // Six samples, one of them without weight.
  EXPECT_FALSE(weighted_least_squares(random_matrix(6, 6, 5).view(), std::vector<double>{1, 1, 1, 1, 1, 0}, {}));
  EXPECT_FALSE(weighted_least_squares(Matrix64(9, 2).view(), std::vector<double>(9, 1.0), {}));
}

// More terms than are eliminated together: beta itself comes back from values without noise, on any number of threads
// the same bits.
TEST(LeastSquares, ManyTermsInPanels) {
  for (const size_t terms : {63, 64, 65, 150}) {
    const size_t samples = 2100 + terms;
    const Matrix64 x = random_matrix(samples, terms, terms);
    std::vector<double> weights(samples);
    for (size_t p = 0; p < samples; p++) weights[p] = 0.1 + static_cast<double>(p % 5);
    Context context;
    context.threads = 1;
    const auto fit = weighted_least_squares(x.view(), weights, context);
    ASSERT_TRUE(fit);
    std::vector<double> y(samples);
    for (size_t p = 0; p < samples; p++) {
      for (size_t i = 0; i < terms; i++) y[p] += x(p, i) * (static_cast<double>(i) - 40);
    }
    std::vector<double> beta(terms);
    multiply(fit->solver, y, beta);
    for (size_t i = 0; i < terms; i++) EXPECT_NEAR(beta[i], static_cast<double>(i) - 40, 1e-10);
    context.threads = 3;
    const auto again = weighted_least_squares(x.view(), weights, context);
    ASSERT_TRUE(again);
    EXPECT_TRUE(std::ranges::equal(fit->solver.values(), again->solver.values()));
    EXPECT_EQ(fit->leverage, again->leverage);
    // The last regressor is the sum of two others: of several panels, only the last pivot is nothing.
    Matrix64 deficient = x;
    for (size_t p = 0; p < samples; p++) deficient(p, terms - 1) = x(p, 0) + x(p, 7);
    EXPECT_FALSE(weighted_least_squares(deficient.view(), weights, context));
  }
}

TEST(LeastSquares, StopsWhenAsked) {
  const std::atomic<bool> cancelled = true;
  Context context;
  context.cancelled = &cancelled;
  const Matrix64 x = random_matrix(50, 6, 3);
  EXPECT_THROW(weighted_least_squares(x.view(), std::vector<double>(50, 1.0), context), Error);
}

// By hand: residuals 3 and -1 of leverages 0.25 and 0.5 become 4 and -2; one of 0.9 gets the common size,
// sqrt((9 + 1 + 0.35) / (0.75 + 0.5 + 0.1)) = 2.769, whatever it is, with its sign.
TEST(LeastSquares, ResidualsAreRestoredByTheirLeverage) {
  for (const double sign : {1.0, -1.0}) {
    std::vector<double> residuals = {3, -1, sign * std::sqrt(0.35)};
    ResidualScales(std::vector<double>{0.25, 0.5, 0.9}).restore(residuals);
    EXPECT_NEAR(residuals[0], 4, 1e-14);
    EXPECT_NEAR(residuals[1], -2, 1e-14);
    EXPECT_NEAR(residuals[2], sign * std::sqrt(10.35 / 1.35), 1e-14);
  }
  std::vector<double> own = {3, -1};
  ResidualScales(std::vector<double>{0.25, 0.5}).restore(own);
  EXPECT_NEAR(own[0], 4, 1e-14);
  EXPECT_NEAR(own[1], -2, 1e-14);
}

// Plain sums of the same terms, on all targets, for counts on both sides of the vectors.
TEST(LeastSquares, ProductsAndVariancesAreThePlainSums) {
  const std::string best = vector_target();
  for (const std::string& target : vector_targets()) {
    pin_vector_target(target);
    for (const size_t samples : {3, 8, 31, 32, 67}) {
      const Matrix64 solver = random_matrix(5, samples, samples);
      const Matrix64 y = random_matrix(1, samples, 7);
      const size_t cut = samples / 2;
      const std::vector<Stratum> strata = {{.begin = 1, .end = cut, .factor = 0.5, .centred = false},
                                           {.begin = cut, .end = samples, .factor = 2, .centred = true}};
      std::vector<double> products(5);
      std::vector<double> variances(5);
      multiply(solver, y.row(0), products);
      stratified_variances(solver, y.row(0), strata, variances);
      for (size_t i = 0; i < 5; i++) {
        double sum = 0;
        double mean = 0;
        for (size_t p = 0; p < samples; p++) sum += solver(i, p) * y(0, p);
        for (size_t p = cut; p < samples; p++) mean += solver(i, p) * y(0, p) / static_cast<double>(samples - cut);
        double variance = 0;
        for (size_t p = 1; p < samples; p++) {
          variance +=
              p < cut ? 0.5 * std::pow(solver(i, p) * y(0, p), 2) : 2 * std::pow(solver(i, p) * y(0, p) - mean, 2);
        }
        EXPECT_NEAR(products[i], sum, 1e-12) << target;
        EXPECT_NEAR(variances[i], variance, 1e-10) << target;
      }
    }
  }
  pin_vector_target(best);
}

}  // namespace
}  // namespace assay::testing
