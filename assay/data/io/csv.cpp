#include "assay/data/io/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "assay/core/error.h"
#include "assay/data/io/csv_body.h"
#include "assay/data/io/csv_rows.h"
#include "assay/data/io/number.h"

namespace assay {
namespace {

constexpr size_t kScoutedRows = 1000;

bool counts_upwards(std::span<const std::string_view> cells) {
  if (!cells.empty() && cells[0].empty()) cells = cells.subspan(1);  // above the index that pandas writes
  if (cells.size() < 2) return false;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] != std::to_string(i)) return false;
  }
  return true;
}

// 0, 1, 2, ...: what pandas gives every table that has no index of its own. It names nothing.
bool counts_rows(const std::vector<std::string>& ids) {
  for (size_t row = 0; row < ids.size(); ++row) {
    if (ids[row] != std::to_string(row)) return false;
  }
  return true;
}

bool looks_like_header(std::span<const std::string_view> cells) {
  const auto is_number = [](std::string_view cell) {
    const auto number = parse_number(cell);
    return number && std::isfinite(number->value);
  };
  return counts_upwards(cells) || std::ranges::none_of(cells, is_number);
}

// A number with a decimal comma ("12,5", "1.234,5") or with commas between thousands ("1,234,567.5").
bool has_number_commas(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const auto digits = [](std::string_view part) {
    return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  // Up to three digits, then groups of three.
  const auto grouped = [&](std::string_view part, char between) {
    size_t end = part.find(between);
    if (end == std::string_view::npos) return digits(part);
    if (end > 3 || !digits(part.substr(0, end))) return false;
    while (end != std::string_view::npos) {
      part.remove_prefix(end + 1);
      end = part.find(between);
      if (!digits(part.substr(0, end)) || std::min(end, part.size()) != 3) return false;
    }
    return true;
  };
  const size_t comma = text.rfind(',');
  if (comma == std::string_view::npos) return false;
  if (grouped(text.substr(0, comma), '.') && digits(text.substr(comma + 1))) return true;
  const size_t point = text.find('.', comma);
  return grouped(text.substr(0, point), ',') && (point == std::string_view::npos || digits(text.substr(point + 1)));
}

class TableReader {
 public:
  TableReader(const ByteOpener& open, const TableOptions& options, const Context& context)
      : open_(open), options_(options), context_(context), cells_(options) {}

  Table read() {
    scout();
    // A column that turns out to be categorical late sends us back once: the failed pass went on to find all of them.
    auto body = read_csv_body(open_, form_, cells_, context_);
    if (!body) body = read_csv_body(open_, form_, cells_, context_);
    if (!body) throw Error(ErrorKind::internal, table_.source + ": its columns changed between two passes");
    finish(std::move(*body));
    return std::move(table_);
  }

 private:
  // Reads the header and enough rows to guess the kind of each column.
  void scout() {
    CsvRows rows(open_(), options_.delimiter, options_.skip_lines);
    form_.delimiter = rows.delimiter();
    form_.skip_lines = options_.skip_lines;
    table_.source = rows.name();
    if (!rows.next()) fail_input(rows.name(), "a table with at least one row", "an empty file");
    form_.columns.resize(rows.cells().size());
    const bool unsure = options_.header == TableOptions::Header::detect && options_.names.empty();
    form_.has_header = unsure ? looks_like_header(rows.cells()) : options_.header == TableOptions::Header::yes;
    name_columns(rows);
    apply_options(rows.name());

    bool any = !form_.has_header || rows.next();
    if (!any) fail_input(rows.name(), "at least one row below the header", "none");
    for (size_t row = 0; any && row < kScoutedRows; ++row, any = rows.next()) {
      for (size_t j = 0; j < form_.columns.size(); ++j) {
        auto& column = form_.columns[j];
        if (column.declared || column.role != CsvRole::numeric) continue;
        const std::string_view cell = rows.cells()[j];
        const bool quoted = rows.quoted_cell(j);
        if (cells_.missing(cell, quoted, column.role) || CsvCells::number_in(cell, quoted)) continue;
        column.role = CsvRole::categorical;
      }
    }
  }

  void name_columns(const CsvRows& rows) {
    if (!options_.names.empty() && options_.names.size() != form_.columns.size()) {
      fail_input(rows.where(), fmt::format("{} cells, one for each name", options_.names.size()),
                 fmt::format("{}", form_.columns.size()));
    }
    std::unordered_set<std::string> seen;
    for (size_t j = 0; j < form_.columns.size(); ++j) {
      auto& column = form_.columns[j];
      if (!options_.names.empty()) {
        column.name = options_.names[j];
      } else {
        column.name = form_.has_header ? std::string(rows.cells()[j]) : fmt::format("x{}", j + 1);
      }
      if (column.name.empty() && j == 0 && form_.columns.size() > 1) {
        has_index_ = true;  // pandas writes the index of a DataFrame so: it names the rows
        continue;
      }
      if (column.name.empty()) fail_input(rows.where(j), "the name of the column", "an empty cell");
      if (!seen.insert(column.name).second) {
        fail_input(rows.where(j), "a name no other column has", in_quotes(column.name) + " again");
      }
    }
    // --id may ask for it by this name, unless another column has it.
    if (has_index_ && !seen.contains(kUnnamedIndex)) form_.columns[0].name = kUnnamedIndex;
  }

  void apply_options(const std::string& file) {
    std::vector<std::string> names;
    for (const auto& column : form_.columns) names.push_back(column.name);
    const auto declare = [&](const std::vector<std::string>& wanted, CsvRole role) {
      for (const auto& name : wanted) {
        auto& column = form_.columns[find_column(file, names, name)];
        if (column.declared && column.role != role) {
          fail_input(
              fmt::format("{}: column {} is declared twice, with different kinds", file, in_quotes(column.name)));
        }
        column.role = role;
        column.declared = true;
      }
    };
    declare(options_.numeric, CsvRole::numeric);
    declare(options_.categorical, CsvRole::categorical);
    if (!options_.id.empty()) {
      declare({options_.id}, CsvRole::id);
      table_.id_name = names[find_column(file, names, options_.id)];
    }
    if (has_index_ && !form_.columns[0].declared) {
      // Beside other names of rows, or a column of its name, it is nothing that a model should learn from.
      const bool names_rows = options_.id.empty() && form_.columns[0].name == kUnnamedIndex;
      form_.columns[0].role = names_rows ? CsvRole::id : CsvRole::left_out;
      form_.columns[0].declared = true;
      if (names_rows) table_.id_name = kUnnamedIndex;
    }
    if (!options_.label.empty()) {
      label_ = find_column(file, names, options_.label);
      if (names[*label_] == table_.id_name) {
        fail_input(fmt::format("{}: column {} cannot be both label and id", file, in_quotes(table_.id_name)));
      }
    }
    declare_texts();
  }

  void declare_texts() {
    for (size_t j = 0; j < form_.columns.size(); ++j) {
      auto& column = form_.columns[j];
      std::string underscored = column.name;
      std::ranges::replace(underscored, ' ', '_');
      const auto& texts = options_.texts;
      const bool named =
          std::ranges::find(texts, column.name) != texts.end() || std::ranges::find(texts, underscored) != texts.end();
      if (column.declared || !(named || options_.all_texts) || label_ == j) continue;
      column.role = CsvRole::categorical;
      column.declared = true;
    }
  }

  // Numbers that are written with commas would be categories, or names of rows, without a word.
  void refuse_number_commas(size_t column, const LevelCodes& codes) const {
    const CsvColumn& plan = form_.columns[column];
    if (plan.declared || plan.role != CsvRole::categorical) return;
    const std::vector<std::string> levels = codes.in_order_of_code();
    const auto with_comma = std::ranges::find_if(levels, has_number_commas);
    const auto is_number = [](const std::string& level) { return has_number_commas(level) || parse_number(level); };
    if (with_comma == levels.end() || !std::ranges::all_of(levels, is_number)) return;
    fail_input(fmt::format("{}, column {}", table_.source, in_quotes(plan.name)),
               "numbers with a decimal point and nothing between thousands (or a column that is declared categorical)",
               in_quotes(*with_comma));
  }

  void finish(CsvBody body) {
    table_.values = std::move(body.values);
    table_.values.shrink_to_fit();
    table_.ids = std::move(body.ids);
    if (has_index_ && options_.id.empty() && !table_.ids.empty() && counts_rows(table_.ids)) {
      table_.ids.clear();
      table_.id_name.clear();
    }
    for (size_t j = 0; j < form_.columns.size(); ++j) {
      const auto& plan = form_.columns[j];
      if (!has_values(plan.role)) continue;
      refuse_number_commas(j, body.levels[j]);
      if (label_ == j) table_.label = table_.columns.size();
      Column column;
      column.name = plan.name;
      column.kind = plan.role == CsvRole::categorical ? ColumnKind::categorical : ColumnKind::numeric;
      column.levels = body.levels[j].in_order_of_code();
      column.rounded = body.rounded[j];
      table_.columns.push_back(std::move(column));
      if (options_.doubles == nullptr || plan.role != CsvRole::numeric) continue;
      finish_doubles(body.doubles[j], table_.values.view(), table_.columns.size() - 1);
      options_.doubles->set(plan.name, std::move(body.doubles[j]));
    }
    for (size_t j = 0; j < table_.columns.size(); ++j) sort_levels(table_, j);
  }

  const ByteOpener& open_;
  const TableOptions& options_;
  const Context& context_;
  const CsvCells cells_;
  CsvForm form_;
  bool has_index_ = false;  // the first column has no name, and names the rows
  Table table_;
  std::optional<size_t> label_;
};

}  // namespace

Table read_csv(const ByteOpener& open, const TableOptions& options, const Context& context) {
  return TableReader(open, options, context).read();
}

}  // namespace assay
