#include "assay/model/text_columns.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "assay/data/encoder.h"
#include "assay/model/engine_model.h"
#include "assay/model/metadata.h"
#include "assay/model/trees/booster.h"

namespace assay {
namespace {

using Metadata = std::vector<std::pair<std::string, std::string>>;

// Metadata that is not what it must be is refused where the model is built.
nlohmann::json metadata_json(const OnnxModel& model, std::string_view key) {
  const std::string* text = find_metadata(model.metadata, key);
  return text == nullptr ? nlohmann::json() : nlohmann::json::parse(*text, nullptr, false);
}

void declare_categories(const OnnxModel& model, TableOptions& options) {
  const nlohmann::json categories = metadata_json(model, kCategoriesKey);
  const nlohmann::json names = metadata_json(model, kFeatureNamesKey);
  if (!categories.is_object() || !names.is_array()) return;
  for (size_t f = 0; f < names.size(); f++) {
    const auto found = categories.find(std::to_string(f));
    const bool has_texts = found != categories.end() && found->is_array() && !found->empty();
    if (has_texts && names[f].is_string()) options.texts.push_back(names[f].get<std::string>());
  }
}

// What is filled by rows, without the weights.
std::vector<const OnnxValue*> row_inputs(const OnnxModel& model) {
  std::vector<const OnnxValue*> inputs;
  for (const OnnxValue& input : model.graph.inputs) {
    const auto is_weight = [&](const OnnxTensor& tensor) { return tensor.name == input.name; };
    if (std::ranges::none_of(model.graph.initializers, is_weight)) inputs.push_back(&input);
  }
  return inputs;
}

std::optional<std::vector<std::string>> named_columns(const std::string& name, const Metadata& metadata,
                                                      std::span<const std::string> inputs) {
  std::vector<std::string> names;
  if (const std::string* json = find_metadata(metadata, kEncoderKey); json != nullptr) {
    const Encoder encoder = Encoder::from_json(name, *json);
    for (const ColumnEncoding& column : encoder.columns()) names.push_back(column.name);
    return names;
  }
  names = metadata_texts(name, metadata, kFeatureNamesKey);
  if (names.empty() && inputs.size() > 1) names.assign(inputs.begin(), inputs.end());
  return names.empty() ? std::nullopt : std::optional(std::move(names));
}

bool is_position(const std::string& text) {
  return !text.empty() && text.find_first_not_of("-0123456789") == std::string::npos;
}

}  // namespace

std::optional<std::vector<std::string>> columns_by_name(const std::string& name, const OnnxModel& model) {
  std::vector<std::string> inputs;
  for (const OnnxValue* input : row_inputs(model)) inputs.push_back(input->name);
  return named_columns(name, model.metadata, inputs);
}

std::optional<std::vector<std::string>> columns_by_name(const EngineModel& model) {
  std::vector<std::string> inputs;
  for (const OnnxValue& input : model.graph().inputs()) inputs.push_back(input.name);
  return named_columns(model.info().name, model.graph().metadata(), inputs);
}

void declare_used_columns(const std::optional<std::vector<std::string>>& taken, TableOptions& options) {
  if (!taken || is_position(options.label) || is_position(options.id)) return;
  std::vector<std::string> names = *taken;
  for (const auto* const more : {&options.numeric, &options.categorical}) {
    names.insert(names.end(), more->begin(), more->end());
  }
  names.push_back(options.label);
  names.push_back(options.id);
  options.used = std::move(names);
}

void declare_text_columns(const std::string& name, const OnnxModel& model, TableOptions& options) {
  if (const std::string* json = find_metadata(model.metadata, kEncoderKey); json != nullptr) {
    const Encoder encoder = Encoder::from_json(name, *json);
    for (const ColumnEncoding& column : encoder.columns()) {
      if (column.kind == ColumnKind::categorical) options.texts.push_back(column.name);
    }
    return;
  }
  declare_categories(model, options);
  const std::vector<const OnnxValue*> inputs = row_inputs(model);
  for (const OnnxValue* input : inputs) {
    if (input->type.element != OnnxElement::string) continue;
    options.all_texts = inputs.size() == 1;
    options.texts.push_back(input->name);
  }
}

}  // namespace assay
