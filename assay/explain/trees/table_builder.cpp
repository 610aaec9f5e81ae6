#include "assay/explain/trees/table_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/explain/trees/tree_selection.h"

namespace assay {
namespace {

constexpr double kCoverRounding = 1e-6;

}  // namespace

void TableBuilder::choose(const TreeLayout& layout) {
  layout_ = &layout;
  nodes_ = game_.trees.nodes().data() + layout.root;
  find_centre();
}

void TableBuilder::fill_all(const TreeUnit& unit, const CountedPatterns* references, float* to) {
  const size_t rows = size_t{1} << unit.bits;
  for (size_t q = all_patterns_.size(); q < rows; q++) all_patterns_.push_back(static_cast<uint16_t>(q));
  sums_.assign(rows * kTableWidth, 0.0);
  for (const uint32_t leaf : unit.leaves) add_leaf(unit, leaf, references);
  for (size_t i = 0; i < sums_.size(); i++) to[i] = static_cast<float>(sums_[i]);
}

void TableBuilder::fill_one(const TreeUnit& unit, const CountedPatterns* references, uint16_t pattern, float* to) {
  sums_.assign(kTableWidth, 0.0);
  if (references != nullptr) {
    find_near(unit, *references, pattern);
    references = &near_;
  }
  // Without references nothing is to be had from the leaves: all values are 0.
  if (references == nullptr || !near_.patterns.empty()) {
    for (const uint32_t leaf : unit.leaves) add_leaf_once(unit, leaf, references, pattern);
  }
  for (size_t i = 0; i < sums_.size(); i++) to[i] = static_cast<float>(sums_[i]);
}

// No mixture of row and reference reaches a leaf if some player of both turns away from it. On the path to the unit
// that is seen before the leaves are looked at.
void TableBuilder::find_near(const TreeUnit& unit, const CountedPatterns& references, uint16_t pattern) {
  const uint32_t path_bits = (1U << layout_->places[unit.node].players) - 1;
  const uint32_t turned = ~uint32_t{pattern} & path_bits;
  near_.patterns.clear();
  near_.counts.clear();
  for (size_t i = 0; i < references.patterns.size(); i++) {
    if ((references.patterns[i] & turned) != turned) continue;
    near_.patterns.push_back(references.patterns[i]);
    near_.counts.push_back(references.counts[i]);
  }
}

// As flow_patterns does for many rows.
void TableBuilder::find_unit_patterns(const float* row, std::vector<uint16_t>& of_units) {
  patterns_.assign(layout_->patterns, 0);
  for (uint32_t v = 0; v < layout_->places.size(); v++) {
    if (nodes_[v].is_leaf()) continue;
    const TreePlace& place = layout_->places[v];
    const bool is_true = game_.trees.goes_true(nodes_[v], static_cast<double>(row[nodes_[v].feature]));
    if (place.unit != kNoNode) {
      uint16_t& pattern = patterns_[layout_->places[layout_->units[place.unit].node].pattern];
      pattern = static_cast<uint16_t>(pattern | (is_true ? 1U << place.bit : 0U));
      continue;
    }
    const uint32_t bit = 1U << place.position;
    const uint32_t before = patterns_[place.pattern];
    for (uint32_t side = 0; side < 2; side++) {
      const bool comes = is_true == (side == 0);
      const uint32_t after = place.is_new ? before | (comes ? bit : 0) : before & ~(comes ? 0 : bit);
      patterns_[layout_->places[nodes_[v].child - layout_->root + side].pattern] = static_cast<uint16_t>(after);
    }
  }
  of_units.clear();
  for (const TreeUnit& unit : layout_->units) of_units.push_back(patterns_[layout_->places[unit.node].pattern]);
}

// Leaves are counted from their median, which changes no value of a game where all leaves together always have the
// weight 1, and spares float32 the digits that they have in common. One leaf far off does not move a median.
void TableBuilder::find_centre() {
  centre_ = 0;
  if (game_.references == nullptr && !covers_add_up()) return;
  weights_.clear();
  for (const TreeUnit& unit : layout_->units) {
    for (const uint32_t leaf : unit.leaves) {
      const double weight = game_.trees.leaf_weight(nodes_[leaf], target_);
      if (std::isfinite(weight)) weights_.push_back(weight);
    }
  }
  if (weights_.empty()) return;
  const auto middle = weights_.begin() + static_cast<ptrdiff_t>(weights_.size() / 2);
  std::ranges::nth_element(weights_, middle);
  centre_ = *middle;
}

// To the rounding of float32, which XGBoost's covers have.
bool TableBuilder::covers_add_up() const {
  for (uint32_t v = layout_->root; v < layout_->end; v++) {
    const TreeNode& node = game_.trees.nodes()[v];
    if (node.is_leaf()) continue;
    const double sum = cover_ratio(game_.trees, v, node.child) + cover_ratio(game_.trees, v, node.child + 1);
    if (!(std::abs(sum - 1) <= kCoverRounding)) return false;
  }
  return true;
}

double TableBuilder::weight_of(uint32_t leaf) const {
  return (game_.trees.leaf_weight(nodes_[leaf], target_) - centre_) * game_.trees.tree_share();
}

// The column of the unit's group of each player on the leaf's path.
void TableBuilder::find_columns(const TreeUnit& unit, uint32_t leaf) {
  const std::vector<uint32_t>& columns = layout_->groups[unit.group].players;
  columns_.resize(layout_->places[leaf].players);
  for (uint32_t v = layout_->places[leaf].last_new; v != kNoNode; v = layout_->places[v].last_new) {
    const uint32_t player = game_.players.of_column[nodes_[v].feature];
    columns_[layout_->places[v].position] =
        static_cast<uint32_t>(std::find(columns.begin(), columns.end(), player) - columns.begin());
  }
}

// The share of rows that each player's branches pass on towards the leaf.
void TableBuilder::find_ratios(uint32_t leaf) {
  ratios_.assign(layout_->places[leaf].players, 1.0);
  for (uint32_t v = leaf; v != 0; v = layout_->places[v].parent) {
    const uint32_t parent = layout_->places[v].parent;
    ratios_[layout_->places[parent].position] *= cover_ratio(game_.trees, layout_->root + parent, layout_->root + v);
  }
}

void TableBuilder::find_patterns(const TreeUnit& unit, uint32_t leaf, std::span<const uint16_t> of_unit,
                                 std::vector<uint16_t>& found) {
  path_.clear();
  for (uint32_t v = leaf; v != unit.node; v = layout_->places[v].parent) path_.push_back(v);
  found.resize(of_unit.size());
  const uint32_t path_bits = (1U << layout_->places[unit.node].players) - 1;
  for (size_t i = 0; i < found.size(); i++) found[i] = static_cast<uint16_t>(of_unit[i] & path_bits);
  for (size_t step = path_.size(); step-- > 0;) {
    const TreePlace& child = layout_->places[path_[step]];
    const TreePlace& branch = layout_->places[child.parent];
    const uint32_t other_side = child.is_true_child ? 0 : 1;
    const uint32_t player = 1U << branch.position;
    for (size_t i = 0; i < found.size(); i++) {
      const bool comes = (of_unit[i] >> branch.bit & 1) != other_side;
      const uint32_t before = found[i];
      found[i] = static_cast<uint16_t>(branch.is_new ? before | (comes ? player : 0) : before & ~(comes ? 0 : player));
    }
  }
}

void TableBuilder::add_leaf(const TreeUnit& unit, uint32_t leaf, const CountedPatterns* references) {
  const double weight = weight_of(leaf);
  if (weight == 0) return;
  const size_t k = layout_->places[leaf].players;
  const bool finite = std::isfinite(weight);
  values_.resize(k << k);
  if (references == nullptr) {
    find_ratios(leaf);
    path_leaf_table(ratios_, finite ? weight : 1, scratch_, values_);
  } else {
    find_patterns(unit, leaf, references->patterns, reference_patterns_);
    counts_.assign(size_t{1} << k, 0.0);
    for (size_t i = 0; i < reference_patterns_.size(); i++) counts_[reference_patterns_[i]] += references->counts[i];
    const auto rows = static_cast<double>(game_.references->rows());
    interventional_leaf_table(k, counts_, (finite ? weight : 1) / rows, scratch_, values_);
  }
  if (!finite) {
    // Rows that no coalition takes there have nothing to do with it.
    for (double& value : values_) value = value == 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
  }
  find_columns(unit, leaf);
  find_patterns(unit, leaf, std::span(all_patterns_).first(size_t{1} << unit.bits), patterns_);
  for (size_t i = 0; i < patterns_.size(); i++) {
    const double* from = values_.data() + patterns_[i] * k;
    double* to = sums_.data() + i * kTableWidth;
    for (size_t j = 0; j < k; j++) to[columns_[j]] += from[j];
  }
}

void TableBuilder::add_leaf_once(const TreeUnit& unit, uint32_t leaf, const CountedPatterns* references,
                                 uint16_t pattern) {
  const double weight = weight_of(leaf);
  if (weight == 0) return;
  const size_t k = layout_->places[leaf].players;
  const bool finite = std::isfinite(weight);
  values_.resize(k);
  find_patterns(unit, leaf, std::span(&pattern, 1), patterns_);
  if (references == nullptr) {
    find_ratios(leaf);
    path_leaf_row(ratios_, finite ? weight : 1, patterns_[0], values_);
  } else {
    find_patterns(unit, leaf, references->patterns, reference_patterns_);
    const auto rows = static_cast<double>(game_.references->rows());
    interventional_leaf_row(k, reference_patterns_, references->counts, (finite ? weight : 1) / rows, patterns_[0],
                            values_);
  }
  find_columns(unit, leaf);
  for (size_t j = 0; j < k; j++) {
    const double value = finite || values_[j] == 0 ? values_[j] : std::numeric_limits<double>::quiet_NaN();
    sums_[columns_[j]] += value;
  }
}

}  // namespace assay
