// Small LightGBM files, written by hand.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/model/trees/lightgbm.h"
#include "tests/message.h"

namespace assay::testing::lightgbm {

//   age <= 30 ? (income <= 2.5 ? 0.25 : -1) : (sort in {1, 34} ? 8 : 0.5), and -0.125 for all
inline const std::string kLightgbmModel = R"(tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=2
objective=regression
feature_names=age income sort
feature_infos=[18:90] [0:1e+308] -1:1:0:34
tree_sizes=1 2

Tree=0
num_leaves=4
num_cat=1
split_feature=0 1 2
split_gain=9 8 7
threshold=30 2.5 0
decision_type=2 2 1
left_child=1 -1 -3
right_child=2 -2 -4
leaf_value=0.25 -1 8 5e-1
leaf_weight=1 2 3 4
leaf_count=10 20 30 40
internal_value=0 0 0
internal_weight=10 3 7
internal_count=100 30 70
cat_boundaries=0 2
cat_threshold=2 4
is_linear=0
shrinkage=1


Tree=1
num_leaves=1
num_cat=0
split_feature=
split_gain=
threshold=
decision_type=
left_child=
right_child=
leaf_value=-0.125
leaf_weight=
leaf_count=100
internal_value=
internal_weight=
internal_count=
is_linear=0
shrinkage=0.1


end of trees

feature_importances:
age=1

parameters:
[boosting: gbdt]
[categorical_feature: 2]

end of parameters

pandas_categorical:null
)";

// A text with one place changed, which must be there.
inline std::string with(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

inline std::string refusal(std::string_view text) {
  return sentence([&] { read_lightgbm("m.txt", text); });
}

inline TreeEnsemble ensemble(const Booster& booster) {
  return {"m.txt", booster.source, booster.features, booster.targets, booster.aggregate, booster.base};
}

inline std::vector<double> scores(std::string_view text, const std::vector<double>& row) {
  const Booster booster = read_lightgbm("m.txt", text);
  EXPECT_EQ(row.size(), booster.features);
  const TreeEnsemble trees = ensemble(booster);
  std::vector<std::byte> scratch(trees.scratch_count() * TreeEnsemble::kScratchSize);
  std::vector<double> made;
  trees.for_rows(row.data(), 1, row.size(), scratch.data(),
                 [&](size_t, std::span<double> all, const uint8_t*) { made.assign(all.begin(), all.end()); });
  return made;
}

// A file of stumps "first feature <= threshold ? 1 : 2", or of the lines given.
inline std::string file_of(std::string_view head, const std::vector<std::string>& trees) {
  std::string text = fmt::format("tree\nversion=v3\nmax_feature_idx=0\nfeature_names=Column_0\n{}\n\n", head);
  for (size_t i = 0; i < trees.size(); i++) text += fmt::format("Tree={}\n{}\n\n", i, trees[i]);
  return text + "end of trees\n";
}
inline std::string stump(double threshold, int decision_type) {
  return fmt::format(
      "num_leaves=2\nnum_cat=0\nsplit_feature=0\nthreshold={}\ndecision_type={}\nleft_child=-1\nright_child=-2\n"
      "leaf_value=1 2",
      threshold, decision_type);
}
inline std::string constant(double value) { return fmt::format("num_leaves=1\nnum_cat=0\nleaf_value={}", value); }
inline constexpr const char* kOne = "num_tree_per_iteration=1";

}  // namespace assay::testing::lightgbm
