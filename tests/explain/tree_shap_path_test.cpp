#include <gmock/gmock.h>

#include "assay/explain/methods.h"
#include "tests/explain/run_method.h"
#include "tests/explain/trees/tree_model.h"

namespace assay::testing {
namespace {

constexpr std::string_view kMethod = "tree_shap_path";

TEST(TreeShapPath, IsTheShapleyValueOfAllCoalitions) {
  for (uint64_t seed = 0; seed < 12; seed++) {
    SCOPED_TRACE(seed);
    const TreeSetting trees = random_tree_setting(seed, {});
    expect_by_covers(trees, explained(kMethod, trees.setting).values);
  }
}

TEST(TreeShapPath, LimitsOfTablesDoNotChangeValues) {
  for (uint64_t seed = 0; seed < 4; seed++) {
    SCOPED_TRACE(seed);
    const TreeSetting trees =
        random_tree_setting(seed, {.trees = {.features = 9, .trees = 6, .depth = 7, .targets = 3},
                                   .rows = 7,
                                   .aggregate = seed % 2 == 0 ? TreeAggregate::sum : TreeAggregate::average});
    for (const TreeTableLimits& limits : kinds_of_limits()) expect_by_covers(trees, values_within(trees, true, limits));
  }
}

TEST(TreeShapPath, GroupsAreShapleyPlayers) {
  for (uint64_t seed = 0; seed < 6; seed++) {
    SCOPED_TRACE(seed);
    const TreeSetting trees = random_tree_setting(
        seed, {.trees = {.features = 9, .trees = 4, .depth = 6}, .players = static_cast<size_t>(1 + seed)});
    for (const TreeTableLimits& limits : kinds_of_limits()) expect_by_covers(trees, values_within(trees, true, limits));
  }
}

// The base is the game's value of nobody, plus the ensemble's own, in terms of the row's target.
TEST(TreeShapPath, TheBaseIsTheMeanByCovers) {
  for (const auto aggregate : {TreeAggregate::sum, TreeAggregate::average}) {
    const TreeSetting trees = random_tree_setting(
        4, {.trees = {.trees = 5, .targets = 2}, .rows = 8, .aggregate = aggregate, .base = {10, -20}});
    const Explanations found = explain({"tree_shap_path"}, trees.setting.task(), {});
    for (size_t r = 0; r < found.rows(); r++) {
      const OutputTerm& term = trees.setting.targets.term(r);
      const double nobody = static_cast<double>(
          cover_values(trees.source, trees.setting.players, trees.setting.rows.row(r), term.output, trees.share)[0]);
      const double score = nobody + (term.output == 0 ? 10 : -20);
      EXPECT_NEAR(found.base[r], term.scale > 0 ? score : 1 - score, 1e-12);
      EXPECT_NEAR(found.gap[r], 0, 1e-5);
    }
    EXPECT_EQ(found.provenance.reference, "none");
    EXPECT_EQ(found.evaluations, 0U);
  }
}

// By hand: one branch, 30 of 40 training rows go to 4, the others to 8. The mean is 5; a row at 8 has 3 above it.
TEST(TreeShapPath, OneBranchByHand) {
  TreeSource source;
  source.nodes.resize(3);
  source.nodes[0] = {
      .mode = TreeMode::less, .feature = 1, .threshold = 0.5, .true_child = 1, .false_child = 2, .cover = 40};
  source.nodes[1] = {.first_weight = 0, .weight_count = 1, .cover = 30};
  source.nodes[2] = {.first_weight = 1, .weight_count = 1, .cover = 10};
  source.roots = {0};
  source.weights = {{0, 4}, {0, 8}};
  const Setting setting = setting_of_trees(TreeEnsemble("test", source, 2, 1, TreeAggregate::sum, {}),
                                           matrix_of({{0, 1}, {1, 0}}), matrix_of({{1, 1}}));
  const Explanations found = explain({"tree_shap_path"}, setting.task(), {});
  EXPECT_EQ(found.values(0, 0), 0);
  EXPECT_EQ(found.values(0, 1), 3);
  EXPECT_EQ(found.base[0], 5);
  // The second row is explained in 1 - score.
  EXPECT_EQ(found.values(1, 1), 1);
  EXPECT_EQ(found.base[1], -4);
}

// Covers are taken as they are, also where those of children do not sum to that of their parent: the empty coalition is
// worth 0.3 * 4 + 0.3 * 8 here.
TEST(TreeShapPath, CoversThatDoNotAddUp) {
  TreeSource source;
  source.nodes.resize(3);
  source.nodes[0] = {
      .mode = TreeMode::less, .feature = 1, .threshold = 0.5, .true_child = 1, .false_child = 2, .cover = 100};
  source.nodes[1] = {.first_weight = 0, .weight_count = 1, .cover = 30};
  source.nodes[2] = {.first_weight = 1, .weight_count = 1, .cover = 30};
  source.roots = {0};
  source.weights = {{0, 4}, {0, 8}};
  const Setting setting = setting_of_trees(TreeEnsemble("test", source, 2, 1, TreeAggregate::sum, {}),
                                           matrix_of({{0, 1}}), matrix_of({{1, 1}}));
  const Explanations found = explain({"tree_shap_path"}, setting.task(), {});
  EXPECT_NEAR(found.base[0], 3.6, 1e-12);
  EXPECT_NEAR(found.values(0, 1), 4.4, 1e-6);
}

TEST(TreeShapPath, BitsAreThoseOfTheRowAlone) {
  const TreeSetting trees =
      random_tree_setting(5, {.trees = {.features = 9, .trees = 8, .depth = 7, .targets = 3}, .rows = 700});
  expect_same_bits_everywhere(kMethod, trees.setting);
}

TEST(TreeShapPath, RefusesTreesWithoutCovers) {
  TreeSetting trees = random_tree_setting(1, {});
  trees.source.nodes[0].cover = NAN;
  trees.setting.model = std::make_shared<TreeModel>(TreeEnsemble("test", trees.source, 6, 1, TreeAggregate::sum, {}));
  EXPECT_EQ(refusal_of(kMethod, trees.setting).value_or("no refusal"),
            "needs the number of training rows at each node (covers), which trees.json does not have: use tree_shap "
            "with a background");
  EXPECT_EQ(refusal_of(kMethod, setting_of(linear_toy())).value_or("no refusal"),
            "needs a model of trees, and linear is none");
}

}  // namespace
}  // namespace assay::testing
