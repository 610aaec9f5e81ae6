// Files of XGBoost that are not as they must be: one sentence that names the file, the tree and the field.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>

#include "tests/message.h"
#include "tests/model/trees/xgboost_json.h"

namespace assay {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using namespace assay::testing::xgboost;

struct Refusal {
  std::function<void(json&)> change;
  const char* message;
};

// Read and made into an ensemble, which finds what only walks find.
std::string refusal_of(const std::string& bytes) {
  return sentence([&] { booster_scores(read_xgboost("m.json", bytes), {0, 0, 0}); });
}

void expect_refusals(const std::vector<Refusal>& refusals) {
  for (const Refusal& each : refusals) {
    json model = xgboost_json();
    each.change(model);
    EXPECT_EQ(refusal_of(model.dump()), fmt::format("m.json: {}", each.message));
  }
}

json& model_of(json& model) { return learner_of(model)["gradient_booster"]["model"]; }

TEST(XgboostRefusals, OfTheLearner) {
  expect_refusals({
      {[](json& m) { m.erase("learner"); }, "expected learner to be an object, found nothing"},
      {[](json& m) { m["learner"] = "x"; }, "expected learner to be an object, found a text"},
      {[](json& m) { learner_of(m).erase("learner_model_param"); },
       "expected learner_model_param to be an object, found nothing"},
      {[](json& m) { learner_of(m)["objective"]["name"] = 3; }, "expected name to be a text, found a number"},
      {[](json& m) { parameter_of(m, "num_feature") = "0"; }, "expected num_feature to be at least 1, found 0"},
      {[](json& m) { learner_of(m)["learner_model_param"].erase("num_feature"); },
       "expected num_feature to be at least 1, found 0"},
      {[](json& m) { parameter_of(m, "num_feature") = "2097153"; },
       "expected num_feature to be a whole number from 0 to 2097152, found '2097153'"},
      {[](json& m) { parameter_of(m, "num_feature") = -1; },
       "expected num_feature to be a whole number from 0 to 2097152, found -1"},
      {[](json& m) { parameter_of(m, "num_feature") = "3x"; },
       "expected num_feature to be a whole number from 0 to 2097152, found '3x'"},
      {[](json& m) { parameter_of(m, "num_feature") = json::array({3}); },
       "expected num_feature to be a whole number from 0 to 2097152, found an array of numbers"},
      {[](json& m) { parameter_of(m, "num_class") = "1000000000"; },
       "expected num_class to be a whole number from 0 to 65536, found '1000000000'"},
      {[](json& m) { parameter_of(m, "num_class") = parameter_of(m, "num_target") = "2"; },
       "expected num_class or num_target above 1, found 2 and 2"},
      {[](json& m) { learner_of(m)["objective"]["name"] = "multi:softprob"; },
       "expected num_class above 1 for objective multi:softprob, found 0"},
      {[](json& m) { parameter_of(m, "base_score") = "half"; },
       "expected base_score to be one finite number, or some in brackets, found 'half'"},
      {[](json& m) { parameter_of(m, "base_score") = "[1E0,]"; },
       "expected base_score to be one finite number, or some in brackets, found '[1E0,]'"},
      {[](json& m) { parameter_of(m, "base_score") = "[1E0;2E0]"; },
       "expected base_score to be one finite number, or some in brackets, found '[1E0;2E0]'"},
      {[](json& m) { parameter_of(m, "base_score") = "nan"; },
       "expected base_score to be one finite number, or some in brackets, found 'nan'"},
      {[](json& m) { parameter_of(m, "base_score") = "[1E0,2E0]"; },
       "expected base_score to be one number, or one for each of 1 targets, found '[1E0,2E0]'"},
      {[](json& m) {
         learner_of(m)["objective"]["name"] = "binary:logistic";
         parameter_of(m, "base_score") = "2E0";
       },
       "expected base_score to be a probability for this objective, found '2E0'"},
      {[](json& m) {
         learner_of(m)["objective"]["name"] = "reg:gamma";
         parameter_of(m, "base_score") = "0E0";
       },
       "expected base_score to be above 0 for this objective, found '0E0'"},
      {[](json& m) { learner_of(m)["feature_names"] = {"a", "b"}; }, "expected feature_names of 3 features, found 2"},
      {[](json& m) { learner_of(m)["feature_names"] = {"a", "b", "a"}; },
       "expected feature_names to differ, found 'a' twice"},
      {[](json& m) { learner_of(m)["feature_names"] = {1, 2, 3}; },
       "expected feature_names to be an array without numbers, found an array of numbers"},
      {[](json& m) { learner_of(m)["feature_names"] = {"a", "b", nullptr}; },
       "expected feature_names to be texts in UTF-8, found null"},
      {[](json& m) { learner_of(m)["feature_types"] = json::array({"c"}); },
       "expected feature_types of 3 features, found 1"},
  });
}

TEST(XgboostRefusals, OfTheBooster) {
  expect_refusals({
      {[](json& m) { learner_of(m)["gradient_booster"]["name"] = "gblinear"; },
       "expected a booster of trees (gbtree or dart), found gblinear, a linear model; its weights are in the file and "
       "need no explanation by trees"},
      {[](json& m) { learner_of(m)["gradient_booster"]["name"] = "gbforest"; },
       "expected a booster of trees (gbtree or dart), found 'gbforest'"},
      {[](json& m) { learner_of(m)["gradient_booster"]["name"] = "dart"; },
       "expected weight_drop to be an array of numbers, found nothing"},
      {[](json& m) {
         json& booster = learner_of(m)["gradient_booster"];
         booster = {{"name", "dart"}, {"gbtree", booster}, {"weight_drop", {0.5}}};
       },
       "expected weight_drop of 2 trees, found 1"},
      {[](json& m) { model_of(m)["trees"].erase(1); }, "expected 2 trees as num_trees says, found 1"},
      {[](json& m) { model_of(m)["gbtree_model_param"]["num_trees"] = "-2"; },
       "expected num_trees to be a whole number from 0 to 2147483648, found '-2'"},
      {[](json& m) { model_of(m)["tree_info"] = {0}; }, "expected tree_info of 2 trees, found 1"},
      {[](json& m) { model_of(m)["tree_info"] = {0, 1}; }, "expected tree_info[1] to be a target below 1, found 1"},
      {[](json& m) { model_of(m)["tree_info"] = {-1, 0}; }, "expected tree_info[0] to be a target below 1, found -1"},
      {[](json& m) { model_of(m)["trees"][1] = nullptr; }, "tree 1: expected an object, found null"},
      {[](json& m) { model_of(m)["cats"]["enc"] = json::array({json::object()}); },
       "expected categories (enc) of 3 features, found 1"},
      {[](json& m) { model_of(m)["cats"]["enc"] = {json::object(), json::object(), json::object()}; },
       "categories of feature 0: expected values to be an array of numbers, found nothing"},
  });
}

TEST(XgboostRefusals, OfCategories) {
  const auto with = [](json offsets, json values) {
    return [=](json& m) {
      const json none = {{"offsets", json::array()}, {"values", json::array()}};
      model_of(m)["cats"] = {{"enc", {none, {{"offsets", offsets}, {"values", values}}, none}}};
    };
  };
  expect_refusals({
      {with({0, 2, 1}, {97, 98}),
       "categories of feature 1: expected offsets in order and within 2 bytes, found 2 before 1"},
      {with({0, 3}, {97, 98}),
       "categories of feature 1: expected offsets in order and within 2 bytes, found 0 before 3"},
      {with({-1, 1}, {97, 98}),
       "categories of feature 1: expected offsets in order and within 2 bytes, found -1 before 1"},
      {with({0, 1}, {256}), "categories of feature 1: expected bytes in values, found 256"},
      {with({0, 1, 2}, {97, 97}), "categories of feature 1: expected each once, found 'a' twice"},
  });
}

TEST(XgboostRefusals, OfATree) {
  const auto set = [](const char* key, json value) { return [=](json& m) { trees_of(m)[0][key] = value; }; };
  expect_refusals({
      {[](json& m) { trees_of(m)[0].erase("left_children"); },
       "tree 0: expected left_children to be an array of numbers, found nothing"},
      {set("left_children", "-1"), "tree 0: expected left_children to be an array of numbers, found a text"},
      {set("left_children", json::array()), "tree 0: expected left_children to have a node, found none"},
      {set("left_children", {"1", "2"}),
       "tree 0: expected left_children to be an array of numbers, found an array without numbers"},
      {set("right_children", {2, -1}), "tree 0: expected right_children for each of 5 nodes, found 2"},
      {set("split_conditions", {2, -1}), "tree 0: expected split_conditions for each of 5 nodes, found 2"},
      {set("split_indices", {2, -1}), "tree 0: expected split_indices for each of 5 nodes, found 2"},
      {set("default_left", {2, -1}), "tree 0: expected default_left for each of 5 nodes, found 2"},
      {set("split_type", {2, -1}), "tree 0: expected split_type for each of 5 nodes, found 2"},
      {set("sum_hessian", {2, -1}), "tree 0: expected sum_hessian for each of 5 nodes, found 2"},
      {[](json& m) { trees_of(m)[1]["tree_param"]["num_nodes"] = "4"; },
       "tree 1: expected 4 nodes as num_nodes says, found 3"},
      {set("left_children", {5, -1, 3, -1, -1}),
       "tree 0: expected left_children[0] to be a whole number from 0 to below 5, found 5"},
      {set("left_children", {-2, -1, 3, -1, -1}),
       "tree 0: expected left_children[0] to be a whole number from 0 to below 5, found -2"},
      {set("left_children", {1.5, -1.0, 3.0, -1.0, -1.0}),
       "tree 0: expected left_children[0] to be a whole number from 0 to below 5, found 1.5"},
      {set("right_children", {2, -1, 1e18, -1, -1}),
       "tree 0: expected right_children[2] to be a whole number from 0 to below 5, found 1e+18"},
      {set("left_children", {1, -1, 0, -1, -1}), "node 0 of tree 0 is reached twice; the nodes must form trees"},
      {set("left_children", {2, -1, 3, -1, -1}), "node 2 of tree 0 is reached twice; the nodes must form trees"},
      {set("split_indices", {3, 0, 1, 0, 0}), "node 0 of tree 0 tests feature 3, the input has 3"},
      {set("split_indices", {-1, 0, 1, 0, 0}),
       "tree 0: expected split_indices[0] to be a whole number from 0 to below 4294967296, found -1"},
      {set("default_left", {2, 0, 0, 0, 0}),
       "tree 0: expected default_left[0] to be a whole number from 0 to below 2, found 2"},
      {set("split_type", {0, 0, 2, 0, 0}),
       "tree 0: expected split_type[2] to be a whole number from 0 to below 2, found 2"},
      {set("split_type", {1, 0, 1, 0, 0}), "tree 0: expected categories of node 0, found none"},
      {set("categories_nodes", {5}),
       "tree 0: expected categories_nodes[0] to be a whole number from 0 to below 5, found 5"},
      {set("categories_segments", {3}),
       "tree 0: expected categories_segments[0] to be a whole number from 0 to below 3, found 3"},
      {set("categories_sizes", {3}),
       "tree 0: expected categories_sizes[0] to be a whole number from 0 to below 3, found 3"},
      {set("categories_sizes", {1, 2}),
       "tree 0: expected categories_segments and categories_sizes of 1 nodes, found 1 and 2"},
      {set("categories", {1, -3}),
       "tree 0: expected categories[1] to be a whole number from 0 to below 2147483648, found -3"},
      {set("categories", {0.5, 1.0}),
       "tree 0: expected categories[0] to be a whole number from 0 to below 2147483648, found 0.5"},
      {[](json& m) {
         trees_of(m)[0]["categories_nodes"] = {2, 0};
         trees_of(m)[0]["categories_segments"] = {0, 1};
         trees_of(m)[0]["categories_sizes"] = {2, 1};
       },
       "tree 0: expected every category in the set of one node, found more at node 0"},
      {[](json& m) { trees_of(m)[0]["tree_param"]["size_leaf_vector"] = "2"; },
       "tree 0: expected vectors of leaves as XGBoost 3.2 writes them (leaf_weights; load and save the model with it), "
       "found none"},
      {[](json& m) {
         trees_of(m)[0]["tree_param"]["size_leaf_vector"] = "2";
         trees_of(m)[0]["leaf_weights"] = {1.0, 2.0};
       },
       "tree 0: expected leaf_weights of 1 targets, found 2 in vectors of 2"},
      {[](json& m) {
         parameter_of(m, "num_target") = "2";
         trees_of(m)[0]["tree_param"]["size_leaf_vector"] = "2";
         trees_of(m)[0]["leaf_weights"] = {1.0, 2.0};
         trees_of(m)[0]["right_children"] = {2, 0, 4, 1, 0};
       },
       "tree 0: expected right_children[3] to be a whole number from 0 to below 1, found 1"},
  });
}

// nlohmann writes no such numbers, XGBoost does.
TEST(XgboostRefusals, OfNumbersThatAreNone) {
  const auto with = [](std::string_view from, std::string_view to) {
    std::string text = xgboost_json().dump();
    text.replace(text.find(from), from.size(), to);
    return refusal_of(text);
  };
  EXPECT_EQ(with("\"split_conditions\":[-2.0,10.0", "\"split_conditions\":[NaN,10.0"),
            "m.json: tree 1: expected split_conditions[0] to be a number, found nan");
  EXPECT_EQ(with("\"split_conditions\":[-2.0,10.0", "\"split_conditions\":[-2.0,-Infinity"),
            "m.json: tree 1: expected split_conditions[1] to be a finite number at a leaf, found -inf");
  EXPECT_EQ(with("\"split_conditions\":[-2.0,10.0", "\"split_conditions\":[-2.0,1e39"),
            "m.json: tree 1: expected split_conditions[1] to be a finite number at a leaf, found 1e+39");
  // Fields that are not used may hold what they want, and a set's threshold too.
  EXPECT_EQ(with("\"loss_changes\":[1.5", "\"loss_changes\":[Infinity"), "no error");
  EXPECT_EQ(with("1e-45", "NaN"), "no error");
}

TEST(XgboostRefusals, OfOtherFormats) {
  EXPECT_EQ(
      refusal_of("binf...."),
      "m.json: expected XGBoost's JSON or UBJSON, found its old binary format; load it with an XGBoost before 3.1 "
      "and save it as .json");
  EXPECT_EQ(refusal_of("[\n  { \"nodeid\": 0, \"leaf\": 1 }\n]"),
            "m.json: expected what Booster.save_model writes, found a dump of the trees (Booster.dump_model), which "
            "lacks what turns them into predictions");
  EXPECT_EQ(refusal_of(""), "m.json: expected a value of JSON, found the end of the file at byte 0");
  EXPECT_EQ(refusal_of("[1]"), "m.json: expected an object, found an array of numbers");
  EXPECT_EQ(refusal_of("{}"), "m.json: expected learner to be an object, found nothing");
}

TEST(XgboostRefusals, OfTruncatedFiles) {
  const json model = xgboost_json();
  const std::string text = model.dump();
  for (size_t size = 0; size < text.size(); size++) {
    EXPECT_THAT(refusal_of(text.substr(0, size)), HasSubstr("m.json: expected")) << size;
  }
  const std::vector<uint8_t> bytes = json::to_ubjson(model, true, true);
  for (size_t size = 0; size < bytes.size(); size++) {
    EXPECT_THAT(refusal_of(std::string(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size))),
                HasSubstr("m.json: expected"))
        << size;
  }
}

}  // namespace
}  // namespace assay
