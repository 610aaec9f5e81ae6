#include "cli/reasons_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "assay/archive/io/json_parts.h"
#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/explain/reasons/write_reasons.h"

namespace assay::cli {
namespace {

std::string share_text(double share) { return std::isnan(share) ? "-" : fmt::format("{:.0f} %", 100 * share); }

// Never "1" for less than that.
std::string certainty_text(double certainty) {
  if (std::isnan(certainty)) return "-";
  return certainty == 1 ? "1" : fmt::format("{:.2f}", std::min(certainty, 0.99));
}

std::string reason_text(const Reasons& reasons, const Reason& reason) {
  if (reason.rank == 0) return fmt::format("(none; withheld: {})", one_line(withheld_text(reasons, reason)));
  return one_line(reason.text);
}

size_t rows_with_lines(const Reasons& reasons) {
  size_t count = 0;
  for (size_t i = 0; i < reasons.list.size(); i++) {
    count += i == 0 || reasons.list[i].row != reasons.list[i - 1].row ? 1 : 0;
  }
  return count;
}

}  // namespace

void print_reasons(const Reasons& reasons, const std::string& heading, size_t rows, double level, FILE* to) {
  fmt::print(to, "{}\n", one_line(heading));
  std::vector<std::vector<std::string>> lines = {
      {reasons.row_column(), "rank", "reason", "attribution", "share", "certainty", "order", "agreement"}};
  size_t shown = 0;
  for (size_t i = 0; i < reasons.list.size(); i++) {
    const Reason& each = reasons.list[i];
    const bool first = i == 0 || each.row != reasons.list[i - 1].row;
    if (first && shown++ == rows) break;
    lines.push_back({first ? one_line(reasons.row_name(each.row)) : "",
                     each.rank == 0 ? "-" : fmt::format("{}", each.rank), reason_text(reasons, each),
                     short_number(each.attribution), share_text(each.share),
                     fmt::format("{}{}", each.certainty < level ? "? " : "", certainty_text(each.certainty)),
                     certainty_text(each.order_certainty), certainty_text(each.agreement)});
  }
  if (lines.size() > 1) fmt::print(to, "{}", aligned(lines, {0, 2}));
  const size_t all = rows_with_lines(reasons);
  if (all > rows) fmt::print(to, "... {} more rows (--show sets how many are shown)\n", with_commas(all - rows));
  if (reasons.certainty_known) {
    const size_t uncertain = uncertain_rows(reasons, level).size();
    fmt::print(to, "{} of {} have a reason that is not certain at {:.4g} %{}\n", with_commas(uncertain),
               plural(reasons.rows, "row"), 100 * level,
               uncertain > 0 ? " (marked ?); --uncertain lists them alone" : "");
  }
  for (const std::string& note : reasons.notes) fmt::print(to, "note: {}\n", one_line(note));
}

std::string reasons_summary_json(const Reasons& reasons, double level, const std::string& path) {
  return dumped_lines(
      {{"out", path},
       {"direction", direction_name(reasons.direction)},
       {"top", reasons.top},
       {"method", reasons.method},
       {"rows", reasons.rows},
       {"reasons", reasons.list.size()},
       {"replicates", reasons.replicates},
       {"certain", level},
       {"uncertain_rows", reasons.certainty_known ? Json(uncertain_rows(reasons, level).size()) : Json()},
       {"notes", reasons.notes}});
}

}  // namespace assay::cli
