// Whether a graph keeps the rows of a batch apart by the nature of its operators, so that nobody has to try it.
#pragma once

#include <string>
#include <vector>

#include "assay/model/graph/graph.h"

namespace assay {

// True only where it is certain: every node between the inputs and the fetched values is one that keeps rows apart for
// all values (dense layers, convolutions, pooling, functions of one element, ...), with constants that do not differ
// from row to row. The inputs must have the row as the first of at least two dimensions.
bool keeps_rows_apart(const Graph& graph, const std::vector<std::string>& fetches);

}  // namespace assay
