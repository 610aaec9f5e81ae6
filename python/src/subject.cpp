#include "python/src/subject.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/unseen.h"
#include "assay/evaluate/joining/explained_pool.h"
#include "assay/evaluate/joining/explanation_checks.h"
#include "assay/model/train/recipe.h"

namespace assay::python {
namespace {

// Compares bits, so that NaN equals NaN.
bool same_numbers(const Matrix& a, const Matrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  return a.empty() || std::memcmp(a.data(), b.data(), a.values().size_bytes()) == 0;
}

}  // namespace

bool covers(const SubjectHandle& whole, const SubjectHandle& part) {
  if (&whole == &part) return true;
  const OwnedSubject& all = whole.subject;
  const OwnedSubject& some = part.subject;
  const bool same_rows = all.rows == some.rows || same_numbers(all.rows->x, some.rows->x);
  const bool same_model = whole.owner.is(part.owner) && all.model->info().unit == some.model->info().unit;
  if (!same_model || !same_rows || all.players.of_column != some.players.of_column) return false;
  if (all.targets.information != some.targets.information || all.targets.of_row != some.targets.of_row) return false;
  if (some.pool != nullptr && (all.pool == nullptr || !same_numbers(all.pool->x, some.pool->x))) return false;
  return some.reference.rows.empty() || same_numbers(all.reference.rows, some.reference.rows);
}

std::shared_ptr<SubjectHandle> labelled_subject(const SubjectHandle& from, const std::shared_ptr<Dataset>& rows,
                                                const std::shared_ptr<Dataset>& pool) {
  auto made = std::make_shared<SubjectHandle>();
  made->set_models(from.model, from.margins, from.probabilities);
  made->owner = from.owner;
  made->choice = from.choice;
  made->notes = from.notes;
  made->subject = from.subject;
  if (rows != nullptr) made->subject.rows = rows;
  if (pool != nullptr) made->subject.pool = pool;
  return made;
}

std::vector<std::string> notes_on_unknown(const SubjectHandle& subject) {
  const auto& graph = subject.model.graph;
  if (graph == nullptr || !takes_unknown(graph->graph().metadata())) return {};
  return unknown_in_words(*subject.subject.rows, 0);
}

std::shared_ptr<SubjectHandle> subject_of_rows(const SubjectHandle& from, const std::vector<size_t>& rows) {
  auto made = labelled_subject(from, std::make_shared<Dataset>(select_rows(*from.subject.rows, rows)), {});
  made->subject.targets = select_targets(from.subject.targets, rows);
  made->subject.in_pool.clear();
  for (const size_t row : rows) {
    if (!from.subject.in_pool.empty()) made->subject.in_pool.push_back(from.subject.in_pool[row]);
  }
  return made;
}

void check_given_pool(const std::string& where, const Explanations& pool, const Explanations& own,
                      SubjectHandle* handle, const Context& context) {
  check_explained_unit(where, pool);
  const bool targets = handle != nullptr && handle->subject.pool != nullptr && !pool.target.empty();
  check_explained_pool({pool, where}, {own, "explanations"}, handle == nullptr ? OwnedSubject() : handle->subject,
                       targets ? handle->pool_targets(context) : nullptr, "", context);
}

void check_same_model(const std::string& where, const Explanations& found, const SubjectHandle& subject,
                      const Context& context) {
  if (subject.model.graph != nullptr || !has_own_outputs(found)) return;
  check_explained_values(where, found, *subject.subject.model, *subject.subject.rows, subject.subject.targets,
                         "; explain again if it was fitted again", context);
}

void SubjectHandle::set_models(ModelHandle in_unit, std::optional<ModelHandle> in_margins,
                               std::optional<ModelHandle> in_probabilities) {
  model = std::move(in_unit);
  margins = std::move(in_margins);
  probabilities = std::move(in_probabilities);
  const auto without_owning = [](const ModelHandle& handle) {
    return std::shared_ptr<const Model>(std::shared_ptr<const Model>(), handle.model.get());
  };
  subject.model = without_owning(model);
  subject.margins = margins ? without_owning(*margins) : nullptr;
  subject.probabilities = probabilities ? without_owning(*probabilities) : nullptr;
  subject.trainer = trainer_of(*model.model);
  subject.trainer_concurrent = model.graph != nullptr && !model.trained_by_python;
}

const Targets* SubjectHandle::pool_targets(const Context& context) {
  if (!pool_targets_ && subject.pool != nullptr) {
    if (subject.targets.information) {
      pool_targets_ = information_targets(*subject.model, subject.pool->rows());
    } else if (choice) {
      pool_targets_ = freeze_targets(*subject.model, subject.pool->x.view(), *choice, context);
    }
  }
  return pool_targets_ ? &*pool_targets_ : nullptr;
}

Subject SubjectHandle::view_with_pool(const Context& context) {
  Subject made = subject.view();
  made.pool_targets = pool_targets(context);
  return made;
}

std::shared_ptr<PoolSource> pool_source(Explained& explained, const std::shared_ptr<SubjectHandle>& subject,
                                        const Context& context) {
  if (subject == nullptr || subject->subject.pool == nullptr) return {};
  const bool own = explained.subject != nullptr && explained.subject->subject.pool != nullptr &&
                   covers(*explained.subject, *subject);
  if (own && explained.pool) return explained.pool;
  const std::shared_ptr<SubjectHandle>& from = own ? explained.subject : subject;
  auto made = std::make_shared<PoolSource>();
  made->subject = from;
  if (explained.recipe && own) {
    made->recipe = explained.recipe;
    const AggregateRecipe& recipe = *explained.recipe;
    if (recipe.task.subject.pool == nullptr) return {};
    made->explanations = std::make_unique<PoolExplanations>(aggregate_of_pool(recipe.spec, recipe.task, recipe.made));
  } else if (explained.method) {
    const Subject view = from->view_with_pool(context);
    if (view.pool_targets == nullptr) return {};
    made->explanations = std::make_unique<PoolExplanations>(
        pool_explanations_by(view, *explained.method, explained.explanations.provenance.seed));
  } else {
    return {};
  }
  if (own) explained.pool = made;
  return made;
}

}  // namespace assay::python
