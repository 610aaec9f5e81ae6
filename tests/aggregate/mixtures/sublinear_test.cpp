#include "assay/aggregate/mixtures/sublinear.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "assay/aggregate/mixtures/pair_objectives.h"
#include "assay/aggregate/mixtures/simplex.h"
#include "assay/core/random.h"

namespace assay::testing {
namespace {

// max over k of |a_k . w|, whose least value is at a kink.
SublinearFunction largest_size_of(const Matrix64& rows) {
  return [&rows](std::span<const double> weights) {
    SublinearPoint made;
    made.gradient.assign(weights.size(), 0.0);
    for (size_t k = 0; k < rows.rows(); k++) {
      double value = 0;
      for (size_t j = 0; j < weights.size(); j++) value += rows(k, j) * weights[j];
      if (std::abs(value) <= made.value) continue;
      made.value = std::abs(value);
      for (size_t j = 0; j < weights.size(); j++) made.gradient[j] = value < 0 ? -rows(k, j) : rows(k, j);
    }
    return made;
  };
}

TEST(Sublinear, KinksAreCertified) {
  RandomStream draw(4, "kinks");
  for (size_t i = 0; i < 60; i++) {
    const size_t m = 2 + i % 5;
    Matrix64 rows(12, m);
    for (double& each : rows.values()) each = draw.normal() + 0.7;
    const SublinearFunction function = largest_size_of(rows);
    const SublinearMinimum found = minimise_sublinear(m, function, 1e-7, 2000);
    EXPECT_TRUE(found.certified) << m;
    EXPECT_LE(found.bound, found.value);
    EXPECT_EQ(function(found.weights).value, found.value);
    for (size_t t = 0; t < 300; t++) {
      std::vector<double> weights(m);
      double total = 0;
      for (double& each : weights) total += each = -std::log(1 - draw.uniform());
      for (double& each : weights) each /= total;
      EXPECT_GE(function(weights).value, found.bound);
    }
  }
}

// Gram matrices of random differences, some of which cancel exactly inside the simplex.
struct RandomPairs {
  std::vector<double> grams, factors;
  std::vector<uint32_t> others;
  std::vector<Matrix64> differences;
  RandomPairs(size_t members, size_t count, uint64_t seed, bool skewed = false) {
    RandomStream draw(seed, "pairs");
    for (size_t i = 0; i < count; i++) {
      const size_t players = 1 + draw.below(6);
      Matrix64 values(members, players);
      for (double& each : values.values()) each = draw.normal();
      // Members that change far less than others.
      for (size_t j = 1; j < members && skewed && seed % 3 == 1; j++) {
        for (double& each : values.row(j)) each *= std::pow(10.0, -static_cast<double>(j));
      }
      if (i % 4 == 0 && members > 1) {
        // Where members cancel at weights that are no round numbers, rounding is at its worst.
        const double ratio = skewed ? -0.1 - draw.uniform() : -1.0;
        for (size_t p = 0; p < players; p++) values(1, p) = ratio * values(0, p);
      }
      differences.push_back(values);
      for (size_t j = 0; j < members; j++) {
        for (size_t k = j; k < members; k++) {
          double sum = 0;
          for (size_t p = 0; p < players; p++) sum += values(j, p) * values(k, p);
          grams.push_back(sum);
        }
      }
      factors.push_back(0.5 + draw.uniform());
      others.push_back(0);
    }
  }
  // The value by the differences themselves.
  double exactly(std::span<const double> weights, Fold fold) const {
    long double found = 0;
    for (size_t i = 0; i < differences.size(); i++) {
      long double squares = 0;
      for (size_t p = 0; p < differences[i].cols(); p++) {
        long double mixed = 0;
        for (size_t j = 0; j < weights.size(); j++)
          mixed += static_cast<long double>(weights[j]) * differences[i](j, p);
        squares += mixed * mixed;
      }
      const long double apart = factors[i] * std::sqrt(squares);
      found = fold == Fold::max ? std::max(found, apart) : found + apart / static_cast<long double>(differences.size());
    }
    return static_cast<double>(found);
  }
  PairSpan span() const { return {factors.size(), grams.data(), factors.data(), others.data()}; }
};

TEST(Sublinear, SumsOfRootsAreCertifiedInFewSteps) {
  for (uint64_t seed = 0; seed < 200; seed++) {
    const size_t m = 1 + seed % 8;
    const RandomPairs pairs(m, 3 + 3 * (seed % 20), seed);
    const auto mean = [&](std::span<const double> w) { return mixture_sensitivity(pairs.span(), Fold::mean, w); };
    const SublinearMinimum found = minimise_sublinear(m, mean, 1e-6, 2000);
    EXPECT_TRUE(found.certified) << "seed " << seed << ": " << found.value - found.bound;
    EXPECT_LE(found.steps, 150U) << "seed " << seed << ", " << m << " members";
  }
}

// At the least gap that is allowed, and strictly below what differences themselves give, without Gram matrices, at
// points close to the best: where members cancel, squares from Gram matrices are good to half of their digits alone.
TEST(Sublinear, BoundsAreStrictAtKinks) {
  size_t kinks = 0;
  for (uint64_t seed = 0; seed < 600; seed++) {
    const size_t m = 2 + seed % 4;
    const RandomPairs pairs(m, 1 + seed % 7, seed, true);
    for (const Fold fold : {Fold::mean, Fold::max}) {
      const auto function = [&](std::span<const double> w) { return mixture_sensitivity(pairs.span(), fold, w); };
      const SublinearMinimum found = minimise_sublinear(m, function, 1e-7, 2000);
      EXPECT_LE(found.bound, found.value);
      double best_vertex = INFINITY;
      for (size_t j = 0; j < m; j++) best_vertex = std::min(best_vertex, pairs.exactly(vertex_weights(m, j), fold));
      // What is taken off for rounding, whatever else there is.
      if (found.bound > 0) {
        EXPECT_GE(found.value - found.bound, 0.5e-8 * best_vertex);
      }
      // Of members that differ so much the best one's 1e-7 may be less than the others' rounding.
      if (seed % 3 != 1) {
        EXPECT_TRUE(found.certified) << "seed " << seed << ": " << found.value - found.bound;
        EXPECT_LE(found.value - found.bound, 1e-7 * best_vertex * (1 + 1e-6));
      }
      kinks += found.value < 0.99 * best_vertex ? 1 : 0;
      RandomStream draw(seed, "near the best");
      for (size_t t = 0; t < 200; t++) {
        std::vector<double> weights = found.weights;
        const double away = std::pow(10.0, -12 + 11 * draw.uniform());
        double total = 0;
        for (double& each : weights) total += each = std::max(0.0, each + (t == 0 ? 0 : away * draw.normal()));
        for (double& each : weights) each /= total;
        EXPECT_GE(pairs.exactly(weights, fold), found.bound) << "seed " << seed;
      }
    }
  }
  EXPECT_GT(kinks, 300U);
}

// Gradient and second derivatives against differences of the value.
TEST(Sublinear, Derivatives) {
  const RandomPairs pairs(3, 9, 5);
  const std::vector<double> at = {0.2, 0.5, 0.3};
  for (const Fold fold : {Fold::mean, Fold::max}) {
    const SublinearPoint point = mixture_sensitivity(pairs.span(), fold, at);
    for (size_t j = 0; j < 3; j++) {
      std::vector<double> up = at;
      std::vector<double> down = at;
      up[j] += 1e-5;
      down[j] -= 1e-5;
      const SublinearPoint above = mixture_sensitivity(pairs.span(), fold, up);
      const SublinearPoint below = mixture_sensitivity(pairs.span(), fold, down);
      EXPECT_NEAR((above.value - below.value) / 2e-5, point.gradient[j], 1e-8);
      if (fold == Fold::max) continue;
      for (size_t k = 0; k < 3; k++) {
        EXPECT_NEAR((above.gradient[k] - below.gradient[k]) / 2e-5, point.hessian(j, k), 1e-6);
      }
    }
    // f(w) = g . w, as for all functions that grow in proportion.
    EXPECT_NEAR(point.gradient[0] * 0.2 + point.gradient[1] * 0.5 + point.gradient[2] * 0.3, point.value, 1e-12);
  }
}

}  // namespace
}  // namespace assay::testing
