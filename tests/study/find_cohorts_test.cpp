// Groups of a study made by hand: every number against its own computation.
#include "assay/study/find_cohorts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "assay/core/random.h"
#include "assay/study/cohort_tests.h"
#include "tests/message.h"
#include "tests/study/hand_study.h"

namespace assay {
namespace {

using testing::add_entry;
using ::testing::HasSubstr;
using testing::study_of_aims;

constexpr size_t kRows = 100;
constexpr size_t kWomen = 40;  // the first rows; the explanation is worse and the model wrong more often there

// A model of two classes whose margin is its first feature; rows of three features.
struct Hand {
  Dataset data;
  std::unique_ptr<Model> model;
  Players players;
  Targets targets;
  Study study;
  Advice advice;
  RowColumn sex;

  explicit Hand(bool classes = true) {
    ModelInfo info;
    info.name = "toy";
    info.unit = classes ? OutputUnit::margin : OutputUnit::value;
    info.margin_link = MarginLink::sigmoid;
    info.feature_names = {"a", "b", "c"};
    info.output_names = {"margin"};
    if (classes) info.class_names = {"no", "yes"};
    model = model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> out) {
      for (size_t r = 0; r < rows.rows(); r++) out(r, 0) = rows(r, 0);
    });
    data.feature_names = info.feature_names;
    for (size_t c = 0; c < 3; c++) data.groups.push_back({.name = info.feature_names[c], .first = c});
    data.x = Matrix(kRows, 3);
    data.label_name = "approved";
    if (classes) data.class_names = {"no", "yes"};
    study = study_of_aims(kRows);
    study.facts.features = info.feature_names;
    std::vector<double> faithfulness;
    std::vector<double> stability;
    Matrix values(kRows, 3);
    sex = {.name = "sex", .kind = ColumnKind::categorical, .levels = {"f", "m"}};
    for (size_t row = 0; row < kRows; row++) {
      RandomStream random(11, "a study by hand", 0, static_cast<uint32_t>(row));
      const bool woman = row < kWomen;
      for (size_t c = 0; c < 3; c++) data.x(row, c) = static_cast<float>(4 * random.uniform() - 2);
      const bool positive = data.x(row, 0) > 0;
      const bool wrong = woman ? row % 4 == 0 : row % 20 == 0;
      data.labels.push_back(classes ? static_cast<float>(positive != wrong)
                                    : data.x(row, 0) +
                                          static_cast<float>(woman ? 2 : 0.5) * static_cast<float>(random.uniform()));
      faithfulness.push_back((woman ? 0.7 : 0.95) + 0.05 * random.uniform());
      stability.push_back(row == 50 ? NAN : 0.2 + 0.1 * random.uniform());
      values(row, 0) = data.x(row, 0);
      values(row, 1) = static_cast<float>(woman ? 2 : 0.2) * static_cast<float>(random.uniform());
      values(row, 2) = static_cast<float>(0.1 * random.uniform());
      sex.values.push_back(woman ? 0 : 1);
    }
    StudyEntry& entry =
        add_entry(study, "tree_shap", EntryKind::method, {faithfulness, stability, std::vector<double>(kRows, 1)});
    entry.explanations.values = std::move(values);
    entry.explanations.features = info.feature_names;
    for (size_t row = 0; row < kRows; row++) entry.explanations.output.push_back(data.x(row, 0));
    players = column_players(info.feature_names);
    targets = freeze_targets(*model, data.x.view(), {.which = classes ? 1U : 0U}, {});
    advice.overall = Recommendation{.entry = 0, .criterion = 0};
    for (size_t p = 0; p < 3; p++) {
      Driver driver{.player = p};
      for (size_t row = 0; row < kRows; row++) driver.size += std::fabs(entry.explanations.values(row, p)) / kRows;
      advice.drivers.push_back(driver);
    }
  }

