// A graph whose parameters are drawn afresh, a layer at a time: the sanity check of Adebayo, Gilmer, Muelly,
// Goodfellow, Hardt, Kim, "Sanity Checks for Saliency Maps", NeurIPS 2018.
//
// A layer is a node that holds parameters and that the explained value depends on: Gemm and MatMul (with an Add of a
// bias behind it), Conv, LinearClassifier and LinearRegressor, BatchNormalization, LayerNormalization and PRelu. Other
// constants (scalers, shapes, embeddings that are added, norms spelled out in single operators) stay. Parameters become
// what they would be before training: weights and biases uniform in +-1 / sqrt(fan in), as our own networks and
// PyTorch's start; norms 1 and 0, with mean 0 and variance 1; slopes of PRelu 0.25.
//
// A parameter that several nodes read belongs to the layer nearest to the outputs, and changes for all of them. A node
// that has no parameter of its own is no layer. Weights tied through a transposed copy count as different.
//
// Networks are trained on standardised features, and this scaling may be folded into their first layer. Fresh weights
// on raw features would then saturate what follows. So if the scale of the features is known, a dense or linear layer
// that reads them (as they are, copied or flattened) starts as if they were standardised: drawn weights w and biases b
// become w_j / deviation_j and b - sum over j of w_j mean_j / deviation_j. Without a bias the mean is not taken off. A
// BatchNormalization that reads the features gets their mean and variance. A convolution, and a layer behind anything
// else (a scaler in the graph), stay as drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "assay/model/graph/graph.h"
#include "assay/model/graph/row_runner.h"
#include "assay/model/model.h"

namespace assay {

// One tensor of a layer, and how it starts.
struct LayerParameter {
  enum class Start { uniform, constant };
  // What it is in a layer that reads the features.
  enum class Role {
    none,
    weights_first,  // features x outputs
    weights_last,   // outputs x features
    bias,           // one for each output
    mean,           // one for each feature
    variance,
  };

  size_t value = 0;  // of the graph
  Start start = Start::uniform;
  size_t fan_in = 1;    // uniform in +-1 / sqrt(fan_in)
  double constant = 0;  // or this
  Role role = Role::none;
};

struct GraphLayer {
  std::string name;  // of its node
  std::vector<LayerParameter> parameters = {};
  // Nodes that hold their parameters as attributes (LinearRegressor); several are copies of one another.
  std::vector<size_t> linear_nodes = {};
  // reads: the input of the graph that it reads; kNoValue: none. bias_factor: what a shift of the product is multiplied
  // by before it is taken off the bias (alpha / beta of a Gemm).
  size_t reads = kNoValue;
  double bias_factor = 1;
};

// The scale of the features that one input of the graph holds.
struct InputScale {
  std::string input;
  FeatureScale scale;
};

// The part of the scale for each input of floating numbers; none if the scale is empty. An input error if it is for
// another number of features.
std::vector<InputScale> input_scales(const ModelInfo& info, std::span<const RowInput> inputs,
                                     const FeatureScale& scale);

// From the outputs down to the features; empty when there is nothing to randomise. `fetch` is the explained value.
std::vector<GraphLayer> find_layers(const Graph& graph, const std::string& fetch);

// A copy of the graph with the parameters of layers 0 .. count - 1 (or of count - 1 alone) drawn afresh. What a layer
// draws depends only on the seed and its place, not on which other layers are drawn. Features of inputs without a scale
// count as standardised.
Graph randomised_graph(const Graph& graph, std::span<const GraphLayer> layers, size_t count, bool alone, uint64_t seed,
                       std::span<const InputScale> scales = {});

}  // namespace assay
