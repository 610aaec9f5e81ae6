#include "assay/report/report_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "assay/core/random.h"
#include "assay/core/statistics.h"
#include "assay/core/text.h"
#include "assay/explain/row_cells.h"
#include "assay/report/agreement.h"
#include "assay/report/json_text.h"
#include "tests/report/small_report.h"

namespace assay::testing {
namespace {

using nlohmann::json;

json parsed(const SmallReport& report, const ReportOptions& options = {}) { return json::parse(report.json(options)); }

// Ranks by counting: 1 + how many are smaller + half of the others that are equal. NaN where undefined.
double spearman_by_counting(std::span<const float> a, std::span<const float> b) {
  const auto ranks = [](std::span<const float> values) {
    std::vector<double> out;
    for (const float v : values) {
      double rank = 0.5;
      for (const float w : values) rank += std::abs(w) < std::abs(v) ? 1 : std::abs(w) == std::abs(v) ? 0.5 : 0;
      out.push_back(rank);
    }
    return out;
  };
  for (size_t i = 0; i < a.size(); i++) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return NAN;
  }
  return pearson(ranks(a), ranks(b));
}

TEST(ReportData, NamesComeThroughAsTheyAre) {
  const json data = parsed(hostile_report());
  EXPECT_EQ(data["features"], json(hostile_names()));
  EXPECT_EQ(data["title"], "toy </title><script>alert(2)</script> on {{data}}");
  EXPECT_EQ(data["schema"], "assay.report/1");
  EXPECT_EQ(data["verdict"], json({"use <it>"}));
  EXPECT_EQ(data["rows"][1]["target"], "<no>");
  EXPECT_EQ(data["rows"][1]["id"], "<i>id-2");
  EXPECT_EQ(data["rows"][2]["id"], "bad \xEF\xBF\xBD byte");
  EXPECT_EQ(data["left_out"][0]["reason"], "it has no <gradient>");
  EXPECT_EQ(data["inputs"][0], json({{"role", "data"}, {"name", "a&b.csv"}, {"sha256", "00ff"}}));
  EXPECT_EQ(data["settings"], json::parse(R"([["--rows", "4"]])"));
  EXPECT_EQ(data["run"][1], json::parse(R"(["threads", "2"])"));
}

TEST(ReportData, TheFirstScreensFactsAndWhatIsRecommended) {
  SmallReport report = hostile_report();
  const json without = parsed(report);
  EXPECT_TRUE(without["recommended"].is_null());
  EXPECT_TRUE(without["opened"].is_null());
  EXPECT_TRUE(without["drivers"].is_null());
  ASSERT_EQ(without["sentences"].size(), 5);
  recommend(report, 0);
  const json data = parsed(report);
  EXPECT_EQ(data["recommended"], 0);
  EXPECT_EQ(data["opened"], 0);
  EXPECT_EQ(data["uses"],
            json({{"overall", 0}, {"faithfulness", nullptr}, {"stability", nullptr}, {"simplicity", nullptr}}));
  std::vector<std::string> labels;
  for (const json& sentence : data["sentences"]) labels.push_back(sentence["label"]);
  EXPECT_EQ(labels, (std::vector<std::string>{"Model", "Drivers", "Explanation", "Cost", "Next"}));
  // Another one may be opened; what is recommended stays.
  const json other = parsed(report, {.opened = 2});
  EXPECT_EQ(other["recommended"], 0);
  EXPECT_EQ(other["opened"], 2);
  EXPECT_NE(other["drivers"], data["drivers"]);
  EXPECT_THAT(other["sentences"][2]["text"].get<std::string>(), ::testing::HasSubstr("opens on another one: ava"));
}

TEST(ReportData, NothingInItCanBeTakenForMarkup) {
  const std::string text = hostile_report().json();
  EXPECT_EQ(text.find_first_of("<>&"), std::string::npos);
  EXPECT_EQ(text.find("\xE2\x80\xA8"), std::string::npos);
  EXPECT_TRUE(valid_utf8(text));
  EXPECT_EQ(script_safe_json(text), text);
}

TEST(ReportData, EntriesWithTheirStanding) {
  const json data = parsed(hostile_report());
  const json& entries = data["entries"];
  ASSERT_EQ(entries.size(), 3);
  EXPECT_EQ(entries[0]["kind"], "method");
  EXPECT_EQ(entries[2]["kind"], "aggregate");
  for (const json& entry : entries) EXPECT_NE(entry["title"], "") << entry["name"];
  EXPECT_EQ(entries[0]["dominated"], true);
  EXPECT_EQ(entries[0]["dominated_by"], "kernel_shap:samples=64");
  EXPECT_EQ(entries[1]["dominated_by"], nullptr);
  EXPECT_EQ(entries[0]["seconds"], 1.75);
  EXPECT_EQ(entries[1]["seconds"], nullptr);  // no time of it
  EXPECT_EQ(entries[2]["seconds"], nullptr);  // an earlier run made it
  EXPECT_EQ(entries[0]["evaluations"], 123);
  const json& score = entries[0]["scores"][0];
  EXPECT_EQ(score["mean"], 0.583333);  // six digits
  EXPECT_EQ(score["stderr"], 0.125);
  EXPECT_EQ(score["low"], 0.333333);
  EXPECT_EQ(score["high"], 0.833333);
  EXPECT_EQ(score["coverage"], 0.75);
  EXPECT_EQ(score["standing"], "worse");
  EXPECT_EQ(score["behind_low"], 0.25);
  EXPECT_EQ(score["behind_high"], 0.75);
  EXPECT_EQ(score["reason"], "1 row: no <neighbour>");
  EXPECT_EQ(entries[1]["scores"][0]["standing"], "best");
  EXPECT_EQ(entries[1]["scores"][0]["behind_low"], nullptr);
  EXPECT_EQ(entries[1]["scores"][0]["reason"], nullptr);
  EXPECT_EQ(entries[2]["scores"][0]["standing"], "tied");
  EXPECT_EQ(entries[2]["scores"][1]["standing"], "undefined");
  EXPECT_EQ(entries[2]["scores"][1]["mean"], nullptr);
  EXPECT_EQ(entries[2]["scores"][1]["reason"], "it cannot");
  EXPECT_EQ(data["curves"], json::parse(R"([{"entry": 0, "criterion": "faithfulness", "along": "subset", "x": [1, 2],
                                              "mean": [0.5, null], "error": [0.1, null], "coverage": [1, 0]}])"));
}

