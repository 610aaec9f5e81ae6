// Tasks for tests of the game of trees: models whose predictions do not come from the code under test.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "assay/model/model.h"
#include "assay/model/trees/ensemble.h"
#include "tests/explain/games/game_tasks.h"
#include "tests/explain/trees/random_trees.h"

namespace assay::testing::games {

// Predictions come from the source of the trees, by a walk of the test's own.
class TreeModel final : public Model, public TreeScores {
 public:
  TreeModel(TreeSource source, size_t features, size_t targets, TreeAggregate aggregate = TreeAggregate::sum,
            std::vector<double> base = {}, bool sigmoid = false)
      : source_(std::move(source)),
        base_(base),
        sigmoid_(sigmoid),
        trees_("test", source_, features, targets, aggregate, std::move(base)) {
    info_.feature_names.assign(features, "x");
    info_.output_names.assign(targets, "y");
    info_.class_names.assign(std::max<size_t>(2, targets), "class");
    info_.unit = sigmoid ? OutputUnit::probability : OutputUnit::margin;
  }

  const ModelInfo& info() const override { return info_; }
  const TreeScores* tree_scores() const override { return this; }
  const TreeEnsemble& trees() const override { return trees_; }
  bool are_outputs() const override { return !sigmoid_; }
  void outputs_of(MatrixView<const float> scores, MatrixView<float> outputs, const Context& context) const override {
    EXPECT_EQ(context.threads, 1U);
    for (size_t i = 0; i < scores.rows(); i++) {
      for (size_t t = 0; t < scores.cols(); t++) outputs(i, t) = link(scores(i, t));
    }
  }
  void predict(MatrixView<const float> rows, MatrixView<float> outputs, const Context&) const override {
    for (size_t i = 0; i < rows.rows(); i++) {
      std::vector<long double> scores(outputs.cols());
      for (size_t at : source_.roots) {
        while (source_.nodes[at].mode != TreeMode::leaf) {
          const TreeSource::Node& node = source_.nodes[at];
          at = source_goes_true(source_, node, rows(i, static_cast<size_t>(node.feature))) ? node.true_child
                                                                                           : node.false_child;
        }
        const TreeSource::Node& leaf = source_.nodes[at];
        for (size_t w = leaf.first_weight; w < leaf.first_weight + leaf.weight_count; w++) {
          scores[source_.weights[w].target] += source_.weights[w].value;
        }
      }
      for (size_t t = 0; t < outputs.cols(); t++) {
        const double score = static_cast<double>(scores[t]) * trees_.tree_share();
        outputs(i, t) = link(static_cast<float>(score + (base_.empty() ? 0 : base_[t])));
      }
    }
  }

 private:
  float link(float score) const { return sigmoid_ ? 1 / (1 + std::exp(-score)) : score; }

  TreeSource source_;
  std::vector<double> base_;
  bool sigmoid_;
  TreeEnsemble trees_;
  ModelInfo info_;
};

// Columns are dealt to the players in turn. Rows have missing values, and infinite ones where asked for.
inline OwnTask tree_task(std::shared_ptr<const Model> model, size_t rows, size_t references, size_t players,
                         std::vector<OutputTerm> terms, uint64_t seed, bool infinite = true) {
  OwnTask task = testing::games::random_task(model, rows, references, players, std::move(terms), seed);
  RandomStream random(seed, "tree_task");
  const size_t features = model->info().features();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  task.rows = random_tree_rows(random, rows, features);
  task.reference.rows = random_tree_rows(random, references, features);
  for (Matrix* each : {&task.rows, &task.reference.rows}) {
    for (float& x : each->values()) {
      const double draw = infinite ? random.uniform() : 1;
      x = draw < 0.05 ? infinity : draw < 0.1 ? -infinity : x;
    }
  }
  return task;
}

inline OwnTask random_tree_task(const RandomTreeOptions& options, size_t players, uint64_t seed,
                                TreeAggregate aggregate = TreeAggregate::sum, bool sigmoid = false) {
  RandomStream random(seed, "random_tree_task");
  std::vector<double> base;
  for (size_t t = 0; t < options.targets && seed % 2 == 0; t++) base.push_back(random.normal());
  std::vector<OutputTerm> terms = {{0, 1, 0}};
  // One of them mirrored, as class 0 of a binary model is.
  if (options.targets > 1) terms.push_back({options.targets - 1, -1, 0.5F});
  TreeSource source = random_tree_source(random, options);
  // Some files have the weights of a leaf in the order of their targets, some do not.
  for (const TreeSource::Node& node : source.nodes) {
    if (seed % 3 != 0) break;
    const auto first = source.weights.begin() + static_cast<ptrdiff_t>(node.first_weight);
    std::ranges::sort(first, first + static_cast<ptrdiff_t>(node.weight_count), {}, &TreeWeight::target);
  }
  auto model = std::make_shared<TreeModel>(std::move(source), options.features, options.targets, aggregate,
                                           std::move(base), sigmoid);
  return tree_task(std::move(model), 2, 2, players, std::move(terms), seed);
}

// Node j sends rows below 0 to leaf j, others on to node j + 1: with rows of -1 and references of 1, v(S) is the weight
// of the first player in S, or the last weight for nobody.
inline TreeSource chain(const std::vector<double>& weights) {
  TreeSource source;
  for (size_t j = 0; j + 1 < weights.size(); j++) {
    TreeSource::Node branch;
    branch.mode = TreeMode::less;
    branch.feature = static_cast<int64_t>(j);
    branch.true_child = 2 * j + 1;
    branch.false_child = 2 * j + 2;
    source.nodes.push_back(branch);
    source.nodes.emplace_back();
    source.nodes.back().first_weight = j;
    source.nodes.back().weight_count = 1;
    source.weights.push_back({0, weights[j]});
  }
  source.nodes.emplace_back();
  source.nodes.back().first_weight = weights.size() - 1;
  source.nodes.back().weight_count = 1;
  source.weights.push_back({0, weights.back()});
  source.roots = {0};
  return source;
}

}  // namespace assay::testing::games
