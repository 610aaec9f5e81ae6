#include "assay/explain/games/pair_estimator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "assay/core/random.h"

namespace assay::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// Of few pairs all of them are candidates.
const std::array<ProcessPrior, 4> kPriors = {0.3, 1.5, 4, ProcessPrior(4, 1)};

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

bool same_bits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

// x of a system of equations (n x (n + 1), right-hand sides last), by elimination with pivots.
std::vector<double> solution(Matrix64 a) {
  const size_t n = a.rows();
  for (size_t k = 0; k < n; k++) {
    size_t best = k;
    for (size_t i = k; i < n; i++) best = std::abs(a(i, k)) > std::abs(a(best, k)) ? i : best;
    std::swap_ranges(a.row(k).begin(), a.row(k).end(), a.row(best).begin());
    for (size_t i = 0; i < n; i++) {
      const double factor = a(i, k) / a(k, k);
      for (size_t j = k; j <= n && i != k; j++) a(i, j) -= factor * a(k, j);
    }
  }
  std::vector<double> x(n);
  for (size_t k = 0; k < n; k++) x[k] = a(k, n) / a(k, k);
  return x;
}

// A pair's residual after a fit to all others, each with the weight that it has among all. The last player's psi is
// minus the sum of the others', so z_i - z_last are the regressors; k / d drops out of sums of psi that are 0.
double refitted_residual(const PairDesign& design, std::span<const double> sides, size_t left_out) {
  const size_t terms = design.coalitions.players() - 1;
  const auto regressor = [&](size_t pair, size_t i) {
    const auto z = [&](size_t player) { return design.coalitions.contains(2 + pair, player) ? 1.0 : 0.0; };
    return z(i) - z(terms);
  };
  Matrix64 equations(terms, terms + 1);
  for (const PairStratum& stratum : design.strata) {
    for (size_t p = stratum.begin; p < stratum.end; p++) {
      if (p == left_out) continue;
      for (size_t i = 0; i < terms; i++) {
        const double weighted = stratum.weight() * regressor(p, i);
        for (size_t j = 0; j < terms; j++) equations(i, j) += weighted * regressor(p, j);
        equations(i, terms) += weighted * sides[p];
      }
    }
  }
  const std::vector<double> psi = solution(equations);
  double residual = sides[left_out];
  for (size_t i = 0; i < terms; i++) residual -= psi[i] * regressor(left_out, i);
  return residual;
}

// Those that can be probes. Of six players they are fewer than there may be probes, so all of them are.
std::vector<size_t> sampled_pairs(const PairDesign& design) {
  std::vector<size_t> made;
  for (const PairStratum& stratum : design.strata) {
    for (size_t p = stratum.begin; p < stratum.end && !stratum.whole(); p++) made.push_back(p);
  }
  return made;
}

PairDesign design_of(size_t players, size_t pairs, uint64_t seed = 0) {
  Context context;
  context.seed = seed;
  return make_pair_design(players, pairs, PairAllocation::balanced, context);
}

PairEstimator estimator_of(const PairDesign& design, bool interactions = true) {
  auto made = PairEstimator::make(design, interactions, {});
  EXPECT_TRUE(made);
  return *std::move(made);
}

struct Rows {
  Matrix64 sides;
  std::vector<double> totals;
};

// For each order as many games of all odd sets of players as its process draws them (games/interaction_regression.h),
// then as many of single players and noise.
Rows games_of_all_kinds(const PairDesign& design, size_t of_each) {
  const size_t players = design.coalitions.players();
  Rows made{Matrix64((kPriors.size() + 1) * of_each, design.pairs()), {}};
  for (size_t r = 0; r < made.sides.rows(); r++) {
    RandomStream random(6, "pair estimator", r);
    const size_t kind = r / of_each;
    std::vector<double> c(size_t{1} << players);
    double half_total = 0;
    for (uint64_t set = 1; set < c.size(); set++) {
      const int size = std::popcount(set);
      if (size % 2 == 0 || (size > 1 && kind == kPriors.size())) continue;
      const double decay = kind < kPriors.size() ? kPriors[kind].order / static_cast<double>(players) : 1;
      const double singles = kind < kPriors.size() ? kPriors[kind].singles : 100;
      c[set] = random.normal() * std::sqrt(std::pow(decay, size) * (size == 1 ? singles : 1));
      half_total += c[set];
    }
    made.totals.push_back(2 * half_total);
    for (const PairStratum& stratum : design.strata) {
      const double part = static_cast<double>(stratum.size) / static_cast<double>(players) - 0.5;
      for (size_t p = stratum.begin; p < stratum.end; p++) {
        const uint64_t outside = ~design.coalitions.word(2 + p, 0);
        double side = (kind == kPriors.size() ? random.normal() : 0) - 2 * half_total * part;
        for (uint64_t set = 1; set < c.size(); set++) side += std::popcount(set & outside) % 2 == 0 ? c[set] : -c[set];
        made.sides(r, p) = side;
      }
    }
  }
  return made;
}

