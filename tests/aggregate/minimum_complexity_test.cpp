#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "assay/aggregate/complexity/segment.h"
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

float l1_of_row(std::span<const float> row) {
  float sum = 0;
  for (const float each : row) sum += std::abs(each);
  return sum;
}

// Player k + 1 is k + 2 times the first, some with noise of 1e-6; signs of members differ.
MemberTrial nearly_proportional(size_t members, size_t rows, size_t players) {
  std::vector<std::vector<std::vector<float>>> values(members, std::vector<std::vector<float>>(rows));
  for (size_t r = 0; r < rows; r++) {
    RandomStream draw(4, "nearly proportional", r);
    for (auto& member : values) {
      const double first = draw.normal();
      for (size_t k = 0; k < players; k++) {
        const double noise = k > 0 && draw.uniform() < 0.5 ? 1e-6 * draw.normal() : 0;
        member[r].push_back(static_cast<float>(first * static_cast<double>(k + 1) + noise));
      }
    }
  }
  return bare_members(values);
}

// A point between a random point of the hull and another, near where their first player vanishes, if it does.
void draw_near_origin(const Rows& rows, RandomStream& draw, std::span<double> weights, std::span<double> phi) {
  std::vector<double> other(phi.size());
  for (std::span<double> made : {phi, std::span<double>(other)}) {
    double total = 0;
    for (double& each : weights) total += each = -std::log(1 - draw.uniform());
    std::ranges::fill(made, 0.0);
    for (size_t j = 0; j < rows.size(); j++) {
      for (size_t k = 0; k < made.size(); k++) made[k] += weights[j] / total * rows[j][k];
    }
  }
  const double vanishes = phi[0] / (phi[0] - other[0]);
  const double t = vanishes + std::exp(-16 * draw.uniform()) * (draw.uniform() - 0.5);
  if (!(t > 0 && t < 1)) return;
  for (size_t k = 0; k < phi.size(); k++) phi[k] = (1 - t) * phi[k] + t * other[k];
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
      // What rounding the minimum to float32 may add.
      ASSERT_GE(measure(made, "bound")[r], complexity(values) - 1e-6);
      ASSERT_EQ(measure(made, "certified")[r], 1);
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
// is above 0.05. With floor 0.7 the l1 norm must be at least 0.7: |x| + 0.6 = 0.7, so that (+-0.1, 0.6) is the
// simplest: p = (1/7, 6/7), weights 9/16 and 7/16.
TEST(MinimumComplexity, TwoPlayersByHand) {
  MemberTrial trial = one_row({{0.8F, 0.6F}, {-0.8F, 0.6F}});
  const Made made = combined_by("minimum_complexity", "", trial);
  EXPECT_EQ(made.values(0, 0), 0);
  EXPECT_NEAR(made.values(0, 1), 0.6, 1e-7);
  EXPECT_EQ(measure(made, "complexity")[0], 0);
  EXPECT_NEAR(made.combined.weights(0, 0), 0.5, 1e-7);

  const Made floored = combined_by("minimum_complexity", ":floor=0.7", trial);
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
  const Made made = combined_by("minimum_complexity", "", trial);
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
  const Made made = combined_by("minimum_complexity", "", trial);
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
    const Made made = combined_by("minimum_complexity", "", trial);
    expect_guarantees(trial, made, true);
    EXPECT_NEAR(std::abs(made.values(0, 0) / made.values(0, 1)), 0.75, 1e-6);
  }
  for (const auto& members :
       std::vector<std::vector<std::vector<float>>>{{{-2}}, {{-2}, {3}, {1}}, {{0}, {5}}, {{0, 0}, {0, 0}}}) {
    MemberTrial trial = one_row(members);
    expect_guarantees(trial, combined_by("minimum_complexity", "", trial), true);
  }
}

TEST(MinimumComplexity, OfTwoMembersIsTheSegmentsMinimum) {
  SegmentScratch scratch;
  for (const size_t players : {1U, 2U, 5U, 40U}) {
    MemberTrial trial = random_members(2, 100, players, players);
    const Made made = combined_by("minimum_complexity", "", trial);
    for (size_t r = 0; r < 100; r++) {
      const Rows rows = unit_rows(trial, r);
      if (l1_norm(rows[0]) == 0 || l1_norm(rows[1]) == 0) continue;
      const double expected = segment_minimum(rows[0], rows[1], 0.05, scratch).entropy;
      // What rounding the result to float32 costs.
      EXPECT_NEAR(measure(made, "complexity")[r], expected, 1e-6) << players << " players, row " << r;
      // The bound is not rounded.
      EXPECT_LE(measure(made, "bound")[r], expected + 1e-12) << players << " players, row " << r;
    }
  }
}

