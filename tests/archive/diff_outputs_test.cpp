// What two studies say about predictions and drivers, and which scores they do not compare.
#include "assay/archive/diff_outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "assay/archive/diff.h"
#include "assay/evaluate/criteria.h"
#include "tests/archive/study_folders.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// One entry, scored by a correlation, a distance of explanations and a sum in the output's unit.
Study scaled_study(const std::string& unit, const std::string& target, const std::string& reference,
                   const std::string& normalise = "raw") {
  Study study;
  study.facts.title = "m.onnx on rows.csv";
  study.facts.data = "all rows of rows.csv";
  study.facts.rows = study.facts.rows_available = 4;
  study.facts.version = "1.0";
  study.facts.vector_target = "AVX2";
  study.facts.unit = unit;
  study.facts.target = target;
  study.facts.reference = reference;
  study.facts.inputs = {{"data", "rows.csv", std::string(64, 'a')}, {"pool", "pool.csv", std::string(64, 'c')}};
  study.criteria = study.criterion_names = {"faithfulness", "max_sensitivity", "compatibility"};
  study.directions = {Direction::higher, Direction::lower, Direction::lower};
  study.entries.push_back(entry_of("k", study, {old_values(), old_values(), old_values()}));
  study.entries[0].scores[1].options = {{"distance", "l2"}, {"normalise", normalise}};
  return study;
}

std::vector<std::string> compared(const StudyDiff& diff) {
  std::vector<std::string> names;
  for (const ScoreChange& score : diff.scores) names.push_back(score.criterion_spec);
  return names;
}
std::vector<std::string> left_out(const StudyDiff& diff) {
  std::vector<std::string> names;
  for (const NotCompared& each : diff.not_compared) names.push_back(each.criterion);
  return names;
}

TEST_F(Folders, PoolsOfOneNameAndOtherRowsAreOtherReferences) {
  const Study before = scaled_study("margin", "1", "100 rows of pool.csv");
  Study after = before;
  EXPECT_THAT(left_out(diff(before, after)), IsEmpty());
  after.facts.inputs[1].sha256 = std::string(64, 'd');
  EXPECT_THAT(left_out(diff(before, after)), ElementsAre("max_sensitivity", "compatibility"));
  EXPECT_EQ(diff(before, after).not_compared[0].reason,
            "the rows that stand for absent features come from tables with other contents");
  // So is a file of background rows.
  Study given = scaled_study("margin", "1", "20 rows of ref.csv");
  given.facts.inputs.push_back({"background", "ref.csv", std::string(64, 'e')});
  Study other = given;
  other.facts.inputs.back().sha256 = std::string(64, 'f');
  EXPECT_THAT(left_out(diff(given, other)), ElementsAre("max_sensitivity", "compatibility"));
  // A reference that is not from the pool does not change with it.
  Study zero = before;
  zero.facts.reference = after.facts.reference = "zero";
  EXPECT_THAT(left_out(diff(zero, after)), IsEmpty());
}

// A column that only the second study has is the largest there: it is listed, and pushes the others down.
TEST(DriverChanges, PlayersOfOneStudyAloneAreListedAndRanked) {
  Explanations before;
  before.features = {"a", "b", "gone"};
  before.values = Matrix(2, 3);
  Explanations after;
  after.features = {"b", "new", "a"};
  after.values = Matrix(2, 3);
  for (size_t r = 0; r < 2; r++) {
    std::ranges::copy(std::vector<float>{6, 3, 1}, before.values.row(r).begin());
    std::ranges::copy(std::vector<float>{2, 5, 3}, after.values.row(r).begin());
  }
  const DriverChanges found = driver_changes("m", before, after, true);
  EXPECT_FALSE(found.same_players);
  ASSERT_EQ(found.players.size(), 4U);
  const std::vector<std::string> names = {"a", "b", "gone", "new"};
  const std::vector<std::pair<size_t, size_t>> ranks = {{1, 2}, {2, 3}, {3, 0}, {0, 1}};
  for (size_t i = 0; i < 4; i++) {
    EXPECT_EQ(found.players[i].player, names[i]);
    EXPECT_EQ(std::pair(found.players[i].rank_before, found.players[i].rank_after), ranks[i]) << names[i];
  }
  EXPECT_NEAR(found.players[3].after, 0.5, 1e-6);
  EXPECT_TRUE(std::isnan(found.players[3].before) && std::isnan(found.players[2].after));
  EXPECT_TRUE(driver_changes("m", before, before, true).same_players);
}

