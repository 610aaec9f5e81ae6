#include "assay/explain/trees/pattern_tables.h"

#include <algorithm>
#include <cmath>

#include "assay/core/parallel.h"
#include "assay/explain/trees/leaf_tables.h"
#include "assay/explain/trees/tree_selection.h"

namespace assay {
namespace {

constexpr double kCoverRounding = 1e-6;

std::vector<uint32_t> branches_of(const TreeEnsemble& trees, std::span<const TreeLayout> layouts) {
  std::vector<uint32_t> made;
  for (const TreeLayout& layout : layouts) {
    for (uint32_t v = layout.root; v < layout.end; v++) {
      if (!trees.nodes()[v].is_leaf()) made.push_back(v);
    }
  }
  return made;
}

std::vector<const float*> row_pointers(const Matrix& rows) {
  std::vector<const float*> made(rows.rows());
  for (size_t i = 0; i < made.size(); i++) made[i] = rows.row(i).data();
  return made;
}

}  // namespace

// Fills the tables of one tree after the other, on one thread.
class PatternTables::Build {
 public:
  Build(const PatternTables& of, size_t target, std::span<const uint16_t> reference_ranks)
      : of_(of), trees_(of.game_.trees), target_(target), reference_ranks_(reference_ranks) {}

  void build(size_t tree) {
    layout_ = &of_.layouts_[tree];
    nodes_ = trees_.nodes().data() + layout_->root;
    if (of_.game_.references != nullptr) count_references(of_.programs_[tree]);
    find_centre();
    float* to = of_.tables_ + of_.programs_[tree].first_row * kTableWidth;
    for (const TreeUnit& unit : layout_->units) {
      const size_t rows = size_t{1} << unit.bits;
      sums_.assign(rows * kTableWidth, 0.0);
      for (const uint32_t leaf : unit.leaves) add_leaf(unit, leaf);
      float* table = to + unit.first_row * kTableWidth;
      for (size_t i = 0; i < sums_.size(); i++) table[i] = static_cast<float>(sums_[i]);
    }
  }

 private:
  // How many reference rows have each pattern of each unit.
  void count_references(const Program& program) {
    counts_.assign(layout_->rows, 0);
    const size_t references = of_.game_.references->rows();
    const size_t block = of_.ranks_.columns() * kRankRows;
    for (size_t begin = 0; begin < references; begin += kRankRows) {
      const size_t count = std::min(kRankRows, references - begin);
      of_.flow(program, reference_ranks_.data() + begin / kRankRows * block, count, scratch_);
      for (size_t u = 0; u < layout_->units.size(); u++) {
        const uint16_t* patterns = scratch_.patterns.get(0) + program.units[u].pattern * kRankRows;
        uint32_t* counts = counts_.data() + layout_->units[u].first_row;
        for (size_t i = 0; i < count; i++) counts[patterns[i]]++;
      }
    }
  }

  // Leaves are counted from their median, which changes no value of a game where all leaves together always have the
  // weight 1, and spares float32 the digits that they have in common. One leaf far off does not move a median.
  void find_centre() {
    centre_ = 0;
    if (of_.game_.references == nullptr && !covers_add_up()) return;
    weights_.clear();
    for (const TreeUnit& unit : layout_->units) {
      for (const uint32_t leaf : unit.leaves) {
        const double weight = trees_.leaf_weight(nodes_[leaf], target_);
        if (std::isfinite(weight)) weights_.push_back(weight);
      }
    }
    if (weights_.empty()) return;
    const auto middle = weights_.begin() + static_cast<ptrdiff_t>(weights_.size() / 2);
    std::ranges::nth_element(weights_, middle);
    centre_ = *middle;
  }

  // To the rounding of float32, which XGBoost's covers have.
  bool covers_add_up() const {
    for (uint32_t v = layout_->root; v < layout_->end; v++) {
      const TreeNode& node = trees_.nodes()[v];
      if (node.is_leaf()) continue;
      const double sum = cover_ratio(trees_, v, node.child) + cover_ratio(trees_, v, node.child + 1);
      if (!(std::abs(sum - 1) <= kCoverRounding)) return false;
    }
    return true;
  }

