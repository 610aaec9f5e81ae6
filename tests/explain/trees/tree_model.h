// Random ensembles (random_trees.h) as models with rows, references and players: what methods for trees are given.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/explain/trees/tree_values.h"
#include "assay/model/trees/ensemble.h"
#include "tests/explain/toys.h"
#include "tests/explain/trees/random_trees.h"

namespace assay::testing {

// A regression whose outputs are the raw scores, unless told otherwise.
class TreeModel final : public Model, public TreeScores {
 public:
  explicit TreeModel(TreeEnsemble trees) : trees_(std::move(trees)) {
    info_.name = "trees.json";
    for (size_t f = 0; f < trees_.features(); f++) info_.feature_names.push_back("f" + std::to_string(f));
    for (size_t t = 0; t < trees_.targets(); t++) info_.output_names.push_back("t" + std::to_string(t));
  }

  bool raw = true;
  ModelInfo& changed_info() { return info_; }

  const ModelInfo& info() const override { return info_; }
  const TreeScores* tree_scores() const override { return this; }
  const TreeEnsemble& trees() const override { return trees_; }
  bool are_outputs() const override { return raw; }
  void outputs_of(MatrixView<const float> scores, MatrixView<float> outputs, const Context&) const override {
    for (size_t r = 0; r < scores.rows(); r++) std::copy_n(scores.row(r).data(), scores.cols(), outputs.row(r).data());
  }
  void predict(MatrixView<const float> rows, MatrixView<float> outputs, const Context&) const override {
    std::vector<double> scratch(trees_.scratch_count() * 2);
    trees_.for_rows(rows.data(), rows.rows(), rows.cols(), reinterpret_cast<std::byte*>(scratch.data()),
                    [&](size_t row, std::span<double> scores, const uint8_t*) {
                      for (size_t t = 0; t < scores.size(); t++) outputs(row, t) = static_cast<float>(scores[t]);
                    });
  }

 private:
  TreeEnsemble trees_;
  ModelInfo info_;
};

struct TreeSetting {
  TreeSource source;
  Setting setting;
  double share = 1;  // of a tree in a score

  const TreeEnsemble& trees() const { return setting.model->tree_scores()->trees(); }
};

struct TreeSettingOptions {
  RandomTreeOptions trees = {};
  size_t rows = 5;  // more than are explained without tables
  size_t references = 7;
  size_t players = 0;  // 0: columns
  TreeAggregate aggregate = TreeAggregate::sum;
  std::vector<double> base = {};
};

inline Setting setting_of_trees(TreeEnsemble trees, Matrix rows, Matrix references) {
  Setting made;
  made.rows = std::move(rows);
  made.reference.rows = std::move(references);
  made.reference.description = "test";
  made.players = tree_column_players(trees.features());
  // Rows go by turns to the targets; every second time with the sign and offset of the first of two classes.
  const size_t targets = trees.targets();
  for (size_t t = 0; t < targets; t++) {
    made.targets.names.push_back("t" + std::to_string(t));
    made.targets.terms.push_back({.output = t, .scale = 1, .offset = 0});
    made.targets.names.push_back("not t" + std::to_string(t));
    made.targets.terms.push_back({.output = t, .scale = -1, .offset = 1});
  }
  for (size_t r = 0; r < made.rows.rows(); r++) made.targets.of_row.push_back(static_cast<uint32_t>(r % (2 * targets)));
  made.model = std::make_shared<TreeModel>(std::move(trees));
  return made;
}

inline TreeSetting random_tree_setting(uint64_t seed, const TreeSettingOptions& options) {
  RandomStream random(seed, "tree setting");
  TreeSetting made;
  const size_t features = options.trees.features;
  made.source = random_tree_source(random, options.trees);
  TreeEnsemble trees("test", made.source, features, options.trees.targets, options.aggregate, options.base);
  Matrix rows = random_tree_rows(random, options.rows, features);
  made.setting =
      setting_of_trees(std::move(trees), std::move(rows), random_tree_rows(random, options.references, features));
  if (options.players > 0) made.setting.players = random_tree_players(random, features, options.players);
  if (options.aggregate == TreeAggregate::average) made.share = 1 / static_cast<double>(made.source.roots.size());
  return made;
}

// The values of all rows by tables and walks within these limits.
inline Matrix values_within(const TreeSetting& trees, bool by_covers, const TreeTableLimits& limits,
                            const Context& context = {}) {
  const ExplainTask task = trees.setting.task();
  Matrix values(task.rows.rows(), task.players.size());
  const TreeGameView game{trees.trees(), task.players, by_covers ? nullptr : &task.reference.rows};
  tree_values(game, task, limits, values.view(), context, "test");
  return values;
}

// No tables at all.
inline TreeTableLimits walks_alone() { return {.tree_bytes = 0}; }

// brute(row): the expected values of the row's target, before its scale.
template <class Brute>
void expect_brute_force(const TreeSetting& trees, const Matrix& found, const Brute& brute) {
  for (size_t r = 0; r < found.rows(); r++) {
    const OutputTerm& term = trees.setting.targets.term(r);
    const std::vector<double> expected = brute(trees.setting.rows.row(r), term.output);
    for (size_t p = 0; p < expected.size(); p++) {
      EXPECT_NEAR(found(r, p), static_cast<double>(term.scale) * expected[p], 1e-6) << "row " << r << ", player " << p;
    }
  }
}

inline void expect_interventional(const TreeSetting& trees, const Matrix& found) {
  expect_brute_force(trees, found, [&](std::span<const float> row, size_t target) {
    return shapley_of_values(interventional_values(trees.source, trees.setting.players,
                                                   trees.setting.reference.rows.view(), row, target, trees.share));
  });
}

inline void expect_by_covers(const TreeSetting& trees, const Matrix& found) {
  expect_brute_force(trees, found, [&](std::span<const float> row, size_t target) {
    return shapley_of_values(cover_values(trees.source, trees.setting.players, row, target, trees.share));
  });
}

// Tables alone, of all trees together and of one at a time, tables and walks, small units, and walks alone.
inline std::vector<TreeTableLimits> kinds_of_limits() {
  return {{},
          {.batch_bytes = 1},
          {.bits = 4, .small_bits = 2},
          {.bits = 3, .small_bits = 3, .batch_bytes = 1},
          {.bits = 12, .small_bits = 0},
          {.tree_bytes = 4096, .batch_bytes = 8192},
          walks_alone()};
}

}  // namespace assay::testing
