#include "python/src/subject.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/text.h"
#include "assay/data/unseen.h"
#include "assay/evaluate/joining/explanation_checks.h"
#include "assay/model/train/recipe.h"
#include "assay/study/tasks.h"

namespace assay::python {
namespace {

// Bits, so that NaN is NaN.
bool same_numbers(const Matrix& a, const Matrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  return a.empty() || std::memcmp(a.data(), b.data(), a.values().size_bytes()) == 0;
}

}  // namespace

bool covers(const Subject& whole, const Subject& part) {
  if (&whole == &part) return true;
  const bool same_rows = whole.data == part.data || same_numbers(whole.data->x, part.data->x);
  const bool same_model = whole.owner.is(part.owner) && whole.model.model->info().unit == part.model.model->info().unit;
  if (!same_model || !same_rows || whole.players.of_column != part.players.of_column) return false;
  if (whole.targets.information != part.targets.information || whole.targets.of_row != part.targets.of_row)
    return false;
  if (part.pool != nullptr && (whole.pool == nullptr || !same_numbers(whole.pool->x, part.pool->x))) return false;
  return part.reference.rows.empty() || same_numbers(whole.reference.rows, part.reference.rows);
}

std::shared_ptr<Subject> labelled_subject(const Subject& from, const std::shared_ptr<Dataset>& data,
                                          const std::shared_ptr<Dataset>& pool) {
  auto made = std::make_shared<Subject>();
  made->model = from.model;
  made->margins = from.margins;
  made->owner = from.owner;
  made->data = data != nullptr ? data : from.data;
  made->pool = pool != nullptr ? pool : from.pool;
  made->players = from.players;
  made->players_words = from.players_words;
  made->reference = from.reference;
  made->targets = from.targets;
  made->choice = from.choice;
  made->own_rows = from.own_rows;
  made->data_words = from.data_words;
  made->pool_words = from.pool_words;
  return made;
}

std::vector<std::string> notes_on_unknown(const Subject& subject) {
  const auto& graph = subject.model.graph;
  if (graph == nullptr || !takes_unknown(graph->graph().metadata())) return {};
  return unknown_in_words(*subject.data, 0);
}

std::shared_ptr<Subject> subject_of_rows(const Subject& from, const std::vector<size_t>& rows) {
  auto made = labelled_subject(from, std::make_shared<Dataset>(select_rows(*from.data, rows)), {});
  made->targets.of_row.clear();
  for (const size_t row : rows) made->targets.of_row.push_back(from.targets.of_row[row]);
  made->own_rows.clear();
  for (const size_t row : rows) {
    if (!from.own_rows.empty()) made->own_rows.push_back(from.own_rows[row]);
  }
  return made;
}

void check_given_pool(const std::string& where, const Explanations& pool, const Explanations& own, Subject* subject,
                      const Context& context) {
  check_player_names(where, pool, own.features, "explanations");
  check_explained_unit(where, pool);
  const std::string& unit = own.provenance.unit;
  if (!unit.empty() && !pool.provenance.unit.empty() && unit != pool.provenance.unit) {
    fail_input(where, fmt::format("explanations in the unit {}, as those of the rows", unit), pool.provenance.unit);
  }
  if (subject == nullptr || subject->pool == nullptr) return;
  check_explained_rows(where, pool, *subject->pool);
  const Targets* targets = subject->targets.information ? nullptr : subject->pool_targets(context);
  if (targets == nullptr || pool.target.empty()) return;
  const Targets said = named_targets(where, pool, *subject->model.model, subject->pool->x.view());
  for (size_t row = 0; row < said.of_row.size(); row++) {
    if (said.of_row[row] == targets->of_row[row]) continue;
    fail_input(where,
               fmt::format("the target {} for {}, as for the rows that are explained",
                           in_quotes(said.names[targets->of_row[row]]), row_in_words(pool.ids, row)),
               in_quotes(said.names[said.of_row[row]]));
  }
  // The value of an aggregate of antecedents is theirs, not the row's.
  if (!pool.combination.antecedents.empty()) return;
  check_explained_values(where, pool, *subject->model.model, *subject->pool, *targets, "", context);
}

const Targets* Subject::pool_targets(const Context& context) {
  if (!pool_targets_ && pool != nullptr) {
    if (targets.information) {
      pool_targets_ = information_targets(*model.model, pool->rows());
    } else if (choice) {
      pool_targets_ = freeze_targets(*model.model, pool->x.view(), *choice, context);
    }
  }
  return pool_targets_ ? &*pool_targets_ : nullptr;
}

StudySubject Subject::view(const Targets& targets_of_pool) const {
  StudySubject made{.model = *model.model,
                    .margins = margins ? margins->model.get() : nullptr,
                    .data = *data,
                    .pool = *pool,
                    .players = players,
                    .reference = reference,
                    .targets = targets,
                    .pool_targets = targets_of_pool,
                    .own_rows = own_rows};
  made.trainer = trainer_of(*model.model);
  made.trainer_concurrent = trains_concurrently();
  return made;
}

std::shared_ptr<PoolSource> pool_source(Explained& explained, const std::shared_ptr<Subject>& subject,
                                        const Context& context) {
  if (subject == nullptr || subject->pool == nullptr) return {};
  const bool own =
      explained.subject != nullptr && explained.subject->pool != nullptr && covers(*explained.subject, *subject);
  if (own && explained.pool) return explained.pool;
  const std::shared_ptr<Subject>& from = own ? explained.subject : subject;
  auto made = std::make_shared<PoolSource>();
  made->subject = from;
  if (explained.recipe && own) {
    made->recipe = explained.recipe;
    const AggregateRecipe& recipe = *explained.recipe;
    if (recipe.task.pool == nullptr) return {};
    made->explanations = std::make_unique<PoolExplanations>(aggregate_of_pool(recipe.spec, recipe.task, recipe.made));
  } else if (explained.method) {
    const Targets* targets = from->pool_targets(context);
    if (targets == nullptr) return {};
    made->view.emplace(from->view(*targets));
    made->method = *explained.method;
    made->explanations = std::make_unique<PoolExplanations>(
        pool_explanations_by(*made->view, made->method, explained.explanations.provenance.seed));
  } else {
    return {};
  }
  if (own) explained.pool = made;
  return made;
}

}  // namespace assay::python
