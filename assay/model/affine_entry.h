// The first dense layer of a graph, when all that follows depends on its result alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/core/matrix.h"
#include "assay/model/graph/graph.h"

namespace assay {

struct FirstLayer {
  std::string entry;  // the value row * weights + bias
  Matrix weights;     // features x entries
  std::vector<float> bias;
};

// `input` is the graph's only input, with rows of so many features. Nothing when it does not go through a dense layer
// with known weights, or `fetch` is that layer or before it.
std::optional<FirstLayer> find_first_layer(const Graph& graph, const std::string& input, size_t features,
                                           const std::string& fetch);

}  // namespace assay
