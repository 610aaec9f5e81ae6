// Explanations of a pool's rows, beside those of the rows that are scored: how they are made, and whether given ones
// fit.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "assay/core/context.h"
#include "assay/core/options.h"
#include "assay/explain/explanations.h"
#include "assay/explain/subject.h"
#include "assay/explain/target.h"

namespace assay {

// The method and options that made explanations, for making more of them. Nothing for an aggregate, where nothing says
// it, or where this version cannot; `why_not` then says why it cannot.
std::optional<Spec> method_behind(const Explanations& explanations, std::string* why_not = nullptr);

// The choice that gives these targets of these rows: one target for all, or the predicted class of each; nothing when
// it is neither. It says what rows of a pool are explained for.
std::optional<TargetChoice> choice_behind(const Targets& targets, const Model& model, MatrixView<const float> rows,
                                          const Context& context);

// Explanations with their name in messages.
struct NamedExplanations {
  const Explanations& explanations;
  std::string name;
};

// Checks that explanations of a pool's rows have the players, unit and targets of the rows' own; and the pool's rows
// and the model's values, where the subject has a pool. `targets` are those of the pool's rows, null where nobody knows
// them. `advice` ends the sentence on a wrong number of rows. Returns how many rows say no explained value.
size_t check_explained_pool(const NamedExplanations& pool, const NamedExplanations& own, const OwnedSubject& subject,
                            const Targets* targets, std::string_view advice, const Context& context);

}  // namespace assay
