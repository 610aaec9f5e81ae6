#include "assay/evaluate/again/perturbed_rows.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "assay/core/parallel.h"
#include "assay/core/random.h"
#include "assay/data/baseline.h"
#include "assay/evaluate/again/explain_again.h"
#include "assay/evaluate/common.h"

namespace assay {
namespace {

// Noise that is drawn once for all rows stays within this many numbers; more of it is drawn again for each row.
constexpr size_t kNumbersKept = size_t{1} << 22;

void draw_noise(NoiseShape shape, uint64_t seed, std::string_view purpose, size_t draw, std::span<float> noise) {
  RandomStream random(seed, purpose, 0, static_cast<uint32_t>(draw));
  for (float& each : noise) {
    each = static_cast<float>(shape == NoiseShape::normal ? random.normal() : 2 * random.uniform() - 1);
  }
}

}  // namespace

std::optional<Refusal> refuses_unit(const EvaluateTask& task, const std::string& space) {
  if (space == "raw" || !reference_or_none(task).scales.empty() || task.subject.pool != nullptr) return {};
  return Refusal("needs a pool, whose columns' deviations are its unit, or space=raw", Need::pool);
}

std::vector<float> column_units(const EvaluateTask& task, const std::string& space) {
  const size_t columns = task.subject.rows->x.cols();
  if (space == "raw") {
    std::vector<float> units(columns, 1.0F);
    // A category and a half is none: categories stay what they are in either space.
    for (const FeatureGroup& group : task.subject.rows->groups) {
      if (group.kind != ColumnKind::categorical) continue;
      std::fill_n(units.begin() + static_cast<std::ptrdiff_t>(group.first), group.count, 0.0F);
    }
    return units;
  }
  if (const std::vector<float>& scales = reference_or_none(task).scales; !scales.empty()) return scales;
  return numeric_deviations(*task.subject.pool);
}

Perturb make_noise(NoiseShape shape, double size, std::vector<float> units, size_t samples, uint64_t seed,
                   std::string_view purpose) {
  const size_t columns = units.size();
  for (float& unit : units) unit = static_cast<float>(size * unit);
  std::shared_ptr<Matrix> kept;
  if (samples * columns <= kNumbersKept) {
    kept = std::make_shared<Matrix>(samples, columns);
    for (size_t s = 0; s < samples; s++) draw_noise(shape, seed, purpose, s, kept->row(s));
  }
  return [=, units = std::move(units), purpose = std::string(purpose)](size_t draw, size_t /*row*/,
                                                                       std::span<const float> x, std::span<float> y) {
    std::span<const float> noise = y;
    if (kept != nullptr) {
      noise = kept->row(draw);
    } else {
      draw_noise(shape, seed, purpose, draw, y);
    }
    for (size_t c = 0; c < columns; c++) y[c] = x[c] + units[c] * noise[c];
  };
}

void explain_perturbed(const EvaluateTask& task, size_t samples, const Perturb& perturb, bool with_outputs,
                       const std::function<void(const PerturbedRow&)>& take, uint64_t& evaluations,
                       const Context& context, std::string_view name) {
  const Matrix& x = task.subject.rows->x;
  const size_t rows = x.rows();
  const size_t most = rows_per_call(task);
  const size_t turn_rows = std::min(most, rows);
  const size_t turn_draws = std::clamp<size_t>(most / turn_rows, 1, samples);
  Matrix points(turn_rows * turn_draws, x.cols());
  Matrix outputs(with_outputs ? points.rows() : 0, with_outputs ? task.subject.model->info().outputs() : 0);
  std::vector<size_t> row_of(points.rows());
  const Context inner = context.quiet();
  ProgressScope progress(context, name, rows * samples);
  for (size_t begin = 0; begin < rows; begin += turn_rows) {
    const size_t here = std::min(turn_rows, rows - begin);
    for (size_t first = 0; first < samples; first += turn_draws) {
      const size_t draws = std::min(turn_draws, samples - first);
      const size_t count = here * draws;
      parallel_blocks(inner, here, kRowsPerTask, [&](const Block& block) {
        for (size_t s = 0; s < draws; s++) {
          for (size_t i = block.begin; i < block.end; i++) {
            row_of[s * here + i] = begin + i;
            perturb(first + s, begin + i, x.row(begin + i), points.row(s * here + i));
          }
        }
      });
      const MatrixView<const float> these = points.view().rows_between(0, count);
      if (with_outputs) {
        task.subject.model->predict(these, outputs.view().rows_between(0, count), inner);
        evaluations += count;
      }
      const Matrix values = explain_rows_again(task, {}, these, std::span(row_of).first(count), evaluations, inner);
      parallel_blocks(inner, here, kRowsPerTask, [&](const Block& block) {
        for (size_t i = block.begin; i < block.end; i++) {
          for (size_t s = 0; s < draws; s++) {
            const size_t at = s * here + i;
            take({begin + i, first + s, points.row(at), values.row(at),
                  with_outputs ? std::span<const float>(outputs.row(at)) : std::span<const float>()});
          }
        }
      });
      progress.advance(count);
    }
  }
}

}  // namespace assay
