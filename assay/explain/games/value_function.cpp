#include "assay/explain/games/value_function.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

#include "assay/model/predict_rows.h"

namespace assay {
namespace {

size_t class_count(size_t outputs) { return outputs == 1 ? 2 : outputs; }

// ln P(y) of all classes; one output is that of the second of two classes. NaN where a probability is 0.
void log_probabilities(OutputUnit unit, std::span<const float> outputs, std::span<double> logs) {
  if (unit == OutputUnit::probability) {
    const auto log_or_nan = [](double p) { return p > 0 ? std::log(p) : std::numeric_limits<double>::quiet_NaN(); };
    if (outputs.size() == 1) {
      logs[0] = log_or_nan(1 - static_cast<double>(outputs[0]));
      logs[1] = log_or_nan(outputs[0]);
      return;
    }
    for (size_t c = 0; c < outputs.size(); c++) logs[c] = log_or_nan(outputs[c]);
    return;
  }
  if (outputs.size() == 1) {
    const double z = outputs[0];
    // ln sigmoid(z) = min(z, 0) - ln(1 + exp(-|z|)), which neither overflows nor cancels.
    const double rest = std::log1p(std::exp(-std::abs(z)));
    logs[0] = std::min(-z, 0.0) - rest;
    logs[1] = std::min(z, 0.0) - rest;
    return;
  }
  const double largest = *std::max_element(outputs.begin(), outputs.end());
  double sum = 0;
  for (const float z : outputs) sum += std::exp(z - largest);
  const double log_sum = largest + std::log(sum);
  for (size_t c = 0; c < outputs.size(); c++) logs[c] = outputs[c] - log_sum;
}

}  // namespace

ValueFunction::ValueFunction(const Model& model, MatrixView<const float> rows, const Targets& targets,
                             const Context& context)
    : targets_(&targets), unit_(model.info().unit) {
  if (!targets.information) return;
  assert(unit_ == OutputUnit::margin || unit_ == OutputUnit::probability);
  const size_t width = model.info().outputs();
  probabilities_ = Matrix64(rows.rows(), class_count(width));
  const auto take = [&](size_t begin, MatrixView<const float> outputs) {
    for (size_t i = 0; i < outputs.rows(); i++) {
      const std::span<double> out = probabilities_.row(begin + i);
      const std::span<const float> given = outputs.row(i);
      if (unit_ == OutputUnit::probability) {
        // As they are: a probability of 0 is a weight of 0.
        std::copy(given.begin(), given.end(), out.end() - static_cast<std::ptrdiff_t>(width));
        if (width == 1) out[0] = 1 - out[1];
        continue;
      }
      log_probabilities(unit_, given, out);
      for (double& p : out) p = std::exp(p);
    }
  };
  predict_rows(model, rows, take, context);
}

void ValueFunction::apply(size_t row, MatrixView<const float> outputs, std::span<float> values) const {
  assert(outputs.rows() == values.size());
  if (!targets_->information) {
    const OutputTerm& term = targets_->term(row);
    for (size_t i = 0; i < values.size(); i++) values[i] = term.offset + term.scale * outputs(i, term.output);
    return;
  }
  const std::span<const double> probabilities = probabilities_.row(row);
  std::vector<double> logs(probabilities.size());
  for (size_t i = 0; i < values.size(); i++) {
    log_probabilities(unit_, outputs.row(i), logs);
    double sum = 0;
    for (size_t y = 0; y < logs.size(); y++) {
      // 0 ln 0 is 0: what the row never is tells nothing.
      if (probabilities[y] > 0) sum += probabilities[y] * logs[y];
    }
    values[i] = static_cast<float>(sum);
  }
}

void ValueFunction::apply_to_rows(size_t begin, MatrixView<const float> outputs, std::span<double> values) const {
  assert(outputs.rows() == values.size());
  if (!targets_->information) {
    for (size_t i = 0; i < values.size(); i++) {
      const OutputTerm& term = targets_->term(begin + i);
      values[i] = term.offset + term.scale * outputs(i, term.output);
    }
    return;
  }
  for (size_t i = 0; i < values.size(); i++) {
    float value = 0;
    apply(begin + i, outputs.rows_between(i, i + 1), {&value, 1});
    values[i] = value;
  }
}

std::optional<OutputTerm> ValueFunction::term(size_t row) const {
  if (targets_->information) return {};
  return targets_->term(row);
}

}  // namespace assay
