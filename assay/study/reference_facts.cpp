#include "assay/study/reference_facts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/core/sha256.h"
#include "assay/core/statistics.h"

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

double softmax_of(size_t which, std::span<const float> margins) {
  const double largest = *std::ranges::max_element(margins);
  double sum = 0;
  for (const float margin : margins) sum += std::exp(margin - largest);
  return std::exp(margins[which] - largest) / sum;
}

// The mean over rows of outputs, and over the targets of the studied rows.
double mean_value(const Targets& targets, MatrixView<const float> outputs) {
  if (outputs.rows() == 0 || targets.information || targets.of_row.empty()) return NAN;
  const std::vector<double> counts = rows_by_target(targets);
  double sum = 0;
  for (size_t t = 0; t < counts.size(); t++) {
    if (counts[t] == 0) continue;
    double values = 0;
    for (size_t i = 0; i < outputs.rows(); i++) values += value_of(targets.terms[t], outputs.row(i));
    sum += counts[t] * values;
  }
  return sum / (static_cast<double>(outputs.rows()) * static_cast<double>(targets.of_row.size()));
}

// The target that all rows have; nothing if they have different ones, or none.
std::optional<OutputTerm> only_target(const Targets& targets) {
  if (targets.information || targets.of_row.empty()) return {};
  const uint32_t first = targets.of_row[0];
  if (std::ranges::any_of(targets.of_row, [&](uint32_t each) { return each != first; })) return {};
  return targets.terms[first];
}

// The mean of the model's own probabilities of a class.
double mean_of_class(const Model& probabilities, size_t which, const Matrix& rows, const Context& context) {
  const size_t outputs = probabilities.info().outputs();
  Matrix found(rows.rows(), outputs);
  probabilities.predict(rows.view(), found.view(), context);
  double sum = 0;
  for (size_t i = 0; i < found.rows(); i++) {
    // One output stands for the second of two classes.
    const double p = found(i, outputs == 1 ? 0 : which);
    sum += outputs == 1 && which == 0 ? 1 - p : p;
  }
  return sum / static_cast<double>(found.rows());
}

// The mean probability of the explained class over these rows, whose outputs are known. rows(): makes them, if needed.
double mean_probability(const Subject& subject, MatrixView<const float> outputs, const auto& rows,
                        const Context& context) {
  const ModelInfo& info = subject.model->info();
  const bool odds = info.unit == OutputUnit::log_odds;
  const std::optional<OutputTerm> term = only_target(*subject.targets);
  if (!(odds || info.unit == OutputUnit::margin) || info.class_names.empty() || !term || outputs.rows() == 0) {
    return NAN;
  }
  const MarginLink link = odds ? MarginLink::sigmoid : info.margin_link;
  const bool single = outputs.cols() == 1;
  if (link == MarginLink::unknown) {
    if (subject.probabilities == nullptr) return NAN;
    const size_t which = !single ? term->output : term->scale < 0 ? 0 : 1;
    return mean_of_class(*subject.probabilities, which, rows(), context);
  }
  double sum = 0;
  for (size_t i = 0; i < outputs.rows(); i++) {
    const std::span<const float> row = outputs.row(i);
    sum += link == MarginLink::softmax && !single ? softmax_of(term->output, row) : logistic(value_of(*term, row));
  }
  return sum / static_cast<double>(outputs.rows());
}

// ReferenceFacts::common_share, the mean over the targets of the studied rows.
double common_share(const Subject& subject, MatrixView<const float> outputs) {
  const ModelInfo& info = subject.model->info();
  const Targets& targets = *subject.targets;
  if (info.unit != OutputUnit::margin || info.margin_link != MarginLink::softmax || outputs.cols() < 2 ||
      targets.information || targets.of_row.empty()) {
    return NAN;
  }
  const std::vector<double> counts = rows_by_target(targets);
  double sum = 0;
  for (size_t t = 0; t < counts.size(); t++) {
    if (counts[t] == 0) continue;
    RunningMoments common;
    RunningMoments own;
    for (size_t i = 0; i < outputs.rows(); i++) {
      const std::span<const float> row = outputs.row(i);
      double mean = 0;
      for (const float margin : row) mean += static_cast<double>(margin) / static_cast<double>(row.size());
      common.add(mean);
      own.add(static_cast<double>(row[targets.terms[t].output]) - mean);
    }
    const double all = common.variance() + own.variance();
    sum += counts[t] * (all > 0 ? common.variance() / all : NAN);
  }
  return sum / static_cast<double>(targets.of_row.size());
}

// Another target turns the order of strata round, which changes nothing else.
std::string hash_in_any_order(const Matrix& rows) {
  std::vector<std::string> hashes;
  for (size_t r = 0; r < rows.rows(); r++) {
    const std::span<const float> row = rows.row(r);
    hashes.push_back(sha256_hex({reinterpret_cast<const char*>(row.data()), row.size_bytes()}));
  }
  std::ranges::sort(hashes);
  Sha256 all;
  for (const std::string& each : hashes) all.add(each);
  return all.hex();
}

}  // namespace

ReferenceFacts reference_facts(const Subject& subject, const ScoredPool& scored, const Context& context) {
  const Matrix& reference = subject.reference->rows;
  Matrix outputs(reference.rows(), subject.model->info().outputs());
  if (!outputs.empty()) subject.model->predict(reference.view(), outputs.view(), context);
  const auto pool_rows = [&] {
    Matrix made(scored.rows.size(), subject.pool->x.cols());
    for (size_t i = 0; i < made.rows(); i++)
      std::ranges::copy(subject.pool->x.row(scored.rows[i]), made.row(i).begin());
    return made;
  };
  const auto known = [](double value) { return std::isfinite(value) ? value : NAN; };
  const auto reference_rows = [&]() -> const Matrix& { return reference; };
  return {.rows = reference.rows(),
          .value = known(mean_value(*subject.targets, outputs.view())),
          .pool_value = known(mean_value(*subject.targets, scored.outputs.view())),
          .probability = known(mean_probability(subject, outputs.view(), reference_rows, context)),
          .pool_probability = known(mean_probability(subject, scored.outputs.view(), pool_rows, context)),
          .common_share = known(common_share(subject, scored.outputs.view())),
          .drawn_rows = subject.reference->is_draw() ? hash_in_any_order(reference) : std::string()};
}

}  // namespace assay
