#include "assay/model/train/networks.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/random.h"

namespace assay {
namespace {

constexpr int64_t kOpset = 17;
constexpr int64_t kIrVersion = 8;
// Of all weights together: a file holds at most 2 GiB, and training keeps several copies.
constexpr size_t kMostWeights = size_t{1} << 28;
// Of a layer or an image side: products of a few of these stay far from overflow.
constexpr size_t kMostWidth = size_t{1} << 20;

size_t checked_width(std::string_view what, int64_t width) {
  if (width < 1 || width > static_cast<int64_t>(kMostWidth)) {
    fail_input(what, fmt::format("a whole number, 1 to {}", kMostWidth), fmt::format("{}", width));
  }
  return static_cast<size_t>(width);
}

OnnxAttribute whole_numbers(std::string name, std::vector<int64_t> values) {
  OnnxAttribute attribute;
  attribute.name = std::move(name);
  attribute.kind = OnnxAttributeKind::ints;
  attribute.ints = std::move(values);
  return attribute;
}

OnnxAttribute real_number(std::string name, double value) {
  OnnxAttribute attribute;
  attribute.name = std::move(name);
  attribute.kind = OnnxAttributeKind::one_float;
  attribute.floats = {static_cast<float>(value)};
  return attribute;
}

OnnxValue float_value(std::string_view name, const std::vector<size_t>& row_shape) {
  OnnxValue value;
  value.name = name;
  value.type.kind = OnnxValueKind::tensor;
  value.type.element = OnnxElement::float32;
  auto& dims = value.type.dims.emplace();
  dims.push_back({.symbol = "N"});
  for (const size_t size : row_shape) dims.push_back({.size = static_cast<int64_t>(size)});
  return value;
}

// Appends layers to a graph, each reading what the one before it wrote.
class NetworkBuilder {
 public:
  NetworkBuilder(const std::vector<size_t>& row_shape, uint64_t seed) : seed_(seed) {
    model_.ir_version = kIrVersion;
    model_.opsets = {{.domain = "", .version = kOpset}};
    model_.producer_name = "assay";
    model_.graph.name = "network";
    model_.graph.inputs.push_back(float_value(kRowsName, row_shape));
  }

  void add(const std::string& name, std::string op, std::vector<OnnxAttribute> attributes,
           const std::vector<std::string>& weights = {}) {
    add_as(name, std::move(op), std::move(attributes), weights, name);
  }

  void activation(const std::string& name, const ActivationOptions& options) {
    if (options.activation == "relu") return add(name, "Relu", {});
    if (options.activation == "leaky_relu") return add(name, "LeakyRelu", {real_number("alpha", options.slope)});
    if (options.activation == "tanh") return add(name, "Tanh", {});
    if (options.activation == "sigmoid") return add(name, "Sigmoid", {});
    if (options.activation == "elu") return add(name, "Elu", {real_number("alpha", 1)});
    fail_input("network, option activation", joined(activation_names(), "or"), in_quotes(options.activation));
  }

  void dense(const std::string& name, size_t in, size_t out, const std::string& output = {}) {
    add_weights(name, {out, in}, in);
    add_as(name, "Gemm", {OnnxAttribute::one_int("transB", 1)}, {name + ".weight", name + ".bias"},
           output.empty() ? name : output);
  }

  void hidden_layers(const std::string& prefix, const std::vector<int64_t>& widths, const ActivationOptions& options,
                     size_t& width) {
    for (size_t i = 0; i < widths.size(); ++i) {
      const std::string name = fmt::format("{}{}", prefix, i + 1);
      const size_t next = checked_width("network, neurons of hidden layer " + std::to_string(i + 1), widths[i]);
      dense(name, width, next);
      activation(name + ".activation", options);
      width = next;
    }
  }

  void convolution(const std::string& name, size_t in, size_t out, size_t kernel, bool same) {
    const auto size = static_cast<int64_t>(kernel);
    // As PyTorch's "same": of an odd number of zeros the larger half stands behind.
    const int64_t before = same ? (size - 1) / 2 : 0;
    const int64_t after = same ? size - 1 - before : 0;
    add_weights(name, {out, in, kernel, kernel}, in * kernel * kernel);
    add(name, "Conv",
        {whole_numbers("kernel_shape", {size, size}), whole_numbers("pads", {before, before, after, after})},
        {name + ".weight", name + ".bias"});
  }

  OnnxModel finish(size_t inputs, size_t outputs, bool classification) {
    if (outputs < 1) fail_input("network", "at least one output", "none");
    dense("output", inputs, checked_width("network, outputs", static_cast<int64_t>(outputs)),
          std::string(classification ? kMarginName : kValueName));
    if (classification) {
      add_as("softmax", "Softmax", {OnnxAttribute::one_int("axis", 1)}, {}, std::string(kProbabilityName));
    }
    model_.graph.outputs.push_back(float_value(last_, {outputs}));
    return std::move(model_);
  }

