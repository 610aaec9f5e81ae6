#include "assay/model/open_batch.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>

namespace assay {
namespace {

void open_shape(OnnxTensor& shape, size_t batch) {
  if (shape.type != OnnxElement::int64 || shape.dims.size() != 1 || shape.raw.size() < sizeof(int64_t)) return;
  std::vector<int64_t> values = to_int64s("shape", shape);
  const bool has_rest = std::find(values.begin(), values.end(), -1) != values.end();
  if (has_rest || values[0] != static_cast<int64_t>(batch)) return;
  const int64_t rest = -1;
  std::memcpy(shape.raw.data(), &rest, sizeof(rest));
}

}  // namespace

size_t declared_batch(const OnnxModel& model) {
  std::set<std::string> weights;
  for (const OnnxTensor& tensor : model.graph.initializers) weights.insert(tensor.name);
  size_t batch = 0;
  for (const OnnxValue& input : model.graph.inputs) {
    if (weights.contains(input.name) || !input.type.dims || input.type.dims->empty()) continue;
    const int64_t size = (*input.type.dims)[0].size.value_or(0);
    if (size > 0) batch = std::max(batch, static_cast<size_t>(size));
  }
  return batch;
}

OnnxModel with_open_batch(OnnxModel model, size_t batch) {
  // A weight that also serves elsewhere is left as it is.
  std::set<std::string> shapes;
  std::set<std::string> others;
  for (const OnnxNode& node : model.graph.nodes) {
    for (size_t i = 0; i < node.inputs.size(); i++) {
      const bool shape = node.op_type == "Reshape" && node.domain.empty() && i == 1;
      (shape ? shapes : others).insert(node.inputs[i]);
    }
  }
  for (OnnxTensor& tensor : model.graph.initializers) {
    if (shapes.contains(tensor.name) && !others.contains(tensor.name)) open_shape(tensor, batch);
  }
  for (OnnxNode& node : model.graph.nodes) {
    const bool constant = node.op_type == "Constant" && node.domain.empty() && !node.outputs.empty();
    if (!constant || !shapes.contains(node.outputs[0]) || others.contains(node.outputs[0])) continue;
    for (OnnxAttribute& attribute : node.attributes) {
      for (OnnxTensor& tensor : attribute.tensors) open_shape(tensor, batch);
    }
  }
  return model;
}

}  // namespace assay
