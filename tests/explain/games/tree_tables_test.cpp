#include "assay/explain/games/tree_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/explain/trees/random_trees.h"

namespace assay {
namespace {

using testing::random_tree_rows;
using testing::random_tree_source;
using testing::RandomTreeOptions;

TEST(TreeTables, EveryTreeIsInOnePlaceAndItsTableHasItsPlayers) {
  RandomTreeOptions options;
  options.features = 40;
  options.trees = 80;
  options.depth = 7;
  options.leaf_chance = 0.3;
  RandomStream random(3, "tables");
  const TreeEnsemble trees("test", random_tree_source(random, options), 40, 1, TreeAggregate::sum, {});
  const Matrix rows = random_tree_rows(random, 2, 40);
  std::vector<uint32_t> columns(40);
  std::iota(columns.begin(), columns.end(), 0U);
  std::vector<uint32_t> which(80);
  std::iota(which.begin(), which.end(), 0U);
  ReducedTrees reduced;
  reduced.reduce(trees, trees.roots(), columns, 40, rows.row(0), rows.row(1));
  for (const uint32_t tree : which) {
    const std::span<const uint32_t> asked = reduced.players(tree);
    for (const uint32_t player : asked) EXPECT_EQ(std::ranges::count(asked, player), 1) << "of tree " << tree;
  }
  TreeTables plan;
  size_t fewest = 80;
  for (const size_t coalitions : {1, 30, 1000, 100000}) {
    plan.plan(reduced, which, 40, coalitions);
    std::vector<int> seen(80, 0);
    for (const uint32_t tree : plan.constant()) seen[tree] += reduced.players(tree).empty() ? 1 : 2;
    for (const uint32_t tree : plan.walked()) seen[tree] += reduced.players(tree).size() > 4 ? 1 : 2;
    for (const TreeTables::Table& table : plan.tables()) {
      plan.for_trees(table, [&](uint32_t tree) {
        seen[tree]++;
        for (const uint32_t player : reduced.players(tree)) {
          EXPECT_EQ(std::ranges::count(table.players(), player), 1);
        }
      });
    }
    for (const int times : seen) EXPECT_EQ(times, 1);
    if (coalitions < 30) continue;
    EXPECT_LT(plan.tables().size() + plan.walked().size(), fewest) << "more coalitions, fewer tables";
    fewest = plan.tables().size() + plan.walked().size();
  }
}

}  // namespace
}  // namespace assay
