#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/data/io/csv.h"
#include "assay/data/io/number.h"

namespace assay {
namespace {

constexpr size_t kRowsBetweenReports = 4096;  // of progress, and looks whether to stop

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
