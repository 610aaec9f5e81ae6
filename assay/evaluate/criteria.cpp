#include "assay/evaluate/criteria.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/text.h"

namespace assay {

// Each is defined in the file of its name.
CriterionInfo addition_criterion();
CriterionInfo avg_sensitivity_criterion();
CriterionInfo compatibility_criterion();
CriterionInfo complexity_criterion();
CriterionInfo conditional_conviction_criterion();
CriterionInfo conviction_criterion();
CriterionInfo deletion_criterion();
CriterionInfo deletion_auc_criterion();
CriterionInfo descriptive_sparsity_criterion();
CriterionInfo effective_complexity_criterion();
CriterionInfo faithfulness_criterion();
CriterionInfo faithfulness_estimate_criterion();
CriterionInfo identity_criterion();
CriterionInfo infidelity_criterion();
CriterionInfo input_invariance_criterion();
CriterionInfo insertion_auc_criterion();
CriterionInfo irof_criterion();
CriterionInfo kar_criterion();
CriterionInfo max_sensitivity_criterion();
CriterionInfo max_sensitivity_yeh_criterion();
CriterionInfo monotonicity_criterion();
CriterionInfo necessity_criterion();
CriterionInfo posthoc_accuracy_criterion();
CriterionInfo prediction_gap_important_criterion();
CriterionInfo prediction_gap_unimportant_criterion();
CriterionInfo randomisation_criterion();
CriterionInfo rank_correlation_criterion();
CriterionInfo relative_input_stability_criterion();
CriterionInfo relative_output_stability_criterion();
CriterionInfo roar_criterion();
CriterionInfo sensitivity_n_criterion();
CriterionInfo separability_criterion();
CriterionInfo sign_agreement_criterion();
CriterionInfo sparseness_criterion();
CriterionInfo sufficiency_criterion();
CriterionInfo top_k_agreement_criterion();

namespace {

std::vector<CriterionInfo>& criterion_table() {
  static std::vector<CriterionInfo> table = {
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

}  // namespace

std::span<const CriterionInfo> criteria() { return criterion_table(); }

void add_criterion(CriterionInfo info) { criterion_table().push_back(std::move(info)); }

const CriterionInfo& find_criterion(std::string_view name) { return find_by_name("criterion", criteria(), name); }

std::vector<std::string> main_criteria() {
  std::vector<std::string> names;
  for (const CriterionInfo& info : criteria()) {
    if (info.main()) names.push_back(info.name);
  }
  return names;
}

CriterionRole role_of(std::string_view criterion) {
  const auto found = std::ranges::find(criteria(), criterion, &CriterionInfo::name);
  return found == criteria().end() ? CriterionRole::none : found->role;
}

bool scale_dependent(const Spec& spec) {
  const auto found = std::ranges::find(criteria(), spec.name, &CriterionInfo::name);
  if (found == criteria().end() || found->scale_dependent == nullptr) return false;
  Spec complete = spec;
  for (const OptionInfo& option : found->options) {
    const auto said = std::ranges::find(spec.options, option.name, &std::pair<std::string, std::string>::first);
    if (said == spec.options.end()) complete.options.emplace_back(option.name, option.value);
  }
  return found->scale_dependent(complete);
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
