#include "assay/explain/games/interaction_regression.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "assay/explain/exact_shapley.h"
#include "assay/explain/kernel_shap.h"
#include "tests/explain/toy_game.h"

namespace assay::testing {
namespace {

// The process as the header writes it, by summing over all odd sets of players. Coalitions and sets are bits.
struct BruteForce {
  size_t players;
  double decay;

  BruteForce(size_t count, double order) : players(count), decay(order / static_cast<double>(count)) {}
  double prior(uint64_t set) const {
    const int size = std::popcount(set);
    return std::pow(decay, size) * (size == 1 ? 100 : 1);
  }
  // Product of x_i over the set: -1 for each of its players that is not in the coalition.
  static double sign(uint64_t set, uint64_t coalition) { return std::popcount(set & ~coalition) % 2 == 0 ? 1 : -1; }
  template <class Term>
  double over_odd_sets(const Term& term) const {
    double sum = 0;
    for (uint64_t set = 1; set < uint64_t{1} << players; set++) {
      if (std::popcount(set) % 2 == 1) sum += prior(set) * term(set);
    }
    return sum;
  }
  double of_pairs(uint64_t a, uint64_t b) const {
    return over_odd_sets([&](uint64_t set) { return sign(set, a) * sign(set, b); });
  }
  static double share(uint64_t set, size_t player) { return (set >> player & 1) != 0 ? 2.0 / std::popcount(set) : 0; }
  double of_value(size_t player, uint64_t coalition) const {
    return over_odd_sets([&](uint64_t set) { return share(set, player) * sign(set, coalition); });
  }
  double value_variance(size_t player) const {
    return over_odd_sets([&](uint64_t set) { return share(set, player) * share(set, player); });
  }
};

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
    for (size_t i = 0; i < n; i++) {
      const double factor = a(i, k) / a(k, k);
      for (size_t j = 0; j < n && i != k; j++) {
        a(i, j) -= factor * a(k, j);
        inverse(i, j) -= factor * inverse(k, j);
      }
    }
    const double pivot = a(k, k);
    for (double& value : a.row(k)) value /= pivot;
    for (double& value : inverse.row(k)) value /= pivot;
  }
  return inverse;
}

Matrix64 product(const Matrix64& a, const Matrix64& b) {
  Matrix64 made(a.rows(), b.cols());
  for (size_t i = 0; i < a.rows(); i++) {
    for (size_t k = 0; k < a.cols(); k++) {
      for (size_t j = 0; j < b.cols(); j++) made(i, j) += a(i, k) * b(k, j);
    }
  }
  return made;
}

struct Solved {
  Matrix64 inverse;
  Matrix64 values;  // players x (1 + pairs), the pair of all players first
  std::vector<double> variances;
};

Solved solve(const BruteForce& process, const std::vector<uint64_t>& coalitions) {
  const size_t count = coalitions.size();
  Matrix64 k(count, count);
  Matrix64 a(process.players, count);
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < count; j++) k(i, j) = process.of_pairs(coalitions[i], coalitions[j]);
    for (size_t p = 0; p < process.players; p++) a(p, i) = process.of_value(p, coalitions[i]);
  }
  for (size_t i = 0; i < count; i++) k(i, i) *= 1 + 1e-10;
  Solved made;
  made.inverse = inverse_of(k);
  made.values = product(a, made.inverse);
  for (size_t p = 0; p < process.players; p++) {
    made.variances.push_back(process.value_variance(p));
    for (size_t j = 0; j < count; j++) made.variances[p] -= made.values(p, j) * a(p, j);
  }
  return made;
}

std::vector<uint64_t> coalitions_of(const PairDesign& design) {
  std::vector<uint64_t> made = {design.coalitions.word(1, 0)};
  for (size_t p = 0; p < design.pairs(); p++) made.push_back(design.coalitions.word(2 + p, 0));
  return made;
}

class Orders : public ::testing::TestWithParam<double> {};

TEST_P(Orders, TheClosedFormsAreTheSumsOverAllOddSets) {
  const size_t players = 7;
  const PairDesign design = make_pair_design(players, 30, PairAllocation::balanced, {});
  const std::vector<size_t> probes = {8, 20, 29};
  const InteractionRegression made(design, GetParam(), probes, {});
  ASSERT_TRUE(made.usable());
  const Solved expected = solve({players, GetParam()}, coalitions_of(design));
  for (size_t i = 0; i < players; i++) {
    for (size_t p = 0; p < design.pairs(); p++) EXPECT_NEAR(made.values()(i, p), expected.values(i, 1 + p), 1e-7);
    EXPECT_NEAR(made.variance(i), expected.variances[i], 1e-7 * expected.variances[i] + 1e-9);
  }
}

// With every pair a probe, each residual is the pair's own.
TEST_P(Orders, OwnErrorsAreInfluencesTimesResiduals) {
  const PairDesign design = make_pair_design(7, 30, PairAllocation::balanced, {});
  std::vector<size_t> probes(design.pairs());
  for (size_t p = 0; p < probes.size(); p++) probes[p] = p;
  RandomStream random(1, "own errors");
  Matrix64 influence(7, design.pairs());
  for (double& each : influence.values()) each = random.normal();
  std::vector<double> sides(design.pairs());
  for (double& side : sides) side = random.normal();
  const InteractionRegression made(design, GetParam(), probes, {}, &influence);
  for (size_t i = 0; i < 7; i++) {
    double expected = 0;
    double found = 0;
    for (size_t k = 0; k < probes.size(); k++) {
      double residual = 0;
      for (size_t p = 0; p < sides.size(); p++) residual += made.left_out()(k, p) * sides[p];
      expected += influence(i, k) * residual;
      found += made.own_errors()(i, k) * sides[k];
    }
    EXPECT_NEAR(found, expected, 1e-9 * std::abs(expected)) << "player " << i;
  }
}

