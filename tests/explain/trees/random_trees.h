// Random tree ensembles with rows, references and players for them, and Shapley values of their two games by brute
// force over all coalitions. Independent of the code under test: trees are walked as their source describes them, by
// recursion, with decisions of its own.
//
//   interventional: v(S) = mean over the reference rows of the score of the row whose players outside S are the
//                   reference's
//   by covers:      v(S) = the score of the row where a node of an absent player averages its children by their covers
//                   (a node without cover: half each)
//
// Both for one target, in long double, times `share`, without base values.
#pragma once

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "assay/core/matrix.h"
#include "assay/core/random.h"
#include "assay/explain/players.h"
#include "assay/model/trees/ensemble.h"

namespace assay::testing {

struct RandomTreeOptions {
  size_t features = 6;
  size_t trees = 3;
  size_t depth = 5;  // the most branches on a path
  size_t targets = 1;
  double leaf_chance = 0.15;  // that a path ends before that depth
  double zero_cover_chance = 0.1;
  // Those of the branches, each as often.
  std::vector<TreeMode> modes = {TreeMode::less_equal, TreeMode::less,         TreeMode::greater_equal,
                                 TreeMode::greater,    TreeMode::equal,        TreeMode::not_equal,
                                 TreeMode::member,     TreeMode::member_whole, TreeMode::less_equal_or_zero};
};

// Features repeat on paths. Thresholds are values of random_tree_rows. A leaf has weights for any of the targets, none
// and two for one among them. Covers of children sum to their parent's.
inline TreeSource random_tree_source(RandomStream& random, const RandomTreeOptions& options) {
  TreeSource source;
  const auto below = [&](size_t n) { return random.below(static_cast<uint32_t>(n)); };
  const std::function<size_t(size_t, double)> grow = [&](size_t depth, double cover) {
    const size_t at = source.nodes.size();
    TreeSource::Node node;
    node.id = static_cast<int64_t>(at);
    node.cover = cover;
    source.nodes.emplace_back();
    if (depth == 0 || (depth < options.depth && random.uniform() < options.leaf_chance)) {
      node.first_weight = source.weights.size();
      node.weight_count = random.uniform() < 0.1 ? 0 : 1 + below(options.targets + 1);
      for (size_t w = 0; w < node.weight_count; w++)
        source.weights.push_back({below(options.targets), random.normal()});
      source.nodes[at] = node;
      return at;
    }
    node.mode = options.modes[below(options.modes.size())];
    node.feature = below(options.features);
    node.missing_goes_true = random.uniform() < 0.4;
    node.threshold = below(9) / 2.0 - 2;
    if (node.mode == TreeMode::member || node.mode == TreeMode::member_whole) {
      std::vector<double> set;
      for (size_t i = below(4) + 1; i > 0; i--) set.push_back(below(9) / 2.0 - 2);
      node.threshold = static_cast<double>(source.sets.size());
      source.sets.push_back(set);
    }
    const double part = random.uniform() < options.zero_cover_chance ? 0 : below(static_cast<size_t>(cover) + 1);
    const bool first = random.uniform() < 0.5;
    node.true_child = grow(depth - 1, first ? part : cover - part);
    node.false_child = grow(depth - 1, first ? cover - part : part);
    source.nodes[at] = node;
    return at;
  };
  for (size_t t = 0; t < options.trees; t++) source.roots.push_back(grow(options.depth, 1 + below(1000)));
  return source;
}

// Halves between -2 and 2, zeros of both signs among them, and NaN.
inline Matrix random_tree_rows(RandomStream& random, size_t rows, size_t features, double nan_chance = 0.15) {
  Matrix made(rows, features);
  for (size_t i = 0; i < rows; i++) {
    for (float& x : made.row(i)) {
      x = static_cast<float>(random.below(9)) / 2 - 2;
      if (x == 0 && random.uniform() < 0.5) x = -0.0F;
      if (random.uniform() < nan_chance) x = std::numeric_limits<float>::quiet_NaN();
    }
  }
  return made;
}

// Every column goes to some player; a player may have none.
inline Players random_tree_players(RandomStream& random, size_t features, size_t players) {
  Players made;
  for (size_t p = 0; p < players; p++) made.names.push_back("player " + std::to_string(p));
  for (size_t c = 0; c < features; c++) made.of_column.push_back(random.below(static_cast<uint32_t>(players)));
  return made;
}

inline Players tree_column_players(size_t features) {
  Players made;
  for (size_t c = 0; c < features; c++) {
    made.names.push_back("column " + std::to_string(c));
    made.of_column.push_back(static_cast<uint32_t>(c));
  }
  return made;
}

inline bool source_goes_true(const TreeSource& source, const TreeSource::Node& node, double x) {
  const bool missing = std::isnan(x);
  if (missing && node.missing_goes_true) return true;
  const auto in_set = [&](double value) {
    for (const double each : source.sets.at(static_cast<size_t>(node.threshold))) {
      if (each == value) return true;
    }
    return false;
  };
  switch (node.mode) {
    case TreeMode::less_equal: return x <= node.threshold;
    case TreeMode::less: return x < node.threshold;
    case TreeMode::greater_equal: return x >= node.threshold;
    case TreeMode::greater: return x > node.threshold;
    case TreeMode::equal: return x == node.threshold;
    case TreeMode::not_equal: return x != node.threshold;
    case TreeMode::member: return in_set(x);
    case TreeMode::less_equal_or_zero: return x == 0 ? node.missing_goes_true : x <= node.threshold;
    case TreeMode::member_whole: return !missing && x >= 0 && in_set(std::floor(x));
    case TreeMode::leaf: break;
  }
  return false;
}

inline long double source_leaf_weight(const TreeSource& source, const TreeSource::Node& leaf, size_t target) {
  long double sum = 0;
  for (size_t w = 0; w < leaf.weight_count; w++) {
    const TreeWeight& weight = source.weights[leaf.first_weight + w];
    if (weight.target == target) sum += weight.value;
  }
  return sum;
}

// Of one row, summed over the trees.
inline long double source_score(const TreeSource& source, std::span<const float> row, size_t target) {
  long double sum = 0;
  for (size_t at : source.roots) {
    while (source.nodes[at].mode != TreeMode::leaf) {
      const TreeSource::Node& node = source.nodes[at];
      const bool yes = source_goes_true(source, node, static_cast<double>(row[static_cast<size_t>(node.feature)]));
      at = yes ? node.true_child : node.false_child;
    }
    sum += source_leaf_weight(source, source.nodes[at], target);
  }
  return sum;
}

// values[S], S with bit p for player p.
inline std::vector<long double> interventional_values(const TreeSource& source, const Players& players,
                                                      MatrixView<const float> references, std::span<const float> row,
                                                      size_t target, double share = 1) {
  std::vector<long double> values(size_t{1} << players.size());
  for (size_t present = 0; present < values.size(); present++) {
    for (size_t r = 0; r < references.rows(); r++) {
      std::vector<float> mixed(row.begin(), row.end());
      for (size_t c = 0; c < mixed.size(); c++) {
        if ((present >> players.of_column[c] & 1) == 0) mixed[c] = references(r, c);
      }
      values[present] += source_score(source, mixed, target);
    }
    values[present] *= share / static_cast<long double>(references.rows());
  }
  return values;
}

inline std::vector<long double> cover_values(const TreeSource& source, const Players& players,
                                             std::span<const float> row, size_t target, double share = 1) {
  const std::function<long double(size_t, size_t)> value_at = [&](size_t at, size_t present) -> long double {
    const TreeSource::Node& node = source.nodes[at];
    if (node.mode == TreeMode::leaf) return source_leaf_weight(source, node, target);
    const auto column = static_cast<size_t>(node.feature);
    if ((present >> players.of_column[column] & 1) != 0) {
      const bool yes = source_goes_true(source, node, static_cast<double>(row[column]));
      return value_at(yes ? node.true_child : node.false_child, present);
    }
    const bool covered = node.cover > 0;
    const long double yes = covered ? source.nodes[node.true_child].cover / static_cast<long double>(node.cover) : 0.5L;
    const long double no = covered ? source.nodes[node.false_child].cover / static_cast<long double>(node.cover) : 0.5L;
    return yes * value_at(node.true_child, present) + no * value_at(node.false_child, present);
  };
  std::vector<long double> values(size_t{1} << players.size());
  for (size_t present = 0; present < values.size(); present++) {
    for (const size_t root : source.roots) values[present] += share * value_at(root, present);
  }
  return values;
}

// phi_p = sum over S without p of |S|! (n - 1 - |S|)! / n! (v(S with p) - v(S)).
inline std::vector<double> shapley_of_values(const std::vector<long double>& values) {
  const auto players = static_cast<size_t>(std::bit_width(values.size()) - 1);
  std::vector<long double> factorials = {1};
  for (size_t i = 1; i <= players; i++) factorials.push_back(factorials.back() * static_cast<long double>(i));
  std::vector<double> phi(players);
  for (size_t p = 0; p < players; p++) {
    long double sum = 0;
    for (size_t set = 0; set < values.size(); set++) {
      if ((set >> p & 1) != 0) continue;
      const auto size = static_cast<size_t>(std::popcount(set));
      sum += factorials[size] * factorials[players - 1 - size] / factorials[players] *
             (values[set | size_t{1} << p] - values[set]);
    }
    phi[p] = static_cast<double>(sum);
  }
  return phi;
}

}  // namespace assay::testing
