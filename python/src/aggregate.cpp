// _core.aggregate.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/aggregators.h"
#include "assay/core/error.h"
#include "assay/evaluate/joining/explanation_checks.h"
#include "python/src/module.h"
#include "python/src/run.h"
#include "python/src/specs.h"
#include "python/src/subject.h"

namespace nb = nanobind;

namespace assay::python {
namespace {

using ExplainedMembers = std::vector<std::shared_ptr<Explained>>;

// Explanations of the pool's rows for each member: those given, or made by the member's own method.
std::vector<PoolExplanations*> pools_of(const ExplainedMembers& members, const ExplainedMembers& given,
                                        const std::shared_ptr<SubjectHandle>& subject,
                                        std::vector<std::shared_ptr<PoolSource>>& kept, const Context& context) {
  std::vector<PoolExplanations*> pools;
  for (size_t i = 0; i < members.size(); i++) {
    std::shared_ptr<PoolSource> source;
    if (!given.empty()) {
      check_given_pool(fmt::format("pool_members[{}]", i), given[i]->explanations, members[i]->explanations,
                       subject.get(), context);
      source = std::make_shared<PoolSource>();
      source->explanations = std::make_unique<PoolExplanations>(given[i]->explanations.values);
    } else {
      source = pool_source(*members[i], subject, context);
    }
    if (source == nullptr) return {};  // the pool's aggregate needs all members
    pools.push_back(source->explanations.get());
    kept.push_back(std::move(source));
  }
  return pools;
}

void fill_task(AggregateRecipe& recipe, const std::shared_ptr<SubjectHandle>& subject, const ExplainedMembers& given,
               std::vector<std::shared_ptr<PoolSource>>& kept, const Context& context) {
  AggregateTask& task = recipe.task;
  task.members = recipe.member_views;
  task.names = recipe.names;
  if (recipe.members.size() == 1 && recipe.members[0]->method) {
    task.method = &*recipe.members[0]->method;
    task.method_seed = recipe.members[0]->explanations.provenance.seed;
  }
  if (subject == nullptr) return;
  const bool pool = subject->subject.pool != nullptr;
  task.subject = pool ? subject->view_with_pool(context) : subject->subject.view();
  if (!pool) return;
  recipe.pools = pools_of(recipe.members, given, subject, kept, context);
  task.pool_members = recipe.pools;
  task.pool_given = !given.empty();
}

// The subject of a member that covers the subjects of all others, if there is one. They may differ: a gradient needs no
// reference and may have been made without a pool.
std::shared_ptr<SubjectHandle> shared_subject(const ExplainedMembers& members) {
  for (const auto& candidate : members) {
    const auto covered = [&](const auto& member) {
      return member->subject != nullptr && covers(*candidate->subject, *member->subject);
    };
    if (candidate->subject != nullptr && std::ranges::all_of(members, covered)) return candidate->subject;
  }
  return {};
}

std::shared_ptr<Explained> aggregate_members(const ExplainedMembers& members, std::vector<std::string> names,
                                             const SpecPair& aggregator, const Run& run,
                                             std::shared_ptr<SubjectHandle> subject,
                                             const ExplainedMembers& pool_members) {
  if (names.size() != members.size()) fail_input("names", "one for each member", "fewer or more");
  if (!pool_members.empty() && pool_members.size() != members.size()) {
    fail_input("pool_members", fmt::format("{}, one for each member", members.size()),
               fmt::format("{}", pool_members.size()));
  }
  if (subject == nullptr) subject = shared_subject(members);
  auto result = std::make_shared<Explained>();
  auto recipe = std::make_shared<AggregateRecipe>();
  recipe->spec = spec_of(aggregator);
  recipe->members = members;
  recipe->names = std::move(names);
  for (const auto& member : members) recipe->member_views.push_back(&member->explanations);
  run_engine(run, [&](const Context& context) {
    const Context quiet = context.quiet();
    std::optional<EngineCall::Turn> turn;
    if (subject != nullptr && subject->subject.pool != nullptr) turn.emplace(context);
    for (size_t i = 0; subject != nullptr && i < members.size(); i++) {
      if (members[i]->subject == subject) continue;
      const OwnedSubject& all = subject->subject;
      check_explained_rows(recipe->names[i], members[i]->explanations, *all.rows);
      check_player_names(recipe->names[i], members[i]->explanations, all.players.names, all.rows->source);
    }
    const bool asks_model = find_aggregator(recipe->spec.name).needs.model;
    for (size_t i = 0; subject != nullptr && asks_model && i < members.size(); i++) {
      check_same_model(recipe->names[i], members[i]->explanations, *subject, quiet);
    }
    fill_task(*recipe, subject, pool_members, recipe->pool_sources, quiet);
    recipe->made = aggregate(recipe->spec, recipe->task, context);
  });
  result->explanations = recipe->made.explanations;
  Explanations& made = result->explanations;
  if (subject != nullptr) {
    if (made.provenance.data.empty()) made.provenance.data = subject->subject.words.rows;
    if (made.provenance.players.empty()) made.provenance.players = subject->subject.words.players;
  }
  result->subject = std::move(subject);
  result->recipe = recipe;
  for (const Undefined& each : recipe->made.undefined) {
    made.notes.push_back(fmt::format("{} of {} rows are undefined: {}", each.rows, made.rows(), each.reason));
  }
  return result;
}

}  // namespace

void bind_aggregate(nb::module_& m) {
  m.def("aggregate", &aggregate_members, nb::arg("members"), nb::arg("names"), nb::arg("aggregator"), nb::arg("run"),
        nb::arg("subject").none() = nb::none(), nb::arg("pool_members") = ExplainedMembers());
}

}  // namespace assay::python
