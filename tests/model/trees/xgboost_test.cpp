#include "assay/model/trees/xgboost.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>

#include "tests/model/trees/tree_fixture.h"
#include "tests/model/trees/xgboost_json.h"

namespace assay {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using namespace assay::testing;
using namespace assay::testing::xgboost;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Xgboost, TellsItsFilesByTheirBeginning) {
  const json model = xgboost_json();
  EXPECT_TRUE(looks_like_xgboost(model.dump()));
  EXPECT_TRUE(looks_like_xgboost(model.dump(2)));
  EXPECT_TRUE(looks_like_xgboost(ubjson_of(model)));
  const std::vector<uint8_t> bytes = json::to_ubjson(model);
  EXPECT_TRUE(looks_like_xgboost(std::string(bytes.begin(), bytes.end())));
  EXPECT_TRUE(looks_like_xgboost(R"({ "version": [2, 1, 0], "learner": {}})"));
  EXPECT_TRUE(looks_like_xgboost("binf\x01"));
  EXPECT_TRUE(looks_like_xgboost("[\n  { \"nodeid\": 0, \"leaf\": 1 }]"));
  for (const char* other : {"", "{", "{\"", "{L", "{}", "[", "[{", "[1]", "{\"nodes\": 1}", "tree\nversion=v4",
                            "\x08\x07", "learner", "{i\x06learner"}) {
    EXPECT_FALSE(looks_like_xgboost(other)) << other;
  }
}

TEST(Xgboost, AddsTheLeavesThatARowReaches) {
  const json model = xgboost_json();
  EXPECT_THAT(scores_of(model, {0.4F, 1, 0}), ElementsAre(0.5 - 1.5 + 20));
  EXPECT_THAT(scores_of(model, {0.5F, 0, 0}), ElementsAre(0.5 + 0.25 + 20));
  EXPECT_THAT(scores_of(model, {0.6F, 1, -2}), ElementsAre(0.5 + 4 + 20));
  EXPECT_THAT(scores_of(model, {0.6F, 3, -2.5F}), ElementsAre(0.5 + 4 + 10));
  EXPECT_THAT(scores_of(model, {kInf, 2, -kInf}), ElementsAre(0.5 + 0.25 + 10));
}

TEST(Xgboost, SendsMissingValuesToTheDefaultSide) {
  json model = xgboost_json();
  EXPECT_THAT(scores_of(model, {kNan, 1, 0}), ElementsAre(0.5 - 1.5 + 20));
  EXPECT_THAT(scores_of(model, {1, kNan, 0}), ElementsAre(0.5 + 4 + 20));
  EXPECT_THAT(scores_of(model, {1, 0, kNan}), ElementsAre(0.5 + 0.25 + 20));
  trees_of(model)[0]["default_left"] = {0, 0, 1, 0, 0};
  trees_of(model)[1]["default_left"] = {1, 0, 0};
  EXPECT_THAT(scores_of(model, {kNan, 0, 0}), ElementsAre(0.5 + 0.25 + 20));
  EXPECT_THAT(scores_of(model, {1, kNan, 0}), ElementsAre(0.5 + 0.25 + 20));
  EXPECT_THAT(scores_of(model, {1, 0, kNan}), ElementsAre(0.5 + 0.25 + 10));
}

// What XGBoost 3.2 does with codes that are none of training's.
TEST(Xgboost, TakesTheWholePartOfACode) {
  json model = xgboost_json();
  trees_of(model)[0]["categories"] = {0, 3};
  for (const float in : {0.0F, 0.5F, 3.0F, 3.9F}) EXPECT_THAT(scores_of(model, {1, in, 0}), ElementsAre(24.5)) << in;
  for (const float out : {-0.5F, -1.0F, -3.0F, 1.0F, 2.9F, 4.0F, 16777216.0F, 3e9F, 3e38F, -3e38F, kInf, -kInf}) {
    EXPECT_THAT(scores_of(model, {1, out, 0}), ElementsAre(20.75)) << out;
  }
  // From 2^24 on float32 cannot tell codes apart: XGBoost finds none.
  trees_of(model)[0]["categories"] = {16777215, 16777216};
  EXPECT_THAT(scores_of(model, {1, 16777215, 0}), ElementsAre(24.5));
  EXPECT_THAT(scores_of(model, {1, 16777216, 0}), ElementsAre(20.75));
}

