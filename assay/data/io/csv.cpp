#include "assay/data/io/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_set>

#include "assay/core/error.h"
#include "assay/data/io/csv_rows.h"
#include "assay/data/io/number.h"

namespace assay {
namespace {

constexpr size_t kScoutedRows = 1000;
constexpr size_t kRowsBetweenReports = 4096;  // of progress, and looks whether to stop

enum class Role { numeric, categorical, id };

// What is known of a column before its cells are read.
struct ColumnPlan {
  std::string name;
  Role role = Role::numeric;
  bool declared = false;
};

struct Plan {
  std::vector<ColumnPlan> columns;
  bool has_header = false;
  bool has_index = false;  // the first column has no name, and names the rows
  char delimiter = '\0';
};

bool counts_upwards(std::span<const std::string_view> cells) {
  if (cells.size() < 2) return false;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] != std::to_string(i)) return false;
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
      : open_(open), options_(options), context_(context) {
    for (const std::string& word : options.missing) {
      if (const auto number = parse_number(word); number && std::isfinite(number->value)) {
        missing_numbers_.push_back(parse_double(word));
      }
    }
  }

  Table read() {
    scout();
    // A column that turns out to be categorical late sends us back once: the failed pass went on to find all of them.
    if (!fill()) {
      const bool filled = fill();
      if (!filled) throw Error(ErrorKind::internal, table_.source + ": its columns changed between two passes");
    }
    finish();
    return std::move(table_);
  }

 private:
  // In quotes there is text, also where it is empty; among numbers an empty text can only mean that there is none.
  bool missing(const CsvRows& rows, size_t column) const {
    const std::string_view cell = rows.cells()[column];
    if (rows.quoted_cell(column)) return cell.empty() && plan_.columns[column].role == Role::numeric;
    return std::ranges::find(options_.missing, cell) != options_.missing.end();
  }

  // In quotes "inf" and "nan" are words.
  static std::optional<ParsedNumber> number_in(const CsvRows& rows, size_t column) {
    auto number = parse_number(rows.cells()[column]);
    if (number && rows.quoted_cell(column) && !std::isfinite(number->value)) number.reset();
    return number;
  }

  // Reads the header and enough rows to guess the kind of each column.
  void scout() {
    CsvRows rows(open_(), options_.delimiter, options_.skip_lines);
    plan_.delimiter = rows.delimiter();
    table_.source = rows.name();
    if (!rows.next()) fail_input(rows.name(), "a table with at least one row", "an empty file");
    plan_.columns.resize(rows.cells().size());
    const bool unsure = options_.header == TableOptions::Header::detect && options_.names.empty();
    plan_.has_header = unsure ? looks_like_header(rows.cells()) : options_.header == TableOptions::Header::yes;
    name_columns(rows);
    apply_options(rows.name());

    bool any = !plan_.has_header || rows.next();
    if (!any) fail_input(rows.name(), "at least one row below the header", "none");
    for (size_t row = 0; any && row < kScoutedRows; ++row, any = rows.next()) {
      for (size_t j = 0; j < plan_.columns.size(); ++j) {
        auto& column = plan_.columns[j];
        if (column.declared || column.role != Role::numeric || missing(rows, j)) continue;
        if (!number_in(rows, j)) column.role = Role::categorical;
      }
    }
  }

  void name_columns(const CsvRows& rows) {
    if (!options_.names.empty() && options_.names.size() != plan_.columns.size()) {
      fail_input(rows.where(), fmt::format("{} cells, one for each name", options_.names.size()),
                 fmt::format("{}", plan_.columns.size()));
    }
    std::unordered_set<std::string> seen;
    for (size_t j = 0; j < plan_.columns.size(); ++j) {
      auto& column = plan_.columns[j];
      if (!options_.names.empty()) {
        column.name = options_.names[j];
      } else {
        column.name = plan_.has_header ? std::string(rows.cells()[j]) : fmt::format("x{}", j + 1);
      }
      if (column.name.empty() && j == 0 && plan_.columns.size() > 1) {
        // pandas writes the index of a DataFrame so: it names the rows.
        column.name = "index";
        plan_.has_index = true;
      }
      if (column.name.empty()) fail_input(rows.where(j), "the name of the column", "an empty cell");
      if (!seen.insert(column.name).second) {
        fail_input(rows.where(j), "a name no other column has", in_quotes(column.name) + " again");
      }
    }
  }

