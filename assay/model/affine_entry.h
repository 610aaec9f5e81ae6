// Finds the first dense layer of a graph, if all that follows depends on its result alone, and the rest of the network,
// if that is one (leaky) ReLU and one dense layer.
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

// `input` is the graph's only input, with `features` numbers per row. Nothing if it does not go through a dense layer
// with known weights, or `fetch` is that layer or before it.
std::optional<FirstLayer> find_first_layer(const Graph& graph, const std::string& input, size_t features,
                                           const std::string& fetch);

// The rest of a network with one hidden layer: fetch = leaky(entry) * weights + bias.
struct LastLayer {
  float slope = 0;  // of the leaky ReLU below 0
  Matrix weights;   // entries x outputs
  std::vector<float> bias;
};

// `entry` is a value with `entries` numbers per row. Nothing unless `fetch` is made from it by Relu, LeakyRelu or PRelu
// (with one slope) and then a dense layer with known weights. Copies may lie between.
std::optional<LastLayer> find_last_layer(const Graph& graph, const std::string& entry, size_t entries,
                                         const std::string& fetch);

}  // namespace assay