TEST(Xgboost, ReadsThresholdsAsFloat32) {
  json model = xgboost_json();
  trees_of(model)[1]["split_conditions"] = {0.7, 10.0, 0.1};
  // The float32 nearest to 0.7 lies below it.
  EXPECT_THAT(scores_of(model, {0, 0, 0.7F}), ElementsAre(0.5 - 1.5 + static_cast<double>(0.1F)));
  EXPECT_THAT(scores_of(model, {0, 0, std::nextafter(0.7F, 0.0F)}), ElementsAre(0.5 - 1.5 + 10));
  // Just above the middle between two float32: rounded to a double first it would be the middle, and then go down to 1.
  std::string text = xgboost_json().dump();
  text.replace(text.find("-2.0,10.0,20.0"), 4, "1.00000005960464477539062500001");
  EXPECT_THAT(booster_scores(read_xgboost("m.json", text), {0, 0, 1}), ElementsAre(0.5 - 1.5 + 10));
}

TEST(Xgboost, ReadsUniversalBinaryJson) {
  const json model = xgboost_json();
  std::vector<std::string> files = {ubjson_of(model)};
  for (const auto& [with_size, with_type] : {std::pair(false, false), {true, false}, {true, true}}) {
    const std::vector<uint8_t> bytes = json::to_ubjson(model, with_size, with_type);
    files.emplace_back(bytes.begin(), bytes.end());
  }
  for (const std::string& file : files) {
    const Booster booster = read_xgboost("m.ubj", file);
    EXPECT_EQ(booster.producer, "XGBoost 3.2.0");
    EXPECT_THAT(booster.feature_names, ElementsAre("a", "b", "c"));
    EXPECT_THAT(booster_scores(booster, {0.6F, 3, -2.5F}), ElementsAre(14.5));
    EXPECT_THAT(booster_scores(booster, {kNan, 3, kNan}), ElementsAre(19));
  }
}

TEST(Xgboost, KeepsCoversNamesAndVersion) {
  const Booster booster = booster_of(xgboost_json());
  EXPECT_EQ(booster.producer, "XGBoost 3.2.0");
  EXPECT_EQ(booster.features, 3U);
  EXPECT_THAT(booster.feature_names, ElementsAre("a", "b", "c"));
  EXPECT_THAT(booster.categories, ElementsAre(Pair(1U, IsEmpty())));
  EXPECT_EQ(booster.note, "");
  ASSERT_EQ(booster.source.nodes.size(), 8U);
  EXPECT_EQ(booster.source.nodes[4].cover, 10);
  EXPECT_EQ(booster.source.nodes[7].cover, 70);
  EXPECT_EQ(booster.source.nodes[7].tree, 1);
  EXPECT_EQ(booster.source.nodes[7].id, 2);
}

// XGBoost 1.0 knew no categories and no targets, and wrote truth values.
TEST(Xgboost, ReadsFilesOfOldVersions) {
  json model = xgboost_json();
  model["version"] = {1, 0, 2};
  learner_of(model).erase("feature_names");
  learner_of(model).erase("feature_types");
  learner_of(model)["learner_model_param"] = {{"base_score", "5E-1"}, {"num_class", "0"}, {"num_feature", "3"}};
  trees_of(model).erase(0);
  learner_of(model)["gradient_booster"]["model"]["tree_info"] = {0};
  learner_of(model)["gradient_booster"]["model"]["gbtree_model_param"] = {{"num_trees", "1"}};
  learner_of(model)["gradient_booster"]["model"].erase("iteration_indptr");
  json& tree = trees_of(model)[0];
  for (const char* key : {"categories", "categories_nodes", "categories_segments", "categories_sizes", "split_type"}) {
    tree.erase(key);
  }
  tree["default_left"] = {true, false, false};
  tree["tree_param"]["size_leaf_vector"] = "0";
  const Booster booster = booster_of(model);
  EXPECT_EQ(booster.producer, "XGBoost 1.0.2");
  EXPECT_THAT(booster.feature_names, IsEmpty());
  EXPECT_THAT(booster.categories, IsEmpty());
  EXPECT_THAT(booster_scores(booster, {0, 0, kNan}), ElementsAre(10.5));
  EXPECT_THAT(booster_scores(booster, {0, 0, 0}), ElementsAre(20.5));
}

