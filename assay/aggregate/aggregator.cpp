#include "assay/aggregate/aggregator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "assay/aggregate/aggregators.h"
#include "assay/aggregate/errors.h"
#include "assay/aggregate/members.h"
#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/core/vector_target.h"
#include "assay/core/version.h"
#include "assay/evaluate/joining/explained_values.h"
#include "assay/evaluate/joining/explanation_checks.h"
#include "assay/explain/missing_part.h"

namespace assay {
namespace {

// A sum so much smaller than its terms is rounding.
constexpr double kCancelledSum = 1e-6;

// The first need that is not met, in words.
std::optional<Refusal> missing_need(const AggregateNeeds& needs, const AggregateTask& task) {
  if (task.members.size() < needs.members) {
    return Refusal(
        fmt::format("needs at least {} {}, and there {} {}", needs.members, needs.members == 1 ? "member" : "members",
                    task.members.size() == 1 ? "is" : "are", task.members.size()),
        Need::members);
  }
  if (auto missing = missing_part(task.subject, needs.model, needs.reference, needs.pool)) return missing;
  if (needs.pool_members && task.pool_members.empty()) {
    return Refusal("needs explanations of the pool's rows by every member, or the methods to make them",
                   Need::pool_members);
  }
  return {};
}

// For each row the members' own value where those that have one agree, else NaN.
std::vector<double> shared_value(const AggregateTask& task, std::vector<double> Explanations::* values) {
  std::vector<double> found(task.rows(), NAN);
  for (size_t r = 0; r < found.size(); r++) {
    bool agree = true;
    for (const Explanations* member : task.members) {
      const double value = (member->*values)[r];
      if (!std::isfinite(value)) continue;
      if (std::isnan(found[r])) found[r] = value;
      agree = agree && std::abs(value - found[r]) <= 1e-4 * std::max(1.0, std::abs(found[r]));
    }
    if (!agree) found[r] = NAN;
  }
  return found;
}

// The explained value of each row: as the members say, or as the model gives it where there are no members. What
// antecedents have is no prediction for the row.
std::vector<double> own_outputs(const AggregateTask& task, const Context& context) {
  const Subject& subject = task.subject;
  const bool known = subject.model != nullptr && subject.rows != nullptr && subject.targets != nullptr;
  if (!task.members.empty() || !known) return shared_value(task, &Explanations::output);
  return explained_values(*subject.model, *subject.rows, *subject.targets, context.quiet());
}

double sum_of(std::span<const float> values) {
  double sum = 0;
  for (const float each : values) sum += each;
  return sum;
}

void scale_to_output(Explanations& made, UndefinedCounts& undefined) {
  size_t reversed = 0;
  for (size_t r = 0; r < made.rows(); r++) {
    const auto values = made.values.row(r);
    if (!std::isfinite(values[0])) continue;
    const double sum = sum_of(values);
    double size = 0;
    for (const float each : values) size += std::abs(each);
    const double wanted = made.output[r] - made.base[r];
    std::string_view reason;
    if (!std::isfinite(wanted)) {
      reason = "the members say no output and base to scale to, or differ in them";
    } else if (std::abs(sum) <= kCancelledSum * size) {
      reason = "the values sum to 0, so that no scale makes them add up";
    }
    if (!reason.empty()) undefined.add(reason);
    const double factor = reason.empty() ? wanted / sum : NAN;
    reversed += factor < 0 ? 1 : 0;
    for (float& each : values) each = static_cast<float>(each * factor);
    for (Matrix* errors : {&made.standard_error, &made.background_error}) {
      if (errors->empty()) continue;
      for (float& each : errors->row(r)) each = static_cast<float>(each * std::abs(factor));
    }
  }
  if (reversed == 0) return;
  made.notes.push_back(fmt::format(
      "{} of {} rows have all signs reversed: their values summed to the other side of 0 than output - base", reversed,
      made.rows()));
}

// Of sampled members, where the aggregate is a weighted sum of them; elsewhere errors have no formula, and a note says
// that there are some.
void add_errors(const AggregateTask& task, const Members& members, Explanations& made) {
  if (!made.standard_error.empty() || !has_sampled_members(task)) return;
  if (!made.combination.weights.empty() && made.combination.antecedents.empty()) {
    WeightedErrors errors = weighted_errors(task, members, made.combination.weights);
    made.standard_error = std::move(errors.sampling);
    made.background_error = std::move(errors.background);
    return;
  }
  made.notes.emplace_back("members are sampled, and their standard errors are not carried into this aggregate");
}

void add_measures(const Members& members, Explanations& made) {
  std::vector<double> norms(made.rows(), NAN);
  std::vector<double> cosines(made.rows(), NAN);
  std::vector<double> mean(made.players());
  for (size_t r = 0; r < made.rows(); r++) {
    const auto values = made.values.row(r);
    double squares = 0;
    for (const float each : values) squares += static_cast<double>(each) * each;
    norms[r] = std::sqrt(squares);
    if (members.size() == 0) continue;
    double product = 0;
    double of_mean = 0;
    double of_members = 0;
    std::ranges::fill(mean, 0.0);
    for (size_t j = 0; j < members.size(); j++) {
      const auto member = members.of(j, r);
      for (size_t p = 0; p < mean.size(); p++) mean[p] += member[p];
      for (const float each : member) of_members += static_cast<double>(each) * each;
    }
    for (size_t p = 0; p < mean.size(); p++) {
      product += mean[p] * values[p];
      of_mean += mean[p] * mean[p];
    }
    // Members that cancel have a mean of rounding alone, and that has no direction.
    const bool cancelled = std::sqrt(of_mean) <= kCancelledSum * std::sqrt(of_members);
    cosines[r] = cancelled ? NAN : product / (std::sqrt(of_mean) * norms[r]);
  }
  auto& measures = made.combination.measures;
  measures.insert(measures.begin(), {{"norm", std::move(norms)}, {"cosine", std::move(cosines)}});
}

Provenance provenance_of(const AggregatorInfo& info, const Spec& spec, const AggregateTask& task,
                         const Context& context) {
  Provenance made;
  // What all members say alike is so of the aggregate.
  if (!task.members.empty()) {
    made = task.members[0]->provenance;
    for (const Explanations* member : task.members) keep_shared(member->provenance, made);
  } else {
    const Subject& subject = task.subject;
    made.model = subject.model->info().name;
    made.unit = explained_unit(subject.model->info(), *subject.targets);
    made.target = target_in_words(*subject.targets);
    made.data = subject.words.rows;
    made.part = subject.rows->part;
    made.players = subject.words.players;
  }
  if (task.subject.reference != nullptr && info.needs.reference) made.reference = task.subject.reference->description;
  made.method = info.name;
  made.options.clear();
  for (const OptionInfo& option : info.options) {
    const auto given = std::ranges::find(spec.options, option.name, &std::pair<std::string, std::string>::first);
    made.options.emplace_back(option.name, given == spec.options.end() ? option.value : given->second);
  }
  made.seed = context.seed;
  made.version = kVersion;
  made.vector_target = vector_target();
  return made;
}

// What rows, players and targets are, from the members or, without any, from the task.
Explanations frame_of(const AggregateTask& task) {
  Explanations made;
  const size_t rows = task.rows();
  if (!task.members.empty()) {
    fill_frame(task.members, made);
  } else {
    made.features = task.subject.players->names;
    made.columns = columns_behind(task.subject);
    made.target = task.subject.targets->of_row;
    made.target_names = task.subject.targets->names;
    made.ids = task.subject.rows->ids;
    made.id_name = task.subject.rows->id_name;
    made.row_numbers = task.subject.rows->row_numbers;
  }
  made.values = Matrix(rows, made.features.size());
  std::ranges::fill(made.values.values(), std::numeric_limits<float>::quiet_NaN());
  made.base.assign(rows, NAN);
  made.output.assign(rows, NAN);
  made.gap.assign(rows, NAN);
  return made;
}

}  // namespace

std::optional<Refusal> aggregator_refusal(const Spec& spec, const AggregateTask& task) {
  const AggregatorInfo& info = find_aggregator(spec.name);
  const std::unique_ptr<Aggregator> aggregator = info.make(spec);
  std::optional<Refusal> reason = missing_need(aggregator->needs(info.needs), task);
  if (!reason) reason = aggregator->refuses(task);
  if (!reason) return {};
  return Refusal(fmt::format("{} {}", info.name, reason->reason), reason->need);
}

Aggregate aggregate(const Spec& spec, const AggregateTask& task, const Context& context) {
  const AggregatorInfo& info = find_aggregator(spec.name);
  const std::unique_ptr<Aggregator> aggregator = info.make(spec);
  check_members(task);
  if (const auto reason = aggregator_refusal(spec, task)) refuse(*reason);
  Aggregate out;
  Explanations& made = out.explanations;
  made = frame_of(task);
  const Members members(task, !aggregator->takes_raw_members());
  Combined combined{made.values.view()};
  aggregator->combine(task, members, combined, context);

  made.combination.weights = std::move(combined.weights);
  made.combination.antecedents = std::move(combined.antecedents);
  made.combination.measures = std::move(combined.measures);
  made.combination.relative = !aggregator->adds_up() && !aggregator->scales_to_output();
  made.standard_error = std::move(combined.standard_error);
  made.evaluations = combined.evaluations;
  made.notes = std::move(combined.notes);
  made.base = combined.base.empty() ? shared_value(task, &Explanations::base) : std::move(combined.base);
  made.output = own_outputs(task, context);
  if (!combined.output.empty()) {
    made.combination.measures.push_back({std::string(kAntecedentsOutput), std::move(combined.output)});
  }
  add_errors(task, members, made);
  if (aggregator->scales_to_output()) scale_to_output(made, combined.undefined);
  if (!made.combination.relative) {
    for (size_t r = 0; r < made.rows(); r++) made.gap[r] = made.output[r] - made.base[r] - sum_of(made.values.row(r));
  }
  made.combination.members = member_names(task);
  // Other rows than those it explains.
  if (task.members.empty()) made.combination.members = {"antecedents"};
  add_measures(members, made);
  made.provenance = provenance_of(info, spec, task, context);
  note_members(task, members, made);
  out.tables = std::move(combined.tables);
  out.undefined = combined.undefined.take();
  return out;
}

}  // namespace assay
