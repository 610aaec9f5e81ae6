#include "assay/explain/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "assay/core/error.h"
#include "assay/core/parallel.h"
#include "assay/core/text.h"
#include "assay/explain/explanations.h"
#include "assay/model/predict_rows.h"

namespace assay {
namespace {

// Class 0 of a binary model with one output, which is that of class 1.
OutputTerm other_class(OutputUnit unit) {
  return unit == OutputUnit::probability ? OutputTerm{0, -1, 1} : OutputTerm{0, -1, 0};
}

std::vector<OutputTerm> all_terms(const ModelInfo& info) {
  if (info.class_names.size() == 2 && info.outputs() == 1) return {other_class(info.unit), OutputTerm{0, 1, 0}};
  std::vector<OutputTerm> terms;
  for (size_t c = 0; c < info.outputs(); c++) terms.push_back({c, 1, 0});
  return terms;
}

TargetChoice automatic(const ModelInfo& info) {
  if (info.class_names.size() == 2) return {false, 1};
  if (!info.class_names.empty()) return {true, 0};
  if (info.outputs() == 1) return {false, 0};
  fail_argument("target", fmt::format(": {} gives {} values; name one of {}, or all", info.name, info.outputs(),
                                      joined(target_names(info), "and")));
}

}  // namespace

const std::vector<std::string>& target_names(const ModelInfo& info) {
  return info.class_names.empty() ? info.output_names : info.class_names;
}

std::vector<TargetChoice> parse_target(const ModelInfo& info, std::string_view text) {
  const std::vector<std::string>& names = target_names(info);
  if (const auto named = std::find(names.begin(), names.end(), text); named != names.end()) {
    return {{false, static_cast<size_t>(named - names.begin())}};
  }
  if (text == "auto") return {automatic(info)};
  if (text == "predicted") {
    if (info.class_names.empty()) fail_argument("target", fmt::format(" predicted: {} has no classes", info.name));
    return {{true, 0}};
  }
  if (text == "all") {
    std::vector<TargetChoice> choices;
    for (size_t c = 0; c < names.size(); c++) choices.push_back({false, c});
    return choices;
  }
  size_t index = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  const bool whole = error == std::errc() && stop == text.data() + text.size() && !text.empty();
  if (whole && index < names.size()) return {{false, index}};
  fail_argument("target", fmt::format(" of {}: expected auto, predicted, all, {} or an index from 0 to {}, found {}",
                                      info.name, joined(names, "or"), names.size() - 1, in_quotes(text)));
}

size_t predicted_class(const ModelInfo& info, std::span<const float> outputs) {
  if (outputs.size() == 1) return outputs[0] > (info.unit == OutputUnit::probability ? 0.5F : 0.0F) ? 1 : 0;
  return static_cast<size_t>(std::max_element(outputs.begin(), outputs.end()) - outputs.begin());
}

Targets freeze_targets(const Model& model, MatrixView<const float> rows, const TargetChoice& choice,
                       const Context& context) {
  const ModelInfo& info = model.info();
  Targets targets;
  targets.names = target_names(info);
  targets.terms = all_terms(info);
  targets.of_row.assign(rows.rows(), static_cast<uint32_t>(choice.which));
  targets.predicted = choice.predicted;
  if (!choice.predicted) return targets;
  predict_rows(
      model, rows,
      [&](size_t begin, MatrixView<const float> outputs) {
        for (size_t i = 0; i < outputs.rows(); i++) {
          targets.of_row[begin + i] = static_cast<uint32_t>(predicted_class(info, outputs.row(i)));
        }
      },
      context);
  return targets;
}

Targets information_targets(const Model& model, size_t rows) {
  const ModelInfo& info = model.info();
  if (info.class_names.empty()) {
    fail_input(fmt::format("the information value needs classes, and {} gives values of a regression", info.name));
  }
  if (info.unit != OutputUnit::margin && info.unit != OutputUnit::probability) {
    fail_input(fmt::format("the information value needs margins or probabilities, and {} gives {}", info.name,
                           output_unit_name(info.unit)));
  }
  Targets targets;
  targets.information = true;
  targets.names = {"information"};
  targets.of_row.assign(rows, 0);
  return targets;
}

Targets slice_targets(const Targets& targets, size_t begin, size_t end) {
  Targets slice = targets;
  slice.of_row.assign(targets.of_row.begin() + static_cast<ptrdiff_t>(begin),
                      targets.of_row.begin() + static_cast<ptrdiff_t>(end));
  return slice;
}

Targets select_targets(const Targets& targets, std::span<const size_t> rows) {
  Targets chosen{.information = targets.information,
                 .names = targets.names,
                 .terms = targets.terms,
                 .of_row = {},
                 .predicted = targets.predicted};
  chosen.of_row.reserve(rows.size());
  for (const size_t row : rows) chosen.of_row.push_back(targets.of_row[row]);
  return chosen;
}

std::string target_in_words(const Targets& targets) {
  return targets.predicted ? std::string(kPredictedTarget) : targets.names[targets.of_row[0]];
}

std::string explained_unit(const ModelInfo& info, const Targets& targets) {
  return targets.information ? "information" : std::string(output_unit_name(info.unit));
}

}  // namespace assay