// Of versions before feature_types was kept: the splits tell.
TEST(Xgboost, KnowsCategoriesByTheirSplits) {
  json model = xgboost_json();
  learner_of(model).erase("feature_types");
  EXPECT_THAT(booster_of(model).categories, ElementsAre(Pair(1U, IsEmpty())));
}

TEST(Xgboost, WeighsTheTreesOfDart) {
  json model = xgboost_json();
  json& booster = learner_of(model)["gradient_booster"];
  booster = {{"name", "dart"}, {"gbtree", booster}, {"weight_drop", {0.5, 0.1}}};
  EXPECT_THAT(scores_of(model, {0.6F, 1, 0}), ElementsAre(0.5 + 0.5 * 4 + static_cast<double>(0.1F) * 20));
}

// As version 3.4 writes it. Boosters without dropped trees have an empty list.
TEST(Xgboost, WeighsTheTreesOfNewerDart) {
  json model = xgboost_json();
  learner_of(model)["gradient_booster"]["model"]["weight_drop"] = {0.5, 0.1};
  EXPECT_THAT(scores_of(model, {0.6F, 1, 0}), ElementsAre(0.5 + 0.5 * 4 + static_cast<double>(0.1F) * 20));
  learner_of(model)["gradient_booster"]["model"]["weight_drop"] = json::array();
  EXPECT_THAT(scores_of(model, {0.6F, 1, 0}), ElementsAre(0.5 + 4.0 + 20));
}

TEST(Xgboost, AddsTreesToTheirClasses) {
  json model = xgboost_json();
  learner_of(model)["objective"] = {{"name", "multi:softprob"}};
  parameter_of(model, "num_class") = "3";
  parameter_of(model, "base_score") = "[1E0,2E0,-3E0]";
  learner_of(model)["gradient_booster"]["model"]["tree_info"] = {2, 0};
  const Booster booster = booster_of(model);
  EXPECT_EQ(booster.targets, 3U);
  EXPECT_EQ(booster.link, BoosterLink::softmax);
  EXPECT_TRUE(booster.classification);
  EXPECT_THAT(booster_scores(booster, {0.6F, 1, 0}), ElementsAre(1 + 20, 2, -3 + 4));
}

// Leaves of multi_output_tree: right_children is the number of a leaf's vector.
TEST(Xgboost, ReadsLeavesOfVectors) {
  json model = xgboost_json();
  parameter_of(model, "num_target") = "2";
  learner_of(model)["gradient_booster"]["model"]["tree_info"] = {0, 0};
  trees_of(model)[0]["leaf_weights"] = {1.0, 2.0, 4.0, 8.0, 16.0, 32.0};
  trees_of(model)[0]["right_children"] = {2, 1, 4, 0, 2};
  trees_of(model)[1]["leaf_weights"] = {0.5, 0.25, 0.125, 0.0};
  trees_of(model)[1]["right_children"] = {2, 0, 1};
  for (json& tree : trees_of(model)) tree["tree_param"]["size_leaf_vector"] = "2";
  EXPECT_THAT(scores_of(model, {0, 0, -3}), ElementsAre(0.5 + 4 + 0.5, 0.5 + 8 + 0.25));
  EXPECT_THAT(scores_of(model, {1, 0, 0}), ElementsAre(0.5 + 1 + 0.125, 0.5 + 2));
  EXPECT_THAT(scores_of(model, {1, 1, 0}), ElementsAre(0.5 + 16 + 0.125, 0.5 + 32));
}