 private:
  void add_as(std::string name, std::string op, std::vector<OnnxAttribute> attributes,
              const std::vector<std::string>& weights, std::string output) {
    OnnxNode node;
    node.name = std::move(name);
    node.op_type = std::move(op);
    node.inputs = {std::exchange(last_, output)};
    node.inputs.insert(node.inputs.end(), weights.begin(), weights.end());
    node.outputs = {std::move(output)};
    node.attributes = std::move(attributes);
    model_.graph.nodes.push_back(std::move(node));
  }

  void add_weights(const std::string& name, const std::vector<size_t>& shape, size_t fan_in) {
    // Each step is checked, so that the product cannot overflow before it is refused.
    size_t count = 1;
    for (const size_t size : shape) {
      count *= size;
      if (count > kMostWeights) break;
    }
    weights_ += count + shape[0];
    if (weights_ > kMostWeights) {
      fail_input(fmt::format("network, layer {}", name), fmt::format("at most {} weights in all", kMostWeights),
                 "more");
    }
    add_tensor(name + ".weight", {shape.begin(), shape.end()}, count, fan_in);
    add_tensor(name + ".bias", {static_cast<int64_t>(shape[0])}, shape[0], fan_in);
  }

  void add_tensor(std::string name, std::vector<int64_t> dims, size_t count, size_t fan_in) {
    RandomStream random(seed_, "network weights", model_.graph.initializers.size());
    const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(bound * (2 * random.uniform() - 1));
    model_.graph.initializers.push_back(onnx_tensor(std::move(name), std::move(dims), values));
  }

  OnnxModel model_;
  uint64_t seed_;
  size_t weights_ = 0;
  std::string last_ = std::string(kRowsName);
};

}  // namespace

const std::vector<std::string>& activation_names() {
  static const std::vector<std::string> names = {"relu", "leaky_relu", "tanh", "sigmoid", "elu"};
  return names;
}

OnnxModel mlp_network(const MlpOptions& options, size_t features, size_t outputs, bool classification, uint64_t seed) {
  if (features < 1) fail_input("network", "at least one feature", "none");
  NetworkBuilder builder({features}, seed);
  size_t width = features;
  builder.hidden_layers("dense", options.hidden, options.activation, width);
  return builder.finish(width, outputs, classification);
}

OnnxModel cnn_network(const CnnOptions& options, const std::vector<size_t>& image, size_t outputs, bool classification,
                      uint64_t seed) {
  if (image.size() != 2 && image.size() != 3) {
    fail_input("network, convolutions", "rows that are images (height x width, or channels x height x width)",
               image.empty() ? "rows without a shape" : fmt::format("rows of {} dimensions", image.size()));
  }
  std::vector<size_t> shape = image;
  if (shape.size() == 2) shape.insert(shape.begin(), 1);
  for (const size_t size : shape) checked_width("network, size of an image", static_cast<int64_t>(size));
  NetworkBuilder builder(shape, seed);
  size_t channels = shape[0], height = shape[1], width = shape[2];
  const size_t kernel = checked_width("network, kernel", options.kernel);
  const size_t pool = checked_width("network, pool", options.pool);
  const bool same = options.padding == "same";
  for (size_t i = 0; i < options.channels.size(); ++i) {
    const std::string name = fmt::format("conv{}", i + 1);
    const size_t next = checked_width("network, channels of convolution " + std::to_string(i + 1), options.channels[i]);
    // What is left of the image after the convolution and the pooling.
    const size_t lost = same ? 0 : kernel - 1;
    if (height < lost + pool || width < lost + pool) {
      fail_input(
          fmt::format("network, convolution {}", i + 1),
          fmt::format("at least {0} x {0} pixels for a kernel of {1} and a pool of {2}", lost + pool, kernel, pool),
          fmt::format("{} x {}", height, width));
    }
    builder.convolution(name, channels, next, kernel, same);
    builder.activation(name + ".activation", options.activation);
    if (pool > 1) {
      const auto size = static_cast<int64_t>(pool);
      builder.add(fmt::format("pool{}", i + 1), "MaxPool",
                  {whole_numbers("kernel_shape", {size, size}), whole_numbers("strides", {size, size})});
    }
    channels = next;
    height = (height - lost) / pool;
    width = (width - lost) / pool;
  }
  builder.add("flatten", "Flatten", {OnnxAttribute::one_int("axis", 1)});
  size_t flat = channels * height * width;
  builder.hidden_layers("dense", options.dense, options.activation, flat);
  return builder.finish(flat, outputs, classification);
}

}  // namespace assay
