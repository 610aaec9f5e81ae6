#include "assay/report/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/evaluate/criteria.h"
#include "assay/report/wrapped.h"
#include "assay/study/verdict.h"

namespace assay {
namespace {

constexpr size_t kWidestTable = 120;
constexpr std::string_view kBetter = "better:";  // begins the line of directions

std::string padded_left(const std::string& text, size_t width) {
  return fmt::format("{}{}", std::string(width - std::min(width, code_points(text)), ' '), text);
}

std::string padded_right(const std::string& text, size_t width) {
  return fmt::format("{}{}", text, std::string(width - std::min(width, code_points(text)), ' '));
}

// One column of a table: three lines of heading (name, options, direction) and a cell for each entry.
struct TextColumn {
  std::array<std::string, 3> heading = {};
  std::vector<std::string> cells = {};

  size_t width() const {
    size_t widest = 0;
    for (const std::string& line : heading) widest = std::max(widest, code_points(line));
    for (const std::string& cell : cells) widest = std::max(widest, code_points(cell));
    return widest;
  }
};

std::string_view better_word(Direction direction) {
  return direction == Direction::neither ? "-" : direction_name(direction);
}

char mark_of(const CriterionRanking& ranking, size_t entry) {
  if (!ranking.ranks) return ' ';
  const Standing standing = ranking.standing[entry];
  return standing == Standing::best ? '*' : standing == Standing::tied ? '~' : ' ';
}

// Aligns the cells of a column: numbers end in one place, then the marks, then the coverage.
TextColumn criterion_column(const Study& study, const Assessment& assessment, size_t criterion) {
  TextColumn column;
  const std::string spec = short_name(study.criteria[criterion]);
  const size_t colon = spec.find(':');
  column.heading[0] = spec.substr(0, colon);
  if (colon != std::string::npos) column.heading[1] = spec.substr(colon + 1);
  column.heading[2] = better_word(study.directions[criterion]);
  std::vector<std::string> numbers;
  std::vector<std::string> coverages;
  size_t number_width = 0;
  size_t coverage_width = 0;
  for (const StudyEntry& entry : study.entries) {
    const Scores& scores = entry.scores[criterion];
    const bool partly = !std::isnan(scores.mean) && scores.coverage < 1;
    numbers.push_back(mean_with_error(scores.mean, scores.mean_error));
    coverages.push_back(partly ? fmt::format(" ({})", whole_percent(scores.coverage)) : "");
    number_width = std::max(number_width, code_points(numbers.back()));
    coverage_width = std::max(coverage_width, code_points(coverages.back()));
  }
  for (size_t e = 0; e < study.entries.size(); ++e) {
    column.cells.push_back(fmt::format("{}{}{}", padded_left(numbers[e], number_width),
                                       mark_of(assessment.rankings[criterion], e),
                                       padded_left(coverages[e], coverage_width)));
  }
  // Headings are aligned with the numbers.
  for (std::string& line : column.heading) {
    line = padded_right(padded_left(line, number_width), number_width + 1 + coverage_width);
  }
  return column;
}

std::string seconds_text(double seconds) {
  if (std::isnan(seconds)) return "-";
  return seconds < 100 ? fmt::format("{:.2f}", seconds) : with_commas(static_cast<uint64_t>(std::llround(seconds)));
}

double seconds_of(const StudyTimes& times, const std::string& entry) {
  const auto found = std::ranges::find(times.entries, entry, &EntryTimes::entry);
  return found == times.entries.end() ? NAN : found->explaining + found->scoring;
}

std::array<TextColumn, 2> cost_columns(const Study& study, const StudyTimes& times) {
  std::array<TextColumn, 2> columns;
  columns[0].heading = {"model", "", "evals"};
  columns[1].heading = {"", "", "seconds"};
  for (const StudyEntry& entry : study.entries) {
    columns[0].cells.push_back(with_commas(entry.evaluations));
    columns[1].cells.push_back(seconds_text(seconds_of(times, entry.name)));
  }
  return columns;
}

std::string block_text(const Study& study, const std::vector<const TextColumn*>& columns) {
  std::vector<std::vector<std::string>> lines;
  for (size_t line = 0; line < 3; ++line) {
    const bool empty = std::ranges::all_of(columns, [&](const TextColumn* column) {
      return column->heading[line].find_first_not_of(' ') == std::string::npos;
    });
    if (empty) continue;
    lines.push_back({line == 2 ? std::string(kBetter) : ""});
    for (const TextColumn* column : columns) lines.back().push_back(column->heading[line]);
  }
  for (size_t e = 0; e < study.entries.size(); ++e) {
    if (e > 0 && study.entries[e].kind != study.entries[e - 1].kind) lines.emplace_back();
    lines.push_back({short_name(study.entries[e].name)});
    for (const TextColumn* column : columns) lines.back().push_back(column->cells[e]);
  }
  return aligned(lines, {0});
}

// As many columns side by side as fit, at least one. The last `together` columns stay in one table.
std::string blocks_text(const Study& study, const std::vector<TextColumn>& columns, size_t together) {
  size_t names = code_points(kBetter);
  for (const StudyEntry& entry : study.entries) names = std::max(names, code_points(short_name(entry.name)));
  std::string out;
  std::vector<const TextColumn*> block;
  size_t width = names;
  for (size_t c = 0; c < columns.size(); ++c) {
    const size_t unit = c + together == columns.size() ? together : 1;
    size_t wanted = 0;
    for (size_t i = c; i < c + unit; ++i) wanted += 2 + columns[i].width();
    if (!block.empty() && width + wanted > kWidestTable && c + together <= columns.size()) {
      out += fmt::format("{}\n", block_text(study, block));
      block.clear();
      width = names;
    }
    block.push_back(&columns[c]);
    width += 2 + columns[c].width();
  }
  return fmt::format("{}{}", out, block_text(study, block));
}

std::string legend(const Study& study, const StudyTimes& times) {
  bool missing = false;
  bool partly = false;
  bool earlier = false;
  for (const StudyEntry& entry : study.entries) {
    for (const Scores& scores : entry.scores) {
      missing = missing || std::isnan(scores.mean);
      partly = partly || (!std::isnan(scores.mean) && scores.coverage < 1);
    }
    earlier = earlier || std::isnan(seconds_of(times, entry.name));
  }
  std::string out = "mean +- standard error;  * significantly best;  ~ not distinguishable from the best";
  if (partly) out += ";  (n %) share of rows with a score";
  if (missing) out += ";  - no score";
  if (earlier) out += ";  seconds -: made by an earlier run";
  return out;
}

std::string missing_reason(const Scores& scores) {
  std::vector<std::string> reasons;
  for (const Undefined& undefined : scores.undefined) reasons.push_back(one_line(undefined.reason));
  return reasons.empty() ? "no reason is known" : fmt::format("{}", fmt::join(reasons, "; "));
}

// Why entries have no score at all. Names each reason once: entries with the same reason for a criterion are joined,
// then criteria with the same reason and entries.
std::string missing_text(const Study& study) {
  struct Missing {
    std::string reason;
    std::vector<size_t> entries;
    std::vector<std::string> criteria;
  };
  std::vector<Missing> groups;
  for (size_t c = 0; c < study.criteria.size(); ++c) {
    std::vector<Missing> own;
    for (size_t e = 0; e < study.entries.size(); ++e) {
      const Scores& scores = study.entries[e].scores[c];
      if (!std::isnan(scores.mean)) continue;
      const std::string reason = missing_reason(scores);
      const auto known = std::ranges::find(own, reason, &Missing::reason);
      if (known == own.end()) {
        own.push_back({reason, {e}, {short_name(study.criteria[c])}});
      } else {
        known->entries.push_back(e);
      }
    }
    for (Missing& each : own) {
      const auto same = std::ranges::find_if(
          groups, [&](const Missing& group) { return group.reason == each.reason && group.entries == each.entries; });
      if (same == groups.end()) {
        groups.push_back(std::move(each));
      } else {
        same->criteria.push_back(each.criteria[0]);
      }
    }
  }
  std::string out;
  for (const Missing& group : groups) {
    const bool all = group.entries.size() == study.entries.size();
    const std::string who = all ? "" : fmt::format(" of {}", entry_names(study, group.entries, 6));
    out += wrapped(fmt::format("{}: no score{}: {}", joined(group.criteria), who, group.reason), "- ", "  ");
  }
  return out;
}

std::string list_text(std::string_view title, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return {};
  std::string out = fmt::format("{}\n", title);
  for (const std::string& sentence : sentences) out += wrapped(sentence, "- ", "  ");
  return out;
}

}  // namespace

std::string study_table(const Study& study, const Assessment& assessment, const StudyTimes& times) {
  std::vector<TextColumn> first;
  std::vector<TextColumn> others;
  for (size_t c = 0; c < study.criteria.size(); ++c) {
    (role_of(study.criterion_names[c]) != CriterionRole::none ? first : others)
        .push_back(criterion_column(study, assessment, c));
  }
  if (first.empty()) first = std::exchange(others, {});
  for (TextColumn& column : cost_columns(study, times)) first.push_back(std::move(column));
  std::string out = blocks_text(study, first, 2);
  if (!others.empty()) out += fmt::format("\n{}", blocks_text(study, others, 1));
  out += fmt::format("\n{}", wrapped(legend(study, times), "", ""));
  return fmt::format("{}{}", out, missing_text(study));
}

std::string study_conclusions(const Study& study, const Assessment& assessment) {
  std::vector<std::string> left_out;
  for (const LeftOut& each : study.left_out) {
    left_out.push_back(fmt::format("{} {}: {}", one_line(each.kind), short_name(each.name), one_line(each.reason)));
  }
  std::vector<std::string> parts;
  for (std::string part : {list_text("Verdict", assessment.verdict), list_text("Warnings", assessment.warnings),
                           list_text("Left out", left_out)}) {
    if (!part.empty()) parts.push_back(std::move(part));
  }
  return fmt::format("{}", fmt::join(parts, "\n"));
}

}  // namespace assay