TEST_F(Folders, EntropiesOfOtherPlayersAreNotCompared) {
  Study before = scaled_study("margin", "1", "zero");
  before.criteria[0] = before.criterion_names[0] = before.entries[0].scores[0].criterion = "complexity";
  Study after = before;
  after.facts.inputs.push_back({"groups", "g.json", std::string(64, 'b')});
  const StudyDiff found = diff(before, after);
  EXPECT_THAT(left_out(found), ElementsAre("complexity", "max_sensitivity", "compatibility"));
  EXPECT_EQ(found.not_compared[0].reason, "the features or groups of the two studies are not the same");
}

TEST(PredictionChanges, OtherNamesOfClassesAreNoOtherClasses) {
  Explanations before;
  before.values = Matrix(2, 1);
  before.output = {1, 2};
  before.target = {0, 1};
  before.target_names = {"0", "1"};
  before.provenance.target = kPredictedTarget;
  Explanations after = before;
  after.target = {1, 1};
  EXPECT_TRUE(prediction_changes(before, after).classes);
  EXPECT_EQ(prediction_changes(before, after).other_class, 1U);
  after.target_names = {"no", "yes"};
  EXPECT_FALSE(prediction_changes(before, after).classes);
  EXPECT_EQ(prediction_changes(before, after).other_class, 0U);
}

TEST_F(Folders, ScoresWithAScaleAreNotComparedAcrossUnits) {
  const StudyDiff found = diff(scaled_study("margin", "1", "mean"), scaled_study("probability", "1", "mean"));
  EXPECT_THAT(compared(found), ElementsAre("faithfulness"));
  EXPECT_THAT(left_out(found), ElementsAre("max_sensitivity", "compatibility"));
  EXPECT_EQ(found.not_compared[0].reason, "one study explains margins and the other probabilities");
  EXPECT_FALSE(something_worse(found));
  // Unit vectors have no scale.
  const StudyDiff unit =
      diff(scaled_study("margin", "1", "mean", "unit"), scaled_study("probability", "1", "mean", "unit"));
  EXPECT_THAT(compared(unit), ElementsAre("faithfulness", "max_sensitivity"));
  const StudyDiff half = diff(scaled_study("margin", "1", "mean", "unit"), scaled_study("log_odds", "1", "mean"));
  EXPECT_THAT(left_out(half), ElementsAre("max_sensitivity", "compatibility")) << "one of the two has a scale";
}

TEST_F(Folders, NorAcrossTargetsAndReferences) {
  const StudyDiff targets = diff(scaled_study("margin", "good", "mean"), scaled_study("margin", "bad", "mean"));
  EXPECT_EQ(targets.not_compared[0].reason, "one explains good and the other bad");
  const StudyDiff references = diff(scaled_study("margin", "1", "mean"), scaled_study("margin", "1", "zero"));
  EXPECT_EQ(references.not_compared[0].reason, "absent features are mean in one and zero in the other");
  const StudyDiff same = diff(scaled_study("margin", "1", "mean"), scaled_study("margin", "1", "mean"));
  EXPECT_THAT(left_out(same), IsEmpty());
  EXPECT_EQ(same.scores.size(), 3U);
  // The same pool, moved.
  Study moved = scaled_study("margin", "1", "the mean of elsewhere/pool.csv");
  moved.facts.inputs[1].name = "elsewhere/pool.csv";
  EXPECT_THAT(left_out(diff(scaled_study("margin", "1", "the mean of pool.csv"), moved)), IsEmpty());
}

