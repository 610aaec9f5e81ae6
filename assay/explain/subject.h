// What is explained: a model, rows of a table, and all that explaining, scoring and aggregating them may need to know.
//
// Every stage from here on takes this one view. It is small and copied freely; what it points to must outlive it.
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

// Fits the model afresh; empty where it cannot be.
Trainer trainer_of(const Model& model);

// How users call it. Provenance repeats these words.
struct SubjectWords {
  std::string rows = {};     // "iris (test part), rows 1,60"
  std::string pool = {};     // "iris (training part)"
  std::string players = {};  // "columns", "feature groups", "grid:4" or the name of a file of groups
};

// What is not there is null or empty.
struct Subject {
  const Model* model = nullptr;  // in the unit that is explained
  // The same model in margins, where it has some and they are not what is explained: log-odds come from them, because
  // probabilities are rounded.
  const Model* margins = nullptr;
  const Dataset* rows = nullptr;  // the rows that are explained, as the model takes them, with labels where known
  const Players* players = nullptr;
  const Targets* targets = nullptr;       // of the rows
  const Reference* reference = nullptr;   // what stands for absent features
  const Dataset* pool = nullptr;          // training rows: neighbours and antecedents come from them
  const Targets* pool_targets = nullptr;  // of the pool's rows, by the rule that gave the rows theirs
  // For each row its number in the pool, kNoRow where it is none of the pool's rows; empty where no row is.
  std::span<const size_t> in_pool = {};
  std::span<const Reference> other_references = {};  // a study's ranking is tried with these beside the reference
  Trainer trainer = {};                              // empty where nothing can be retrained
  bool trainer_concurrent = false;                   // whether it may be called from several threads at once
  SubjectWords words = {};
};

// Owns what a subject points to. Front ends fill it once; copies share model and rows.
struct OwnedSubject {
  std::shared_ptr<const Model> model = {};
  std::shared_ptr<const Model> margins = {};
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

  // Good while this stays where it is and does not change.
  Subject view() const;
};

// The same subject with something else for absent features.
inline Subject with_reference(Subject subject, const Reference& reference) {
  subject.reference = &reference;
  return subject;
}

// The task of explaining the subject's rows, which has model, rows, players, targets and a reference; the reference has
// no rows where the subject has none.
ExplainTask explain_task_of(const Subject& subject);

// The attributions of the subject's rows, with their ids and the subject's words.
Explanations explain(const Spec& method, const Subject& subject, const Context& context);

// The attributions of some rows of the subject's pool, which has targets. Context's seed is the method's.
Matrix explain_pool_rows(const Spec& method, const Subject& subject, std::span<const size_t> rows,
                         const Context& context);

}  // namespace assay