TEST(NearestProbes, AreNearestAndTheFirstOfTwo) {
  EXPECT_EQ(nearest_probes(9, std::vector<size_t>{2, 3, 7}), (std::vector<size_t>{0, 0, 0, 1, 1, 1, 2, 2, 2}));
}

// What a process that never saw the pair predicts for it.
TEST_P(Orders, LeftOutResidualsAreThoseOfAFitWithoutThePair) {
  const size_t players = 6;
  const PairDesign design = make_pair_design(players, 20, PairAllocation::balanced, {});
  const std::vector<size_t> probes = {0, 11, 19};
  const InteractionRegression made(design, GetParam(), probes, {});
  const BruteForce process(players, GetParam());
  RandomStream random(1, "left out");
  std::vector<double> sides(design.pairs());
  for (double& side : sides) side = random.normal();
  for (size_t k = 0; k < probes.size(); k++) {
    std::vector<uint64_t> others = coalitions_of(design);
    const uint64_t left_out = others[1 + probes[k]];
    others.erase(others.begin() + static_cast<ptrdiff_t>(1 + probes[k]));
    Matrix64 known(others.size(), 1);
    Matrix64 covariance(1, others.size());
    for (size_t j = 0; j < others.size(); j++) {
      if (j > 0) known(j, 0) = sides[j - 1 + (j > probes[k] ? 1 : 0)];
      covariance(0, j) = process.of_pairs(others[j], left_out);
    }
    const Matrix64 weights = product(covariance, solve(process, others).inverse);
    double residual = 0;
    for (size_t p = 0; p < sides.size(); p++) residual += made.left_out()(k, p) * sides[p];
    EXPECT_NEAR(residual, sides[probes[k]] - product(weights, known)(0, 0), 1e-5);
    double variance = process.of_pairs(left_out, left_out);
    for (size_t j = 0; j < others.size(); j++) variance -= weights(0, j) * covariance(0, j);
    EXPECT_NEAR(made.left_out_variance(k), variance, 1e-5 * variance + 1e-7);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Orders, ::testing::Values(0.3, 1.5, 4));

auto with(const KernelShapOptions& options) {
  return [=](const Game& game, Attributions& out, const Context& context) { kernel_shap(game, options, out, context); };
}

double squared_error(const Played& found, const Played& exact) {
  double sum = 0;
  for (size_t v = 0; v < exact.values.values().size(); v++) {
    sum += std::pow(found.values.values()[v] - exact.values.values()[v], 2);
  }
  return sum;
}

// A game of interactions of three: more pairs than interactions determine it, though not one regression on players.
TEST(Interactions, OfThreePlayersAreFound) {
  const size_t players = 12;
  const auto value = [](uint64_t mask) {
    const auto has = [&](size_t i) { return (mask >> i & 1) != 0 ? 1.0 : -1.0; };
    return has(0) * has(1) * has(2) - 2 * has(3) * has(5) * has(9) + 0.5 * has(10) * has(4) * has(0) + has(11);
  };
  const ToyGame game(players, value);
  const Played found = play_toy(game, with({.samples = 1024}));
  // Each of three shares 2 c / 3; the signs are those of c.
  expect_near(found.values.row(0),
              {2.0 / 3 + 1.0 / 3, 2.0 / 3, 2.0 / 3, -4.0 / 3, 1.0 / 3, -4.0 / 3, 0, 0, 0, -4.0 / 3, 1.0 / 3, 2}, 1e-3);
  const Played additive = play_toy(game, with({.samples = 1024, .interactions = false}));
  const Played exact = play_toy(game, exact_shapley);
  EXPECT_LT(squared_error(found, exact), 1e-3 * squared_error(additive, exact));
}

TEST(Interactions, LowerTheErrorOnNetworksAtEveryBudget) {
  const ToyGame game({.players = 12, .rows = 12}, network_value(12, 6, 2));
  const Played exact = play_toy(game, exact_shapley);
  for (const auto& [samples, times] : std::vector<std::pair<int64_t, double>>{{128, 1}, {512, 1.5}, {2048, 4}}) {
    double with_interactions = 0;
    double additive = 0;
    for (uint64_t seed = 0; seed < 5; seed++) {
      with_interactions += squared_error(play_toy(game, with({.samples = samples}), 2, seed), exact);
      additive += squared_error(play_toy(game, with({.samples = samples, .interactions = false}), 2, seed), exact);
    }
    EXPECT_LT(times * with_interactions, additive) << samples << " samples";
  }
}

// Values that have nothing to do with each other: nothing can be learnt from interactions, and little may be lost.
TEST(Interactions, DoNoHarmWhereThereIsNoPattern) {
  double with_interactions = 0;
  double additive = 0;
  for (uint64_t seed = 0; seed < 10; seed++) {
    const ToyGame game(10, table_value(random_table(10, seed)));
    const Played exact = play_toy(game, exact_shapley);
    with_interactions += squared_error(play_toy(game, with({.samples = 400}), 1, seed), exact);
    additive += squared_error(play_toy(game, with({.samples = 400, .interactions = false}), 1, seed), exact);
  }
  EXPECT_LT(with_interactions, 1.3 * additive);
}

}  // namespace
}  // namespace assay::testing
