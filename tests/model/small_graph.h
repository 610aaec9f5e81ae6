// Graphs for tests, written in a few lines.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "assay/model/graph/onnx.h"

namespace assay::testing {

inline OnnxNode node(std::string op, std::vector<std::string> inputs, std::vector<std::string> outputs,
                     std::vector<OnnxAttribute> attributes = {}, std::string domain = "") {
  OnnxNode made;
  made.op_type = std::move(op);
  made.domain = std::move(domain);
  made.inputs = std::move(inputs);
  made.outputs = std::move(outputs);
  made.attributes = std::move(attributes);
  return made;
}

// A tensor of these dimensions; -1 is the batch.
inline OnnxValue value(std::string name, const std::vector<int64_t>& dims, OnnxElement type = OnnxElement::float32) {
  OnnxValue made;
  made.name = std::move(name);
  made.type.kind = OnnxValueKind::tensor;
  made.type.element = type;
  made.type.dims.emplace();
  for (const int64_t dim : dims) {
    OnnxDimension each;
    if (dim < 0)
      each.symbol = "N";
    else
      each.size = dim;
    made.type.dims->push_back(each);
  }
  return made;
}

inline OnnxTensor floats(std::string name, std::vector<int64_t> dims, const std::vector<float>& values) {
  return onnx_tensor(std::move(name), std::move(dims), std::span<const float>(values));
}
inline OnnxTensor integers(std::string name, std::vector<int64_t> dims, const std::vector<int64_t>& values) {
  return onnx_tensor(std::move(name), std::move(dims), std::span<const int64_t>(values));
}

inline OnnxModel model(std::vector<OnnxNode> nodes, std::vector<OnnxValue> inputs, std::vector<OnnxValue> outputs,
                       std::vector<OnnxTensor> weights = {}) {
  OnnxModel made;
  made.ir_version = 8;
  made.opsets = {{"", 17}, {"ai.onnx.ml", 3}};
  made.graph.nodes = std::move(nodes);
  made.graph.inputs = std::move(inputs);
  made.graph.outputs = std::move(outputs);
  made.graph.initializers = std::move(weights);
  return made;
}

}  // namespace assay::testing