  Subject subject() const { return {.model = model.get(), .rows = &data, .players = &players, .targets = &targets}; }
  StudyCohorts found(const CohortWish& wish, const Context& context = {}) const {
    return find_cohorts(study, advice, subject(), wish, context);
  }
  StudyCohorts by_sex() const { return found({.named = true, .columns = {sex}}); }
};

std::vector<size_t> range(size_t begin, size_t end) {
  std::vector<size_t> rows(end - begin);
  std::iota(rows.begin(), rows.end(), begin);
  return rows;
}

const CohortDifference& difference(const Cohort& cohort, CohortMeasure measure, size_t player = 0) {
  const auto found = std::ranges::find_if(cohort.differences, [&](const CohortDifference& each) {
    return each.measure == measure && each.player.value_or(player) == player;
  });
  if (found == cohort.differences.end()) throw std::out_of_range("no such difference");
  return *found;
}

TEST(FindCohorts, MeansAndShares) {
  const Hand hand;
  const StudyCohorts made = hand.by_sex();
  ASSERT_EQ(made.columns.size(), 1);
  ASSERT_EQ(made.columns[0].cohorts.size(), 2);
  const Cohort& women = made.columns[0].cohorts[0];
  EXPECT_EQ(women.name, "f");
  EXPECT_EQ(women.rows, kWomen);
  EXPECT_EQ(made.columns[0].cohorts[1].rows, kRows - kWomen);
  EXPECT_EQ(made.columns[0].cohorts[1].stability.rows, kRows - kWomen - 1);  // one row has no score
  const std::vector<double>& scores = hand.study.entries[0].scores[0].values;
  double mean = 0;
  double output = 0;
  double probability = 0;
  double parts[3] = {0, 0, 0};
  for (size_t row = 0; row < kWomen; row++) {
    mean += scores[row] / kWomen;
    output += hand.data.x(row, 0) / static_cast<double>(kWomen);
    probability += 1 / (1 + std::exp(-static_cast<double>(hand.data.x(row, 0)))) / kWomen;
    for (size_t p = 0; p < 3; p++) parts[p] += std::fabs(hand.study.entries[0].explanations.values(row, p));
  }
  EXPECT_NEAR(women.faithfulness.mean, mean, 1e-12);
  double squares = 0;
  for (size_t row = 0; row < kWomen; row++) squares += (scores[row] - mean) * (scores[row] - mean);
  EXPECT_NEAR(women.faithfulness.error, std::sqrt(squares / (kWomen - 1) / kWomen), 1e-12);
  EXPECT_NEAR(women.mean_output, output, 1e-12);
  EXPECT_NEAR(women.mean_probability, probability, 1e-12);
  ASSERT_EQ(women.drivers.size(), 3);
  for (const CohortDriver& driver : women.drivers) {
    EXPECT_NEAR(driver.share, parts[driver.player] / (parts[0] + parts[1] + parts[2]), 1e-12);
  }
  EXPECT_GE(women.drivers[0].share, women.drivers[1].share);
}

TEST(FindCohorts, QualityIsThatOfAStudyOfTheseRowsAlone) {
  for (const bool classes : {true, false}) {
    const Hand hand(classes);
    const StudyCohorts made = hand.by_sex();
    for (const size_t which : {0, 1}) {
      const Dataset alone = select_rows(hand.data, which == 0 ? range(0, kWomen) : range(kWomen, kRows));
      Subject subject = hand.subject();
      subject.rows = &alone;
      const ModelQuality expected = model_quality(subject, {});
      const ModelQuality& quality = made.columns[0].cohorts[which].quality;
      EXPECT_EQ(quality.labelled, expected.labelled);
      const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
      EXPECT_TRUE(same(quality.accuracy, expected.accuracy));
      EXPECT_TRUE(same(quality.accuracy_interval.low, expected.accuracy_interval.low));
      EXPECT_TRUE(same(quality.auc, expected.auc));
      EXPECT_TRUE(same(quality.auc_interval.high, expected.auc_interval.high));
      EXPECT_TRUE(same(quality.log_loss, expected.log_loss));
      EXPECT_TRUE(same(quality.calibration_error, expected.calibration_error));
      EXPECT_TRUE(same(quality.rmse, expected.rmse));
      EXPECT_TRUE(same(quality.rmse_interval.low, expected.rmse_interval.low));
      EXPECT_TRUE(same(quality.r2_interval.high, expected.r2_interval.high));
      EXPECT_EQ(std::isnan(quality.rmse), classes);
    }
  }
  // By hand: every fourth of 40 women is wrong.
  EXPECT_DOUBLE_EQ(Hand().by_sex().columns[0].cohorts[0].quality.accuracy, 0.75);
}

