#include "assay/archive/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "assay/archive/io/json_parts.h"
#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/io/json_depth.h"

namespace assay {
namespace {

constexpr std::string_view kRulesSchema = "assay.rules/1";
constexpr size_t kRulesDepth = 4;  // valid rules are 3 deep
constexpr size_t kMostRules = 1'000;

// Refuses repeated fields: the JSON library would silently take the last one, which may be a weaker rule.
JsonRead parse_rules(std::string_view where, std::string_view text) {
  limit_json_depth(where, text, kRulesDepth);
  std::vector<std::set<std::string>> open;
  size_t objects = 0;
  const auto watch = [&](int /*depth*/, JsonRead::parse_event_t event, JsonRead& value) {
    if (event == JsonRead::parse_event_t::object_start) {
      if (++objects > kMostRules + 1) fail_input(where, fmt::format("at most {} rules", kMostRules), "more");
      open.emplace_back();
    } else if (event == JsonRead::parse_event_t::object_end) {
      open.pop_back();
    } else if (event == JsonRead::parse_event_t::key && !open.back().insert(value.get<std::string>()).second) {
      fail_input(where, "each field of an object once", fmt::format("{} twice", in_quotes(value.get<std::string>())));
    }
    return true;
  };
  try {
    return JsonRead::parse(text, watch);
  } catch (const JsonRead::parse_error& problem) {
    fail_input(where, "rules as JSON", fmt::format("an error at byte {}", problem.byte));
  } catch (const JsonRead::exception&) {
    fail_input(where, "rules as JSON", "a number out of range");
  }
}

void refuse_unknown(const std::string& where, const JsonRead& object, const std::vector<std::string>& known) {
  for (const auto& item : object.items()) {
    if (std::ranges::find(known, item.key()) != known.end()) continue;
    fail_input(where, fmt::format("the fields {}", joined(known)),
               fmt::format("{}{}", in_quotes(item.key()), suggestion(item.key(), known)));
  }
}

std::optional<double> bound_of(const std::string& where, const JsonRead& rule, const char* key) {
  const auto found = rule.find(key);
  if (found == rule.end()) return {};
  if (!found->is_number() || !std::isfinite(found->get<double>())) {
    fail_input(where, fmt::format("a number as '{}'", key), quoted_json(*found));
  }
  return found->get<double>();
}

GateRule rule_from(const std::string& where, const JsonRead& json) {
  const JsonFields fields(where, json);
  refuse_unknown(where, json, {"criterion", "explanation", "least", "most", "least_coverage", "by"});
  GateRule rule;
  rule.criterion = fields.text("criterion");
  if (fields.has("explanation")) rule.explanation = fields.text("explanation");
  rule.least = bound_of(where, json, "least");
  rule.most = bound_of(where, json, "most");
  rule.least_coverage = bound_of(where, json, "least_coverage");
  rule.by_interval = fields.has("by") && fields.word("by", {"mean", "interval"}) == 1;
  if (!rule.least && !rule.most && !rule.least_coverage) {
    fail_input(where, "a bound: 'least', 'most' or 'least_coverage'", "none");
  }
  if (rule.least && rule.most && *rule.least > *rule.most) {
    fail_input(where, "'least' not above 'most'", fmt::format("{} and {}", *rule.least, *rule.most));
  }
  if (rule.least_coverage && !(*rule.least_coverage >= 0 && *rule.least_coverage <= 1)) {
    fail_input(where, "a number from 0 to 1 as 'least_coverage'", fmt::format("{}", *rule.least_coverage));
  }
  if (rule.by_interval && !rule.least && !rule.most) {
    fail_input(where, "'least' or 'most', which 'by' is about", "neither");
  }
  return rule;
}

std::string rule_where(std::string_view where, size_t index) { return fmt::format("{}, rule {}", where, index + 1); }

size_t criterion_of(const std::string& where, const GateRule& rule, const StudySummary& study) {
  std::vector<size_t> named;
  std::vector<std::string> specs;
  for (size_t c = 0; c < study.criteria.size(); c++) {
    if (study.criteria[c].spec == rule.criterion) return c;
    if (study.criteria[c].name == rule.criterion) named.push_back(c);
    specs.push_back(one_line(study.criteria[c].spec));
  }
  if (named.size() == 1) return named[0];
  if (named.empty()) {
    std::vector<std::string> known = specs;
    for (const CriterionSummary& each : study.criteria) known.push_back(one_line(each.name));
    fail_input(where, fmt::format("a criterion of the study: {}", joined(specs, "or")),
               fmt::format("{}{}", in_quotes(rule.criterion), suggestion(rule.criterion, known)));
  }
  std::vector<std::string> candidates;
  for (const size_t c : named) candidates.push_back(specs[c]);
  fail_input(where, fmt::format("one criterion: {}", joined(candidates, "or")),
             fmt::format("{}, which is any of them", in_quotes(rule.criterion)));
}

// The aim of a rule about what the study recommends; empty for other rules.
std::string aim_of(const std::string& where, const GateRule& rule) {
  constexpr std::string_view kRecommended = "recommended";
  const std::string& said = rule.explanation;
  if (said == kRecommended) return std::string(kAims[0]);
  if (!said.starts_with(fmt::format("{}:", kRecommended))) return {};
  std::string aim = said.substr(kRecommended.size() + 1);
  if (std::ranges::find(kAims, aim) != std::end(kAims)) return aim;
  std::vector<std::string> words;
  for (const std::string_view each : kAims) words.push_back(fmt::format("{}:{}", kRecommended, each));
  fail_input(where, joined(words, "or"), fmt::format("{}{}", in_quotes(said), suggestion(said, words)));
}

// wanted: the rule's word, or the name of the entry that it is about.
std::vector<size_t> entries_of(const std::string& where, const std::string& wanted, const StudySummary& study) {
  std::vector<size_t> entries;
  std::vector<std::string> names;
  for (size_t e = 0; e < study.entries.size(); e++) {
    const bool method = study.entries[e].kind == EntryKind::method;
    const bool every = wanted == "all" || wanted == "any" || wanted == "best";
    if (every || wanted == (method ? "methods" : "aggregates") || wanted == study.entries[e].name) {
      entries.push_back(e);
    }
    names.push_back(one_line(study.entries[e].name));
  }
  if (entries.empty()) {
    std::vector<std::string> words = {"all", "methods", "aggregates", "any", "best", "recommended"};
    words.insert(words.end(), names.begin(), names.end());
    fail_input(where, fmt::format("an explanation of the study: {}", joined(words, "or")),
               fmt::format("{}{}", in_quotes(wanted), suggestion(wanted, words)));
  }
  return entries;
}

// The entry with the best mean. If no mean is defined, the first: the rule then fails.
size_t best_of(const std::vector<size_t>& entries, size_t criterion, const StudySummary& study) {
  const double sign = direction_sign(study.criteria[criterion].direction);
  const auto value = [&](size_t entry) { return sign * study.entries[entry].scores[criterion].mean; };
  size_t best = entries[0];
  for (const size_t entry : entries) {
    if (value(entry) > value(best) || (std::isnan(value(best)) && !std::isnan(value(entry)))) best = entry;
  }
  return best;
}

// Why the score fails the rule; empty if it passes. Comparisons are written so that NaN never passes.
std::string problem_of(const GateRule& rule, const ScoreSummary& score) {
  if (std::isnan(score.mean)) return "undefined";
  const double low = rule.by_interval ? score.interval.low : score.mean;
  const double high = rule.by_interval ? score.interval.high : score.mean;
  if (rule.by_interval && (std::isnan(low) || std::isnan(high))) return "its interval is undefined";
  const std::string of = rule.by_interval ? "its interval reaches " : "";
  if (rule.least && !(low >= *rule.least)) return fmt::format("{}below {}", of, *rule.least);
  if (rule.most && !(high <= *rule.most)) return fmt::format("{}above {}", of, *rule.most);
  if (rule.least_coverage && !(score.coverage >= *rule.least_coverage)) {
    return fmt::format("coverage below {}", *rule.least_coverage);
  }
  return {};
}

}  // namespace

std::vector<GateRule> gate_rules_from_json(std::string_view where, std::string_view text) {
  const JsonRead parsed = parse_rules(where, text);
  const JsonFields document(std::string(where), parsed);
  document.require_schema(kRulesSchema);
  refuse_unknown(document.where(), parsed, {"schema", "rules"});
  const auto list = parsed.find("rules");
  if (list == parsed.end() || !list->is_array() || list->empty()) {
    fail_input(where, "a list of at least one rule as 'rules'", list == parsed.end() ? "none" : quoted_json(*list));
  }
  std::vector<GateRule> rules;
  for (const JsonRead& each : *list) rules.push_back(rule_from(rule_where(where, rules.size()), each));
  return rules;
}

std::vector<GateOutcome> run_gate(std::string_view where, const std::vector<GateRule>& rules,
                                  const StudySummary& study) {
  std::vector<GateOutcome> outcomes;
  for (size_t r = 0; r < rules.size(); r++) {
    const GateRule& rule = rules[r];
    const std::string own = rule_where(where, r);
    GateOutcome outcome;
    outcome.rule = rule;
    outcome.criterion = criterion_of(own, rule, study);
    const std::string aim = aim_of(own, rule);
    const auto advised = std::ranges::find(study.recommended, aim, &std::pair<std::string, std::string>::first);
    if (!aim.empty() && advised == study.recommended.end()) {
      outcome.reason = fmt::format("no explanation is recommended{}", aim == kAims[0] ? "" : " for " + aim);
      outcomes.push_back(std::move(outcome));
      continue;
    }
    std::vector<size_t> entries = entries_of(own, aim.empty() ? rule.explanation : advised->second, study);
    if (rule.explanation == "best") {
      if (study.criteria[outcome.criterion].direction == Direction::neither) {
        fail_input(own, "a criterion that has a best", fmt::format("{}, by which none is", in_quotes(rule.criterion)));
      }
      entries = {best_of(entries, outcome.criterion, study)};
    }
    for (const size_t entry : entries) {
      const ScoreSummary& score = study.entries[entry].scores[outcome.criterion];
      std::string reason = problem_of(rule, score);
      outcome.checks.push_back({entry, score, reason.empty(), std::move(reason)});
    }
    outcome.passed = rule.explanation == "any" ? std::ranges::any_of(outcome.checks, &GateCheck::passed)
                                               : std::ranges::all_of(outcome.checks, &GateCheck::passed);
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

bool all_passed(const std::vector<GateOutcome>& outcomes) {
  return std::ranges::all_of(outcomes, &GateOutcome::passed);
}

}  // namespace assay
