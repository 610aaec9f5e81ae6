// The game of a model of trees. No rows are made: trees are reduced to what a row and a reference row leave open
// (games/reduced_trees.h), once for all coalitions of a call.
//
// - A range: all trees as one polynomial in its players, whose coefficients are summed over subsets at the end.
// - A list: trees that ask few players together share a table of their values for all subsets of those players
//   (games/tree_tables.h), and a coalition takes one entry of each table. Trees that ask many are walked for each
//   coalition.
// - A short list, where a reduction would not pay: rows after all, a few at a time.
//
// Sums are exact (see reduced_trees.h) and rounded once to double and once to float32, so a value's bits depend on the
// row, the reference row and the coalition alone. Those of short lists are sums of doubles, as the model has them.
// Missing and infinite features are values like others.
//
// Cost for a tree of depth 6: tens of comparisons, then a table entry or less for each coalition.
#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

#include "assay/explain/games/makers.h"
#include "assay/explain/games/reduced_trees.h"
#include "assay/explain/games/scratch_pool.h"
#include "assay/explain/games/tree_kernels.h"
#include "assay/explain/games/tree_tables.h"
#include "assay/explain/games/value_function.h"
#include "assay/explain/trees/tree_selection.h"

namespace assay {
namespace {

// Coalitions that are valued at a time: of a range, and of a list.
constexpr size_t kRangeBits = 14;
constexpr size_t kMostListed = size_t{1} << 16;
constexpr size_t kIndexed = 2048;
// The longest of the short lists.
constexpr size_t kFewCoalitions = 48;
// Numbers that outputs are computed from at a time, where they are no raw scores.
constexpr size_t kMostScores = size_t{1} << 20;
constexpr size_t kRowsOfScores = 1024;

struct TreeScratch {
  ReducedTrees reduced;
  TreeTables tables;
  std::vector<uint32_t> roots;   // of trees that are reduced
  std::vector<uint32_t> bit_of;  // of each player
  VectorBuffer<uint64_t> has;    // for each player a bit for each coalition
  VectorBuffer<uint64_t> table, sums;
  VectorBuffer<uint16_t> index;
  VectorBuffer<float> scores, outputs, masked;
  VectorBuffer<std::byte> walk;
};

std::vector<uint32_t> positions(size_t count) {
  std::vector<uint32_t> made(count);
  std::iota(made.begin(), made.end(), 0U);
  return made;
}

size_t log2_floor(size_t n) { return static_cast<size_t>(std::bit_width(n)) - 1; }

class TreeGame final : public Game {
 public:
  TreeGame(const ExplainTask& task, const TreeScores& scores, const Context& context)
      : task_(task),
        scores_(scores),
        trees_(scores.trees()),
        value_(task.model, task.rows, task.targets, context),
        raw_(scores.are_outputs() && !task.targets.information),
        all_(positions(trees_.roots().size())),
        selection_(trees_, all_) {
    assert(trees_.features() <= task.players.of_column.size());
  }

  size_t players() const override { return task_.players.size(); }
  size_t rows() const override { return task_.rows.rows(); }
  size_t references() const override { return task_.reference.rows.rows(); }
  bool strata() const override { return task_.reference.strata; }
  bool concurrent() const override { return true; }

  void values(std::span<const size_t> rows, size_t reference, const Coalitions& coalitions, MatrixView<float> values,
              const Context& context) const override {
    assert(coalitions.players() == players() && values.rows() == rows.size() && values.cols() == coalitions.size());
    const ScratchPool<TreeScratch>::Lease scratch(pool_);
    scratch->bit_of.resize(players());
    if (!raw_) return values_by_outputs(rows, reference, coalitions, values, *scratch, context);
    const bool by_rows = are_few(coalitions) && trees_.targets() == 1;
    for (size_t i = 0; i < rows.size(); i++) {
      context.check_cancelled();
      const OutputTerm& term = task_.targets.term(rows[i]);
      const std::span<float> out = values.row(i);
      if (by_rows) {
        write_by_rows(coalitions, rows[i], reference, *scratch, out.data());
      } else {
        const std::span<const uint32_t> own = selection_.with_target(term.output);
        scratch->roots.clear();
        for (const uint32_t tree : own) scratch->roots.push_back(trees_.roots()[tree]);
        reduce(scratch->roots, rows[i], reference, *scratch);
        write(coalitions, 0, coalitions.size(), term.output, std::span(all_).first(own.size()), *scratch, out.data(),
              1);
      }
      for (float& value : out) value = term.offset + term.scale * value;
    }
  }

 private:
  void reduce(std::span<const uint32_t> roots, size_t row, size_t reference, TreeScratch& scratch) const {
    scratch.reduced.reduce(trees_, roots, task_.players.of_column, players(), task_.rows.row(row),
                           task_.reference.rows.row(reference));
  }

