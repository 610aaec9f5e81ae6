#include <gmock/gmock.h>

#include <atomic>

#include "assay/explain/methods.h"
#include "tests/explain/run_method.h"
#include "tests/explain/tree_toys.h"
#include "tests/explain/trees/tree_model.h"
#include "tests/message.h"
#include "tests/on_targets.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kMethod = "tree_shap";

Result tree_shap_of(const Setting& setting, const Context& context = {}) {
  return explained(kMethod, setting, context);
}

TEST(TreeShap, IsTheShapleyValueOfAllCoalitions) {
  for (uint64_t seed = 0; seed < 12; seed++) {
    SCOPED_TRACE(seed);
    const TreeSetting trees = random_tree_setting(seed, {.base = {0.5}});
    expect_interventional(trees, tree_shap_of(trees.setting).values);
  }
}

TEST(TreeShap, LimitsOfTablesDoNotChangeValues) {
  for (uint64_t seed = 0; seed < 4; seed++) {
    const TreeSetting trees = random_tree_setting(seed, {.trees = {.features = 7, .trees = 4, .depth = 6}, .rows = 6});
    for (const TreeTableLimits& limits : kinds_of_limits()) {
      SCOPED_TRACE(limits.bits);
      expect_interventional(trees, values_within(trees, false, limits));
    }
  }
}

TEST(TreeShap, GroupsAreShapleyPlayers) {
  for (uint64_t seed = 0; seed < 6; seed++) {
    SCOPED_TRACE(seed);
    const TreeSetting trees = random_tree_setting(
        seed, {.trees = {.features = 9, .trees = 4, .depth = 6}, .players = static_cast<size_t>(1 + seed)});
    for (const TreeTableLimits& limits : kinds_of_limits()) {
      expect_interventional(trees, values_within(trees, false, limits));
    }
  }
}

TEST(TreeShap, EachRowHasItsTarget) {
  for (const auto aggregate : {TreeAggregate::sum, TreeAggregate::average}) {
    const TreeSetting trees = random_tree_setting(
        3, {.trees = {.trees = 9, .targets = 4}, .rows = 12, .aggregate = aggregate, .base = {1, 2, 3, 4}});
    for (const TreeTableLimits& limits : kinds_of_limits()) {
      expect_interventional(trees, values_within(trees, false, limits));
    }
  }
}

// More players than a table has columns, so that units go by groups; too many for brute force. Walks are independent of
// tables, and tested against brute force themselves.
TEST(TreeShap, TablesOfManyPlayersAreAsWalks) {
  for (const size_t features : {16, 17, 40, 90}) {
    SCOPED_TRACE(features);
    const TreeSetting trees = random_tree_setting(
        features, {.trees = {.features = features, .trees = 12, .depth = 7, .targets = 2}, .rows = 40});
    const Matrix expected = values_within(trees, false, walks_alone());
    const Matrix by_covers = values_within(trees, true, walks_alone());
    for (const TreeTableLimits& limits : kinds_of_limits()) {
      const Matrix found = values_within(trees, false, limits);
      const Matrix other = values_within(trees, true, limits);
      for (size_t i = 0; i < expected.values().size(); i++) {
        ASSERT_NEAR(found.values()[i], expected.values()[i], 1e-6);
        ASSERT_NEAR(other.values()[i], by_covers.values()[i], 1e-6);
      }
    }
  }
}

TEST(TreeShap, IsExactShapleyOnTheSameGame) {
  const TreeSetting trees =
      random_tree_setting(8, {.trees = {.features = 11, .trees = 30, .depth = 6}, .rows = 12, .base = {-3}});
  const Explanations found = explain({"tree_shap"}, trees.setting.task(), {});
  const Explanations expected = explain({"exact_shapley"}, trees.setting.task(), {});
  double scale = 1;
  for (const float each : expected.values.values()) scale = std::max<double>(scale, std::abs(each));
  for (size_t i = 0; i < found.values.values().size(); i++) {
    EXPECT_NEAR(found.values.values()[i], expected.values.values()[i], 1e-6 * scale);
  }
  EXPECT_EQ(found.base, expected.base);
  for (size_t r = 0; r < found.rows(); r++) EXPECT_NEAR(found.gap[r], 0, 2e-6 * scale);
  EXPECT_EQ(found.evaluations, 0U);
}

