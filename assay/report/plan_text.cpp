#include "assay/report/plan_text.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <vector>

#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/report/report_facts.h"
#include "assay/report/wrapped.h"

namespace assay {
namespace {

std::vector<std::string> names_of(const StudyPlan& plan, EntryKind kind) {
  std::vector<std::string> names;
  for (const PlannedEntry& entry : plan.entries) {
    if (entry.kind == kind) names.push_back(short_name(entry.name));
  }
  return names;
}

// The words for a sample give the number of rows already.
std::string counted(size_t rows, size_t available, const std::string& words) {
  return rows < available ? one_line(words) : fmt::format("{} of {}", plural(rows, "row"), one_line(words));
}

std::string explained_in_words(const Subject& subject) {
  const OutputUnit unit = subject.model->info().unit;
  const Targets& targets = *subject.targets;
  return fmt::format("{}{}", unit == OutputUnit::value ? "" : fmt::format("the {} of ", output_unit_name(unit)),
                     targets.predicted ? std::string(kPredictedTarget) : short_name(targets.names[targets.of_row[0]]));
}

// "about 12 s of the minute that --time allows", or the time alone if there is no limit.
std::string time_of(const StudyPlan& plan, const PlanWords& words) {
  const double limit = plan.options.seconds;
  if (std::isinf(limit) || words.time.empty()) return time_text(plan.seconds);
  const std::string allowed = limit == 60 ? "minute" : limit == 3600 ? "hour" : time_text(limit);
  return fmt::format("about {}{} the {} that {} allows", time_text(plan.seconds),
                     plan.seconds > limit ? ", more than" : " of", allowed, words.time);
}

}  // namespace

std::string fuller_time(double seconds) {
  // Estimates may be half of what is needed.
  const double enough = 2 * seconds;
  for (const double whole : {60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0, 14400.0, 28800.0}) {
    if (enough <= whole) return seconds_word(whole);
  }
  return seconds_word(kNoTimeLimit);
}

std::string plan_text(const StudyPlan& plan, const StudyFacts& facts, const Subject& subject, size_t finished,
                      const PlanWords& words) {
  std::string text;
  const auto add = [&]<class... Values>(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Values>(values)...);
  };
  add("study of {}\n", one_line(facts.title));
  add("rows: {}; pool: {}\n", counted(subject.rows->rows(), facts.rows_available, facts.data),
      counted(subject.pool->rows(), facts.pool_rows_available, facts.pool));
  add("explained: {}; {} ({})\n", explained_in_words(subject), plural(subject.players->size(), "player"),
      one_line(facts.players));
  const std::string at_reference = model_at_reference(facts.reference_facts);
  add("reference: {}{}{}\n", one_line(subject.reference->description), at_reference.empty() ? "" : "; ", at_reference);
  const std::vector<std::string> methods = names_of(plan, EntryKind::method);
  add("{}: {}\n", plural(methods.size(), "method"), fmt::join(methods, ", "));
  const std::vector<std::string> aggregates = names_of(plan, EntryKind::aggregate);
  if (!aggregates.empty()) {
    std::vector<std::string> members;
    for (const size_t member : plan.members) members.push_back(plan.entries[member].spec.name);
    add("{}: {}\n  of {}\n", plural(aggregates.size(), "aggregate"), fmt::join(aggregates, ", "), joined(members));
  }
  std::vector<std::string> criteria;
  for (const Spec& spec : plan.criteria) criteria.push_back(short_name(spec_text(spec)));
  add("{} {}: {}\n", criteria.size(), criteria.size() == 1 ? "criterion" : "criteria", fmt::join(criteria, ", "));
  for (const LeftOut& each : plan.left_out) add("left out: {}\n", one_line(each.reason));
  for (const std::string& note : plan.notes) add("note: {}\n", one_line(note));
  if (finished > 0) add("finished before: {} of {}\n", plural(finished, "part"), plan.entries.size());
  if (!plan.given_up.empty()) {
    add("left out for time: {}; all of it takes about {}: {}\n", joined(plan.given_up), time_text(plan.full_seconds),
        words.fuller);
    if (!words.pinned.empty()) add("the same study, whatever the clock says: {}\n", words.pinned);
  }
  if (plan.seconds == 0) {
    add("planned before: what was chosen then is kept\n\n");
  } else {
    add("about {} model evaluations, {}\n\n", with_commas(plan.evaluations), time_of(plan, words));
  }
  return text;
}

std::string plan_summary(const StudyPlan& plan, const StudyFacts& facts, const Subject& subject, size_t finished,
                         const PlanWords& words) {
  std::string text = words.title ? fmt::format("study of {}\n", one_line(facts.title)) : "";
  text += fmt::format("rows: {}; pool: {}\n", counted(subject.rows->rows(), facts.rows_available, facts.data),
                      counted(subject.pool->rows(), facts.pool_rows_available, facts.pool));
  const std::string at_reference = model_at_reference(facts.reference_facts);
  text += wrapped(fmt::format("reference: {}{}{}", one_line(subject.reference->description),
                              at_reference.empty() ? "" : "; ", at_reference),
                  "", "  ", kScreenWidth);
  const size_t aggregates = names_of(plan, EntryKind::aggregate).size();
  text += fmt::format("{}, {}, {} {}: {}{}\n", plural(plan.entries.size() - aggregates, "method"),
                      plural(aggregates, "aggregate"), plan.criteria.size(),
                      plan.criteria.size() == 1 ? "criterion" : "criteria", time_of(plan, words),
                      finished > 0 ? fmt::format("; finished before: {}", plural(finished, "part")) : "");
  const size_t notes = plan.notes.size();
  if (notes > 0 && !words.notes.empty()) {
    text.insert(text.size() - 1, fmt::format("; {}: {}", plural(notes, "note"), words.notes));
  }
  if (!plan.given_up.empty()) {
    text += wrapped(fmt::format("left out for time: {}; all of it takes about {}: {}", joined(plan.given_up),
                                time_text(plan.full_seconds), words.fuller),
                    "", "  ", kScreenWidth);
    if (!words.pinned.empty()) text += fmt::format("the same study, whatever the clock says: {}\n", words.pinned);
  }
  return fmt::format("{}\n", text);
}

std::string plan_costs(const StudyPlan& plan) {
  std::vector<std::vector<std::string>> lines = {{"", "model evaluations", "seconds"}};
  for (const PlannedEntry& entry : plan.entries) {
    lines.push_back({short_name(entry.name), with_commas(entry.evaluations), short_number(entry.seconds)});
  }
  return aligned(lines, {0});
}

}  // namespace assay
