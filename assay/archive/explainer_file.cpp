#include "assay/archive/explainer_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "assay/archive/io/explainer_json.h"
#include "assay/core/error.h"
#include "assay/core/sha256.h"
#include "assay/core/text.h"
#include "assay/model/model_file.h"

namespace assay {
namespace {

// The array, whose type and shape are checked before its data is read. kAnyCount as a dimension: one or more.
constexpr size_t kAnyCount = SIZE_MAX;
NpyArray read_part(const NpzFile& file, const char* name, NpyType type, const std::vector<size_t>& shape) {
  if (!file.contains(name)) fail_input(file.name(), fmt::format("an array '{}'", name), "none");
  const NpyHeader header = file.header(name);
  bool fits = header.type == type && header.shape.size() == shape.size();
  std::vector<std::string> dimensions;
  for (size_t i = 0; i < shape.size(); i++) {
    const bool any = shape[i] == kAnyCount;
    fits = fits && (any ? header.shape[i] >= 1 : header.shape[i] == shape[i]);
    dimensions.push_back(any ? "any" : fmt::format("{}", shape[i]));
  }
  if (!fits) {
    fail_input(array_where(file, name),
               fmt::format("{} of {}", dtype_text(type, header.item_size), fmt::join(dimensions, " x ")),
               fmt::format("{} of {}", dtype_text(header.type, header.item_size), shape_text(header.shape)));
  }
  return file.read(name);
}

Matrix read_matrix(const NpzFile& file, const char* name, size_t columns) {
  return to_matrix(array_where(file, name), read_part(file, name, NpyType::float32, {kAnyCount, columns}));
}

std::vector<float> read_floats(const NpzFile& file, const char* name, size_t count) {
  const NpyArray array = read_part(file, name, NpyType::float64, {count});
  const std::vector<double> numbers = to_doubles(array_where(file, name), array);
  std::vector<float> made;
  for (const double each : numbers) made.push_back(static_cast<float>(each));
  return made;
}

NpyArray array_of_floats(std::span<const float> values) {
  return npy_from_doubles(std::vector<double>(values.begin(), values.end()));
}

// Every player has a column.
void read_players(const NpzFile& file, size_t features, Players& players) {
  const NpyArray array = read_part(file, "players", NpyType::int64, {features});
  std::vector<bool> seen(players.size());
  for (size_t i = 0; i < features; i++) {
    const auto player = array.item<int64_t>(i);
    if (player < 0 || std::cmp_greater_equal(player, players.size())) {
      fail_input(array_where(file, "players"), fmt::format("numbers of {} players", players.size()),
                 fmt::format("{} for column {}", player, i + 1));
    }
    seen[static_cast<size_t>(player)] = true;
    players.of_column.push_back(static_cast<uint32_t>(player));
  }
  const auto without = std::ranges::find(seen, false);
  if (without != seen.end()) {
    const auto which = static_cast<size_t>(without - seen.begin());
    fail_input(array_where(file, "players"), "a column for each player",
               fmt::format("none for {}", in_quotes(players.names[which])));
  }
}

std::optional<OutputUnit> unit_of_word(const std::string& where, const std::string& word) {
  if (word.empty() || word == "information") return {};
  for (const auto unit : {OutputUnit::margin, OutputUnit::probability, OutputUnit::log_odds, OutputUnit::value}) {
    if (word == output_unit_name(unit)) return unit == OutputUnit::value ? std::nullopt : std::optional(unit);
  }
  fail_input(where, "margin, probability, log_odds, value or information as 'unit'", in_quotes(word));
}

}  // namespace

SavedExplainer saved_explainer(const PreparedExplainer& explainer) {
  const OwnedSubject& ground = explainer.ground();
  SavedExplainer made;
  made.model_name = ground.model->info().name;
  made.method = explainer.method();
  made.seed = explainer.seed();
  made.choice = explainer.choice();
  made.columns.feature_names = ground.model->info().feature_names;
  if (ground.rows != nullptr) {
    made.columns.feature_names = ground.rows->feature_names;
    made.columns.groups = ground.rows->groups;
    made.columns.item_shape = ground.rows->item_shape;
  }
  made.players = ground.players;
  made.reference = ground.reference;
  made.pool = ground.pool;
  made.words = ground.words;
  return made;
}

void add_texts(const EngineModel& model, SavedExplainer& saved) {
  for (size_t column = 0; column < saved.columns.feature_names.size(); column++) {
    std::vector<std::string> texts = model.texts()->texts(column);
    if (!texts.empty()) saved.texts[column] = std::move(texts);
  }
}

void set_texts(const SavedExplainer& saved, const std::string& where, const EngineModel& model) {
  for (const auto& [column, texts] : saved.texts) {
    for (size_t code = 0; code < texts.size(); code++) {
      if (model.texts()->code(column, texts[code]) != static_cast<float>(code)) {
        fail_input(where, fmt::format("texts of column {} as its model has them", column + 1), in_quotes(texts[code]));
      }
    }
  }
}

void write_explainer(const SavedExplainer& saved, const std::string& path, const Context& context) {
  std::vector<std::pair<std::string, NpyArray>> arrays;
  arrays.emplace_back("meta", npy_from_string(path, explainer_json(path, saved)));
  arrays.emplace_back(
      "model", NpyArray{.type = NpyType::uint8, .item_size = 1, .shape = {saved.model.size()}, .bytes = saved.model});
  arrays.emplace_back(
      "players", npy_from_int64(std::vector<int64_t>(saved.players.of_column.begin(), saved.players.of_column.end())));
  if (!saved.reference.rows.empty()) arrays.emplace_back("reference", npy_from_matrix(saved.reference.rows.view()));
  if (!saved.reference.scales.empty()) arrays.emplace_back("scales", array_of_floats(saved.reference.scales));
  if (saved.pool != nullptr) {
    arrays.emplace_back("pool", npy_from_matrix(saved.pool->x.view()));
    if (!saved.pool->labels.empty()) arrays.emplace_back("pool_labels", array_of_floats(saved.pool->labels));
    if (!saved.pool->ids.empty()) arrays.emplace_back("pool_ids", npy_from_strings(path, saved.pool->ids));
  }
  write_npz(path, arrays, false, context);
}

SavedExplainer read_explainer(const NpzFile& file) {
  SavedExplainer saved;
  const NpyArray meta = read_part(file, "meta", NpyType::unicode, {});
  const std::string where = array_where(file, "meta");
  const SavedArrays has = read_explainer_json(where, to_strings(where, meta)[0], saved);
  saved.model = read_part(file, "model", NpyType::uint8, {kAnyCount}).bytes;
  if (const std::string found = sha256_hex(saved.model); found != has.model_sha256) {
    fail_input(array_where(file, "model"), fmt::format("the model with SHA-256 {}", has.model_sha256), found);
  }
  const size_t features = saved.columns.feature_names.size();
  read_players(file, features, saved.players);
  if (has.reference) saved.reference.rows = read_matrix(file, "reference", features);
  if (has.scales) saved.reference.scales = read_floats(file, "scales", features);
  if (saved.pool != nullptr) {
    auto pool = std::make_shared<Dataset>(*saved.pool);
    pool->x = read_matrix(file, "pool", features);
    if (has.labels) pool->labels = read_floats(file, "pool_labels", pool->rows());
    if (has.ids) {
      pool->ids =
          to_strings(array_where(file, "pool_ids"), read_part(file, "pool_ids", NpyType::unicode, {pool->rows()}));
    }
    saved.pool = std::move(pool);
  }
  unit_of_word(where, saved.unit);
  return saved;
}

OwnedSubject ground_of(const SavedExplainer& saved, const std::string& where, const ModelInfo& model) {
  const size_t features = saved.columns.feature_names.size();
  if (features != model.features()) {
    fail_input(where, fmt::format("{} columns, as its model takes them", model.features()),
               fmt::format("{}", features));
  }
  if (!saved.choice || saved.choice->predicted) {
    if (model.class_names.empty()) fail_input(where, "a classifier for what it explains", "a regression");
  } else if (saved.choice->which >= target_names(model).size()) {
    fail_input(where, fmt::format("a target below {}, as its model has them", target_names(model).size()),
               fmt::format("{}", saved.choice->which));
  }
  OwnedSubject made;
  made.rows = std::make_shared<const Dataset>(saved.columns);
  made.pool = saved.pool;
  made.players = saved.players;
  made.reference = saved.reference;
  made.targets.information = !saved.choice;
  made.words = saved.words;
  return made;
}

std::unique_ptr<PreparedExplainer> open_explainer(const std::string& path, const Context& context) {
  const SavedExplainer saved = read_explainer(NpzFile(path, context));
  const EngineModelOptions options{.unit = unit_of_word(path, saved.unit),
                                   .features = saved.columns.feature_names.size()};
  std::unique_ptr<EngineModel> model = EngineModel::from_onnx(
      saved.model_name, parse_model(saved.model_name, saved.model, "", context), options, context);
  set_texts(saved, path, *model);
  OwnedSubject ground = ground_of(saved, path, model->info());
  ground.model = std::move(model);
  return std::make_unique<PreparedExplainer>(saved.method, std::move(ground), saved.choice, saved.seed, context);
}

}  // namespace assay