  void add_leaf(const TreeUnit& unit, uint32_t leaf) {
    const double weight = (trees_.leaf_weight(nodes_[leaf], target_) - centre_) * trees_.tree_share();
    if (weight == 0) return;
    find_patterns(unit, leaf);
    const size_t k = layout_->places[leaf].players;
    const bool finite = std::isfinite(weight);
    values_.resize(k << k);
    fill_values(unit, leaf, finite ? weight : 1);
    if (!finite) {
      // Rows that no coalition takes there have nothing to do with it.
      for (double& value : values_) value = value == 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
    }
    const std::vector<uint32_t> players = layout_->path_players(trees_, of_.game_.players, leaf);
    const std::vector<uint32_t>& columns = layout_->groups[unit.group].players;
    columns_.resize(k);
    for (size_t j = 0; j < k; j++) {
      columns_[j] = static_cast<uint32_t>(std::find(columns.begin(), columns.end(), players[j]) - columns.begin());
    }
    for (size_t i = 0; i < patterns_.size(); i++) {
      const double* from = values_.data() + patterns_[i] * k;
      double* to = sums_.data() + i * kTableWidth;
      for (size_t j = 0; j < k; j++) to[columns_[j]] += from[j];
    }
  }

  // The leaf's pattern for each of the unit's.
  void find_patterns(const TreeUnit& unit, uint32_t leaf) {
    path_.clear();
    for (uint32_t v = leaf; v != unit.node; v = layout_->places[v].parent) path_.push_back(v);
    patterns_.resize(size_t{1} << unit.bits);
    const uint32_t path_bits = (1U << layout_->places[unit.node].players) - 1;
    for (uint32_t i = 0; i < patterns_.size(); i++) patterns_[i] = static_cast<uint16_t>(i & path_bits);
    for (size_t step = path_.size(); step-- > 0;) {
      const TreePlace& child = layout_->places[path_[step]];
      const TreePlace& branch = layout_->places[child.parent];
      const uint32_t other_side = child.is_true_child ? 0 : 1;
      const uint32_t player = 1U << branch.position;
      for (uint32_t i = 0; i < patterns_.size(); i++) {
        const bool comes = (i >> branch.bit & 1) != other_side;
        const uint32_t before = patterns_[i];
        patterns_[i] =
            static_cast<uint16_t>(branch.is_new ? before | (comes ? player : 0) : before & ~(comes ? 0 : player));
      }
    }
  }

  void fill_values(const TreeUnit& unit, uint32_t leaf, double weight) {
    const size_t k = layout_->places[leaf].players;
    if (of_.game_.references == nullptr) {
      ratios_.assign(k, 1.0);
      for (uint32_t v = leaf; v != 0; v = layout_->places[v].parent) {
        const uint32_t parent = layout_->places[v].parent;
        ratios_[layout_->places[parent].position] *= cover_ratio(trees_, layout_->root + parent, layout_->root + v);
      }
      path_leaf_table(ratios_, weight, leaf_scratch_, values_);
      return;
    }
    of_patterns_.assign(size_t{1} << k, 0.0);
    const uint32_t* counts = counts_.data() + unit.first_row;
    for (size_t i = 0; i < patterns_.size(); i++) of_patterns_[patterns_[i]] += counts[i];
    const auto references = static_cast<double>(of_.game_.references->rows());
    interventional_leaf_table(k, of_patterns_, weight / references, leaf_scratch_, values_);
  }

