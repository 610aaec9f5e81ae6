#include <gtest/gtest.h>

#include <cmath>

#include "tests/aggregate/mixtures/toy.h"

namespace assay::testing {
namespace {

// What convex_min lowers is the sensitivity of raw mixtures.
const std::string kRaw = ":normalise=raw";

Made learnt(const std::string& options, MemberTrial& trial, const Context& context = {}) {
  return combined_by("convex_min", options, trial, context);
}

// The last row of the table "weights".
struct Mixture {
  double value, renormalised, bound;
};
Mixture mixture_in(const Made& made) {
  const std::vector<double>& row = made.combined.tables.at(0).rows.back();
  return {row.at(1), row.at(2), row.at(3)};
}

const std::vector<double>& measure(const Made& made, const std::string& name) {
  for (const RowMeasure& each : made.combined.measures) {
    if (each.name == name) return each.values;
  }
  ADD_FAILURE() << "no measure " << name;
  return made.combined.measures.at(0).values;
}

// One row and one neighbour. The members change by D_1 = (1, -1, 0, 0), of square 2, and D_2 = (0, 0, 0.4, -0.8), of
// square 0.16 + 0.64 = 0.8, which are orthogonal: f(w) = sqrt(2 w^2 + 0.8 (1 - w)^2), least at w = 0.8 / 2.8 = 2 / 7,
// where f^2 = 2 * 0.8 / 2.8 = 4 / 7. Vertices: sqrt 2 = 1.414 and sqrt 0.8 = 0.894.
MemberTrial interior() {
  return with_pool({matrix_of({{1, 0, 0, 0}}), matrix_of({{0, 0, 1, 0}})},
                   {matrix_of({{0, 1, 0, 0}}), matrix_of({{0, 0, 0.6F, 0.8F}})}, matrix_of({{0, 0, 0, 0}}),
                   matrix_of({{1, 0, 0, 0}}));
}

TEST(ConvexMin, InteriorOptimumByHand) {
  for (const std::string criterion : {"avg_sensitivity", "max_sensitivity"}) {
    for (const std::string per : {"all", "row"}) {
      MemberTrial trial = interior();
      const Made made = learnt(":space=raw:radius=2:per=" + per + ":criterion=" + criterion, trial);
      const double least = std::sqrt(4.0 / 7);
      EXPECT_NEAR(mixture_in(made).value, least, 1e-6) << criterion << per;  // the gap that is certified
      EXPECT_LE(mixture_in(made).bound, mixture_in(made).value);
      EXPECT_GE(mixture_in(made).bound, least - 1e-6);
      EXPECT_NEAR(made.combined.weights(0, 0), 2.0 / 7, 1e-3);
      EXPECT_NEAR(made.combined.tables[0].rows[0][1], std::sqrt(2.0), 1e-6);
      EXPECT_NEAR(made.combined.tables[0].rows[1][1], std::sqrt(0.8), 1e-6);
      // Members have unit norm, so that renormalised (5 / 7, 2 / 7) have norm sqrt(29) / 7 at both ends, and
      // f / (sqrt(29) / 7) is the distance then.
      EXPECT_NEAR(mixture_in(made).renormalised, least * 7 / std::sqrt(29.0), 1e-3);
      EXPECT_NEAR(made.values(0, 2), 5.0 / 7, 1e-3);
    }
  }
}

// Two neighbours at distances 1 and 2: pair 1 moves only the first member, by sqrt 2, pair 2 only the second. Uniform:
// f = sqrt 2 / 2 whatever w. Divided by rho: (w + (1 - w) / 2) sqrt 2 / 2, least at w = 0, where a member is as good.
TEST(ConvexMin, WeightingByDistance) {
  const auto trial_of_two = [] {
    return with_pool({matrix_of({{1, 0, 0}}), matrix_of({{1, 0, 0}})},
                     {matrix_of({{0, 1, 0}, {1, 0, 0}}), matrix_of({{1, 0, 0}, {0, 1, 0}})}, matrix_of({{0, 0, 0}}),
                     matrix_of({{1, 0, 0}, {0, 2, 0}}));
  };
  MemberTrial trial = trial_of_two();
  const Made uniform = learnt(":space=raw:radius=3", trial);
  EXPECT_NEAR(mixture_in(uniform).value, std::sqrt(2.0) / 2, 1e-7);
  EXPECT_EQ(weights_of_row(uniform, 0), weights_at(2, 0));  // as good as any
  MemberTrial again = trial_of_two();
  const Made weighted = learnt(":space=raw:radius=3:weighting=inverse_distance", again);
  EXPECT_NEAR(mixture_in(weighted).value, std::sqrt(2.0) / 4, 1e-7);
  EXPECT_EQ(weights_of_row(weighted, 0), weights_at(2, 1));
}

// Random sets of all kinds: never worse than a member by the criterion itself, above the bound, below the weighted mean
// (Proposition 1), and the table tells what the criterion says.
void check_random(const std::string& criterion, const std::string& options, size_t members, uint64_t seed) {
  MemberTrial trial = random_with_pool(members, 12, 40, 5, seed);
  const Made made = learnt(":criterion=" + criterion + options, trial);
  const std::vector<double> weights = weights_of_row(made, 0);
  double total = 0;
  for (const double each : weights) {
    EXPECT_GE(each, 0);
    total += each;
  }
  EXPECT_EQ(total, 1);
  const double value = score_of_mixture(trial, criterion + options + kRaw, weights).mean;
  EXPECT_NEAR(mixture_in(made).value, value, 1e-9 * value);
  EXPECT_LE(mixture_in(made).bound, mixture_in(made).value);
  EXPECT_GE(mixture_in(made).bound, mixture_in(made).value * (1 - 1e-4)) << "a loose bound";
  double weighted = 0;
  for (size_t j = 0; j < members; j++) {
    const double own = score_of_mixture(trial, criterion + options + kRaw, weights_at(members, j)).mean;
    EXPECT_LE(mixture_in(made).value, own) << criterion << options << " seed " << seed;
    EXPECT_NEAR(made.combined.tables[0].rows[j][1], own, 1e-9 * own);
    weighted += weights[j] * own;
  }
  EXPECT_LE(value, weighted * (1 + 1e-6));
  const std::string unit = criterion + (options.empty() ? "" : options) + ":normalise=unit";
  EXPECT_NEAR(mixture_in(made).renormalised, score_of_mixture(trial, unit, weights).mean, 1e-9);
}

TEST(ConvexMin, NeverWorseThanAMember) {
  for (uint64_t seed = 0; seed < 250; seed++) {
    check_random("avg_sensitivity", seed % 2 == 0 ? "" : ":weighting=inverse_distance", 1 + seed % 6, seed);
    check_random("max_sensitivity", seed % 2 == 0 ? ":radius=2.5" : "", 1 + seed % 4, seed + 1000);
  }
}

TEST(ConvexMin, NoGridPointIsBetter) {
  for (const std::string criterion : {"avg_sensitivity", "max_sensitivity"}) {
    for (uint64_t seed = 0; seed < 4; seed++) {
      const size_t members = 2 + seed % 2;
      MemberTrial trial = random_with_pool(members, 8, 20, 4, 77 + seed);
      const Made made = learnt(":criterion=" + criterion, trial);
      const size_t steps = members == 2 ? 400 : 28;
      double least = INFINITY;
      for (size_t a = 0; a <= steps; a++) {
        for (size_t b = 0; a + b <= steps; b++) {
          if (members == 2 && a + b < steps) continue;
          std::vector<double> weights = {static_cast<double>(a) / static_cast<double>(steps),
                                         static_cast<double>(b) / static_cast<double>(steps)};
          if (members == 3) weights.push_back(static_cast<double>(steps - a - b) / static_cast<double>(steps));
          least = std::min(least, score_of_mixture(trial, criterion + kRaw, weights).mean);
        }
      }
      EXPECT_GE(least, mixture_in(made).bound - 1e-7) << criterion << seed;
      EXPECT_GE(least, mixture_in(made).value - 2e-6) << criterion << seed;
      EXPECT_LE(mixture_in(made).value, least + 1e-7);
    }
  }
}

// Alone, each row is at most what shared weights give it.
TEST(ConvexMin, WeightsOfEachRow) {
  for (const std::string criterion : {"avg_sensitivity", "max_sensitivity"}) {
    for (uint64_t seed = 0; seed < 10; seed++) {
      MemberTrial trial = random_with_pool(3, 12, 30, 4, 200 + seed);
      const Made shared = learnt(":criterion=" + criterion, trial);
      const Made alone = learnt(":per=row:criterion=" + criterion, trial);
      const std::vector<double>& values = measure(alone, criterion);
      const std::vector<double>& bounds = measure(alone, "bound");
      for (size_t r = 0; r < 12; r++) {
        if (std::isnan(values[r])) {
          EXPECT_TRUE(std::isnan(alone.values(r, 0)));
          continue;
        }
        EXPECT_LE(values[r], measure(shared, criterion)[r] + 1e-6);
        EXPECT_LE(bounds[r], values[r]);
        EXPECT_GE(bounds[r], values[r] - 1e-5);
        for (size_t j = 0; j < 3; j++) {
          const double own = score_of_mixture(trial, criterion + kRaw, weights_at(3, j)).values[r];
          EXPECT_LE(values[r], own * (1 + 1e-12));
        }
        // By the criterion, with this row's weights for all.
        EXPECT_NEAR(score_of_mixture(trial, criterion + kRaw, weights_of_row(alone, r)).values[r], values[r], 1e-6);
      }
    }
  }
}

TEST(ConvexMin, DegenerateMembers) {
  // Equal members: all mixtures are the same, and the first member is taken.
  const Matrix rows = matrix_of({{1, 2}, {3, -1}});
  const Matrix pool = matrix_of({{2, 1}, {0, 1}, {1, 0}});
  const Matrix at = matrix_of({{0, 0}, {1, 1}});
  const Matrix pool_at = matrix_of({{1, 0}, {0, 1}, {2, 2}});
  MemberTrial equal = with_pool({rows, rows}, {pool, pool}, at, pool_at);
  const Made same = learnt(":radius=100", equal);
  EXPECT_EQ(weights_of_row(same, 0), weights_at(2, 0));
  EXPECT_NEAR(mixture_in(same).bound, mixture_in(same).value, 1e-6 * mixture_in(same).value);
  // Constant explanations: no member changes, everything is 0.
  MemberTrial constant =
      with_pool({matrix_of({{1, 0}, {1, 0}}), matrix_of({{0, 1}, {0, 1}})},
                {matrix_of({{1, 0}, {1, 0}, {1, 0}}), matrix_of({{0, 1}, {0, 1}, {0, 1}})}, at, pool_at);
  const Made zero = learnt(":radius=100", constant);
  EXPECT_EQ(mixture_in(zero).value, 0);
  EXPECT_EQ(mixture_in(zero).bound, 0);
  EXPECT_EQ(weights_of_row(zero, 0), weights_at(2, 0));
  // Opposite members cancel: the least sensitivity is that of an explanation that says nothing.
  Matrix minus = rows;
  Matrix minus_pool = pool;
  for (float& each : minus.values()) each = -each;
  for (float& each : minus_pool.values()) each = -each;
  MemberTrial opposite = with_pool({rows, minus}, {pool, minus_pool}, at, pool_at);
  const Made nothing = learnt(":radius=100", opposite);
  EXPECT_EQ(mixture_in(nothing).value, 0);
  EXPECT_EQ(weights_of_row(nothing, 0), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(nothing.values(0, 0), 0);
  // One member.
  MemberTrial one = with_pool({rows}, {pool}, at, pool_at);
  const Made alone = learnt(":radius=100", one);
  EXPECT_EQ(weights_of_row(alone, 1), weights_at(1, 0));
  EXPECT_LE(mixture_in(alone).bound, mixture_in(alone).value);
  EXPECT_GE(mixture_in(alone).bound, mixture_in(alone).value - 1e-6);
}

TEST(ConvexMin, RowsWithoutNeighbours) {
  const auto far = [] {
    return with_pool({matrix_of({{1, 0}, {0, 1}}), matrix_of({{0, 1}, {1, 1}})},
                     {matrix_of({{1, 1}}), matrix_of({{1, -1}})}, matrix_of({{0, 0}, {50, 0}}), matrix_of({{1, 0}}));
  };
  MemberTrial trial = far();
  const Made made = learnt(":space=raw:radius=2", trial);
  EXPECT_TRUE(std::isnan(measure(made, "avg_sensitivity")[1]));
  EXPECT_TRUE(std::isfinite(made.values(1, 0)));
  EXPECT_EQ(weights_of_row(made, 0), weights_of_row(made, 1));
  MemberTrial by_row = far();
  Made alone = learnt(":space=raw:radius=2:per=row", by_row);
  EXPECT_TRUE(std::isnan(alone.values(1, 0)));
  EXPECT_EQ(alone.combined.undefined.take().at(0).rows, 1U);
  MemberTrial nobody = far();
  const Made mean = learnt(":space=raw:radius=0.5", nobody);
  EXPECT_EQ(weights_of_row(mean, 0), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(mean.combined.notes.at(1), "no row has a neighbour to learn weights from: equal weights");
}

TEST(ConvexMin, RowsThatAreNoNumbersTakeNoPart) {
  MemberTrial trial = random_with_pool(2, 10, 30, 4, 5);
  trial.members[1].values(3, 2) = NAN;
  Matrix values = matrix_of(std::vector<std::vector<float>>(30, {1, 2, 3, 4}));
  values(7, 0) = INFINITY;
  trial.pool_members[0] = PoolExplanations(std::move(values));
  const Made made = learnt(":radius=10", trial);
  EXPECT_TRUE(std::isnan(made.values(3, 0)));
  EXPECT_TRUE(std::isfinite(made.values(4, 0)));
  EXPECT_TRUE(std::isfinite(mixture_in(made).value));
}

TEST(ConvexMin, ComplexityIsNeverAboveAMember) {
  for (uint64_t seed = 0; seed < 60; seed++) {
    const size_t members = 1 + seed % 4;
    const size_t players = seed == 3 ? 1 : 6;
    MemberTrial trial = random_members(members, 30, players, seed);
    const Made all = learnt(":criterion=complexity", trial);
    const Made alone = learnt(":criterion=complexity:per=row", trial);
    for (size_t j = 0; j < members && !all.combined.tables.empty(); j++) {
      EXPECT_LE(mixture_in(all).value, all.combined.tables[0].rows[j][1]);
    }
    for (size_t r = 0; r < 30; r++) {
      double least = INFINITY;
      for (const auto& member : unit_rows(trial, r)) {
        const double own = complexity(std::vector<float>(member.begin(), member.end()));
        if (own < least) least = own;
      }
      const double found = complexity(alone.values.row(r));
      if (std::isinf(least)) continue;  // all members are zero
      EXPECT_LE(found, least) << seed << " row " << r;
    }
  }
}

// (0.8, 0.6) and (0.8, -0.6): half of each is (0.8, 0), whose complexity is 0; each alone has more.
TEST(ConvexMin, ComplexityByHand) {
  for (const std::string per : {"all", "row"}) {
    MemberTrial trial = bare_members({{{4, 3}, {8, 6}}, {{4, -3}, {8, -6}}});
    const Made made = learnt(":criterion=complexity:per=" + per, trial);
    EXPECT_EQ(weights_of_row(made, 1), (std::vector<double>{0.5, 0.5}));
    EXPECT_EQ(mixture_in(made).value, 0);
    EXPECT_FLOAT_EQ(made.values(0, 0), 0.8F);
    EXPECT_TRUE(std::isnan(mixture_in(made).bound));
    const double own = -(4.0 / 7) * std::log(4.0 / 7) - (3.0 / 7) * std::log(3.0 / 7);
    EXPECT_NEAR(made.combined.tables[0].rows[0][1], own, 1e-6);
  }
}

TEST(ConvexMin, WideExplanations) {
  MemberTrial trial = random_with_pool(3, 4, 12, 784, 6);
  const Made made = learnt(":radius=1000", trial);
  const double value =
      score_of_mixture(trial, "avg_sensitivity:normalise=raw:radius=1000", weights_of_row(made, 0)).mean;
  EXPECT_NEAR(mixture_in(made).value, value, 1e-12);
  for (size_t j = 0; j < 3; j++) EXPECT_LE(value, made.combined.tables[0].rows[j][1]);
  const Made simple = learnt(":criterion=complexity", trial);
  for (size_t j = 0; j < 3 && !simple.combined.tables.empty(); j++) {
    EXPECT_LE(mixture_in(simple).value, simple.combined.tables[0].rows[j][1]);
  }
}

TEST(ConvexMin, Needs) {
  const auto needs = [](const std::string& options) {
    return make_aggregator("convex_min" + options)->needs(find_aggregator("convex_min").needs);
  };
  EXPECT_TRUE(needs("").pool_members);
  EXPECT_FALSE(needs(":criterion=complexity").pool_members);
  EXPECT_FALSE(needs(":criterion=complexity").model);
}

TEST(ConvexMin, SameBitsOnAllThreads) {
  MemberTrial trial = random_with_pool(4, 70, 100, 6, 9);
  for (const std::string options :
       {"", ":criterion=max_sensitivity", ":per=row", ":criterion=complexity", ":criterion=complexity:per=row"}) {
    expect_same_aggregate_on_threads("convex_min", options, trial);
  }
}

}  // namespace
}  // namespace assay::testing