TEST(MinimumComplexity, GuaranteesHoldOnThousandsOfRandomSets) {
  uint64_t seed = 1;
  for (const size_t members : {1U, 2U, 3U, 4U, 6U}) {
    for (const size_t players : {1U, 2U, 3U, 4U, 8U}) {
      for (const char* const options : {"", ":floor=0.6", ":floor=0"}) {
        MemberTrial trial = random_members(members, 60, players, seed++);
        expect_guarantees(trial, combined_by("minimum_complexity", options, trial), true);
      }
    }
  }
  MemberTrial wide = random_members(2, 40, 784, seed);
  expect_guarantees(wide, combined_by("minimum_complexity", "", wide), true);
}

// Result against 100,000 random points of the hulls of the members, above the floor. A rounded result may be above its
// own point by what float32 costs.
TEST(MinimumComplexity, IsNotBeatenByRandomPointsOfTheHull) {
  const size_t members = 4;
  MemberTrial trial = random_members(members, 100, 8, 77);
  const Made made = combined_by("minimum_complexity", "", trial);
  std::vector<double> phi(8);
  std::vector<double> weights(members);
  for (size_t r = 0; r < 100; r++) {
    const Rows rows = unit_rows(trial, r);
    RandomStream draw(5, "points", r);
    for (size_t i = 0; i < 1000; i++) {
      double total = 0;
      for (double& each : weights) total += each = std::pow(-std::log(1 - draw.uniform()), i % 2 == 0 ? 1 : 8);
      std::ranges::fill(phi, 0.0);
      for (size_t j = 0; j < members; j++) {
        for (size_t k = 0; k < phi.size(); k++) phi[k] += weights[j] / total * rows[j][k];
      }
      if (l1_norm(phi) >= 0.05) {
        ASSERT_LE(measure(made, "complexity")[r], entropy_of(phi) + 1e-6);
      }
    }
  }
}

