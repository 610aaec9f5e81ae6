#include "assay/evaluate/subsets/pooled_removal.h"

#include <algorithm>

#include "assay/core/matrix.h"
#include "assay/core/parallel.h"
#include "assay/core/random.h"
#include "assay/evaluate/common.h"
#include "assay/explain/games/value_function.h"

namespace assay {
namespace {

// Bytes of subsets and values of rows that are in work.
constexpr size_t kBytesPerBlock = size_t{1} << 25;

}  // namespace

std::vector<size_t> pooled_rows(const EvaluateTask& task) {
  std::vector<size_t> rows;
  for (size_t r = 0; r < task.rows(); r++) {
    if (all_finite(task.explanations.values.row(r))) rows.push_back(r);
  }
  return rows;
}

uint64_t remove_one_subset_each(const EvaluateTask& task, const std::vector<size_t>& rows, size_t subset, size_t runs,
                                std::string_view purpose, const Context& context,
                                const std::function<void(size_t run, const PooledRun& found)>& take) {
  const MatrixView<const float> x = task.subject.rows->x.view();
  const MatrixView<const float> references = task.subject.reference->rows.view();
  const size_t players = task.subject.players->size();
  const size_t each = references.rows();
  const Context inner = context.quiet();
  const ValueFunction value(*task.subject.model, x, *task.subject.targets, inner);
  const auto value_of = [&](size_t row, std::span<const float> outputs) {
    float found = 0;
    value.apply(row, MatrixView<const float>(outputs.data(), 1, outputs.size()), std::span(&found, 1));
    return static_cast<double>(found);
  };

  std::vector<double> whole(rows.size());
  predict_made_rows(
      *task.subject.model, rows.size(),
      [&](size_t i, std::span<float> row) { std::ranges::copy(x.row(rows[i]), row.begin()); },
      [&](size_t i, std::span<const float> outputs) { whole[i] = value_of(rows[i], outputs); }, inner);

  const size_t block_rows =
      std::clamp<size_t>(kBytesPerBlock / (players + each * sizeof(double)), 1, std::max<size_t>(rows.size(), 1));
  OwnedMatrix<uint8_t> kept(block_rows, players);
  // The reference rows of one row and run come side by side, but batches may part them: each has a place of its own.
  Matrix64 found(block_rows, each);
  PooledRun made{std::vector<double>(rows.size()), std::vector<double>(rows.size()), std::vector<double>(rows.size())};
  ProgressScope progress(context, purpose, runs);
  for (size_t run = 0; run < runs; run++) {
    for (size_t begin = 0; begin < rows.size(); begin += block_rows) {
      const size_t here = std::min(block_rows, rows.size() - begin);
      parallel_blocks(inner, here, 64, [&](const Block& block) {
        std::vector<uint32_t> drawn(subset);
        for (size_t i = block.begin; i < block.end; i++) {
          const size_t row = rows[begin + i];
          RandomStream(context.seed, purpose, row, static_cast<uint32_t>(run))
              .subset(static_cast<uint32_t>(players), drawn);
          std::ranges::fill(kept.row(i), uint8_t{1});
          double sum = 0;
          for (const uint32_t player : drawn) {
            kept(i, player) = 0;
            sum += task.explanations.values(row, player);
          }
          made.mean_attribution[begin + i] = sum / static_cast<double>(subset);
        }
      });
      predict_made_rows(
          *task.subject.model, here * each,
          [&](size_t item, std::span<float> row) {
            const size_t i = item / each;
            mask_row(*task.subject.players, x.row(rows[begin + i]), references.row(item % each), kept.row(i), row);
          },
          [&](size_t item, std::span<const float> outputs) {
            found(item / each, item % each) = value_of(rows[begin + item / each], outputs);
          },
          inner);
      for (size_t i = 0; i < here; i++) {
        double total = 0;
        for (const double v : found.row(i)) total += v;
        made.modified[begin + i] = total / static_cast<double>(each);
        made.difference[begin + i] = made.modified[begin + i] - whole[begin + i];
      }
    }
    take(run, made);
    progress.advance(1);
  }
  return static_cast<uint64_t>(rows.size()) * (1 + runs * each);
}

}  // namespace assay
