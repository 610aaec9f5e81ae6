#include "assay/report/first_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "assay/core/roc_area.h"
#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/evaluate/criteria.h"
#include "assay/report/quality_text.h"
#include "assay/report/report_drivers.h"
#include "assay/report/wrapped.h"
#include "assay/study/verdict.h"

namespace assay {
namespace {

constexpr size_t kDriversShown = 5;
constexpr double kLeastShare = 0.005;  // smaller ones would be shown as 0 %
constexpr size_t kLinesOfTable = 4;    // rivals fill up what is recommended to so many, at least one of them
constexpr size_t kFewLines = 2;        // likewise if the screen is short, without one more

std::ptrdiff_t line_count(const std::string& text) { return std::ranges::count(text, '\n'); }

std::string labelled(std::string_view label, const std::string& text) {
  return wrapped(text, fmt::format("{:<11}", label), std::string(11, ' '), kScreenWidth);
}

std::string explained_words(const StudyFacts& facts) {
  const std::string unit = facts.unit == "value" ? "" : fmt::format("the {} of ", one_line(facts.unit));
  return fmt::format("{}{}", unit, short_name(facts.target));
}

std::string drivers_words(const Study& study, const Advice& advice) {
  std::vector<std::string> parts;
  for (const Driver& driver : advice.drivers) {
    if (parts.size() == kDriversShown || driver.share < kLeastShare) break;
    const std::string_view trend = trend_words(driver.trend);
    parts.push_back(fmt::format("{} ({}{}{})", short_name(study.facts.features[driver.player]),
                                whole_percent(driver.share), trend.empty() ? "" : ", ", trend));
  }
  if (parts.empty() && !advice.drivers.empty() && advice.drivers[0].share > 0) {
    return fmt::format("none stands out among {}: the largest share, of {}, is {:.2g} %",
                       with_commas(advice.drivers.size()), short_name(study.facts.features[advice.drivers[0].player]),
                       100 * advice.drivers[0].share);
  }
  if (parts.empty()) return "none: all attributions are 0";
  return fmt::format("{}, by {}", fmt::join(parts, ", "), short_name(study.entries[advice.overall->entry].name));
}

// The entries of the table: what is recommended, for what, then rivals by faithfulness.
struct Line {
  size_t entry;
  std::vector<std::string> uses;
};

std::vector<Line> table_lines(const Assessment& assessment, bool is_short) {
  const Advice& advice = assessment.advice;
  std::vector<Line> lines;
  const auto add = [&](const std::optional<Recommendation>& made, std::string_view use) {
    if (!made) return;
    auto known = std::ranges::find(lines, made->entry, &Line::entry);
    if (known == lines.end()) known = lines.insert(lines.end(), {made->entry, {}});
    known->uses.emplace_back(use);
  };
  add(advice.overall, "overall");
  add(advice.faithfulness, "faithfulness");
  add(advice.stability, "stability");
  add(advice.simplicity, "simplicity");
  const size_t most = is_short ? std::max(kFewLines, lines.size()) : std::max(kLinesOfTable, lines.size() + 1);
  for (const size_t e : assessment.rankings[advice.overall->criterion].order) {
    if (lines.size() == most) break;
    const bool shown = std::ranges::find(lines, e, &Line::entry) != lines.end();
    if (shown || advice.entries[e].alias_of != e || !advice.entries[e].has_signs) continue;
    lines.push_back({e, {}});
  }
  return lines;
}

std::string table_text(const Study& study, const Assessment& assessment, bool is_short) {
  const Advice& advice = assessment.advice;
  std::vector<std::vector<std::string>> rows = {{"", "use for", "faithful"}};
  const std::vector<size_t> aims = ranked_aims(study, assessment.rankings);
  for (const size_t aim : aims) rows[0].push_back(criterion_label(study, aim));
  rows[0].emplace_back("evaluations");
  for (const Line& line : table_lines(assessment, is_short)) {
    const StudyEntry& entry = study.entries[line.entry];
    rows.push_back({short_name(entry.name), fmt::format("{}", fmt::join(line.uses, ", ")),
                    std::string(faithful_name(advice.entries[line.entry].faithful))});
    for (const size_t aim : aims) {
      rows.back().push_back(mean_with_error(entry.scores[aim].mean, entry.scores[aim].mean_error));
    }
    rows.back().push_back(with_commas(advice.entries[line.entry].evaluations));
  }
  return aligned(rows, {0, 1, 2});
}

}  // namespace

FactPairs screen_facts(const Study& study, const Advice& advice) {
  const std::string quality = quality_sentence(study.facts);
  FactPairs facts = {{"Model", quality.empty() ? "quality unknown: no labels that fit what is explained" : quality},
                     {"Explained", explained_words(study.facts)}};
  if (advice.overall) facts.emplace_back("Drivers", drivers_words(study, advice));
  return facts;
}

std::string first_screen(const Study& study, const Assessment& assessment, const ScreenOptions& options) {
  const Advice& advice = assessment.advice;
  const auto most = static_cast<std::ptrdiff_t>(options.lines);
  const std::string next = options.next.empty() ? "" : labelled("Next", options.next);
  std::string out;
  for (const auto& [label, text] : screen_facts(study, advice)) out += labelled(label, text);
  if (advice.overall) {
    // Rivals give way to the first sentence, which says what to use, and to cautions.
    const std::vector<std::string> first = main_sentences(study, assessment);
    std::string text = first.empty() ? "" : wrapped(first[0], "- ", "  ", kScreenWidth);
    for (const std::string& caution : sample_warnings(study)) text += wrapped(caution, "- ", "  ", kScreenWidth);
    std::string table = table_text(study, assessment, false);
    const std::ptrdiff_t around = line_count(out) + line_count(text) + line_count(next) + 2;
    if (around + line_count(table) > most) table = table_text(study, assessment, true);
    out += fmt::format("\n{}\n", table);
  }
  std::vector<std::string> sentences = main_sentences(study, assessment);
  const std::vector<std::string> cautions = sample_warnings(study);
  sentences.insert(sentences.begin() + std::min<std::ptrdiff_t>(1, std::ssize(sentences)), cautions.begin(),
                   cautions.end());
  size_t said = 0;
  for (const std::string& sentence : sentences) {
    const std::string text = wrapped(sentence, "- ", "  ", kScreenWidth);
    // The first is said whatever the length, and so are the cautions behind it.
    if (said > cautions.size() && line_count(out) + line_count(text) + line_count(next) > most) break;
    out += text;
    said++;
  }
  return out + next;
}

std::string duration_words(double seconds) {
  return seconds < 100 ? fmt::format("{:.2g} s", seconds) : fmt::format("{:.0f} s", seconds);
}

std::string time_words(const Study& study, const Advice& advice, const StudyTimes& times) {
  std::string words = fmt::format("{} in all", duration_words(times.total));
  if (!advice.overall) return words;
  const std::string& name = study.entries[advice.overall->entry].name;
  const auto found = std::ranges::find(times.entries, name, &EntryTimes::entry);
  if (found == times.entries.end() || std::isnan(found->explaining)) return words;
  return fmt::format("{}, {} to explain by {}", words, duration_words(found->explaining), short_name(name));
}

}  // namespace assay