// Holm (1979): of m p-values in order, the i-th times (m - i + 1), never below the one before, at most 1.
std::vector<double> holm_by_hand(std::vector<double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return p[i]; });
  std::vector<double> made(p.size());
  double largest = 0;
  for (size_t i = 0; i < order.size(); i++) {
    largest = std::max(largest, std::min(1.0, static_cast<double>(p.size() - i) * p[order[i]]));
    made[order[i]] = largest;
  }
  return made;
}

TEST(FindCohorts, AllTestsAreOneFamily) {
  const Hand hand;
  RowColumn thirds{.name = "third", .kind = ColumnKind::categorical, .levels = {"x", "y", "z"}};
  for (size_t row = 0; row < kRows; row++) thirds.values.push_back(static_cast<double>(row % 3));
  const StudyCohorts made = hand.found({.named = true, .prediction = true, .columns = {hand.sex, thirds}});
  ASSERT_EQ(made.columns.size(), 3);
  EXPECT_EQ(made.columns[0].cut, CohortCut::prediction);
  // By sex: two groups, which are one comparison by 6 measures. By third: three by 6. Of predictions, 13 are wrong: too
  // few.
  EXPECT_EQ(made.tests, 6 + 3 * 6);
  std::vector<double> family;
  std::vector<double> corrected;
  for (size_t c = 1; c < 3; c++) {
    const std::vector<Cohort>& cohorts = made.columns[c].cohorts;
    for (size_t k = 0; k < (c == 1 ? 1 : 3); k++) {
      for (const CohortDifference& each : cohorts[k].differences) {
        family.push_back(each.p_value);
        corrected.push_back(each.corrected);
        EXPECT_EQ(each.different, each.corrected < 0.05);
      }
    }
  }
  ASSERT_EQ(family.size(), made.tests);
  const std::vector<double> expected = holm_by_hand(family);
  for (size_t i = 0; i < family.size(); i++) EXPECT_DOUBLE_EQ(corrected[i], expected[i]);
  // The second of two groups has the tests of the first, the other way round.
  const std::vector<Cohort>& sexes = made.columns[1].cohorts;
  for (size_t d = 0; d < sexes[0].differences.size(); d++) {
    EXPECT_DOUBLE_EQ(sexes[1].differences[d].difference, -sexes[0].differences[d].difference);
    EXPECT_EQ(sexes[1].differences[d].corrected, sexes[0].differences[d].corrected);
  }
}

TEST(FindCohorts, FindsWhatDiffersAndNothingElse) {
  const Hand hand;
  const Cohort women = hand.by_sex().columns[0].cohorts[0];
  EXPECT_TRUE(women.different());
  const CohortDifference& faithfulness = difference(women, CohortMeasure::faithfulness);
  EXPECT_TRUE(faithfulness.different);
  EXPECT_NEAR(faithfulness.difference, -0.25, 0.02);
  EXPECT_FALSE(difference(women, CohortMeasure::stability).different);
  EXPECT_TRUE(difference(women, CohortMeasure::driver, 1).different);
  EXPECT_GT(difference(women, CohortMeasure::driver, 1).difference, 0.2);
  // 30 of 40 against 57 of 60, by counting.
  const CohortDifference& accuracy = difference(women, CohortMeasure::accuracy);
  EXPECT_DOUBLE_EQ(accuracy.p_value, fisher_test(30, 40, 57, 60).p_value);
  EXPECT_TRUE(std::isnan(accuracy.error));
  // For numbers, squared errors take the place of accuracy.
  const Cohort numbers = Hand(false).by_sex().columns[0].cohorts[0];
  EXPECT_TRUE(difference(numbers, CohortMeasure::squared_error).different);
  EXPECT_THROW(difference(numbers, CohortMeasure::accuracy), std::out_of_range);
}

