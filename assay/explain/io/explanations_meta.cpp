#include "assay/explain/io/explanations_meta.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/io/json_depth.h"

namespace assay {
namespace {

using nlohmann::json;

constexpr std::string_view kKind = "explanations";

json parse(std::string_view where, std::string_view text) {
  // Our own is 2 deep.
  limit_json_depth(where, text, 6);
  try {
    return json::parse(text);
  } catch (const json::parse_error& problem) {
    fail_input(where, "JSON", fmt::format("an error at byte {}", problem.byte));
  } catch (const json::exception&) {
    fail_input(where, "JSON", "a number out of range");
  }
}

class MetaReader {
 public:
  MetaReader(std::string_view where, const json& meta) : where_(where), meta_(meta) {
    if (!meta.is_object()) fail("an object", meta);
  }

  std::string text(const json& object, const char* key) const {
    const auto found = object.find(key);
    if (found == object.end()) return {};
    if (!found->is_string()) fail(fmt::format("text as '{}'", key), *found);
    return found->get<std::string>();
  }
  uint64_t number(const char* key) const {
    const auto found = meta_.find(key);
    if (found == meta_.end()) return 0;
    if (!found->is_number_unsigned()) fail(fmt::format("a whole number as '{}'", key), *found);
    return found->get<uint64_t>();
  }
  bool flag(const json& object, const char* key) const {
    const auto found = object.find(key);
    if (found == object.end()) return false;
    if (!found->is_boolean()) fail(fmt::format("true or false as '{}'", key), *found);
    return found->get<bool>();
  }
  // An empty object where there is none.
  json object(const char* key) const {
    const auto found = meta_.find(key);
    if (found == meta_.end()) return json::object();
    if (!found->is_object()) fail(fmt::format("an object as '{}'", key), *found);
    return *found;
  }
  std::vector<std::string> texts(const json& object, const char* key) const {
    const auto found = object.find(key);
    if (found == object.end()) return {};
    if (!found->is_array()) fail(fmt::format("a list as '{}'", key), *found);
    std::vector<std::string> out;
    for (const json& each : *found) {
      if (!each.is_string()) fail(fmt::format("texts in '{}'", key), each);
      out.push_back(each.get<std::string>());
    }
    return out;
  }
  std::vector<std::vector<std::string>> lists_of_texts(const char* key) const {
    const auto found = meta_.find(key);
    if (found == meta_.end()) return {};
    if (!found->is_array()) fail(fmt::format("a list as '{}'", key), *found);
    std::vector<std::vector<std::string>> out;
    for (const json& each : *found) out.push_back(texts({{key, each}}, key));
    return out;
  }
  [[noreturn]] void fail(std::string_view expected, const json& found) const {
    fail_input(where_, expected, in_quotes(found.dump(-1, ' ', false, json::error_handler_t::replace)));
  }

 private:
  std::string_view where_;
  const json& meta_;
};

}  // namespace

std::string explanations_meta_text(std::string_view where, const Explanations& explanations) {
  const Provenance& made = explanations.provenance;
  json options = json::object();
  for (const auto& [name, value] : made.options) options[name] = value;
  json meta = {{"assay", kKind},
               {"method", made.method},
               {"options", options},
               {"seed", made.seed},
               {"unit", made.unit},
               {"target", made.target},
               {"model", made.model},
               {"data", made.data},
               {"players", made.players},
               {"reference", made.reference},
               {"versions", {{"assay", made.version}, {"vector_target", made.vector_target}}},
               {"evaluations", explanations.evaluations},
               {"sampled", !explanations.standard_error.empty()},
               {"notes", explanations.notes},
               {"id_name", explanations.id_name}};
  if (!made.draw.empty()) meta["draw"] = made.draw;
  if (!made.part.empty()) meta["part"] = made.part;
  if (!explanations.columns.empty()) meta["columns"] = explanations.columns;
  if (explanations.id_name == kRowNumbers) meta["row_numbers"] = explanations.row_numbers;
  const Combination& combination = explanations.combination;
  if (!combination.members.empty()) {
    meta["aggregate"] = {{"members", combination.members}, {"relative", combination.relative}};
  }
  try {
    return meta.dump();
  } catch (const json::exception&) {
    fail_input(where, "UTF-8 text in names and notes", "other bytes");
  }
}

void read_explanations_meta(std::string_view where, std::string_view text, Explanations& explanations) {
  const json meta = parse(where, text);
  const MetaReader reader(where, meta);
  if (const std::string kind = reader.text(meta, "assay"); kind != kKind) {
    fail_input(where, fmt::format("\"{}\" as 'assay'", kKind), in_quotes(kind));
  }
  Provenance& made = explanations.provenance;
  made.method = reader.text(meta, "method");
  const json options = reader.object("options");
  for (const auto& [name, value] : options.items()) {
    if (!value.is_string()) reader.fail(fmt::format("text as the option {}", in_quotes(name)), value);
    made.options.emplace_back(name, value.get<std::string>());
  }
  made.seed = reader.number("seed");
  made.unit = reader.text(meta, "unit");
  made.target = reader.text(meta, "target");
  made.model = reader.text(meta, "model");
  made.data = reader.text(meta, "data");
  made.players = reader.text(meta, "players");
  made.reference = reader.text(meta, "reference");
  made.draw = reader.text(meta, "draw");
  made.part = reader.text(meta, "part");
  explanations.columns = reader.lists_of_texts("columns");
  const json versions = reader.object("versions");
  made.version = reader.text(versions, "assay");
  made.vector_target = reader.text(versions, "vector_target");
  explanations.evaluations = reader.number("evaluations");
  explanations.notes = reader.texts(meta, "notes");
  explanations.id_name = reader.text(meta, "id_name");
  // Older files do not say it.
  explanations.row_numbers =
      explanations.id_name == kRowNumbers && (!meta.contains("row_numbers") || reader.flag(meta, "row_numbers"));
  const json aggregate = reader.object("aggregate");
  explanations.combination.members = reader.texts(aggregate, "members");
  explanations.combination.relative = reader.flag(aggregate, "relative");
  // Files always have an array of errors; without sampling there are none.
  if (!reader.flag(meta, "sampled")) explanations.standard_error = {};
}

bool is_explanations_meta(std::string_view text) {
  return text.starts_with('{') && text.find("\"assay\"") != std::string_view::npos;
}

}  // namespace assay
