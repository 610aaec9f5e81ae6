#include "assay/evaluate/subsets/pooled_removal.h"

#include <algorithm>

#include "assay/core/random.h"
#include "assay/evaluate/common.h"
#include "assay/explain/games/value_function.h"

namespace assay {
namespace {

std::vector<uint32_t> subset_of(uint64_t seed, std::string_view purpose, size_t row, size_t run, size_t players,
                                size_t size) {
  std::vector<uint32_t> subset(size);
  RandomStream(seed, purpose, row, static_cast<uint32_t>(run)).subset(static_cast<uint32_t>(players), subset);
  return subset;
}

}  // namespace

PooledRemoval remove_one_subset_each(const EvaluateTask& task, size_t subset, size_t runs, std::string_view purpose,
                                     const Context& context) {
  const MatrixView<const float> x = task.data->x.view();
  const MatrixView<const float> references = task.reference->rows.view();
  const size_t players = task.players->size();
  PooledRemoval made;
  for (size_t r = 0; r < task.rows(); r++) {
    if (all_finite(task.explanations.values.row(r))) made.rows.push_back(r);
  }
  const size_t rows = made.rows.size();
  made.mean_attribution = Matrix64(runs, rows);
  made.modified = Matrix64(runs, rows);
  made.difference = Matrix64(runs, rows);
  const ValueFunction value(*task.model, x, *task.targets, context);
  const auto value_of = [&](size_t row, std::span<const float> outputs) {
    float found = 0;
    value.apply(row, MatrixView<const float>(outputs.data(), 1, outputs.size()), std::span(&found, 1));
    return static_cast<double>(found);
  };

  std::vector<double> whole(rows);
  predict_made_rows(
      *task.model, rows, [&](size_t i, std::span<float> row) { std::ranges::copy(x.row(made.rows[i]), row.begin()); },
      [&](size_t i, std::span<const float> outputs) { whole[i] = value_of(made.rows[i], outputs); }, context);

  // The reference rows of one row and run come side by side, but batches may part them: each has a place of its own.
  const size_t each = references.rows();
  Matrix64 found(rows, each);
  for (size_t run = 0; run < runs; run++) {
    predict_made_rows(
        *task.model, rows * each,
        [&](size_t i, std::span<float> row) {
          const size_t r = made.rows[i / each];
          std::vector<uint8_t> kept(players, 1);
          for (const uint32_t player : subset_of(context.seed, purpose, r, run, players, subset)) kept[player] = 0;
          mask_row(*task.players, x.row(r), references.row(i % each), kept, row);
        },
        [&](size_t i, std::span<const float> outputs) {
          found(i / each, i % each) = value_of(made.rows[i / each], outputs);
        },
        context, purpose);
    for (size_t i = 0; i < rows; i++) {
      const std::span<const float> phi = task.explanations.values.row(made.rows[i]);
      double sum = 0;
      for (const uint32_t player : subset_of(context.seed, purpose, made.rows[i], run, players, subset)) {
        sum += phi[player];
      }
      double total = 0;
      for (const double v : found.row(i)) total += v;
      made.mean_attribution(run, i) = sum / static_cast<double>(subset);
      made.modified(run, i) = total / static_cast<double>(each);
      made.difference(run, i) = made.modified(run, i) - whole[i];
    }
  }
  made.evaluations = static_cast<uint64_t>(rows) * (1 + runs * each);
  return made;
}

}  // namespace assay