TEST(ReportData, InfiniteMeansSayWhyTheyAreNoNumbers) {
  SmallReport report = hostile_report();
  report.study.entries[0].scores[1].mean = INFINITY;
  const json score = parsed(report)["entries"][0]["scores"][1];
  EXPECT_EQ(score["mean"], nullptr);
  EXPECT_EQ(score["reason"], "some scores are infinite");
}

TEST(ReportData, MainCriteriaAreThePapersOrAll) {
  SmallReport report = hostile_report();
  const json data = parsed(report);
  EXPECT_EQ(data["criteria"][0]["main"], true);
  EXPECT_EQ(data["criteria"][1]["main"], false);
  EXPECT_EQ(data["criteria"][0]["spec"], "faithfulness:subset=2");
  EXPECT_EQ(data["criteria"][0]["direction"], "higher");
  EXPECT_EQ(data["criteria"][0]["family"], "faithfulness");
  EXPECT_NE(data["criteria"][1]["range"], "");
  report.study.criterion_names[0] = "monotonicity";
  const json others = parsed(report);
  for (const json& criterion : others["criteria"]) EXPECT_EQ(criterion["main"], true);
}

// Rows 0 and 3 explain "yes", rows 1 and 2 "<no>". By hand, for the first method: (1 + 3) / 2, (2 + 3) / 2, (3 + 1) / 2
// and (0 + 4) / 2, (1 + 0) / 2, (1 + 2) / 2; row 1 of the second has no values, so that row 2 is alone.
TEST(ReportData, ImportanceNeverPoolsTargets) {
  const json data = parsed(hostile_report());
  const json& blocks = data["importance"];
  ASSERT_EQ(blocks.size(), 2);
  EXPECT_EQ(blocks[0]["target"], "yes");
  EXPECT_EQ(blocks[0]["rows"], 2);
  EXPECT_EQ(blocks[0]["mean_abs"], json::parse("[[2, 2.5, 2], [4, 3.5, 0.5], [0.666667, 0.5, 1.5]]"));
  EXPECT_EQ(blocks[1]["target"], "<no>");
  EXPECT_EQ(blocks[1]["mean_abs"], json::parse("[[2, 0.5, 1.5], [1, 1, 1], [2, 1.5, 1.5]]"));
  EXPECT_EQ(data["relative"], json({false, false, true}));
  // Two rows, 1 and 3: the error of the mean is 1, and Student's t with one degree is 12.7062.
  EXPECT_EQ(blocks[0]["high"][0][0], 14.71);  // four digits
  EXPECT_EQ(blocks[0]["low"][0][0], 0);
  EXPECT_EQ(blocks[1]["high"][1][0], nullptr);  // one row has no interval
}

