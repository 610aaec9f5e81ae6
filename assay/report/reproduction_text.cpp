#include "assay/report/reproduction_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "assay/archive/io/json_parts.h"
#include "assay/core/table_text.h"
#include "assay/core/text.h"

namespace assay {
namespace {

constexpr size_t kWidth = 100;
// How many of the paper's columns fit into one table of a page. Each takes two columns there.
constexpr size_t kColumnsSideBySide = 3;

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
    if (line.size() > blanks.size() && line.size() + 1 + word.size() > kWidth) {
      out += line;
      out += '\n';
      line = blanks;
    }
    if (line.size() > blanks.size()) line += ' ';
    line += word;
    begin = end + 1;
  }
  out += line;
  out += '\n';
  return out;
}

std::string paper_text(const Replication& number) {
  if (std::isnan(number.paper)) return "-";
  if (std::isnan(number.paper_spread)) return short_number(number.paper);
  return fmt::format("{} +- {}", short_number(number.paper), short_number(number.paper_spread));
}

std::string interval_text(const Replication& number) {
  if (std::isnan(number.interval.low)) return "-";
  return fmt::format("{} to {}", short_number(number.interval.low), short_number(number.interval.high));
}

bool is_partial(const Replication& number) { return number.coverage < 1; }

std::string coverage_text(const Replication& number) {
  return is_partial(number) ? fmt::format("{:.3g} %", 100 * number.coverage) : "100 %";
}

// Whether there is a column for coverage: only if some coverage is below 1.
std::string numbers_table(const std::vector<Replication>& numbers) {
  const bool partial = std::ranges::any_of(numbers, is_partial);
  std::vector<std::vector<std::string>> rows = {{"data", "method", "column", "paper", "ours", "95 % interval", "runs"}};
  if (partial) rows[0].emplace_back("coverage");
  for (const Replication& number : numbers) {
    rows.push_back({short_name(number.data), short_name(number.row), one_line(number.column), paper_text(number),
                    short_number(number.ours), interval_text(number), fmt::format("{}", number.runs)});
    if (partial) rows.back().push_back(coverage_text(number));
  }
  return aligned(rows, {0, 1, 2});
}

std::string table_text(const Reproduction& table) {
  std::string out = one_line(table.title) + "\n";
  if (!table.replications.empty()) out.append("\n").append(numbers_table(table.replications));
  if (!table.findings.empty()) out += "\nfindings\n";
  for (const Finding& finding : table.findings) {
    out += wrapped_after(fmt::format("{}: {}", finding_status_name(finding.status), finding.claim), "- ");
    out += wrapped_after(finding.evidence, "    ");
  }
  if (!table.protocol.empty()) out += "\nhow\n";
  for (const std::string& sentence : table.protocol) out += wrapped_after(sentence, "- ");
  for (const std::string& note : table.notes) out += wrapped_after(note, "note: ");
  return out;
}

// Escapes text for Markdown: no markup, no HTML, no end of a table cell.
std::string markdown_text(std::string_view text) {
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

// The distinct values of a field, in order of their first appearance.
template <class Field>
std::vector<std::string> distinct(const std::vector<Replication>& numbers, const Field& field) {
  std::vector<std::string> out;
  for (const Replication& number : numbers) {
    if (std::ranges::find(out, number.*field) == out.end()) out.push_back(number.*field);
  }
  return out;
}

const Replication* cell_of(const std::vector<Replication>& numbers, const std::string& row, const std::string& column) {
  const auto found =
      std::ranges::find_if(numbers, [&](const Replication& n) { return n.row == row && n.column == column; });
  return found == numbers.end() ? nullptr : &*found;
}

std::string our_cell(const Replication& number) {
  std::string out = short_number(number.ours);
  if (!std::isnan(number.interval.low)) out += fmt::format(" ({})", interval_text(number));
  if (is_partial(number)) out += fmt::format(", of {}", coverage_text(number));
  return out;
}

std::string pivot(const std::vector<Replication>& numbers, const std::vector<std::string>& columns) {
  std::string header = "| |";
  std::string rule = "|---|";
  std::vector<bool> has_paper;
  for (const std::string& column : columns) {
    has_paper.push_back(
        std::ranges::any_of(numbers, [&](const Replication& n) { return n.column == column && !std::isnan(n.paper); }));
    if (has_paper.back()) {
      header += fmt::format(" {}: paper | ours |", markdown_text(column));
      rule += "---|---|";
    } else {
      header += fmt::format(" {}: ours |", markdown_text(column));
      rule += "---|";
    }
  }
  std::string out = header + "\n" + rule + "\n";
  for (const std::string& row : distinct(numbers, &Replication::row)) {
    std::string line = fmt::format("| {} |", markdown_text(row));
    bool any = false;
    for (size_t c = 0; c < columns.size(); ++c) {
      const Replication* number = cell_of(numbers, row, columns[c]);
      any = any || number != nullptr;
      if (has_paper[c]) line += fmt::format(" {} |", number == nullptr ? "-" : paper_text(*number));
      line += fmt::format(" {} |", number == nullptr ? "-" : our_cell(*number));
    }
    if (any) out += line + "\n";
  }
  return out;
}

std::string set_markdown(const std::string& data, const std::vector<Replication>& numbers) {
  std::string out = fmt::format("\n### {}\n", markdown_text(data));
  size_t fewest = numbers.empty() ? 0 : numbers[0].runs;
  size_t most = fewest;
  for (const Replication& number : numbers) {
    fewest = std::min(fewest, number.runs);
    most = std::max(most, number.runs);
  }
  out += fewest == most ? fmt::format("\nMeans of {}.\n", plural(most, "run"))
                        : fmt::format("\nMeans of {} to {}.\n", fewest, plural(most, "run"));
  const std::vector<std::string> columns = distinct(numbers, &Replication::column);
  for (size_t begin = 0; begin < columns.size(); begin += kColumnsSideBySide) {
    const size_t end = std::min(begin + kColumnsSideBySide, columns.size());
    out += '\n';
    out += pivot(numbers,
                 {columns.begin() + static_cast<ptrdiff_t>(begin), columns.begin() + static_cast<ptrdiff_t>(end)});
  }
  return out;
}

std::string table_markdown(const Reproduction& table) {
  std::string out = fmt::format("\n## {}\n", markdown_text(table.title));
  if (!table.findings.empty()) out += "\n";
  for (const Finding& finding : table.findings) {
    out += fmt::format("- **{}**: {} {}\n", finding_status_name(finding.status), markdown_text(finding.claim),
                       markdown_text(finding.evidence));
  }
  if (!table.protocol.empty()) out += "\nHow it was done:\n\n";
  for (const std::string& sentence : table.protocol) out += fmt::format("- {}\n", markdown_text(sentence));
  for (const std::string& note : table.notes) out += fmt::format("\nNote: {}\n", markdown_text(note));
  for (const std::string& data : distinct(table.replications, &Replication::data)) {
    std::vector<Replication> own;
    std::ranges::copy_if(table.replications, std::back_inserter(own),
                         [&](const Replication& number) { return number.data == data; });
    out += set_markdown(data, own);
  }
  return out;
}

Json replication_json(const Replication& made) {
  Json interval;
  if (!std::isnan(made.interval.low)) interval = {number(made.interval.low), number(made.interval.high)};
  return {{"data", made.data},
          {"row", made.row},
          {"column", made.column},
          {"paper", number(made.paper)},
          {"paper_spread", number(made.paper_spread)},
          {"ours", number(made.ours)},
          {"deviation", number(made.deviation)},
          {"interval", std::move(interval)},
          {"runs", made.runs},
          {"coverage", number(made.coverage)}};
}

}  // namespace

