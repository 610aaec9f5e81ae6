// The game of a model whose first operator is affine: entries of coalitions from tables (games/entry_tables.h), then
// the rest of the model on blocks of them. No masked rows are made, and the first layer costs a few additions.
//
// Differences, reference entries and deltas are float64 and rounded once; sums of table rows are float32. A value's
// bits depend on the row, the reference row, the coalition and how many coalitions the call asks for (which decides how
// players are cut into tables).
#include <algorithm>
#include <cassert>
#include <vector>

#include "assay/explain/games/entry_kernels.h"
#include "assay/explain/games/entry_tables.h"
#include "assay/explain/games/makers.h"
#include "assay/explain/games/scratch_pool.h"
#include "assay/explain/games/value_function.h"
#include "assay/model/kernels/products.h"

namespace assay {
namespace {

// Entries that one call of the rest of the model gets.
constexpr size_t kMostAffineRows = 1024;
constexpr size_t kMostBlockBytes = size_t{4} << 20;

class AffineGame final : public Game {
 public:
  AffineGame(const ExplainTask& task, const AffineEntry& entry, const Context& context)
      : task_(task),
        entry_(entry),
        value_(task.model, task.rows, task.targets, context),
        entries_(entry.bias().size()),
        stride_(padded(entries_)),
        block_rows_(std::clamp<size_t>(kMostBlockBytes / (stride_ * sizeof(float)), 1, kMostAffineRows)),
        references_(affine_entries(task.reference.rows.view(), entry.weights(), entry.bias())) {}

  size_t players() const override { return task_.players.size(); }
  size_t rows() const override { return task_.rows.rows(); }
  size_t references() const override { return references_.rows(); }
  bool strata() const override { return task_.reference.strata; }
  bool concurrent() const override { return true; }
  double rounding() const override { return kTableRounding; }

  void values(std::span<const size_t> rows, size_t reference, const Coalitions& coalitions, MatrixView<float> values,
              const Context& context) const override {
    assert(coalitions.players() == players() && values.rows() == rows.size() && values.cols() == coalitions.size());
    const TablePlan plan = plan_tables(players(), coalitions.size(), entries_);
    Context alone = context.quiet();
    alone.threads = 1;
    const ScratchPool<Scratch>::Lease scratch(pool_);
    float* entries = scratch->entries.get(block_rows_ * entries_);
    scratch->parts.clear();
    size_t filled = 0;
    const auto predict = [&] {
      const MatrixView<float> outputs(scratch->outputs.get(filled * task_.model.info().outputs()), filled,
                                      task_.model.info().outputs());
      entry_.predict_from({entries, filled, entries_}, outputs, alone);
      size_t at = 0;
      for (const Part& part : scratch->parts) {
        value_.apply(rows[part.row], outputs.rows_between(at, at + part.count),
                     values.row(part.row).subspan(part.begin, part.count));
        at += part.count;
      }
      scratch->parts.clear();
      filled = 0;
    };
    for (size_t i = 0; i < rows.size(); i++) {
      prepare(rows[i], reference, plan, *scratch);
      for (size_t begin = 0; begin < coalitions.size();) {
        const size_t count = std::min(coalitions.size() - begin, block_rows_ - filled);
        write_entries(plan, coalitions, begin, count, *scratch, entries + filled * entries_);
        scratch->parts.push_back({i, begin, count});
        filled += count;
        begin += count;
        if (filled == block_rows_) predict();
      }
    }
    if (filled > 0) predict();
  }

 private:
  // Coalitions begin .. begin + count - 1 of a row.
  struct Part {
    size_t row, begin, count;
  };
  struct Scratch {
    std::vector<double> differences;
    VectorBuffer<double> exact;
    VectorBuffer<float> deltas, base, tables, masks, entries, outputs;
    std::vector<uint32_t> table_rows;
    std::vector<Part> parts;
  };

  void prepare(size_t row, size_t reference, const TablePlan& plan, Scratch& scratch) const {
    subtract(task_.rows.row(row), task_.reference.rows.row(reference), scratch.differences);
    double* exact = scratch.exact.zeros(players() * stride_);
    add_deltas(entry_.weights(), task_.players.of_column, scratch.differences, exact, stride_);
    float* deltas = scratch.deltas.get(players() * stride_);
    for (size_t i = 0; i < players() * stride_; i++) deltas[i] = static_cast<float>(exact[i]);
    float* base = scratch.base.zeros(stride_);
    for (size_t j = 0; j < entries_; j++) base[j] = static_cast<float>(references_(reference, j));
    if (plan.chunks > 0) build_tables(plan, deltas, base, stride_, scratch.tables.get(plan.rows() * stride_));
  }

  void write_entries(const TablePlan& plan, const Coalitions& coalitions, size_t begin, size_t count, Scratch& scratch,
                     float* out) const {
    if (plan.chunks > 0) {
      scratch.table_rows.resize(block_rows_ * plan.chunks);
      find_table_rows(plan, coalitions, begin, count, scratch.table_rows.data());
      sum_table_rows(scratch.tables.get(0), stride_, scratch.table_rows.data(), plan.chunks, count, entries_, out);
      return;
    }
    float* masks = scratch.masks.get(block_rows_ * mask_stride(players()));
    write_masks(coalitions, begin, count, masks);
    const float* base = scratch.base.get(0);
    for (size_t i = 0; i < count; i++) std::copy_n(base, entries_, out + i * entries_);
    Product p;
    p.m = count;
    p.n = entries_;
    p.k = players();
    p.a = masks;
    p.a_row = mask_stride(players());
    p.b = scratch.deltas.get(0);
    p.b_row = stride_;
    p.accumulate = true;
    p.out = out;
    p.out_row = entries_;
    product(p);
  }

  ExplainTask task_;
  const AffineEntry& entry_;
  ValueFunction value_;
  size_t entries_;
  size_t stride_;
  size_t block_rows_;
  Matrix64 references_;  // reference rows x entries
  mutable ScratchPool<Scratch> pool_;
};

}  // namespace

std::unique_ptr<Game> make_affine_game(const ExplainTask& task, const Context& context) {
  const AffineEntry* entry = task.model.affine_entry();
  if (entry == nullptr) return nullptr;
  return std::make_unique<AffineGame>(task, *entry, context);
}

}  // namespace assay
