#include "assay/study/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "assay/aggregate/aggregators.h"
#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/evaluate/criteria.h"
#include "assay/explain/methods.h"

namespace assay {
namespace {

constexpr size_t kFewestPaperMethods = 3;
// A method that needs more evaluations for one wide row and one reference row is left out unless it is named.
constexpr uint64_t kMostEvaluationsOfWideRow = 5'000;

// All zero: for questions that depend on shapes alone.
Explanations blank_explanations(const Subject& subject) {
  Explanations made;
  made.values = Matrix(subject.rows->rows(), subject.players->size());
  made.features = subject.players->names;
  made.target = subject.targets->of_row;
  made.target_names = subject.targets->names;
  made.base.assign(made.rows(), NAN);
  made.output.assign(made.rows(), NAN);
  made.gap.assign(made.rows(), NAN);
  return made;
}

// The name with every character but letters, digits and _ replaced by -. Unique even where case does not count.
std::string stem_of(const std::string& name, std::set<std::string>& taken) {
  std::string stem;
  for (const char c : name.substr(0, 60)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    stem += plain ? c : '-';
  }
  std::string unique = stem;
  for (int i = 2; !taken.insert(lower_case(unique)).second; i++) unique = fmt::format("{}-{}", stem, i);
  return unique;
}

class Planner {
 public:
  Planner(const Subject& subject, const StudyOptions& options, const Context& context)
      : subject_(subject), context_(context), blank_(blank_explanations(subject)) {
    plan_.options = options;
    plan_.choices = options.choices;
    if (options.choices.is(kAggregatesChoice, "none")) plan_.options.no_aggregates = true;
    if (options.choices.is(kCurvesChoice, "none")) plan_.options.curves = false;
    if (options.choices.is(kVariationsChoice, "none")) plan_.options.variations = false;
    if (const std::string* members = options.choices.find(kMembersChoice); members != nullptr) {
      plan_.options.members.clear();
      for (const Spec& spec : parse_specs("members", *members)) plan_.options.members.push_back(spec_text(spec));
    }
    context_.progress = nullptr;  // the pilot is no part of the study's progress
  }

  StudyPlan make() {
    choose_methods();
    method_ = plan_.entries.front().spec;
    choose_members();
    choose_criteria();
    choose_aggregators();
    return std::move(plan_);
  }

 private:
  // Throws if what was named is refused; notes in left_out what was not named.
  bool possible(bool named, std::string_view kind, const Spec& spec, const std::optional<Refusal>& reason) {
    if (!reason) return true;
    if (named) refuse(*reason);
    plan_.left_out.push_back({std::string(kind), spec.name, reason->reason});
    return false;
  }

  void add_entry(const Spec& spec, EntryKind kind, const std::string& name) {
    for (const PlannedEntry& other : plan_.entries) {
      if (other.name == name)
        fail_input("the study", "each method and aggregator once", fmt::format("{} twice", in_quotes(name)));
    }
    plan_.entries.push_back({spec, name, stem_of(name, stems_), kind});
  }

  void choose_methods() {
    const bool named = !plan_.options.methods.empty();
    std::vector<Spec> wanted = plan_.options.methods;
    const ExplainTask task = explain_task_of(subject_);
    for (const MethodInfo& method : methods()) {
      // Without trees, methods for trees are not even listed as left out.
      const bool fits = !method.for_trees || task.model.tree_scores() != nullptr;
      if (!named && fits) wanted.push_back({method.name});
    }
    for (Spec& spec : wanted) {
      if (!possible(named, "method", spec, refusal(spec, task))) continue;
      const std::string& faster = find_method(spec.name).same_as;
      if (!named && !faster.empty() && !refusal({faster}, task)) {
        possible(false, "method", spec,
                 fmt::format("{} gives the values of {}, which is faster: name it among the methods to have it",
                             spec.name, faster));
        continue;
      }
      if (!named && leave_out_if_dear(spec)) continue;
      if (!named && leave_out_for_time(spec)) continue;
      if (const Spec* chosen = named ? nullptr : chosen_method(spec.name); chosen != nullptr) spec = *chosen;
      add_entry(spec, EntryKind::method, spec_text(spec));
    }
    if (plan_.entries.empty()) throw Error(ErrorKind::unsupported, "no method can explain this model");
  }

  // Leaves the method out if rows are wide and each takes too many evaluations. Returns whether it did.
  bool leave_out_if_dear(const Spec& spec) {
    if (subject_.players->size() <= kWidePlayers) return false;
    const Reference first = first_reference_row();
    const std::optional<uint64_t> known = known_evaluations(spec, first);
    const uint64_t evaluations = known ? *known : tried_evaluations(spec, first);
    if (evaluations <= kMostEvaluationsOfWideRow) return false;
    return !possible(
        false, "method", spec,
        fmt::format("{} takes {} evaluations of the model for a row of {} players: name it among the methods to "
                    "have it",
                    spec.name, evaluations * subject_.reference->rows.rows(), subject_.players->size()));
  }

