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
#include "assay/explain/subject.h"
#include "python/src/models.h"

namespace assay::python {

// _core.Subject. Nothing of it changes once it is made, but for the pool's targets, which are found when somebody asks.
class SubjectHandle {
 public:
  ModelHandle model;
  std::optional<ModelHandle> margins = {};
  OwnedSubject subject = {};                // its models are those of the handles, which own them
  std::optional<TargetChoice> choice = {};  // what rows of the pool are explained for; nothing where rows differ freely
  nanobind::object owner = {};              // the model as the package has it: what tells whether two models are one

  // The subject's models are these, from now on. The handles own them: the garbage collector counts their owners.
  void set_models(ModelHandle in_unit, std::optional<ModelHandle> in_margins);

  // Targets of the pool's rows; null where they have none. In the call's turn (EngineCall::Turn).
  const Targets* pool_targets(const Context& context);
  // With the pool's targets. In the call's turn.
  Subject view_with_pool(const Context& context);

  const Encoder* encoder() const { return model.graph != nullptr ? model.graph->encoder() : nullptr; }

 private:
  std::optional<Targets> pool_targets_ = {};
};

// Whether explanations that are given for the pool's rows fit those of the rows: players, unit, and, with a subject,
// its pool's rows, targets and values. An input error that starts with `where` says what does not.
void check_given_pool(const std::string& where, const Explanations& pool, const Explanations& own,
                      SubjectHandle* subject, const Context& context);

// Whether what was made from `part` could have been made from `whole`: the same model, rows, players and targets, and
// the same pool and reference as far as `part` has them.
bool covers(const SubjectHandle& whole, const SubjectHandle& part);

// A sentence for each column that has categories which the model's training rows did not have.
std::vector<std::string> notes_on_unknown(const SubjectHandle& subject);

// The same of other rows of it: their numbers.
std::shared_ptr<SubjectHandle> subject_of_rows(const SubjectHandle& from, const std::vector<size_t>& rows);
// The same with other labels of the rows or of the pool; null: as they are. These have the same rows.
std::shared_ptr<SubjectHandle> labelled_subject(const SubjectHandle& from, const std::shared_ptr<Dataset>& rows,
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
  AggregateTask task = {};
  Aggregate made = {};
};

// Explanations of the rows of a pool, with what makes them.
struct PoolSource {
  std::shared_ptr<SubjectHandle> subject;
  std::shared_ptr<AggregateRecipe> recipe = {};
  std::unique_ptr<PoolExplanations> explanations = {};
};

// _core.Explanations.
struct Explained {
  Explanations explanations;
  std::shared_ptr<SubjectHandle> subject = {};   // null for those from elsewhere
  std::optional<Spec> method = {};               // how to make them again
  std::shared_ptr<AggregateRecipe> recipe = {};  // of an aggregate that was made here
  std::shared_ptr<PoolSource> pool = {};         // kept, so that what one criterion needed is there for the next
};

// The explanations of the subject's pool by what made `explained`; null where there is no pool, no method, or rows of
// the pool have no target. Kept with the explanations where their own subject covers this one. In the call's turn.
std::shared_ptr<PoolSource> pool_source(Explained& explained, const std::shared_ptr<SubjectHandle>& subject,
                                        const Context& context);

}  // namespace assay::python