TEST(TreeShap, BitsAreThoseOfTheRowAlone) {
  const TreeSetting trees =
      random_tree_setting(5, {.trees = {.features = 9, .trees = 8, .depth = 7, .targets = 3}, .rows = 700});
  expect_same_bits_everywhere(kMethod, trees.setting);
  // Some trees by tables in many batches, some walked.
  const TreeTableLimits limits = {.bits = 5, .small_bits = 3, .batch_bytes = 4096};
  const Matrix one = values_within(trees, false, limits, on_threads(1));
  const Matrix two = values_within(trees, false, limits, on_threads(2));
  EXPECT_TRUE(same_bits(one, two));
}

// Few rows make only the rows of the tables that they need. Where tables are kept, one row goes through all trees at
// once, unless there are too many columns for that.
TEST(TreeShap, FewRowsHaveTheBitsOfMany) {
  for (uint64_t seed = 0; seed < 18; seed++) {
    SCOPED_TRACE(seed);
    const TreeSettingOptions options = {.trees = {.features = seed % 3 == 0 ? 40U : (seed == 16 ? 200U : 9U),
                                                  .trees = seed < 12 ? 6U : 30U,
                                                  .depth = 4 + seed % 4,
                                                  .targets = 1 + seed % 2},
                                        .rows = 9,
                                        .references = seed % 4 == 0 ? 300U : 7U,
                                        .players = seed % 5 == 4 ? 5U : 0U,
                                        .aggregate = seed % 2 == 0 ? TreeAggregate::sum : TreeAggregate::average};
    const TreeSetting trees = random_tree_setting(seed, options);
    const ExplainTask whole = trees.setting.task();
    for (const bool by_covers : {false, true}) {
      const TreeGameView game{trees.trees(), whole.players, by_covers ? nullptr : &whole.reference.rows};
      for (const TreeTableLimits& limits : kinds_of_limits()) {
        const Matrix all = values_within(trees, by_covers, limits);
        Kept kept;
        for (const size_t count : {1, 3}) {
          for (size_t begin = 0; begin + count <= 9; begin += count) {
            const Targets targets = slice_targets(whole.targets, begin, begin + count);
            ExplainTask part{whole.model, whole.rows.rows_between(begin, begin + count), targets, whole.reference,
                             whole.players};
            for (Kept* own : {static_cast<Kept*>(nullptr), &kept}) {
              part.kept = own;
              Matrix some(count, whole.players.size());
              tree_values(game, part, limits, some.view(), {}, "test");
              const size_t bytes = some.values().size_bytes();
              ASSERT_EQ(std::memcmp(some.data(), all.row(begin).data(), bytes), 0)
                  << begin << ", by covers " << by_covers << (own != nullptr ? ", kept" : "");
            }
          }
        }
      }
    }
  }
}

// Kernels for one row and for many are compiled for each target.
TEST(TreeShap, OneRowHasTheBitsOfManyOnEveryTarget) {
  for (const std::string& target : all_vector_targets()) {
    const OnTarget pinned(target);
    for (const size_t features : {9, 16, 17, 40, 64}) {
      SCOPED_TRACE(target + " with " + std::to_string(features) + " features");
      const TreeSetting trees =
          random_tree_setting(features, {.trees = {.features = features, .trees = 25, .depth = 6}, .rows = 20});
      const ExplainTask whole = trees.setting.task();
      const TreeGameView game{trees.trees(), whole.players, &whole.reference.rows};
      const Matrix all = values_within(trees, false, {});
      Kept kept;
      for (size_t r = 0; r < 20; r++) {
        const Targets targets = slice_targets(whole.targets, r, r + 1);
        ExplainTask part{whole.model, whole.rows.rows_between(r, r + 1), targets, whole.reference, whole.players};
        part.kept = &kept;
        Matrix one(1, whole.players.size());
        tree_values(game, part, {}, one.view(), {}, "test");
        ASSERT_EQ(std::memcmp(one.data(), all.row(r).data(), one.values().size_bytes()), 0) << r;
      }
    }
  }
}

