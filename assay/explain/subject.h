// What is explained: a model, rows of a table, and everything else that explaining, scoring and aggregating may need.
//
// All later stages take this one view. It is cheap to copy; what it points to must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/options.h"
#include "assay/data/dataset.h"
#include "assay/explain/explainer.h"
#include "assay/explain/explanations.h"
#include "assay/explain/players.h"
#include "assay/explain/reference.h"
#include "assay/explain/target.h"
#include "assay/model/model.h"

namespace assay {

// Fits a model of the same kind to these rows, from this seed.
using Trainer = std::function<std::unique_ptr<Model>(const Dataset& training, uint64_t seed, const Context& context)>;

// A trainer for this kind of model; empty if the model cannot be trained.
Trainer trainer_of(const Model& model);

// Descriptions in the user's words, for provenance.
struct SubjectWords {
  std::string rows = {};     // "iris (test part), rows 1,60"
  std::string pool = {};     // "iris (training part)"
  std::string players = {};  // "columns", "feature groups", "grid:4" or the name of a file of groups
};

// Missing parts are null or empty.
struct Subject {
  const Model* model = nullptr;  // in the unit that is explained
  // The same model in margins, if it has margins and they are not what is explained. Log-odds come from margins,
  // because probabilities are rounded.
  const Model* margins = nullptr;
  // The same model in probabilities, if it gives them and margins are explained that neither softmax nor a sigmoid
  // makes probabilities of (MarginLink::unknown).
  const Model* probabilities = nullptr;
  const Dataset* rows = nullptr;  // the rows that are explained, as the model takes them, with labels where known
  const Players* players = nullptr;
  const Targets* targets = nullptr;       // of the rows
  const Reference* reference = nullptr;   // what stands for absent features
  const Dataset* pool = nullptr;          // training rows: neighbours and antecedents come from them
  const Targets* pool_targets = nullptr;  // of the pool's rows, chosen by the same rule as those of the rows
  // By row: its number in the pool, or kNoRow if it is not in the pool. Empty if no row is in the pool.
  std::span<const size_t> in_pool = {};
  std::span<const Reference> other_references = {};  // a study repeats its ranking with each of these
  Trainer trainer = {};                              // empty where nothing can be retrained
  bool trainer_concurrent = false;                   // whether it may be called from several threads at once
  SubjectWords words = {};
};

// Owns what a subject points to. Front ends fill it once; copies share model and rows.
struct OwnedSubject {
  std::shared_ptr<const Model> model = {};
  std::shared_ptr<const Model> margins = {};
  std::shared_ptr<const Model> probabilities = {};
  std::shared_ptr<const Dataset> rows = {};
  std::shared_ptr<const Dataset> pool = {};
  Players players = {};
  Targets targets = {};
  std::optional<Targets> pool_targets = {};  // nothing where there is no pool, or its rows have no targets
  Reference reference = {};
  std::vector<Reference> other_references = {};
  std::vector<size_t> in_pool = {};
  Trainer trainer = {};
  bool trainer_concurrent = false;
  SubjectWords words = {};

  // Valid until this object is moved or changed.
  Subject view() const;
};

// The same subject with another reference.
inline Subject with_reference(Subject subject, const Reference& reference) {
  subject.reference = &reference;
  return subject;
}

// The task of explaining the subject's rows. The subject must have model, rows, players and targets. If it has no
// reference, the task gets one without rows.
ExplainTask explain_task_of(const Subject& subject);

// The same explanations with the ids, words and notes of the subject whose rows they explain.
// The columns of the user's table behind each player; empty if no columns were grouped and each player is the column of
// its own name, or if rows are images.
std::vector<std::vector<std::string>> columns_behind(const Subject& subject);
Explanations with_words_of(const Subject& subject, Explanations made);

// The attributions of the subject's rows, with their ids and the subject's words.
// designs: ExplainTask::designs.
Explanations explain(const Spec& method, const Subject& subject, const Context& context, Kept* designs = nullptr);

// The attributions of these rows of the subject's pool, which must have targets. The context's seed is the method's
// seed.
Matrix explain_pool_rows(const Spec& method, const Subject& subject, std::span<const size_t> rows,
                         const Context& context);

}  // namespace assay
