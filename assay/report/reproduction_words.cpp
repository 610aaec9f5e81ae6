#include "assay/report/reproduction_text.h"

namespace assay {

std::string contradictions_markdown() {
  return
      R"(
## Slips and contradictions of the paper

Some cannot both be true, some are misprints, and some are differences that the text does not explain.

- Iris has d = 4 features, so complexity is at most ln 4 = 1.386. Table 4 prints 1.36 +- 0.36 for SHAP. If +- is the
  deviation over rows, values with that mean and that bound have one of at most 0.21, rounding included.
- Table 2 has MIMIC subsets of 20, and the appendix lists 17 features. Adult is said to have 38 features; label-encoded,
  as the appendix says, it has 14.
- Faithfulness is to increase with the subset's size "until the subset is large enough to contain all informative
  features". On MIMIC the mean of Table 2 falls from 55 to 46 between |S| = 10 and 20 with the zero baseline, and rises
  from 48 to 49 with the average one.
- That perturbation-based explanations are less sensitive than gradient-based ones is quoted from Ghorbani and others. On
  Adult, Table 3 has a mean maximum of 125.5 for SHAP and SS, and of 59.75 for the four gradient methods; on Iris and
  MIMIC it agrees with the sentence.
- The maximum sensitivity of SHAP is 0.060 on Adult at r = 2 (Table 3) and 0.68 at r = 1 (Table 4), where the smaller
  radius cannot have the larger maximum; on MIMIC it is 0.006 and 0.83. The norm of explanations may differ.
- That sensitivity decreases as r increases cannot hold for the maximum on a fixed row: the wider neighbourhood holds the
  narrower one. A mean over rows can fall, when other rows get neighbours, and so can an average of D / rho.
- With one hidden layer of leaky ReLUs, margins and one reference, IG and DeepLift (rescale) are the same function. The
  paper's cells differ (Table 2: Iris 60 and 46, Adult 47 and 58; Table 3: Iris 495 and 850), so an output, a reference, a
  rule or the draw of subsets differs.
- AVA's weights are multiplied by the sum of inverse distances where they must be divided by it; Algorithm 1 steps along
  +dE/dt, which would raise complexity, and "2d walks" are 2m.
- Section 4.1: "w* will be minimal when one element of w* is 0 and the other is 1". It need not be: see below.
)";
}

std::string other_criteria_markdown() {
  return
      R"(
## Criteria that the appendix mentions

| the appendix | here |
|---|---|
| identity, separability, conviction, conditional conviction, compatibility | [identity](criteria/identity.md), [separability](criteria/separability.md), [conviction](criteria/conviction.md), [conditional_conviction](criteria/conditional_conviction.md), [compatibility](criteria/compatibility.md) |
| deletion, addition, ROAR, KAR | [deletion](criteria/deletion.md) (S is the paper's argmax; only k is open), [addition](criteria/addition.md), [roar](criteria/roar.md), [kar](criteria/kar.md) |
| stability (Alvarez-Melis), explanation continuity (Montavon) | [max_sensitivity](criteria/max_sensitivity.md) with `weighting=inverse_distance`, which is a Lipschitz constant |
| sensitivity, infidelity (Yeh) | [max_sensitivity_yeh](criteria/max_sensitivity_yeh.md), [infidelity](criteria/infidelity.md) |
| reliability (Kindermans) | [input_invariance](criteria/input_invariance.md) |
| relevance (Samek), explanation selectivity (Montavon) | [deletion_auc](criteria/deletion_auc.md), [irof](criteria/irof.md) |
| faithfulness (Plumb) | nearest: [infidelity](criteria/infidelity.md) with `perturbation=noise`, how well a linear model of the attributions predicts nearby |
| post-hoc accuracy (Chen) | [posthoc_accuracy](criteria/posthoc_accuracy.md) |
| sensitivity-n (Ancona) | [sensitivity_n](criteria/sensitivity_n.md) |
| gold set (Ribeiro) | a benchmark, no criterion: it needs a model whose true features are known, as those of [ground-truth.md](ground-truth.md) |
| descriptive sparsity (Warnecke) | [descriptive_sparsity](criteria/descriptive_sparsity.md) |
| information gain (Bylinskii) | left out: it needs records of where people look, which tables do not have |
| parameter randomisation (Adebayo) | [randomisation](criteria/randomisation.md) |
| clustering-based interpretations (Carter) | nearest: [effective_complexity](criteria/effective_complexity.md), the smallest subset that keeps the output; clustering such subsets shows many rows, and gives no score |
| unexplainable components (Zhang) | nearest: [compatibility](criteria/compatibility.md) (the completeness gap) and [effective_complexity](criteria/effective_complexity.md) |
| variants of perturbation (Grabska-Barwinska) | nearest: [prediction_gap_important](criteria/prediction_gap_important.md), [prediction_gap_unimportant](criteria/prediction_gap_unimportant.md) |
| mutual information (Davis and others, NIF) | left out: it is an attribution method, not a score of one |
| iterative feature removal (Rieger) | [irof](criteria/irof.md) |
| necessity, sufficiency (Wang) | [necessity](criteria/necessity.md), [sufficiency](criteria/sufficiency.md) |
)";
}

}  // namespace assay
