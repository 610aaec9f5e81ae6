#include "assay/archive/io/entry_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "assay/archive/io/json_parts.h"
#include "assay/core/error.h"

namespace assay {
namespace {

constexpr std::string_view kSchema = "assay.entry/1";
constexpr size_t kDepth = 10;  // files that we write are 7 deep
constexpr size_t kLongestStem = 200;

Json scores_json(const Scores& scores) {
  return {{"criterion", scores.criterion},
          {"options", pairs_json(scores.options)},
          {"direction", direction_name(scores.direction)},
          {"per", scores.of_rows ? "row" : "run"},
          {"mean", number(scores.mean)},
          {"stderr", number(scores.mean_error)},
          {"interval", interval_json(scores.interval)},
          {"coverage", number(scores.coverage)},
          {"dependent", scores.dependent},
          {"shared_stderr", number(scores.shared_error)},
          {"evaluations", scores.evaluations},
          {"undefined", undefined_json(scores.undefined)},
          {"notes", scores.notes},
          {"tables", tables_json(scores.tables)},
          {"values", numbers(scores.values)},
          {"values_stderr", numbers(scores.standard_error)}};
}

ScoreTable table_from(const JsonFields& fields) {
  ScoreTable table;
  table.name = fields.text("name");
  table.columns = fields.texts("columns");
  table.rows = fields.rows("rows", table.columns.size());
  if (fields.has("labels")) {
    table.labels = fields.texts("labels");
    if (table.labels.size() != table.rows.size()) {
      fields.fail(fmt::format("{} 'labels', one for each row", table.rows.size()),
                  fmt::format("{}", table.labels.size()));
    }
  }
  return table;
}

Scores scores_from(const JsonFields& fields) {
  Scores scores;
  scores.criterion = fields.text("criterion");
  scores.options = fields.pairs("options");
  const size_t direction = fields.word("direction", {"higher", "lower", "neither"});
  scores.direction = direction == 0 ? Direction::higher : direction == 1 ? Direction::lower : Direction::neither;
  scores.of_rows = fields.word("per", {"row", "run"}) == 0;
  scores.mean = fields.number("mean");
  scores.mean_error = fields.error("stderr");
  scores.interval = fields.interval("interval");
  scores.coverage = fields.share("coverage");
  scores.dependent = fields.flag("dependent");
  scores.shared_error = fields.error("shared_stderr");
  scores.evaluations = fields.count("evaluations");
  for (const JsonFields& each : fields.objects("undefined")) {
    scores.undefined.push_back({each.text("reason"), each.count("rows")});
  }
  scores.notes = fields.texts("notes");
  for (const JsonFields& each : fields.objects("tables")) scores.tables.push_back(table_from(each));
  scores.values = fields.numbers("values");
  scores.standard_error = fields.numbers("values_stderr");
  if (!scores.standard_error.empty() && scores.standard_error.size() != scores.values.size()) {
    fields.fail(fmt::format("{} 'values_stderr', one for each of 'values', or none", scores.values.size()),
                fmt::format("{}", scores.standard_error.size()));
  }
  return scores;
}

Curve curve_from(const JsonFields& fields) {
  Curve curve;
  curve.criterion = fields.text("criterion");
  curve.along = fields.text("along");
  curve.x = fields.numbers("x");
  curve.mean = fields.numbers("mean", curve.x.size(), "one for each of 'x'");
  curve.error = fields.numbers("stderr", curve.x.size(), "one for each of 'x'");
  curve.coverage = fields.numbers("coverage", curve.x.size(), "one for each of 'x'");
  for (const double share : curve.coverage) {
    if (!(share >= 0 && share <= 1)) fields.fail("numbers from 0 to 1 as 'coverage'", fmt::format("{}", share));
  }
  return curve;
}

Variation variation_from(const JsonFields& fields) {
  Variation variation;
  variation.what = fields.text("what");
  variation.value = fields.text("value");
  variation.criteria = fields.texts("criteria");
  variation.mean = fields.numbers("mean", variation.criteria.size(), "one for each of 'criteria'");
  return variation;
}

void require_equal_rows(std::string_view where, const std::vector<Scores>& all) {
  std::optional<size_t> rows;
  for (size_t i = 0; i < all.size(); i++) {
    if (!all[i].of_rows) continue;
    if (!rows) rows = all[i].values.size();
    if (all[i].values.size() != *rows) {
      fail_input(fmt::format("{}, 'scores' {}", where, i + 1), fmt::format("{} 'values', as before", *rows),
                 fmt::format("{}", all[i].values.size()));
    }
  }
}

}  // namespace

bool valid_stem(std::string_view stem) {
  return !stem.empty() && stem.size() <= kLongestStem && std::ranges::all_of(stem, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

std::string entry_json(const StudyEntry& entry) {
  const auto lines = [](const std::vector<std::string>& items) {
    return items.empty() ? std::string("[]") : fmt::format("[\n{}\n]", fmt::join(items, ",\n"));
  };
  std::vector<std::string> scores;
  for (const Scores& each : entry.scores) scores.push_back(dumped(scores_json(each)));
  // One line and one JSON document for each criterion, to save memory.
  return fmt::format(
      "{{\"schema\": \"{}\",\n\"name\": {},\n\"stem\": {},\n\"kind\": \"{}\",\n\"pool_rows\": {},\n\"evaluations\": "
      "{},\n"
      "\"trends\": {},\n\"scores\": {},\n\"curves\": {},\n\"variations\": {}}}\n",
      kSchema, dumped(Json(entry.name)), dumped(Json(entry.stem)), entry_kind_name(entry.kind), entry.pool_rows,
      entry.evaluations, dumped(numbers(entry.trends)), lines(scores), dumped(curves_json(entry.curves)),
      dumped(variations_json(entry.variations)));
}

StudyEntry entry_from_json(std::string_view where, std::string_view text) {
  const JsonRead document = parsed_json(where, text, kDepth);
  const JsonFields fields(std::string(where), document);
  fields.require_schema(kSchema);
  StudyEntry entry;
  entry.name = fields.text("name");
  entry.stem = fields.text("stem");
  if (!valid_stem(entry.stem)) {
    fields.fail(fmt::format("1 to {} letters, digits, _ and - as 'stem'", kLongestStem), in_quotes(entry.stem));
  }
  entry.kind = fields.word("kind", {"method", "aggregate"}) == 0 ? EntryKind::method : EntryKind::aggregate;
  entry.pool_rows = fields.count("pool_rows");
  entry.evaluations = fields.count("evaluations");
  if (fields.has("trends")) entry.trends = fields.numbers("trends");
  for (const JsonFields& each : fields.objects("scores")) entry.scores.push_back(scores_from(each));
  require_equal_rows(where, entry.scores);
  for (const JsonFields& each : fields.objects("curves")) entry.curves.push_back(curve_from(each));
  for (const JsonFields& each : fields.objects("variations")) entry.variations.push_back(variation_from(each));
  return entry;
}

}  // namespace assay
