// Shapley values of a whole ensemble for all rows of a task: narrow trees by tables (pattern_tables.h), all others by
// walks (interventional_walk.h, path_walk.h).
//
// For each row, narrow trees are summed first, then the others, each in the ensemble's order and in float64. Only the
// tree itself decides whether it uses tables or a walk. If the tables are too large together, they are built in
// batches. Memory does not grow with the number of rows. What does not depend on the rows goes to task.kept, but for
// tables that need batches.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/core/refusal.h"
#include "assay/explain/explainer.h"
#include "assay/explain/trees/pattern_tables.h"
#include "assay/explain/trees/tree_layout.h"

namespace assay {

// For `refuses`: refuses the information form, a model without trees, outputs that are no raw scores, and trees that do
// not add up.
std::optional<Refusal> refuses_trees(const ExplainTask& task);

// values[i][p] = the Shapley value of player p for row i. `name` is used for progress.
void tree_values(const TreeGameView& game, const ExplainTask& task, const TreeTableLimits& limits,
                 MatrixView<float> values, const Context& context, std::string_view name);
// Makes what tree_values keeps, for all targets of the task.
void prepare_tree_values(const TreeGameView& game, const ExplainTask& task, const TreeTableLimits& limits,
                         const Context& context, std::string_view name);

}  // namespace assay