  void apply_options(const std::string& file) {
    std::vector<std::string> names;
    for (const auto& column : plan_.columns) names.push_back(column.name);
    const auto declare = [&](const std::vector<std::string>& wanted, Role role) {
      for (const auto& name : wanted) {
        auto& column = plan_.columns[find_column(file, names, name)];
        if (column.declared && column.role != role) {
          fail_input(
              fmt::format("{}: column {} is declared twice, with different kinds", file, in_quotes(column.name)));
        }
        column.role = role;
        column.declared = true;
      }
    };
    declare(options_.numeric, Role::numeric);
    declare(options_.categorical, Role::categorical);
    if (!options_.id.empty()) {
      declare({options_.id}, Role::id);
      table_.id_name = names[find_column(file, names, options_.id)];
    } else if (plan_.has_index && !plan_.columns[0].declared) {
      declare({names[0]}, Role::id);
      table_.id_name = names[0];
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
    for (size_t j = 0; j < plan_.columns.size(); ++j) {
      auto& column = plan_.columns[j];
      std::string underscored = column.name;
      std::ranges::replace(underscored, ' ', '_');
      const auto& texts = options_.texts;
      const bool named =
          std::ranges::find(texts, column.name) != texts.end() || std::ranges::find(texts, underscored) != texts.end();
      if (column.declared || !(named || options_.all_texts) || label_ == j) continue;
      column.role = Role::categorical;
      column.declared = true;
    }
  }

  // Reads all rows. False when a column was found to be categorical after all: its plan is corrected, and so are those
  // of all other such columns.
  bool fill() {
    CsvRows rows(open_(), plan_.delimiter, options_.skip_lines);
    if (plan_.has_header) rows.next();
    const size_t width = plan_.columns.size();
    const bool has_id = !table_.id_name.empty();
    table_.values = Matrix(0, width - (has_id ? 1 : 0));
    table_.ids.clear();
    levels_.assign(width, LevelCodes());
    rounded_.assign(width, 0);
    doubles_.assign(width, {});
    bool kinds_hold = true;
    std::optional<uint64_t> unread = rows.remaining();
    ProgressScope progress(unread ? context_ : Context{}, "reading " + rows.name(), unread.value_or(0));
    for (size_t row = 1; rows.next(); ++row) {
      if (row % kRowsBetweenReports == 0) {
        context_.check_cancelled();
        if (unread) progress.advance(*unread - *rows.remaining());
        unread = rows.remaining();
      }
      if (rows.cells().size() != width) fail_input(rows.name(), "a file that does not change", "one that did");
      float* out = kinds_hold ? table_.values.append_row().data() : nullptr;
      for (size_t j = 0; j < width; ++j) {
        if (plan_.columns[j].role == Role::id) {
          table_.ids.emplace_back(rows.cells()[j]);
        } else if (const auto value = cell_value(rows, j); !value) {
          kinds_hold = false;
          table_.values = Matrix(0, table_.values.cols());
          out = nullptr;
        } else if (out != nullptr) {
          if (options_.doubles != nullptr && plan_.columns[j].role == Role::numeric && !std::isnan(*value)) {
            const auto column = static_cast<size_t>(out - table_.values.row(row - 1).data());
            keep_double(doubles_[j], table_.values.view(), row - 1, column, parse_double(rows.cells()[j]));
          }
          *out++ = *value;
        }
      }
    }
    return kinds_hold;
  }

  // The value of a cell, or nothing when its column has just been found to be categorical.
  std::optional<float> cell_value(const CsvRows& rows, size_t j) {
    auto& column = plan_.columns[j];
    const std::string_view cell = rows.cells()[j];
    if (column.role == Role::numeric) {
      // Numbers first, because most cells are; what "nan" gives is missing all the same.
      if (const auto number = number_in(rows, j)) {
        if (!missing_numbers_.empty() && std::ranges::count(missing_numbers_, parse_double(cell)) > 0) return kMissing;
        if (number->rounded) ++rounded_[j];
        return number->value;
      }
      if (missing(rows, j)) return kMissing;
      if (column.declared) fail_input(rows.where(j, column.name), "a number (float32)", in_quotes(cell));
      column.role = Role::categorical;
      return std::nullopt;
    }
    if (missing(rows, j)) return kMissing;
    const float code = levels_[j].code_of(cell);
    if (levels_[j].size() > kMostLevels) {
      fail_input(rows.where(j, column.name), "at most 2^24 different categories", "more (is this an id column?)");
    }
    return code;
  }

  // Numbers that are written with commas would be categories, or names of rows, without a word.
  void refuse_number_commas(size_t column) const {
    const ColumnPlan& plan = plan_.columns[column];
    if (plan.declared || plan.role != Role::categorical) return;
    const std::vector<std::string> levels = levels_[column].in_order_of_code();
    const auto with_comma = std::ranges::find_if(levels, has_number_commas);
    const auto is_number = [](const std::string& level) { return has_number_commas(level) || parse_number(level); };
    if (with_comma == levels.end() || !std::ranges::all_of(levels, is_number)) return;
    fail_input(fmt::format("{}, column {}", table_.source, in_quotes(plan.name)),
               "numbers with a decimal point and nothing between thousands (or a column that is declared categorical)",
               in_quotes(*with_comma));
  }

  void finish() {
    table_.values.shrink_to_fit();
    for (size_t j = 0; j < plan_.columns.size(); ++j) {
      const auto& plan = plan_.columns[j];
      if (plan.role == Role::id) continue;
      refuse_number_commas(j);
      if (label_ == j) table_.label = table_.columns.size();
      Column column;
      column.name = plan.name;
      column.kind = plan.role == Role::categorical ? ColumnKind::categorical : ColumnKind::numeric;
      column.levels = levels_[j].in_order_of_code();
      column.rounded = rounded_[j];
      table_.columns.push_back(std::move(column));
      if (options_.doubles == nullptr || plan.role != Role::numeric) continue;
      finish_doubles(doubles_[j], table_.values.view(), table_.columns.size() - 1);
      options_.doubles->set(plan.name, std::move(doubles_[j]));
    }
    for (size_t j = 0; j < table_.columns.size(); ++j) sort_levels(table_, j);
  }

  const ByteOpener& open_;
  const TableOptions& options_;
  const Context& context_;
  // Numbers that stand for missing cells ("-999"), however a cell writes them ("-999.0").
  std::vector<double> missing_numbers_;
  Plan plan_;
  Table table_;
  std::optional<size_t> label_;
  std::vector<LevelCodes> levels_;
  std::vector<size_t> rounded_;
  std::vector<std::vector<double>> doubles_;
};

// A cell of text, in quotes where reading it back would otherwise give something else.
void append_text(std::string& out, std::string_view text) {
  static const TableOptions defaults;
  const bool ambiguous = text.empty() || std::ranges::find(defaults.missing, text) != defaults.missing.end();
  if (!ambiguous && text.find_first_of(",;|\t\"\r\n") == std::string_view::npos && text.front() != ' ' &&
      text.back() != ' ') {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace

Table read_csv(const ByteOpener& open, const TableOptions& options, const Context& context) {
  return TableReader(open, options, context).read();
}

void write_csv(const Table& table, const std::string& path, const Context& context) {
  const std::string extension = format_extension(path);
  const char delimiter = extension == ".tsv" ? '\t' : extension == ".psv" ? '|' : ',';
  constexpr size_t kFlush = size_t{1} << 16;
  AtomicFile file(path, context);
  std::string text;
  const bool has_ids = !table.id_name.empty();
  if (has_ids) append_text(text, table.id_name);
  for (size_t j = 0; j < table.columns.size(); ++j) {
    if (has_ids || j > 0) text += delimiter;
    append_text(text, table.columns[j].name);
  }
  text += '\n';
  ProgressScope progress(context, "writing " + path, table.rows());
  for (size_t i = 0; i < table.rows(); ++i) {
    if (i % kRowsBetweenReports == kRowsBetweenReports - 1) {
      context.check_cancelled();
      progress.advance(kRowsBetweenReports);
    }
    if (has_ids) append_text(text, table.ids[i]);
    for (size_t j = 0; j < table.columns.size(); ++j) {
      if (has_ids || j > 0) text += delimiter;
      const float value = table.values(i, j);
      if (std::isnan(value)) {
        // An empty cell alone on its line would be a blank line, which readers skip.
        if (!has_ids && table.columns.size() == 1) text += "NA";
      } else if (table.columns[j].kind == ColumnKind::categorical) {
        append_text(text, table.columns[j].levels[static_cast<size_t>(value)]);
      } else {
        append_number(text, value);
      }
    }
    text += '\n';
    if (text.size() >= kFlush) {
      file.write(text);
      text.clear();
    }
  }
  file.write(text);
  file.commit();
}

}  // namespace assay
