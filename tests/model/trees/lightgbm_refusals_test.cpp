#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/message.h"
#include "tests/model/trees/lightgbm_text.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace assay::testing::lightgbm;

TEST(Lightgbm, RefusesHeadsThatAreWrong) {
  struct Case {
    const char* from;
    const char* to;
    const char* message;
  };
  const std::vector<Case> cases = {
      {"tree\n", "trees\n", "m.txt: expected 'tree' as the first line, found 'trees'"},
      {"version=v4\n", "", "m.txt: expected a line version=..., found none"},
      {"version=v4", "version=v2", "m.txt, version: expected v3 or v4, which LightGBM 3 and 4 write, found 'v2'"},
      {"max_feature_idx=2", "max_feature_idx=2097152",
       "m.txt, max_feature_idx: expected a whole number from 0 to 2097151, found '2097152'"},
      {"max_feature_idx=2", "max_feature_idx=-1",
       "m.txt, max_feature_idx: expected a whole number from 0 to 2097151, found '-1'"},
      {"max_feature_idx=2", "max_feature_idx=3",
       "m.txt, feature_names: expected 4 names as max_feature_idx=3 says, found 3"},
      {"age income", "age\xff income", "m.txt, feature_names: expected UTF-8, found 'age\\xff'"},
      {"num_tree_per_iteration=1", "num_tree_per_iteration=0",
       "m.txt, num_tree_per_iteration: expected a whole number from 1 to 2097152, found '0'"},
      {"num_tree_per_iteration=1", "num_tree_per_iteration=2",
       "m.txt, num_tree_per_iteration: expected 1 for the objective regression, found 2"},
      {"objective=regression", "objective=multiclass",
       "m.txt, num_tree_per_iteration: expected 2 or more for the objective multiclass, found 1"},
      {"objective=regression", "objective=binary sigmoid:0",
       "m.txt, objective: expected sigmoid:, a number above 0, found 'sigmoid:0'"},
      {"objective=regression", "objective=binary sigmoid:inf",
       "m.txt, objective: expected sigmoid:, a number above 0, found 'sigmoid:inf'"},
      {"objective=regression", "objective=regression num_class:3",
       "m.txt, objective: expected num_class:1 as num_tree_per_iteration says, found 'num_class:3'"},
      {"label_index=0", "version=v4", "m.txt: 'version' is there twice"},
      {"Tree=1", "Tree=0", "m.txt: expected a line Tree=1, found 'Tree=0'"},
      {"Tree=1", "Tree=2", "m.txt: expected a line Tree=1, found 'Tree=2'"},
      {"Tree=0", "Tree=x", "m.txt: expected a line Tree=0, found 'Tree=x'"},
      {"end of trees", "", "m.txt: expected a line 'end of trees', found the end of the file"},
      {"tree_sizes=1 2", "end of trees", "m.txt: expected at least one tree, found none"},
  };
  for (const Case& c : cases) {
    std::string text = with(kLightgbmModel, c.from, c.to);
    // Its parameters would be keys of its last tree.
    if (std::string_view(c.from) == "end of trees") text.resize(text.find("feature_importances"));
    EXPECT_EQ(refusal(text), c.message);
  }
  EXPECT_THAT(refusal(with(kLightgbmModel, "objective=regression", "objective=regresion")),
              HasSubstr("(did you mean 'regression'?), found 'regresion'"));
}