TEST(ReportData, RowsByHand) {
  const json data = parsed(hostile_report());
  EXPECT_EQ(data["rows_total"], 4);
  EXPECT_EQ(data["rows_shown"], 4);
  EXPECT_EQ(data["rows_words"], "all 4 rows");
  EXPECT_EQ(data["image"], nullptr);
  const json& rows = data["rows"];
  EXPECT_EQ(rows[0]["number"], 1);
  EXPECT_EQ(rows[0]["label"], "yes");
  EXPECT_EQ(rows[2]["label"], nullptr);
  EXPECT_EQ(rows[3]["label"], "<no>");
  EXPECT_EQ(rows[3]["predicted"], "yes");  // its category is level 0
  EXPECT_EQ(rows[1]["predicted"], "<no>");
  EXPECT_EQ(rows[0]["output"], 0.75);
  EXPECT_EQ(rows[0]["base"], json({0.5, 0.5, 0.5}));
  EXPECT_EQ(rows[0]["values"], json::parse("[[1, -2, 3], [2, 2, 1], [1, 1, 2]]"));
  EXPECT_EQ(rows[1]["values"], json::parse("[[0, 1, -1], null, [0, 2, 1]]"));
  // The two errors are independent: sqrt(9 + 16), sqrt(0 + 4), sqrt(1 + 0).
  EXPECT_EQ(rows[0]["errors"], json::parse("[null, [5, 2, 1], null]"));
  EXPECT_EQ(rows[1]["errors"], json::parse("[null, null, null]"));
  EXPECT_EQ(rows[2]["scores"], json::parse("[[null, 3], [null, 3], [null, null]]"));
  EXPECT_FALSE(rows[0].contains("pixels"));
}

TEST(ReportData, CellsAsPeopleReadThem) {
  const json rows = parsed(hostile_report())["rows"];
  EXPECT_EQ(rows[0]["cells"], json({"1.5", "plain", "SECRET-HOT"}));
  EXPECT_EQ(rows[1]["cells"], json({"2.5", "SECRET-LEVEL</script>", "b"}));
  EXPECT_EQ(rows[2]["cells"], json({"missing", "SECRET-LEVEL</script>", "none"}));
  // (2.5 - 1.5) / (4.5 - 1.5); categories have no order, even with two levels
  EXPECT_EQ(rows[1]["cell_scale"], json({0.333333, nullptr, nullptr}));
  EXPECT_EQ(rows[2]["cell_scale"], json({nullptr, nullptr, nullptr}));
  const json data = parsed(hostile_report());
  EXPECT_EQ(data["kinds"], json({"number", "category", "category"}));
  EXPECT_EQ(data["levels"], json({nullptr, {"plain", "SECRET-LEVEL</script>"}, {"SECRET-HOT", "b"}}));
  EXPECT_EQ(parsed(hostile_report(), {.cells = false})["levels"], nullptr);
}

TEST(ReportData, PlayersOfSeveralColumnsShowThreeOfThem) {
  SmallReport report = hostile_report();
  report.subject.players = {{"all", "last"}, {0, 0, 0, 1}};
  const RowCells some(report.subject.data, report.subject.players);
  EXPECT_EQ(some.text(0, 0), "1.5, plain, 1");
  EXPECT_EQ(some.text(0, 1), "0");
  EXPECT_TRUE(std::isnan(some.scale(0, 0)));
  report.subject.players = {{"all"}, {0, 0, 0, 0}};
  const RowCells all(report.subject.data, report.subject.players);
  EXPECT_EQ(all.text(2, 0), "missing, SECRET-LEVEL</script>, 0, ...");
}

