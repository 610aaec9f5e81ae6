#include "assay/model/train/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "assay/core/error.h"
#include "assay/data/io/json_depth.h"
#include "assay/data/split.h"
#include "assay/model/engine_model.h"
#include "assay/model/metadata.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;
// What is read: keys in a tree, because the list that keeps their order takes quadratic time for many of them.
using JsonRead = nlohmann::json;
using Metadata = std::vector<std::pair<std::string, std::string>>;

constexpr int kFormat = 1;
constexpr size_t kDepth = 4;  // our own is 3 deep: the object, options, a list
constexpr size_t kMostLayers = 64;

// The fields of an options struct as a JSON object, in their order.
template <class Options>
Json json_of(const Options& options) {
  Json object = Json::object();
  for (const OptionInfo& field : list_options(options)) {
    Json& value = object[field.name] = field.value;
    if (field.kind == OptionKind::word) continue;
    Json number = Json::parse(field.value, nullptr, false);
    if (number.is_discarded()) continue;  // a word, such as auto
    value = std::move(number);
    // 1 as 1.0, because JSON tells the two apart.
    if (field.kind == OptionKind::real) value = value.get<double>();
    if (field.kind == OptionKind::reals) value = value.get<std::vector<double>>();
  }
  return object;
}

// Back through the spelling of the command line, which checks names and ranges.
template <class Options>
Options options_of(std::string_view where, const JsonRead& object) {
  Spec spec{std::string(where)};
  if (!object.is_object()) fail_input(where, "an object of options", object.type_name());
  for (const auto& [name, value] : object.items()) {
    spec.options.emplace_back(name, value.is_string() ? value.template get<std::string>() : value.dump());
  }
  return options_from<Options>(spec);
}

template <class Number>
std::vector<Number> numbers_of(std::string_view where, const JsonRead& document, const char* name) {
  const JsonRead& list = document.at(name);
  const bool numbers =
      list.is_array() && std::ranges::all_of(list, [](const JsonRead& each) { return each.is_number_integer(); });
  if (!numbers || list.size() > kMostLayers) {
    fail_input(where, fmt::format("{}: a list of at most {} whole numbers", name, kMostLayers), list.type_name());
  }
  std::vector<Number> out;
  for (const JsonRead& each : list) {
    // Layers and images have sizes above 0; anything else is left to the builder to refuse.
    const auto value = each.template get<int64_t>();
    out.push_back(static_cast<Number>(std::max<int64_t>(value, 0)));
  }
  return out;
}

Json recipe_json(const Recipe& recipe, const std::vector<size_t>& image) {
  Json document;
  document["assay_training"] = kFormat;
  document["network"] = recipe.convolutions ? "cnn" : "mlp";
  if (recipe.convolutions) {
    document["channels"] = recipe.cnn.channels;
    document["dense"] = recipe.cnn.dense;
    document["image"] = image;
    document["options"] = json_of(recipe.cnn);
  } else {
    document["hidden"] = recipe.mlp.hidden;
    document["options"] = json_of(recipe.mlp);
  }
  document["training"] = json_of(recipe.training);
  return document;
}

struct StoredRecipe {
  Recipe recipe;
  std::vector<size_t> image;
};

StoredRecipe read_recipe(std::string_view where, const std::string& text) {
  limit_json_depth(where, text, kDepth);
  try {
    const JsonRead document = JsonRead::parse(text);
    if (!document.is_object() || document.at("assay_training") != kFormat) {
      fail_input(where, fmt::format("a recipe of format {}", kFormat), "another one");
    }
    StoredRecipe stored;
    const std::string network = document.at("network").get<std::string>();
    if (network != "mlp" && network != "cnn") fail_input(where, "network: mlp or cnn", in_quotes(network));
    stored.recipe.convolutions = network == "cnn";
    if (stored.recipe.convolutions) {
      stored.recipe.cnn = options_of<CnnOptions>(where, document.at("options"));
      stored.recipe.cnn.channels = numbers_of<int64_t>(where, document, "channels");
      stored.recipe.cnn.dense = numbers_of<int64_t>(where, document, "dense");
      stored.image = numbers_of<size_t>(where, document, "image");
    } else {
      stored.recipe.mlp = options_of<MlpOptions>(where, document.at("options"));
      stored.recipe.mlp.hidden = numbers_of<int64_t>(where, document, "hidden");
    }
    stored.recipe.training = options_of<TrainOptions>(where, document.at("training"));
    return stored;
  } catch (const nlohmann::json::exception& problem) {
    fail_input(fmt::format("{}: cannot be read: {}", where, one_line(problem.what())));
  }
}

