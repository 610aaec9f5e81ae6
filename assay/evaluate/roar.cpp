// ROAR, remove and retrain: how much accuracy is lost when what the explanations call most important is taken away
// (Hooker, Erhan, Kindermans, Kim 2019; Bhatt, Weller, Moura 2020, appendix),
//   mu_ROAR = mean over test rows of 1[f(x) = y] - 1[f_k(x without its k strongest players) = y],
// where f_k is trained from fresh weights on rows that each lost their own k strongest players by |phi|. A player that
// is absent has the value of the reference. The value of a seed is the mean over the grid of k. Training, controls,
// regressions and left-out rows: retraining/retraining.h.
//
// Higher is better: the accuracy falls when what matters is gone. Compare with the random ranking in the table.
//
// Deviation from the paper: its formula gives the retrained model the unmodified row, though that model was trained on
// modified ones. Here test rows lose players as training rows do, as in Hooker et al. The paper has one training and
// one k; here there are several seeds, a grid of k and controls.
//
// Cost: seeds * k trainings; with controls seeds * (2 k + 1). Explanations of all labelled rows of the pool are needed.
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/retraining/retraining.h"

namespace assay {

CriterionInfo roar_criterion() {
  return with_criterion_options<RetrainingCriterion<Replaced::first>>(
      {.name = "roar",
       .title = "Accuracy lost when the strongest players are removed and the model is retrained",
       .family = "importance",
       .citation = "Hooker, Erhan, Kindermans, Kim (2019)",
       .cost = "seeds * k trainings in all; with controls seeds * (2 k + 1)",
       .direction = Direction::higher,
       .range = "-1 to 1; R^2 has no bounds",
       .needs = retraining_needs(),
       .retrains = true});
}

}  // namespace assay
