#include <fmt/format.h>

#include <algorithm>

#include "assay/core/table_text.h"
#include "assay/report/reproduction_text.h"
#include "assay/study/reproduce/runs.h"

namespace assay {
namespace {

std::string annex_cell(const Cell* cell) {
  if (cell == nullptr) return "";
  const RunSummary summary = summarise_runs(cell->values);
  std::string out = short_number(summary.mean);
  if (!std::isnan(summary.interval.low)) {
    out += fmt::format(" ({} to {})", short_number(summary.interval.low), short_number(summary.interval.high));
  }
  const double coverage = summarise_runs(cell->coverages).mean;
  if (coverage < 1) out += fmt::format(", of {:.0f} %", 100 * coverage);
  return out;
}

// All cells of one table, one set and one variant, folded.
std::string set_table(const Reproduction& made, const std::string& variant, const std::string& table,
                      const std::string& data) {
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  const auto note = [](std::vector<std::string>& list, const std::string& name) {
    if (std::ranges::find(list, name) == list.end()) list.push_back(name);
  };
  for (const Cell& cell : made.results.cells()) {
    if (cell.key.variant != variant || cell.key.table != table || cell.key.data != data) continue;
    note(rows, cell.key.row);
    note(columns, cell.key.column);
  }
  if (rows.empty()) return "";
  std::string out = fmt::format("\n{}, {}\n\n| |", table, reproduction_escaped(data));
  std::string rule = "|---|";
  for (const std::string& column : columns) {
    out += fmt::format(" {} |", reproduction_escaped(column));
    rule += "---|";
  }
  out += "\n" + rule + "\n";
  for (const std::string& row : rows) {
    out += fmt::format("| {} |", reproduction_escaped(row));
    for (const std::string& column : columns) {
      out += fmt::format(" {} |", annex_cell(made.results.find({variant, table, data, row, column})));
    }
    out += "\n";
  }
  return out;
}

std::string variant_section(const Reproduction& made, const std::string& variant, const std::string& title) {
  std::string tables;
  for (const char* table : {"mnist", "faithfulness", "sensitivity", "ava"}) {
    for (const NetworkFacts& facts : made.networks) tables += set_table(made, variant, table, facts.data);
  }
  if (tables.empty()) return "";
  return fmt::format("\n<details><summary>{}</summary>\n{}\n</details>\n", title, tables);
}

std::string verdicts_table(const Reproduction& made) {
  std::string out =
      "\n### Verdicts under each variant\n\nWhat our numbers alone say, whether or not the paper's own table agrees. "
      "An "
      "empty cell: the variant does not touch the claim's table.\n\n| variant |";
  std::string rule = "|---|";
  for (const Claim& claim : made.claims) {
    out += fmt::format(" {}{} |", claim.id, claim.post_hoc ? " (post hoc)" : "");
    rule += "---|";
  }
  out += "\n" + rule + "\n";
  for (const std::string& variant : made.variants) {
    out += fmt::format("| {} |", variant.empty() ? "the declared set-up" : fmt::format("`{}`", variant));
    for (const Claim& claim : made.claims) {
      const auto found = claim.in_variants.find(variant);
      out += fmt::format(" {} |", found == claim.in_variants.end() ? "" : verdict_name(found->second));
    }
    out += "\n";
  }
  return out;
}

}  // namespace

std::string reproduction_annex(const Reproduction& made) {
  std::string out = fmt::format(
      "\n## Annex\n\nMeans over {} runs of the declared set-up and {} runs of each variant, with Student's 95 % "
      "interval. "
      "\"Of 40 %\": the share of rows with a score.\n",
      made.plan.runs, made.plan.variant_runs);
  for (const std::string& note : made.notes) out += fmt::format("\nNote: {}.\n", reproduction_escaped(note));
  out += verdicts_table(made);
  out += "\n### All numbers\n";
  for (const std::string& variant : made.variants) {
    out += variant_section(made, variant, variant.empty() ? "The declared set-up" : variant);
  }
  return out;
}

}  // namespace assay