  static bool are_few(const Coalitions& coalitions) {
    return !coalitions.is_range() && coalitions.size() <= kFewCoalitions;
  }

  // The scores of all targets.
  void write_by_rows(const Coalitions& coalitions, size_t row, size_t reference, TreeScratch& scratch,
                     float* scores) const {
    const size_t features = task_.rows.cols();
    float* masked = scratch.masked.get(coalitions.size() * features);
    for (size_t i = 0; i < coalitions.size(); i++) {
      for (size_t c = 0; c < features; c++) {
        const bool present = coalitions.contains(i, task_.players.of_column[c]);
        masked[i * features + c] = present ? task_.rows(row, c) : task_.reference.rows(reference, c);
      }
    }
    trees_.for_rows(masked, coalitions.size(), features,
                    scratch.walk.get(trees_.scratch_count() * TreeEnsemble::kScratchSize),
                    [&](size_t i, std::span<const double> sums, const uint8_t*) {
                      for (size_t t = 0; t < sums.size(); t++) {
                        scores[i * sums.size() + t] = static_cast<float>(sums[t]);
                      }
                    });
  }

  // By way of all scores of a coalition.
  void values_by_outputs(std::span<const size_t> rows, size_t reference, const Coalitions& coalitions,
                         MatrixView<float> values, TreeScratch& scratch, const Context& context) const {
    struct Part {  // coalitions begin .. begin + count - 1 of a row
      size_t row, begin, count;
    };
    Context alone = context.quiet();
    alone.threads = 1;
    const size_t targets = trees_.targets();
    const size_t width = task_.model.info().outputs();
    // A power of two: a part of a range is one.
    const size_t most = size_t{1} << log2_floor(std::max<size_t>(64, kMostScores / std::max(targets, width)));
    const size_t room = std::max(std::min(most, kRowsOfScores), std::min(most, coalitions.size()));
    float* scores = scratch.scores.get(room * targets);
    std::vector<Part> parts;
    size_t filled = 0;
    const auto finish = [&] {
      const MatrixView<float> outputs(scratch.outputs.get(filled * width), filled, width);
      scores_.outputs_of({scores, filled, targets}, outputs, alone);
      size_t at = 0;
      for (const Part& part : parts) {
        value_.apply(rows[part.row], outputs.rows_between(at, at + part.count),
                     values.row(part.row).subspan(part.begin, part.count));
        at += part.count;
      }
      parts.clear();
      filled = 0;
    };
    const bool by_rows = are_few(coalitions);
    for (size_t i = 0; i < rows.size(); i++) {
      if (!by_rows) reduce(trees_.roots(), rows[i], reference, scratch);
      for (size_t begin = 0; begin < coalitions.size(); begin += most) {
        context.check_cancelled();
        const size_t count = std::min(most, coalitions.size() - begin);
        if (filled + count > room) finish();
        if (by_rows) write_by_rows(coalitions, rows[i], reference, scratch, scores + filled * targets);
        for (size_t t = 0; t < targets && !by_rows; t++) {
          write(coalitions, begin, count, t, selection_.with_target(t), scratch, scores + filled * targets + t,
                targets);
        }
        parts.push_back({i, begin, count});
        filled += count;
      }
    }
    if (filled > 0) finish();
  }

  // The scores of a target for coalitions begin .. begin + count - 1, from these of the reduced trees.
  void write(const Coalitions& coalitions, size_t begin, size_t count, size_t target, std::span<const uint32_t> which,
             TreeScratch& scratch, float* scores, size_t stride) const {
    scratch.reduced.take_values(trees_, target, which);
    const double divisor =
        trees_.aggregate() == TreeAggregate::average && !all_.empty() ? static_cast<double>(all_.size()) : 1;
    const double base = trees_.base().empty() ? 0 : trees_.base()[target];
    const size_t most = coalitions.is_range() ? size_t{1} << kRangeBits : kMostListed;
    for (size_t done = 0; done < count; done += most) {
      const size_t here = std::min(most, count - done);
      const uint64_t* sums = coalitions.is_range() ? sum_range(coalitions.first() + begin + done, here, which, scratch)
                                                   : sum_list(coalitions, begin + done, here, which, scratch);
      write_scores(sums, here, scratch.reduced.quantum(), divisor, base, scores + done * stride, stride);
    }
  }

  uint64_t* sum_range(uint64_t first, size_t count, std::span<const uint32_t> which, TreeScratch& scratch) const {
    const size_t bits = log2_floor(count);
    for (size_t p = 0; p < players(); p++) {
      const bool present = (first >> p & 1) != 0;
      scratch.bit_of[p] = p < bits ? uint32_t{1} << p : present ? kAlwaysPresent : kNeverPresent;
    }
    uint64_t* table = scratch.table.zeros(count);
    fill_table(bits, scratch, table, [&](const auto& take) {
      for (const uint32_t tree : which) take(tree);
    });
    return table;
  }

