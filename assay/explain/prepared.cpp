#include "assay/explain/prepared.h"

#include <fmt/format.h>

#include <utility>

#include "assay/core/error.h"
#include "assay/explain/methods.h"

namespace assay {

PreparedExplainer::PreparedExplainer(Spec method, OwnedSubject ground, std::optional<TargetChoice> choice,
                                     uint64_t seed, const Context& context, size_t most_bytes)
    : method_(std::move(method)),
      ground_(std::move(ground)),
      choice_(choice),
      seed_(seed),
      explainer_(find_method(method_.name).make(method_)),
      kept_(std::make_unique<Kept>(most_bytes)) {
  const Matrix no_rows(0, ground_.model->info().features());
  // The model is not run for the sake of no rows.
  Targets targets = choice_ ? freeze_targets(*ground_.model, no_rows.view(), TargetChoice{}, context)
                            : targets_of(no_rows.view(), context);
  // Of a chosen class the tables of the others are not needed.
  if (choice_ && !choice_->predicted) targets.terms = {targets.terms[choice_->which]};
  const ExplainTask task{.model = *ground_.model,
                         .rows = no_rows.view(),
                         .targets = targets,
                         .reference = ground_.reference,
                         .players = ground_.players,
                         .kept = kept_.get(),
                         .designs = kept_.get()};
  if (const auto reason = explainer_->refuses(task)) {
    throw Error(ErrorKind::unsupported, fmt::format("{} {}", method_.name, reason->reason), reason->need);
  }
  explainer_->prepare(task, with_own_seed(context));
}

Context PreparedExplainer::with_own_seed(const Context& context) const {
  Context made = context;
  made.seed = seed_;
  return made;
}

Targets PreparedExplainer::targets_of(MatrixView<const float> rows, const Context& context) const {
  if (!choice_) return information_targets(*ground_.model, rows.rows());
  return freeze_targets(*ground_.model, rows, *choice_, context);
}

Explanations PreparedExplainer::explain(const Dataset& rows, const Targets& targets, const Context& context) const {
  Subject subject = ground_.view();
  subject.rows = &rows;
  subject.targets = &targets;
  subject.words.rows = rows.source;
  ExplainTask task = explain_task_of(subject);
  task.kept = task.designs = kept_.get();
  return with_words_of(subject, assay::explain(method_, *explainer_, task, with_own_seed(context)));
}

}  // namespace assay
