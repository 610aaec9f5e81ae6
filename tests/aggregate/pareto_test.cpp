#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "assay/aggregate/aggregators.h"
#include "assay/aggregate/mixtures/front.h"
#include "tests/aggregate/mixtures/toy.h"

namespace assay::testing {
namespace {

Made front_by(const std::string& options, MemberTrial& trial, const Context& context = {}) {
  return combined_by("pareto", ":others=false" + options, trial, context);
}

// Row `row` of the table "front": criteria after the weights.
TradeOff criteria_in(const Made& made, size_t row) {
  const std::vector<double>& all = made.combined.tables.at(0).rows.at(row);
  const size_t members = all.size() - 4;
  return {all[members], all[members + 1], all[members + 2]};
}
std::vector<double> weights_in(const Made& made, size_t row) {
  const std::vector<double>& all = made.combined.tables.at(0).rows.at(row);
  return {all.begin(), all.end() - 4};
}

// Members without zeros, ties or opposites, so that every criterion is defined everywhere.
MemberTrial plain_trial(size_t members, size_t rows, size_t pool, size_t players, uint64_t seed) {
  MemberTrial made = random_with_pool(members, rows, pool, players, seed);
  RandomStream draw(seed, "plain members");
  for (size_t j = 0; j < members; j++) {
    const double tilt = draw.normal();
    const auto fill = [&](const Matrix& at) {
      Matrix values(at.rows(), players);
      for (size_t r = 0; r < at.rows(); r++) {
        for (size_t p = 0; p < players; p++) {
          const double truth = static_cast<double>(p + 1) * at(r, p);
          values(r, p) = static_cast<float>(truth + (1 + static_cast<double>(j)) * draw.normal() + tilt);
        }
      }
      return values;
    };
    made.members[j].values = fill(made.data->x);
    made.pool_members[j] = PoolExplanations(fill(made.pool->x));
  }
  return made;
}

// The three criteria themselves.
TradeOff evaluated(MemberTrial& trial, std::span<const double> weights, const std::string& neighbours = "") {
  return {score_of_mixture(trial, "faithfulness:subset=2", weights).mean,
          score_of_mixture(trial, "avg_sensitivity:normalise=unit" + neighbours, weights).mean,
          score_of_mixture(trial, "complexity", weights).mean};
}

TEST(Pareto, ValuesAreThoseOfTheCriteria) {
  for (const std::string neighbours : {"", ":weighting=inverse_distance:radius=3"}) {
    MemberTrial trial = plain_trial(3, 15, 40, 5, 1);
    const Made made = front_by(":points=60:subset=2" + neighbours, trial);
    const size_t rows = made.combined.tables.at(0).rows.size();
    ASSERT_GT(rows, 3U);
    for (size_t k = 0; k < rows; k++) {
      const TradeOff expected = evaluated(trial, weights_in(made, k), neighbours);
      const TradeOff found = criteria_in(made, k);
      // Mixtures are stored as float32.
      EXPECT_NEAR(found.faithfulness, expected.faithfulness, 1e-6);
      EXPECT_NEAR(found.avg_sensitivity, expected.avg_sensitivity, 1e-6 * (1 + expected.avg_sensitivity));
      EXPECT_NEAR(found.complexity, expected.complexity, 1e-9);
    }
  }
}

TEST(Pareto, NothingOnTheFrontIsDominated) {
  for (uint64_t seed = 0; seed < 6; seed++) {
    const size_t members = 2 + seed % 2;
    MemberTrial trial = plain_trial(members, 10, 30, 4, seed + 20);
    const Made made = front_by(":points=400:subset=2", trial);
    std::vector<TradeOff> front;
    for (size_t k = 0; k < made.combined.tables.at(0).rows.size(); k++) front.push_back(criteria_in(made, k));
    for (const TradeOff& a : front) {
      for (const TradeOff& b : front) EXPECT_FALSE(dominates(a, b));
    }
    // No point of another lattice beats the whole front by more than what lies between points that were tried.
    const size_t steps = members == 2 ? 37 : 11;
    for (size_t a = 0; a <= steps; a++) {
      for (size_t b = 0; a + b <= steps; b++) {
        if (members == 2 && a + b < steps) continue;
        std::vector<double> weights = {static_cast<double>(a) / static_cast<double>(steps),
                                       static_cast<double>(b) / static_cast<double>(steps)};
        if (members == 3) weights.push_back(static_cast<double>(steps - a - b) / static_cast<double>(steps));
        const TradeOff at = evaluated(trial, weights);
        double least = INFINITY;  // by how much it is ahead of the best rival
        for (const TradeOff& rival : front) {
          least = std::min(least,
                           std::max({rival.faithfulness < at.faithfulness ? at.faithfulness - rival.faithfulness : 0.0,
                                     rival.avg_sensitivity - at.avg_sensitivity, rival.complexity - at.complexity}));
        }
        EXPECT_LE(least, 0.02) << "seed " << seed;
      }
    }
  }
}

// The model's y = x_0 + 2 x_1 + x_0 x_1 at (1, 1) with reference 0 loses, without one player, 1 + 1 = 2 or 2 + 1 = 3:
// two subsets of size 1, so that correlations are 1 or -1. Member a says (0.6, 0.8): faithful; member b (0.8, 0.6):
// the contrary. Their neighbours' explanations are the same as theirs, so nobody is sensitive, and the complexity of
// both is equal. The mixtures between them are more complex: the front is a alone.
TEST(Pareto, KnownFront) {
  MemberTrial trial =
      with_pool({matrix_of({{0.6F, 0.8F}}), matrix_of({{0.8F, 0.6F}})},
                {matrix_of({{0.6F, 0.8F}}), matrix_of({{0.8F, 0.6F}})}, matrix_of({{1, 1}}), matrix_of({{1, 2}}));
  const Made made = front_by(":space=raw:radius=100:points=50", trial);
  ASSERT_EQ(made.combined.tables.at(0).rows.size(), 1U);
  EXPECT_EQ(weights_in(made, 0), weights_at(2, 0));
  EXPECT_NEAR(criteria_in(made, 0).faithfulness, 1, 1e-12);
  EXPECT_NEAR(criteria_in(made, 0).avg_sensitivity, 0, 1e-7);
  EXPECT_EQ(made.combined.tables[0].rows[0].back(), 1);
  const ScoreTable& placed = made.combined.tables.at(1);
  ASSERT_EQ(placed.rows.size(), 2U);
  EXPECT_NEAR(placed.rows[1][0], -1, 1e-12);
  EXPECT_EQ(placed.rows[0][3], 0);
  EXPECT_EQ(placed.rows[1][3], 1);
  EXPECT_FLOAT_EQ(made.values(0, 1), 0.8F);
}

TEST(Pareto, PicksAsAsked) {
  MemberTrial trial = plain_trial(3, 12, 30, 4, 3);
  const auto picked = [&](const std::string& pick) {
    const Made made = front_by(":points=200:subset=2:pick=" + pick, trial);
    for (size_t k = 0; k < made.combined.tables[0].rows.size(); k++) {
      if (made.combined.tables[0].rows[k].back() != 1) continue;
      EXPECT_EQ(weights_in(made, k), weights_of_row(made, 0));
      return std::pair(criteria_in(made, k), made);
    }
    ADD_FAILURE();
    return std::pair(TradeOff{}, made);
  };
  const auto [faithful, made] = picked("faithfulness");
  const TradeOff stable = picked("sensitivity").first;
  const TradeOff simple = picked("complexity").first;
  for (size_t k = 0; k < made.combined.tables[0].rows.size(); k++) {
    const TradeOff at = criteria_in(made, k);
    // As good as the best to the resolution, of which two steps may follow each other.
    EXPECT_GE(faithful.faithfulness, at.faithfulness - 2e-7);
    EXPECT_LE(stable.avg_sensitivity, at.avg_sensitivity + 2e-7);
    EXPECT_LE(simple.complexity, at.complexity + 2e-7);
  }
  picked("knee");
}

// Placed members: the flag is whether some mixture of the front is at least as good in everything and better in one.
TEST(Pareto, MembersArePlaced) {
  MemberTrial trial = plain_trial(3, 12, 30, 4, 8);
  const Made made = front_by(":points=300:subset=2", trial);
  for (size_t j = 0; j < 3; j++) {
    const TradeOff own = evaluated(trial, weights_at(3, j));
    const std::vector<double>& row = made.combined.tables.at(1).rows.at(j);
    EXPECT_NEAR(row[0], own.faithfulness, 1e-9);
    EXPECT_NEAR(row[1], own.avg_sensitivity, 1e-6);
    EXPECT_NEAR(row[2], own.complexity, 1e-12);
    bool beaten = false;
    for (size_t k = 0; k < made.combined.tables[0].rows.size(); k++) {
      const TradeOff at = criteria_in(made, k);
      beaten = beaten || (at.faithfulness >= row[0] && at.avg_sensitivity <= row[1] && at.complexity <= row[2] &&
                          (at.faithfulness > row[0] || at.avg_sensitivity < row[1] || at.complexity < row[2]));
    }
    EXPECT_EQ(row[3], beaten ? 1 : 0);
  }
}

// The other aggregates come from the table of all. The mean is the mixture of equal weights, and so has its criteria;
// whatever is a mixture cannot be far ahead of the front.
TEST(Pareto, OtherAggregatesArePlaced) {
  MemberTrial trial = plain_trial(2, 10, 25, 4, 8);
  trial.pool_targets = trial.setting->targets;
  trial.pool_targets->of_row.assign(25, trial.setting->targets.of_row[0]);
  const Made made = combined_by("pareto", ":points=200:subset=2", trial);
  const ScoreTable& placed = made.combined.tables.at(1);
  ASSERT_EQ(placed.labels.size(), placed.rows.size());
  const auto row_of = [&](const std::string& name) -> std::vector<double> {
    for (size_t i = 0; i < placed.labels.size(); i++) {
      if (placed.labels[i] == name) return placed.rows[i];
    }
    ADD_FAILURE() << name << " is not placed";
    return {NAN, NAN, NAN, NAN};
  };
  const TradeOff expected = evaluated(trial, std::vector<double>{0.5, 0.5});
  const std::vector<double> mean = row_of("mean");
  EXPECT_NEAR(mean[0], expected.faithfulness, 1e-6);
  EXPECT_NEAR(mean[1], expected.avg_sensitivity, 1e-6);
  EXPECT_NEAR(mean[2], expected.complexity, 1e-6);
  for (const AggregatorInfo& info : aggregators()) {
    const bool left_out = info.name == "pareto" || info.name == "ava";
    EXPECT_EQ(std::ranges::count(placed.labels, info.name), left_out ? 0 : 1) << info.name;
  }
}

TEST(Pareto, SlowAggregatesOfManyPlayersAreNotPlaced) {
  for (const size_t players : {100U, 101U}) {
    MemberTrial trial = plain_trial(2, 3, 8, players, 5);
    trial.pool_targets = trial.setting->targets;
    trial.pool_targets->of_row.assign(8, trial.setting->targets.of_row[0]);
    const Made made = combined_by("pareto", ":points=20:samples=50", trial);
    const ScoreTable& placed = made.combined.tables.at(1);
    for (const std::string name : {"kemeny_young", "minimum_complexity"}) {
      const auto notes = std::ranges::count(
          made.combined.notes, fmt::format("{} is not placed: it takes too long with more than 100 players", name));
      EXPECT_EQ(notes, players == 101 ? 1 : 0);
      EXPECT_EQ(std::ranges::count(placed.labels, name), players == 101 ? 0 : 1) << name;
    }
    EXPECT_EQ(std::ranges::count(placed.labels, "borda"), 1);
  }
}

TEST(Pareto, DegenerateMembers) {
  // Zeros, ties and opposites among the rows: nothing fails, and the means are over the rows that all members have.
  for (uint64_t seed = 0; seed < 20; seed++) {
    MemberTrial trial = random_with_pool(1 + seed % 4, 20, 40, 5, seed);
    const Made made = front_by(":points=100:subset=2", trial);
    ASSERT_FALSE(made.combined.tables.at(0).rows.empty());
    double total = 0;
    for (const double each : weights_of_row(made, 0)) total += each;
    EXPECT_EQ(total, 1);
    for (size_t r = 0; r < 20; r++) EXPECT_TRUE(std::isfinite(made.values(r, 0)));
  }
  // One member, and equal ones: a single point.
  MemberTrial one = plain_trial(1, 8, 20, 4, 2);
  EXPECT_EQ(front_by(":subset=2", one).combined.tables.at(0).rows.size(), 1U);
  MemberTrial equal = plain_trial(1, 8, 20, 4, 2);
  equal.members.push_back(equal.members[0]);
  equal.pool_members.push_back(equal.pool_members[0]);
  EXPECT_EQ(front_by(":subset=2", equal).combined.tables.at(0).rows.size(), 1U);
  // No neighbours at all: sensitivity is undefined and does not count.
  MemberTrial alone = plain_trial(2, 8, 20, 4, 2);
  const Made made = front_by(":subset=2:radius=0", alone);
  EXPECT_TRUE(std::isnan(criteria_in(made, 0).avg_sensitivity));
  // Opposite members cancel halfway: that mixture has no place.
  MemberTrial opposite = plain_trial(1, 8, 20, 4, 2);
  Explanations minus = opposite.members[0];
  for (float& each : minus.values.values()) each = -each;
  Matrix pool(20, 4);
  for (size_t r = 0; r < 20; r++) {
    for (size_t p = 0; p < 4; p++) pool(r, p) = -opposite.pool_members[0].values()(r, p);
  }
  opposite.members.push_back(std::move(minus));
  opposite.pool_members.emplace_back(std::move(pool));
  const Made cancelled = front_by(":subset=2:points=4", opposite);
  EXPECT_EQ(cancelled.combined.notes.at(3),
            "4 mixtures tried, 1 of them on the front; 1 left out: members cancel on some row");
}

TEST(Pareto, RefusesWhatFaithfulnessRefuses) {
  MemberTrial trial = plain_trial(2, 5, 10, 3, 4);
  const auto refusal = [&](const std::string& options) {
    return make_aggregator("pareto" + options)->refuses(trial.task());
  };
  EXPECT_EQ(refusal(":subset=2"), std::nullopt);
  EXPECT_EQ(refusal(":subset=3"), "needs a subset smaller than the 3 players, and subset is 3");
}

TEST(Pareto, SameBitsOnAllThreads) {
  MemberTrial trial = random_with_pool(3, 40, 80, 5, 4);
  expect_same_aggregate_on_threads("pareto", ":others=false:points=200:subset=2", trial);
}

}  // namespace
}  // namespace assay::testing
