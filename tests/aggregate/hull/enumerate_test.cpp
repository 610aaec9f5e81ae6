#include "assay/aggregate/hull/enumerate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "assay/aggregate/complexity/segment.h"
#include "assay/aggregate/complexity/store.h"
#include "assay/aggregate/hull/bound.h"
#include "tests/aggregate/trial.h"

namespace assay::testing {
namespace {

// One row of members, with what a MemberRow refers to.
struct HullTrial {
  Matrix64 values;
  std::vector<size_t> nonzero;
  double floor = 0;

  HullTrial(const std::vector<std::vector<double>>& rows, double share) : values(rows.size(), rows[0].size()) {
    for (size_t j = 0; j < rows.size(); j++) {
      std::ranges::copy(rows[j], values.row(j).begin());
      if (std::ranges::any_of(rows[j], [](double each) { return each != 0; })) nonzero.push_back(j);
    }
    floor = norm_floor(row(), share);
  }
  MemberRow row() const { return {0, values.view(), nonzero}; }
  HullProblem problem() const { return hull_problem(row(), floor); }

  std::vector<double> point(const HullProblem& made, const std::vector<double>& weights) const {
    std::vector<double> phi(values.cols());
    for (size_t i = 0; i < weights.size(); i++) {
      for (size_t k = 0; k < phi.size(); k++) phi[k] += weights[i] * values(made.member[i], k);
    }
    return phi;
  }
};

HullPoint simplest_member(const HullProblem& problem) {
  HullPoint best = problem.vertex(0);
  for (size_t i = 1; i < problem.size(); i++) {
    if (problem.vertex(i).entropy < best.entropy) best = problem.vertex(i);
  }
  return best;
}

// The solution of a square system by elimination with complete pivoting; nothing when it is singular.
std::optional<std::vector<long double>> solved(std::vector<std::vector<long double>> a, std::vector<long double> b) {
  const size_t n = b.size();
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (size_t step = 0; step < n; step++) {
    size_t row = step;
    size_t column = step;
    for (size_t i = step; i < n; i++) {
      for (size_t j = step; j < n; j++) {
        if (std::abs(a[i][j]) > std::abs(a[row][column])) {
          row = i;
          column = j;
        }
      }
    }
    if (std::abs(a[row][column]) < 1e-12L) return {};
    std::swap(a[step], a[row]);
    std::swap(b[step], b[row]);
    for (auto& each : a) std::swap(each[step], each[column]);
    std::swap(order[step], order[column]);
    for (size_t i = 0; i < n; i++) {
      if (i == step) continue;
      const long double factor = a[i][step] / a[step][step];
      for (size_t j = step; j < n; j++) a[i][j] -= factor * a[step][j];
      b[i] -= factor * b[step];
    }
  }
  std::vector<long double> x(n);
  for (size_t i = 0; i < n; i++) x[order[i]] = b[i] / a[i][i];
  return x;
}

// Straight from the theory, without a floor that matters: every choice of m - 1 constraints, each system solved by
// itself, no grouping, no pruning.
double minimum_by_definition(const HullTrial& trial) {
  const size_t m = trial.nonzero.size();
  const size_t constraints = m + trial.values.cols();
  double best = INFINITY;
  std::vector<size_t> chosen;
  const std::function<void(size_t)> choose = [&](size_t next) {
    if (chosen.size() == m - 1) {
      std::vector<std::vector<long double>> a(m, std::vector<long double>(m, 1.0L));
      std::vector<long double> b(m, 0.0L);
      b[m - 1] = 1;
      for (size_t c = 0; c + 1 < m; c++) {
        for (size_t i = 0; i < m; i++) {
          a[c][i] = chosen[c] < m ? (chosen[c] == i ? 1.0L : 0.0L)
                                  : static_cast<long double>(trial.values(trial.nonzero[i], chosen[c] - m));
        }
      }
      const auto weights = solved(a, b);
      if (!weights || std::ranges::any_of(*weights, [](long double w) { return w < -1e-15L; })) return;
      std::vector<double> phi(trial.values.cols());
      double norm = 0;
      for (size_t k = 0; k < phi.size(); k++) {
        long double sum = 0;
        for (size_t i = 0; i < m; i++) {
          sum += (*weights)[i] * static_cast<long double>(trial.values(trial.nonzero[i], k));
        }
        phi[k] = std::abs(sum) < 1e-16L ? 0 : static_cast<double>(sum);
        norm += std::abs(phi[k]);
      }
      if (norm > trial.floor) best = std::min(best, entropy_of(phi));
      return;
    }
    for (size_t c = next; c < constraints; c++) {
      chosen.push_back(c);
      choose(c + 1);
      chosen.pop_back();
    }
  };
  choose(0);
  return best;
}

double least_entropy(const HullProblem& problem) {
  HullPoint best = simplest_member(problem);
  if (problem.size() > 1) lower_by_enumeration(problem, best, {});
  return best.entropy;
}

// Weights of all shapes: even, and mostly on few members.
void draw_weights(RandomStream& draw, std::vector<double>& weights) {
  const double power = std::array{1.0, 3.0, 10.0}[draw.below(3)];
  const bool sparse = draw.below(2) == 0;
  double total = 0;
  while (total <= 0) {
    total = 0;
    for (double& each : weights) {
      each = sparse && draw.below(2) == 0 ? 0 : std::pow(-std::log(1 - draw.uniform()), power);
      total += each;
    }
  }
  for (double& each : weights) each /= total;
}

void expect_not_beaten(const HullTrial& trial, size_t points, uint64_t seed) {
  const HullProblem problem = trial.problem();
  const double least = least_entropy(problem);
  RandomStream draw(seed, "hull points");
  std::vector<double> weights(problem.size());
  for (size_t i = 0; i < points; i++) {
    draw_weights(draw, weights);
    const std::vector<double> phi = trial.point(problem, weights);
    if (!(l1_norm(phi) >= trial.floor) || l1_norm(phi) == 0) continue;
    ASSERT_GE(entropy_of(phi), least - 1e-12) << "seed " << seed;
  }
}

// Groups: (2, 1) / (1, 0.5) / (0, 0) columns of two members. Columns 0 and 1 are proportional, 2 is zero, 3 alone.
// C = 1 + 0.5, E = 1 ln 1 + 0.5 ln 0.5.
TEST(HullProblem, ProportionalColumnsAreOneGroupAndZeroOnesNone) {
  const HullTrial trial({{1, 0.5, 0, 0.25}, {-0.5, -0.25, 0, 0.75}}, 0.05);
  const HullProblem problem = trial.problem();
  ASSERT_EQ(problem.group_count(), 2U);
  ASSERT_EQ(problem.values.cols(), 3U);
  const size_t pair = problem.weight[0] == 1.5 ? 0 : 1;
  EXPECT_EQ(problem.weight[pair], 1.5);
  EXPECT_DOUBLE_EQ(problem.spread[pair], 0.5 * std::log(0.5));
  EXPECT_EQ(problem.weight[1 - pair], 0.75);
  // C(2 + 2, 1).
  EXPECT_EQ(vertex_count(problem), 4);
}

TEST(HullProblem, EqualAndZeroMembersAreLeftOut) {
  const HullTrial trial({{0, 0}, {0.6, 0.8}, {0.6, 0.8}, {1, 0}}, 0.05);
  EXPECT_EQ(trial.problem().member, (std::vector<size_t>{1, 3}));
  // l1 norms 1.4, 1.4 and 1; no signs differ, so the least on the hull is 1, and the bound finds it.
  EXPECT_DOUBLE_EQ(trial.floor, 0.05);
  EXPECT_DOUBLE_EQ(trial.problem().least_norm, 1);
}

TEST(HullProblem, TheLeastNormIsALowerBound) {
  RandomStream draw(1, "least norm");
  MemberTrial random = random_members(4, 100, 5, 9);
  std::vector<double> weights;
  for (size_t r = 0; r < 100; r++) {
    const HullTrial trial(unit_rows(random, r), 0.05);
    if (trial.nonzero.empty()) continue;
    const HullProblem problem = trial.problem();
    weights.resize(problem.size());
    for (size_t i = 0; i < 200; i++) {
      draw_weights(draw, weights);
      EXPECT_GE(l1_norm(trial.point(problem, weights)), problem.least_norm - 1e-12);
    }
  }
}

TEST(HullEnumeration, EqualsEveryVertexSolvedByItself) {
  size_t compared = 0;
  for (const size_t members : {2U, 3U, 4U, 5U}) {
    for (const size_t players : {1U, 2U, 3U, 5U, 7U}) {
      if (members == 5 && players == 7) continue;
      const size_t rows = members < 4 ? 120 : 30;
      MemberTrial random = random_members(members, rows, players, 10 * members + players);
      for (size_t r = 0; r < rows; r++) {
        const HullTrial trial(unit_rows(random, r), 1e-6);
        if (trial.nonzero.size() < 2) continue;
        // Where the floor matters, vertices alone do not tell.
        const HullProblem problem = trial.problem();
        if (problem.floor_matters()) continue;
        compared++;
        ASSERT_NEAR(least_entropy(problem), minimum_by_definition(trial), 1e-10)
            << members << " members, " << players << " players, row " << r;
      }
    }
  }
  EXPECT_GT(compared, 500U);
}

TEST(HullEnumeration, IsNotBeatenByRandomPointsOfManyHulls) {
  uint64_t seed = 1;
  for (const size_t members : {2U, 3U, 4U, 6U}) {
    for (const size_t players : {1U, 2U, 3U, 8U, 14U}) {
      MemberTrial random = random_members(members, 24, players, ++seed);
      for (size_t r = 0; r < 24; r++) {
        for (const double share : {0.05, 0.5}) {
          const HullTrial trial(unit_rows(random, r), share);
          if (!trial.nonzero.empty()) expect_not_beaten(trial, 200, seed * 100 + r);
        }
      }
    }
  }
}

TEST(HullEnumeration, IsNotBeatenByAHundredThousandPointsOfOneHull) {
  MemberTrial random = random_members(5, 1, 12, 4);
  expect_not_beaten(HullTrial(unit_rows(random, 0), 0.05), 100000, 1);
}

// Thirty members in the plane: 2^30 sets of them, but supports of three at most.
TEST(HullEnumeration, OfManyMembersAndFewPlayersLooksAtSmallSupportsOnly) {
  MemberTrial random = random_members(30, 1, 2, 3);
  expect_not_beaten(HullTrial(unit_rows(random, 0), 0.05), 1000, 1);
}

// Two algorithms that share nothing but the problem, also where the floor cuts.
TEST(HullBound, ClosesTheGapAtTheEnumeratedMinimum) {
  size_t floors = 0;
  for (const size_t members : {2U, 3U, 4U}) {
    for (const size_t players : {1U, 2U, 3U, 6U, 10U}) {
      MemberTrial random = random_members(members, 60, players, 100 * members + players);
      for (size_t r = 0; r < 60; r++) {
        for (const double share : {0.05, 0.7}) {
          const HullTrial trial(unit_rows(random, r), share);
          if (trial.nonzero.empty()) continue;
          const HullProblem problem = trial.problem();
          if (problem.size() < 2) continue;
          floors += problem.floor_matters() ? 1 : 0;
          HullPoint best = simplest_member(problem);
          const double bound = lower_by_bounding(problem, 100000, best, {});
          ASSERT_EQ(bound, best.entropy);
          ASSERT_NEAR(best.entropy, least_entropy(problem), 1e-9)
              << members << " members, " << players << " players, row " << r << ", floor " << share;
          const std::vector<double> phi = trial.point(problem, best.weights);
          ASSERT_NEAR(entropy_of(phi), best.entropy, 1e-9);
        }
      }
    }
  }
  EXPECT_GT(floors, 100U);
}

// Where members are almost multiples of one vector, a norm on a small floor is what is left of large parts.
TEST(HullBound, ClosesTheGapAtSmallFloors) {
  size_t lowered = 0;
  for (const double share : {1e-6, 1e-5, 1e-4, 1e-3}) {
    for (size_t number = 0; number < 300; number++) {
      RandomStream draw(7, "almost multiples", number);
      std::vector<std::vector<double>> rows(2 + number % 3, std::vector<double>(2 + number % 4));
      for (auto& row : rows) {
        const double first = draw.normal();
        for (size_t k = 0; k < row.size(); k++) {
          row[k] = first * static_cast<double>(k + 1) + (draw.below(2) == 0 ? 1e-6 * draw.normal() : 0);
        }
        const double length = l2_norm(row);
        for (double& each : row) each = static_cast<float>(each / length);
      }
      const HullTrial trial(rows, share);
      const HullProblem problem = trial.problem();
      HullPoint best = simplest_member(problem);
      const double start = best.entropy;
      const double bound = lower_by_bounding(problem, 100000, best, {});
      ASSERT_EQ(bound, best.entropy);
      // Rounding of a norm is 1e-16 of the members'.
      ASSERT_NEAR(best.entropy, least_entropy(problem), 1e-14 / share) << "floor " << share << ", " << number;
      lowered += best.entropy < start - 1e-3 ? 1 : 0;
    }
  }
  EXPECT_GT(lowered, 100U);
}

// The members' first players cancel and leave (0, y) with a y of 2e-6: entropy 0. The third member's is only 2e-8 above
// that, and y^2 is 4e-12 as a difference of ones, so that its digits end long before those that would tell.
TEST(HullEnumeration, FindsShortVerticesThatAreHardlySimplerThanAMember) {
  for (size_t number = 0; number < 100; number++) {
    RandomStream draw(8, "short vertices", number);
    const double y = static_cast<float>(2e-6 * (1 + draw.uniform()));
    const double x = static_cast<float>(1 - 1e-3 * draw.uniform());
    const HullTrial trial({{1, y}, {-x, y}, {1, 1e-9}}, 1e-6);
    ASSERT_NEAR(least_entropy(trial.problem()), 0, 1e-12) << number;
  }
}

TEST(HullBound, IsValidWheneverItStops) {
  for (const size_t players : {3U, 8U, 20U}) {
    MemberTrial random = random_members(5, 30, players, players);
    for (size_t r = 0; r < 30; r++) {
      const HullTrial trial(unit_rows(random, r), 0.05);
      if (trial.nonzero.empty()) continue;
      const HullProblem problem = trial.problem();
      const double least = least_entropy(problem);
      double before = 0;
      for (const size_t cuts : {0U, 1U, 10U, 100U, 1000U}) {
        HullPoint best = simplest_member(problem);
        const double bound = lower_by_bounding(problem, cuts, best, {});
        EXPECT_LE(bound, least + 1e-9);
        EXPECT_GE(bound, before - 1e-12);
        EXPECT_GE(best.entropy, least - 1e-9);
        before = std::min(bound, least);
      }
    }
  }
}

// The descent is a search: between the enumerated minimum and the best of members and edges.
TEST(HullDescent, LiesBetweenTheMinimumAndTheEdges) {
  SegmentScratch scratch;
  for (const size_t players : {1U, 3U, 9U}) {
    MemberTrial random = random_members(4, 80, players, 40 + players);
    for (size_t r = 0; r < 80; r++) {
      const HullTrial trial(unit_rows(random, r), 0.3);
      if (trial.nonzero.empty()) continue;
      const HullProblem problem = trial.problem();
      HullPoint best = simplest_member(problem);
      lower_by_descent(problem, 2, best, {});
      EXPECT_GE(best.entropy, least_entropy(problem) - 1e-12);
      for (size_t i = 0; i < problem.size(); i++) {
        for (size_t j = 0; j < i; j++) {
          const double edge =
              segment_minimum(problem.values.row(i), problem.values.row(j), trial.floor, scratch).entropy;
          EXPECT_LE(best.entropy, edge + 1e-12);
        }
      }
      EXPECT_NEAR(entropy_of(trial.point(problem, best.weights)), best.entropy, 1e-9);
    }
  }
}

}  // namespace
}  // namespace assay::testing