struct Estimated {
  Matrix64 values;
  Matrix64 errors;
};

// All rows, `together` at a time.
Estimated estimated(const PairEstimator& estimator, Rows rows, size_t together = PairEstimator::kTogether) {
  const size_t count = rows.totals.size();
  const size_t players = estimator.additive().design().coalitions.players();
  Estimated made{Matrix64(count, players), Matrix64(count, players)};
  for (size_t begin = 0; begin < count; begin += together) {
    const size_t end = std::min(begin + together, count);
    estimator.estimate(rows.sides.view().rows_between(begin, end), std::span(rows.totals).subspan(begin, end - begin),
                       made.values.view().rows_between(begin, end), made.errors.view().rows_between(begin, end));
  }
  return made;
}

Estimated additive_fit(const PairDesign& design, Rows rows) {
  const auto regression = PairedRegression::make(design, {});
  const size_t players = design.coalitions.players();
  Estimated made{Matrix64(rows.totals.size(), players), Matrix64(rows.totals.size(), players)};
  for (size_t r = 0; r < rows.totals.size(); r++) {
    regression->fit(rows.sides.row(r), rows.totals[r], made.values.row(r));
    regression->standard_errors(rows.sides.row(r), made.values.row(r), made.errors.row(r));
  }
  return made;
}

void expect_same_bits(const Estimated& a, const Estimated& b, size_t row) {
  EXPECT_TRUE(same_bits(a.values.row(row), b.values.row(row))) << "row " << row;
  EXPECT_TRUE(same_bits(a.errors.row(row), b.errors.row(row))) << "row " << row;
}

// Pairs of single players of three: psi_i = y_i where the pair of i is there, so without the third psi_2 = -(y_0 + y_1)
// and its residual is y_2 - psi_2 = y_0 + y_1 + y_2, and likewise for the others.
TEST(LeftOut, RowsByHand) {
  PairDesign design{Coalitions(3), {{.size = 1, .begin = 0, .end = 3, .population = 3, .mass = 2}}};
  for (const uint64_t bits : {0, 7, 1, 2, 4, 6, 5, 3}) design.coalitions.add(std::vector<uint64_t>{bits});
  const auto regression = PairedRegression::make(design, {});
  ASSERT_TRUE(regression);
  const Matrix64 rows = regression->left_out(std::vector<size_t>{0, 1, 2});
  for (const double value : rows.values()) EXPECT_NEAR(value, 1, 1e-12);
}

// Two pairs for two free values: neither can be missed.
TEST(LeftOut, IsNanWhereTheOthersDoNotDetermineTheFit) {
  PairDesign design{Coalitions(3), {{.size = 1, .begin = 0, .end = 2, .population = 3, .mass = 2}}};
  for (const uint64_t bits : {0, 7, 1, 2, 6, 5}) design.coalitions.add(std::vector<uint64_t>{bits});
  const auto regression = PairedRegression::make(design, {});
  ASSERT_TRUE(regression);
  const Matrix64 rows = regression->left_out(std::vector<size_t>{0, 1});
  for (const double value : rows.values()) EXPECT_TRUE(std::isnan(value));
}

TEST(LeftOut, ResidualsAreThoseOfAFitWithoutThePair) {
  for (const size_t pairs : {14, 19, 25, 31}) {
    const PairDesign design = design_of(6, pairs, pairs);
    const auto regression = PairedRegression::make(design, {});
    ASSERT_TRUE(regression);
    // Not in order, and not all.
    std::vector<size_t> left_out;
    for (size_t p = pairs; p-- > 1;) left_out.push_back(p);
    const Matrix64 rows = regression->left_out(left_out);
    ASSERT_EQ(rows.rows(), left_out.size());
    std::vector<double> sides(pairs);
    RandomStream random(pairs, "left out");
    for (double& side : sides) side = random.normal();
    for (size_t k = 0; k < left_out.size(); k++) {
      EXPECT_NEAR(dot(rows.row(k), sides), refitted_residual(design, sides, left_out[k]), 1e-10)
          << "pair " << left_out[k] << " of " << pairs;
    }
  }
}

