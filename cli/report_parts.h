// Parts of what evaluate and aggregate show and write: numbers, counts, tables beside the results.
#pragma once

#include <cstddef>
#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/core/options.h"
#include "assay/evaluate/scores.h"

namespace assay::cli {

using Json = nlohmann::ordered_json;

// An item as it is written in a list: "faithfulness:subset=2".
std::string spec_text(const Spec& spec);

// "1 row", "2,000 rows".
std::string plural(size_t count, std::string_view what);
// As short_number, with infinities.
std::string number_text(double value);

// NaN is null, infinities are the strings "Infinity" and "-Infinity".
Json number(double value);
Json numbers(std::span<const double> values);
Json options_json(const std::vector<std::pair<std::string, std::string>>& options);
Json undefined_json(const std::vector<Undefined>& undefined);
Json tables_json(const std::vector<ScoreTable>& tables);
// A list of texts, as JSON.
std::string texts_json(const std::vector<std::string>& texts);
// On one line; what is no UTF-8 is replaced.
std::string dumped(const Json& json);

// Each table with its name and the first of its rows, or (spread) some from the first to the last.
void print_tables(std::string_view of, const std::vector<ScoreTable>& tables, FILE* to, bool spread = false);

}  // namespace assay::cli