TEST(ReportData, NeighboursOfLargestWeightFirst) {
  const json rows = parsed(hostile_report())["rows"];
  // Row 0: pool rows 1 and 2 with weights 1/4 and 3/4.
  EXPECT_EQ(rows[0]["antecedents"],
            json::parse(R"([{"entry": 2, "neighbours": [{"row": 2, "weight": 0.75, "cells": ["8", "plain", "b"]},
              {"row": 1, "weight": 0.25, "cells": ["7654.25", "SECRET-LEVEL</script>", "SECRET-HOT"]}]}])"));
  // Row 1 has one neighbour only.
  EXPECT_EQ(rows[1]["antecedents"][0]["neighbours"].size(), 1);
}

TEST(ReportData, WithoutCellsNoValueOfTheFilesIsThere) {
  const SmallReport report = hostile_report();
  ASSERT_NE(report.json().find("SECRET-LEVEL"), std::string::npos);
  const std::string text = report.json({.cells = false});
  for (const char* part :
       {"SECRET", "\"plain\"", "1.5\"", "2.5\"", "7654", "\"missing\"", "cell_scale", "pixels", "cells\":["}) {
    EXPECT_EQ(text.find(part), std::string::npos) << part;
  }
  const json data = json::parse(text);
  EXPECT_EQ(data["cells"], false);
  for (const json& row : data["rows"]) EXPECT_EQ(row["label"], nullptr);
  EXPECT_EQ(data["rows"][0]["id"], "id-1");
  EXPECT_EQ(data["rows"][0]["predicted"], "yes");
  EXPECT_EQ(data["rows"][0]["antecedents"][0]["neighbours"][0], json::parse(R"({"row": 2, "weight": 0.75})"));
}

TEST(ReportData, AgreementIsTheMeanOfSpearmansCorrelations) {
  const json data = parsed(hostile_report());
  const SmallReport report = hostile_report();
  const auto& entries = report.study.entries;
  for (size_t a = 0; a < 3; a++) {
    for (size_t b = 0; b < 3; b++) {
      double sum = 0;
      size_t defined = 0;
      for (size_t row = 0; row < 4; row++) {
        const double each =
            spearman_by_counting(entries[a].explanations.values.row(row), entries[b].explanations.values.row(row));
        if (std::isnan(each)) continue;
        sum += each;
        defined++;
      }
      ASSERT_GT(defined, 0);
      EXPECT_NEAR(data["agreement"]["matrix"][a][b], sum / static_cast<double>(defined), 1e-6) << a << b;
    }
  }
  EXPECT_THAT(data["agreement"]["what"].get<std::string>(), ::testing::HasSubstr("all 4 rows"));
}

// |phi| = (1, 2, 3) against (4, 6, 5): ranks 1 2 3 and 1 3 2, so 1 - 6 (0 + 1 + 1) / (3 x 8) = 1/2.
TEST(Agreement, ByHand) {
  const Matrix a = matrix_from({{1, -2, 3}, {5, 5, -5}});
  const Matrix b = matrix_from({{-4, 6, 5}, {1, 2, 3}});
  const Matrix constant = matrix_from({{1, 1, -1}, {0, 0, 0}});
  const std::vector<const Matrix*> entries = {&a, &b, &constant};
  const std::vector<size_t> rows = {0, 1};
  const Matrix64 found = mean_rank_agreement(entries, rows);
  EXPECT_NEAR(found(0, 1), 0.5, 1e-12);  // row 1 of a has one size only: left out
  EXPECT_NEAR(found(1, 1), 1, 1e-12);
  EXPECT_TRUE(std::isnan(found(0, 2)));
  EXPECT_TRUE(std::isnan(found(2, 2)));
}

