// Shapley values of a whole ensemble for all rows of a task: narrow trees by tables (pattern_tables.h), all others by
// walks (interventional_walk.h, path_walk.h).
//
// A row sums the narrow trees first, then the others, each in the ensemble's order and in float64. Which way a tree
// goes is decided by the tree alone. Tables that do not fit in memory together are built batch by batch; memory is
// bounded whatever the number of rows.
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

// For `refuses`: the information form, a model without trees, outputs that are no raw scores, or trees that do not add
// up.
std::optional<Refusal> refuses_trees(const ExplainTask& task);

// values[i][p] of row i's explained value. `name` is that of the progress.
void tree_values(const TreeGameView& game, const ExplainTask& task, const TreeTableLimits& limits,
                 MatrixView<float> values, const Context& context, std::string_view name);

}  // namespace assay