TEST(Lightgbm, RefusesTreesThatAreWrong) {
  struct Case {
    const char* from;
    const char* to;
    const char* message;
  };
  const std::vector<Case> cases = {
      {"num_leaves=4\n", "", "m.txt: tree 0: expected a line num_leaves=..., found none"},
      {"num_leaves=1", "num_leaves=0",
       "m.txt: tree 1, num_leaves: expected a whole number from 1 to 2147483647, found '0'"},
      {"num_leaves=4", "num_leaves=2147483647", "m.txt: tree 0, leaf_value: expected 2147483647 numbers, found 4"},
      {"num_leaves=4", "num_leaves=99999999999999999999",
       "m.txt: tree 0, num_leaves: expected a whole number from 1 to 2147483647, found '99999999999999999999'"},
      {"num_cat=1", "num_cat=2147483647", "m.txt: tree 0, cat_boundaries: expected 2147483648 numbers, found 2"},
      {"num_cat=1", "num_cat=0",
       "m.txt: tree 0, threshold: expected numbers below num_cat = 0 in categorical splits, found 0"},
      {"threshold=30 2.5 0", "threshold=30 2.5 0.5",
       "m.txt: tree 0, threshold: expected numbers below num_cat = 1 in categorical splits, found 0.5"},
      {"threshold=30 2.5 0", "threshold=30 2.5 -1",
       "m.txt: tree 0, threshold: expected numbers below num_cat = 1 in categorical splits, found -1"},
      {"threshold=30 2.5 0", "threshold=30 2.5 nan",
       "m.txt: tree 0, threshold: expected numbers below num_cat = 1 in categorical splits, found nan"},
      {"threshold=30 2.5 0", "threshold=30 nan 0", "m.txt: tree 0, threshold: expected numbers, found nan"},
      {"8 5e-1", "8 -inf", "m.txt: tree 0, leaf_value: expected finite numbers, found -inf"},
      {"threshold=30 2.5 0", "threshold=30 2,5 0", "m.txt: tree 0, threshold: expected numbers, found '2,5'"},
      {"threshold=30 2.5 0", "threshold=30 2.5", "m.txt: tree 0, threshold: expected 3 numbers, found 2"},
      {"threshold=30 2.5 0", "threshold=30 2.5 0 0", "m.txt: tree 0, threshold: expected 3 numbers, found 4"},
      {"split_feature=0 1 2", "split_feature=0 1 3",
       "m.txt: tree 0, split_feature: expected numbers from 0 to 2, found 3"},
      {"split_feature=0 1 2", "split_feature=0 1 -1",
       "m.txt: tree 0, split_feature: expected numbers from 0 to 2, found -1"},
      {"split_feature=0 1 2", "split_feature=0 1 1.5",
       "m.txt: tree 0, split_feature: expected whole numbers, found '1.5'"},
      {"decision_type=2 2 1", "decision_type=2 12 1",
       "m.txt: tree 0, decision_type: expected numbers from 0 to 11, found 12"},
      {"decision_type=2 2 1", "decision_type=2 -2 1",
       "m.txt: tree 0, decision_type: expected numbers from 0 to 11, found -2"},
      {"left_child=1 -1 -3", "left_child=1 -1 -5",
       "m.txt: tree 0, left_child: expected numbers from -4 to 2, found -5"},
      {"left_child=1 -1 -3", "left_child=3 -1 -3", "m.txt: tree 0, left_child: expected numbers from -4 to 2, found 3"},
      {"left_child=1 -1 -3", "left_child=-9223372036854775808 -1 -3",
       "m.txt: tree 0, left_child: expected numbers from -4 to 2, found -9223372036854775808"},
      {"right_child=2 -2 -4", "right_child=2 -1 -4",
       "m.txt: tree 0, right_child: expected every node below one other, found leaf 0 again"},
      {"right_child=2 -2 -4", "right_child=2 -2 0",
       "m.txt: tree 0, right_child: expected every node below one other, found node 0 again"},
      {"right_child=2 -2 -4", "right_child=1 -2 -4",
       "m.txt: tree 0, right_child: expected every node below one other, found node 1 again"},
      {"leaf_value=0.25", "leaf_value=1e999", "m.txt: tree 0, leaf_value: expected numbers, found '1e999'"},
      {"leaf_value=-0.125", "leaf_value=", "m.txt: tree 1, leaf_value: expected 1 number, found 0"},
      {"leaf_count=10 20 30 40", "leaf_count=10", "m.txt: tree 0, leaf_count: expected 4 numbers, found 1"},
      {"internal_count=100 30 70", "internal_count=100 30 x",
       "m.txt: tree 0, internal_count: expected numbers, found 'x'"},
      {"cat_boundaries=0 2", "cat_boundaries=1 2",
       "m.txt: tree 0, cat_boundaries: expected numbers that start at 0 and never fall, found 1 at position 0"},
      {"cat_boundaries=0 2", "cat_boundaries=0 -2",
       "m.txt: tree 0, cat_boundaries: expected numbers that start at 0 and never fall, found -2 at position 1"},
      {"cat_boundaries=0 2", "cat_boundaries=0 9000000000000000000",
       "m.txt: tree 0, cat_threshold: expected 9000000000000000000 numbers, found 2"},
      {"cat_boundaries=0 2\n", "", "m.txt: tree 0: expected a line cat_boundaries=..., found none"},
      {"cat_threshold=2 4", "cat_threshold=2 4294967296",
       "m.txt: tree 0, cat_threshold: expected numbers of 32 bits, found 4294967296"},
      {"cat_threshold=2 4", "cat_threshold=2 -4",
       "m.txt: tree 0, cat_threshold: expected numbers of 32 bits, found -4"},
      {"is_linear=0", "is_linear=1",
       "m.txt: tree 0, is_linear: expected 0, constant leaves, found 1, leaves with linear models, which cannot be "
       "read"},
      {"split_gain=9 8 7", "num_cat=1", "m.txt: tree 0: 'num_cat' is there twice"},
  };
  for (const Case& c : cases) EXPECT_EQ(refusal(with(kLightgbmModel, c.from, c.to)), c.message);
}

// Up to the end of the trees every beginning of the file is refused in a sentence; after it, the model is whole.
TEST(Lightgbm, RefusesTruncatedFiles) {
  const size_t whole = kLightgbmModel.find("end of trees") + std::string_view("end of trees").size();
  for (size_t size = 0; size < kLightgbmModel.size(); size++) {
    const std::string text = kLightgbmModel.substr(0, size);
    if (size < whole) {
      EXPECT_THAT(refusal(text), HasSubstr("m.txt")) << size;
    } else if (size < kLightgbmModel.find("pandas_categorical:") || size > kLightgbmModel.find("null") + 3) {
      EXPECT_THAT(scores(text, {31, 0, 1}), ElementsAre(7.875)) << size;
    }
  }
}

}  // namespace
}  // namespace assay
