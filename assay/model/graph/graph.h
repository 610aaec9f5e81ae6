// A model's graph, ready to be planned: every name has one meaning, every reference leads to a value made before it,
// every operator is one the engine has, and what depends on weights alone is computed already.
//
// A graph is immutable apart from append, and copies share their weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "assay/core/context.h"
#include "assay/model/graph/onnx.h"
#include "assay/model/graph/tensor.h"

namespace assay {

struct Operator;

class SharedParts;  // ops/node_setup.h

// Values and nodes are numbered; this stands where there is none.
inline constexpr size_t kNoValue = SIZE_MAX;

// A node of the graph. inputs and outputs are numbers of values; kNoValue where one is left out.
struct GraphNode {
  OnnxNode onnx;
  const Operator* op = nullptr;
  int64_t opset = 0;  // of the node's domain
  std::string where;  // for messages: "m.onnx: node 'conv1' (Conv)"
  std::vector<size_t> inputs;
  std::vector<size_t> outputs;
  std::shared_ptr<SharedParts> shared = {};  // what its kernels share (ops/node_setup.h)
};

class Graph {
 public:
  // The oldest and newest version of ONNX's own operators that the engine knows.
  static constexpr int64_t kOldestOpset = 7;
  static constexpr int64_t kNewestOpset = 28;

  // An input error that names all operators the engine lacks, or the node, value or operator that is wrong. `name` is
  // the file's, for messages. Inlining functions and computing what depends on weights alone keep to the context's
  // budget; they stop between two nodes when it is cancelled.
  Graph(std::string name, OnnxModel model, const Context& context = {});

  const std::string& name() const { return name_; }
  // Without those that only declare the type of an initializer.
  const std::vector<OnnxValue>& inputs() const { return inputs_; }
  const std::vector<OnnxValue>& outputs() const { return outputs_; }
  // In an order in which they can run.
  const std::vector<GraphNode>& nodes() const { return nodes_; }
  const std::vector<std::pair<std::string, std::string>>& metadata() const { return metadata_; }
  const std::vector<OnnxOpset>& opsets() const { return opsets_; }
  const std::string& producer() const { return producer_; }

  size_t value_count() const { return value_names_.size(); }
  const std::string& value_name(size_t value) const { return value_names_[value]; }
  // kNoValue when there is none of this name.
  size_t find_value(std::string_view name) const;
  // Weights, and what was computed from weights alone; null for other values.
  const std::shared_ptr<const Tensor>& constant(size_t value) const { return constants_[value]; }
  // Whether the value is a weight as the file holds it.
  bool is_initializer(size_t value) const { return initializer_[value]; }
  // The position in nodes() of the node that makes a value; kNoValue for inputs and constants.
  size_t producer_of(size_t value) const { return producers_[value]; }
  // Elements of all weights in the file.
  size_t parameter_count() const { return parameter_count_; }
  // Bytes of all weights in the file, as they are stored here.
  size_t initializer_bytes() const { return initializer_bytes_; }

  // Adds a node of known values whose outputs are new names.
  void append(const OnnxNode& node, int64_t opset);

 private:
  size_t add_value(const std::string& name);
  void add_node(const OnnxNode& node, size_t position);
  void check_operators(const OnnxModel& model) const;
  void fold_constants(const Context& context);

  std::string name_;
  std::string producer_;
  std::vector<OnnxOpset> opsets_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::vector<OnnxValue> inputs_;
  std::vector<OnnxValue> outputs_;
  std::vector<GraphNode> nodes_;
  std::vector<std::string> value_names_;
  std::unordered_map<std::string, size_t> values_;
  std::vector<std::shared_ptr<const Tensor>> constants_;
  std::vector<bool> initializer_;
  std::vector<size_t> producers_;
  size_t parameter_count_ = 0;
  size_t initializer_bytes_ = 0;
};

}  // namespace assay
