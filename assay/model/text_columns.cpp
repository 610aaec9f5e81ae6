#include "assay/model/text_columns.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "assay/data/encoder.h"
#include "assay/model/engine_model.h"
#include "assay/model/metadata.h"
#include "assay/model/trees/booster.h"

namespace assay {
namespace {

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

}  // namespace

void declare_text_columns(const std::string& name, const OnnxModel& model, TableOptions& options) {
  if (const std::string* json = find_metadata(model.metadata, kEncoderKey); json != nullptr) {
    const Encoder encoder = Encoder::from_json(name, *json);
    for (const ColumnEncoding& column : encoder.columns()) {
      if (column.kind == ColumnKind::categorical) options.texts.push_back(column.name);
    }
    return;
  }
  declare_categories(model, options);
  std::vector<const OnnxValue*> inputs;
  for (const OnnxValue& input : model.graph.inputs) {
    const auto is_weight = [&](const OnnxTensor& tensor) { return tensor.name == input.name; };
    if (std::ranges::none_of(model.graph.initializers, is_weight)) inputs.push_back(&input);
  }
  for (const OnnxValue* input : inputs) {
    if (input->type.element != OnnxElement::string) continue;
    options.all_texts = inputs.size() == 1;
    options.texts.push_back(input->name);
  }
}

}  // namespace assay
