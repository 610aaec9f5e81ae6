// Conditional conviction: how typical an explanation is among those of training rows of the same predicted class
// (Bhatt, Weller, Moura 2020, appendix),
//   mu(x) = E_z[I(g(z)) | class of x] / I(g(x) | class of x),   I = -ln P.
// As conviction (density/surprise.h), but density, share and expectation use only the reference rows of x's predicted
// class. References are drawn from each class in proportion to its rows, at least 2 if it has 2.
//
// Undefined for rows of a class with fewer than 2 reference rows, or whose reference explanations or rows do not vary.
// Cost: explaining the reference rows, and 1 evaluation for each row and each pool row, for the predicted classes.
// Deviation from the paper: as for conviction, P is a smoothed rank of the density.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "assay/evaluate/common.h"
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/density/surprise.h"

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

std::optional<Refusal> refuses_without_classes(const EvaluateTask& task) {
  if (task.subject.model->info().class_names.empty()) return "needs a model that predicts classes";
  if (task.pool_explanations != nullptr && task.subject.pool == nullptr)
    return Refusal("needs the rows of the pool", Need::pool);
  return {};
}

void score_within_classes(const EvaluateTask& task, const SurpriseOptions& options, Scores& scores,
                          const Context& context) {
  const ReferenceExplanations reference(task);
  const std::vector<uint32_t> classes = predicted_classes(*task.subject.model, task.subject.rows->x.view(), context);
  const std::vector<uint32_t> reference_classes =
      reference.are_rows() ? classes : predicted_classes(*task.subject.model, task.subject.pool->x.view(), context);
  scores.evaluations = classes.size() + (reference.are_rows() ? 0 : reference_classes.size());
  UndefinedCounts undefined;
  size_t held_against = 0;
  size_t among = 0;
  for (uint32_t which = 0; which < task.subject.model->info().class_names.size(); which++) {
    const std::vector<size_t> rows = rows_of(classes, which);
    if (rows.empty()) continue;
    const std::vector<size_t> same = rows_of(reference_classes, which);
    const double share = static_cast<double>(same.size()) / static_cast<double>(reference.rows());
    const auto most = static_cast<size_t>(static_cast<double>(options.references) * share);
    const std::vector<size_t> drawn =
        reference.draw(same, std::max<size_t>(most, 2), kConditionalConviction, which, context);
    held_against += drawn.size();
    among += score_conviction(task.explanations, rows, reference, drawn, options, kConditionalConviction, scores.values,
                              undefined, context);
  }
  scores.undefined = undefined.take();
  scores.notes.push_back(fmt::format("held against the explanations of {} of the {} {} rows, by predicted class",
                                     held_against, reference.rows(), reference.name()));
  note_own_references(reference, among, scores);
  add_median(scores);
}

}  // namespace

CriterionInfo conditional_conviction_criterion() {
  return with_criterion_options<ScoredBy<score_within_classes, refuses_without_classes>>(
      {.name = "conditional_conviction",
       .title = "How typical an explanation is among those of its predicted class",
       .family = "predictability",
       .citation = "Bhatt, Weller, Moura (2020)",
       .cost = "1 evaluation for each row and pool row, and explanations of the reference rows",
       .direction = Direction::higher,
       .range = "0 or more",
       .needs = {.model = true},
       .of_paper = true});
}

}  // namespace assay
