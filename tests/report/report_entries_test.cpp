#include "assay/report/report_entries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "assay/report/report_data.h"
#include "tests/report/small_report.h"

namespace assay::testing {
namespace {

using nlohmann::json;

json data_of(const SmallReport& report, const ReportOptions& options = {}) { return json::parse(report.json(options)); }

// The first method: |values| of the first player are 1, 0, 4 and 3, with mean 2 and variance 10 / 3. Student's t at
// 0.975 with 3 degrees is 3.182446 (tables). The players' means are 2, 1.5 and 1.75, and add up to 5.25.
TEST(ReportData, DriversHaveIntervalsAndDirectionsInWords) {
  SmallReport report = hostile_report();
  recommend(report, 0);
  const json drivers = data_of(report)["drivers"];
  ASSERT_EQ(drivers.size(), 3);
  EXPECT_EQ(drivers[0]["feature"], 0);
  EXPECT_EQ(drivers[0]["size"], 2);
  EXPECT_NEAR(drivers[0]["share"], 2 / 5.25, 1e-5);
  const double half = 3.182446 * std::sqrt(10.0 / 3 / 4);
  EXPECT_NEAR(drivers[0]["high"], 2 + half, 1e-4);
  EXPECT_EQ(drivers[0]["low"], 0);  // a mean of sizes is never below 0
  EXPECT_EQ(drivers[0]["direction"], "differs between classes");
  EXPECT_EQ(drivers[1]["feature"], 2);
  EXPECT_EQ(drivers[2]["feature"], 1);
}

// All rows explain one class. Category 1: level "plain" has rows 0 and 3 with -2 and -3, the other rows 1 and 2 with 1
// and 0. Category 2: "SECRET-HOT" is row 0 with 3, "b" rows 1 and 3 with -1 and 1, row 2 has none.
TEST(ReportData, DirectionsOfOneTarget) {
  SmallReport report = hostile_report();
  recommend(report, 0);
  report.study.entries[0].explanations.target.assign(4, 1);
  report.study.entries[0].trends = {-0.5, NAN, NAN};
  const auto directions = [&](const ReportOptions& options) {
    std::map<int, std::string> found;
    const json data = data_of(report, options);
    for (const json& driver : data["drivers"]) found[driver["feature"]] = driver["direction"];
    return found;
  };
  const auto shown = directions({});
  EXPECT_EQ(shown.at(0), "higher lowers it");
  EXPECT_EQ(shown.at(1), "SECRET-LEVEL</script> raises, plain lowers it most");
  EXPECT_EQ(shown.at(2), "SECRET-HOT raises it most");
  EXPECT_EQ(directions({.cells = false}).at(1), "depends on the level");
  report.study.entries[0].trends[0] = 0.29;
  EXPECT_EQ(directions({}).at(0), "no clear direction");
  report.assessment.advice.entries[0].has_signs = false;
  EXPECT_EQ(directions({}).at(0), "a rank: it has no direction");
}

TEST(ReportData, WhatTheAdviceSaysOfEntries) {
  SmallReport report = hostile_report();
  recommend(report, 1);
  std::vector<EntryAdvice>& advice = report.assessment.advice.entries;
  advice[0].faithful = Faithful::no;
  advice[1].complete = advice[1].exact = true;
  advice[2].alias_of = 1;
  advice[2].has_signs = false;
  const json entries = data_of(report)["entries"];
  EXPECT_EQ(entries[0]["faithful"], "no");
  EXPECT_EQ(entries[0]["complete"], false);
  EXPECT_EQ(entries[1]["complete"], true);
  EXPECT_EQ(entries[1]["exact"], true);
  EXPECT_EQ(entries[1]["alias_of"], nullptr);
  EXPECT_EQ(entries[2]["alias_of"], 1);
  EXPECT_EQ(entries[2]["has_signs"], false);
}

TEST(ReportData, ProbabilitiesOfRows) {
  SmallReport report = hostile_report();
  // The toy gives probabilities: 3/4 for the class that it predicts.
  const json rows = data_of(report)["rows"];
  EXPECT_EQ(rows[0]["probability"], 0.75);
  EXPECT_EQ(rows[0]["target_probability"], 0.75);  // both are "yes"
  EXPECT_EQ(rows[3]["probability"], 0.75);
  // One margin of the second class: sigmoid(1.5) = 0.8175745 and sigmoid(-1.5) by hand.
  ModelInfo info = report.subject.model->info();
  info.output_names = {"<no>"};
  info.unit = OutputUnit::margin;
  const auto by_margin = [](MatrixView<const float> x, MatrixView<float> outputs) {
    for (size_t r = 0; r < x.rows(); r++) outputs(r, 0) = x(r, 1) == 0 ? -1.5F : 1.5F;
  };
  report.subject.model = model_from_function(info, by_margin);
  const json margins = data_of(report)["rows"];
  EXPECT_EQ(margins[0]["predicted"], "yes");
  EXPECT_NEAR(margins[0]["probability"], 0.8175745, 1e-5);
  EXPECT_NEAR(margins[1]["probability"], 0.8175745, 1e-5);
  // Row 2 explains "<no>" and is predicted so; with the target turned round it has the rest.
  report.subject.targets.of_row[2] = 0;
  EXPECT_NEAR(data_of(report)["rows"][2]["target_probability"], 1 - 0.8175745, 1e-5);
  // Margins that nothing makes probabilities of.
  info.margin_link = MarginLink::unknown;
  report.subject.model = model_from_function(info, by_margin);
  EXPECT_EQ(data_of(report)["rows"][0]["probability"], nullptr);
}

TEST(ReportData, SummaryHasNoRows) {
  const json data = data_of(hostile_report(), {.summary = true});
  EXPECT_EQ(data["rows"].size(), 0);
  EXPECT_EQ(data["summary_only"], true);
}

}  // namespace
}  // namespace assay::testing
