// plan_study: what the parts cost, and what of them fits into the time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/table_text.h"
#include "assay/core/text.h"
#include "assay/evaluate/criteria.h"
#include "assay/study/member_choice.h"
#include "assay/study/pilot.h"
#include "assay/study/plan.h"

namespace assay {
namespace {

// Of the time that a study may take; of a minute if there is no limit.
constexpr double kShareOfPilot = 0.1;
// Estimates are no better than that: a limit is only refused if it is far too small.
constexpr double kTolerated = 1.5;

uint64_t whole(double number) { return static_cast<uint64_t>(std::max(number, 0.0)); }

// The method of a plan that was tried, in one that chose fewer samples for it.
bool same_method(const Spec& chosen, const Spec& tried) {
  return spec_text(chosen) == spec_text(tried) || (tried.options.empty() && chosen.name == tried.name);
}

// What a plan takes, entry by entry. `costs` are those of `tried`, in the order of its entries; the entries of `plan`
// are some of them.
void fill_estimates(const StudyCosts& costs, const StudyEvaluations& evaluations, const BudgetPlan& chosen,
                    const StudyPlan& tried, StudyPlan& plan) {
  const auto rows = static_cast<double>(chosen.rows);
  const double around = pool_rows_explained(costs, chosen.rows, chosen.curves);
  const double scored = seconds_of_scoring(costs, chosen);
  const double share = static_cast<double>(chosen.background) / static_cast<double>(costs.background);
  const double others = static_cast<double>(costs.other_background) / static_cast<double>(costs.background);
  const double of_rows = (evaluations.scoring + (chosen.curves ? evaluations.curves : 0)) * rows * share;
  const double scoring = evaluations.pool + of_rows;
  size_t method = 0;
  size_t aggregate = 0;
  for (const PlannedEntry& of_all : tried.entries) {
    const bool is_method = of_all.kind == EntryKind::method;
    const size_t i = is_method ? method++ : aggregate++;
    const auto found = std::ranges::find_if(plan.entries, [&](const PlannedEntry& entry) {
      return is_method ? entry.kind == EntryKind::method && same_method(entry.spec, of_all.spec)
                       : entry.name == of_all.name;
    });
    if (found == plan.entries.end()) continue;
    if (is_method) {
      const MethodCost& cost = costs.methods[i];
      const bool again = chosen.variations && cost.other_seed;
      const double times = 1 + static_cast<double>(costs.explained_again + (again ? 1 : 0));
      double explained = (times * rows + around) * (cost.uses_reference ? share : 1);
      if (chosen.variations) {
        explained += rows * (cost.uses_reference ? others : static_cast<double>(costs.other_references));
      }
      found->seconds = seconds_of_method(costs, chosen, i) + scored;
      found->evaluations = whole(evaluations.methods[i] * explained * cost.of_samples[chosen.fewer_samples] + scoring);
    } else {
      const double combined = seconds_of_aggregate(costs, chosen, i);
      const LinearCost& each = costs.aggregates[i].combining;
      found->seconds = combined + scored;
      // As many evaluations for a second as in the trial.
      const double rate = each.each > 0 ? evaluations.aggregates[i] / each.each : 0;
      found->evaluations = whole(rate * combined + scoring);
    }
  }
  // What all entries share is counted for the first, as when the study runs.
  double listed = 0;
  for (const PlannedEntry& entry : plan.entries) {
    plan.evaluations += entry.evaluations;
    listed += entry.seconds;
  }
  if (!plan.entries.empty()) plan.entries.front().seconds += std::max(chosen.seconds - listed, 0.0);
  plan.seconds = chosen.seconds;
}

void take_estimates(const StudyPlan& from, StudyPlan& plan) {
  for (PlannedEntry& entry : plan.entries) {
    const auto found = std::ranges::find(from.entries, entry.name, &PlannedEntry::name);
    if (found == from.entries.end()) continue;
    entry.seconds = found->seconds;
    entry.evaluations = found->evaluations;
  }
  plan.seconds = from.seconds;
  plan.evaluations = from.evaluations;
  plan.full_seconds = from.full_seconds;
  plan.given_up = from.given_up;
}

std::string all_or_none(bool all) { return all ? "all" : "none"; }

// What the plan chose, for the record, and what of everything it gave up, in words.
void record(const StudyPlan& tried, const StudyOptions& options, const BudgetPlan& full, const BudgetPlan& chosen,
            size_t players, StudyPlan& plan) {
  bool sampled_less = false;
  plan.choices.set(kTimeChoice, seconds_word(options.seconds));
  if (options.methods.empty()) {
    std::vector<std::string> kept;
    for (size_t i = 0; i < chosen.methods.size(); i++) {
      if (!chosen.methods[i]) continue;
      const Spec fewer = with_fewer_samples(tried.entries[i].spec, kSampleDivisors[chosen.fewer_samples], players);
      kept.push_back(spec_text(fewer));
      sampled_less = sampled_less || kept.back() != tried.entries[i].name;
    }
    plan.choices.set(kMethodsChoice, fmt::format("{}", fmt::join(kept, ",")));
  }
  if (!options.rows_named) plan.choices.set(kRowsChoice, fmt::format("{}", chosen.rows));
  if (!options.background_named && full.background > 1) {
    plan.choices.set(kBackgroundChoice, fmt::format("{}", chosen.background));
  }
  if (!options.no_aggregates && options.aggregators.empty()) {
    std::vector<std::string> kept;
    for (size_t i = 0; i < chosen.combined.size(); i++) {
      if (chosen.combined[i]) kept.push_back(tried.entries[chosen.methods.size() + i].name);
    }
    const bool some = chosen.aggregates && kept.size() < chosen.combined.size() && !kept.empty();
    plan.choices.set(kAggregatesChoice, some ? fmt::format("{}", fmt::join(kept, ","))
                                             : all_or_none(chosen.aggregates && kept.size() == chosen.combined.size()));
  }
  if (options.curves) plan.choices.set(kCurvesChoice, all_or_none(chosen.curves));
  if (options.variations) plan.choices.set(kVariationsChoice, all_or_none(chosen.variations));

  std::vector<std::string>& words = plan.given_up;
  const size_t methods = full.kept() - chosen.kept();
  if (methods > 0) words.push_back(plural(methods, "method"));
  if (chosen.rows < full.rows) words.push_back(plural(full.rows - chosen.rows, "row"));
  if (options.choices.find(kBackgroundChoice) != nullptr) {
    words.emplace_back("a larger background");
  } else if (chosen.background < full.background) {
    words.push_back(fmt::format("{} of the background", plural(full.background - chosen.background, "row")));
  }
  const auto combined = static_cast<size_t>(std::ranges::count(chosen.combined, false));
  if (full.aggregates && !chosen.aggregates) {
    words.emplace_back("aggregates");
  } else if (full.aggregates && combined > 0) {
    words.push_back(plural(combined, "aggregate"));
  }
  if (sampled_less) {
    words.push_back(
        fmt::format("{} of the samples", kSampleDivisors[chosen.fewer_samples] == 2 ? "half" : "three quarters"));
  }
  if (full.curves && !chosen.curves) words.emplace_back("curves");
  if (full.variations && !chosen.variations) words.emplace_back("other seeds and baselines");
}

// Throws if the user's own limit is too small for the least that can be done.
void check_time(const StudyPlan& tried, const StudyOptions& options, const BudgetPlan& chosen, double seconds) {
  const double in_all = chosen.seconds + options.seconds - seconds;  // with what was spent before
  if (!options.seconds_named || in_all <= kTolerated * options.seconds) return;
  std::vector<std::string> kept;
  for (size_t i = 0; i < chosen.methods.size(); i++) {
    if (chosen.methods[i]) kept.push_back(tried.entries[i].name);
  }
  fail_argument("time", fmt::format(": expected at least about {} for {} on {}, found {}", time_text(in_all),
                                    joined(kept), plural(chosen.rows, "row"), seconds_word(options.seconds)));
}

// Whether the members of aggregates are chosen among the methods by trying them.
bool chooses_members(const StudyOptions& options, const StudyPlan& plan) {
  const bool said = !options.members.empty() || options.paper_members || plan.options.no_aggregates;
  const auto is_faithfulness = [](const Spec& spec) { return role_of(spec.name) == CriterionRole::faithfulness; };
  return !said && std::ranges::any_of(plan.criteria, is_faithfulness);
}

StudyPlan plan_in_time(const Subject& subject, const StudyOptions& options, const Context& context) {
  const bool limited = !std::isinf(options.seconds);
  StudyPlan plan = plan_parts(subject, options, context);
  const double minute = std::isinf(options.seconds) ? kDefaultStudySeconds : options.seconds;
  StudyPilot pilot(subject, kShareOfPilot * minute, context);
  const size_t background = subject.reference->rows.rows();
  if (limited && !options.background_named) {
    const size_t fewer = background_for(pilot.seconds_of_evaluation(), subject.players->size(), background,
                                        options.seconds - options.seconds_spent);
    if (fewer < background) {
      // Not even a trial would end in time with this one.
      plan.choices.set(kBackgroundChoice, fmt::format("{}", fewer));
      plan.open_again = true;
      return plan;
    }
  }
  pilot.try_criteria(plan);
  for (size_t i = 0; i < plan.entries.size(); i++) {
    if (plan.entries[i].kind != EntryKind::method) continue;
    const bool member = std::ranges::find(plan.members, i) != plan.members.end();
    pilot.try_method(plan.entries[i].spec, member && !options.members.empty());
  }
  pilot.try_aggregates(plan);
  pilot.set_chooses_members(chooses_members(options, plan));
  const StudyCosts& costs = pilot.costs();
  BudgetPlan asked;
  asked.aggregates = !plan.options.no_aggregates;
  asked.curves = plan.options.curves;
  asked.variations = plan.options.variations;
  const BudgetPlan full = full_plan(costs, asked);
  BudgetPlan chosen = full;
  if (limited) {
    const BudgetFixed fixed{.methods = !options.methods.empty(),
                            .rows = options.rows_named,
                            .background = options.background_named,
                            .aggregates = !options.aggregators.empty(),
                            .curves = false,
                            .variations = false};
    const double seconds = options.seconds - options.seconds_spent - pilot.spent();
    chosen = plan_within(costs, asked, fixed, seconds);
    check_time(plan, options, chosen, seconds);
  }
  StudyPlan made = plan;
  if (limited) {
    record(plan, options, full, chosen, subject.players->size(), made);
    StudyOptions again = options;
    again.choices = made.choices;
    StudyPlan parts = plan_parts(subject, again, context);
    parts.given_up = std::move(made.given_up);
    made = std::move(parts);
  }
  fill_estimates(costs, pilot.evaluations(), chosen, plan, made);
  made.full_seconds = full.seconds;
  made.open_again = chosen.rows < full.rows || chosen.background < full.background;
  return made;
}

// Replaces the members of aggregates by the methods that are faithful on rows of the pool, unless the user or an
// earlier plan chose them. Done last: methods that are left out for time are not tried.
void choose_faithful_members(const Subject& subject, const StudyOptions& options, StudyPlan& plan,
                             const Context& context) {
  if (plan.open_again || !chooses_members(options, plan)) return;
  const auto faithfulness = std::ranges::find(plan.criteria, CriterionRole::faithfulness,
                                              [](const Spec& spec) { return role_of(spec.name); });
  if (plan.choices.find(kMembersChoice) == nullptr) {
    std::vector<Spec> methods;
    for (const PlannedEntry& entry : plan.entries) {
      if (entry.kind == EntryKind::method) methods.push_back(entry.spec);
    }
    const std::vector<size_t> found = faithful_members(subject, methods, *faithfulness, options.advice.margin, context);
    if (found.empty()) return;
    std::vector<std::string> chosen;
    for (const size_t member : found) chosen.push_back(plan.entries[member].name);
    // Planned anew from the record, as when the study is resumed or verified: a single member leaves nothing to
    // aggregate.
    StudyOptions again = options;
    again.choices = plan.choices;
    again.choices.set(kMembersChoice, fmt::format("{}", fmt::join(chosen, ",")));
    StudyPlan parts = plan_parts(subject, again, context);
    take_estimates(plan, parts);
    plan = std::move(parts);
  }
  std::vector<std::string> names;
  for (const size_t member : plan.members) names.push_back(plan.entries[member].name);
  plan.notes.push_back(
      names.size() > 1
          ? fmt::format("aggregates are of {}: the most faithful methods on rows of the pool that are not studied",
                        joined(names))
          : fmt::format("no aggregates: on rows of the pool that are not studied, all faithful methods say what {} "
                        "says",
                        joined(names)));
}

}  // namespace

StudyPlan plan_study(const Subject& subject, const StudyOptions& options, const Context& context,
                     const std::vector<std::string>& notes, const StudyPlan* estimated) {
  StudyPlan plan;
  if (options.choices.find(kTimeChoice) != nullptr) {
    plan = plan_parts(subject, options, context);
    if (estimated != nullptr) take_estimates(*estimated, plan);
  } else {
    plan = plan_in_time(subject, options, context);
  }
  choose_faithful_members(subject, options, plan, context);
  if (plan.all_are_members && plan.choices.find(kMembersChoice) == nullptr && !plan.options.no_aggregates) {
    plan.notes.emplace_back("aggregates are of all methods: fewer than three of the paper's six are studied");
  }
  const ModelInfo& info = subject.model->info();
  if (!info.value_is_prediction && !info.note.empty()) {
    plan.notes.insert(plan.notes.begin(), fmt::format("the explained value is not yet the prediction: {}", info.note));
  }
  if (!info.caution.empty()) plan.notes.insert(plan.notes.begin(), info.caution);
  const std::vector<std::string>& of_rows = subject.rows->notes;
  plan.notes.insert(plan.notes.begin(), of_rows.begin(), of_rows.end());
  plan.notes.insert(plan.notes.begin(), notes.begin(), notes.end());
  return plan;
}

}  // namespace assay
