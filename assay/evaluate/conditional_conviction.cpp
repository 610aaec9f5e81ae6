#include "assay/evaluate/conditional_conviction.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "assay/evaluate/common.h"

namespace assay {
namespace {

constexpr std::string_view kConditionalConviction = "conditional_conviction";

std::vector<size_t> rows_of(const std::vector<uint32_t>& classes, uint32_t which) {
  std::vector<size_t> rows;
  for (size_t r = 0; r < classes.size(); r++) {
    if (classes[r] == which) rows.push_back(r);
  }
  return rows;
}

}  // namespace

std::optional<std::string> ConditionalConviction::refuses(const EvaluateTask& task) const {
  if (task.model->info().class_names.empty()) return "needs a model that predicts classes";
  if (task.pool_explanations != nullptr && task.pool == nullptr) return "needs the rows of the pool";
  return {};
}

void ConditionalConviction::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  const ReferenceExplanations reference(task);
  const std::vector<uint32_t> classes = predicted_classes(*task.model, task.data->x.view(), context);
  const std::vector<uint32_t> reference_classes =
      reference.are_rows() ? classes : predicted_classes(*task.model, task.pool->x.view(), context);
  scores.evaluations = classes.size() + (reference.are_rows() ? 0 : reference_classes.size());
  UndefinedCounts undefined;
  size_t held_against = 0;
  size_t among = 0;
  for (uint32_t which = 0; which < task.model->info().class_names.size(); which++) {
    const std::vector<size_t> rows = rows_of(classes, which);
    if (rows.empty()) continue;
    const std::vector<size_t> same = rows_of(reference_classes, which);
    const double share = static_cast<double>(same.size()) / static_cast<double>(reference.rows());
    const auto most = static_cast<size_t>(static_cast<double>(options_.references) * share);
    const std::vector<size_t> drawn =
        reference.draw(same, std::max<size_t>(most, 2), kConditionalConviction, which, context);
    held_against += drawn.size();
    among += score_conviction(task.explanations, rows, reference, drawn, options_, kConditionalConviction,
                              scores.values, undefined, context);
  }
  scores.undefined = undefined.take();
  scores.notes.push_back(fmt::format("held against the explanations of {} of the {} {} rows, by predicted class",
                                     held_against, reference.rows(), reference.name()));
  note_own_references(reference, among, scores);
  add_median(scores);
}

CriterionInfo conditional_conviction_criterion() {
  return with_criterion_options<ConditionalConviction>(
      {.name = "conditional_conviction",
       .title = "How typical an explanation is among those of its predicted class",
       .family = "predictability",
       .citation = "Bhatt, Weller, Moura (2020)",
       .cost = "1 evaluation for each row and pool row, and explanations of the reference rows",
       .direction = Direction::higher,
       .range = "0 or more",
       .needs = {.model = true}});
}

}  // namespace assay
