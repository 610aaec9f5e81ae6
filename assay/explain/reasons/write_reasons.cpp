#include "assay/explain/reasons/write_reasons.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/io/bytes.h"
#include "assay/data/table_io.h"
#include "assay/explain/explanations.h"

namespace assay {
namespace {

using nlohmann::ordered_json;

constexpr size_t kRank = 0;
constexpr size_t kFeature = 1;
constexpr size_t kValue = 2;
constexpr size_t kDirection = 3;
constexpr size_t kFirstNumber = 4;  // attribution, share, certainty, order_certainty, agreement
constexpr size_t kWithheld = 9;
constexpr size_t kText = 10;

bool is_text_column(size_t column) {
  return column == kFeature || column == kValue || column == kDirection || column == kWithheld || column == kText;
}

std::vector<double> numbers_of(const Reason& reason) {
  return {reason.attribution, reason.share, reason.certainty, reason.order_certainty, reason.agreement};
}

// By column of texts; empty for columns of numbers.
std::vector<std::string> texts_of(const Reasons& reasons, const Reason& reason) {
  std::vector<std::string> texts(reason_columns().size());
  if (reason.rank > 0) texts[kFeature] = reasons.features[reason.player];
  texts[kValue] = reason.value;
  texts[kDirection] = direction_name(reasons.direction);
  texts[kWithheld] = withheld_text(reasons, reason);
  texts[kText] = reason.text;
  return texts;
}

}  // namespace

std::vector<std::string> reason_columns() {
  return {"rank",      "feature",         "value",     "direction", "attribution", "share",
          "certainty", "order_certainty", "agreement", "withheld",  "text"};
}

std::string withheld_text(const Reasons& reasons, const Reason& reason) {
  std::string text;
  for (const size_t each : reason.withheld) {
    fmt::format_to(std::back_inserter(text), "{}{}", text.empty() ? "" : "; ", reasons.features[each]);
  }
  return text;
}

Table reasons_table(const Reasons& reasons) {
  Table table;
  const std::vector<std::string> names = reason_columns();
  for (size_t j = 0; j < names.size(); j++) {
    table.columns.push_back({names[j], is_text_column(j) ? ColumnKind::categorical : ColumnKind::numeric});
  }
  table.values = Matrix(reasons.list.size(), names.size());
  std::vector<LevelCodes> codes(names.size());
  for (size_t i = 0; i < reasons.list.size(); i++) {
    const Reason& reason = reasons.list[i];
    const std::span<float> row = table.values.row(i);
    row[kRank] = static_cast<float>(reason.rank);
    const std::vector<double> numbers = numbers_of(reason);
    for (size_t n = 0; n < numbers.size(); n++) row[kFirstNumber + n] = static_cast<float>(numbers[n]);
    const std::vector<std::string> texts = texts_of(reasons, reason);
    for (size_t j = 0; j < names.size(); j++) {
      if (is_text_column(j)) row[j] = texts[j].empty() ? kMissing : codes[j].code_of(texts[j]);
    }
    table.ids.push_back(reasons.row_name(reason.row));
  }
  for (size_t j = 0; j < names.size(); j++) {
    if (!is_text_column(j)) continue;
    table.columns[j].levels = codes[j].in_order_of_code();
    sort_levels(table, j);
  }
  table.id_name = reasons.row_column();
  return table;
}

std::string reasons_json(std::string_view where, const Reasons& reasons) {
  const auto number = [](double value) { return std::isfinite(value) ? ordered_json(value) : ordered_json(); };
  ordered_json list = ordered_json::array();
  const std::vector<std::string> names = reason_columns();
  for (const Reason& reason : reasons.list) {
    ordered_json line;
    line[reasons.row_column()] =
        reasons.ids.empty() ? ordered_json(reason.row + 1) : ordered_json(reasons.ids[reason.row]);
    const std::vector<std::string> texts = texts_of(reasons, reason);
    const std::vector<double> numbers = numbers_of(reason);
    for (size_t j = 0; j < names.size(); j++) {
      if (is_text_column(j)) {
        line[names[j]] = texts[j].empty() ? ordered_json() : ordered_json(texts[j]);
      } else {
        line[names[j]] = j == kRank ? ordered_json(reason.rank) : number(numbers[j - kFirstNumber]);
      }
    }
    list.push_back(std::move(line));
  }
  const ordered_json document = {{"direction", direction_name(reasons.direction)},
                                 {"top", reasons.top},
                                 {"method", reasons.method},
                                 {"replicates", reasons.replicates},
                                 {"notes", reasons.notes},
                                 {"reasons", std::move(list)}};
  try {
    return document.dump(1);
  } catch (const ordered_json::exception&) {
    fail_input(where, "UTF-8 text in names and values", "other bytes");
  }
}

void check_reasons_output(const std::string& path) {
  if (path != "-" && format_extension(path) == ".npz") {
    fail_input(path, "a name that ends in .csv, .tsv, .parquet, .feather or .json", "'.npz'");
  }
  check_explanations_output(path);
}

void write_reasons(const Reasons& reasons, const std::string& path, const Context& context) {
  if (path == "-" || format_extension(path) != ".json") return write_table(reasons_table(reasons), path, context);
  AtomicFile file(path, context);
  file.write(reasons_json(path, reasons));
  file.write("\n");
  file.commit();
}

}  // namespace assay