  const PatternTables& of_;
  const TreeEnsemble& trees_;
  const size_t target_;
  const std::span<const uint16_t> reference_ranks_;
  const TreeLayout* layout_ = nullptr;
  std::vector<double> weights_;
  const TreeNode* nodes_ = nullptr;
  double centre_ = 0;
  Scratch scratch_;
  LeafTableScratch leaf_scratch_;
  std::vector<uint32_t> counts_;
  std::vector<double> sums_;
  std::vector<uint32_t> path_;
  std::vector<uint16_t> patterns_;
  std::vector<double> values_;
  std::vector<uint32_t> columns_;
  std::vector<double> ratios_;
  std::vector<double> of_patterns_;
};

PatternTables::PatternTables(const TreeGameView& game, std::vector<TreeLayout> layouts, size_t target,
                             const Context& context)
    : game_(game), layouts_(std::move(layouts)), ranks_(game.trees, branches_of(game.trees, layouts_)) {
  size_t rows = 0;
  for (const TreeLayout& layout : layouts_) {
    programs_.push_back(program_of(layout));
    programs_.back().first_row = rows;
    rows += layout.rows;
    most_patterns_ = std::max(most_patterns_, layout.patterns);
    most_bit_tests_ = std::max(most_bit_tests_, programs_.back().bit_tests.size());
  }
  tables_ = memory_.get(std::max<size_t>(rows * kTableWidth, 1));
  VectorBuffer<uint16_t> reference_ranks;
  size_t count = 0;
  if (game_.references != nullptr) {
    const std::vector<const float*> pointers = row_pointers(*game_.references);
    const size_t block = ranks_.columns() * kRankRows;
    count = (pointers.size() + kRankRows - 1) / kRankRows * block;
    uint16_t* to = reference_ranks.get(std::max<size_t>(count, 1));
    for (size_t begin = 0; begin < pointers.size(); begin += kRankRows) {
      ranks_.rank(std::span(pointers).subspan(begin, std::min(kRankRows, pointers.size() - begin)),
                  to + begin / kRankRows * block);
    }
  }
  // Few trees of a batch are much larger than the others, and building one takes a while.
  constexpr size_t kTreesAtATime = 4;
  parallel_blocks(context, layouts_.size(), kTreesAtATime, [&](const Block& block) {
    Build build(*this, target, {reference_ranks.get(0), count});
    for (size_t tree = block.begin; tree < block.end; tree++) {
      context.check_cancelled();
      build.build(tree);
    }
  });
}

PatternTables::Program PatternTables::program_of(const TreeLayout& layout) {
  Program made;
  made.patterns = layout.patterns;
  const TreeNode* nodes = game_.trees.nodes().data() + layout.root;
  for (uint32_t v = 0; v < layout.places.size(); v++) {
    if (nodes[v].is_leaf()) continue;
    const TreePlace& place = layout.places[v];
    const RankTest test = ranks_.test(nodes[v], made.bit_tests);
    if (place.unit != kNoNode) {
      const uint32_t pattern = layout.places[layout.units[place.unit].node].pattern;
      made.bits.push_back({test, static_cast<uint16_t>(1U << place.bit), static_cast<uint16_t>(pattern)});
      continue;
    }
    const auto bit = static_cast<uint16_t>(1U << place.position);
    const uint32_t child = nodes[v].child - layout.root;
    made.splits.push_back({.test = test,
                           .new_bit = place.is_new ? bit : uint16_t{0},
                           .keep = place.is_new ? uint16_t{UINT16_MAX} : static_cast<uint16_t>(~bit),
                           .from = static_cast<uint16_t>(place.pattern),
                           .to_true = static_cast<uint16_t>(layout.places[child].pattern),
                           .to_false = static_cast<uint16_t>(layout.places[child + 1].pattern)});
  }
  for (const TreeUnit& unit : layout.units) {
    made.units.push_back({layout.places[unit.node].pattern, static_cast<uint32_t>(unit.first_row)});
  }
  return made;
}

void PatternTables::flow(const Program& program, const uint16_t* ranks, size_t rows, Scratch& scratch) const {
  uint16_t* decided = scratch.decided.get(std::max<size_t>(most_bit_tests_ * kRankRows, 1));
  if (!program.bit_tests.empty()) ranks_.decide(program.bit_tests, ranks, decided);
  // Sums are of whole fours of rows.
  flow_patterns(program.splits, program.bits, ranks, ranks_.columns(), decided, (rows + 3) / 4 * 4,
                scratch.patterns.get(most_patterns_ * kRankRows));
}

void PatternTables::add(std::span<const float* const> rows, double* totals, Scratch& scratch) const {
  const size_t players = game_.players.size();
  const size_t stride = totals_stride(players);
  const size_t block = ranks_.columns() * kRankRows;
  const size_t blocks = (rows.size() + kRankRows - 1) / kRankRows;
  uint16_t* ranks = scratch.ranks.get(std::max<size_t>(blocks * block, 1));
  float* sums = scratch.sums.get(kRankRows * kTableWidth);
  for (size_t b = 0; b < blocks; b++) {
    ranks_.rank(rows.subspan(b * kRankRows, std::min(kRankRows, rows.size() - b * kRankRows)), ranks + b * block);
  }
  for (size_t tree = 0; tree < programs_.size(); tree++) {
    const Program& program = programs_[tree];
    const float* tables = tables_ + program.first_row * kTableWidth;
    // Most of them will be asked for, in no order.
    if (blocks > 1) fetch_tables(tables, layouts_[tree].rows);
    for (size_t b = 0; b < blocks; b++) {
      const size_t count = std::min(kRankRows, rows.size() - b * kRankRows);
      double* to = totals + b * kRankRows * stride;
      flow(program, ranks + b * block, count, scratch);
      for (const TreeGroup& group : layouts_[tree].groups) {
        const auto units = std::span(program.units).subspan(group.first_unit, group.end_unit - group.first_unit);
        sum_units(units, tables, scratch.patterns.get(0), count, sums);
        if (stride == kTableWidth) {
          add_sums(sums, count * kTableWidth, to);
          continue;
        }
        const size_t width = group.players.size();
        const uint32_t* columns = group.players.data();
        for (size_t i = 0; i < count; i++) {
          double* total = to + i * stride;
          const float* sum = sums + i * kTableWidth;
          for (size_t j = 0; j < width; j++) total[columns[j]] += static_cast<double>(sum[j]);
        }
      }
    }
  }
}

}  // namespace assay