TEST(Agreement, EqualsCountingOnManyRows) {
  constexpr size_t kRows = 40;
  constexpr size_t kPlayers = 9;
  std::vector<Matrix> made;
  for (size_t e = 0; e < 4; e++) {
    made.emplace_back(kRows, kPlayers);
    for (size_t r = 0; r < kRows; r++) {
      RandomStream stream(5, "agreement test", r, static_cast<uint32_t>(e));
      // Few different sizes, so that many are equal.
      for (float& v : made.back().row(r)) v = static_cast<float>(stream.below(7)) - 3;
    }
  }
  made[3](0, 0) = NAN;
  std::vector<const Matrix*> entries;
  for (const Matrix& each : made) entries.push_back(&each);
  for (size_t r = 0; r < kRows; r++) {
    const Matrix64 found = mean_rank_agreement(entries, std::vector<size_t>{r});
    for (size_t a = 0; a < 4; a++) {
      for (size_t b = 0; b < 4; b++) {
        const double expected = spearman_by_counting(made[a].row(r), made[b].row(r));
        if (std::isnan(expected)) {
          EXPECT_TRUE(std::isnan(found(a, b)));
        } else {
          EXPECT_NEAR(found(a, b), expected, 1e-12);
        }
      }
    }
  }
}

// Images of this many rows and entries, whose targets go round.
SmallReport image_report(size_t rows, size_t entries, size_t targets, float largest) {
  SmallReport made{.subject = {}, .study = {}, .assessment = {}, .times = {}};
  Dataset& data = made.subject.data;
  data.x = Matrix(rows, 784);
  for (size_t r = 0; r < rows; r++) {
    RandomStream stream(1, "image test", r);
    for (float& v : data.x.row(r)) v = largest * static_cast<float>(stream.below(256)) / 255;
  }
  for (size_t c = 0; c < 784; c++) {
    data.feature_names.push_back("pixel " + std::to_string(c));
    data.groups.push_back({.name = data.feature_names.back(), .first = c});
  }
  data.item_shape = {28, 28};
  made.subject.pool.x = Matrix(1, 784);
  made.subject.players = column_players(data.feature_names);
  ModelInfo info;
  info.feature_names = data.feature_names;
  info.output_names = {"y"};
  made.subject.model = model_from_function(info, [](MatrixView<const float>, MatrixView<float>) {});
  for (size_t t = 0; t < targets; t++) made.subject.targets.names.push_back("t" + std::to_string(t));
  for (size_t r = 0; r < rows; r++) made.subject.targets.of_row.push_back(static_cast<uint32_t>(r % targets));
  made.study.facts.rows = rows;
  made.study.facts.features = data.feature_names;
  Matrix values(rows, 784);
  for (size_t i = 0; i < values.values().size(); i++) values.values()[i] = std::sin(static_cast<float>(i)) / 1e5F;
  for (size_t e = 0; e < entries; e++) {
    made.study.entries.push_back(entry_of("m" + std::to_string(e), EntryKind::method, values));
  }
  return made;
}

TEST(ReportData, StaysBelowThreeMegabytesWhateverTheSize) {
  const SmallReport report = image_report(250, 30, 5, 255);
  const std::string text = report.json();
  EXPECT_LT(text.size(), 3'000'000);
  EXPECT_GT(text.size(), 2'700'000);  // and wastes little of it
  const json data = json::parse(text);
  const size_t shown = data["rows_shown"];
  EXPECT_GE(shown, 20);
  EXPECT_EQ(data["rows"].size(), shown);
  EXPECT_EQ(data["rows_words"], std::to_string(shown) + " of 250 rows, stratified by target");
  EXPECT_THAT(data["agreement"]["what"].get<std::string>(), ::testing::HasSubstr("204 of 250 rows"));
  EXPECT_EQ(data["image"], json({{"height", 28}, {"width", 28}, {"channels", 1}}));
  std::map<std::string, double> of_target;
  for (const json& row : data["rows"]) {
    of_target[row["target"]] += 1;
    const size_t number = row["number"];
    // Whole numbers from 0 to 255 stay as they are.
    for (size_t p = 0; p < 784; p += 111) EXPECT_EQ(row["pixels"][p], report.subject.data.x(number - 1, p));
    // Attributions are whole steps of a five-hundredth of the largest.
    const json& values = row["values"][3];
    const std::span<const float> made = report.study.entries[3].explanations.values.row(number - 1);
    const double step = values["step"];
    for (size_t p = 0; p < 784; p += 37) {
      EXPECT_NEAR(values["steps"][p].get<double>() * step, made[p], 0.51 * step);
    }
    EXPECT_NEAR(step, 1e-5 / 500, 1e-9);
  }
  ASSERT_EQ(of_target.size(), 5);
  for (const auto& [target, count] : of_target) EXPECT_NEAR(count, static_cast<double>(shown) / 5, 1) << target;
}

