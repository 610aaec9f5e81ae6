// What is explained, and what was made of it: the structs behind _core.Subject and _core.Explanations.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/core/options.h"
#include "assay/data/dataset.h"
#include "assay/evaluate/pool_explanations.h"
#include "assay/explain/explanations.h"
#include "assay/explain/players.h"
#include "assay/explain/reference.h"
#include "assay/explain/target.h"
#include "assay/study/study.h"
#include "python/src/models.h"

namespace assay::python {

// Model, rows, pool, players, targets and reference. Nothing of it changes once it is made, but for the pool's targets,
// which are found when somebody asks.
class Subject {
 public:
  ModelHandle model;
  std::optional<ModelHandle> margins = {};
  std::shared_ptr<Dataset> data;
  std::shared_ptr<Dataset> pool = {};  // may be null
  Players players = {};
  std::string players_words = {};
  Reference reference = {};
  Targets targets = {};
  std::optional<TargetChoice> choice = {};  // what rows of the pool are explained for; nothing where rows differ freely
  std::vector<size_t> own_rows = {};
  std::string data_words = {};
  std::string pool_words = {};
  nanobind::object owner = {};  // the model as the package has it: what tells whether two models are one

  // Targets of the pool's rows; nothing where they have none. In the call's turn (EngineCall::Turn).
  const Targets* pool_targets(const Context& context);

  // With a pool whose targets are known. `targets_of_pool` must outlive it.
  StudySubject view(const Targets& targets_of_pool) const;

  bool trains_concurrently() const { return model.graph != nullptr && !model.trained_by_python; }

 private:
  std::optional<Targets> pool_targets_ = {};
};

// Whether explanations that are given for the pool's rows fit those of the rows: players, unit, and, with a subject,
// its pool's rows, targets and values. An input error that starts with `where` says what does not.
void check_given_pool(const std::string& where, const Explanations& pool, const Explanations& own, Subject* subject,
                      const Context& context);

// Whether what was made from `part` could have been made from `whole`: the same model, rows, players and targets, and
// the same pool and reference as far as `part` has them.
bool covers(const Subject& whole, const Subject& part);

// A sentence for each column that has categories which the model's training rows did not have.
std::vector<std::string> notes_on_unknown(const Subject& subject);

// The same of other rows of it: their numbers.
std::shared_ptr<Subject> subject_of_rows(const Subject& from, const std::vector<size_t>& rows);
// The same with other labels of the rows or of the pool; null: as they are. These have the same rows.
std::shared_ptr<Subject> labelled_subject(const Subject& from, const std::shared_ptr<Dataset>& data,
                                          const std::shared_ptr<Dataset>& pool);

struct Explained;
struct PoolSource;

// An aggregate, and all that it needs to be made for rows of the pool.
struct AggregateRecipe {
  Spec spec;
  std::vector<std::shared_ptr<Explained>> members;
  std::vector<const Explanations*> member_views;
  std::vector<std::string> names;
  std::vector<PoolExplanations*> pools = {};                   // of the members; empty without a pool
  std::vector<std::shared_ptr<PoolSource>> pool_sources = {};  // which keep those
  Targets pool_targets = {};
  AggregateTask task = {};
  Aggregate made = {};
};

// Explanations of the rows of a pool, with what makes them.
struct PoolSource {
  std::shared_ptr<Subject> subject;
  std::optional<StudySubject> view = {};
  Spec method = {};
  std::shared_ptr<AggregateRecipe> recipe = {};
  std::unique_ptr<PoolExplanations> explanations = {};
};

// _core.Explanations.
struct Explained {
  Explanations explanations;
  std::shared_ptr<Subject> subject = {};         // null for those from elsewhere
  std::optional<Spec> method = {};               // how to make them again
  std::shared_ptr<AggregateRecipe> recipe = {};  // of an aggregate that was made here
  std::shared_ptr<PoolSource> pool = {};         // kept, so that what one criterion needed is there for the next
};

// The explanations of the subject's pool by what made `explained`; null where there is no pool, no method, or rows of
// the pool have no target. Kept with the explanations where their own subject covers this one. In the call's turn.
std::shared_ptr<PoolSource> pool_source(Explained& explained, const std::shared_ptr<Subject>& subject,
                                        const Context& context);

}  // namespace assay::python
