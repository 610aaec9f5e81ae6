#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/aggregators.h"
#include "assay/aggregate/members.h"
#include "assay/aggregate/mixtures/pair_grams.h"
#include "assay/core/error.h"
#include "assay/evaluate/common.h"

namespace assay {
namespace {

// The weights that all rows of an aggregate share; nothing where rows have their own.
std::optional<std::vector<double>> shared_weights(const Combination& made) {
  std::optional<std::vector<double>> shared;
  for (size_t r = 0; r < made.weights.rows(); r++) {
    const auto weights = made.weights.row(r);
    if (!all_finite(weights)) continue;  // of a row without a result
    if (!shared) shared = {weights.begin(), weights.end()};
    if (!std::ranges::equal(*shared, weights)) return {};
  }
  if (!shared) return {};
  // Rounded to float32 they do not quite sum to 1.
  const double sum = std::accumulate(shared->begin(), shared->end(), 0.0);
  for (double& each : *shared) each /= sum;
  return shared;
}

// With the radius that `made` chose where it chose one: pool rows would choose their own, and another for each few of
// them that are needed at a time.
Spec with_radius_of(Spec spec, const Aggregate& made) {
  const auto table = std::ranges::find(made.tables, kRadiusTable, &ScoreTable::name);
  if (table == made.tables.end()) return spec;
  std::erase_if(spec.options, [](const auto& option) { return option.first == "radius"; });
  // Digits enough to read back as the same number.
  spec.options.emplace_back("radius", fmt::format("{}", table->rows[0][0]));
  return spec;
}

// What makes the aggregate of the pool's rows: weights that were learnt are not learnt again.
Spec spec_of_pool(const Spec& spec, const AggregatorInfo& info, const Aggregate& made) {
  if (!info.learns_weights ||
      std::ranges::find(spec.options, std::pair<std::string, std::string>("per", "row")) != spec.options.end()) {
    return with_radius_of(spec, made);
  }
  const auto weights = shared_weights(made.explanations.combination);
  if (!weights) return spec;
  Spec convex{"convex"};
  // Digits enough to read back as the same number.
  convex.options.emplace_back("weights", fmt::format("[{}]", fmt::join(*weights, ",")));
  for (const auto& option : spec.options) {
    if (option.first == "scale") convex.options.push_back(option);
  }
  return convex;
}

// The aggregate of rows of a pool, with all that a task of its own refers to.
class PoolAggregate {
 public:
  PoolAggregate(Spec spec, const AggregateTask& task, const Aggregate& made)
      : spec_(std::move(spec)), task_(task), outputs_(task), names_(made.explanations.combination.members) {
    features_ = made.explanations.features;
    seed_ = made.explanations.provenance.seed;
    const AggregatorInfo& info = find_aggregator(spec_.name);
    const std::unique_ptr<Aggregator> aggregator = info.make(spec_);
    // Whoever can do without members explains what it needs, unless all explanations come from files.
    if (aggregator->needs(info.needs).members == 0 && !task.pool_given) task_.pool_members = {};
    if (task_.pool_members.empty()) return;
    for (const Explanations* member : task.members) {
      provenance_.push_back(member->provenance);
      based_.push_back(says_base(*member));
    }
    // To scale to, and to tell noise from explanations, which takes both output and base.
    const bool based = std::ranges::find(based_, true) != based_.end();
    wants_outputs_ = aggregator->scales_to_output() || (based && !aggregator->takes_raw_members());
  }

  Matrix operator()(std::span<const size_t> rows, const Context& context) const {
    Context own = context;
    own.seed = seed_;
    AggregateTask task = task_;
    std::optional<Dataset> data;
    if (task_.subject.pool != nullptr) data = select_rows(*task_.subject.pool, {rows.begin(), rows.end()});
    task.subject.rows = data ? &*data : nullptr;
    std::optional<Targets> targets;
    if (task_.subject.pool_targets != nullptr) targets = select_targets(*task_.subject.pool_targets, rows);
    task.subject.targets = targets ? &*targets : nullptr;
    const std::vector<Explanations> members = members_of(rows, task, own);
    std::vector<const Explanations*> views;
    for (const Explanations& member : members) views.push_back(&member);
    task.members = views;
    task.names = members.empty() ? std::span<const std::string>() : std::span<const std::string>(names_);
    task.subject.in_pool = rows;
    return std::move(aggregate(spec_, task, own).explanations.values);
  }

 private:
  std::vector<Explanations> members_of(std::span<const size_t> rows, const AggregateTask& task,
                                       const Context& context) const {
    std::vector<Explanations> made(task_.pool_members.size());
    PoolOutputs::Values explained;
    if (wants_outputs_) explained = outputs_.of(rows, context);
    for (size_t j = 0; j < made.size(); j++) {
      task_.pool_members[j]->need(rows, context);
      const MatrixView<const float> all = task_.pool_members[j]->values();
      made[j].values = Matrix(rows.size(), all.cols());
      for (size_t r = 0; r < rows.size(); r++) std::ranges::copy(all.row(rows[r]), made[j].values.row(r).begin());
      made[j].features = features_;
      made[j].base.assign(rows.size(), NAN);
      if (!explained.base.empty() && based_[j]) made[j].base = explained.base;
      made[j].output = explained.output.empty() ? std::vector<double>(rows.size(), NAN) : explained.output;
      made[j].gap.assign(rows.size(), NAN);
      if (task.subject.targets != nullptr) {
        made[j].target = task.subject.targets->of_row;
        made[j].target_names = task.subject.targets->names;
      }
      made[j].provenance = provenance_[j];
    }
    return made;
  }

  Spec spec_;
  AggregateTask task_;
  PoolOutputs outputs_;
  std::vector<std::string> names_;
  std::vector<std::string> features_;
  uint64_t seed_ = 0;
  bool wants_outputs_ = false;
  std::vector<Provenance> provenance_;  // of each member
  std::vector<bool> based_;             // whether the member has base values
};

void check_pool(const Spec& spec, const AggregateTask& task, const AggregatorInfo& info) {
  const std::unique_ptr<Aggregator> aggregator = info.make(spec);
  const auto refuse = [&](std::string_view why, Need need) {
    throw Error(ErrorKind::unsupported, fmt::format("{} of the pool's rows {}", info.name, why), need);
  };
  if (aggregator->needs(info.needs).members > 0 && task.pool_members.empty()) {
    refuse("needs explanations of those rows by every member, or the methods to make them", Need::pool_members);
  }
  if (task.pool_members.empty() && (task.subject.pool == nullptr || task.subject.pool_targets == nullptr)) {
    refuse("needs the pool and what is explained of its rows", Need::pool);
  }
  if (aggregator->scales_to_output() && !PoolOutputs(task).known()) {
    refuse("needs model, pool and reference for scale=output: what is to be scaled to is not known of those rows",
           Need::model);
  }
}

}  // namespace

PoolExplanations aggregate_of_pool(const Spec& spec, const AggregateTask& task, const Aggregate& made) {
  const AggregatorInfo& info = find_aggregator(spec.name);
  check_pool(spec, task, info);
  const size_t rows = task.subject.pool != nullptr ? task.subject.pool->rows() : task.pool_members[0]->rows();
  // Shared: a std::function is copied about.
  const auto make = std::make_shared<PoolAggregate>(spec_of_pool(spec, info, made), task, made);
  return {rows, made.explanations.players(),
          [make](std::span<const size_t> needed, const Context& context) { return (*make)(needed, context); }};
}

}  // namespace assay