TEST(ScaleDependent, FollowsTheOptions) {
  EXPECT_FALSE(scale_dependent({"faithfulness"}));
  EXPECT_FALSE(scale_dependent({"complexity"}));
  EXPECT_FALSE(scale_dependent({"no_such_criterion"}));
  for (const char* name : {"compatibility", "deletion", "addition", "infidelity", "insertion_auc"}) {
    EXPECT_TRUE(scale_dependent({name})) << name;
  }
  EXPECT_TRUE(scale_dependent({"max_sensitivity", {{"normalise", "raw"}}}));
  EXPECT_FALSE(scale_dependent({"max_sensitivity", {{"normalise", "unit"}}}));
  EXPECT_FALSE(scale_dependent({"avg_sensitivity", {{"normalise", "raw"}, {"distance", "cosine"}}}));
  EXPECT_FALSE(scale_dependent({"separability", {{"distance", "l0"}}}));
  EXPECT_FALSE(scale_dependent({"max_sensitivity_yeh", {{"over", "explanation"}}}));
}

Explanations said(const std::vector<double>& outputs, const std::vector<uint32_t>& targets, const std::string& unit,
                  const std::string& target) {
  Explanations made;
  made.values = Matrix(outputs.size(), 1);
  made.features = {"a"};
  made.output = outputs;
  made.target = targets;
  made.target_names = {"no", "yes"};
  made.provenance.unit = unit;
  made.provenance.target = target;
  return made;
}

TEST(DiffOutputs, CountsRowsOfAnotherClass) {
  const std::string predicted(kPredictedTarget);
  const PredictionChanges rows = prediction_changes(said({1, 2, 3}, {0, 1, 1}, "margin", predicted),
                                                    said({2, 5, 3}, {1, 1, 1}, "margin", predicted));
  EXPECT_TRUE(rows.classes);
  EXPECT_EQ(rows.rows, 3U);
  EXPECT_EQ(rows.other_class, 1U);
  EXPECT_EQ(rows.same_target, 2U) << "the output of another class is no change of the same output";
  EXPECT_EQ(rows.mean_change, 1.5);
  EXPECT_EQ(rows.mean_size, 2.5);
  // The second of two classes by its probability; the first by the same outputs.
  const PredictionChanges shares = prediction_changes(said({0.4, 0.9}, {1, 1}, "probability", "yes"),
                                                      said({0.6, 0.8}, {1, 1}, "probability", "yes"));
  EXPECT_EQ(shares.other_class, 1U);
  EXPECT_NEAR(shares.mean_change, 0.15, 1e-12);
  const PredictionChanges turned =
      prediction_changes(said({0.4, 0.9}, {1, 1}, "probability", "yes"), said({0.4, 0.2}, {0, 0}, "probability", "no"));
  EXPECT_EQ(turned.other_class, 1U) << "0.4 of yes is no, and 0.4 of no is yes; 0.9 of yes and 0.2 of no are both yes";
  EXPECT_EQ(turned.same_target, 0U);
  EXPECT_TRUE(std::isnan(turned.mean_change));
  // A margin may be one of two, and does not tell the class.
  EXPECT_FALSE(prediction_changes(said({1}, {1}, "margin", "yes"), said({1}, {1}, "margin", "yes")).classes);
  // Log-odds and probabilities tell the class alike, and have no common unit.
  const PredictionChanges units =
      prediction_changes(said({0.6}, {1}, "probability", "yes"), said({0.3}, {1}, "log_odds", "yes"));
  EXPECT_TRUE(units.classes);
  EXPECT_EQ(units.other_class, 0U);
  EXPECT_EQ(units.same_target, 0U);
}

