#include "assay/evaluate/removal/class_score.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/evaluate/common.h"
#include "assay/explain/target.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Probabilities of all classes that are this far from adding up to 1 are not of classes that exclude each other.
constexpr double kAddsUp = 1e-4;

double sum_of_others(std::span<const float> outputs, size_t which) {
  double sum = 0;
  for (size_t c = 0; c < outputs.size(); c++) sum += c == which ? 0 : static_cast<double>(outputs[c]);
  return sum;
}

// z_y - ln sum over the others of exp(z_c).
double margin_log_odds(std::span<const float> outputs, size_t which) {
  double largest = -kInfinity;
  for (size_t c = 0; c < outputs.size(); c++) {
    if (c != which) largest = std::max(largest, static_cast<double>(outputs[c]));
  }
  double sum = 0;
  for (size_t c = 0; c < outputs.size(); c++) sum += c == which ? 0 : std::exp(outputs[c] - largest);
  return outputs[which] - largest - std::log(sum);
}

double log_odds_of_probability(double p, double rest) {
  if (p <= 0) return p == 0 ? -kInfinity : NAN;
  if (p >= 1) return p == 1 ? kInfinity : NAN;
  return std::log(p) - std::log(rest);
}

double log_odds(const ModelInfo& info, std::span<const float> outputs, size_t which) {
  const bool one = outputs.size() == 1;
  const double sign = one && which == 0 ? -1 : 1;
  const double own = outputs[one ? 0 : which];
  if (info.unit == OutputUnit::log_odds) return sign * own;
  if (info.unit == OutputUnit::margin) return one ? sign * own : margin_log_odds(outputs, which);
  if (one) return sign * log_odds_of_probability(own, 1 - own);
  const double others = sum_of_others(outputs, which);
  const bool adds_up = others > 0 && std::abs(own + others - 1) <= kAddsUp;
  return log_odds_of_probability(own, adds_up ? others : 1 - own);
}

double probability(const ModelInfo& info, std::span<const float> outputs, size_t which) {
  if (info.unit == OutputUnit::probability) {
    const bool other_of_two = outputs.size() == 1 && which == 0;
    return other_of_two ? 1 - static_cast<double>(outputs[0]) : outputs[outputs.size() == 1 ? 0 : which];
  }
  return 1 / (1 + std::exp(-log_odds(info, outputs, which)));
}

}  // namespace

double class_score(const ModelInfo& info, ScoreUnit unit, std::span<const float> outputs, size_t which) {
  if (!all_finite(outputs)) return NAN;
  if (info.class_names.empty()) return outputs[which];
  return unit == ScoreUnit::log_odds ? log_odds(info, outputs, which) : probability(info, outputs, which);
}

std::string_view why_undefined(double score) { return std::isinf(score) ? kCertain : kNoNumber; }

size_t scored_class(const EvaluateTask& task, ScoredClass which, size_t row, std::span<const float> outputs) {
  const ModelInfo& info = scored_model(task).info();
  const Targets& targets = *task.subject.targets;
  const bool predicted = which == ScoredClass::predicted || targets.information;
  // Rounding can make the predicted class of margins another one than that of probabilities: the frozen one holds.
  if (info.class_names.empty() || !predicted || targets.predicted) return targets.of_row[row];
  return predicted_class(info, outputs);
}

bool strength_is_of_all_classes(const ModelInfo& explained) {
  if (explained.class_names.size() != 2) return explained.class_names.empty();
  return explained.outputs() == 1 || explained.unit == OutputUnit::log_odds ||
         explained.unit == OutputUnit::probability;
}

}  // namespace assay