  // each(take) calls take(tree) for each tree of the table, twice. The table is all zeros.
  template <class Each>
  static void fill_table(size_t bits, TreeScratch& scratch, uint64_t* table, const Each& each) {
    // Either way ends in the same sums. Cells are as many as the table's, terms usually far fewer.
    const auto cells = static_cast<double>(size_t{1} << bits);
    bool all = true;
    each([&](uint32_t tree) {
      if (scratch.reduced.tree(tree).terms > cells) {
        all = false;
      } else {
        scratch.reduced.add_terms(tree, scratch.bit_of, table);
      }
    });
    sum_over_subsets(table, bits);
    if (all) return;
    each([&](uint32_t tree) {
      if (scratch.reduced.tree(tree).terms > cells) {
        scratch.reduced.add_cells(tree, scratch.bit_of, static_cast<uint32_t>(cells) - 1, table);
      }
    });
  }

  uint64_t* sum_list(const Coalitions& coalitions, size_t begin, size_t count, std::span<const uint32_t> which,
                     TreeScratch& scratch) const {
    const ReducedTrees& reduced = scratch.reduced;
    const TreeTables& plan = scratch.tables;
    scratch.tables.plan(reduced, which, players(), count);
    uint64_t constant = 0;
    for (const uint32_t tree : plan.constant()) constant += reduced.value(tree, [](uint32_t) { return false; });
    uint64_t* sums = scratch.sums.get(count);
    std::fill_n(sums, count, constant);
    const size_t blocks = (count + 63) / 64;
    if (!plan.tables().empty()) find_members(coalitions, begin, count, scratch);
    uint16_t* index = scratch.index.get(kIndexed);
    for (const TreeTables::Table& table : plan.tables()) {
      const std::span<const uint32_t> asked = table.players();
      for (size_t j = 0; j < asked.size(); j++) scratch.bit_of[asked[j]] = uint32_t{1} << j;
      uint64_t* entries = scratch.table.zeros(size_t{1} << asked.size());
      fill_table(asked.size(), scratch, entries, [&](const auto& take) { plan.for_trees(table, take); });
      for (size_t i = 0; i < count; i += kIndexed) {
        const size_t here = std::min(kIndexed, count - i);
        write_indices(scratch.has.get(0) + i / 64, blocks, asked, here, index);
        add_entries(entries, index, here, sums + i);
      }
    }
    if (plan.walked().empty()) return sums;
    for (size_t i = 0; i < count; i++) {
      const auto has = [&](uint32_t player) { return coalitions.contains(begin + i, player); };
      for (const uint32_t tree : plan.walked()) sums[i] += reduced.value(tree, has);
    }
    return sums;
  }

  // For each player the coalitions that have it, as bits.
  void find_members(const Coalitions& coalitions, size_t begin, size_t count, TreeScratch& scratch) const {
    const size_t blocks = (count + 63) / 64;
    uint64_t* has = scratch.has.get(coalitions.words() * 64 * blocks);
    std::array<uint64_t, 64> rows = {};
    for (size_t block = 0; block < blocks; block++) {
      for (size_t w = 0; w < coalitions.words(); w++) {
        for (size_t i = 0; i < 64; i++) {
          const size_t c = block * 64 + i;
          rows[i] = c < count ? coalitions.word(begin + c, w) : 0;
        }
        transpose_bits(rows.data(), has + w * 64 * blocks + block, blocks);
      }
    }
  }

  ExplainTask task_;
  const TreeScores& scores_;
  const TreeEnsemble& trees_;
  ValueFunction value_;
  bool raw_;                   // values are offset + scale * one score
  std::vector<uint32_t> all_;  // 0 .. trees - 1
  TreeSelection selection_;    // of all of them
  mutable ScratchPool<TreeScratch> pool_;
};

// Sums of quanta hold finite numbers alone.
bool finite_in_sum(const TreeEnsemble& trees) {
  double sum = 0;
  for (const TreeNode& node : trees.nodes()) {
    if (!node.is_leaf()) continue;
    for (const TreeWeight& weight : trees.weights(node)) sum += std::abs(weight.value);
  }
  return std::isfinite(sum);
}

}  // namespace

std::unique_ptr<Game> make_tree_game(const ExplainTask& task, const Context& context) {
  const TreeScores* scores = task.model.tree_scores();
  if (scores == nullptr || !scores->trees().adds_up() || !finite_in_sum(scores->trees())) return nullptr;
  return std::make_unique<TreeGame>(task, *scores, context);
}

}  // namespace assay