  // Whether the choice of this name lists some things, and this one is not among them.
  bool not_chosen(std::string_view choice, const std::string& name) const {
    const std::string* chosen = plan_.options.choices.find(choice);
    if (chosen == nullptr || *chosen == "all" || *chosen == "none") return false;
    const std::vector<Spec> kept = parse_specs(choice, *chosen);
    return std::ranges::find(kept, name, [](const Spec& each) { return spec_text(each); }) == kept.end();
  }

  // The method as an earlier plan chose it, perhaps with fewer samples. Null if it chose none.
  const Spec* chosen_method(const std::string& name) {
    const std::string* chosen = plan_.options.choices.find(kMethodsChoice);
    if (chosen == nullptr) return nullptr;
    if (chosen_methods_.empty()) chosen_methods_ = parse_specs(kMethodsChoice, *chosen);
    const auto found = std::ranges::find(chosen_methods_, name, &Spec::name);
    return found == chosen_methods_.end() ? nullptr : &*found;
  }

  // Leaves the method out if an earlier plan did so for lack of time. The reason holds no time: it is part of the
  // study's results.
  bool leave_out_for_time(const Spec& spec) {
    if (plan_.options.choices.find(kMethodsChoice) == nullptr || chosen_method(spec.name) != nullptr) return false;
    const std::optional<uint64_t> evaluations = known_evaluations(spec, *subject_.reference);
    return !possible(
        false, "method", spec,
        fmt::format("{} takes {}more time than is allowed: allow more, or name it among the methods, to "
                    "have it",
                    spec.name,
                    evaluations ? fmt::format("{} evaluations of the model for a row, ", *evaluations) : ""));
  }

  // Evaluations for one row, if known without a pilot. With thousands of players, the pilot of a method that is then
  // left out would take longer than all others.
  std::optional<uint64_t> known_evaluations(const Spec& spec, const Reference& reference) const {
    const Targets target = slice_targets(*subject_.targets, 0, 1);
    return find_method(spec.name).make(spec)->known_evaluations(first_row_task(target, reference));
  }

  uint64_t tried_evaluations(const Spec& spec, const Reference& reference) const {
    const Targets target = slice_targets(*subject_.targets, 0, 1);
    return explain(spec, first_row_task(target, reference), context_).evaluations;
  }

  // Whether a method is too dear for wide rows does not depend on how large the background is: that is a matter of
  // time.
  Reference first_reference_row() const {
    const Reference& all = *subject_.reference;
    Reference first{Matrix(std::min<size_t>(all.rows.rows(), 1), all.rows.cols()), all.description, all.scales};
    if (!all.rows.empty()) std::ranges::copy(all.rows.row(0), first.rows.row(0).begin());
    return first;
  }

  void choose_members() {
    // An entry of this very name, or else all of the method: "lime" is not "lime:samples=18" where both are studied.
    const auto add_named = [&](std::string_view name) {
      const bool exact = std::ranges::find(plan_.entries, name, &PlannedEntry::name) != plan_.entries.end();
      for (size_t i = 0; i < plan_.entries.size(); i++) {
        const PlannedEntry& entry = plan_.entries[i];
        const bool named = exact ? entry.name == name : entry.spec.name == name;
        if (named && std::ranges::find(plan_.members, i) == plan_.members.end()) plan_.members.push_back(i);
      }
    };
    for (const std::string& name : plan_.options.members) {
      const auto is_meant = [&](const PlannedEntry& entry) { return entry.name == name || entry.spec.name == name; };
      add_named(name);
      if (std::ranges::any_of(plan_.entries, is_meant)) continue;
      std::vector<std::string> names;
      for (const PlannedEntry& entry : plan_.entries) names.push_back(entry.name);
      fail_argument("members",
                    fmt::format(": expected methods of the study: {}, found {}", joined(names, "or"), in_quotes(name)));
    }
    if (!plan_.members.empty()) return;
    for (size_t i = 0; i < plan_.entries.size(); i++) {
      if (find_method(plan_.entries[i].spec.name).of_paper) plan_.members.push_back(i);
    }
    if (plan_.members.size() >= kFewestPaperMethods) return;
    plan_.members.clear();
    for (size_t i = 0; i < plan_.entries.size(); i++) plan_.members.push_back(i);
    plan_.all_are_members = true;
  }

