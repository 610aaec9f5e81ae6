#include "assay/evaluate/criteria.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/evaluate/addition.h"
#include "assay/evaluate/avg_sensitivity.h"
#include "assay/evaluate/compatibility.h"
#include "assay/evaluate/complexity.h"
#include "assay/evaluate/conditional_conviction.h"
#include "assay/evaluate/conviction.h"
#include "assay/evaluate/deletion.h"
#include "assay/evaluate/deletion_auc.h"
#include "assay/evaluate/descriptive_sparsity.h"
#include "assay/evaluate/effective_complexity.h"
#include "assay/evaluate/faithfulness.h"
#include "assay/evaluate/faithfulness_estimate.h"
#include "assay/evaluate/identity.h"
#include "assay/evaluate/infidelity.h"
#include "assay/evaluate/input_invariance.h"
#include "assay/evaluate/insertion_auc.h"
#include "assay/evaluate/irof.h"
#include "assay/evaluate/kar.h"
#include "assay/evaluate/max_sensitivity.h"
#include "assay/evaluate/max_sensitivity_yeh.h"
#include "assay/evaluate/monotonicity.h"
#include "assay/evaluate/necessity.h"
#include "assay/evaluate/posthoc_accuracy.h"
#include "assay/evaluate/prediction_gap_important.h"
#include "assay/evaluate/prediction_gap_unimportant.h"
#include "assay/evaluate/randomisation.h"
#include "assay/evaluate/rank_correlation.h"
#include "assay/evaluate/relative_input_stability.h"
#include "assay/evaluate/relative_output_stability.h"
#include "assay/evaluate/roar.h"
#include "assay/evaluate/sensitivity_n.h"
#include "assay/evaluate/separability.h"
#include "assay/evaluate/sign_agreement.h"
#include "assay/evaluate/sparseness.h"
#include "assay/evaluate/sufficiency.h"
#include "assay/evaluate/top_k_agreement.h"

namespace assay {

std::span<const CriterionInfo> criteria() {
  static const std::vector<CriterionInfo> table = {
      // The paper's, then those that published numbers are compared with.
      faithfulness_criterion(),
      max_sensitivity_criterion(),
      avg_sensitivity_criterion(),
      complexity_criterion(),
      identity_criterion(),
      separability_criterion(),
      conviction_criterion(),
      conditional_conviction_criterion(),
      compatibility_criterion(),
      deletion_criterion(),
      addition_criterion(),
      roar_criterion(),
      kar_criterion(),
      infidelity_criterion(),
      sensitivity_n_criterion(),
      faithfulness_estimate_criterion(),
      monotonicity_criterion(),
      deletion_auc_criterion(),
      insertion_auc_criterion(),
      irof_criterion(),
      posthoc_accuracy_criterion(),
      necessity_criterion(),
      sufficiency_criterion(),
      prediction_gap_important_criterion(),
      prediction_gap_unimportant_criterion(),
      max_sensitivity_yeh_criterion(),
      relative_input_stability_criterion(),
      relative_output_stability_criterion(),
      input_invariance_criterion(),
      randomisation_criterion(),
      sparseness_criterion(),
      descriptive_sparsity_criterion(),
      effective_complexity_criterion(),
      rank_correlation_criterion(),
      top_k_agreement_criterion(),
      sign_agreement_criterion(),
  };
  return table;
}

const CriterionInfo& find_criterion(std::string_view name) {
  const auto all = criteria();
  const auto found = std::ranges::find(all, name, &CriterionInfo::name);
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  for (const CriterionInfo& info : all) names.push_back(info.name);
  fail_input("criterion", joined(names, "or"), fmt::format("{}{}", in_quotes(name), suggestion(name, names)));
}

std::vector<std::string> needs_in_words(const Needs& needs) {
  std::vector<std::string> words;
  const auto add = [&](bool needed, const char* word) {
    if (needed) words.emplace_back(word);
  };
  add(needs.model, "model");
  add(needs.reference, "reference");
  add(needs.pool, "pool");
  add(needs.pool_explanations, "pool explanations");
  add(needs.labels, "labels");
  add(needs.explainer, "explainer");
  add(needs.trainer, "trainer");
  add(needs.others, "other explanations");
  return words;
}

}  // namespace assay
