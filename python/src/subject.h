// What is explained, and its explanations: the structs behind _core.Subject and _core.Explanations.
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

// _core.Subject. Does not change once it is made, except that the pool's targets are found when first needed.
class SubjectHandle {
 public:
  ModelHandle model;
  std::optional<ModelHandle> margins = {};
  std::optional<ModelHandle> probabilities = {};
  OwnedSubject subject = {};                // its models belong to the handles above
  std::optional<TargetChoice> choice = {};  // how the pool's targets are chosen; nothing if the rows' were listed
  nanobind::object owner = {};              // the package's model object: the same object means the same model
  std::vector<std::string> notes = {};      // sentences that a study adds to its notes

  // Sets the subject's models. Only the handles own them, because the garbage collector needs a single owner.
  void set_models(ModelHandle in_unit, std::optional<ModelHandle> in_margins,
                  std::optional<ModelHandle> in_probabilities);

  // Targets of the pool's rows; null if they have none. The caller must hold an EngineCall::Turn.
  const Targets* pool_targets(const Context& context);
  // With the pool's targets. The caller must hold a Turn.
  Subject view_with_pool(const Context& context);

  const Encoder* encoder() const { return model.graph != nullptr ? model.graph->encoder() : nullptr; }

 private:
  std::optional<Targets> pool_targets_ = {};
};

// Checks that given explanations of the pool fit those of the rows: players, unit and, with a subject, the pool's rows,
// targets and values. Throws an input error that starts with `where`.
void check_given_pool(const std::string& where, const Explanations& pool, const Explanations& own,
                      SubjectHandle* subject, const Context& context);

// Checks that the model still gives the explained values. Graphs stay as they are, but what is called in Python can
// change: an estimator that was fitted again, a network that was trained on. Throws an input error that starts with
// `where`.
void check_same_model(const std::string& where, const Explanations& found, const SubjectHandle& subject,
                      const Context& context);

// Whether `whole` could have made what `part` made: same model, rows, players and targets, and the same pool and
// reference if `part` has any.
bool covers(const SubjectHandle& whole, const SubjectHandle& part);

// A sentence for each column with categories that the model's training rows did not have.
std::vector<std::string> notes_on_unknown(const SubjectHandle& subject);

// The same subject with only some of its rows, given by index.
std::shared_ptr<SubjectHandle> subject_of_rows(const SubjectHandle& from, const std::vector<size_t>& rows);
// The same subject with other labels. rows, pool: the same rows with new labels; null: unchanged.
std::shared_ptr<SubjectHandle> labelled_subject(const SubjectHandle& from, const std::shared_ptr<Dataset>& rows,
                                                const std::shared_ptr<Dataset>& pool);

struct Explained;
struct PoolSource;

// An aggregate, and all that is needed to make it for rows of the pool.
struct AggregateRecipe {
  Spec spec;
  std::vector<std::shared_ptr<Explained>> members;
  std::vector<const Explanations*> member_views;
  std::vector<std::string> names;
  std::vector<PoolExplanations*> pools = {};                   // one for each member; empty without a pool
  std::vector<std::shared_ptr<PoolSource>> pool_sources = {};  // own `pools`
  AggregateTask task = {};
  Aggregate made = {};
};

// Explanations of the rows of a pool, and all that is needed to make more of them.
struct PoolSource {
  std::shared_ptr<SubjectHandle> subject;
  std::shared_ptr<AggregateRecipe> recipe = {};
  std::unique_ptr<PoolExplanations> explanations = {};
};

// _core.Explanations.
struct Explained {
  Explanations explanations;
  std::shared_ptr<SubjectHandle> subject = {};   // null if they were not made in this process
  std::optional<Spec> method = {};               // how to make them again, if possible
  std::shared_ptr<AggregateRecipe> recipe = {};  // if they are an aggregate made in this process
  std::shared_ptr<PoolSource> pool = {};         // kept, so that the next criterion need not explain the pool again
};

// Explanations of the subject's pool by the method that made `explained`. Null if there is no pool or method, or if the
// pool's rows have no targets. Kept in explained.pool if its own subject covers this one. The caller must hold a Turn.
std::shared_ptr<PoolSource> pool_source(Explained& explained, const std::shared_ptr<SubjectHandle>& subject,
                                        const Context& context);

}  // namespace assay::python