std::string_view finding_status_name(FindingStatus status) {
  switch (status) {
    case FindingStatus::replicates: return "replicates";
    case FindingStatus::does_not_replicate: return "does not replicate";
    case FindingStatus::cannot_be_tested: break;
  }
  return "cannot be tested here";
}

std::string findings_summary(const std::vector<Reproduction>& tables) {
  size_t counts[3] = {0, 0, 0};
  for (const Reproduction& table : tables) {
    for (const Finding& finding : table.findings) ++counts[static_cast<size_t>(finding.status)];
  }
  const auto verb = [](size_t count, const char* one, const char* several) { return count == 1 ? one : several; };
  return fmt::format("{}: {} {}, {} {} not replicate, {} cannot be tested here",
                     plural(counts[0] + counts[1] + counts[2], "finding"), counts[0],
                     verb(counts[0], "replicates", "replicate"), counts[1], verb(counts[1], "does", "do"), counts[2]);
}

std::string reproduction_text(const std::vector<Reproduction>& tables) {
  std::string out;
  for (const Reproduction& table : tables) {
    if (!out.empty()) out += "\n";
    out += table_text(table);
  }
  return out;
}

std::string reproduction_markdown(const std::vector<Reproduction>& tables, const ReproductionOrigin& origin) {
  std::string out = fmt::format(
      "# The paper's tables, run again\n\nWritten by `{}` (assay {}, seed {}); not by hand. Bhatt, Weller, Moura, "
      "Evaluating and Aggregating Feature-based Model Explanations, IJCAI 2020: the paper's numbers beside ours, with "
      "the 95 % interval of our mean over runs, and whether its findings hold.\n",
      origin.command, markdown_text(origin.version), origin.seed);
  if (origin.quick) out += "\nThis is the quick form: few runs on few rows, a test that the protocol works.\n";
  out += fmt::format("\n{}.\n", findings_summary(tables));
  for (const Reproduction& table : tables) out += table_markdown(table);
  return out;
}

std::string reproduction_json(const std::vector<Reproduction>& tables, const ReproductionOrigin& origin) {
  Json all = Json::array();
  for (const Reproduction& table : tables) {
    Json numbers = Json::array();
    for (const Replication& made : table.replications) numbers.push_back(replication_json(made));
    Json findings = Json::array();
    for (const Finding& finding : table.findings) {
      findings.push_back(
          {{"claim", finding.claim}, {"status", finding_status_name(finding.status)}, {"evidence", finding.evidence}});
    }
    all.push_back({{"name", table.name},
                   {"title", table.title},
                   {"protocol", table.protocol},
                   {"numbers", std::move(numbers)},
                   {"findings", std::move(findings)},
                   {"notes", table.notes}});
  }
  const Json out = {{"command", origin.command},
                    {"version", origin.version},
                    {"seed", origin.seed},
                    {"quick", origin.quick},
                    {"tables", std::move(all)}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace assay