TEST(Xgboost, KnowsObjectives) {
  struct Case {
    const char* name;
    BoosterLink link;
    bool classification;
    double base;  // of base_score 0.25
  };
  constexpr auto kNone = BoosterLink::none;
  constexpr auto kExp = BoosterLink::exponential;
  const double logit = std::log(1.0 / 3);
  const double log = std::log(0.25);
  for (const Case& each : std::vector<Case>{{"reg:squarederror", kNone, false, 0.25},
                                            {"reg:linear", kNone, false, 0.25},
                                            {"reg:squaredlogerror", kNone, false, 0.25},
                                            {"reg:absoluteerror", kNone, false, 0.25},
                                            {"reg:pseudohubererror", kNone, false, 0.25},
                                            {"reg:quantileerror", kNone, false, 0.25},
                                            {"reg:expectileerror", kNone, false, 0.25},
                                            {"rank:pairwise", kNone, false, 0.25},
                                            {"rank:ndcg", kNone, false, 0.25},
                                            {"rank:map", kNone, false, 0.25},
                                            {"reg:logistic", BoosterLink::sigmoid, false, logit},
                                            {"binary:logistic", BoosterLink::sigmoid, true, logit},
                                            {"count:poisson", kExp, false, log},
                                            {"reg:gamma", kExp, false, log},
                                            {"reg:tweedie", kExp, false, log},
                                            {"survival:cox", kExp, false, log},
                                            {"survival:aft", kExp, false, log}}) {
    json model = xgboost_json();
    learner_of(model)["objective"]["name"] = each.name;
    parameter_of(model, "base_score") = "[2.5E-1]";
    const Booster booster = booster_of(model);
    EXPECT_EQ(booster.link, each.link) << each.name;
    EXPECT_EQ(booster.classification, each.classification) << each.name;
    ASSERT_EQ(booster.base.size(), 1U);
    EXPECT_NEAR(booster.base[0], each.base, 1e-7) << each.name;
    EXPECT_EQ(booster.note, "") << each.name;
    // What is no guess at the label itself is not judged as one.
    const std::string_view name = each.name;
    const bool other = name.starts_with("rank:") || name == "survival:cox" || name == "reg:quantileerror" ||
                       name == "reg:expectileerror";
    EXPECT_EQ(booster.only_scores, other) << each.name;
  }
}

TEST(Xgboost, SaysWherePredictionsAreNotThoseOfTheLibrary) {
  const auto note = [](const char* objective, const char* classes = "0", const char* targets = "1") {
    json model = xgboost_json();
    learner_of(model)["objective"]["name"] = objective;
    parameter_of(model, "num_class") = classes;
    parameter_of(model, "num_target") = targets;
    const Booster booster = booster_of(model);
    return fmt::format("{} {} {}: {}", static_cast<int>(booster.link), booster.classification, booster.base[0],
                       booster.note);
  };
  EXPECT_EQ(note("binary:logitraw"),
            "4 true 0.5: objective binary:logitraw: XGBoost predicts raw scores, here they become probabilities");
  EXPECT_EQ(note("binary:hinge"),
            "0 false 0.5: objective binary:hinge: predictions are raw scores; XGBoost predicts class 1 where they are "
            "above 0");
  EXPECT_EQ(note("multi:softmax", "3"),
            "5 true 0.5: objective multi:softmax: XGBoost predicts the class, here predictions are probabilities");
  EXPECT_EQ(note("my\nown"), "0 false 0.5: objective 'my\\x0aown' is not known here: predictions are raw scores");
  EXPECT_EQ(note("binary:logistic", "0", "2"), "4 false -0: every target is the probability of a label of its own");
}

// Numbers of XGBoost 3.2, which computes in float32 and keeps away from 0 and 1.
TEST(Xgboost, TurnsBaseScoresIntoRawScores) {
  const auto base = [](const char* objective, const char* text) {
    json model = xgboost_json();
    learner_of(model)["objective"]["name"] = objective;
    parameter_of(model, "base_score") = text;
    return booster_of(model).base.at(0);
  };
  EXPECT_FLOAT_EQ(static_cast<float>(base("binary:logistic", "[0E0]")), -13.81551F);
  EXPECT_FLOAT_EQ(static_cast<float>(base("binary:logistic", "[1E-30]")), -13.81551F);
  EXPECT_FLOAT_EQ(static_cast<float>(base("binary:logistic", "[1E0]")), 13.74516F);
  EXPECT_FLOAT_EQ(static_cast<float>(base("reg:logistic", "9.999999E-1")), 13.74516F);
  EXPECT_FLOAT_EQ(static_cast<float>(base("count:poisson", "[9.999999E-1]")), -1.1920929e-07F);
  EXPECT_FLOAT_EQ(static_cast<float>(base("reg:gamma", "[1E-30]")), -69.07755F);
  EXPECT_EQ(base("reg:squarederror", "1E-1"), static_cast<double>(0.1F));
}

