#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "assay/core/error.h"
#include "assay/core/vector_target.h"
#include "assay/explain/games/game.h"
#include "assay/explain/games/makers.h"
#include "assay/explain/games/play.h"
#include "assay/explain/games/tree_tables.h"
#include "assay/model/trees/booster.h"
#include "tests/explain/games/tree_tasks.h"

namespace assay {
namespace {

using testing::random_tree_source;
using testing::RandomTreeOptions;
using testing::games::chain;
using testing::games::OwnTask;
using testing::games::random_coalitions;
using testing::games::random_tree_task;
using testing::games::tree_task;
using testing::games::TreeModel;
using testing::games::values_of;

std::vector<uint32_t> random_orders(size_t players, size_t count, uint64_t seed) {
  RandomStream random(seed, "random_orders");
  std::vector<uint32_t> orders;
  for (size_t i = 0; i < count; i++) {
    std::vector<uint32_t> order(players);
    std::iota(order.begin(), order.end(), 0U);
    for (size_t j = players; j > 1; j--) std::swap(order[j - 1], order[random.below(static_cast<uint32_t>(j))]);
    orders.insert(orders.end(), order.begin(), order.end());
  }
  return orders;
}

// To the rounding that the game promises, which is relative to a row's largest value.
void expect_like_masked_rows(const OwnTask& task, const Coalitions& coalitions, const std::string& what) {
  const auto game = make_tree_game(task.view(), {});
  ASSERT_NE(game, nullptr);
  const auto masked = make_masked_game(task.view(), {});
  for (size_t reference = 0; reference < game->references(); reference++) {
    const Matrix found = values_of(*game, reference, coalitions);
    const Matrix expected = values_of(*masked, reference, coalitions);
    for (size_t r = 0; r < found.rows(); r++) {
      float largest = 0;
      for (const float value : expected.row(r))
        largest = std::isnan(value) ? largest : std::max(largest, std::abs(value));
      for (size_t c = 0; c < found.cols(); c++) {
        ASSERT_EQ(std::isnan(found(r, c)), std::isnan(expected(r, c))) << what << ", coalition " << c;
        if (std::isnan(expected(r, c))) continue;
        ASSERT_NEAR(found(r, c), expected(r, c), game->rounding() * largest) << what << ", coalition " << c;
      }
    }
  }
}

// A range of all coalitions, or of the last ones where there are too many; parts of it; lists and orders.
std::vector<Coalitions> forms(size_t players, uint64_t seed) {
  std::vector<Coalitions> made;
  for (const size_t count : {1, 7, 48, 49, 64, 130, 700}) made.push_back(random_coalitions(players, count, seed));
  made.push_back(Coalitions::along(players, random_orders(players, 3, seed)));
  if (players > 63) return made;
  for (const size_t most : {size_t{0}, size_t{1}, size_t{3}, size_t{8}}) {
    const size_t count = size_t{1} << std::min(most, players);
    made.push_back(Coalitions::range(players, 0, count));
    made.push_back(Coalitions::range(players, (uint64_t{1} << players) - count, count));
    made.push_back(Coalitions::range(
        players, (uint64_t{0x5A5A5A5A5A5A5A5A} & ((uint64_t{1} << players) - 1)) / count * count, count));
  }
  return made;
}

TEST(TreeGame, AllFormsAgreeWithMaskedRows) {
  for (const size_t players : {1, 2, 5, 9, 14, 17, 30, 63, 64, 65, 130}) {
    for (const size_t depth : {1, 4, 7}) {
      RandomTreeOptions options;
      // Groups of two columns for every other size; players without a column never.
      options.features = players % 2 == 0 ? 2 * players : players;
      options.trees = depth == 4 ? 12 : 5;
      options.depth = depth;
      options.targets = depth == 7 ? 3 : 1;
      const uint64_t seed = players + depth;
      const auto aggregate = depth == 1 ? TreeAggregate::average : TreeAggregate::sum;
      const OwnTask task = random_tree_task(options, players, seed, aggregate);
      for (const Coalitions& form : forms(players, seed)) {
        const std::string what = fmt::format("{} players, depth {}, {} {}s", players, depth, form.size(),
                                             form.is_range() ? "in a range" : "coalition");
        ASSERT_NO_FATAL_FAILURE(expect_like_masked_rows(task, form, what));
      }
    }
  }
}

TEST(TreeGame, RangesLargerThanAPartAgreeWithMaskedRows) {
  RandomTreeOptions options;
  options.features = 16;
  options.trees = 4;
  options.depth = 6;
  const OwnTask task = random_tree_task(options, 16, 3);
  expect_like_masked_rows(task, Coalitions::range(16, 0, size_t{1} << 16), "65536 coalitions");
}

TEST(TreeGame, ProbabilitiesAndInformationGoThroughAllScores) {
  for (const size_t targets : {1, 3}) {
    RandomTreeOptions options;
    options.targets = targets;
    options.features = 8;
    options.trees = 9;
    OwnTask task = random_tree_task(options, 8, 4, TreeAggregate::sum, true);
    for (const Coalitions& form : forms(8, 4)) {
      ASSERT_NO_FATAL_FAILURE(expect_like_masked_rows(task, form, "probabilities"));
    }
    task.targets.information = true;
    task.targets.terms.clear();
    for (const Coalitions& form : forms(8, 4)) {
      ASSERT_NO_FATAL_FAILURE(expect_like_masked_rows(task, form, "information of probabilities"));
    }
    // Of margins: the scores are outputs, but not the value.
    OwnTask margins = random_tree_task(options, 8, 4);
    margins.targets.information = true;
    margins.targets.terms.clear();
    expect_like_masked_rows(margins, random_coalitions(8, 100, 4), "information of margins");
    expect_like_masked_rows(margins, Coalitions::range(8, 0, 256), "information of margins");
  }
}

TEST(TreeGame, ScoresOfManyTargetsComeInParts) {
  constexpr size_t kTargets = size_t{1} << 14;
  RandomTreeOptions options;
  options.features = 10;
  options.trees = 6;
  RandomStream random(5, "many targets");
  TreeSource source = random_tree_source(random, options);
  // Leaves share targets, so that one target has several trees.
  for (size_t w = 0; w < source.weights.size(); w++) source.weights[w].target = static_cast<uint32_t>(w % 8 * 2047);
  const auto model =
      std::make_shared<TreeModel>(source, 10, kTargets, TreeAggregate::sum, std::vector<double>(kTargets, -0.5), true);
  const OwnTask task = tree_task(model, 1, 1, 10, {{2047, 1, 0}}, 5);
  expect_like_masked_rows(task, random_coalitions(10, 130, 5), "a list");
  expect_like_masked_rows(task, Coalitions::range(10, 512, 128), "a range");
}

TEST(TreeGame, ChainsOfAnyDepthHaveTheWeightOfTheFirstPlayer) {
  // 14 and 16 fill one table, by cells rather than by terms; 17 and 200 are walked.
  for (const size_t players : {1, 14, 16, 17, 200}) {
    std::vector<double> weights;
    for (size_t j = 0; j <= players; j++) weights.push_back(static_cast<double>(j * j) + 0.25);
    OwnTask task = tree_task(std::make_shared<TreeModel>(chain(weights), players, 1), 1, 1, players, {{0, 1, 0}}, 1);
    std::fill(task.rows.values().begin(), task.rows.values().end(), -1.0F);
    std::fill(task.reference.rows.values().begin(), task.reference.rows.values().end(), 1.0F);
    const auto game = make_tree_game(task.view(), {});
    // Those without the first 0, 1, ... players, so that all of a chain is seen; some of them more than one turn takes.
    Coalitions list(players);
    for (size_t i = 0; i < (players == 14 || players == 17 ? 66000U : 5000U); i++) {
      std::vector<uint64_t> bits(list.words());
      for (size_t p = i % (players + 1); p < players; p++) {
        if ((i >> p % 7 & 1) != 0 || p == i % (players + 1)) bits[p / 64] |= uint64_t{1} << p % 64;
      }
      list.add(bits);
    }
    std::vector<Coalitions> designs = {list};
    if (players <= 17) designs.push_back(Coalitions::range(players, 0, size_t{1} << players));
    for (const Coalitions& design : designs) {
      const Matrix found = values_of(*game, 0, design);
      for (size_t c = 0; c < design.size(); c++) {
        size_t first = 0;
        while (first < players && !design.contains(c, first)) first++;
        ASSERT_EQ(found(0, c), static_cast<float>(weights[first])) << players << " players, coalition " << c;
      }
    }
  }
}

TEST(TreeGame, DeepTreesOfManyPlayersAgreeWithMaskedRows) {
  RandomTreeOptions options;
  options.features = 90;
  options.trees = 3;
  options.depth = 13;
  options.leaf_chance = 0.05;
  OwnTask task = random_tree_task(options, 90, 6);
  // Rows and references that differ everywhere leave much open.
  for (size_t i = 0; i < 2; i++) {
    for (size_t c = 0; c < 90; c++) task.rows(i, c) = static_cast<float>(c % 2) * 4 - 2;
    for (size_t c = 0; c < 90; c++) task.reference.rows(i, c) = 2 - static_cast<float>(c % 2) * 4;
  }
  ReducedTrees reduced;
  const auto& model = static_cast<const TreeModel&>(*task.model);
  reduced.reduce(model.trees(), model.trees().roots(), task.players.of_column, 90, task.rows.row(0),
                 task.reference.rows.row(0));
  ASSERT_GT(reduced.players(0).size(), kMostTablePlayers);
  for (const Coalitions& form : forms(90, 6)) ASSERT_NO_FATAL_FAILURE(expect_like_masked_rows(task, form, "deep"));
}

TEST(TreeGame, TreesThatAskNobodyAreConstants) {
  TreeSource leaves;
  leaves.nodes.resize(3);
  for (size_t i = 0; i < 2; i++) {  // the third has no weights
    leaves.nodes[i].first_weight = i;
    leaves.nodes[i].weight_count = 1;
    leaves.weights.push_back({0, 1.5 + static_cast<double>(i)});
  }
  leaves.roots = {0, 1, 2};
  const auto value = [](const TreeSource& source, TreeAggregate aggregate, std::vector<double> base) {
    const OwnTask task =
        tree_task(std::make_shared<TreeModel>(source, 3, 1, aggregate, std::move(base)), 1, 1, 3, {{0, 2, 1}}, 1);
    const auto game = make_tree_game(task.view(), {});
    const Matrix range = values_of(*game, 0, Coalitions::range(3, 0, 8));
    const Matrix list = values_of(*game, 0, random_coalitions(3, 50, 1));
    const Matrix few = values_of(*game, 0, random_coalitions(3, 2, 1));
    for (const Matrix* each : {&range, &list, &few}) {
      for (const float v : each->values()) EXPECT_EQ(v, range(0, 0));
    }
    return range(0, 0);
  };
  // 1 + 2 * score.
  EXPECT_EQ(value(leaves, TreeAggregate::sum, {}), 1 + 2 * 4.0F);
  EXPECT_EQ(value(leaves, TreeAggregate::sum, {0.5}), 1 + 2 * 4.5F);
  EXPECT_EQ(value(leaves, TreeAggregate::average, {0.5}), 1 + 2 * static_cast<float>(4.0 / 3 + 0.5));
  EXPECT_EQ(value({}, TreeAggregate::sum, {0.5}), 2);
  EXPECT_EQ(value({}, TreeAggregate::average, {}), 1);
}

TEST(TreeGame, PlayersThatChangeNothingAreNotAsked) {
  // A second test of player 0 on the side where it is absent, then one of player 1 that both rows pass: one question
  // is left.
  TreeSource source = chain({1, 2, 4, 8});
  source.nodes[2].feature = 0;
  source.nodes[4].feature = 1;
  source.nodes[4].threshold = 5;
  OwnTask task = tree_task(std::make_shared<TreeModel>(source, 3, 1), 1, 1, 3, {{0, 1, 0}}, 1);
  std::fill(task.rows.values().begin(), task.rows.values().end(), -1.0F);
  std::fill(task.reference.rows.values().begin(), task.reference.rows.values().end(), 1.0F);
  const auto& trees = static_cast<const TreeModel&>(*task.model).trees();
  ReducedTrees reduced;
  reduced.reduce(trees, trees.roots(), task.players.of_column, 3, task.rows.row(0), task.reference.rows.row(0));
  ASSERT_EQ(reduced.players(0).size(), 1U);
  EXPECT_EQ(reduced.players(0)[0], 0U);
  EXPECT_EQ(reduced.tree(0).terms, 3);  // a leaf with player 0, and one without it
  const Matrix found = values_of(*make_tree_game(task.view(), {}), 0, Coalitions::range(3, 0, 8));
  for (size_t c = 0; c < 8; c++) EXPECT_EQ(found(0, c), (c & 1) != 0 ? 1 : 4);
}

TEST(TreeGame, LargeWeightsThatCancelOrAreNeverReachedCostNoDigits) {
  // Chains whose weights are those of the first plus 1e6 and minus 1e6; and a leaf of 1e30 behind a test that no
  // coalition passes.
  const std::vector<double> small = {0.125, 3, -1.5, 0.75, 2};
  TreeSource source;
  for (const double shift : {0.0, 1e6, -1e6}) {
    TreeSource part = chain(small);
    for (TreeWeight& weight : part.weights) weight.value = shift == 0 ? weight.value : shift;
    for (TreeSource::Node& node : part.nodes) {
      node.true_child += source.nodes.size();
      node.false_child += source.nodes.size();
      node.first_weight += source.weights.size();
    }
    source.roots.push_back(source.nodes.size());
    source.nodes.insert(source.nodes.end(), part.nodes.begin(), part.nodes.end());
    source.weights.insert(source.weights.end(), part.weights.begin(), part.weights.end());
  }
  TreeSource::Node never;
  never.mode = TreeMode::greater;
  never.threshold = 100;
  never.true_child = source.nodes.size() + 1;
  never.false_child = 2;  // of the first chain: a leaf is needed
  TreeSource::Node huge;
  huge.first_weight = source.weights.size();
  huge.weight_count = 1;
  source.weights.push_back({0, 1e30});
  never.false_child = source.nodes.size() + 2;
  TreeSource::Node none;
  source.roots.push_back(source.nodes.size());
  source.nodes.insert(source.nodes.end(), {never, huge, none});
  OwnTask task = tree_task(std::make_shared<TreeModel>(source, 4, 1), 1, 1, 4, {{0, 1, 0}}, 1);
  std::fill(task.rows.values().begin(), task.rows.values().end(), -1.0F);
  std::fill(task.reference.rows.values().begin(), task.reference.rows.values().end(), 1.0F);
  const Coalitions range = Coalitions::range(4, 0, 16);
  const Matrix found = values_of(*make_tree_game(task.view(), {}), 0, range);
  for (size_t c = 0; c < 16; c++) {
    size_t first = 0;
    while (first < 4 && !range.contains(c, first)) first++;
    EXPECT_EQ(found(0, c), static_cast<float>(small[first])) << c;
  }
}

TEST(TreeGame, TheBitsOfAValueAreThoseOfItsRowReferenceAndCoalition) {
  // Rows alone or together, ranges whole or in parts, lists of any length above the shortest, any number of threads.
  for (const bool sigmoid : {false, true}) {
    RandomTreeOptions options;
    options.features = 11;
    options.trees = 40;
    options.depth = 6;
    options.targets = 2;
    RandomStream random(7, "bits");
    const auto model = std::make_shared<TreeModel>(random_tree_source(random, options), 11, 2, TreeAggregate::sum,
                                                   std::vector<double>{0.1, 0.2}, sigmoid);
    const OwnTask task = tree_task(model, 5, 2, 11, {{0, 1, 0}, {1, -1, 0.5F}}, 7);
    const auto game = make_tree_game(task.view(), {});
    ASSERT_TRUE(game->concurrent());
    const Matrix whole = values_of(*game, 1, Coalitions::range(11, 0, 2048));
    for (size_t r = 0; r < 5; r++) {
      for (const size_t count : {1, 4, 64, 1024}) {
        Matrix part(1, count);
        for (size_t first = 0; first < 2048; first += std::max(count, size_t{128})) {
          game->values({&r, 1}, 1, Coalitions::range(11, first, count), part.view(), {});
          for (size_t c = 0; c < count; c++) ASSERT_EQ(part(0, c), whole(r, first + c)) << count << " from " << first;
        }
      }
    }
    for (const size_t count : {49, 65, 300, 3000}) {
      const Coalitions list = random_coalitions(11, count, 8);
      const Matrix listed = values_of(*game, 1, list);
      for (size_t r = 0; r < 5; r++) {
        for (size_t c = 0; c < count; c++) ASSERT_EQ(listed(r, c), whole(r, list.word(c, 0))) << count;
      }
      for (const unsigned threads : {1U, 2U, 7U}) {
        Context context;
        context.threads = threads;
        Matrix found(5, count);
        const std::vector<Coalitions> design = {list};
        play(
            *game, all_rows(5), design, context, "", [](size_t) { return 0; },
            [&](int&, size_t row, size_t reference, size_t, std::span<const float> values) {
              if (reference == 1) std::copy(values.begin(), values.end(), found.row(row).begin());
            },
            [](int&, size_t) {});
        EXPECT_TRUE(std::equal(found.values().begin(), found.values().end(), listed.values().begin())) << threads;
      }
    }
  }
}

TEST(TreeGame, EveryVectorTargetHasTheSameBits) {
  RandomTreeOptions options;
  options.features = 70;
  options.trees = 60;
  options.depth = 6;
  const OwnTask task = random_tree_task(options, 35, 9);
  const std::vector<std::string> targets = vector_targets();
  const std::string best = targets.front();
  for (const Coalitions& form : {Coalitions::range(35, 4096, 4096), random_coalitions(35, 999, 9)}) {
    const Matrix expected = values_of(*make_tree_game(task.view(), {}), 1, form);
    for (const std::string& target : targets) {
      pin_vector_target(target);
      const Matrix found = values_of(*make_tree_game(task.view(), {}), 1, form);
      EXPECT_TRUE(std::equal(found.values().begin(), found.values().end(), expected.values().begin())) << target;
    }
    pin_vector_target(best);
  }
}

TEST(TreeGame, EnsemblesThatDoNotAddUpAreMasked) {
  const auto task_of = [](TreeAggregate aggregate, double weight) {
    return tree_task(std::make_shared<TreeModel>(chain({1, weight, 3}), 2, 1, aggregate), 1, 1, 2, {{0, 1, 0}}, 1);
  };
  EXPECT_TRUE(make_game(task_of(TreeAggregate::sum, 2).view(), {})->concurrent());
  EXPECT_EQ(make_tree_game(task_of(TreeAggregate::minimum, 2).view(), {}), nullptr);
  EXPECT_EQ(make_tree_game(task_of(TreeAggregate::maximum, 2).view(), {}), nullptr);
  EXPECT_EQ(make_tree_game(task_of(TreeAggregate::sum, INFINITY).view(), {}), nullptr);
  EXPECT_EQ(make_tree_game(task_of(TreeAggregate::sum, NAN).view(), {}), nullptr);
  EXPECT_FALSE(make_game(task_of(TreeAggregate::maximum, 2).view(), {})->concurrent());
}

TEST(TreeGame, BoostersAsGraphsArePlayed) {
  for (const size_t targets : {1, 3}) {
    RandomStream random(targets, "booster");
    RandomTreeOptions options;
    options.features = 9;
    options.trees = 20;
    options.targets = targets;
    Booster booster;
    booster.features = 9;
    booster.targets = targets;
    booster.classification = true;
    booster.link = targets == 1 ? BoosterLink::sigmoid : BoosterLink::softmax;
    booster.base.assign(targets, 0.25);
    booster.source = random_tree_source(random, options);
    const std::shared_ptr<const Model> model = EngineModel::from_onnx("booster", booster_graph("booster", booster));
    ASSERT_NE(model->tree_scores(), nullptr);
    const OwnTask task = tree_task(model, 2, 2, 9, {{targets - 1, 1, 0}}, targets);
    EXPECT_TRUE(make_game(task.view(), {})->concurrent());
    expect_like_masked_rows(task, random_coalitions(9, 200, targets), "booster");
    expect_like_masked_rows(task, Coalitions::range(9, 0, 512), "booster");
  }
}

TEST(TreeGame, StopsWhenAsked) {
  const OwnTask task = random_tree_task({}, 6, 1);
  const auto game = make_tree_game(task.view(), {});
  const std::atomic<bool> cancelled = true;
  Context context;
  context.cancelled = &cancelled;
  Matrix values(1, 64);
  const size_t row = 0;
  EXPECT_THROW(game->values({&row, 1}, 0, Coalitions::range(6, 0, 64), values.view(), context), Error);
}

}  // namespace
}  // namespace assay