// Under the null, even one `different` must be rare: at most 5 % of studies, and 400 studies have an error of 1.1 %.
TEST(FindCohorts, FalseAlarmsAreAtMostFivePercent) {
  Hand hand;
  size_t alarms = 0;
  constexpr uint32_t kStudies = 400;
  for (uint32_t study = 0; study < kStudies; study++) {
    RandomStream random(17, "groups at random", 0, study);
    RowColumn groups{.name = "group", .kind = ColumnKind::categorical, .levels = {"x", "y", "z"}};
    for (size_t row = 0; row < kRows; row++) groups.values.push_back(static_cast<double>(random.below(3)));
    const StudyCohorts made = hand.found({.named = true, .columns = {groups}});
    alarms += std::ranges::any_of(made.columns[0].cohorts, &Cohort::different) ? 1 : 0;
  }
  EXPECT_LE(alarms, static_cast<size_t>(kStudies * (0.05 + 3 * 0.011)));
}

TEST(FindCohorts, SmallGroupsAreShownWithoutATest) {
  const Hand hand;
  RowColumn rare = hand.sex;
  for (size_t row = 0; row < kRows; row++) rare.values[row] = row < 29 ? 0 : 1;
  const StudyCohorts made = hand.found({.named = true, .columns = {rare}});
  EXPECT_EQ(made.tests, 0);
  EXPECT_EQ(made.columns[0].cohorts[0].not_tested, "fewer than 30 rows");
  EXPECT_EQ(made.columns[0].cohorts[1].not_tested, "fewer than 30 other rows");
  EXPECT_EQ(made.columns[0].cohorts[0].rows, 29);
  EXPECT_FALSE(std::isnan(made.columns[0].cohorts[0].quality.accuracy));
  rare.values[29] = 0;
  const StudyCohorts enough = hand.found({.named = true, .columns = {rare}});
  EXPECT_EQ(enough.tests, 6);
  for (const Cohort& cohort : enough.columns[0].cohorts) {
    EXPECT_EQ(cohort.not_tested, "");
    EXPECT_EQ(cohort.differences.size(), 6);
  }
}

TEST(FindCohorts, WhatDiffersByDefinitionIsNotTested) {
  Hand hand;
  // Groups by a feature say nothing of that feature's own share.
  RowColumn halves{.name = "a", .kind = ColumnKind::categorical, .levels = {"low", "high"}};
  for (size_t row = 0; row < kRows; row++) halves.values.push_back(row % 2 == 0 ? 0 : 1);
  const StudyCohorts by_feature = hand.found({.named = true, .columns = {halves}});
  EXPECT_EQ(by_feature.tests, 5);
  for (const Cohort& cohort : by_feature.columns[0].cohorts) {
    EXPECT_THROW(difference(cohort, CohortMeasure::driver, 0), std::out_of_range);
    EXPECT_NO_THROW(difference(cohort, CohortMeasure::driver, 1));
  }
  // Nor do right and wrong predictions of accuracy.
  for (size_t row = 0; row < kRows; row += 2) hand.data.labels[row] = 1 - hand.data.labels[row];
  const StudyCohorts by_prediction = hand.found({.named = true, .prediction = true});
  EXPECT_EQ(by_prediction.tests, 5);
  for (const Cohort& cohort : by_prediction.columns[0].cohorts) {
    EXPECT_GE(cohort.rows, kLeastCohortRows);
    EXPECT_THROW(difference(cohort, CohortMeasure::accuracy), std::out_of_range);
    EXPECT_NO_THROW(difference(cohort, CohortMeasure::faithfulness));
  }
}