TEST(Xgboost, SaysThatItUsesAllRounds) {
  json model = xgboost_json();
  learner_of(model)["attributes"]["best_iteration"] = "0";
  EXPECT_EQ(booster_of(model).note, "the file's best_iteration is 0; like Booster.predict, all 2 rounds are used");
  EXPECT_EQ(booster_of(model).caution,
            "all 2 rounds are used, as Booster.predict does; XGBClassifier and XGBRegressor stop at the file's "
            "best_iteration, 0, and predict otherwise");
  EXPECT_THAT(scores_of(model, {0, 0, 0}), ElementsAre(19));
  learner_of(model)["gradient_booster"]["model"].erase("iteration_indptr");
  EXPECT_EQ(booster_of(model).note, "the file's best_iteration is 0; like Booster.predict, all 2 rounds are used");
  learner_of(model)["attributes"]["best_iteration"] = "1";
  EXPECT_EQ(booster_of(model).note, "");
}

TEST(Xgboost, ReadsTheTextsOfCategories) {
  json model = xgboost_json();
  json& cats = learner_of(model)["gradient_booster"]["model"]["cats"];
  const json none = {{"offsets", json::array()}, {"values", json::array()}};
  cats = {{"enc", {none, {{"offsets", {0, 3, 3, 5}}, {"values", {'r', 'e', 'd', 'a', 'b'}}}, none}}};
  EXPECT_THAT(booster_of(model).categories, ElementsAre(Pair(1U, ElementsAre("red", "", "ab"))));
  cats["enc"][1] = {{"type", 15}, {"values", {-7, 5, 900}}};
  EXPECT_THAT(booster_of(model).categories, ElementsAre(Pair(1U, ElementsAre("-7", "5", "900"))));
  cats["enc"][1] = {{"type", 2}, {"values", {-7.5, 1e20, 0.1}}};
  EXPECT_THAT(booster_of(model).categories, ElementsAre(Pair(1U, ElementsAre("-7.5", "code 1", "0.1"))));
  cats["enc"][1] = {{"type", 2}, {"values", {-7.5, 2.0, 0.1}}};
  EXPECT_THAT(booster_of(model).categories, ElementsAre(Pair(1U, ElementsAre("-7.5", "2", "0.1"))));
  cats["enc"] = json::array();
  EXPECT_THAT(booster_of(model).categories, ElementsAre(Pair(1U, IsEmpty())));
}

// XGBoost 3.2 writes "blue", "grün" and "red" of a table of pandas like this: characters counted for bytes.
TEST(Xgboost, DoesNotTrustTextsBeyondAscii) {
  json model = xgboost_json();
  const json none = {{"offsets", json::array()}, {"values", json::array()}};
  const json colours = {{"offsets", {0, 4, 8, 11}}, {"values", {98, 108, 117, 101, 103, 114, -61, -68, 110, 114, 101}}};
  learner_of(model)["gradient_booster"]["model"]["cats"] = {{"enc", {none, colours, none}}};
  const Booster booster = booster_of(model);
  EXPECT_THAT(booster.categories, ElementsAre(Pair(1U, IsEmpty())));
  EXPECT_EQ(booster.note,
            "categories of features 1 are known by their codes alone: their texts go beyond ASCII or 2^53, where "
            "XGBoost's files are not to be trusted");
}

TEST(Xgboost, ScoresAsTheLibrary) {
  size_t files = 0;
  for (const TreeFixture& fixture : tree_fixtures()) {
    if (!fixture.name().starts_with("xgboost")) continue;
    const Matrix rows = golden_matrix(fixture, "rows");
    const double scale = golden_scale(fixture.golden.at("margins"));
    for (const std::string& path : fixture.files) {
      std::ifstream stream(path, std::ios::binary);
      const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
      EXPECT_TRUE(looks_like_xgboost(bytes)) << path;
      const Booster booster = read_xgboost(path, bytes);
      for (size_t r = 0; r < rows.rows(); r++) {
        const auto scores = booster_scores(booster, {rows.row(r).begin(), rows.row(r).end()});
        ASSERT_EQ(scores.size(), fixture.targets());
        for (size_t t = 0; t < scores.size(); t++) {
          EXPECT_NEAR(scores[t], fixture.golden.at("margins")[r][t].get<double>(), 1e-6 * scale) << path << " " << r;
        }
      }
      files++;
    }
  }
  EXPECT_GE(files, 11U);
}

}  // namespace
}  // namespace assay