// phi(S) - D / 2 is the value of a pair of S, and phi(S) - D k / d its left side.
TEST(PairEstimator, GivesBackAnAdditiveGame) {
  const std::vector<double> phi = {1, -2, 0.5, 3, 0, -0.25};
  const double total = 2.25;
  for (const size_t pairs : {14, 20, 25}) {
    const PairDesign design = design_of(phi.size(), pairs);
    Rows rows{Matrix64(1, pairs), {total}};
    for (size_t p = 0; p < pairs; p++) {
      for (size_t i = 0; i < phi.size(); i++) {
        if (design.coalitions.contains(2 + p, i)) rows.sides(0, p) += phi[i] - total / static_cast<double>(phi.size());
      }
    }
    const Estimated made = estimated(estimator_of(design), rows);
    for (size_t i = 0; i < phi.size(); i++) {
      EXPECT_NEAR(made.values(0, i), phi[i], 1e-12);
      EXPECT_NEAR(made.errors(0, i), 0, 1e-12);
    }
  }
}

// The larger of two squares: what Kernel SHAP makes of these residuals of all sampled pairs, by its own fits to one
// pair at a time, and what its sample leaves of them.
std::vector<double> own_errors(const PairDesign& design, std::span<const size_t> probes,
                               std::span<const double> residuals) {
  const auto regression = PairedRegression::make(design, Context());
  std::vector<double> variances(6);
  std::vector<double> sums(6);
  const auto count = static_cast<double>(probes.size());
  for (size_t k = 0; k < probes.size(); k++) {
    std::vector<double> unit(design.pairs());
    unit[probes[k]] = 1;
    std::vector<double> column(6);
    regression->fit(unit, 0, column);
    double share = 0;  // of the stratum's pairs that were not taken
    for (const PairStratum& stratum : design.strata) {
      if (probes[k] < stratum.begin || probes[k] >= stratum.end) continue;
      share = 1 - static_cast<double>(stratum.end - stratum.begin) / stratum.population;
    }
    for (size_t i = 0; i < 6; i++) {
      variances[i] += share * std::pow(column[i] * residuals[k], 2) * count / (count - 2);
      sums[i] += column[i] * residuals[k];
    }
  }
  for (size_t i = 0; i < 6; i++) variances[i] = std::max(variances[i], sums[i] * sums[i]);
  return variances;
}

