#include "assay/model/train/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "assay/core/error.h"
#include "assay/model/graph/graph.h"

namespace assay {
namespace {

// The dimensions of the one input for so many rows.
Shape input_dims(const OnnxModel& network, size_t rows) {
  if (network.graph.inputs.size() != 1 || !network.graph.inputs[0].type.dims) {
    fail_input("network", "one input of known dimensions to train on",
               fmt::format("{} inputs", network.graph.inputs.size()));
  }
  Shape dims;
  for (const OnnxDimension& dim : *network.graph.inputs[0].type.dims) {
    if (!dims.empty() && !dim.size) fail_input("network, its input", "known dimensions", "an open one");
    dims.push_back(dims.empty() ? static_cast<int64_t>(rows) : *dim.size);
  }
  return dims;
}

Feed input_feed(const OnnxModel& network, size_t rows) {
  return {network.graph.inputs[0].name, {OnnxElement::float32, input_dims(network, rows)}};
}

}  // namespace

void LossSum::add(const LossSum& other) {
  total += other.total;
  weight += other.weight;
  rows += other.rows;
  correct += other.correct;
}

std::string trained_value(const OnnxModel& network) {
  if (network.graph.outputs.empty()) fail_input("network", "an output", "none");
  const std::string& output = network.graph.outputs[0].name;
  for (const OnnxNode& node : network.graph.nodes) {
    if (node.op_type == "Softmax" && node.outputs == std::vector{output}) return node.inputs.at(0);
  }
  return output;
}

size_t input_features(const OnnxModel& network) { return element_count(input_dims(network, 1)); }

double work_per_row(const OnnxModel& network) {
  // Dimensions come from a plan for one row that fetches every layer's output.
  const Graph graph("network", network);
  PlanRequest request{.feeds = {input_feed(network, 1)}, .fetches = {}};
  std::vector<double> weights;
  for (const GraphNode& node : graph.nodes()) {
    const bool layer = node.onnx.op_type == "Gemm" || node.onnx.op_type == "MatMul" || node.onnx.op_type == "Conv";
    if (!layer || node.inputs.size() < 2 || graph.constant(node.inputs[1]) == nullptr) continue;
    weights.push_back(static_cast<double>(graph.constant(node.inputs[1])->count()));
    request.fetches.push_back(graph.value_name(node.outputs[0]));
  }
  const Plan plan(graph, request);
  double work = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const ValueInfo& output = plan.fetched(i);
    const double channels = output.dims.size() > 1 ? static_cast<double>(output.dims[1]) : 1;
    work += weights[i] / std::max(1.0, channels) * static_cast<double>(output.count());
  }
  return work;
}

NetworkBlocks::NetworkBlocks(const OnnxModel& network, const Parameters& parameters, size_t block_rows, bool gradients,
                             InputScaling scaling, size_t at_once)
    : parameters_(&parameters), scaling_(std::move(scaling)), block_rows_(block_rows) {
  assert(block_rows > 0);
  PlanRequest request{.feeds = {input_feed(network, block_rows)}, .fetches = {trained_value(network)}};
  features_ = input_features(network);
  assert(scaling_.none() || scaling_.factor.size() == features_);
  for (const ParameterPlace& place : parameters.places()) {
    request.feeds.push_back({place.name, {OnnxElement::float32, place.dims}, gradients});
  }
  plan_ = std::make_unique<Plan>(Graph("network", network), request);
  const ValueInfo& trained = plan_->fetched(0);
  if (trained.type != OnnxElement::float32 || trained.dims.size() != 2 ||
      trained.dims[0] != static_cast<int64_t>(block_rows)) {
    fail_input("network, the value it is trained by", "numbers of type FLOAT, rows x outputs",
               fmt::format("{} {}", onnx_type_name(trained.type), onnx_shape_text(trained.dims)));
  }
  outputs_ = static_cast<size_t>(trained.dims[1]);
  for (size_t i = 0; i < std::max<size_t>(at_once, 1); ++i) {
    auto& slot = *slots_.emplace_back(std::make_unique<Slot>(*plan_));
    slot.rows.resize(block_rows * features_);
    slot.labels.resize(block_rows);
    slot.workspace.feed(0, slot.rows.data());
    for (size_t p = 0; p < parameters.places().size(); ++p) {
      slot.workspace.feed(p + 1, parameters.values().data() + parameters.places()[p].first);
    }
    free_.push_back(&slot);
  }
}

NetworkBlocks::Lease::Lease(NetworkBlocks& blocks) : blocks_(blocks) {
  const std::lock_guard lock(blocks.mutex_);
  assert(!blocks.free_.empty());
  slot_ = blocks.free_.back();
  blocks.free_.pop_back();
}

NetworkBlocks::Lease::~Lease() {
  const std::lock_guard lock(blocks_.mutex_);
  blocks_.free_.push_back(slot_);
}

MatrixView<const float> NetworkBlocks::forward(Slot& slot, const LabelledRows& data,
                                               std::span<const uint32_t> chosen) const {
  assert(chosen.size() <= block_rows_ && data.rows.cols() == features_);
  float* to = slot.rows.data();
  for (size_t i = 0; i < chosen.size(); ++i, to += features_) {
    const auto row = data.rows.row(chosen[i]);
    slot.labels[i] = data.labels[chosen[i]];
    if (scaling_.none()) {
      std::ranges::copy(row, to);
    } else {
      for (size_t j = 0; j < features_; ++j) to[j] = (row[j] - scaling_.shift[j]) * scaling_.factor[j];
    }
  }
  std::fill(to, slot.rows.data() + slot.rows.size(), 0.0f);
  slot.workspace.forward();
  return {static_cast<const float*>(slot.workspace.fetched(0)), chosen.size(), outputs_};
}

MatrixView<float> NetworkBlocks::output_gradient(Slot& slot, size_t rows) const {
  auto* gradient = static_cast<float*>(slot.workspace.fetch_gradient(0));
  std::fill(gradient + rows * outputs_, gradient + block_rows_ * outputs_, 0.0f);
  return {gradient, rows, outputs_};
}

void NetworkBlocks::backward(Slot& slot, std::span<float> gradient) const {
  assert(gradient.size() == parameters_->size());
  slot.workspace.backward();
  for (size_t p = 0; p < parameters_->places().size(); ++p) {
    const ParameterPlace& place = parameters_->places()[p];
    const auto* from = static_cast<const float*>(slot.workspace.feed_gradient(p + 1));
    // Null: nothing the loss sees depends on these weights.
    if (from != nullptr) std::copy_n(from, place.count, gradient.data() + place.first);
  }
}

}  // namespace assay