TEST(MinimumComplexity, IsNotAboveRegionShrinking) {
  for (const size_t members : {2U, 3U, 5U}) {
    for (const size_t players : {2U, 8U, 14U}) {
      MemberTrial trial = random_members(members, 60, players, members + players);
      const Made made = combined_by("minimum_complexity", "", trial);
      const Made shrunk = combined_by("region_shrinking", "", trial);
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
  const Made exact = combined_by("minimum_complexity", "", trial);
  const Made searched = combined_by("minimum_complexity", ":vertices=1", trial);
  size_t certified = 0;
  for (size_t r = 0; r < 60; r++) {
    const double least = measure(exact, "complexity")[r];
    EXPECT_GE(measure(searched, "complexity")[r], least - 1e-6);
    EXPECT_LE(measure(searched, "bound")[r], least + 1e-6);
    const bool is_certified = measure(searched, "certified")[r] == 1;
    certified += is_certified ? 1 : 0;
    if (is_certified) {
      EXPECT_NEAR(measure(searched, "complexity")[r], measure(searched, "bound")[r], 1e-6);
      EXPECT_NEAR(measure(searched, "complexity")[r], least, 1e-6);
    }
    const Rows rows = unit_rows(trial, r);
    for (size_t i = 0; i < rows.size(); i++) {
      for (size_t j = 0; j < i; j++) {
        if (l1_norm(rows[i]) == 0 || l1_norm(rows[j]) == 0) continue;
        const double edge = segment_minimum(rows[i], rows[j], 0.05, scratch).entropy;
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

// Members close to multiples of one vector, so that norms on the floor are what large parts leave when they cancel.
// At certified rows neither region shrinking nor a random point above the same floor may be simpler.
TEST(MinimumComplexity, SmallFloorsOfNearlyProportionalMembersAreCertified) {
  size_t below = 0;
  for (const std::string vertices : {"", ":vertices=1"}) {
    for (const double floor : {0.0, 1e-6, 1e-5, 1e-4, 1e-3}) {
      // A floor of 0 stands for 1e-6.
      const double least_norm = std::max(floor, 1e-6);
      for (size_t members = 2; members <= 5; members++) {
        const size_t players = members + members % 3;
        MemberTrial trial = nearly_proportional(members, 60, players);
        const Made made = combined_by("minimum_complexity", fmt::format(":floor={}", floor) + vertices, trial);
        const Made shrunk = combined_by("region_shrinking", fmt::format(":keep=20:floor={}", least_norm), trial);
        std::vector<double> weights(members);
        std::vector<double> phi(players);
        for (size_t r = 0; r < 60; r++) {
          const double bound = measure(made, "bound")[r];
          // Near a floor of 1e-6 float32 and the members' own rounding leave entropy five digits.
          ASSERT_LE(bound, complexity(shrunk.values.row(r)) + 1e-5) << floor << ", " << members << ", " << r;
          const Rows rows = unit_rows(trial, r);
          const float norm = l1_of_row(made.values.row(r));
          below += norm < 2 * least_norm ? 1 : 0;
          RandomStream draw(9, "small floors", r);
          for (size_t i = 0; i < 200; i++) {
            draw_near_origin(rows, draw, weights, phi);
            if (l1_norm(phi) < least_norm) continue;
            ASSERT_LE(bound, entropy_of(phi) + 1e-6) << floor << ", " << members << ", " << r;
          }
        }
      }
    }
  }
  EXPECT_GT(below, 300U);
}

// 0.6 e_1 +- a dense vector of length 0.8: halfway all but the first player vanish. Its l1 norm of 0.6 is far below
// that of the members, some 18, and counts as it is 0.6 of their length.
TEST(MinimumComplexity, TheFloorIsMeasuredInLengthsOfMembers) {
  std::vector<float> one(784);
  std::vector<float> two(784);
  RandomStream draw(2, "dense");
  double squares = 0;
  for (size_t k = 1; k < 784; k++) {
    one[k] = static_cast<float>(draw.normal());
    squares += static_cast<double>(one[k]) * one[k];
  }
  for (size_t k = 1; k < 784; k++) {
    one[k] *= static_cast<float>(0.8 / std::sqrt(squares));
    two[k] = -one[k];
  }
  one[0] = two[0] = 0.6F;
  MemberTrial trial = one_row({one, two});
  for (const std::string name : {"minimum_complexity", "region_shrinking"}) {
    const Made made = combined_by(name, "", trial);
    EXPECT_EQ(complexity(made.values.row(0)), 0) << name;
    EXPECT_NEAR(made.values(0, 0), 0.6, 1e-6) << name;
  }
}

// In the plane all points on the axes have entropy 0. The longest of the hull is where the segment between two members
// meets an axis: at t with (1 - t) a + t b = 0 for one player's values a and b at its ends.
TEST(MinimumComplexity, OfEquallySimplePointsTheLongestIsTheResult) {
  size_t compared = 0;
  for (size_t number = 0; number < 300; number++) {
    RandomStream draw(8, "longest", number);
    std::vector<std::vector<float>> members(5, std::vector<float>(2));
    for (auto& member : members) {
      for (float& each : member) each = static_cast<float>(draw.normal());
    }
    MemberTrial trial = one_row(members);
    const Rows rows = unit_rows(trial, 0);
    double longest = 0;
    for (size_t i = 0; i < rows.size(); i++) {
      for (size_t j = 0; j < i; j++) {
        for (size_t k = 0; k < 2; k++) {
          const double a = rows[i][k];
          const double b = rows[j][k];
          if (a * b < 0) longest = std::max(longest, std::abs((b * rows[i][1 - k] - a * rows[j][1 - k]) / (b - a)));
        }
      }
    }
    if (longest < 0.05) continue;
    compared++;
    const Made made = combined_by("minimum_complexity", "", trial);
    ASSERT_EQ(measure(made, "complexity")[0], 0);
    ASSERT_NEAR(l1_of_row(made.values.row(0)), longest, 1e-5) << number;
  }
  EXPECT_GT(compared, 200U);
}

TEST(MinimumComplexity, ManyPlayersAndMembersAreSearched) {
  MemberTrial trial = random_members(6, 4, 784, 8);
  const Made made = combined_by("minimum_complexity", ":vertices=10000", trial);
  for (size_t r = 0; r < 4; r++) {
    EXPECT_LE(complexity(made.values.row(r)), simplest_complexity(unit_rows(trial, r)));
    EXPECT_GE(measure(made, "bound")[r], 0);
  }
}

TEST(MinimumComplexity, BitsDoNotDependOnThreads) {
  MemberTrial trial = random_members(4, 200, 7, 12);
  expect_same_aggregate_on_threads("minimum_complexity", "", trial);
  expect_same_aggregate_on_threads("minimum_complexity", ":vertices=1", trial);
}

TEST(MinimumComplexity, RowsThatAreNoNumbersAreUndefined) {
  MemberTrial trial = bare_members({{{1, 2}, {NAN, 1}}, {{2, 1}, {1, 1}}});
  Made made = combined_by("minimum_complexity", "", trial);
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
  EXPECT_THROW(combined_by("minimum_complexity", "", trial, context), Error);
}

}  // namespace
}  // namespace assay::testing