std::string list_text(const std::vector<std::string>& names) {
  return Json(names).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// 0 where rows are no images.
size_t smaller_side(const std::vector<size_t>& item_shape) {
  if (item_shape.size() != 2 && item_shape.size() != 3) return 0;
  return std::min(item_shape[item_shape.size() - 2], item_shape.back());
}

// Pixels of a side behind convolutions and their pools; 0 where they do not fit.
size_t left_of(size_t side, const CnnOptions& options, size_t convolutions) {
  const auto pool = static_cast<size_t>(options.pool);
  const size_t lost = options.padding == "same" ? 0 : static_cast<size_t>(options.kernel) - 1;
  for (size_t i = 0; i < convolutions; ++i) side = side < lost + pool ? 0 : (side - lost) / pool;
  return side;
}

RowSplit validation_split(const Dataset& data, double share, uint64_t seed) {
  RowSplit split;
  if (share > 0) {
    // Values of a regression are no classes: all rows alike.
    const std::vector<float> same(data.class_names.empty() ? data.rows() : 0);
    split = stratified_split(same.empty() ? std::span<const float>(data.labels) : same, share, seed);
  }
  if (!split.train.empty()) return split;
  split = {};
  for (size_t i = 0; i < data.rows(); ++i) split.train.push_back(i);
  return split;
}

TrainResult train_with(Recipe recipe, const std::string* encoder, const Dataset& data, const std::vector<size_t>& image,
                       const Context& context, const EpochCallback& report) {
  check_unseen("recipe, categories that training rows do not have", recipe.unseen);
  const bool classification = !data.class_names.empty();
  if (data.labels.size() != data.rows()) fail_input(data.source, "a label for every row", "none (name its column)");
  const size_t outputs = classification ? data.class_names.size() : 1;
  if (classification && outputs < 2) fail_input(data.source, "at least two classes to tell apart", "one");
  OnnxModel network = recipe.convolutions
                          ? cnn_network(recipe.cnn, image, outputs, classification, context.seed)
                          : mlp_network(recipe.mlp, data.x.cols(), outputs, classification, context.seed);
  // As it was done, for those who train again on rows that do not say what they are.
  if (recipe.training.scale == "auto") recipe.training.scale = image.empty() ? "standardise" : "pixels";
  const RowSplit split = validation_split(data, recipe.training.validation, context.seed);
  const bool validated = !split.test.empty();
  const Dataset validation = validated ? select_rows(data, split.test) : Dataset{};
  // Without validation rows there is no need for a copy.
  TrainResult result = validated ? train(std::move(network), select_rows(data, split.train), validation,
                                         recipe.training, context, report)
                                 : train(std::move(network), data, validation, recipe.training, context, report);

  Json document = recipe_json(recipe, image);
  document["seed"] = context.seed;
  document["rows"] = split.train.size();
  document["validation_rows"] = split.test.size();
  document["epochs_run"] = result.history.size();
  document["best_epoch"] = result.best_epoch;
  document["validation_loss"] = result.validation_loss;
  document["validation_accuracy"] = result.validation_accuracy;
  Metadata& metadata = result.model.metadata;
  if (encoder != nullptr) metadata.emplace_back(kEncoderKey, *encoder);
  if (encoder != nullptr && recipe.unseen == "unknown") metadata.emplace_back(kUnseenKey, recipe.unseen);
  metadata.emplace_back(kFeatureNamesKey, list_text(data.feature_names));
  if (classification) metadata.emplace_back(kClassNamesKey, list_text(data.class_names));
  metadata.emplace_back(kTrainingKey, document.dump(-1, ' ', false, Json::error_handler_t::replace));
  return result;
}

}  // namespace

