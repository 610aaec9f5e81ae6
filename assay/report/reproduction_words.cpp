#include "assay/report/reproduction_text.h"

namespace assay {

std::string contradictions_markdown() {
  return
      R"(
## Where the paper contradicts itself

These cannot be reproduced, because they cannot all be true.

- Iris has d = 4 features, so complexity is at most ln 4 = 1.386. Table 4 prints 1.36 +- 0.36 for SHAP. Values with that
  mean and that bound have a deviation of at most 0.19.
- Table 2 has MIMIC subsets of 20, and the appendix lists 17 features. Adult is said to have 38 features; label-encoded,
  as the appendix says, it has 14.
- "As subset size increases, faithfulness increases": on MIMIC with the zero baseline the mean of Table 2 falls from 55
  to 46 between |S| = 10 and 20.
- "Perturbation-based explanations are less sensitive than their gradient-based counterparts": on Adult, Table 3 has a
  mean maximum of 125.5 for SHAP and SS, and of 59.75 for the four gradient methods.
- The maximum sensitivity of SHAP on MIMIC is 0.006 in Table 3 and 0.83 in Table 4. The radii are 4 and 10, and the norm
  may differ.
- "Sensitivity decreases as r increases" cannot hold for the maximum on a fixed row: the wider neighbourhood holds the
  narrower one. Only a mean over rows can fall, when other rows get neighbours.
- With one hidden layer of leaky ReLUs, margins and one reference, IG and DeepLift (rescale) are the same function. The
  paper's cells differ (Iris 60 and 46, Adult 47 and 58), so an output, a reference or a rule differs.
- AVA's weights are multiplied by the sum of inverse distances where they must be divided by it; Algorithm 1 steps along
  +dE/dt, which would raise complexity, and "2d walks" are 2m.
- "Convex weights put all weight on one function" (section 4.1) is not so: see below.
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
| stability (Melis), explanation continuity (Montavon) | [relative_input_stability](criteria/relative_input_stability.md), [max_sensitivity](criteria/max_sensitivity.md) |
| sensitivity, infidelity (Yeh) | [max_sensitivity_yeh](criteria/max_sensitivity_yeh.md), [infidelity](criteria/infidelity.md) |
| reliability (Kindermans) | [input_invariance](criteria/input_invariance.md) |
| relevance (Samek), explanation selectivity (Montavon) | [deletion_auc](criteria/deletion_auc.md), [insertion_auc](criteria/insertion_auc.md) |
| faithfulness (Plumb), post-hoc accuracy (Chen) | [faithfulness_estimate](criteria/faithfulness_estimate.md), [posthoc_accuracy](criteria/posthoc_accuracy.md) |
| sensitivity-n (Ancona) | [sensitivity_n](criteria/sensitivity_n.md) |
| gold set (Ribeiro) | left out: it needs a model whose true features are known; [ground-truth.md](ground-truth.md) has such models |
| descriptive sparsity (Warnecke) | [descriptive_sparsity](criteria/descriptive_sparsity.md) |
| information gain (Bylinskii) | left out: it scores a map against where people look, which is a ground truth that the appendix itself excludes |
| parameter randomisation (Adebayo) | [randomisation](criteria/randomisation.md) |
| clustering-based interpretations (Carter) | [sufficiency](criteria/sufficiency.md) for its sufficient subsets; their clustering is a display of many rows, and gives no score |
| unexplainable components (Zhang) | [compatibility](criteria/compatibility.md) (the completeness gap) and [effective_complexity](criteria/effective_complexity.md) |
| variants of perturbation (Grabska-Barwinska) | [prediction_gap_important](criteria/prediction_gap_important.md), [prediction_gap_unimportant](criteria/prediction_gap_unimportant.md) |
| mutual information (Davis and others, NIF) | left out: it measures the flow through units inside a network, and says nothing about an explanation |
| iterative feature removal (Rieger) | [irof](criteria/irof.md) |
| necessity, sufficiency (Wang) | [necessity](criteria/necessity.md), [sufficiency](criteria/sufficiency.md) |
)";
}

}  // namespace assay
