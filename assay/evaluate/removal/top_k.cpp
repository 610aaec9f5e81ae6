#include "assay/evaluate/removal/top_k.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "assay/core/parallel.h"
#include "assay/evaluate/common.h"

namespace assay {
namespace {

// Whether the k-th strongest player is as strong as the one after it.
bool tied_at_cut(std::span<const float> values, size_t k) {
  if (k >= values.size()) return false;
  std::vector<float> strength(values.size());
  std::ranges::transform(values, strength.begin(), [](float v) { return std::abs(v); });
  const auto last_in = strength.begin() + static_cast<ptrdiff_t>(k) - 1;
  std::ranges::nth_element(strength, last_in, std::greater());
  return *std::max_element(last_in + 1, strength.end()) == *last_in;
}

// Whose score of which kind is not finite: no number goes before certainty.
std::string_view why_not_finite(const Removal& removal, size_t row, MatrixView<const double> made) {
  bool certain = std::isinf(removal.at_row(row));
  for (size_t reference = 0; reference < made.rows(); reference++) {
    if (std::isnan(made(reference, 0))) return kNoNumber;
    certain = certain || std::isinf(made(reference, 0)) || std::isinf(removal.at_reference(row, reference));
  }
  return certain ? kCertain : kNoNumber;
}

// Explanations of one class say little about another, unless all classes have the same strongest players.
void note_other_classes(const EvaluateTask& task, const Removal& removal, Scores& scores) {
  if (strength_is_of_all_classes(task.subject.model->info())) return;
  const auto differs = [&](size_t row) { return !removal.explains_predicted(row); };
  const auto others = std::ranges::count_if(removal.rows(), differs);
  if (others == 0) return;
  scores.notes.push_back(fmt::format(
      "{} of {} rows are explained for another class than the predicted one, which is scored", others, task.rows()));
}

}  // namespace

size_t chosen_k(std::optional<int64_t> k, size_t players) {
  return k ? static_cast<size_t>(*k) : std::max<size_t>(1, players / 4);
}

std::optional<Refusal> refuses_k(std::optional<int64_t> k, size_t players, bool rest) {
  const size_t chosen = chosen_k(k, players);
  if (chosen > players) return fmt::format("needs k of at most the {} players, and k is {}", players, chosen);
  if (rest && chosen == players) {
    return fmt::format("needs players beside the k = {} strongest, and there are {} players", chosen, players);
  }
  return {};
}

void note_k(const EvaluateTask& task, std::span<const size_t> rows, std::optional<int64_t> k, Scores& scores,
            const Context& context) {
  const size_t players = task.explanations.players();
  const size_t chosen = chosen_k(k, players);
  if (!k) scores.notes.push_back(fmt::format("k = {} of {} players, a quarter", chosen, players));
  std::vector<uint8_t> tied(rows.size());
  const Context inner = context.quiet();
  parallel_blocks(inner, rows.size(), kRowsPerTask, [&](const Block& block) {
    for (size_t i = block.begin; i < block.end; i++) {
      tied[i] = tied_at_cut(task.explanations.values.row(rows[i]), chosen) ? 1 : 0;
    }
  });
  const auto ties = std::ranges::count(tied, uint8_t{1});
  if (ties == 0) return;
  scores.notes.push_back(
      fmt::format("{} of {} rows have players of equal strength at the cut; the earlier ones count as stronger", ties,
                  task.rows()));
}

void score_top_k(const EvaluateTask& task, const TopKQuestion& question, std::optional<int64_t> k, Scores& scores,
                 const Context& context) {
  const size_t chosen = chosen_k(k, task.explanations.players());
  UndefinedCounts undefined;
  Removal removal(task, rows_with_order(task.explanations, undefined), question.which, question.unit, context);
  note_k(task, removal.rows(), k, scores, context);
  if (question.which == ScoredClass::predicted) {
    note_other_classes(task, removal, scores);
  } else {
    removal.note_unpredicted(scores);
  }
  removal.run(
      1,
      [&](size_t row) {
        return RowPlan{strongest_first(task.explanations.values.row(row)), {Cut{0, chosen, question.kept}}};
      },
      [&](size_t row, std::span<const float> outputs) {
        return question.made ? question.made(removal, row, outputs) : removal.score(row, outputs);
      },
      [&](size_t row, const RowPlan& /*plan*/, MatrixView<const double> made) {
        double sum = 0;
        for (size_t reference = 0; reference < made.rows(); reference++) {
          sum += question.value(removal, row, reference, made(reference, 0));
        }
        // Without a number at the row it has no class either.
        if (!std::isnan(removal.at_row(row)) && std::isfinite(sum)) {
          scores.values[row] = sum / static_cast<double>(made.rows());
        } else {
          undefined.add(std::isnan(removal.at_row(row)) ? kNoNumber : why_not_finite(removal, row, made));
        }
      },
      context, question.name);
  scores.evaluations = removal.evaluations();
  scores.undefined = undefined.take();
}

}  // namespace assay