TEST(ReportData, ShowsAsManyRowsAsAskedForAndAtMostTwoHundred) {
  const SmallReport report = image_report(250, 1, 1, 1);
  const json few = parsed(report, {.rows = 7});
  EXPECT_EQ(few["rows_shown"], 7);
  EXPECT_EQ(few["rows_words"], "7 of 250 rows, drawn at random");
  EXPECT_EQ(few, parsed(report, {.rows = 7}));
  std::set<int> pixels;
  for (const json& pixel : few["rows"][0]["pixels"]) pixels.insert(pixel.get<int>());
  EXPECT_EQ(*pixels.begin(), 0);  // 0..1 is stretched
  EXPECT_EQ(*pixels.rbegin(), 255);
  const json without = parsed(report, {.cells = false});
  EXPECT_EQ(without["rows_shown"], 200);
  EXPECT_EQ(without["image"]["height"], 28);  // attributions are drawn all the same
  EXPECT_FALSE(without["rows"][0].contains("pixels"));
}

TEST(ReportData, ImportanceOfVeryManyTargetsIsCutAndSaysSo) {
  SmallReport report = image_report(600, 1, 599, 255);  // 599 blocks of 784 numbers are too many; target 0 has two rows
  const json data = parsed(report, {.rows = 1});
  const size_t blocks = data["importance"].size();
  EXPECT_GT(blocks, 100);
  EXPECT_LT(blocks, 599);
  EXPECT_EQ(data["importance"][0]["rows"], 2);
  EXPECT_THAT(data["notes"].dump(), ::testing::HasSubstr(std::to_string(blocks) + " of 599 targets"));
}

TEST(ReportData, ChannelsComeFirst) {
  const Players players = column_players(std::vector<std::string>(24, "p"));
  const auto colour = image_shape(std::vector<size_t>{2, 3, 4}, players);
  ASSERT_TRUE(colour);
  EXPECT_EQ(colour->channels, 2);
  EXPECT_EQ(colour->height, 3);
  EXPECT_EQ(colour->width, 4);
  EXPECT_FALSE(image_shape(std::vector<size_t>{24}, players));
  EXPECT_FALSE(image_shape(std::vector<size_t>{5, 5}, players));
  EXPECT_FALSE(image_shape(std::vector<size_t>{4, 6}, grid_players({4, 6}, 2)));
}

TEST(JsonText, CutsBetweenCharacters) {
  EXPECT_EQ(cut_text("abc", 3), "abc");
  EXPECT_EQ(cut_text("abcd", 3), "abc...");
  EXPECT_EQ(cut_text("a\xC3\xA9z", 2), "a...");
  EXPECT_EQ(cut_text("a\xC3\xA9z", 3), "a\xC3\xA9...");
}

TEST(JsonText, StepsOfTheLargest) {
  EXPECT_EQ(json_steps(std::vector<double>{0, 2, -1, 0.0039}), R"({"step":0.004,"steps":[0,500,-250,1]})");
  EXPECT_EQ(json_steps(std::vector<double>{0, 0}), R"({"step":1,"steps":[0,0]})");
  EXPECT_EQ(json_steps(std::vector<double>{1, NAN}), "[1,null]");
}

TEST(JsonText, NumbersHaveSixDigits) {
  EXPECT_EQ(json_numbers(std::vector<double>{1, 0.1, 1.0 / 3, NAN, INFINITY, -2e-30, 1e7}),
            "[1,0.1,0.333333,null,null,-2e-30,1e+07]");
  EXPECT_EQ(json_numbers(std::vector<float>{0.1F}), "[0.1]");
}

}  // namespace
}  // namespace assay::testing
