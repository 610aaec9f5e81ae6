#include "assay/evaluate/removal/removal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "assay/core/parallel.h"
#include "assay/evaluate/common.h"

namespace assay {
namespace {

// Places and scores that one block of rows may hold, unless one row has more.
constexpr size_t kNumbersPerBlock = size_t{1} << 20;
// Rows whose plans one thread makes at a time.
constexpr size_t kPlansPerTurn = 64;

void copy_row(MatrixView<const float> from, size_t i, std::span<float> to) {
  std::ranges::copy(from.row(i), to.begin());
}

}  // namespace

std::vector<size_t> rows_with_order(const Explanations& explanations, UndefinedCounts& undefined) {
  std::vector<size_t> rows;
  for (size_t r = 0; r < explanations.rows(); r++) {
    const std::span<const float> values = explanations.values.row(r);
    if (!all_finite(values)) {
      undefined.add(kNotFinite);
    } else if (all_zero(values)) {
      undefined.add(kAllZero);
    } else {
      rows.push_back(r);
    }
  }
  return rows;
}

Removal::Removal(const EvaluateTask& task, std::vector<size_t> rows, ScoredClass which, ScoreUnit unit,
                 const Context& context)
    : task_(&task),
      model_(&scored_model(task)),
      rows_(std::move(rows)),
      unit_(unit),
      classes_(task.rows(), 0),
      other_class_(task.rows(), 0),
      at_row_(task.rows(), NAN) {
  const Context quiet = context.quiet();
  const MatrixView<const float> x = task.subject.rows->x.view();
  predict_made_rows(
      *model_, rows_.size(), [&](size_t i, std::span<float> row) { copy_row(x, rows_[i], row); },
      [&](size_t i, std::span<const float> outputs) {
        const size_t row = rows_[i];
        classes_[row] = scored_class(task, which, row, outputs);
        at_row_[row] = score(row, outputs);
        // What gives no number predicts no class.
        if (task.subject.targets->information || std::isnan(at_row_[row])) return;
        const size_t predicted = scored_class(task, ScoredClass::predicted, row, outputs);
        other_class_[row] = predicted != task.subject.targets->of_row[row] ? 1 : 0;
      },
      quiet);
  const MatrixView<const float> references = task.subject.reference->rows.view();
  reference_outputs_ = Matrix(references.rows(), model_->info().outputs());
  predict_made_rows(
      *model_, references.rows(), [&](size_t i, std::span<float> row) { copy_row(references, i, row); },
      [&](size_t i, std::span<const float> outputs) { std::ranges::copy(outputs, reference_outputs_.row(i).begin()); },
      quiet);
  evaluations_ = rows_.size() + references.rows();
}

void Removal::note_unpredicted(Scores& scores) const {
  const auto others = std::ranges::count(other_class_, uint8_t{1});
  if (others == 0) return;
  scores.notes.push_back(
      fmt::format("{} of {} rows are explained for a class that is not the predicted one, and scored for it", others,
                  task_->rows()));
}

void Removal::run(size_t most_cuts, const Plan& plan, const Score& score, const Finish& finish, const Context& context,
                  std::string_view name) {
  const size_t width = players() + references() * most_cuts;
  const size_t block_rows =
      std::clamp<size_t>(kNumbersPerBlock / std::max<size_t>(width, 1), 1, std::max<size_t>(rows_.size(), 1));
  const std::vector<uint32_t>& of_column = task_->subject.players->of_column;
  const Context inner = context.quiet();
  ProgressScope progress(context, name, rows_.size());
  std::vector<RowPlan> plans(block_rows);
  std::vector<uint32_t> places(block_rows * players());  // of each player in its row's order
  std::vector<size_t> first(block_rows + 1);             // of each row among the block's made rows
  std::vector<double> values;
  for (size_t begin = 0; begin < rows_.size(); begin += block_rows) {
    const size_t here = std::min(block_rows, rows_.size() - begin);
    parallel_blocks(inner, here, kPlansPerTurn, [&](const Block& block) {
      for (size_t i = block.begin; i < block.end; i++) {
        plans[i] = plan(rows_[begin + i]);
        for (size_t place = 0; place < players(); place++) {
          places[i * players() + plans[i].order[place]] = static_cast<uint32_t>(place);
        }
      }
    });
    for (size_t i = 0; i < here; i++) first[i + 1] = first[i] + references() * plans[i].cuts.size();
    values.resize(first[here]);
    const auto row_of = [&](size_t made) {
      const auto after = std::upper_bound(first.begin(), first.begin() + static_cast<ptrdiff_t>(here) + 1, made);
      return static_cast<size_t>(after - first.begin()) - 1;
    };
    predict_made_rows(
        *model_, first[here],
        [&](size_t made, std::span<float> out) {
          const size_t i = row_of(made);
          const size_t cuts = plans[i].cuts.size();
          const size_t within = made - first[i];
          const Cut cut = plans[i].cuts[within % cuts];
          const std::span<const float> x = task_->subject.rows->x.row(rows_[begin + i]);
          const std::span<const float> reference = task_->subject.reference->rows.row(within / cuts);
          const uint32_t* place = places.data() + i * players();
          for (size_t c = 0; c < out.size(); c++) {
            const uint32_t at = place[of_column[c]];
            const bool inside = at >= cut.begin && at < cut.end;
            out[c] = inside == cut.kept ? x[c] : reference[c];
          }
        },
        [&](size_t made, std::span<const float> outputs) {
          values[made] = score(rows_[begin + row_of(made)], outputs);
        },
        inner);
    for (size_t i = 0; i < here; i++) {
      finish(rows_[begin + i], plans[i],
             MatrixView<const double>(values.data() + first[i], references(), plans[i].cuts.size()));
    }
    evaluations_ += first[here];
    progress.advance(here);
  }
}

}  // namespace assay