TEST(TreeShap, ALargeCommonValueCostsNoDigits) {
  TreeSetting small = random_tree_setting(6, {.trees = {.trees = 5, .depth = 6}, .rows = 10});
  TreeSource lifted = small.source;
  for (TreeSource::Node& node : lifted.nodes) {
    if (node.mode != TreeMode::leaf) continue;
    // One weight more, the same for all leaves.
    const size_t first = lifted.weights.size();
    for (size_t w = 0; w < node.weight_count; w++) {
      const TreeWeight weight = lifted.weights[node.first_weight + w];
      lifted.weights.push_back(weight);
    }
    lifted.weights.push_back({0, 1 << 20});
    node.first_weight = first;
    node.weight_count++;
  }
  TreeSetting large = small;
  large.setting.model = std::make_shared<TreeModel>(TreeEnsemble("test", lifted, 6, 1, TreeAggregate::sum, {}));
  for (const bool by_covers : {false, true}) {
    const Matrix found = values_within(large, by_covers, {});
    const Matrix expected = values_within(small, by_covers, {});
    for (size_t i = 0; i < found.values().size(); i++) ASSERT_NEAR(found.values()[i], expected.values()[i], 1e-6);
  }
}

TEST(TreeShap, ALeafWithoutNumberTouchesOnlyThoseWhoMayReachIt) {
  // x0 <= 0 ? (x1 <= 0 ? NaN : 1) : 2, against the reference (1, 1).
  TreeSource source;
  source.nodes.resize(5);
  source.nodes[0] = {.mode = TreeMode::less_equal, .feature = 0, .true_child = 1, .false_child = 2};
  source.nodes[1] = {.mode = TreeMode::less_equal, .feature = 1, .true_child = 3, .false_child = 4};
  source.nodes[2] = {.first_weight = 2, .weight_count = 1};
  source.nodes[3] = {.first_weight = 0, .weight_count = 1};
  source.nodes[4] = {.first_weight = 1, .weight_count = 1};
  source.roots = {0};
  source.weights = {{0, NAN}, {0, 1}, {0, 2}};
  const Setting setting = setting_of_trees(TreeEnsemble("test", source, 2, 1, TreeAggregate::sum, {}),
                                           matrix_of({{0, 1}, {1, 0}, {0, 0}}), matrix_of({{1, 1}}));
  const Matrix found = tree_shap_of(setting).values;
  EXPECT_EQ(found(0, 0), -1);
  EXPECT_EQ(found(0, 1), 0);
  EXPECT_EQ(found(1, 0), 0);
  EXPECT_EQ(found(1, 1), 0);
  EXPECT_TRUE(std::isnan(found(2, 0)) && std::isnan(found(2, 1)));
}

TEST(TreeShap, WhatAnInfiniteLeafGivesIsUndefined) {
  // x0 <= 0 ? infinity : 1, against the reference (1, 1).
  TreeSetting trees;
  trees.source.nodes.resize(3);
  trees.source.nodes[0] = {.mode = TreeMode::less_equal, .feature = 0, .true_child = 1, .false_child = 2, .cover = 4};
  trees.source.nodes[1] = {.first_weight = 0, .weight_count = 2, .cover = 1};
  trees.source.nodes[2] = {.first_weight = 2, .weight_count = 2, .cover = 3};
  trees.source.roots = {0};
  trees.source.weights = {{0, INFINITY}, {1, -INFINITY}, {0, 1}, {1, 1}};
  trees.setting = setting_of_trees(TreeEnsemble("test", trees.source, 2, 2, TreeAggregate::sum, {}),
                                   matrix_of({{0, 1}, {0, 1}, {0, 1}, {0, 1}, {1, 0}}), matrix_of({{1, 1}}));
  for (const bool by_covers : {false, true}) {
    for (const TreeTableLimits& limits : {TreeTableLimits{}, walks_alone()}) {
      const Matrix found = values_within(trees, by_covers, limits);
      for (size_t r = 0; r < 4; r++) EXPECT_TRUE(std::isnan(found(r, 0))) << found(r, 0);
      for (size_t r = 0; r < 5; r++) EXPECT_EQ(found(r, 1), 0);
      EXPECT_EQ(std::isnan(found(4, 0)), by_covers);
    }
  }
}

