// Finds the trees of a graph whose raw scores everything else is computed from.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "assay/model/graph/graph.h"
#include "assay/model/trees/ensemble.h"

namespace assay {

struct ScoredTrees {
  std::string scores;  // the value that holds the raw scores
  std::shared_ptr<const TreeEnsemble> trees;
};

// All nodes that give raw scores of trees on the float32 rows of this input, which has `features` columns.
std::vector<ScoredTrees> find_trees(const Graph& graph, const std::string& input, size_t features,
                                    const Context& context = {});

}  // namespace assay
