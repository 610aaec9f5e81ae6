#include "assay/study/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace assay {
namespace {

Matrix explained_pool_rows(const StudySubject& subject, const Spec& method, uint64_t seed, std::span<const size_t> rows,
                           const Context& context) {
  Matrix x(rows.size(), subject.pool.x.cols());
  Targets targets = subject.pool_targets;
  targets.of_row.clear();
  std::vector<std::string> names;
  for (size_t i = 0; i < rows.size(); i++) {
    std::ranges::copy(subject.pool.x.row(rows[i]), x.row(i).begin());
    targets.of_row.push_back(subject.pool_targets.of_row[rows[i]]);
    names.push_back(fmt::format("{} of {}", rows[i] + 1, subject.pool.source));
  }
  Context seeded = context;
  seeded.seed = seed;
  const ExplainTask task{
      subject.model, x.view(), targets, subject.reference, subject.players, names, subject.pool.feature_names};
  return explain(method, task, seeded).values;
}

}  // namespace

ExplainTask explain_task_of(const StudySubject& subject) {
  return {subject.model,   subject.data.x.view(), subject.targets,           subject.reference,
          subject.players, subject.data.ids,      subject.data.feature_names};
}

EvaluateTask evaluate_task_of(const StudySubject& subject, const Explanations& explanations, const Reference& reference,
                              const Spec* method, PoolExplanations* pool) {
  EvaluateTask task{explanations};
  task.data = &subject.data;
  task.model = &subject.model;
  task.margins = subject.margins;
  task.players = &subject.players;
  task.targets = &subject.targets;
  task.reference = &reference;
  task.pool = &subject.pool;
  task.pool_explanations = pool;
  task.method = method;
  task.method_seed = explanations.provenance.seed;
  task.trainer = subject.trainer;
  task.trainer_concurrent = subject.trainer_concurrent;
  return task;
}

AggregateTask aggregate_task_of(const StudySubject& subject, std::span<const Explanations* const> members,
                                std::span<const std::string> names, std::span<PoolExplanations* const> pools) {
  AggregateTask task{members, names};
  task.data = &subject.data;
  task.model = &subject.model;
  task.players = &subject.players;
  task.targets = &subject.targets;
  task.reference = &subject.reference;
  task.pool = &subject.pool;
  task.pool_targets = &subject.pool_targets;
  task.pool_members = pools;
  task.own_rows = subject.own_rows;
  return task;
}

PoolExplanations pool_explanations_by(const StudySubject& subject, const Spec& method, uint64_t seed) {
  return {subject.pool.rows(), subject.players.size(),
          [&subject, &method, seed](std::span<const size_t> rows, const Context& context) {
            return explained_pool_rows(subject, method, seed, rows, context);
          }};
}

}  // namespace assay