TEST(FindCohorts, DefaultsArePredictionAndTheTwoMainDrivers) {
  const Hand hand;
  const StudyCohorts made = hand.found({});
  EXPECT_FALSE(made.named);
  ASSERT_EQ(made.columns.size(), 3);
  EXPECT_EQ(made.columns[0].name, "prediction");
  EXPECT_EQ(made.columns[0].cohorts[0].rows, 87);
  EXPECT_EQ(made.columns[0].cohorts[0].quality.accuracy, 1);
  EXPECT_EQ(made.columns[0].cohorts[1].quality.accuracy, 0);
  EXPECT_EQ(made.columns[1].name, "a");
  EXPECT_EQ(made.columns[1].cut, CohortCut::quantiles);
  EXPECT_EQ(made.columns[2].name, "b");
  for (const Cohort& cohort : made.columns[1].cohorts) EXPECT_EQ(cohort.rows, 25);
  EXPECT_EQ(Hand(false).found({}).columns.size(), 2);  // a number is neither right nor wrong
  Hand unlabelled;
  unlabelled.data.labels.clear();
  EXPECT_EQ(unlabelled.found({}).columns.size(), 2);
  unlabelled.advice = {};  // nothing is recommended
  EXPECT_EQ(unlabelled.found({}).columns.size(), 0);
  Hand silent;
  silent.advice = {};
  const StudyCohorts without = silent.by_sex();
  EXPECT_EQ(without.columns[0].cohorts[0].faithfulness.rows, 0);
  EXPECT_TRUE(without.columns[0].cohorts[0].drivers.empty());
  EXPECT_EQ(without.tests, 1);  // of accuracy
}

TEST(FindCohorts, ByLabel) {
  const Hand hand;
  const StudyCohorts made = hand.found({.named = true, .label = true});
  EXPECT_EQ(made.columns[0].name, "approved");
  EXPECT_EQ(made.columns[0].cohorts[0].name, "no");
  EXPECT_TRUE(std::isnan(made.columns[0].cohorts[0].quality.auc));  // one class alone
}

TEST(FindCohorts, SameBitsOnAnyThreads) {
  const Hand hand;
  const StudyCohorts one = hand.found({}, {.threads = 1});
  const StudyCohorts four = hand.found({}, {.threads = 4});
  for (size_t c = 0; c < one.columns.size(); c++) {
    for (size_t k = 0; k < one.columns[c].cohorts.size(); k++) {
      const Cohort& a = one.columns[c].cohorts[k];
      const Cohort& b = four.columns[c].cohorts[k];
      EXPECT_EQ(a.faithfulness.mean, b.faithfulness.mean);
      EXPECT_EQ(a.mean_probability, b.mean_probability);
      ASSERT_EQ(a.differences.size(), b.differences.size());
      for (size_t d = 0; d < a.differences.size(); d++)
        EXPECT_EQ(a.differences[d].corrected, b.differences[d].corrected);
    }
  }
}

TEST(FindCohorts, RefusesWhatNeedsLabels) {
  Hand hand;
  hand.data.labels.clear();
  EXPECT_THAT(
      sentence([&] { check_cohort_wish("--cohort", {.named = true, .prediction = true}, hand.subject()); }),
      HasSubstr("--cohort: expected a model of classes and rows with labels for 'prediction', found no labels"));
  EXPECT_THAT(sentence([&] { check_cohort_wish("--cohort", {.named = true, .label = true}, hand.subject()); }),
              HasSubstr("expected rows with labels for 'label', found none"));
  const Hand numbers(false);
  EXPECT_THAT(sentence([&] { check_cohort_wish("--cohort", {.named = true, .prediction = true}, numbers.subject()); }),
              HasSubstr("found a model without classes"));
}

}  // namespace
}  // namespace assay
