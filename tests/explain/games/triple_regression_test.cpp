#include "assay/explain/games/triple_regression.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "assay/explain/exact_shapley.h"
#include "assay/explain/games/paired_regression.h"
#include "assay/explain/kernel_shap.h"
#include "tests/explain/toy_game.h"

namespace assay::testing {
namespace {

constexpr double kWider = 10000;
const std::vector<double> kNoBar = {std::numeric_limits<double>::infinity()};

// x_i x_j x_k of a coalition's bits.
double product_of(const std::array<uint16_t, 3>& triple, uint64_t coalition) {
  double product = 1;
  for (const uint16_t player : triple) product *= (coalition >> player & 1) != 0 ? 1 : -1;
  return product;
}

// By Gauss and Jordan's elimination with pivots.
Matrix64 inverse_of(Matrix64 a) {
  const size_t n = a.rows();
  Matrix64 inverse(n, n);
  for (size_t i = 0; i < n; i++) inverse(i, i) = 1;
  for (size_t k = 0; k < n; k++) {
    size_t best = k;
    for (size_t i = k; i < n; i++) best = std::abs(a(i, k)) > std::abs(a(best, k)) ? i : best;
    std::swap_ranges(a.row(k).begin(), a.row(k).end(), a.row(best).begin());
    std::swap_ranges(inverse.row(k).begin(), inverse.row(k).end(), inverse.row(best).begin());
    const double pivot = a(k, k);
    for (double& value : a.row(k)) value /= pivot;
    for (double& value : inverse.row(k)) value /= pivot;
    for (size_t i = 0; i < n; i++) {
      const double factor = a(i, k);
      for (size_t j = 0; j < n && i != k; j++) {
        a(i, j) -= factor * a(k, j);
        inverse(i, j) -= factor * inverse(k, j);
      }
    }
  }
  return inverse;
}

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// a' M b
double form(std::span<const double> a, const Matrix64& m, std::span<const double> b) {
  double sum = 0;
  for (size_t i = 0; i < m.rows(); i++) sum += a[i] * dot(m.row(i), b);
  return sum;
}

// The process with these triples, by sums over all odd sets of players.
struct Dense {
  Matrix64 k;             // covariance of the pairs, that of all players first
  Matrix64 c;             // of values and pairs
  std::vector<double> v;  // variance of values

  Dense(size_t players, const ProcessPrior& prior, const std::vector<uint64_t>& coalitions,
        const std::vector<std::array<uint16_t, 3>>& triples)
      : k(coalitions.size(), coalitions.size()), c(players, coalitions.size()), v(players) {
    const double q = prior.order / static_cast<double>(players);
    std::vector<double> z(coalitions.size());
    for (uint64_t set = 1; set < uint64_t{1} << players; set++) {
      const int size = std::popcount(set);
      if (size % 2 == 0) continue;
      double variance = std::pow(q, size) * (size == 1 ? prior.singles : 1);
      for (const auto& triple : triples) {
        const uint64_t bits = uint64_t{1} << triple[0] | uint64_t{1} << triple[1] | uint64_t{1} << triple[2];
        if (bits == set) variance += kWider * q * q * q;
      }
      for (size_t p = 0; p < z.size(); p++) z[p] = std::popcount(set & ~coalitions[p]) % 2 == 0 ? 1 : -1;
      for (size_t a = 0; a < z.size(); a++) {
        for (size_t b = 0; b < z.size(); b++) k(a, b) += variance * z[a] * z[b];
      }
      for (size_t i = 0; i < players; i++) {
        if ((set >> i & 1) == 0) continue;
        for (size_t p = 0; p < z.size(); p++) c(i, p) += variance * 2 / size * z[p];
        v[i] += variance * 4 / size / size;
      }
    }
  }

  // What a pair is beyond what all others foretell, and the variance of that.
  std::pair<double, double> left_out(std::span<const double> y, size_t at) const {
    Matrix64 others(k.rows() - 1, k.rows() - 1);
    std::vector<double> known;
    std::vector<double> cross;
    for (size_t a = 0; a < k.rows(); a++) {
      if (a == at) continue;
      for (size_t b = 0; b < k.rows(); b++) {
        if (b != at) others(a - (a > at ? 1 : 0), b - (b > at ? 1 : 0)) = k(a, b);
      }
      known.push_back(y[a]);
      cross.push_back(k(a, at));
    }
    const Matrix64 inverse = inverse_of(others);
    return {y[at] - form(cross, inverse, known), k(at, at) - form(cross, inverse, cross)};
  }
};

constexpr size_t kPlayers = 8;
constexpr size_t kPairs = 60;

struct Setting {
  PairDesign design = make_pair_design(kPlayers, kPairs, PairAllocation::balanced, {});
  std::vector<size_t> probes;
  std::vector<uint64_t> coalitions = {design.coalitions.word(1, 0)};

