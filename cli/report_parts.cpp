#include "cli/report_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/core/text.h"
#include "cli/terminal.h"

namespace assay::cli {
namespace {

// Most rows of a table that the terminal shows. JSON has all.
constexpr size_t kShownTableRows = 20;

}  // namespace

void print_tables(std::string_view of, const std::vector<ScoreTable>& tables, FILE* to, bool spread) {
  for (const ScoreTable& table : tables) {
    fmt::print(to, "\n{}, {}:\n", of, one_line(table.name));
    const bool named = !table.labels.empty();
    std::vector<std::vector<std::string>> lines(1);
    if (named) lines[0].emplace_back();
    for (const std::string& column : table.columns) lines[0].push_back(short_name(column));
    const size_t shown = std::min(table.rows.size(), kShownTableRows);
    for (size_t i = 0; i < shown; i++) {
      const size_t r = spread && shown > 1 ? i * (table.rows.size() - 1) / (shown - 1) : i;
      lines.emplace_back();
      if (named) lines.back().push_back(short_name(table.labels[r]));
      for (const double value : table.rows[r]) lines.back().push_back(number_text(value));
    }
    fmt::print(to, "{}", aligned(lines, named ? std::vector<size_t>{0} : std::vector<size_t>{}));
    if (shown < table.rows.size()) {
      fmt::print(to, "... {} more{} (--json has all)\n", with_commas(table.rows.size() - shown),
                 spread ? " between these" : "");
    }
  }
}

}  // namespace assay::cli
