#include "assay/study/reference_facts.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay {
namespace {

// How many of the studied rows have each target.
std::vector<double> rows_by_target(const Targets& targets) {
  std::vector<double> counts(targets.names.size(), 0);
  for (const uint32_t target : targets.of_row) counts[target]++;
  return counts;
}

double value_of(const OutputTerm& term, std::span<const float> outputs) {
  return term.offset + static_cast<double>(term.scale) * outputs[term.output];
}

double logistic(double z) { return 1 / (1 + std::exp(-z)); }

// Of the target's class. Several margins are those of a softmax.
double probability_of(const ModelInfo& info, const OutputTerm& term, std::span<const float> outputs) {
  if (info.unit == OutputUnit::log_odds || outputs.size() == 1) return logistic(value_of(term, outputs));
  const double largest = *std::ranges::max_element(outputs);
  double sum = 0;
  for (const float margin : outputs) sum += std::exp(margin - largest);
  return std::exp(outputs[term.output] - largest) / sum;
}

struct Means {
  double value = NAN;
  double probability = NAN;
};

// The mean over rows of outputs, and over the targets of the studied rows.
Means means_over(const ModelInfo& info, const Targets& targets, MatrixView<const float> outputs) {
  if (outputs.rows() == 0 || targets.information || targets.of_row.empty()) return {};
  const std::vector<double> counts = rows_by_target(targets);
  const bool margins = info.unit == OutputUnit::margin || info.unit == OutputUnit::log_odds;
  const bool probabilities = margins && !info.class_names.empty();
  double value = 0;
  double probability = 0;
  for (size_t t = 0; t < counts.size(); t++) {
    if (counts[t] == 0) continue;
    double values = 0;
    double chances = 0;
    for (size_t i = 0; i < outputs.rows(); i++) {
      values += value_of(targets.terms[t], outputs.row(i));
      if (probabilities) chances += probability_of(info, targets.terms[t], outputs.row(i));
    }
    value += counts[t] * values;
    probability += counts[t] * chances;
  }
  const double all = static_cast<double>(outputs.rows()) * static_cast<double>(targets.of_row.size());
  return {value / all, probabilities ? probability / all : NAN};
}

}  // namespace

ReferenceFacts reference_facts(const Model& model, const Reference& reference, const Targets& targets,
                               const ScoredPool& pool, const Context& context) {
  const ModelInfo& info = model.info();
  Matrix outputs(reference.rows.rows(), info.outputs());
  if (!outputs.empty()) model.predict(reference.rows.view(), outputs.view(), context);
  const Means at = means_over(info, targets, outputs.view());
  const Means over_pool = means_over(info, targets, pool.outputs.view());
  const auto known = [](double value) { return std::isfinite(value) ? value : NAN; };
  return {.rows = reference.rows.rows(),
          .value = known(at.value),
          .pool_value = known(over_pool.value),
          .probability = known(at.probability),
          .pool_probability = known(over_pool.probability)};
}

}  // namespace assay
