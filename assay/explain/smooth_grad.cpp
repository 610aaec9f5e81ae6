// SmoothGrad: the mean gradient over noisy copies of the row, phi_j = (1 / n) sum over draws s of d value / d x_j at
// x + e_s (Smilkov, Thorat, Kim, Viegas, Wattenberg 2017).
//
// The noise of column j is normal with standard deviation level * (standard deviation of j over the pool), so that
// columns of different units are moved alike and categories (deviation 0) stay what they are. Without a pool it is
// level * (largest - smallest value of the row), the paper's choice for images. All rows share their draws, and the
// standard error is that of the mean over them. Groups: sums of their columns, as for the gradient.
// Deviation from the paper: its noise is 10 to 20 % of an image's range; default 0.1 here, in either unit.
// Cost: `samples` forward and backward passes for a row.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/explain/common.h"
#include "assay/explain/explainer.h"
#include "assay/explain/kernels/row_loops.h"

namespace assay {
namespace {

// Unit normals of draws first, first + 1, ...: the same for all rows.
void draw_normals(uint64_t seed, size_t first, MatrixView<float> normals) {
  for (size_t s = 0; s < normals.rows(); s++) {
    RandomStream stream(seed, "smooth_grad", 0, static_cast<uint32_t>(first + s));
    for (float& each : normals.row(s)) each = static_cast<float>(stream.normal());
  }
}

// The standard deviation of the noise of each column.
void find_deviations(const Reference& reference, std::span<const float> row, double level,
                     std::span<float> deviations) {
  if (!reference.scales.empty()) {
    for (size_t c = 0; c < row.size(); c++) deviations[c] = static_cast<float>(level * reference.scales[c]);
    return;
  }
  const auto [least, most] = std::minmax_element(row.begin(), row.end());
  const double range = static_cast<double>(*most) - *least;
  std::fill(deviations.begin(), deviations.end(), static_cast<float>(level * range));
}

struct SmoothGradOptions {
  int64_t samples = 50;
  double level = 0.1;
  void describe(OptionVisitor& visit) {
    visit.integer("samples", samples, "noisy copies of each row", "copies", 2, 1'000'000);
    visit.real("level", level, "deviation of the noise, over that of the feature in the pool (or the row's range)", "",
               0, 100);
  }
};

void attribute_smoothly(const ExplainTask& task, const SmoothGradOptions& options, Attributions& out,
                        const Context& context) {
  const size_t rows = task.rows.rows();
  const size_t columns = task.rows.cols();
  const size_t players = task.players.size();
  const auto samples = static_cast<size_t>(options.samples);
  // Where one row's copies are more than a call may hold they come in several, and the draws are made again for each
  // row: their memory is bounded too.
  const size_t most_points = points_per_call(task, context);
  const size_t turn_draws = std::min(samples, most_points);
  const size_t turn_rows = std::min(std::max<size_t>(most_points / turn_draws, 1), rows);
  const size_t most = turn_rows * turn_draws;
  const bool sum_columns = !task.players.are_columns();
  Matrix normals(turn_draws, columns);
  Matrix points(most, columns);
  TargetWeights weights(task, most);
  Matrix gradients(most, columns);
  Matrix by_player(sum_columns ? most : 0, sum_columns ? players : 0);
  std::vector<VectorMoments> moments(turn_rows, VectorMoments(players));
  out.standard_error = Matrix(rows, players);
  out.notes.push_back(task.reference.scales.empty()
                          ? "the noise is a share of each row's range, fit for images; with a pool it is one "
                            "of each column's standard deviation"
                          : fmt::format("the noise is a share of each column's standard deviation over the pool ({})",
                                        task.reference.description));
  const Context inner = context.quiet();
  ProgressScope progress(context, "smooth_grad", rows);
  if (turn_draws == samples) draw_normals(context.seed, 0, normals.view());
  for (size_t begin = 0; begin < rows; begin += turn_rows) {
    const size_t here = std::min(turn_rows, rows - begin);
    for (size_t first = 0; first < samples; first += turn_draws) {
      const size_t draws = std::min(turn_draws, samples - first);
      if (turn_draws < samples) draw_normals(context.seed, first, normals.view().rows_between(0, draws));
      parallel_blocks(inner, here, items_per_block(draws * columns), [&](const Block& block) {
        std::vector<float> deviations(columns);
        for (size_t i = block.begin; i < block.end; i++) {
          const auto row = task.rows.row(begin + i);
          find_deviations(task.reference, row, options.level, deviations);
          points_around(row.data(), deviations.data(), normals.data(), draws, columns, points.row(i * draws).data());
          for (size_t s = 0; s < draws; s++) weights.set(i * draws + s, begin + i);
        }
      });
      const size_t count = here * draws;
      task.model.differentiable()->gradient(points.view().rows_between(0, count), weights.first(count),
                                            gradients.view().rows_between(0, count), {}, inner);
      parallel_blocks(inner, here, items_per_block(draws * columns), [&](const Block& block) {
        for (size_t i = block.begin; i < block.end; i++) {
          MatrixView<float> found = gradients.view().rows_between(i * draws, (i + 1) * draws);
          if (sum_columns) {
            const auto sums = by_player.view().rows_between(i * draws, (i + 1) * draws);
            sum_by_player(task.players, found, sums);
            found = sums;
          }
          if (first == 0) moments[i].clear();
          moments[i].add_rows(found);
        }
      });
    }
    for (size_t i = 0; i < here; i++) moments[i].store(out.values.row(begin + i), out.standard_error.row(begin + i));
    progress.advance(here);
  }
  out.evaluations += rows * samples;
}

}  // namespace

MethodInfo smooth_grad_method() {
  return with_options<AttributedBy<attribute_smoothly, refuses_gradient>>(
      {.name = "smooth_grad",
       .title = "Mean slope of the output over noisy copies of the row",
       .citation = "Smilkov, Thorat, Kim, Viegas, Wattenberg (2017)",
       .cost = "`samples` gradients (default 50)",
       .sampled = true});
}

}  // namespace assay
