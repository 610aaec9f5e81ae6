#include "assay/report/page_sentences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "assay/core/random.h"
#include "assay/report/criterion_scales.h"
#include "tests/explain/toys.h"
#include "tests/study/hand_study.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Two methods on 401 rows; "a" is faithful, "b" is not.
Study two_methods() {
  Study study = hand_study(401, {{"faithfulness", Direction::higher}, {"complexity", Direction::lower}});
  study.facts.unit = "margin";
  study.facts.target = "bad";
  study.facts.model = "credit.onnx";
  study.facts.features = {"age", "sex", "job"};
  study.facts.accuracy = NAN;
  add_entry(study, "a", EntryKind::method, {around(0.92, 0.01, 401, 1), std::vector<double>(401, 1.5)});
  add_entry(study, "b", EntryKind::method, {around(0.5, 0.01, 401, 2), std::vector<double>(401, 1)});
  study.entries[0].explanations.values = matrix_of({{1, -6, 1e-9F}, {1, -6, 1e-9F}});
  study.entries[0].explanations.evaluations = 12345;
  study.entries[0].trends = {0.2, -0.31, NAN};
  study.entries[1].explanations.values = matrix_of({{1, 1, 1}, {1, 1, 1}});
  return study;
}

TEST(PageSentences, OfASmallStudy) {
  Study study = two_methods();
  study.facts.quality.labelled = 401;
  study.facts.quality.accuracy = 300.0 / 401;
  study.facts.quality.accuracy_interval = {0.7, 0.79};
  study.facts.quality.majority = 0.6;
  const Assessment assessment = assess(study);
  ASSERT_TRUE(assessment.advice.overall);
  StudyTimes times;
  times.entries = {{"a", 0.5, 1}};
  const FactPairs said = page_sentences(study, assessment, times, assessment.advice.overall->entry);
  ASSERT_EQ(said.size(), 5);
  EXPECT_EQ(said[0].second,
            "credit.onnx predicts 75 % of 401 rows right (95 % interval: 70 % to 79 %), where always naming the "
            "largest class would "
            "get 60 %.");
  // Sizes 1, 6 and nearly 0: shares 1/7 and 6/7. A trend of 0.2 is not clear.
  EXPECT_EQ(said[1].second,
            "The score (margin) of bad is driven most by sex (86 % of the whole; higher lowers it) and age (14 %).");
  EXPECT_THAT(said[2].second, StartsWith("Use a: it follows the model closely (faithfulness 0.9"));
  EXPECT_THAT(said[2].second, HasSubstr("0 is chance, 1 is perfect). That is about following the model, not about the "
                                        "model being right. How sure: none of 1 other is as faithful. 1 is not "
                                        "faithful."));
  EXPECT_EQ(said[3].second, "Explaining these 401 rows takes 12,345 runs of the model, 31 a row, and took 0.5 s here.");
  EXPECT_THAT(said[4].second, HasSubstr("ook at the 101 rows that the model gets wrong."));
  EXPECT_THAT(said[4].second, HasSubstr("Explain the rows that you need by a,"));
  study.facts.quality.majority = 0.7;
  EXPECT_THAT(page_sentences(study, assessment, times, 0)[0].second,
              HasSubstr("get 70 %. It may be no better than that."));
  study.facts.quality.auc = 0.886;
  study.facts.quality.auc_interval = {0.45, 0.917};
  EXPECT_THAT(page_sentences(study, assessment, times, 0)[0].second, HasSubstr("It may be no better than that."));
  study.facts.quality.auc_interval.low = 0.845;
  EXPECT_THAT(
      page_sentences(study, assessment, times, 0)[0].second,
      HasSubstr("get 70 %. By that count it may be no better, but it ranks rows: its AUC is 0.886 (95 % interval: "
                "0.845 to 0.917), where chance has 0.5."));
  const FactPairs other = page_sentences(study, assessment, times, 1);
  EXPECT_THAT(other[1].second, StartsWith("By b, which is not faithful, the score (margin) of bad is driven most by "));
  EXPECT_THAT(other[2].second, HasSubstr("This page opens on another one: b, which is not faithful."));
  // Its time is not known, and it reads the model without running it.
  EXPECT_EQ(other[3].second, "Explaining these 401 rows by b takes no run of the model, whose own structure is read.");
}

