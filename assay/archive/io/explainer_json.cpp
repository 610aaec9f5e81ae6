#include "assay/archive/io/explainer_json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "assay/archive/io/json_parts.h"
#include "assay/core/error.h"
#include "assay/core/sha256.h"
#include "assay/core/text.h"
#include "assay/core/version.h"

namespace assay {
namespace {

constexpr std::string_view kExplainerSchema = "assay.explainer/1";
constexpr size_t kExplainerDepth = 6;
constexpr size_t kMostColumns = size_t{1} << 21;  // as the engine's models

std::vector<std::string_view> column_kinds() { return {"numeric", "categorical"}; }
std::vector<std::string_view> target_kinds() { return {"chosen", "predicted", "information"}; }

Json groups_json(const std::vector<FeatureGroup>& groups) {
  Json made = Json::array();
  for (const FeatureGroup& group : groups) {
    made.push_back({{"name", group.name},
                    {"first", group.first},
                    {"count", group.count},
                    {"kind", column_kinds()[group.kind == ColumnKind::categorical ? 1 : 0]},
                    {"levels", group.levels}});
  }
  return made;
}

Json texts_of_columns(const SavedExplainer& saved) {
  Json made = Json::array();
  for (const auto& [column, texts] : saved.texts) made.push_back({{"column", column}, {"texts", texts}});
  return made;
}

Json pool_json(const Dataset& pool) {
  return {{"source", pool.source},           {"part", pool.part},
          {"label_name", pool.label_name},   {"labels", !pool.labels.empty()},
          {"class_names", pool.class_names}, {"id_name", pool.id_name},
          {"ids", !pool.ids.empty()},        {"row_numbers", pool.row_numbers}};
}

// They must cover the columns, in order.
std::vector<FeatureGroup> read_groups(const JsonFields& columns, size_t features) {
  std::vector<FeatureGroup> made;
  size_t next = 0;
  for (const JsonFields& fields : columns.objects("groups")) {
    FeatureGroup group{.name = fields.text("name"),
                       .first = fields.count("first"),
                       .count = fields.count("count"),
                       .kind = fields.word("kind", column_kinds()) == 1 ? ColumnKind::categorical : ColumnKind::numeric,
                       .levels = fields.texts("levels")};
    if (group.first != next || group.count == 0 || group.count > features - next) {
      fields.fail(fmt::format("a group that starts at column {} of {}", next, features),
                  fmt::format("{} columns from {} on", group.count, group.first));
    }
    next += group.count;
    made.push_back(std::move(group));
  }
  // Rows of arrays have no groups.
  if (next != features && !made.empty()) {
    columns.fail(fmt::format("groups of all {} columns", features), fmt::format("groups of {}", next));
  }
  return made;
}

std::vector<size_t> read_shape(const JsonFields& columns, size_t features) {
  std::vector<size_t> shape;
  size_t product = 1;
  for (const double size : columns.numbers("item_shape")) {
    const bool whole = size >= 1 && size <= static_cast<double>(features) && size == std::trunc(size);
    if (whole) product *= static_cast<size_t>(size);
    if (!whole || product > features) columns.fail(fmt::format("an item_shape of {} numbers", features), "another");
    shape.push_back(static_cast<size_t>(size));
  }
  if (!shape.empty() && product != features) {
    columns.fail(fmt::format("an item_shape of {} numbers", features), fmt::format("one of {}", product));
  }
  return shape;
}

std::shared_ptr<Dataset> read_pool(const JsonFields& fields, const Dataset& columns) {
  auto pool = std::make_shared<Dataset>(columns);
  pool->source = fields.text("source");
  pool->part = fields.text("part");
  pool->label_name = fields.text("label_name");
  pool->class_names = fields.texts("class_names");
  pool->id_name = fields.text("id_name");
  pool->row_numbers = fields.flag("row_numbers");
  return pool;
}

void read_texts_of_columns(const JsonFields& model, size_t features, SavedExplainer& saved) {
  for (const JsonFields& fields : model.objects("texts")) {
    const size_t column = fields.count("column");
    std::vector<std::string> texts = fields.texts("texts");
    const std::set<std::string_view> different(texts.begin(), texts.end());
    if (column >= features || saved.texts.contains(column) || different.size() != texts.size()) {
      fields.fail("each column and each of its texts once", fmt::format("others for column {}", column));
    }
    saved.texts[column] = std::move(texts);
  }
}

}  // namespace

std::string explainer_json(std::string_view where, const SavedExplainer& saved) {
  const Reference& reference = saved.reference;
  const size_t target = !saved.choice ? 2 : saved.choice->predicted ? 1 : 0;
  const Json made = {
      {"schema", kExplainerSchema},
      {"version", kVersion},
      {"model",
       {{"name", saved.model_name},
        {"sha256", sha256_hex(saved.model)},
        {"unit", saved.unit},
        {"texts", texts_of_columns(saved)}}},
      {"method", saved.method.name},
      {"options", pairs_json(saved.method.options)},
      {"seed", saved.seed},
      {"target", {{"kind", target_kinds()[target]}, {"which", saved.choice ? saved.choice->which : 0}}},
      {"columns",
       {{"names", saved.columns.feature_names},
        {"groups", groups_json(saved.columns.groups)},
        {"item_shape", saved.columns.item_shape}}},
      {"players", {{"names", saved.players.names}, {"words", saved.words.players}}},
      {"reference",
       {{"description", reference.description},
        {"rows", !reference.rows.empty()},
        {"scales", !reference.scales.empty()},
        {"strata", reference.strata},
        {"drawn_from", reference.drawn_from}}},
      {"pool_words", saved.words.pool},
      {"pool", saved.pool != nullptr ? pool_json(*saved.pool) : Json()},
      {"front_end", saved.front_end},
  };
  try {
    return made.dump();
  } catch (const Json::exception&) {
    fail_input(where, "UTF-8 text in names", "other bytes");
  }
}

SavedArrays read_explainer_json(const std::string& where, std::string_view text, SavedExplainer& saved) {
  const JsonRead document = parsed_json(where, text, kExplainerDepth);
  const JsonFields fields(where, document);
  fields.require_schema(kExplainerSchema);
  SavedArrays arrays;
  const JsonFields columns = fields.object("columns");
  saved.columns.feature_names = columns.texts("names");
  const size_t features = saved.columns.feature_names.size();
  if (features == 0 || features > kMostColumns) {
    columns.fail(fmt::format("1 to {} names", kMostColumns), fmt::format("{}", features));
  }
  saved.columns.groups = read_groups(columns, features);
  saved.columns.item_shape = read_shape(columns, features);
  const JsonFields model = fields.object("model");
  saved.model_name = model.text("name");
  arrays.model_sha256 = model.sha256("sha256");
  saved.unit = model.text("unit");
  read_texts_of_columns(model, features, saved);
  saved.method = {fields.text("method"), fields.pairs("options")};
  saved.seed = fields.count("seed");
  const JsonFields target = fields.object("target");
  const size_t kind = target.word("kind", target_kinds());
  if (kind != 2) saved.choice = TargetChoice{.predicted = kind == 1, .which = target.count("which")};
  const JsonFields players = fields.object("players");
  saved.players.names = players.texts("names");
  saved.words.players = players.text("words");
  const JsonFields reference = fields.object("reference");
  saved.reference.description = reference.text("description");
  saved.reference.strata = reference.flag("strata");
  saved.reference.drawn_from = reference.count("drawn_from");
  arrays.reference = reference.flag("rows");
  arrays.scales = reference.flag("scales");
  saved.words.pool = fields.text("pool_words");
  if (fields.has_value("pool")) {
    const JsonFields pool = fields.object("pool");
    saved.pool = read_pool(pool, saved.columns);
    arrays.labels = pool.flag("labels");
    arrays.ids = pool.flag("ids");
  }
  saved.front_end = fields.text("front_end");
  return arrays;
}

}  // namespace assay
