// A graph whose parameters are drawn afresh, a layer at a time: the sanity check of Adebayo, Gilmer, Muelly,
// Goodfellow, Hardt, Kim, "Sanity Checks for Saliency Maps", NeurIPS 2018.
//
// Layers are the nodes that what is explained depends on and that hold parameters: Gemm and MatMul (with the Add of a
// row of numbers behind it), Conv, LinearClassifier and LinearRegressor, BatchNormalization, LayerNormalization and
// PRelu. Other constants (scalers, shapes, embeddings that are added, norms spelled out in single operators) stay.
// Parameters become what they would be before training: weights and biases uniform in +-1 / sqrt(fan in), as our own
// networks and PyTorch's start; norms 1 and 0, with mean 0 and variance 1; slopes of PRelu 0.25.
//
// A parameter that several nodes read belongs to the layer nearest to the outputs, and changes for all of them with it;
// a node that has no parameter of its own is no layer. Weights that are tied through a transposed copy are told apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "assay/model/graph/graph.h"

namespace assay {

// One tensor of a layer, and how it starts.
struct LayerParameter {
  enum class Start { uniform, constant };

  size_t value = 0;  // of the graph
  Start start = Start::uniform;
  size_t fan_in = 1;    // uniform in +-1 / sqrt(fan_in)
  double constant = 0;  // or this
};

struct GraphLayer {
  std::string name;  // of its node
  std::vector<LayerParameter> parameters = {};
  // Nodes whose parameters are attributes; several are copies of one another.
  std::vector<size_t> linear_nodes = {};
};

// From the outputs down to the features; empty when there is nothing to randomise. `fetch` is the explained value.
std::vector<GraphLayer> find_layers(const Graph& graph, const std::string& fetch);

// A copy of the graph with the parameters of layers 0 .. count - 1 (or of count - 1 alone) drawn afresh. What a layer
// draws depends on the seed and its place alone: alone or with others, it is the same.
Graph randomised_graph(const Graph& graph, std::span<const GraphLayer> layers, size_t count, bool alone, uint64_t seed);

}  // namespace assay
