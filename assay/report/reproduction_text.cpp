#include "assay/report/reproduction_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/study/reproduce/runs.h"

namespace assay {
namespace {

constexpr size_t kTextWidth = 100;

// Breaks a text into lines. The first begins with `first`, the others with as many blanks.
std::string wrapped_after(std::string_view text, const std::string& first) {
  const std::string words = one_line(text);
  const std::string blanks(first.size(), ' ');
  std::string out;
  std::string line = first;
  size_t begin = 0;
  while (begin < words.size()) {
    const size_t end = std::min(words.find(' ', begin), words.size());
    const std::string_view word = std::string_view(words).substr(begin, end - begin);
    if (line.size() > blanks.size() && line.size() + 1 + word.size() > kTextWidth) {
      out += line + '\n';
      line = blanks;
    }
    if (line.size() > blanks.size()) line += ' ';
    line += word;
    begin = end + 1;
  }
  return out + line + '\n';
}

std::string numbers_table(const Reproduction& made) {
  std::vector<std::vector<std::string>> rows = {
      {"table", "data", "row", "column", "paper", "ours", "95 % interval", "runs", "coverage"}};
  for (const Cell& cell : made.results.cells()) {
    if (!cell.key.variant.empty()) continue;
    const RunSummary summary = summarise_runs(cell.values);
    const std::string interval =
        std::isnan(summary.interval.low)
            ? "-"
            : fmt::format("{} to {}", short_number(summary.interval.low), short_number(summary.interval.high));
    rows.push_back({cell.key.table, short_name(cell.key.data), cell.key.row, cell.key.column,
                    short_number(paper_cell(cell.key).value), short_number(summary.mean), interval,
                    fmt::format("{}", summary.runs),
                    fmt::format("{:.3g} %", 100 * summarise_runs(cell.coverages).mean)});
  }
  return aligned(rows, {0, 1, 2, 3});
}

}  // namespace

std::string reproduction_escaped(std::string_view text) {
  std::string out;
  for (const char c : one_line(text)) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (std::string_view("\\`*_[]|#~$").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string our_number(const Results& results, const CellKey& key, double factor, int digits) {
  const Cell* cell = results.find(key);
  if (cell == nullptr) return "-";
  const RunSummary summary = summarise_runs(cell->values);
  if (std::isnan(summary.mean)) return "-";
  if (std::isnan(summary.interval.low)) return fmt::format("{:.{}f}", factor * summary.mean, digits);
  return fmt::format("{:.{}f} +- {:.{}f}", factor * summary.mean, digits, factor * summary.reach(), digits);
}

std::string verdict_lines(const std::vector<Claim>& claims) {
  std::string out;
  using enum Verdict;
  for (const Verdict verdict : {holds, partly, fails, paper_disagrees, by_construction, cannot_be_tested}) {
    std::string texts;
    size_t count = 0;
    for (const Claim& claim : claims) {
      if (claim.verdict != verdict || claim.post_hoc) continue;
      const bool in_part = verdict == partly || verdict == paper_disagrees;
      texts += fmt::format("{}{}{}", count++ == 0 ? "" : "; ", reproduction_escaped(claim.text),
                           in_part ? fmt::format(" ({} of {} comparisons here)", claim.holding, claim.compared) : "");
    }
    if (count > 0) out += fmt::format("- **{}** ({}): {}.\n", verdict_name(verdict), count, texts);
  }
  return out;
}

std::string reproduction_text(const Reproduction& made) {
  std::string out = "claims\n";
  for (const Claim& claim : made.claims) {
    out += wrapped_after(fmt::format("{}: {} (section {}{})", verdict_name(claim.verdict), claim.text, claim.section,
                                     claim.post_hoc ? ", post hoc" : ""),
                         "- ");
    out += wrapped_after(claim.evidence, "    ");
    if (!claim.remark.empty()) out += wrapped_after(claim.remark, "    ");
  }
  if (!made.results.cells().empty()) out += "\nnumbers of the set-up\n" + numbers_table(made);
  for (const std::string& note : made.notes) out += wrapped_after(note, "note: ");
  return out;
}

}  // namespace assay