Explanations attributed(const std::vector<std::string>& players, const std::vector<std::vector<float>>& rows) {
  Explanations made;
  made.features = players;
  made.values = Matrix(rows.size(), players.size());
  for (size_t r = 0; r < rows.size(); r++) std::ranges::copy(rows[r], made.values.row(r).begin());
  return made;
}

TEST(DiffOutputs, RanksDriversByTheirShareOfEachRow) {
  // Shares of a: 3/4, 1/2, 1, then 1/4, 1/4, 1/2: differences -1/2, -1/4, -1/2. Mean -5/12, variance 1/48, standard
  // error sqrt(1/144) = 1/12, so t = -5 with 2 degrees of freedom: p = 1 - 5 / sqrt(27). Row 4 has no share.
  const Explanations before = attributed({"a", "b"}, {{-3, 1}, {2, -2}, {1, 0}, {0, 0}});
  const Explanations after = attributed({"b", "a"}, {{300, 100}, {3, -1}, {-7, 7}, {1, 1}});
  const DriverChanges found = driver_changes("k", before, after, true);
  ASSERT_EQ(found.players.size(), 2U);
  const DriverChange& a = found.players[0];
  EXPECT_EQ(a.player, "a");
  EXPECT_NEAR(a.before, 0.75, 1e-12);
  EXPECT_NEAR(a.after, (0.25 + 0.25 + 0.5 + 0.5) / 4, 1e-12) << "its own mean is over all its rows";
  EXPECT_EQ(a.rank_before, 1U);
  EXPECT_EQ(a.rank_after, 2U);
  EXPECT_NEAR(a.test.difference, -5.0 / 12, 1e-12);
  EXPECT_NEAR(a.test.error, 1.0 / 12, 1e-12);
  EXPECT_TRUE(a.test.paired);
  const double p = 1 - 5 / std::sqrt(27.0);
  EXPECT_NEAR(a.test.p_value, p, 1e-9);
  EXPECT_NEAR(a.adjusted_p, 2 * p, 1e-9) << "Holm over two players";
  EXPECT_EQ(found.players[1].rank_after, 1U);
  EXPECT_FALSE(driver_changes("k", before, after, false).players[0].test.paired);
  EXPECT_EQ(driver_changes("k", before, attributed({"c"}, {{1}}), true).explanation, "") << "no player in common";
}

TEST_F(Folders, DriversAreThoseOfTheMostFaithful) {
  const std::vector<Values> low = {{0, 0, 0, 0}, {1, 1, 1, 1}, {1, 1, 1, 1}};
  const std::vector<Values> high = {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}};
  const StudyDiff found = diff(study_of({low, high}), study_of({low, high}));
  EXPECT_EQ(found.drivers.explanation, "l");
  EXPECT_EQ(found.predictions.rows, 4U);
  EXPECT_EQ(found.predictions.mean_change, 0);
}

// The first screen of both shows the drivers by the entry that is recommended overall.
TEST_F(Folders, DriversAreThoseOfTheRecommended) {
  const std::vector<Values> low = {{0.5, 0.5, 0.5, 0.5}, {1, 1, 1, 1}, {1, 1, 1, 1}};
  const std::vector<Values> high = {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}};
  write("before", study_of({low, high}));
  write("after", study_of({low, high}));
  const auto drivers = [&](const std::string& before, const std::string& after) {
    StudyFolder first = opened("before");
    StudyFolder second = opened("after");
    if (!before.empty()) first.summary.recommended = {{"overall", before}, {"stability", "l"}};
    if (!after.empty()) second.summary.recommended = {{"overall", after}, {"stability", "l"}};
    return diff_studies(first, second, {}).drivers.explanation;
  };
  EXPECT_EQ(drivers("k", "k"), "k");
  EXPECT_EQ(drivers("k", "l"), "l") << "they do not agree: the best mean";
  EXPECT_EQ(drivers("k", ""), "l");
}

}  // namespace
}  // namespace assay
