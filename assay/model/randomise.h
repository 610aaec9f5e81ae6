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
//
// Networks are trained on standardised features, and what they are trained on may have been folded into their first
// layer: fresh weights of unit size on raw features would saturate what follows. So where the scale of the features is
// known, a dense or linear layer that reads them (as they are, or copied or flattened) starts as if they were
// standardised: weights w_j / deviation_j and biases b - sum over j of w_j mean_j / deviation_j, whatever w and b were
// drawn. Without a bias of its own it keeps the mean. A BatchNormalization that reads them gets their mean and
// variance. A layer behind anything else (a scaler in the graph), and a convolution, are left as they were drawn.
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
  // What it is to the features that its layer reads.
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
  // Nodes whose parameters are attributes; several are copies of one another.
  std::vector<size_t> linear_nodes = {};
  // The input of the graph that it reads, and what its bias is multiplied by beside the rest; kNoValue: none.
  size_t reads = kNoValue;
  double bias_factor = 1;
};

// Of the features that one input of the graph holds.
struct InputScale {
  std::string input;
  FeatureScale scale;
};

// The part of each input that holds numbers; none of an empty scale. An input error when the scale is not that of the
// model's features.
std::vector<InputScale> input_scales(const ModelInfo& info, std::span<const RowInput> inputs,
                                     const FeatureScale& scale);

// From the outputs down to the features; empty when there is nothing to randomise. `fetch` is the explained value.
std::vector<GraphLayer> find_layers(const Graph& graph, const std::string& fetch);

// A copy of the graph with the parameters of layers 0 .. count - 1 (or of count - 1 alone) drawn afresh. What a layer
// draws depends on the seed and its place alone: alone or with others, it is the same. Features of inputs without a
// scale count as standardised.
Graph randomised_graph(const Graph& graph, std::span<const GraphLayer> layers, size_t count, bool alone, uint64_t seed,
                       std::span<const InputScale> scales = {});

}  // namespace assay
