// A background of pool rows that are spread over what the model gives for them: "spread:N" in the user's words, and a
// study's reference unless the user says another. Few rows drawn plainly may by chance miss the rare rows of a pool, as
// those with a high score.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/data/dataset.h"
#include "assay/explain/reference.h"
#include "assay/explain/target.h"
#include "assay/model/model.h"

namespace assay {

// What the model gives for rows of a pool. At most kMostScoredRows of them, drawn by the context's seed: a user's
// function may take milliseconds a row. Rows for which an output is no finite number are left out.
inline constexpr size_t kMostScoredRows = 5000;
struct ScoredPool {
  std::vector<size_t> rows;  // of the pool, ascending
  Matrix outputs;            // one row for each of `rows`
};
ScoredPool score_pool(const Dataset& pool, const Model& model, const Context& context);

// `count` of these rows of the pool, spread over the explained values (data/baseline.h, spread_rows): ordered by
// target, then by the value for that target, then by their number in the pool. If the targets are predicted classes,
// each class has its share of the rows. targets: of all rows of the pool. An input error if the model gave no number
// for any row.
//
// Values that go with the explained value vary less within strata than over the pool. So methods find the standard
// error of a mean over these rows (Explanations::background_error) from neighbouring rows (VectorMoments).
Reference spread_background(const Dataset& pool, const ScoredPool& scored, const Targets& targets, size_t count,
                            const Model& model, const Context& context);

// The background that a word "spread:N" asks for; nothing for other words. It is of the rows that a study with the same
// pool and seed takes. choice: what is explained; the information form, which has no class, is spread over the
// predicted ones. Without a choice (targets that follow no rule, so that the pool's rows have none), and without a
// pool, the word is an input error.
std::optional<Reference> said_spread_background(std::string_view word, const Dataset* pool, const Model& model,
                                                const std::optional<TargetChoice>& choice, const Context& context);

}  // namespace assay
