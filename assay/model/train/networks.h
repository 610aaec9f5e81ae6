// The networks that Assay trains itself, as ONNX graphs with initial weights: multi-layer perceptrons for tables and
// small convolutional networks for images.
//
// Both take one input "rows" (N x features, or N x channels x height x width) and end in a dense layer whose output is
// "margin", followed by a softmax whose output is "probability"; a regression ends in the dense layer, and its output
// is "value". Weights and biases start as PyTorch's nn.Linear and nn.Conv2d do: uniform in +-1 / sqrt(fan in) (Kaiming
// uniform with a = sqrt 5; He, Zhang, Ren, Sun 2015). Each tensor has its own random stream, so that a wider layer does
// not change the start of the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/options.h"
#include "assay/model/graph/onnx.h"

namespace assay {

inline constexpr std::string_view kRowsName = "rows";
inline constexpr std::string_view kMarginName = "margin";
inline constexpr std::string_view kProbabilityName = "probability";
inline constexpr std::string_view kValueName = "value";

// The names that ActivationOptions::activation may have.
const std::vector<std::string>& activation_names();

struct ActivationOptions {
  std::string activation = "relu";
  double slope = 0.01;

  void describe(OptionVisitor& visit) {
    visit.choice("activation", activation, "what follows each hidden layer", activation_names());
    visit.real("slope", slope, "of a leaky ReLU below 0", "", 0, 1);
  }
};

struct MlpOptions {
  std::vector<int64_t> hidden = {40};  // neurons of each hidden layer; none: a linear model
  ActivationOptions activation = {.activation = "leaky_relu"};

  void describe(OptionVisitor& visit) { activation.describe(visit); }
};

struct CnnOptions {
  std::vector<int64_t> channels = {32, 64};  // of each convolution
  std::vector<int64_t> dense = {};           // neurons of hidden dense layers behind them
  int64_t kernel = 5;
  int64_t pool = 2;
  std::string padding = "valid";
  ActivationOptions activation = {};

  void describe(OptionVisitor& visit) {
    visit.integer("kernel", kernel, "height and width of a convolution's window", "pixels", 1, 63);
    visit.integer("pool", pool, "height and width of the window whose largest value is kept; 1 keeps all", "pixels", 1,
                  63);
    visit.choice("padding", padding, "around the image: none, or zeros that keep its size", {"valid", "same"});
    activation.describe(visit);
  }
};

// outputs: classes, or values of a regression. An input error when a layer has no neurons, nothing of the image is
// left, or there are more weights than a file can hold.
OnnxModel mlp_network(const MlpOptions& options, size_t features, size_t outputs, bool classification, uint64_t seed);

// image: height and width, or channels, height and width.
OnnxModel cnn_network(const CnnOptions& options, const std::vector<size_t>& image, size_t outputs, bool classification,
                      uint64_t seed);

}  // namespace assay
