#include "assay/evaluate/retraining/known_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/evaluate/common.h"
#include "assay/explain/target.h"

namespace assay {
namespace {

// For each class of the data its index in the model, or none.
std::vector<std::optional<size_t>> matched_classes(const ModelInfo& model, const Dataset& data) {
  std::vector<std::optional<size_t>> matched;
  for (const std::string& name : data.class_names) {
    const auto found = std::ranges::find(model.class_names, name);
    matched.push_back(found == model.class_names.end()
                          ? std::nullopt
                          : std::optional(static_cast<size_t>(found - model.class_names.begin())));
  }
  return matched;
}

double r_squared(const std::vector<double>& squared_errors, const std::vector<float>& labels) {
  double mean = 0;
  for (const float label : labels) mean += label;
  mean /= static_cast<double>(labels.size());
  double errors = 0;
  double deviations = 0;
  for (size_t i = 0; i < labels.size(); i++) {
    errors += squared_errors[i];
    deviations += (labels[i] - mean) * (labels[i] - mean);
  }
  return deviations > 0 ? 1 - errors / deviations : NAN;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

std::optional<Refusal> label_refusal(const ModelInfo& model, const Dataset& data, std::string_view which, Need need) {
  if (data.labels.size() != data.rows()) {
    return Refusal(fmt::format("needs labels of {}, and {} has none", which, data.source), need);
  }
  const bool classes = !model.class_names.empty();
  if (classes == !data.class_names.empty()) return {};
  return classes ? fmt::format("needs classes as labels of {}, as {} predicts them, and those of {} are values", which,
                               model.name, data.source)
                 : fmt::format("needs values as labels of {}, as {} predicts them, and those of {} are classes", which,
                               model.name, data.source);
}

KnownRows labelled_rows(const ModelInfo& model, const Dataset& data) {
  const bool classes = !model.class_names.empty();
  const std::vector<std::optional<size_t>> matched = matched_classes(model, data);
  KnownRows known;
  for (size_t i = 0; i < data.rows(); i++) {
    float label = data.labels[i];
    if (!std::isfinite(label)) {
      known.unlabelled++;
      continue;
    }
    if (classes) {
      const auto where = [&] { return fmt::format("{}, row {}, label {}", data.source, i + 1, data.label_name); };
      const bool index = label >= 0 && label < static_cast<float>(matched.size()) && label == std::trunc(label);
      if (!index) fail_input(where(), "the index of a class", fmt::format("{}", label));
      const auto of_data = static_cast<size_t>(label);
      if (!matched[of_data]) {
        fail_input(where(), fmt::format("a class of {} ({})", model.name, joined(model.class_names, "or")),
                   in_quotes(data.class_names[of_data]));
      }
      label = static_cast<float>(*matched[of_data]);
    }
    known.rows.push_back(i);
    known.labels.push_back(label);
  }
  return known;
}

void leave_out_unranked(KnownRows& known, MatrixView<const float> attributions) {
  size_t kept = 0;
  for (size_t i = 0; i < known.size(); i++) {
    if (!all_finite(attributions.row(known.rows[i]))) continue;
    known.rows[kept] = known.rows[i];
    known.labels[kept] = known.labels[i];
    kept++;
  }
  known.unranked += known.size() - kept;
  known.rows.resize(kept);
  known.labels.resize(kept);
}

double prediction_quality(const Model& model, const std::vector<float>& labels,
                          const std::function<void(size_t i, std::span<float> row)>& fill, const Context& context) {
  if (labels.empty()) return NAN;
  const bool classes = !model.info().class_names.empty();
  std::vector<double> found(labels.size());  // right or wrong, or the squared error
  predict_made_rows(
      model, labels.size(), fill,
      [&](size_t i, std::span<const float> outputs) {
        if (std::ranges::any_of(outputs, [](float v) { return std::isnan(v); })) {
          found[i] = NAN;
        } else if (classes) {
          found[i] = static_cast<float>(predicted_class(model.info(), outputs)) == labels[i] ? 1 : 0;
        } else {
          const double error = static_cast<double>(outputs[0]) - labels[i];
          found[i] = error * error;
        }
      },
      context);
  return classes ? mean_of(found) : r_squared(found, labels);
}

}  // namespace assay
