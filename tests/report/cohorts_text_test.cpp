// Groups of rows as text and as the page's data.
#include "assay/report/cohorts_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/study/hand_study.h"

namespace assay {
namespace {

using testing::add_entry;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::study_of_aims;

Study with_groups() {
  Study study = study_of_aims(70);
  study.facts.features = {"age", "<b>job</b>\n"};
  study.facts.unit = "margin";
  study.facts.target = "yes";
  add_entry(study, "tree_shap", EntryKind::method, std::vector(3, std::vector<double>(70, 0.5)));
  Cohort women{.name = "women\x1b[31m", .rows = 40};
  women.quality = {.labelled = 40, .classes = 2, .accuracy = 0.75, .accuracy_interval = {0.6, 0.86}, .auc = 0.8};
  women.mean_output = 0.5;
  women.mean_probability = 0.625;
  women.drivers = {{1, 0.75}, {0, 0.25}};
  women.faithfulness = {40, 0.7, 0.02};
  women.stability = {40, 0.3, 0.01};
  women.differences = {{CohortMeasure::faithfulness, {}, -0.25, 0.03, 1e-6, 1e-5, true},
                       {CohortMeasure::accuracy, {}, -0.2, NAN, 0.004, 0.012, true},
                       {CohortMeasure::stability, {}, 0.1, 0.01, 0.5, 1, false},
                       {CohortMeasure::driver, 0, -0.125, 0.02, 0.001, 0.004, true}};
  Cohort men{.name = "men", .rows = 30};
  men.not_tested = "fewer than 30 rows";
  study.cohorts = {.columns = {{"sex", CohortCut::levels, {women, men}}}, .tests = 4};
  return study;
}

Advice recommended() {
  Advice advice;
  advice.overall = Recommendation{.entry = 0, .criterion = 0};
  return advice;
}

TEST(CohortsText, SaysWhatDiffers) {
  const std::string text = cohorts_text(with_groups(), recommended());
  EXPECT_THAT(text, HasSubstr("Groups of rows, explained by tree_shap\n"));
  EXPECT_THAT(text, HasSubstr("0.75 (0.60 to 0.86)*"));
  EXPECT_THAT(text, HasSubstr("0.70 +- 0.02*"));
  EXPECT_THAT(text, HasSubstr("0.30 +- 0.01 "));
  EXPECT_THAT(text, HasSubstr("job</b>\\x0a 75 %, age 25 %*"));
  EXPECT_THAT(text, HasSubstr("4 tests corrected\ntogether"));
  EXPECT_THAT(text, HasSubstr("faithfulness is 0.25 lower (p < 0.001), accuracy is 0.2 lower (p = 0.012)"));
  EXPECT_THAT(text, HasSubstr("the\n  share of age is 0.12 lower (p = 0.004)"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("RMSE")));
  Study quiet = with_groups();
  quiet.cohorts.columns[0].cohorts[0].differences.clear();
  EXPECT_THAT(cohorts_text(quiet, recommended()), HasSubstr("no difference is significant"));
  quiet.cohorts.columns.clear();
  EXPECT_EQ(cohorts_text(quiet, recommended()), "");
}

TEST(CohortsText, ThePageGetsWhatIsSignificant) {
  const auto made = nlohmann::json::parse(shown_cohorts_json(with_groups(), recommended(), true));
  EXPECT_EQ(made["explanation"], 0);
  EXPECT_EQ(made["faithfulness"], 0);
  EXPECT_EQ(made["stability"], 1);
  EXPECT_EQ(made["tests"], 4);
  EXPECT_EQ(made["unit"], "margin");
  const auto& women = made["columns"][0]["groups"][0];
  EXPECT_EQ(women["name"], "women\x1b[31m");
  EXPECT_EQ(women["drivers"][0], nlohmann::json::parse(R"({"feature": 1, "share": 0.75})"));
  EXPECT_EQ(women["faithfulness"], nlohmann::json::parse("[0.7, 0.02]"));
  ASSERT_EQ(women["differences"].size(), 3);
  EXPECT_EQ(women["differences"][2],
            nlohmann::json::parse(R"({"measure": "driver", "feature": 0, "difference": -0.125, "p": 0.004})"));
  EXPECT_TRUE(made["columns"][0]["groups"][1]["accuracy"].is_null());
  EXPECT_EQ(made["columns"][0]["groups"][1]["not_tested"], "fewer than 30 rows");
}

TEST(CohortsText, WithoutCellsGroupsHaveNoNames) {
  Study study = with_groups();
  study.cohorts.columns.push_back({"prediction", CohortCut::prediction, {{.name = "right", .rows = 3}}});
  const std::string made = shown_cohorts_json(study, recommended(), false);
  EXPECT_THAT(made, Not(HasSubstr("women")));
  EXPECT_THAT(made, HasSubstr("group 1 of 2"));
  EXPECT_THAT(made, HasSubstr("right"));
  EXPECT_EQ(shown_cohorts_json(study_of_aims(3), {}, true), "null");
}

}  // namespace
}  // namespace assay
