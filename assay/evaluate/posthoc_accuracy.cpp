// Post-hoc accuracy: whether the k strongest players alone make the model predict the same class (Chen, Song,
// Wainwright, Jordan 2018),
//   1 if the class predicted at x is the class predicted with S as in x and all others at the reference, else 0,
// with S the k players of largest |phi|. The mean over rows is the accuracy. Several reference rows: the share of them
// that keep the class.
//
// Undefined where attributions are all 0; refused for a regression.
// Deviation from the paper: it scores a selector that was trained for this and sets unselected features to 0; here the
// reference stands for absent.
// Cost: 1 evaluation for each pair of row and reference row, plus one for each row and for each reference row.
#include <cmath>
#include <optional>

#include "assay/evaluate/common.h"
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/removal/top_k.h"
#include "assay/explain/target.h"

namespace assay {
namespace {

std::optional<Refusal> refuses_posthoc_accuracy(const EvaluateTask& task, const TopKOptions& options) {
  if (auto reason = refuses_regression(task)) return reason;
  return refuses_k(options.k, task.explanations.players());
}

void score_posthoc_accuracy(const EvaluateTask& task, const TopKOptions& options, Scores& scores,
                            const Context& context) {
  const TopKQuestion question{
      .name = "posthoc_accuracy",
      .kept = true,
      .unit = ScoreUnit::probability,
      .made =
          [](const Removal& removal, size_t row, std::span<const float> outputs) {
            if (!all_finite(outputs)) return static_cast<double>(NAN);
            return predicted_class(removal.model().info(), outputs) == removal.scored_class_of(row) ? 1.0 : 0.0;
          },
      .value = [](const Removal& /*removal*/, size_t /*row*/, size_t /*reference*/, double made) { return made; }};
  score_top_k(task, question, options.k, scores, context);
}

}  // namespace

CriterionInfo posthoc_accuracy_criterion() {
  return with_criterion_options<ScoredBy<score_posthoc_accuracy, refuses_posthoc_accuracy>>(
      {.name = "posthoc_accuracy",
       .title = "Whether the strongest players alone keep the predicted class",
       .family = "importance",
       .citation = "Chen, Song, Wainwright, Jordan (2018)",
       .cost = "1 evaluation for each reference row, and 1",
       .direction = Direction::higher,
       .range = "0 to 1",
       .needs = {.model = true, .reference = true}});
}

}  // namespace assay
