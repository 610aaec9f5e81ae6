#include "assay/explain/trees/pattern_tables.h"

#include <algorithm>
#include <array>

#include "assay/core/parallel.h"

namespace assay {
namespace {

std::vector<uint32_t> branches_of(const TreeEnsemble& trees, std::span<const SharedLayout> layouts) {
  std::vector<uint32_t> made;
  for (const SharedLayout& layout : layouts) {
    for (uint32_t v = layout->root; v < layout->end; v++) {
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

PatternTables::PatternTables(const TreeGameView& game, std::vector<SharedLayout> layouts, size_t target, Filled filled,
                             const Context& context)
    : game_(game), target_(target), layouts_(std::move(layouts)) {
  // Single rows are decided branch by branch, without ranks.
  if (filled == Filled::when_asked_for && game_.references == nullptr) return;
  ranks_.emplace(game.trees, branches_of(game.trees, layouts_));
  size_t rows = 0;
  for (const SharedLayout& layout : layouts_) {
    programs_.push_back(program_of(*layout));
    programs_.back().first_row = rows;
    rows += layout->rows;
    most_patterns_ = std::max(most_patterns_, layout->patterns);
    most_bit_tests_ = std::max(most_bit_tests_, programs_.back().bit_tests.size());
  }
  if (game_.references != nullptr) rank_references();
  if (filled == Filled::when_asked_for) return;
  table_rows_ = rows;
  tables_ = memory_.get(std::max<size_t>(rows * kTableWidth, 1));
  fill_tables(context);
  make_row_program();
  reference_memory_ = {};  // not needed any more
}

void PatternTables::rank_references() {
  const std::vector<const float*> pointers = row_pointers(*game_.references);
  const size_t block = ranks_->columns() * kRankRows;
  const size_t count = (pointers.size() + kRankRows - 1) / kRankRows * block;
  uint16_t* to = reference_memory_.get(std::max<size_t>(count, 1));
  for (size_t begin = 0; begin < pointers.size(); begin += kRankRows) {
    ranks_->rank(std::span(pointers).subspan(begin, std::min(kRankRows, pointers.size() - begin)),
                 to + begin / kRankRows * block);
  }
  reference_ranks_ = to;
}

void PatternTables::fill_tables(const Context& context) {
  // Few trees of a batch are much larger than the others, and building one takes a while.
  constexpr size_t kTreesAtATime = 4;
  parallel_blocks(context, layouts_.size(), kTreesAtATime, [&](const Block& block) {
    TableBuilder builder(game_, target_);
    Scratch scratch;
    std::vector<CountedPatterns> counted;
    for (size_t tree = block.begin; tree < block.end; tree++) {
      context.check_cancelled();
      const TreeLayout& layout = *layouts_[tree];
      if (game_.references != nullptr) count_references(tree, scratch, counted);
      builder.choose(layout);
      float* to = tables_ + programs_[tree].first_row * kTableWidth;
      for (size_t u = 0; u < layout.units.size(); u++) {
        const TreeUnit& unit = layout.units[u];
        builder.fill_all(unit, game_.references != nullptr ? &counted[u] : nullptr, to + unit.first_row * kTableWidth);
      }
    }
  });
}

void PatternTables::count_references(size_t tree, Scratch& scratch, std::vector<CountedPatterns>& counted) const {
  const Program& program = programs_[tree];
  const size_t units = program.units.size();
  const size_t references = game_.references->rows();
  const size_t block = ranks_->columns() * kRankRows;
  constexpr uint32_t kNotSeen = UINT32_MAX;
  if (counted.size() < units) counted.resize(units);
  // Where each pattern of each unit is among those that were seen.
  scratch.places.assign(layouts_[tree]->rows, kNotSeen);
  for (size_t u = 0; u < units; u++) {
    counted[u].patterns.clear();
    counted[u].counts.clear();
  }
  for (size_t begin = 0; begin < references; begin += kRankRows) {
    const size_t count = std::min(kRankRows, references - begin);
    uint16_t* found = scratch.patterns.get(most_patterns_ * kRankRows);
    flow(program, reference_ranks_ + begin / kRankRows * block, count, scratch.decided, found);
    for (size_t u = 0; u < units; u++) {
      const uint16_t* patterns = found + program.units[u].pattern * kRankRows;
      uint32_t* places = scratch.places.data() + program.units[u].first_row;
      CountedPatterns& of_unit = counted[u];
      for (size_t i = 0; i < count; i++) {
        uint32_t& place = places[patterns[i]];
        if (place == kNotSeen) {
          place = static_cast<uint32_t>(of_unit.patterns.size());
          of_unit.patterns.push_back(patterns[i]);
          of_unit.counts.push_back(0);
        }
        of_unit.counts[place]++;
      }
    }
  }
}

PatternTables::Program PatternTables::program_of(const TreeLayout& layout) {
  Program made;
  made.patterns = layout.patterns;
  const TreeNode* nodes = game_.trees.nodes().data() + layout.root;
  for (uint32_t v = 0; v < layout.places.size(); v++) {
    if (nodes[v].is_leaf()) continue;
    const TreePlace& place = layout.places[v];
    const RankTest test = ranks_->test(nodes[v], made.bit_tests);
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

void PatternTables::make_row_program() {
  if (ranks_->columns() > kMostRowColumns) return;
  row_program_.emplace();
  std::vector<RankTest> tests;
  for (size_t tree = 0; tree < layouts_.size(); tree++) {
    const TreeLayout& layout = *layouts_[tree];
    const Program& program = programs_[tree];
    // program_of went through the nodes in the same order.
    auto split = program.splits.begin();
    auto bit = program.bits.begin();
    tests.assign(layout.places.size(), {});
    for (uint32_t v = 0; v < layout.places.size(); v++) {
      if (game_.trees.nodes()[layout.root + v].is_leaf()) continue;
      tests[v] = layout.places[v].unit != kNoNode ? (bit++)->test : (split++)->test;
    }
    row_program_->add(layout, tests, ranks_->columns(), program.bit_tests, program.first_row);
  }
}

void PatternTables::flow(const Program& program, const uint16_t* ranks, size_t rows, VectorBuffer<uint16_t>& memory,
                         uint16_t* patterns) const {
  uint16_t* decided = memory.get(std::max<size_t>(most_bit_tests_ * kRankRows, 1));
  if (!program.bit_tests.empty()) ranks_->decide(program.bit_tests, ranks, decided);
  // Sums are of whole fours of rows.
  flow_patterns(program.splits, program.bits, ranks, ranks_->columns(), decided, (rows + 3) / 4 * 4, patterns);
}

void PatternTables::add(std::span<const float* const> rows, double* totals) const {
  const ScratchPool<Scratch>::Lease scratch(scratch_);
  if (tables_ == nullptr) {
    add_without_tables(rows, totals, *scratch);
  } else if (rows.size() == 1 && row_program_) {
    add_one(rows[0], totals, *scratch);
  } else if (rows.size() <= kRankRows) {
    add_block(rows, totals, *scratch);
  } else {
    add_blocks(rows, totals, *scratch);
  }
}

void PatternTables::add_blocks(std::span<const float* const> rows, double* totals, Scratch& scratch) const {
  const size_t block = ranks_->columns() * kRankRows;
  const size_t blocks = (rows.size() + kRankRows - 1) / kRankRows;
  uint16_t* ranks = scratch.ranks.get(std::max<size_t>(blocks * block, 1));
  for (size_t b = 0; b < blocks; b++) {
    ranks_->rank(rows.subspan(b * kRankRows, std::min(kRankRows, rows.size() - b * kRankRows)), ranks + b * block);
  }
  const size_t stride = totals_stride(game_.players.size());
  uint16_t* patterns = scratch.patterns.get(most_patterns_ * kRankRows);
  for (size_t tree = 0; tree < programs_.size(); tree++) {
    const Program& program = programs_[tree];
    // Most of them will be asked for, in no order.
    fetch_tables(tables_ + program.first_row * kTableWidth, layouts_[tree]->rows);
    for (size_t b = 0; b < blocks; b++) {
      const size_t count = std::min(kRankRows, rows.size() - b * kRankRows);
      flow(program, ranks + b * block, count, scratch.decided, patterns);
      add_by_tables(tree, count, patterns, totals + b * kRankRows * stride, scratch);
    }
  }
}

// Few rows take little of each table, from far memory: that is fetched while other trees are decided.
void PatternTables::add_block(std::span<const float* const> rows, double* totals, Scratch& scratch) const {
  uint16_t* ranks = scratch.ranks.get(std::max<size_t>(ranks_->columns() * kRankRows, 1));
  ranks_->rank(rows, ranks);
  constexpr size_t kTreesAhead = 8;
  const size_t stride = most_patterns_ * kRankRows;
  uint16_t* patterns = scratch.patterns.get((kTreesAhead + 1) * stride);
  for (size_t tree = 0; tree < programs_.size() + kTreesAhead; tree++) {
    if (tree < programs_.size()) {
      const Program& program = programs_[tree];
      uint16_t* own = patterns + tree % (kTreesAhead + 1) * stride;
      flow(program, ranks, rows.size(), scratch.decided, own);
      fetch_rows(program.units, tables_ + program.first_row * kTableWidth, own, rows.size());
    }
    if (tree < kTreesAhead) continue;
    const size_t ready = tree - kTreesAhead;
    add_by_tables(ready, rows.size(), patterns + ready % (kTreesAhead + 1) * stride, totals, scratch);
  }
}

void PatternTables::add_one(const float* row, double* totals, Scratch& scratch) const {
  std::array<uint16_t, kMostRowColumns> ranks = {};
  ranks_->rank_row(row, ranks.data());
  if (scratch.table_rows.size() < row_program_->units()) scratch.table_rows.resize(row_program_->units());
  row_program_->add_to(*ranks_, ranks.data(), tables_, totals_stride(game_.players.size()),
                       scratch.decided.get(std::max<size_t>(row_program_->words(), 1)), scratch.table_rows.data(),
                       totals);
}

void PatternTables::add_by_tables(size_t tree, size_t rows, const uint16_t* patterns, double* totals,
                                  Scratch& scratch) const {
  const Program& program = programs_[tree];
  float* sums = scratch.sums.get(kRankRows * kTableWidth);
  for (const TreeGroup& group : layouts_[tree]->groups) {
    const auto units = std::span(program.units).subspan(group.first_unit, group.end_unit - group.first_unit);
    sum_units(units, tables_ + program.first_row * kTableWidth, patterns, rows, sums);
    add_group(group, sums, rows, totals);
  }
}

void PatternTables::add_without_tables(std::span<const float* const> rows, double* totals, Scratch& scratch) const {
  const size_t stride = totals_stride(game_.players.size());
  const bool against = game_.references != nullptr;
  TableBuilder builder(game_, target_);
  std::vector<uint16_t> patterns;
  std::array<float, kTableWidth> made;
  std::array<float, kTableWidth> sums;
  for (size_t tree = 0; tree < layouts_.size(); tree++) {
    const TreeLayout& layout = *layouts_[tree];
    if (against) count_references(tree, scratch, scratch.counted);
    builder.choose(layout);
    for (size_t i = 0; i < rows.size(); i++) {
      builder.find_unit_patterns(rows[i], patterns);
      for (const TreeGroup& group : layout.groups) {
        sums.fill(0);
        for (size_t u = group.first_unit; u < group.end_unit; u++) {
          builder.fill_one(layout.units[u], against ? &scratch.counted[u] : nullptr, patterns[u], made.data());
          for (size_t j = 0; j < kTableWidth; j++) sums[j] += made[j];
        }
        add_group(group, sums.data(), 1, totals + i * stride);
      }
    }
  }
}

void PatternTables::add_group(const TreeGroup& group, const float* sums, size_t rows, double* totals) const {
  const size_t stride = totals_stride(game_.players.size());
  if (stride == kTableWidth) {
    add_sums(sums, rows * kTableWidth, totals);
    return;
  }
  const size_t width = group.players.size();
  const uint32_t* columns = group.players.data();
  for (size_t i = 0; i < rows; i++) {
    double* total = totals + i * stride;
    const float* sum = sums + i * kTableWidth;
    for (size_t j = 0; j < width; j++) total[columns[j]] += static_cast<double>(sum[j]);
  }
}

}  // namespace assay
