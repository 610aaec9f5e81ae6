// The values that a graph gives for rows, as a table.
#pragma once

#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/data/table.h"
#include "assay/model/graph/graph.h"
#include "assay/model/graph/row_runner.h"

namespace assay {

// The fetched values of all rows, as EngineModel::own_outputs describes them. outputs: the runner that fetches them.
Table output_table(const Graph& graph, const std::vector<std::string>& fetches, const RowRunner& outputs,
                   MatrixView<const float> rows, const Context& context);

}  // namespace assay