  Setting() {
    for (size_t p = 10; p < kPairs; p += 3) probes.push_back(p);
    for (size_t p = 0; p < kPairs; p++) coalitions.push_back(design.coalitions.word(2 + p, 0));
  }
  TripleRegression regression() const {
    SolvedProcess first;
    SolvedProcess second;
    const InteractionRegression smooth(design, 1.5, probes, {}, nullptr, &first);
    const InteractionRegression rough(design, 4, probes, {}, nullptr, &second);
    return {design, probes, std::move(first), std::move(second)};
  }
  // Left sides of a game without a worth of all players: the triples given, and noise or, without any, a game of the
  // smooth process.
  std::vector<double> sides(const std::vector<std::array<uint16_t, 3>>& triples, double noise, uint64_t seed) const {
    RandomStream random(seed, "triple sides");
    std::vector<double> made(kPairs);
    for (size_t p = 0; p < kPairs; p++) {
      for (const auto& triple : triples) made[p] += 3 * (product_of(triple, coalitions[1 + p]) - 1.0 / 3);
      made[p] += noise * random.normal();
    }
    for (uint64_t set = 1; set < uint64_t{1} << kPlayers && noise == 0; set++) {
      const int size = std::popcount(set);
      if (size % 2 == 0) continue;
      const double c = random.normal() * std::sqrt(std::pow(1.5 / kPlayers, size) * (size == 1 ? 100 : 1));
      for (size_t p = 0; p < kPairs; p++) made[p] += std::popcount(set & ~coalitions[1 + p]) % 2 == 0 ? c : -c;
    }
    return made;
  }
};

const std::vector<std::array<uint16_t, 3>> kTriples = {{0, 1, 2}, {2, 4, 7}};

TEST(TripleRegression, IsTheProcessWithTheTriplesThatItFound) {
  const Setting setting;
  const TripleRegression regression = setting.regression();
  const std::vector<uint8_t> counts(setting.probes.size(), 1);
  for (uint64_t seed = 0; seed < 12; seed++) {
    const std::vector<double> sides = setting.sides(kTriples, static_cast<double>(seed % 2), seed);
    const std::vector<double> values(kPlayers);
    const auto fits = regression.fit({sides.data(), 1, kPairs}, {values.data(), 1, kPlayers}, counts, kNoBar);
    const TripleRegression::Fit& fit = fits[0];
    ASSERT_FALSE(fit.triples.empty());
    for (const auto& triple : kTriples) {
      EXPECT_NE(std::ranges::find(fit.triples, triple), fit.triples.end()) << "seed " << seed;
    }
    std::vector<double> y = {0};
    y.insert(y.end(), sides.begin(), sides.end());
    size_t fitting = 0;
    for (const double order : {1.5, 4.0}) {
      const Dense dense(kPlayers, order, setting.coalitions, fit.triples);
      const Matrix64 inverse = inverse_of(dense.k);
      double square = 0;
      double scale = 0;
      for (const size_t probe : setting.probes) {
        const double weight = inverse(1 + probe, 1 + probe);
        const double residual = dot(inverse.row(1 + probe), y) / weight;
        square += residual * residual;
        scale += residual * residual * weight;
      }
      // The one that foretells the probes better.
      EXPECT_GE(square, fit.square * (1 - 1e-5)) << "seed " << seed << ", order " << order;
      if (square > fit.square * (1 + 1e-5)) continue;
      fitting++;
      EXPECT_NEAR(fit.scale, scale, 1e-4 * scale);
      for (size_t i = 0; i < kPlayers; i++) {
        EXPECT_NEAR(fit.values[i], form(dense.c.row(i), inverse, y), 1e-5) << "seed " << seed;
        const double variance = dense.v[i] - form(dense.c.row(i), inverse, dense.c.row(i));
        EXPECT_NEAR(fit.variances[i], variance, 1e-5 * dense.v[i]) << "seed " << seed;
      }
      for (size_t k = 0; k < setting.probes.size(); k += 6) {
        const auto [residual, variance] = dense.left_out(y, 1 + setting.probes[k]);
        EXPECT_NEAR(fit.residuals[k], residual, 1e-5) << "seed " << seed << ", probe " << k;
        EXPECT_NEAR(fit.pair_residuals[setting.probes[k]], residual, 1e-5);
        EXPECT_NEAR(1 / inverse(1 + setting.probes[k], 1 + setting.probes[k]), variance, 1e-5 * variance);
      }
    }
    EXPECT_EQ(fitting, 1U) << "seed " << seed;
  }
}

// Columns that other rows have left, and rows beside it, change nothing.
TEST(TripleRegression, ARowHasTheSameBitsWhateverCameBefore) {
  const Setting setting;
  const std::vector<uint8_t> counts(setting.probes.size(), 1);
  const TripleRegression used = setting.regression();
  Matrix64 sides(6, kPairs);
  for (size_t r = 0; r < sides.rows(); r++) std::ranges::copy(setting.sides(kTriples, 1, r), sides.row(r).begin());
  const Matrix64 values(6, kPlayers);
  const std::vector<double> no_bars(6, kNoBar[0]);
  const auto together = used.fit(sides.view(), values.view(), counts, no_bars);
  const auto again = used.fit(sides.view(), values.view(), counts, no_bars);
  for (size_t r = 0; r < sides.rows(); r++) {
    const auto alone = setting.regression().fit(sides.view().rows_between(r, r + 1),
                                                values.view().rows_between(r, r + 1), counts, kNoBar);
    EXPECT_EQ(alone[0].values, together[r].values);
    EXPECT_EQ(alone[0].variances, together[r].variances);
    EXPECT_EQ(again[r].values, together[r].values);
  }
}

TEST(TripleRegression, IsForFewPairsButNotTooFew) {
  EXPECT_FALSE(TripleRegression::worthwhile(14, 47));
  EXPECT_TRUE(TripleRegression::worthwhile(14, 48));
  EXPECT_TRUE(TripleRegression::few_pairs(14, 755));  // 14 players, 364 triples
  EXPECT_FALSE(TripleRegression::few_pairs(14, 756));
  EXPECT_TRUE(TripleRegression::worthwhile(14, 512));
  EXPECT_FALSE(TripleRegression::worthwhile(14, 513));
  EXPECT_FALSE(TripleRegression::worthwhile(8, 130));  // 8 players, 56 triples
  EXPECT_TRUE(TripleRegression::few_pairs(14, 16));
}

// v = single players + three triples of 40 players, in x of 1 and -1: 9,880 triples, 255 pairs. The process alone
// cannot tell which are large.
TEST(TripleRegression, KernelShapFindsFewTriplesOfManyPlayers) {
  const size_t players = 40;
  const std::vector<std::array<uint16_t, 3>> triples = {{0, 7, 30}, {7, 8, 9}, {20, 30, 39}};
  const ToyGame game(players, [&](uint64_t mask) {
    double sum = 0;
    for (size_t i = 0; i < players; i++) sum += (mask >> i & 1) != 0 ? 0.05 * static_cast<double>(i % 7) : 0;
    for (const auto& triple : triples) sum += product_of(triple, mask) / 2;
    return sum;
  });
  std::vector<double> exact(players);
  for (size_t i = 0; i < players; i++) exact[i] = 0.05 * static_cast<double>(i % 7);
  for (const auto& triple : triples) {
    for (const uint16_t player : triple) exact[player] += 1.0 / 3;
  }
  const Played additive = play_toy(game, [](const Game& asked, Attributions& out, const Context& context) {
    kernel_shap(asked, {.samples = 512, .interactions = false}, out, context);
  });
  double largest = 0;
  for (size_t i = 0; i < players; i++) largest = std::max(largest, std::abs(additive.values(0, i) - exact[i]));
  EXPECT_GT(largest, 0.05);
  for (const unsigned threads : {1U, 3U}) {
    const Played played = play_toy(
        game,
        [](const Game& asked, Attributions& out, const Context& context) {
          kernel_shap(asked, {.samples = 512}, out, context);
        },
        threads);
    for (size_t i = 0; i < players; i++) EXPECT_NEAR(played.values(0, i), exact[i], 3e-3) << "player " << i;
  }
}

}  // namespace
}  // namespace assay::testing
