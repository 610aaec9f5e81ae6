#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "assay/aggregate/hull/nearest.h"
#include "tests/aggregate/trial.h"

namespace assay::testing {
namespace {

using Rows = std::vector<std::vector<double>>;

double entropy_by_definition(const std::vector<double>& values) {
  long double total = 0;
  for (const double v : values) total += std::abs(static_cast<long double>(v));
  long double sum = 0;
  for (const double v : values) {
    const long double p = std::abs(static_cast<long double>(v)) / total;
    if (p > 0) sum -= p * std::log(p);
  }
  return static_cast<double>(sum);
}

std::vector<double> mean_by_hand(const Rows& rows) {
  std::vector<double> mean(rows[0].size());
  for (const auto& row : rows) {
    for (size_t k = 0; k < mean.size(); k++) mean[k] += row[k];
  }
  for (double& each : mean) each /= static_cast<double>(rows.size());
  return mean;
}

template <class Values>
double distance_to(const Values& values, const std::vector<double>& mean) {
  double sum = 0;
  for (size_t k = 0; k < mean.size(); k++) {
    const double apart = static_cast<double>(values[k]) - mean[k];
    sum += apart * apart;
  }
  return std::sqrt(sum);
}

struct Simplest {
  double complexity = INFINITY;
  double distance = INFINITY;  // of the nearest of equals
};

Simplest simplest_of(const Rows& rows, const std::vector<double>& mean) {
  Simplest made;
  for (const auto& row : rows) {
    const std::vector<float> stored(row.begin(), row.end());
    const double own = complexity(stored);  // NaN for a zero member, which compares as neither
    if (own < made.complexity) made = {own, distance_to(stored, mean)};
    if (own == made.complexity) made.distance = std::min(made.distance, distance_to(stored, mean));
  }
  return made;
}

// The nearest point of entropy h or less along this direction: its best multiple.
double along(const std::vector<double>& direction, const std::vector<double>& mean) {
  double product = 0;
  double squares = 0;
  double of_mean = 0;
  for (size_t k = 0; k < mean.size(); k++) {
    product += direction[k] * mean[k];
    squares += direction[k] * direction[k];
    of_mean += mean[k] * mean[k];
  }
  return std::sqrt(std::max(0.0, of_mean - std::max(0.0, product) * product / squares));
}

// Over a window of directions of the circle or the sphere, given by one angle or two; the best angles come back.
struct Window {
  double angle = 0;
  double height = 0;
  double reach = 0;  // to both sides
};

double nearest_in(const Window& window, size_t steps, const std::vector<double>& mean, double h, Window& at) {
  double best = INFINITY;
  const bool flat = mean.size() == 2;
  for (size_t i = 0; i <= steps; i++) {
    const double angle = window.angle + window.reach * (2 * static_cast<double>(i) / static_cast<double>(steps) - 1);
    for (size_t j = 0; j <= (flat ? 0 : steps); j++) {
      const double height =
          flat ? 0 : window.height + window.reach * (2 * static_cast<double>(j) / static_cast<double>(steps) - 1);
      std::vector<double> point = {std::cos(height) * std::cos(angle), std::cos(height) * std::sin(angle)};
      if (!flat) point.push_back(std::sin(height));
      const double own = along(point, mean);
      if (own >= best || entropy_by_definition(point) > h) continue;
      best = own;
      at = {angle, height, 4 * window.reach / static_cast<double>(steps)};
    }
  }
  return best;
}

// Over a dense grid of all directions, then over ever finer ones around the best point so far. Along edges of the
// allowed region the grid includes the axes: multiples of pi / 2.
double nearest_by_grid(const std::vector<double>& mean, double h) {
  Window at;
  double best = nearest_in({0, 0, std::numbers::pi}, mean.size() == 2 ? 4000 : 400, mean, h, at);
  for (int zoom = 0; zoom < 6; zoom++) best = std::min(best, nearest_in(at, 40, mean, h, at));
  return best;
}

void expect_guarantees(MemberTrial& trial, const Made& made) {
  for (size_t r = 0; r < made.values.rows(); r++) {
    const Rows rows = unit_rows(trial, r);
    const auto values = made.values.row(r);
    const std::vector<double> mean = mean_by_hand(rows);
    const Simplest simplest = simplest_of(rows, mean);
    const auto& measures = made.combined.measures;
    if (std::isinf(simplest.complexity)) {
      for (const float each : values) EXPECT_EQ(each, 0);
      EXPECT_TRUE(std::isnan(measures[0].values[r]));
      EXPECT_EQ(measures[1].values[r], 0);
      continue;
    }
    ASSERT_LE(complexity(values), simplest.complexity) << "row " << r;
    ASSERT_LE(distance_to(values, mean), simplest.distance) << "row " << r;
    ASSERT_EQ(measures[0].values[r], complexity(values));
    ASSERT_NEAR(measures[1].values[r], distance_to(values, mean), 1e-12);
    ASSERT_LE(measures[2].values[r], measures[1].values[r] + 1e-12);
    ASSERT_GE(measures[2].values[r], 0);
  }
}

// (0.8, 0.6) and (0.6, 0.8): both have p = (4/7, 3/7), the mean (0.7, 0.7) is more complex. Directions (4, 3) and (3,
// 4) are the boundary of what is allowed, so the answer is the mean's projection onto (4, 3), the first of the two: 0.7
// x 7 / 25 = 0.196 times (4, 3) = (0.784, 0.588), 0.14 away: 0.084^2 + 0.112^2 = 0.14^2. The members are sqrt(0.02) =
// 0.1414 away.
TEST(ClosestSimple, TwoPlayersByHand) {
  MemberTrial trial = one_row({{0.8F, 0.6F}, {0.6F, 0.8F}});
  const Made made = combined_by("closest_simple", "", trial);
  EXPECT_NEAR(made.values(0, 0), 0.784, 1e-5);
  EXPECT_NEAR(made.values(0, 1), 0.588, 1e-5);
  EXPECT_NEAR(made.combined.measures[1].values[0], 0.14, 1e-6);
}

// Members (1, 0, 0) and (0, 0.6, 0.8): h = 0, so that one player alone may be left. The mean is (0.5, 0.3, 0.4); of its
// coordinates the first is the largest: (0.5, 0, 0), 0.5 away, where the member (1, 0, 0) is sqrt(0.5) away.
TEST(ClosestSimple, OnePlayerIsLeftWhenTheSimplestMemberHasOne) {
  MemberTrial trial = one_row({{1, 0, 0}, {0, 0.6F, 0.8F}});
  const Made made = combined_by("closest_simple", "", trial);
  EXPECT_NEAR(made.values(0, 0), 0.5, 1e-7);
  EXPECT_EQ(made.values(0, 1), 0);
  EXPECT_EQ(made.values(0, 2), 0);
  EXPECT_NEAR(made.combined.measures[1].values[0], 0.5, 1e-7);
  // All points of entropy 0 are on an axis: e^-h = 1 and the half-space is phi_1 >= |phi|_1, 0.7 / sqrt 2 away.
  EXPECT_NEAR(made.combined.measures[2].values[0], 0.7 / std::sqrt(2.0), 1e-7);
}

// (1, 1, 0), (1, 0, 1) over sqrt 2: h = ln 2. The mean (2, 1, 1) / (2 sqrt 2) has p = (1/2, 1/4, 1/4), H = 1.5 ln 2.
// Its two largest alone, (2, 1, 0) / (2 sqrt 2), are 0.354 away; better is allowed, and no worse.
TEST(ClosestSimple, IsNotWorseThanTheLargestOfTheMeanAlone) {
  MemberTrial trial = one_row({{1, 1, 0}, {1, 0, 1}});
  const Made made = combined_by("closest_simple", "", trial);
  EXPECT_LT(made.combined.measures[1].values[0], 1 / std::sqrt(8.0));
  expect_guarantees(trial, made);
}

TEST(ClosestSimple, AMeanThatIsSimpleEnoughIsTheAnswer) {
  // Noise on different players: the mean is simpler than both. d = 3: (1, 0.5, -0.5) and (1, -0.5, 0.5) average to
  // (1, 0, 0) over sqrt 1.5.
  MemberTrial trial = one_row({{1, 0.5F, -0.5F}, {1, -0.5F, 0.5F}});
  const Made made = combined_by("closest_simple", "", trial);
  EXPECT_NEAR(made.values(0, 0), 1 / std::sqrt(1.5), 1e-7);
  EXPECT_EQ(made.values(0, 1), 0);
  EXPECT_EQ(made.values(0, 2), 0);
  EXPECT_NEAR(made.combined.measures[1].values[0], 0, 1e-7);
  EXPECT_EQ(made.combined.measures[2].values[0], 0);
}

TEST(ClosestSimple, DegenerateMembers) {
  // One member, equal members, and one player: the member itself, as rounded.
  for (const auto& members : std::vector<std::vector<std::vector<float>>>{
           {{0.6F, -0.8F}}, {{0.6F, -0.8F}, {0.6F, -0.8F}, {1.2F, -1.6F}}, {{-2}}, {{-2}, {-3}}}) {
    MemberTrial trial = one_row(members);
    const Made made = combined_by("closest_simple", "", trial);
    const Rows rows = unit_rows(trial, 0);
    for (size_t k = 0; k < rows[0].size(); k++) EXPECT_EQ(made.values(0, k), static_cast<float>(rows[0][k]));
  }
  // Opposite members have no mean: the first of the simplest.
  MemberTrial opposite = one_row({{0.6F, -0.8F}, {-0.6F, 0.8F}});
  EXPECT_NEAR(combined_by("closest_simple", "", opposite).values(0, 0), 0.6, 1e-7);
  // A zero member counts in the mean, not among the simplest.
  MemberTrial zero = one_row({{0, 0}, {0.6F, 0.8F}});
  const Made half = combined_by("closest_simple", "", zero);
  EXPECT_NEAR(half.values(0, 0), 0.3, 1e-6);
  EXPECT_NEAR(half.values(0, 1), 0.4, 1e-6);
  MemberTrial nothing = one_row({{0, 0}, {0, 0}});
  expect_guarantees(nothing, combined_by("closest_simple", "", nothing));
}

TEST(ClosestSimple, GuaranteesHoldOnThousandsOfRandomSets) {
  uint64_t seed = 1;
  for (const size_t members : {1U, 2U, 3U, 6U}) {
    for (const size_t players : {1U, 2U, 3U, 5U, 14U}) {
      MemberTrial trial = random_members(members, 200, players, seed++);
      expect_guarantees(trial, combined_by("closest_simple", "", trial));
    }
  }
  MemberTrial wide = random_members(4, 12, 784, seed);
  expect_guarantees(wide, combined_by("closest_simple", "", wide));
}

// The grid's best direction is refined until it is a local optimum to ten digits; the search may be farther than that
// by what its margin for rounding to float32 costs.
TEST(ClosestSimple, IsNotBeatenByAGridInTwoAndThreeDimensions) {
  size_t compared = 0;
  for (const size_t players : {2U, 3U}) {
    for (const size_t members : {2U, 3U, 5U}) {
      MemberTrial trial = random_members(members, players == 2 ? 200 : 60, players, 70 + members);
      const Made made = combined_by("closest_simple", "", trial);
      for (size_t r = 0; r < made.values.rows(); r++) {
        const Rows rows = unit_rows(trial, r);
        const std::vector<double> mean = mean_by_hand(rows);
        const Simplest simplest = simplest_of(rows, mean);
        double norm = 0;
        for (const double each : mean) norm += each * each;
        // The mean itself, a zero row, or members that cancel.
        if (std::isinf(simplest.complexity) || norm < 1e-12 || entropy_by_definition(mean) <= simplest.complexity) {
          continue;
        }
        compared++;
        const double by_grid = nearest_by_grid(mean, simplest.complexity);
        EXPECT_LE(made.combined.measures[1].values[r], by_grid + 1e-6)
            << players << " players, " << members << " members, row " << r;
      }
    }
  }
  EXPECT_GT(compared, 400U);
}

TEST(ClosestSimple, SharpeningStopsAtTheLimit) {
  std::vector<double> sizes = {4, 2, 1, 0};
  // p = (4, 2, 1) / 7; the square has (16, 4, 1) / 21.
  const double squared = entropy_by_definition({16, 4, 1});
  ASSERT_TRUE(sharpen(sizes, squared));
  EXPECT_NEAR(sizes[0], 4, 1e-12);
  EXPECT_NEAR(sizes[1], 1, 1e-9);
  EXPECT_NEAR(sizes[2], 0.25, 1e-9);
  EXPECT_EQ(sizes[3], 0);
  std::vector<double> ties = {1, 1};
  EXPECT_FALSE(sharpen(ties, 0.5));
}

TEST(ClosestSimple, BitsDoNotDependOnThreads) {
  MemberTrial trial = random_members(4, 100, 9, 12);
  expect_same_aggregate_on_threads("closest_simple", "", trial);
}

TEST(ClosestSimple, RowsThatAreNoNumbersAreUndefined) {
  MemberTrial trial = bare_members({{{1, 2}, {NAN, 1}}, {{2, 1}, {1, 1}}});
  Made made = combined_by("closest_simple", "", trial);
  EXPECT_TRUE(std::isnan(made.values(1, 0)));
  EXPECT_FALSE(std::isnan(made.values(0, 0)));
  EXPECT_EQ(made.combined.undefined.take().size(), 1U);
}

}  // namespace
}  // namespace assay::testing