Recipe table_recipe() { return {}; }

Recipe image_recipe() {
  Recipe recipe;
  recipe.convolutions = true;
  recipe.training = ImageTrainOptions();
  return recipe;
}

CnnOptions cnn_options_for(const std::vector<size_t>& item_shape, size_t convolutions) {
  CnnOptions options;
  const size_t side = smaller_side(item_shape);
  if (side == 0 || left_of(side, options, convolutions) > 0) return options;
  options.kernel = 3;
  options.padding = "same";
  if (left_of(side, options, convolutions) == 0) options.pool = 1;
  return options;
}

Recipe recipe_for(const std::vector<size_t>& item_shape) {
  const size_t side = smaller_side(item_shape);
  if (side == 0) return table_recipe();
  Recipe recipe = image_recipe();
  const size_t convolutions = recipe.cnn.channels.size();
  if (left_of(side, recipe.cnn, convolutions) > 0) return recipe;
  recipe.convolutions = side >= 2;
  recipe.cnn = cnn_options_for(item_shape, convolutions);
  recipe.training.epochs = 30;
  recipe.training.patience = 5;
  recipe.training.validation = 0.1;
  return recipe;
}

void check_unseen(std::string_view where, std::string_view unseen) {
  if (unseen != "refuse" && unseen != "unknown") fail_input(where, "refuse or unknown", in_quotes(unseen));
}

bool takes_unknown(const Metadata& metadata) {
  const std::string* unseen = find_metadata(metadata, kUnseenKey);
  // Without an encoder there are no categories to know.
  return unseen != nullptr && *unseen == "unknown" && find_metadata(metadata, kEncoderKey) != nullptr;
}

TrainResult train_recipe(const Recipe& recipe, const Dataset& data, const Encoder* encoder, const Context& context,
                         const EpochCallback& report) {
  const std::string text = encoder == nullptr ? std::string() : encoder->to_json();
  return train_with(recipe, encoder == nullptr ? nullptr : &text, data, data.item_shape, context, report);
}

bool has_recipe(const Metadata& metadata) { return find_metadata(metadata, kTrainingKey) != nullptr; }

OnnxModel retrain(std::string_view where, const Metadata& metadata, const Dataset& data, uint64_t seed,
                  const Context& context) {
  const std::string* text = find_metadata(metadata, kTrainingKey);
  if (text == nullptr) fail_input(where, "a recipe to train by", "none: the file was not made by assay train");
  StoredRecipe stored = read_recipe(fmt::format("{}, {}", where, kTrainingKey), *text);
  if (const std::string* unseen = find_metadata(metadata, kUnseenKey); unseen != nullptr) {
    stored.recipe.unseen = *unseen;
  }
  // The new model must be comparable with the old one.
  const std::string* classes = find_metadata(metadata, kClassNamesKey);
  if ((classes == nullptr) != data.class_names.empty() ||
      (classes != nullptr && *classes != list_text(data.class_names))) {
    fail_input(where, classes == nullptr ? "labels that are values" : "labels of the classes " + in_quotes(*classes),
               data.class_names.empty() ? "values" : "classes " + in_quotes(list_text(data.class_names)));
  }
  const std::string* features = find_metadata(metadata, kFeatureNamesKey);
  if (features != nullptr && *features != list_text(data.feature_names)) {
    fail_input(where, "rows of the features that the model has", fmt::format("others in {}", data.source));
  }
  Context seeded = context;
  seeded.seed = seed;
  return train_with(stored.recipe, find_metadata(metadata, kEncoderKey), data, stored.image, seeded, {}).model;
}

}  // namespace assay
