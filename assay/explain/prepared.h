// An explanation function that is ready for rows that come one at a time: a service that explains each decision.
//
// explain() (explainer.h) makes the tables, designs and factorisations of a method for each call. They depend on model,
// players, reference, options and seed, not on the rows. A PreparedExplainer makes them once and keeps them (kept.h).
// The result of a row has the same bits as in any other call with the same seed.
//
//   const PreparedExplainer explainer({.name = "tree_shap"}, subject, TargetChoice{}, 0, context);
//   Explanations one = explainer.explain(row, context);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "assay/core/context.h"
#include "assay/core/options.h"
#include "assay/data/dataset.h"
#include "assay/explain/explainer.h"
#include "assay/explain/explanations.h"
#include "assay/explain/subject.h"
#include "assay/explain/target.h"

namespace assay {

class PreparedExplainer {
 public:
  // ground: what all calls share, its model, players and reference, which must not change. Its rows and their targets
  // are not explained. choice: the target of rows; nothing is the information form. Errors are those of explain().
  // most_bytes: that tables may take. Where those of all classes that rows may be predicted to be take more, those used
  // last are kept, and others made again when a row needs them.
  PreparedExplainer(Spec method, OwnedSubject ground, std::optional<TargetChoice> choice, uint64_t seed,
                    const Context& context, size_t most_bytes = Kept::kMostBytes);

  const Spec& method() const { return method_; }
  uint64_t seed() const { return seed_; }
  const OwnedSubject& ground() const { return ground_; }
  const std::optional<TargetChoice>& choice() const { return choice_; }
  // Of the tables that are kept.
  size_t kept_bytes() const { return kept_->bytes(); }

  // The targets of these rows.
  Targets targets_of(MatrixView<const float> rows, const Context& context) const;
  // The attributions of these rows, which have the columns of the ground's. The seed of the context is not used. Safe
  // from several threads at once.
  Explanations explain(const Dataset& rows, const Targets& targets, const Context& context) const;
  Explanations explain(const Dataset& rows, const Context& context) const {
    return explain(rows, targets_of(rows.x.view(), context), context);
  }

 private:
  Context with_own_seed(const Context& context) const;

  const Spec method_;
  const OwnedSubject ground_;
  const std::optional<TargetChoice> choice_;
  const uint64_t seed_;
  const std::unique_ptr<Explainer> explainer_;
  const std::unique_ptr<Kept> kept_;
};

}  // namespace assay
