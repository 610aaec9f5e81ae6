// Groups of rows, written and read back, and files that are not what they should be.
#include "assay/archive/io/cohorts_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/message.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

Study with_groups() {
  Study study;
  study.facts.features = {"age", "<script>"};
  Cohort right{.name = "right", .rows = 40};
  right.quality = {.labelled = 40, .classes = 2, .accuracy = 1, .accuracy_interval = {0.9, 1}};
  right.mean_output = -0.5;
  right.mean_probability = 0.25;
  right.drivers = {{1, 0.75}, {0, 0.25}};
  right.faithfulness = {39, 0.5, 0.125};
  right.stability = {1, 0.25, NAN};
  right.differences = {{CohortMeasure::faithfulness, {}, -0.25, 0.0625, 0.001, 0.004, true},
                       {CohortMeasure::accuracy, {}, 0.1, NAN, 0.5, 1, false},
                       {CohortMeasure::driver, 1, 0.5, 0.1, NAN, NAN, false}};
  Cohort small{.name = "</script>\x01", .rows = 2, .not_tested = "fewer than 30 rows"};
  study.cohorts.columns = {{"prediction", CohortCut::prediction, {right}},
                           {"sex, or not", CohortCut::levels, {small}},
                           {"age", CohortCut::quantiles, {}}};
  study.cohorts.tests = 2;
  study.cohorts.named = true;
  return study;
}

nlohmann::json document() { return nlohmann::json::parse(Json{{"cohorts", cohorts_json(with_groups())}}.dump()); }

StudyCohorts read(const nlohmann::json& from) {
  return cohorts_from_json(JsonFields("study.json", from), with_groups().facts.features);
}

TEST(CohortsJson, SaysAllOfAGroup) {
  const nlohmann::json made = document()["cohorts"];
  EXPECT_EQ(made["tests"], 2);
  EXPECT_EQ(made["least_rows"], 30);
  EXPECT_EQ(made["columns"][0]["cut"], "prediction");
  const nlohmann::json& right = made["columns"][0]["cohorts"][0];
  EXPECT_EQ(right["drivers"][0], nlohmann::json::parse(R"({"feature": "<script>", "share": 0.75})"));
  EXPECT_EQ(right["faithfulness"], nlohmann::json::parse(R"({"rows": 39, "mean": 0.5, "stderr": 0.125})"));
  EXPECT_EQ(right["different"], true);
  EXPECT_TRUE(right["not_tested"].is_null());
  EXPECT_EQ(right["differences"][0],
            nlohmann::json::parse(R"({"measure": "faithfulness", "feature": null, "difference": -0.25,
                                      "stderr": 0.0625, "p": 0.001, "corrected_p": 0.004, "different": true})"));
  EXPECT_EQ(right["differences"][2]["feature"], "<script>");
  EXPECT_EQ(made["columns"][1]["cohorts"][0]["different"], false);
}

TEST(CohortsJson, ReadsBackWhatItWrote) {
  Study again = with_groups();
  again.cohorts = read(document());
  EXPECT_EQ(cohorts_json(again), cohorts_json(with_groups()));
  EXPECT_TRUE(read(nlohmann::json::object()).columns.empty());  // of an older version
}

TEST(CohortsJson, RefusesWhatDoesNotFit) {
  const auto refused = [](const std::string& where, const nlohmann::json& value) {
    nlohmann::json changed = document();
    changed[nlohmann::json::json_pointer(where)] = value;
    return sentence([&] { read(changed); });
  };
  const std::string group = "/cohorts/columns/0/cohorts/0";
  EXPECT_THAT(refused(group + "/drivers/0/feature", "height"), HasSubstr("the name of a feature"));
  EXPECT_THAT(refused(group + "/drivers/0/share", 1.5), HasSubstr("share"));
  EXPECT_THAT(refused(group + "/differences/0/measure", "beauty"), HasSubstr("measure"));
  EXPECT_THAT(refused(group + "/differences/0/feature", "age"), HasSubstr("a 'feature' for a driver alone"));
  EXPECT_THAT(refused(group + "/differences/2/feature", nullptr), HasSubstr("a 'feature' for a driver alone"));
  EXPECT_THAT(refused(group + "/differences/0/p", -1), HasSubstr("'p'"));
  EXPECT_THAT(refused(group + "/rows", -1), HasSubstr("rows"));
  EXPECT_THAT(refused(group + "/faithfulness/stderr", -1), HasSubstr("stderr"));
  EXPECT_THAT(refused("/cohorts/columns/0/cut", "halves"), HasSubstr("cut"));
  EXPECT_THAT(refused("/cohorts/columns", 3), HasSubstr("columns"));
}

}  // namespace
}  // namespace assay
