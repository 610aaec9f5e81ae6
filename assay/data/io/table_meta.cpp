#include "assay/data/io/table_meta.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "assay/core/error.h"
#include "assay/data/io/json_depth.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;
// What is read: keys in a tree, because the list that keeps their order takes quadratic time for many of them.
using JsonRead = nlohmann::json;

class MetaReader {
 public:
  MetaReader(std::string_view where, const std::string& text) : where_(where) {
    // A table's own text is 4 deep: the object, columns, a column, its levels.
    limit_json_depth(where, text, 6);
    try {
      json_ = JsonRead::parse(text);
    } catch (const JsonRead::parse_error& error) {
      fail("JSON", fmt::format("an error at byte {}", error.byte));
    } catch (const JsonRead::exception&) {
      fail("JSON", "a number out of range");
    }
  }

  void read_into(Table& table) const {
    if (text(member(json_, "assay"), "text as 'assay'") != "table") fail_value("\"table\" as 'assay'", json_["assay"]);
    std::unordered_set<std::string> names;
    for (const JsonRead& description : array(json_, "columns")) {
      table.columns.push_back(column(description));
      const std::string& name = table.columns.back().name;
      if (!names.insert(name).second) fail("columns of different names", in_quotes(name) + " twice");
    }
    if (const JsonRead& label = member(json_, "label"); !label.is_null()) {
      table.label = whole_number(label, "a column's index or null as 'label'");
      if (*table.label >= table.columns.size()) {
        fail_value(fmt::format("a label below {}, the number of columns", table.columns.size()), label);
      }
    }
    table.id_name = text(member(json_, "id"), "text as 'id'");
    for (const JsonRead& size : array(json_, "item_shape")) {
      table.item_shape.push_back(whole_number(size, "whole numbers in 'item_shape'"));
    }
    check_item_shape(table);
  }

 private:
  [[noreturn]] void fail(std::string_view expected, std::string_view found) const {
    fail_input(where_, expected, found);
  }
  [[noreturn]] void fail_value(std::string_view expected, const JsonRead& found) const {
    fail(expected, in_quotes(found.dump()));
  }
  const JsonRead& member(const JsonRead& object, const char* key) const {
    if (!object.is_object()) fail_value("an object", object);
    const auto found = object.find(key);
    if (found == object.end()) fail(fmt::format("the key '{}'", key), "none");
    return *found;
  }
  const JsonRead& array(const JsonRead& object, const char* key) const {
    const JsonRead& value = member(object, key);
    if (!value.is_array()) fail_value(fmt::format("an array as '{}'", key), value);
    return value;
  }
  std::string text(const JsonRead& value, std::string_view expected) const {
    if (!value.is_string()) fail_value(expected, value);
    return value.get<std::string>();
  }
  size_t whole_number(const JsonRead& value, std::string_view expected) const {
    if (!value.is_number_unsigned()) fail_value(expected, value);
    return value.get<size_t>();
  }

  Column column(const JsonRead& description) const {
    Column out;
    out.name = text(member(description, "name"), "text as a column's 'name'");
    const std::string kind = text(member(description, "kind"), "text as a column's 'kind'");
    if (kind != "numeric" && kind != "categorical") fail("a kind 'numeric' or 'categorical'", in_quotes(kind));
    out.kind = kind == "numeric" ? ColumnKind::numeric : ColumnKind::categorical;
    std::unordered_set<std::string> seen;
    for (const JsonRead& level : array(description, "levels")) {
      out.levels.push_back(text(level, "text in 'levels'"));
      if (!seen.insert(out.levels.back()).second) {
        fail("different levels in column " + in_quotes(out.name), in_quotes(out.levels.back()) + " twice");
      }
    }
    if (out.kind == ColumnKind::numeric && !out.levels.empty()) {
      fail("no levels in the numeric column " + in_quotes(out.name), fmt::format("{}", out.levels.size()));
    }
    if (description.contains("rounded")) {
      out.rounded = whole_number(description["rounded"], "a whole number as 'rounded'");
    }
    return out;
  }

  // The label is no part of an image.
  void check_item_shape(const Table& table) const {
    if (table.item_shape.empty()) return;
    size_t product = 1;
    bool fits = true;
    for (const size_t size : table.item_shape) {
      fits = fits && size > 0 && product <= table.columns.size() / size;
      if (fits) product *= size;
    }
    const size_t features = table.columns.size() - (table.label ? 1 : 0);
    if (!fits || (product != features && product != table.columns.size())) {
      fail_value(fmt::format("an 'item_shape' of {} values", features), json_["item_shape"]);
    }
  }

  std::string_view where_;
  JsonRead json_;
};

}  // namespace

std::string table_meta_text(std::string_view where, const Table& table) {
  Json columns = Json::array();
  for (const auto& column : table.columns) {
    Json description;
    description["name"] = column.name;
    description["kind"] = column.kind == ColumnKind::numeric ? "numeric" : "categorical";
    description["levels"] = column.levels;
    if (column.rounded > 0) description["rounded"] = column.rounded;
    columns.push_back(std::move(description));
  }
  Json meta;
  meta["assay"] = "table";
  meta["columns"] = std::move(columns);
  meta["label"] = table.label ? Json(*table.label) : Json(nullptr);
  meta["id"] = table.id_name;
  meta["item_shape"] = table.item_shape;
  try {
    return meta.dump();
  } catch (const Json::exception&) {
    fail_input(where, "UTF-8 text in names and levels", "other bytes");
  }
}

void read_table_meta(std::string_view where, const std::string& text, Table& table) {
  MetaReader(where, text).read_into(table);
}

}  // namespace assay
