#include "assay/report/gate_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "assay/archive/io/json_parts.h"
#include "assay/core/table_text.h"
#include "assay/core/text.h"

namespace assay {
namespace {

std::string value_text(const GateCheck& check, bool by_interval) {
  const ScoreSummary& score = check.score;
  if (std::isnan(score.mean)) return "undefined";
  std::string text = number_text(score.mean);
  if (!std::isnan(score.mean_error)) text += fmt::format(" +- {}", number_text(score.mean_error));
  if (by_interval && !std::isnan(score.interval.low) && !std::isnan(score.interval.high)) {
    text += fmt::format(" ({} to {})", number_text(score.interval.low), number_text(score.interval.high));
  }
  // Never 100 % while a row is missing.
  if (score.coverage < 1) text += fmt::format(" over {:.4g} % of rows", std::min(99.99, 100 * score.coverage));
  return text;
}

std::string bounds_text(const GateRule& rule) {
  std::vector<std::string> parts;
  if (rule.least) parts.push_back(fmt::format("at least {}", *rule.least));
  if (rule.most) parts.push_back(fmt::format("at most {}", *rule.most));
  if (rule.least_coverage) parts.push_back(fmt::format("coverage at least {}", *rule.least_coverage));
  return fmt::format("{}{}", joined(parts), rule.by_interval ? " by the 95 % interval" : "");
}

bool about_several(const GateRule& rule) {
  return rule.explanation == "all" || rule.explanation == "methods" || rule.explanation == "aggregates" ||
         rule.explanation == "any";
}

// The check to show: one that decided the outcome. Of these, the best score for "any" rules, else the worst.
const GateCheck& telling(const GateOutcome& outcome) {
  const auto before = [&](const GateCheck& a, const GateCheck& b) {
    if (a.passed != b.passed) return a.passed == outcome.passed;
    const bool any = outcome.rule.explanation == "any";
    if (std::isnan(a.score.mean) != std::isnan(b.score.mean)) return std::isnan(a.score.mean) != any;
    const bool low_first = outcome.rule.least.has_value() != any;
    return low_first ? a.score.mean < b.score.mean : a.score.mean > b.score.mean;
  };
  return *std::ranges::min_element(outcome.checks, before);
}

std::string outcome_line(const GateOutcome& outcome, const StudySummary& study) {
  const std::string criterion = short_name(study.criteria[outcome.criterion].spec);
  if (outcome.checks.empty()) {
    return fmt::format("failed  {} of {}: {}, expected {}", criterion, outcome.rule.explanation, outcome.reason,
                       bounds_text(outcome.rule));
  }
  const GateCheck& check = telling(outcome);
  const auto passed = static_cast<size_t>(std::ranges::count_if(outcome.checks, &GateCheck::passed));
  const std::string name = short_name(study.entries[check.entry].name);
  std::string of = name;
  if (outcome.rule.explanation == "best") of = fmt::format("the best, {}", name);
  if (outcome.rule.explanation.starts_with("recommended")) of = fmt::format("the recommended, {}", name);
  if (about_several(outcome.rule)) {
    const std::string_view which = outcome.rule.explanation == "any" ? "any of" : "all";
    const std::string_view kind = outcome.rule.explanation == "methods"      ? "method"
                                  : outcome.rule.explanation == "aggregates" ? "aggregate"
                                                                             : "explanation";
    of = fmt::format("{} {} ({} keep it): {}", which, plural(outcome.checks.size(), kind), with_commas(passed), name);
  }
  std::string line = fmt::format("{}  {} of {}: {}, expected {}", outcome.passed ? "passed" : "failed", criterion, of,
                                 value_text(check, outcome.rule.by_interval), bounds_text(outcome.rule));
  // Next to the mean, "below 0.8" or "undefined" adds nothing.
  const bool plain = check.reason.starts_with("below") || check.reason.starts_with("above");
  if (!check.passed && !plain && check.reason != "undefined") line += fmt::format(": {}", check.reason);
  return line;
}

}  // namespace

std::string gate_text(const std::vector<GateOutcome>& outcomes, const StudySummary& study) {
  std::string text;
  for (const GateOutcome& outcome : outcomes) text += fmt::format("{}\n", outcome_line(outcome, study));
  const auto passed = static_cast<size_t>(std::ranges::count_if(outcomes, &GateOutcome::passed));
  return fmt::format("{}{} of {} passed\n", text, with_commas(passed), plural(outcomes.size(), "rule"));
}

std::string gate_json(const std::vector<GateOutcome>& outcomes, const StudySummary& study) {
  const auto bound = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
  Json rules = Json::array();
  for (const GateOutcome& outcome : outcomes) {
    Json checks = Json::array();
    for (const GateCheck& check : outcome.checks) {
      checks.push_back({{"explanation", study.entries[check.entry].name},
                        {"passed", check.passed},
                        {"reason", check.passed ? Json() : Json(check.reason)},
                        {"mean", number(check.score.mean)},
                        {"stderr", number(check.score.mean_error)},
                        {"interval", {number(check.score.interval.low), number(check.score.interval.high)}},
                        {"coverage", number(check.score.coverage)}});
    }
    rules.push_back({{"passed", outcome.passed},
                     {"reason", outcome.reason.empty() ? Json() : Json(outcome.reason)},
                     {"criterion", study.criteria[outcome.criterion].spec},
                     {"explanation", outcome.rule.explanation},
                     {"least", bound(outcome.rule.least)},
                     {"most", bound(outcome.rule.most)},
                     {"least_coverage", bound(outcome.rule.least_coverage)},
                     {"by", outcome.rule.by_interval ? "interval" : "mean"},
                     {"checks", checks}});
  }
  return dumped({{"passed", all_passed(outcomes)}, {"study", study.title}, {"rules", rules}});
}

}  // namespace assay
