#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "assay/core/error.h"
#include "assay/data/encoder.h"
#include "assay/data/io/json_depth.h"

namespace assay {
namespace {

using nlohmann::json;

constexpr int kFormat = 1;
constexpr size_t kDepth = 6;  // our own is 4 deep: the object, columns, a column, its levels

std::vector<std::string> distinct_strings(std::string_view where, const json& list) {
  auto out = list.get<std::vector<std::string>>();
  if (std::set<std::string>(out.begin(), out.end()).size() != out.size()) {
    fail_input(where, "levels that differ from each other", "one twice");
  }
  return out;
}

ColumnEncoding column_from(std::string_view where, const json& node) {
  ColumnEncoding column;
  column.name = node.at("name").get<std::string>();
  const std::string at = fmt::format("{}: encoder, column {}", where, in_quotes(column.name));
  const auto kind = node.at("kind").get<std::string>();
  column.fill = node.at("fill").is_null() ? std::numeric_limits<double>::quiet_NaN() : node.at("fill").get<double>();
  if (kind == "numeric") {
    column.shift = node.at("shift").get<double>();
    column.scale = node.at("scale").get<double>();
    if (!std::isfinite(column.shift) || !std::isfinite(column.scale) || column.scale == 0) {
      fail_input(at, "a finite shift and a scale that is not 0", fmt::format("{} and {}", column.shift, column.scale));
    }
    return column;
  }
  if (kind != "categorical") fail_input(at, "kind numeric or categorical", in_quotes(kind));
  column.kind = ColumnKind::categorical;
  column.levels = distinct_strings(at, node.at("levels"));
  column.missing_level = node.at("missing_level").get<bool>();
  column.one_hot = node.at("one_hot").get<bool>();
  if (column.one_hot && column.all_levels().empty()) fail_input(at, "at least one level", "none");
  const bool in_range = column.fill >= 0 && column.fill < static_cast<double>(column.levels.size()) &&
                        column.fill == std::trunc(column.fill);
  if (!std::isnan(column.fill) && !in_range) {
    fail_input(at, "the code of a level as its fill", fmt::format("{}", column.fill));
  }
  return column;
}

// The shape of one row: empty, or as many values as there are features.
std::vector<size_t> shape_from(std::string_view where, const json& list, size_t features) {
  std::vector<size_t> shape;
  size_t rest = features;
  for (const auto& length : list) {
    shape.push_back(length.is_number_unsigned() ? length.get<size_t>() : 0);
    // Dividing what is left, because a product could overflow.
    rest = shape.back() > 0 && rest % shape.back() == 0 ? rest / shape.back() : 0;
  }
  if (!shape.empty() && rest != 1) {
    fail_input(where, fmt::format("an encoder whose item_shape holds {} values", features), list.dump());
  }
  return shape;
}

}  // namespace

std::string Encoder::to_json() const {
  json columns = json::array();
  for (const auto& column : columns_) {
    json node = {{"name", column.name}};
    node["fill"] = std::isnan(column.fill) ? json() : json(column.fill);
    if (column.kind == ColumnKind::numeric) {
      node["kind"] = "numeric";
      node["shift"] = column.shift;
      node["scale"] = column.scale;
    } else {
      node["kind"] = "categorical";
      node["levels"] = column.levels;
      node["missing_level"] = column.missing_level;
      node["one_hot"] = column.one_hot;
    }
    columns.push_back(std::move(node));
  }
  return json{{"assay_encoder", kFormat},
              {"columns", columns},
              {"label", label_},
              {"classes", class_names_},
              {"item_shape", item_shape_}}
      .dump();
}

Encoder Encoder::from_json(std::string_view where, std::string_view text) {
  limit_json_depth(where, text, kDepth);
  try {
    const json document = json::parse(text);
    if (document.at("assay_encoder").get<int>() != kFormat) {
      fail_input(where, fmt::format("an encoder of format {}", kFormat), document.at("assay_encoder").dump());
    }
    Encoder encoder;
    std::set<std::string> names;
    for (const auto& node : document.at("columns")) {
      encoder.columns_.push_back(column_from(where, node));
      if (!names.insert(encoder.columns_.back().name).second) {
        fail_input(where, "an encoder with each column once", in_quotes(encoder.columns_.back().name) + " twice");
      }
    }
    encoder.label_ = document.at("label").get<std::string>();
    encoder.class_names_ = distinct_strings(where, document.at("classes"));
    encoder.item_shape_ = shape_from(where, document.at("item_shape"), encoder.feature_names().size());
    return encoder;
  } catch (const json::exception& problem) {
    fail_input(where, "an encoder as Assay writes it", problem.what());
  }
}

}  // namespace assay
