#include "assay/aggregate/minimum_complexity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "assay/aggregate/complexity/segment.h"
#include "assay/aggregate/region_shrinking.h"
#include "assay/core/error.h"
#include "tests/aggregate/trial.h"

namespace assay::testing {
namespace {

using Rows = std::vector<std::vector<double>>;

const std::vector<double>& measure(const Made& made, const std::string& name) {
  const auto found = std::ranges::find(made.combined.measures, name, &RowMeasure::name);
  EXPECT_NE(found, made.combined.measures.end()) << name;
  return found->values;
}

double simplest_complexity(const Rows& rows) {
  double least = INFINITY;
  for (const auto& row : rows) {
    const double own = complexity(std::vector<float>(row.begin(), row.end()));
    if (own < least) least = own;
  }
  return least;
}

// No more complex than the simplest member, exactly; the weights are convex, none on zero members, and give the values;
// the bound is one.
void expect_guarantees(MemberTrial& trial, const Made& made, bool all_certified) {
  for (size_t r = 0; r < made.values.rows(); r++) {
    const Rows rows = unit_rows(trial, r);
    const auto values = made.values.row(r);
    const double simplest = simplest_complexity(rows);
    if (std::isinf(simplest)) {
      for (const float each : values) EXPECT_EQ(each, 0);
      EXPECT_TRUE(std::isnan(measure(made, "complexity")[r]));
      continue;
    }
    ASSERT_LE(complexity(values), simplest) << "row " << r;
    ASSERT_EQ(measure(made, "complexity")[r], complexity(values));
    ASSERT_LE(measure(made, "bound")[r], complexity(values));
    ASSERT_GE(measure(made, "bound")[r], 0);
    if (all_certified) {
      ASSERT_EQ(measure(made, "bound")[r], complexity(values));
    }
    double total = 0;
    std::vector<double> sum(values.size());
    for (size_t j = 0; j < rows.size(); j++) {
      const float weight = made.combined.weights(r, j);
      ASSERT_GE(weight, 0);
      total += weight;
      if (std::ranges::all_of(rows[j], [](double each) { return each == 0; })) {
        ASSERT_EQ(weight, 0);
      }
      for (size_t k = 0; k < sum.size(); k++) sum[k] += weight * rows[j][k];
    }
    ASSERT_NEAR(total, 1, 1e-6);
    for (size_t k = 0; k < sum.size(); k++) ASSERT_NEAR(values[k], sum[k], 1e-6);
  }
  EXPECT_EQ(made.combined.notes.empty(), all_certified);
}

// The segment from (0.8, 0.6) to (-0.8, 0.6) meets the axis at its middle, (0, 0.6): entropy 0 with l1 norm 0.6, which
// is above 0.05 x 1.4. With floor 0.5 the l1 norm must be at least 0.7: |x| + 0.6 = 0.7, so that (+-0.1, 0.6) is the
// simplest: p = (1/7, 6/7), weights 9/16 and 7/16.
TEST(MinimumComplexity, TwoPlayersByHand) {
  MemberTrial trial = one_row({{0.8F, 0.6F}, {-0.8F, 0.6F}});
  const Made made = combined_by(minimum_complexity_aggregator(), "", trial);
  EXPECT_EQ(made.values(0, 0), 0);
  EXPECT_NEAR(made.values(0, 1), 0.6, 1e-7);
  EXPECT_EQ(measure(made, "complexity")[0], 0);
  EXPECT_NEAR(made.combined.weights(0, 0), 0.5, 1e-7);

  const Made floored = combined_by(minimum_complexity_aggregator(), ":floor=0.5", trial);
  EXPECT_NEAR(std::abs(floored.values(0, 0)), 0.1, 1e-6);
  EXPECT_NEAR(floored.values(0, 1), 0.6, 1e-6);
  EXPECT_NEAR(measure(floored, "complexity")[0], std::log(7.0) - 6.0 / 7 * std::log(6.0), 1e-6);
  const float heavier = std::max(floored.combined.weights(0, 0), floored.combined.weights(0, 1));
  EXPECT_NEAR(heavier, 9.0 / 16, 1e-6);
}

// g1 + g2 = (4, 0, 2) / 3 and g3 = (3, 0, -4) / 5: with 5/6 of g3 the third coordinate vanishes as well. Weights are
// proportional to 1, 1, 5/6, so (6, 6, 5) / 17; phi_1 = (4 + 4 + 3) / 17. Each edge of the triangle leaves two players.
TEST(MinimumComplexity, ThreePlayersByHand) {
  MemberTrial trial = one_row({{2, 2, 1}, {2, -2, 1}, {3, 0, -4}});
  const Made made = combined_by(minimum_complexity_aggregator(), "", trial);
  EXPECT_NEAR(made.values(0, 0), 11.0 / 17, 1e-6);
  EXPECT_EQ(made.values(0, 1), 0);
  EXPECT_EQ(made.values(0, 2), 0);
  EXPECT_NEAR(made.combined.weights(0, 0), 6.0 / 17, 1e-6);
  EXPECT_NEAR(made.combined.weights(0, 1), 6.0 / 17, 1e-6);
  EXPECT_NEAR(made.combined.weights(0, 2), 5.0 / 17, 1e-6);
  EXPECT_EQ(measure(made, "bound")[0], 0);
}

// All signs alike: no coordinate vanishes inside, so a member is the simplest.
TEST(MinimumComplexity, MembersOfEqualSignsGiveTheSimplestOfThem) {
  MemberTrial trial = one_row({{1, 1, 1}, {3, 1, 1}, {1, 2, 2}});
  const Made made = combined_by(minimum_complexity_aggregator(), "", trial);
  EXPECT_EQ(made.combined.weights(0, 1), 1);
  const Rows rows = unit_rows(trial, 0);
  for (size_t k = 0; k < 3; k++) EXPECT_EQ(made.values(0, k), static_cast<float>(rows[1][k]));
}

TEST(MinimumComplexity, DegenerateMembers) {
  for (const auto& members : std::vector<std::vector<std::vector<float>>>{{{0.6F, -0.8F}},
                                                                          {{3, -4}, {3, -4}, {6, -8}},
                                                                          {{3, -4}, {-3, 4}},
                                                                          {{3, -4}, {0, 0}},
                                                                          {{3, -4}, {-6, 8}, {3, -4}, {0, 0}}}) {
    MemberTrial trial = one_row(members);
    const Made made = combined_by(minimum_complexity_aggregator(), "", trial);
    expect_guarantees(trial, made, true);
    EXPECT_NEAR(std::abs(made.values(0, 0) / made.values(0, 1)), 0.75, 1e-6);
  }
  for (const auto& members :
       std::vector<std::vector<std::vector<float>>>{{{-2}}, {{-2}, {3}, {1}}, {{0}, {5}}, {{0, 0}, {0, 0}}}) {
    MemberTrial trial = one_row(members);
    expect_guarantees(trial, combined_by(minimum_complexity_aggregator(), "", trial), true);
  }
}

TEST(MinimumComplexity, OfTwoMembersIsTheSegmentsMinimum) {
  SegmentScratch scratch;
  for (const size_t players : {1U, 2U, 5U, 40U}) {
    MemberTrial trial = random_members(2, 100, players, players);
    const Made made = combined_by(minimum_complexity_aggregator(), "", trial);
    for (size_t r = 0; r < 100; r++) {
      const Rows rows = unit_rows(trial, r);
      const double first = l1_norm(rows[0]);
      const double second = l1_norm(rows[1]);
      if (first == 0 || second == 0) continue;
      const double expected = segment_minimum(rows[0], rows[1], 0.05 * (first + second) / 2, scratch).entropy;
      // What rounding the result to float32 costs.
      EXPECT_NEAR(measure(made, "complexity")[r], expected, 1e-6) << players << " players, row " << r;
    }
  }
}

TEST(MinimumComplexity, GuaranteesHoldOnThousandsOfRandomSets) {
  uint64_t seed = 1;
  for (const size_t members : {1U, 2U, 3U, 4U, 6U}) {
    for (const size_t players : {1U, 2U, 3U, 4U, 8U}) {
      for (const char* const options : {"", ":floor=0.6", ":floor=0"}) {
        MemberTrial trial = random_members(members, 60, players, seed++);
        expect_guarantees(trial, combined_by(minimum_complexity_aggregator(), options, trial), true);
      }
    }
  }
  MemberTrial wide = random_members(2, 40, 784, seed);
  expect_guarantees(wide, combined_by(minimum_complexity_aggregator(), "", wide), true);
}

// Result against 100,000 random points of the hulls of the members, above the floor. A rounded result may be above its
// own point by what float32 costs.
TEST(MinimumComplexity, IsNotBeatenByRandomPointsOfTheHull) {
  const size_t members = 4;
  MemberTrial trial = random_members(members, 100, 8, 77);
  const Made made = combined_by(minimum_complexity_aggregator(), "", trial);
  std::vector<double> phi(8);
  std::vector<double> weights(members);
  for (size_t r = 0; r < 100; r++) {
    const Rows rows = unit_rows(trial, r);
    double floor = 0;
    double nonzero = 0;
    for (const auto& row : rows) {
      floor += 0.05 * l1_norm(row);
      nonzero += l1_norm(row) > 0 ? 1 : 0;
    }
    floor /= nonzero;
    RandomStream draw(5, "points", r);
    for (size_t i = 0; i < 1000; i++) {
      double total = 0;
      for (double& each : weights) total += each = std::pow(-std::log(1 - draw.uniform()), i % 2 == 0 ? 1 : 8);
      std::ranges::fill(phi, 0.0);
      for (size_t j = 0; j < members; j++) {
        for (size_t k = 0; k < phi.size(); k++) phi[k] += weights[j] / total * rows[j][k];
      }
      if (l1_norm(phi) >= floor) {
        ASSERT_LE(measure(made, "complexity")[r], entropy_of(phi) + 1e-6);
      }
    }
  }
}

TEST(MinimumComplexity, IsNotAboveRegionShrinking) {
  for (const size_t members : {2U, 3U, 5U}) {
    for (const size_t players : {2U, 8U, 14U}) {
      MemberTrial trial = random_members(members, 60, players, members + players);
      const Made made = combined_by(minimum_complexity_aggregator(), "", trial);
      const Made shrunk = combined_by(region_shrinking_aggregator(), "", trial);
      for (size_t r = 0; r < 60; r++) {
        const double other = complexity(shrunk.values.row(r));
        if (std::isnan(other)) continue;
        // Both are rounded to float32.
        EXPECT_LE(measure(made, "complexity")[r], other + 1e-6);
      }
    }
  }
}

// With vertices=1 nothing is enumerated: what is found then is between the minimum and the best edge of the hull, its
// bound below the minimum, and a note counts the rows.
TEST(MinimumComplexity, SaysWhatItKnowsWhereItCannotLookAtAll) {
  SegmentScratch scratch;
  MemberTrial trial = random_members(5, 60, 12, 3);
  const Made exact = combined_by(minimum_complexity_aggregator(), "", trial);
  const Made searched = combined_by(minimum_complexity_aggregator(), ":vertices=1", trial);
  size_t certified = 0;
  for (size_t r = 0; r < 60; r++) {
    const double least = measure(exact, "complexity")[r];
    EXPECT_GE(measure(searched, "complexity")[r], least - 1e-6);
    EXPECT_LE(measure(searched, "bound")[r], least + 1e-6);
    certified += measure(searched, "bound")[r] == measure(searched, "complexity")[r] ? 1 : 0;
    const Rows rows = unit_rows(trial, r);
    double floor = 0;
    for (const auto& row : rows) floor += 0.05 * l1_norm(row) / static_cast<double>(rows.size());
    for (size_t i = 0; i < rows.size(); i++) {
      for (size_t j = 0; j < i; j++) {
        if (l1_norm(rows[i]) == 0 || l1_norm(rows[j]) == 0) continue;
        const double edge = segment_minimum(rows[i], rows[j], floor, scratch).entropy;
        EXPECT_LE(measure(searched, "complexity")[r], edge + 1e-6);
      }
    }
  }
  EXPECT_TRUE(exact.combined.notes.empty());
  ASSERT_EQ(searched.combined.notes.size(), 1U);
  const std::string start = "certified on " + std::to_string(certified) + " of 60 rows";
  EXPECT_EQ(searched.combined.notes[0].substr(0, start.size()), start);
  EXPECT_LT(certified, 60U);
  EXPECT_GT(certified, 0U);
}

TEST(MinimumComplexity, ManyPlayersAndMembersAreSearched) {
  MemberTrial trial = random_members(6, 4, 784, 8);
  const Made made = combined_by(minimum_complexity_aggregator(), ":vertices=10000", trial);
  for (size_t r = 0; r < 4; r++) {
    EXPECT_LE(complexity(made.values.row(r)), simplest_complexity(unit_rows(trial, r)));
    EXPECT_GE(measure(made, "bound")[r], 0);
  }
}

TEST(MinimumComplexity, BitsDoNotDependOnThreads) {
  MemberTrial trial = random_members(4, 200, 7, 12);
  expect_same_aggregate_on_threads(minimum_complexity_aggregator(), "", trial);
  expect_same_aggregate_on_threads(minimum_complexity_aggregator(), ":vertices=1", trial);
}

TEST(MinimumComplexity, RowsThatAreNoNumbersAreUndefined) {
  MemberTrial trial = bare_members({{{1, 2}, {NAN, 1}}, {{2, 1}, {1, 1}}});
  Made made = combined_by(minimum_complexity_aggregator(), "", trial);
  EXPECT_TRUE(std::isnan(made.values(1, 0)));
  EXPECT_TRUE(std::isnan(measure(made, "complexity")[1]));
  EXPECT_TRUE(made.combined.notes.empty());
  EXPECT_EQ(made.combined.undefined.take().size(), 1U);
}

TEST(MinimumComplexity, StopsWhenAsked) {
  MemberTrial trial = random_members(5, 1, 60, 2);
  const std::atomic<bool> cancelled = true;
  Context context;
  context.cancelled = &cancelled;
  EXPECT_THROW(combined_by(minimum_complexity_aggregator(), "", trial, context), Error);
}

}  // namespace
}  // namespace assay::testing