// Every candidate's residuals in float64: the additive ones by fits without the pair, those with interactions by rows
// which interaction_regression_test.cpp compares with such fits.
TEST(PairEstimator, TakesTheCandidateOfLeastLeftOutResiduals) {
  std::array<size_t, kPriors.size() + 1> chosen{};
  size_t by_misfit = 0;
  size_t by_prior = 0;
  for (const size_t pairs : {14, 20, 25}) {
    const PairDesign design = design_of(6, pairs);
    const std::vector<size_t> probes = sampled_pairs(design);
    std::vector<InteractionRegression> candidates;
    for (const ProcessPrior& prior : kPriors) candidates.emplace_back(design, prior, probes, Context());
    const Rows rows = games_of_all_kinds(design, 20);
    const Estimated made = estimated(estimator_of(design), rows);
    const Estimated additive = additive_fit(design, rows);
    for (size_t r = 0; r < rows.totals.size(); r++) {
      std::array<double, kPriors.size() + 1> squares{};
      std::array<double, kPriors.size() + 1> scales{};
      std::array<std::vector<double>, kPriors.size() + 1> residuals;
      for (size_t k = 0; k < probes.size(); k++) {
        squares[0] += std::pow(refitted_residual(design, rows.sides.row(r), probes[k]), 2);
        for (size_t c = 1; c < squares.size(); c++) {
          residuals[c].push_back(dot(candidates[c - 1].left_out().row(k), rows.sides.row(r)));
          const double square = std::pow(residuals[c].back(), 2);
          squares[c] += square;
          scales[c] += square / candidates[c - 1].left_out_variance(k) / (static_cast<double>(probes.size()) - 2);
        }
      }
      // Rounding to float32 may turn what is this close.
      auto sorted = squares;
      std::ranges::sort(sorted);
      ASSERT_GT(sorted[1], (1 + 1e-4) * sorted[0]) << "choose another seed";
      const auto best = static_cast<size_t>(std::ranges::min_element(squares) - squares.begin());
      chosen[best]++;
      size_t equal = same_bits(made.values.row(r), additive.values.row(r)) ? 1 : 0;
      if (best == 0) expect_same_bits(made, additive, r);
      for (size_t c = 1; c < squares.size(); c++) {
        const InteractionRegression& candidate = candidates[c - 1];
        std::vector<double> values(6);
        multiply(candidate.values(), rows.sides.row(r), values);
        share_rest(rows.totals[r], values);
        equal += same_bits(made.values.row(r), values) ? 1 : 0;
        if (c != best) continue;
        EXPECT_TRUE(same_bits(made.values.row(r), values)) << "row " << r << ", order " << kPriors[c - 1].order;
        const std::vector<double> own = own_errors(design, probes, residuals[c]);
        for (size_t i = 0; i < values.size(); i++) {
          const double error = std::sqrt(candidate.variance(i) * scales[c] + own[i] / 2);
          (own[i] > candidate.variance(i) * scales[c] ? by_misfit : by_prior)++;
          EXPECT_NEAR(made.errors(r, i), error, 1e-4 * error) << "row " << r << ", order " << kPriors[c - 1].order;
        }
      }
      EXPECT_EQ(equal, 1U) << "row " << r;
    }
  }
  for (const size_t count : chosen) EXPECT_GT(count, 3U);
  EXPECT_GT(by_misfit, 10U);
  EXPECT_GT(by_prior, 10U);
}

// Nine pairs of six players leave four residuals' worth: too few for errors of any candidate.
TEST(PairEstimator, HasNoErrorsFromTooFewPairs) {
  const PairDesign design = design_of(6, 9);
  const Rows rows = games_of_all_kinds(design, 4);
  const Estimated made = estimated(estimator_of(design), rows);
  const Estimated additive = additive_fit(design, rows);
  size_t with_interactions = 0;
  for (size_t r = 0; r < rows.totals.size(); r++) {
    with_interactions += same_bits(made.values.row(r), additive.values.row(r)) ? 0 : 1;
    for (const double value : made.values.row(r)) EXPECT_TRUE(std::isfinite(value));
    for (const double error : made.errors.row(r)) EXPECT_TRUE(std::isnan(error));
  }
  EXPECT_GT(with_interactions, 0U);
}

// Of few pairs some alone tell of a player, and the additive fit to the others does not foretell them. Candidates are
// then compared on the rest; if that is fewer than four, the additive fit is none.
TEST(PairEstimator, ComparesOnWhatTheAdditiveFitForetells) {
  size_t additive_taken = 0;
  size_t without_additive = 0;
  std::array<size_t, kPriors.size()> chosen{};
  for (uint64_t seed = 0; seed < 40; seed++) {
    const PairDesign design = design_of(6, 6 + seed % 2, seed);
    const auto regression = PairedRegression::make(design, {});
    const std::vector<size_t> probes = sampled_pairs(design);
    if (!regression) continue;
    const Matrix64 left_out = regression->left_out(probes);
    if (std::ranges::none_of(left_out.values(), [](double value) { return std::isnan(value); })) continue;
    const Rows rows = games_of_all_kinds(design, 2);
    const Estimated made = estimated(estimator_of(design), rows);
    std::vector<size_t> foretold;
    for (size_t k = 0; k < probes.size(); k++) {
      if (!std::isnan(left_out(k, 0))) foretold.push_back(k);
    }
    const bool has_additive = foretold.size() >= 4;
    if (!has_additive) {
      without_additive++;
      foretold.resize(probes.size());
      std::iota(foretold.begin(), foretold.end(), size_t{0});
    }
    for (size_t r = 0; r < rows.totals.size(); r++) {
      double least = std::numeric_limits<double>::infinity();
      size_t best = 0;
      bool close = false;
      bool additive = false;
      std::vector<double> expected(6);
      if (has_additive) {
        least = 0;
        for (const size_t k : foretold) least += std::pow(dot(left_out.row(k), rows.sides.row(r)), 2);
        additive = true;
        regression->fit(rows.sides.row(r), rows.totals[r], expected);
      }
      for (size_t c = 0; c < kPriors.size(); c++) {
        const InteractionRegression candidate(design, kPriors[c], probes, {});
        double square = 0;
        for (const size_t k : foretold) {
          square += std::pow(dot(candidate.left_out().row(k), rows.sides.row(r)), 2);
        }
        // Rounding to float32 may turn what is this close.
        close = close || std::abs(square - least) < 1e-4 * square;
        if (square >= least) continue;
        least = square;
        best = c;
        additive = false;
        multiply(candidate.values(), rows.sides.row(r), expected);
        share_rest(rows.totals[r], expected);
      }
      if (close) continue;
      additive_taken += additive ? 1 : 0;
      chosen[best] += additive ? 0 : 1;
      EXPECT_TRUE(same_bits(made.values.row(r), expected)) << "seed " << seed << ", row " << r;
    }
  }
  for (const size_t count : chosen) EXPECT_GT(count, 3U);
  EXPECT_GT(additive_taken, 3U);
  EXPECT_GT(without_additive, 0U);
}