// Each of six trees is within limits, and three of them have more numbers to rank than 16 bits hold. Tree t sends the
// numbers t, t + 6, t + 12, ... to a leaf of weight 2^t, so that a row's score and value tell its own.
TEST(TreeShap, MoreNumbersThanRanksGoInBatches) {
  TreeSource source;
  for (size_t t = 0; t < 6; t++) {
    const size_t at = source.nodes.size();
    source.nodes.resize(at + 3);
    source.nodes[at] = {.mode = TreeMode::member,
                        .feature = 0,
                        .threshold = static_cast<double>(t),
                        .true_child = at + 1,
                        .false_child = at + 2};
    source.nodes[at + 1] = {.first_weight = t, .weight_count = 1};
    source.roots.push_back(at);
    source.weights.push_back({0, static_cast<double>(1 << t)});
    source.sets.emplace_back();
    for (size_t i = 0; i < 12'000; i++) source.sets.back().push_back(static_cast<double>(6 * i + t));
  }
  Matrix rows(3'000, 1);
  for (size_t r = 0; r < rows.rows(); r++) rows(r, 0) = static_cast<float>(24 * r + r % 6);
  const Setting setting =
      setting_of_trees(TreeEnsemble("test", source, 1, 1, TreeAggregate::sum, {}), std::move(rows), matrix_of({{-1}}));
  const Matrix found = tree_shap_of(setting).values;
  for (size_t r = 0; r < found.rows(); r++) {
    ASSERT_EQ(found(r, 0), static_cast<float>(1 << r % 6) * setting.targets.term(r).scale) << r;
  }
}

TEST(TreeShap, TreesWithoutBranchesGiveNothing) {
  TreeSource source;
  source.nodes.resize(1);
  source.nodes[0].weight_count = 1;
  source.roots = {0};
  source.weights = {{0, 5}};
  const Setting setting = setting_of_trees(TreeEnsemble("test", source, 3, 2, TreeAggregate::sum, {}),
                                           matrix_of({{0, 1, 2}, {3, 4, 5}, {0, 0, 0}}), matrix_of({{1, 1, 1}}));
  const Matrix found = tree_shap_of(setting).values;
  for (const float value : found.values()) EXPECT_EQ(value, 0);
}

TEST(TreeShap, TheBackgroundErrorIsThatOfTheMean) {
  TreeSetting trees = random_tree_setting(9, {.trees = {.targets = 2}, .rows = 5, .references = 6});
  EXPECT_TRUE(tree_shap_of(trees.setting).out.background_error.empty());
  const std::string with_error = "tree_shap:background_error=true";
  const Result found = explained(with_error, trees.setting);
  const Matrix references = trees.setting.reference.rows;
  const size_t players = found.values.cols();
  Matrix64 sums(5, players);
  Matrix64 squares(5, players);
  for (size_t b = 0; b < 6; b++) {
    trees.setting.reference.rows = Matrix(1, players);
    std::copy_n(references.row(b).data(), players, trees.setting.reference.rows.row(0).data());
    const Result alone = explained(with_error, trees.setting);
    EXPECT_TRUE(alone.out.background_error.empty());
    for (size_t i = 0; i < sums.values().size(); i++) {
      const auto value = static_cast<double>(alone.values.values()[i]);
      sums.values()[i] += value;
      squares.values()[i] += value * value;
    }
  }
  ASSERT_EQ(found.out.background_error.rows(), 5U);
  for (size_t i = 0; i < sums.values().size(); i++) {
    const double mean = sums.values()[i] / 6;
    EXPECT_NEAR(found.values.values()[i], mean, 1e-6);
    EXPECT_NEAR(found.out.background_error.values()[i], std::sqrt((squares.values()[i] / 6 - mean * mean) / 5), 1e-6);
  }
}

TEST(TreeShap, RefusesWhatIsNoSumOfTrees) {
  const auto reason = [&](const Setting& setting) { return refusal_of(kMethod, setting).value_or("no refusal"); };
  EXPECT_EQ(reason(setting_of(linear_toy())), "needs a model of trees, and linear is none");
  TreeSetting trees = random_tree_setting(1, {.aggregate = TreeAggregate::maximum});
  EXPECT_EQ(reason(trees.setting),
            "needs trees whose scores add up, and trees.json takes their minimum or maximum: use exact_shapley or "
            "kernel_shap");
  trees = random_tree_setting(1, {});
  EXPECT_EQ(reason(trees.setting), "no refusal");
  auto changed = std::make_shared<TreeModel>(trees.trees());
  trees.setting.model = changed;
  changed->raw = false;
  EXPECT_EQ(reason(trees.setting),
            "explains raw scores of trees, and trees.json gives a function of them: use exact_shapley or kernel_shap");
  changed->changed_info().unit = OutputUnit::probability;
  EXPECT_EQ(reason(trees.setting),
            "explains raw scores of trees, and trees.json is explained in probability: ask for the value margin, "
            "or use exact_shapley or kernel_shap");
  trees.setting.targets.information = true;
  EXPECT_THAT(reason(trees.setting), HasSubstr("the information form"));
}

// Stops at the first report, and counts what is reported.
class Watch final : public Progress {
 public:
  void begin(std::string_view name, uint64_t all) noexcept override {
    task = name;
    total = all;
  }
  void advance(uint64_t amount) noexcept override { advanced += amount; }
  void end() noexcept override { ended = true; }
  std::string task;
  uint64_t total = 0;
  uint64_t advanced = 0;
  bool ended = false;
};

TEST(TreeShap, ReportsEachRowOnceAndStopsWhenAsked) {
  const TreeSetting trees = random_tree_setting(2, {.trees = {.targets = 2}, .rows = 900});
  for (const TreeTableLimits& limits : kinds_of_limits()) {
    Watch watch;
    Context context = on_threads(2);
    context.progress = &watch;
    values_within(trees, false, limits, context);
    EXPECT_EQ(watch.total, 900U);
    EXPECT_EQ(watch.advanced, 900U);
    EXPECT_TRUE(watch.ended);
    const std::atomic<bool> stop = true;
    context.cancelled = &stop;
    EXPECT_THROW(values_within(trees, false, limits, context), Error);
  }
  Watch watch;
  Context context;
  context.progress = &watch;
  tree_shap_of(trees.setting, context);
  EXPECT_EQ(watch.task, "tree_shap");
}

// A leaf far from all others that no coalition reaches takes no digits from the rest.
TEST(TreeShap, OneLeafFarOffChangesNothing) {
  for (const double far : {1e8, 1e30}) {
    TreeSketch trees;
    const size_t left = trees.split(1, 0, trees.leaf(0.1, 1), trees.leaf(0.7, 1));
    const size_t right = trees.split(2, 0, trees.leaf(-0.3, 1), trees.leaf(0.2, 1));
    trees.tree(trees.split(0, 100, trees.split(0, 0, left, right), trees.leaf(far, 1)));
    const Setting setting =
        setting_of(trees.model("far", 3), matrix_of({{1, 1, -1}, {-1, -1, 1}}), matrix_of({{-2, -2, 2}, {3, 1, 1}}));
    const Explanations found = explain({"tree_shap"}, setting.task(), {});
    const Explanations expected = explain({"exact_shapley"}, setting.task(), {});
    for (size_t i = 0; i < found.values.values().size(); i++) {
      EXPECT_NEAR(found.values.values()[i], expected.values.values()[i], 1e-6) << far;
    }
  }
}

}  // namespace
}  // namespace assay::testing
