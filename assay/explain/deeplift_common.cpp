#include "assay/explain/deeplift_common.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "assay/core/parallel.h"
#include "assay/explain/common.h"

namespace assay {
namespace {

// Of the moments over a background that a block of rows keeps.
constexpr size_t kMomentBytes = size_t{32} << 20;

}  // namespace

std::optional<Refusal> refuses_multipliers(const ExplainTask& task, DeepLiftRule rule) {
  if (auto reason = refuses_gradient(task)) return reason;
  const std::string& name = task.model.info().name;
  if (task.model.rescalable() == nullptr) return fmt::format("needs multipliers, and {} has none", name);
  const auto reason = task.model.rescalable()->refuses(rule);
  if (!reason) return {};
  return fmt::format("needs multipliers, and {} has none: {}", name, *reason);
}

void attribute_differences(const ExplainTask& task, DeepLiftRule rule, std::string_view name, Attributions& out,
                           const Context& context) {
  const size_t rows = task.rows.rows();
  const size_t players = task.players.size();
  const size_t references = task.reference.rows.rows();
  const bool background = task.reference.is_background();
  size_t block_rows = std::clamp<size_t>(rows, 1, points_per_call(task, context));
  if (background) {
    // First value, sum and sum of squares, in float64.
    block_rows = std::clamp<size_t>(kMomentBytes / (3 * sizeof(double) * players + 1), 1, block_rows);
    out.background_error = Matrix(rows, players);
  }
  const bool in_place = task.players.are_columns();
  TargetWeights weights(task, block_rows);
  Matrix by_column(in_place ? 0 : block_rows, in_place ? 0 : task.rows.cols());
  // Loops beside the model take so many rows at a time, each with moments of its own.
  const size_t loop_rows = std::min(items_per_block(task.rows.cols()), block_rows);
  const size_t loops = background ? (block_rows + loop_rows - 1) / loop_rows : 0;
  std::vector<VectorMoments> moments(loops, VectorMoments(loop_rows * players, task.reference.strata));
  const Context inner = context.quiet();
  ProgressScope progress(context, name, rows * references);
  for (size_t begin = 0; begin < rows; begin += block_rows) {
    const size_t count = std::min(block_rows, rows - begin);
    const auto x = task.rows.rows_between(begin, begin + count);
    const auto values = out.values.rows_between(begin, begin + count);
    const auto multipliers = in_place ? values : by_column.view().rows_between(0, count);
    for (size_t r = 0; r < count; r++) weights.set(r, begin + r);
    for (VectorMoments& each : moments) each.clear();
    for (size_t k = 0; k < references; k++) {
      task.model.rescalable()->multipliers(x, task.reference.rows.view().rows_between(k, k + 1), weights.first(count),
                                           rule, multipliers, inner);
      parallel_blocks(inner, count, loop_rows, [&](const Block& block) {
        const auto part = multipliers.rows_between(block.begin, block.end);
        const auto to = values.rows_between(block.begin, block.end);
        multiply_rows_by_way(task.reference.rows.row(k), x.rows_between(block.begin, block.end), part);
        if (!in_place) sum_by_player(task.players, part, to);
        if (!background) return;
        // The last rows of a block may leave some of its moments without values.
        std::vector<double> all(loop_rows * players, 0.0);
        for (size_t r = 0; r < to.rows(); r++) std::copy_n(to.row(r).data(), players, all.data() + r * players);
        moments[block.begin / loop_rows].add(all);
      });
      progress.advance(count);
    }
    for (size_t r = 0; background && r < count; r++) {
      const VectorMoments& of_rows = moments[r / loop_rows];
      const size_t first = r % loop_rows * players;
      for (size_t p = 0; p < players; p++) {
        values(r, p) = static_cast<float>(of_rows.mean(first + p));
        out.background_error(begin + r, p) = static_cast<float>(of_rows.standard_error(first + p));
      }
    }
  }
  out.evaluations += rows * references + references;
}

}  // namespace assay
