#include "assay/archive/io/advice_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "assay/archive/io/quality_json.h"
#include "tests/study/hand_study.h"

namespace assay::testing {
namespace {

Study three_entries() {
  Study study = hand_study(2, {{"faithfulness:subset=2", Direction::higher}, {"complexity", Direction::lower}});
  study.facts.features = {"age", "job"};
  for (const char* name : {"lime", "mean", "twin"}) {
    add_entry(study, name, EntryKind::method, {{0.5, 1.0}, {1.5, NAN}});
  }
  study.entries[0].scores[0].interval = {0.25, 0.875};
  study.entries[1].scores[1].mean = NAN;
  return study;
}

Advice hand_advice() {
  Advice advice;
  advice.options = {.margin = 0.0625, .tie = 0.25};
  advice.critical = 3.5;
  advice.entries.resize(3);
  advice.entries[0] = {.alias_of = 0, .faithful = Faithful::yes, .behind = 0.125, .behind_interval = {-0.5, 0.25}};
  advice.entries[0].complete = true;
  advice.entries[0].evaluations = 77;
  advice.entries[1] = {.alias_of = 1, .faithful = Faithful::undecided, .rows_to_decide = 900};
  advice.entries[2] = advice.entries[0];
  advice.entries[2].alias_of = 0;
  advice.most_faithful = 0;
  advice.best_upper = 0.375;
  advice.one_number_fails = true;
  advice.overall = Recommendation{.entry = 0, .criterion = 0};
  advice.simplicity =
      Recommendation{.entry = 0, .criterion = 1, .tied = {1}, .better = {2}, .ahead = {1, 2}, .unfaithful = {1}};
  advice.gains = {{.aggregate = 1, .method = 0, .criterion = 1, .difference = -0.5, .interval = {-1, NAN}}};
  advice.drivers = {{.player = 1, .size = 2, .share = 0.75, .mean = -2, .trend = NAN}};
  advice.next = {"Look at it."};
  return advice;
}

TEST(AdviceJson, SaysAllThatTheAdviceHolds) {
  const Json made = advice_json(three_entries(), hand_advice());
  EXPECT_EQ(made["faithful"], Json::parse(R"(["lime", "twin"])"));
  EXPECT_EQ(made["undecided"], Json::parse(R"([{"explanation": "mean", "rows": 900}])"));
  EXPECT_EQ(made["margin"], 0.0625);
  EXPECT_EQ(made["tie"], 0.25);
  EXPECT_EQ(made["critical"], 3.5);
  EXPECT_EQ(made["best_upper"], 0.375);
  EXPECT_EQ(made["one_number_fails"], true);
  EXPECT_EQ(made["none_describes"], false);
  EXPECT_EQ(made["next"], Json::parse(R"(["Look at it."])"));
  EXPECT_TRUE(made["recommended"]["stability"].is_null());
  EXPECT_TRUE(made["recommended"]["faithfulness"].is_null());
  const Json& overall = made["recommended"]["overall"];
  EXPECT_EQ(overall["explanation"], "lime");
  EXPECT_EQ(overall["aliases"], Json::parse(R"(["twin"])"));
  EXPECT_EQ(overall["criterion"], "faithfulness:subset=2");
  EXPECT_EQ(overall["cost"],
            Json::parse(R"({"faithfulness": 0.125, "faithfulness_interval": [-0.5, 0.25], "evaluations": 77})"));
  EXPECT_EQ(overall["complete"], true);
  EXPECT_EQ(overall["exact"], false);
  EXPECT_EQ(overall["scores"][0],
            Json::parse(R"({"criterion": "faithfulness:subset=2", "mean": 0.75, "interval": [0.25, 0.875]})"));
  const Json& simple = made["recommended"]["simplicity"];
  EXPECT_EQ(simple["criterion"], "complexity");
  EXPECT_EQ(simple["tied"], Json::parse(R"(["mean"])"));
  EXPECT_EQ(simple["over"], Json::parse(R"(["twin"])"));
  EXPECT_EQ(simple["ahead"], Json::parse(R"(["mean", "twin"])"));
  EXPECT_EQ(simple["over_unfaithful"], Json::parse(R"(["mean"])"));
  EXPECT_EQ(made["gains"], Json::parse(R"([{"criterion": "complexity", "aggregate": "mean", "method": "lime",
                                            "difference": -0.5, "interval": [-1, null]}])"));
  EXPECT_EQ(made["drivers"],
            Json::parse(R"([{"feature": "job", "size": 2, "share": 0.75, "mean": -2, "trend": null}])"));
}

// So that one object says what is recommended, against what, and whether the model is worth explaining.
TEST(AdviceJson, SaysWhatItIsAgainstAndHowGoodTheModelIs) {
  Study study = three_entries();
  study.facts.reference = "100 rows of rows.csv";
  study.facts.reference_facts = {.rows = 100, .value = 0.5, .pool_value = 0.25, .probability = 0.625};
  study.facts.quality.labelled = 40;
  study.facts.quality.accuracy = 0.75;
  const Json made = advice_json(study, hand_advice());
  EXPECT_EQ(made["reference"], Json::parse(R"({"what": "100 rows of rows.csv", "rows": 100, "background": true,
                                               "value": 0.5, "pool_value": 0.25, "probability": 0.625,
                                               "pool_probability": null, "common_share": null, "drawn_rows": null})"));
  EXPECT_EQ(made["quality"], quality_json(study.facts.quality));
  EXPECT_EQ(made["quality"]["accuracy"], 0.75);
}

TEST(AdviceJson, OfNothing) {
  const Json made = advice_json(three_entries(), Advice{});
  EXPECT_TRUE(made["recommended"]["overall"].is_null());
  EXPECT_TRUE(made["critical"].is_null());
  EXPECT_EQ(made["faithful"], Json::array());
  EXPECT_EQ(made["drivers"], Json::array());
}

}  // namespace
}  // namespace assay::testing