TEST(PairEstimator, ARowHasTheSameBitsAloneAndAmongOthers) {
  // 150 pairs are more than there are probes, and products of rows longer than 128 are found in another way.
  for (const auto& [players, pairs] : std::vector<std::pair<size_t, size_t>>{{6, 20}, {9, 150}}) {
    const PairDesign design = design_of(players, pairs);
    const PairEstimator estimator = estimator_of(design);
    const Rows rows = games_of_all_kinds(design, 6);
    const Estimated alone = estimated(estimator, rows, 1);
    for (const size_t together : {2, 3, 5, 8}) {
      const Estimated among = estimated(estimator, rows, together);
      for (size_t r = 0; r < rows.totals.size(); r++) expect_same_bits(alone, among, r);
    }
  }
}

TEST(PairEstimator, NanStaysInItsRow) {
  const PairDesign design = design_of(6, 20);
  const PairEstimator estimator = estimator_of(design);
  const Rows rows = games_of_all_kinds(design, 2);
  const Estimated before = estimated(estimator, rows);
  for (const size_t pair : {size_t{0}, size_t{19}}) {
    for (size_t row = 0; row < rows.totals.size(); row++) {
      Rows changed = rows;
      changed.sides(row, pair) = kNan;
      const Estimated after = estimated(estimator, changed);
      for (size_t r = 0; r < rows.totals.size(); r++) {
        if (r != row) {
          expect_same_bits(before, after, r);
          continue;
        }
        for (const double value : after.values.row(r)) EXPECT_TRUE(std::isnan(value));
        for (const double error : after.errors.row(r)) EXPECT_TRUE(std::isnan(error));
      }
    }
  }
}

// Where interactions are not asked for, and where two probes are too few to choose by (six of the seven pairs of four
// players).
TEST(PairEstimator, IsTheAdditiveRegressionWithoutInteractions) {
  for (const auto& [players, pairs] : std::vector<std::pair<size_t, size_t>>{{6, 20}, {4, 6}}) {
    const PairDesign design = design_of(players, pairs);
    const Rows rows = games_of_all_kinds(design, 8);
    const Estimated made = estimated(estimator_of(design, players == 4), rows);
    const Estimated additive = additive_fit(design, rows);
    for (size_t r = 0; r < rows.totals.size(); r++) expect_same_bits(made, additive, r);
  }
}

// x_0 x_1 x_2 + x_3, x of 1 and -1, which interactions would find.
TEST(PairEstimator, IsTheAdditiveRegressionOfTooManyPairs) {
  const size_t players = 14;
  const double total = 4;
  const PairDesign design = design_of(players, PairEstimator::kMostPairs + 1);
  Rows rows{Matrix64(1, design.pairs()), {total}};
  for (const PairStratum& stratum : design.strata) {
    const double part = static_cast<double>(stratum.size) / players - 0.5;
    for (size_t p = stratum.begin; p < stratum.end; p++) {
      const auto x = [&](size_t player) { return design.coalitions.contains(2 + p, player) ? 1.0 : -1.0; };
      rows.sides(0, p) = x(0) * x(1) * x(2) + x(3) - total * part;
    }
  }
  expect_same_bits(estimated(estimator_of(design), rows), additive_fit(design, rows), 0);
}

}  // namespace
}  // namespace assay::testing
