#include "assay/explain/subject.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/explain/reasons/shown_values.h"

namespace assay {

Subject OwnedSubject::view() const {
  return {.model = model.get(),
          .margins = margins.get(),
          .probabilities = probabilities.get(),
          .rows = rows.get(),
          .players = &players,
          .targets = &targets,
          .reference = &reference,
          .pool = pool.get(),
          .pool_targets = pool_targets ? &*pool_targets : nullptr,
          .in_pool = in_pool,
          .other_references = other_references,
          .trainer = trainer,
          .trainer_concurrent = trainer_concurrent,
          .words = words};
}

Trainer trainer_of(const Model& model) {
  const Trainable* trainable = model.trainable();
  if (trainable == nullptr) return {};
  return [trainable](const Dataset& training, uint64_t seed, const Context& context) {
    return trainable->retrain(training, seed, context);
  };
}

ExplainTask explain_task_of(const Subject& subject) {
  static const Reference none;
  const Dataset& rows = *subject.rows;
  const Reference& reference = subject.reference == nullptr ? none : *subject.reference;
  return {*subject.model, rows.x.view(), *subject.targets, reference, *subject.players, rows.ids, rows.feature_names};
}

Explanations explain(const Spec& method, const Subject& subject, const Context& context, Kept* designs) {
  ExplainTask task = explain_task_of(subject);
  task.designs = designs;
  return with_words_of(subject, explain(method, task, context));
}

std::vector<std::vector<std::string>> columns_behind(const Subject& subject) {
  if (!subject.rows->item_shape.empty()) return {};
  const FeatureColumns columns = columns_of_players(*subject.players, *subject.rows);
  const bool own_names = columns == columns_named_alike(subject.players->names);
  return own_names && !are_given_groups(subject.words.players) ? FeatureColumns() : columns;
}

Explanations with_words_of(const Subject& subject, Explanations made) {
  made.ids = subject.rows->ids;
  made.id_name = subject.rows->id_name;
  made.row_numbers = subject.rows->row_numbers;
  made.provenance.data = subject.words.rows;
  made.provenance.part = subject.rows->part;
  made.provenance.players = subject.words.players;
  made.columns = columns_behind(subject);
  if (const std::string& caution = subject.model->info().caution; !caution.empty()) made.notes.push_back(caution);
  made.notes.insert(made.notes.end(), subject.rows->notes.begin(), subject.rows->notes.end());
  if (subject.reference != nullptr) {
    if (std::string note = note_on_zero(*subject.reference, *subject.rows); !note.empty()) {
      made.notes.push_back(std::move(note));
    }
  }
  return made;
}

Matrix explain_pool_rows(const Spec& method, const Subject& subject, std::span<const size_t> rows,
                         const Context& context) {
  const Dataset& pool = *subject.pool;
  Matrix x(rows.size(), pool.x.cols());
  std::vector<std::string> names;
  names.reserve(rows.size());
  for (size_t i = 0; i < rows.size(); i++) {
    std::ranges::copy(pool.x.row(rows[i]), x.row(i).begin());
    names.push_back(fmt::format("{} of {}", rows[i] + 1, pool.source));
  }
  const Targets targets = select_targets(*subject.pool_targets, rows);
  const ExplainTask like = explain_task_of(subject);
  return explain(method, {like.model, x.view(), targets, like.reference, like.players, names, pool.feature_names},
                 context)
      .values;
}

}  // namespace assay