  void choose_criteria() {
    const bool named = !plan_.options.criteria.empty();
    std::vector<Spec> wanted = plan_.options.criteria;
    for (const CriterionInfo& info : criteria()) {
      const bool asked = std::ranges::find(wanted, info.name, &Spec::name) != wanted.end();
      if ((!named && info.of_paper) || (plan_.options.retrain && info.retrains && !asked)) {
        wanted.push_back({info.name});
      }
    }
    PoolExplanations pool(subject_.pool->rows(), subject_.players->size(), {});
    const EvaluateTask task = blank_task(pool);
    std::set<std::string> seen;
    for (const Spec& spec : wanted) {
      if (!seen.insert(spec_text(spec)).second) {
        fail_argument("criteria",
                      fmt::format(": expected each criterion once, found {} twice", in_quotes(spec_text(spec))));
      }
      const CriterionInfo& info = find_criterion(spec.name);
      const bool asked = named || (plan_.options.retrain && info.retrains);
      if (possible(asked, "criterion", spec, criterion_refusal(spec, task))) plan_.criteria.push_back(spec);
    }
    if (plan_.criteria.empty()) throw Error(ErrorKind::unsupported, "no criterion can score this model");
  }

  struct Wanted {
    Spec spec;
    std::string name;
    std::optional<std::string> left_out;
  };

  // Adds a study's own defaults for options that the user did not set. They avoid what depends on a clock, what takes
  // hours, and what the study does anyway.
  Wanted with_defaults(Spec spec, bool named) {
    const AggregatorInfo& info = find_aggregator(spec.name);
    Wanted made{spec, spec_text(spec), {}};
    if (info.study_defaults == nullptr) return made;
    StudyDefaults defaults = info.study_defaults(subject_, named);
    for (const StudyDefaults::Option& option : defaults.options) {
      const auto said = std::ranges::find(spec.options, option.name, &std::pair<std::string, std::string>::first);
      if (said != spec.options.end()) continue;
      made.spec.options.emplace_back(option.name, option.value);
      plan_.notes.push_back(fmt::format("{} has {}={}: {}", spec.name, option.name, option.value, option.why));
    }
    made.left_out = std::move(defaults.left_out);
    return made;
  }

  void choose_aggregators() {
    if (plan_.options.no_aggregates) return;
    const bool named = !plan_.options.aggregators.empty();
    std::vector<Wanted> wanted;
    for (const Spec& spec : plan_.options.aggregators) wanted.push_back(with_defaults(spec, true));
    for (const AggregatorInfo& info : aggregators()) {
      if (!named) wanted.push_back(with_defaults({info.name}, false));
    }
    const std::vector<const Explanations*> members(plan_.members.size(), &blank_);
    std::vector<PoolExplanations> pools;
    for (size_t i = 0; i < members.size(); i++) {
      // No rows: a matrix of the pool's size for each member would only waste memory.
      pools.emplace_back(0, subject_.players->size(), PoolExplanations::Make());
    }
    std::vector<PoolExplanations*> pool_of;
    for (PoolExplanations& pool : pools) pool_of.push_back(&pool);
    for (const auto& [spec, name, left_out] : wanted) {
      const bool alone = find_aggregator(spec.name).needs.members == 0;
      const auto own = std::span(members).first(alone ? 0 : members.size());
      const AggregateTask task{
          .members = own, .subject = subject_, .pool_members = std::span(pool_of).first(own.size())};
      std::optional<Refusal> reason = aggregator_refusal(spec, task);
      if (!reason && !named) reason = left_out;
      if (!reason && !named && own.size() == 1) {
        reason = fmt::format("{} combines explanations, and there is one: study two methods or more", spec.name);
      }
      if (!reason && !named && not_chosen(kAggregatesChoice, name)) {
        reason = fmt::format(
            "{} takes more time than is allowed: allow more, or name it among the aggregators, to have it", spec.name);
      }
      if (possible(named, "aggregator", spec, reason)) add_entry(spec, EntryKind::aggregate, name);
    }
  }

  // For questions that depend only on shapes, the model and the pool.
  EvaluateTask blank_task(PoolExplanations& pool) const {
    return {.explanations = blank_, .subject = subject_, .pool_explanations = &pool, .method = &method_};
  }

  ExplainTask first_row_task(const Targets& target, const Reference& reference) const {
    return {*subject_.model, subject_.rows->x.view().rows_between(0, 1), target, reference, *subject_.players};
  }

  const Subject& subject_;
  Context context_;
  Explanations blank_;
  Spec method_;  // any possible one: criteria only ask whether there is one and whether it can be run again
  StudyPlan plan_;
  std::set<std::string> stems_;
  std::vector<Spec> chosen_methods_ = {};  // of options.choices, once they are asked for
};

}  // namespace

void check_study_options(const StudyOptions& options) {
  for (const Spec& spec : options.methods) find_method(spec.name).make(spec);
  for (const Spec& spec : options.criteria) find_criterion(spec.name).make(spec);
  for (const Spec& spec : options.aggregators) find_aggregator(spec.name).make(spec);
}

StudyPlan plan_parts(const Subject& subject, const StudyOptions& options, const Context& context) {
  return Planner(subject, options, context).make();
}

}  // namespace assay
