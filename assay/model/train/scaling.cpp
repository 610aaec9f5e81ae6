#include "assay/model/train/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "assay/core/error.h"
#include "assay/core/statistics.h"

namespace assay {
namespace {

// The saved network multiplies its weights by one over this, and float32 ends at 3e38: there must be room for weights.
constexpr double kSmallestScale = 1e-30;

[[noreturn]] void fail_scale(const std::string& where, double found) {
  fail_input(where,
             fmt::format("values on a scale of at least {}, for float32 has no room for one over it", kSmallestScale),
             fmt::format("{:.3g}; multiply them by a large number, or train with scale=none", found));
}

OnnxTensor& initializer(OnnxModel& network, const std::string& name) {
  const auto found = std::ranges::find(network.graph.initializers, name, &OnnxTensor::name);
  if (found == network.graph.initializers.end()) fail_input("network", "weights named " + in_quotes(name), "none");
  return *found;
}

// A dense layer or convolution whose weights are [outputs, ...] and which has a bias.
struct Layer {
  OnnxTensor* weight;
  OnnxTensor* bias;
  std::vector<double> weights;
  std::vector<double> biases;

  void store() {
    const std::vector<float> w(weights.begin(), weights.end());
    const std::vector<float> b(biases.begin(), biases.end());
    *weight = onnx_tensor(weight->name, weight->dims, w);
    *bias = onnx_tensor(bias->name, bias->dims, b);
  }
};

Layer layer_of(OnnxModel& network, const OnnxNode& node) {
  const OnnxAttribute* transposed = node.attribute("transB");
  const bool known = node.op_type == "Conv" ||
                     (node.op_type == "Gemm" && transposed != nullptr && transposed->ints == std::vector<int64_t>{1});
  if (!known || node.inputs.size() != 3) {
    fail_input("network, to take over a scaling", "a Conv or a Gemm with transB = 1, and a bias", node.op_type);
  }
  OnnxTensor& weight = initializer(network, node.inputs[1]);
  OnnxTensor& bias = initializer(network, node.inputs[2]);
  return {&weight, &bias, to_doubles("network", weight), to_doubles("network", bias)};
}

}  // namespace

InputScaling standardising(const Dataset& training) {
  std::vector<RunningMoments> moments(training.x.cols());
  for (size_t i = 0; i < training.rows(); ++i) {
    const auto row = training.x.row(i);
    for (size_t j = 0; j < row.size(); ++j) moments[j].add(row[j]);
  }
  InputScaling scaling;
  for (size_t j = 0; j < moments.size(); j++) {
    const RunningMoments& each = moments[j];
    const auto count = static_cast<double>(each.count());
    const double deviation = each.count() > 1 ? std::sqrt(each.variance() * (count - 1) / count) : 0;
    if (deviation > 0 && deviation < kSmallestScale) {
      fail_scale(fmt::format("{}, column {}", training.source, in_quotes(training.feature_names.at(j))), deviation);
    }
    scaling.shift.push_back(static_cast<float>(each.mean()));
    scaling.factor.push_back(deviation > 0 ? static_cast<float>(1 / deviation) : 0.0f);
  }
  return scaling;
}

InputScaling pixel_scaling(const Dataset& training) {
  bool bytes = true;
  float largest = 0;
  for (const float value : training.x.values()) {
    bytes &= value >= 0 && value <= 255 && value == std::trunc(value);
    largest = std::max(largest, std::abs(value));
  }
  // A few shades (0 and 1, 0 to 16) are not very dark bytes.
  if (bytes && largest > 127) largest = 255;
  if (largest == 0) largest = 1;
  if (largest < kSmallestScale) fail_scale(training.source, largest);
  InputScaling scaling;
  scaling.shift.assign(training.x.cols(), 0.0f);
  scaling.factor.assign(training.x.cols(), 1 / largest);
  return scaling;
}

void fold_inputs(OnnxModel& network, const InputScaling& scaling) {
  if (scaling.none()) return;
  const OnnxNode& first = network.graph.nodes.at(0);
  Layer layer = layer_of(network, first);
  const size_t outputs = layer.biases.size();
  const size_t inputs = layer.weights.size() / outputs;
  if (first.op_type == "Conv") {
    const bool uniform = std::ranges::all_of(scaling.factor, [&](float f) { return f == scaling.factor[0]; }) &&
                         std::ranges::all_of(scaling.shift, [](float s) { return s == 0; });
    if (!uniform) fail_input("network", "one scale for all pixels of a convolution", "several, or a shift");
    for (double& weight : layer.weights) weight *= scaling.factor[0];
    return layer.store();
  }
  if (inputs != scaling.factor.size()) {
    fail_input("network", fmt::format("{} features, as the scaling has", scaling.factor.size()),
               fmt::format("{}", inputs));
  }
  for (size_t o = 0; o < outputs; ++o) {
    for (size_t j = 0; j < inputs; ++j) {
      double& weight = layer.weights[o * inputs + j];
      weight *= scaling.factor[j];
      // What is stored is the rounded weight, and it is that one's offset which must cancel.
      weight = static_cast<float>(weight);
      layer.biases[o] -= weight * scaling.shift[j];
    }
  }
  layer.store();
}

std::vector<float> LabelScaling::scaled(std::span<const float> labels) const {
  std::vector<float> out;
  out.reserve(labels.size());
  for (const float label : labels) out.push_back(static_cast<float>((label - mean) / deviation));
  return out;
}

LabelScaling label_scaling(std::span<const float> labels) {
  RunningMoments moments;
  for (const float label : labels) moments.add(label);
  LabelScaling scaling;
  if (moments.count() > 0) scaling.mean = moments.mean();
  if (moments.count() > 1 && moments.variance() > 0) scaling.deviation = moments.standard_deviation();
  return scaling;
}

void fold_labels(OnnxModel& network, const LabelScaling& scaling) {
  Layer layer = layer_of(network, network.graph.nodes.back());
  for (double& weight : layer.weights) weight *= scaling.deviation;
  for (double& bias : layer.biases) bias = bias * scaling.deviation + scaling.mean;
  layer.store();
}

}  // namespace assay