TEST(PageSentences, SayWhatIsNotKnown) {
  Study study = hand_study(10, {{"complexity", Direction::lower}});
  study.facts.model = "m.onnx";
  add_entry(study, "a", EntryKind::method, {std::vector<double>(10, 1.5)});
  study.entries[0].explanations.values = matrix_of({{1, 2}});
  const FactPairs said = page_sentences(study, assess(study), {}, {});
  EXPECT_EQ(said[0].second, "It is not known how good m.onnx is: no labels fit it.");
  EXPECT_THAT(said[1].second, StartsWith("Not named"));
  EXPECT_THAT(said[2].second, StartsWith("None is recommended"));
}

TEST(PageSentences, TitleInWords) {
  StudyFacts facts;
  facts.model = "model.onnx";
  facts.pool = "iris (train part)";
  EXPECT_EQ(page_title(facts), "What drives model.onnx, and which explanation to trust");
  facts.model = "some/folder/booster.json";
  EXPECT_EQ(page_title(facts), "What drives booster.json, and which explanation to trust");
  facts.inputs = {{"model (trained)", "model.onnx", "00"}};
  EXPECT_EQ(page_title(facts), "What drives the network trained on iris (train part), and which explanation to trust");
  facts.inputs.push_back({"pool (rows)", "iris", "00"});
  EXPECT_EQ(page_title(facts), "What drives the network trained on iris, and which explanation to trust");
  facts.inputs.push_back({"pool", "some/folder/train.csv", "00"});
  EXPECT_EQ(page_title(facts), "What drives the network trained on train.csv, and which explanation to trust");
  facts.inputs.resize(1);
  facts.model = facts.pool = "a\nb\x1b[2J";
  EXPECT_THAT(page_title(facts), Not(HasSubstr("\n")));
}

TEST(PageSentences, ExplainedValueHasItsUnit) {
  StudyFacts facts;
  facts.target = "bad";
  facts.unit = "margin";
  EXPECT_EQ(explained_value(facts), "the score (margin) of bad");
  facts.unit = "probability";
  EXPECT_EQ(explained_value(facts), "the probability of bad");
  facts.unit = "value";
  EXPECT_EQ(explained_value(facts), "bad");
}

// Shares that are uniform among all that add up to 1 are exponential draws over their sum.
TEST(CriterionScales, RandomComplexityIsTheMeanOfDraws) {
  for (const size_t d : {2, 5, 20}) {
    double sum = 0;
    constexpr size_t kDraws = 20000;
    for (size_t i = 0; i < kDraws; i++) {
      RandomStream stream(7, "shares", i);
      std::vector<double> draws(d);
      double total = 0;
      for (double& draw : draws) total += draw = -std::log(1 - stream.uniform());
      for (const double draw : draws) sum -= draw / total * std::log(draw / total);
    }
    EXPECT_NEAR(random_complexity(d), sum / kDraws, 0.01) << d;
  }
  EXPECT_EQ(random_complexity(1), 0);
}

// On a circle the mean chord is 4 / pi, on a sphere 4 / 3; in many dimensions two directions are at right angles.
TEST(CriterionScales, RandomDistanceOfDirections) {
  EXPECT_NEAR(random_distance(2), 4 / 3.14159265358979, 1e-12);
  EXPECT_NEAR(random_distance(3), 4.0 / 3, 1e-12);
  EXPECT_NEAR(random_distance(100000), std::sqrt(2), 1e-4);
  EXPECT_TRUE(std::isnan(random_distance(1)));
}

TEST(CriterionScales, OfTheAims) {
  const Study study = hand_study(1, {{"faithfulness:subset=2", Direction::higher},
                                     {"avg_sensitivity:radius=0.1", Direction::lower},
                                     {"avg_sensitivity:normalise=raw", Direction::lower},
                                     {"complexity", Direction::lower},
                                     {"sparseness", Direction::higher}});
  EXPECT_EQ(criterion_scale(study, 0, 4).random, 0);
  EXPECT_EQ(criterion_scale(study, 0, 4).perfect, 1);
  EXPECT_NEAR(criterion_scale(study, 1, 2).random, 4 / 3.14159265358979, 1e-12);
  EXPECT_TRUE(std::isnan(criterion_scale(study, 2, 2).random));
  EXPECT_NEAR(criterion_scale(study, 3, 2).random, 0.5, 1e-12);  // 1 + 1/2 - 1
  EXPECT_NEAR(criterion_scale(study, 3, 4).end, std::log(4), 1e-12);
  EXPECT_TRUE(criterion_scale(study, 3, 4).alike);
  EXPECT_FALSE(criterion_scale(study, 0, 4).alike);
  EXPECT_TRUE(std::isnan(criterion_scale(study, 4, 4).random));
  EXPECT_EQ(criterion_scale(study, 4, 4).meaning, "");
}

}  // namespace
}  // namespace assay::testing
