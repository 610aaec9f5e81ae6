// A node while a plan is made: its attributes, checked, and what is known of its inputs; the operator sets its outputs.
//
// Every refusal is an input error that starts with file, node and operator: "m.onnx: node 'conv1' (Conv): ...".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/model/ops/kernel.h"

namespace assay {

// The dimensions or elements of one value must stay below this, so that products of two fit easily in 64 bits.
inline constexpr int64_t kMostElements = int64_t{1} << 40;

// What the kernels of one node build from its attributes and share. There are several kernels because a graph has plans
// for several sizes of batch, and trees may take hundreds of megabytes.
class SharedParts {
 public:
  // What make() gives, a shared_ptr<const T>. It is kept until another key is asked for. All callers of one node ask
  // for the same T.
  template <class T, class Make>
  std::shared_ptr<const T> get(size_t key, const Make& make) {
    const std::lock_guard lock(mutex_);
    if (parts_ == nullptr || key != key_) {
      parts_ = make();
      key_ = key;
    }
    return std::static_pointer_cast<const T>(parts_);
  }

 private:
  std::mutex mutex_;
  size_t key_ = 0;
  std::shared_ptr<const void> parts_;
};

class NodeSetup {
 public:
  // inputs: null where left out. shared: null where nothing is to be shared. Everything must outlive the setup.
  NodeSetup(const OnnxNode& node, int64_t opset, std::string where, std::vector<const ValueInfo*> inputs,
            size_t most_bytes, bool gradients = true, SharedParts* shared = nullptr);

  // See SharedParts.
  template <class T, class Make>
  std::shared_ptr<const T> shared(size_t key, const Make& make) const {
    return shared_ == nullptr ? make() : shared_->get<T>(key, make);
  }

  const OnnxNode& node() const { return node_; }
  // The version of the node's domain.
  int64_t opset() const { return opset_; }
  const std::string& where() const { return where_; }
  // Whether backward or rescale may follow forward.
  bool gradients() const { return gradients_; }
  [[noreturn]] void fail(std::string_view message) const;

  // Inputs. expect_inputs and expect_outputs refuse more or fewer. input(i) refuses a node that leaves it out.
  void expect_inputs(size_t least, size_t most) const;
  void expect_outputs(size_t least, size_t most) const;
  size_t input_count() const { return inputs_.size(); }
  bool has_input(size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
  const ValueInfo& input(size_t i) const;
  // Refuses an input that is not float32 or float64 / not of this type / not of as many dimensions.
  const ValueInfo& floating_input(size_t i) const;
  const ValueInfo& typed_input(size_t i, OnnxElement type) const;
  void expect_rank(size_t i, size_t least, size_t most = 64) const;
  // The values of an input that must be known before the graph runs: shapes, axes, ... `what` is for the message.
  const Tensor& constant_input(size_t i, std::string_view what) const;
  std::vector<int64_t> constant_integers(size_t i, std::string_view what) const;

  // Attributes; the fallback when absent. One of another kind is refused.
  bool has_attribute(std::string_view name) const { return node_.attribute(name) != nullptr; }
  int64_t integer(std::string_view name, int64_t fallback) const;
  float real(std::string_view name, float fallback) const;
  bool flag(std::string_view name, bool fallback) const { return integer(name, fallback ? 1 : 0) != 0; }
  std::string text(std::string_view name, std::string_view fallback) const;
  std::vector<int64_t> integers(std::string_view name) const;  // empty when absent
  std::vector<float> reals(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  const OnnxTensor* tensor(std::string_view name) const;  // null when absent

  // An axis in -rank..rank-1 as 0..rank-1; refused outside.
  size_t axis(int64_t axis, size_t rank) const;
  // Distinct axes, sorted.
  std::vector<size_t> axes(std::span<const int64_t> axes, size_t rank) const;

  // Outputs. set_output refuses dimensions that are negative, and values of more bytes than the plan allows.
  size_t output_count() const { return node_.outputs.size(); }
  bool wants_output(size_t i) const { return i < node_.outputs.size() && !node_.outputs[i].empty(); }
  void set_output(size_t i, OnnxElement stored, Shape dims);
  const std::vector<std::optional<ValueInfo>>& outputs() const { return outputs_; }
  // Refuses scratch or state memory beyond what the plan allows; returns bytes.
  size_t checked_bytes(size_t count, size_t element_bytes) const;

 private:
  const OnnxAttribute* attribute(std::string_view name, OnnxAttributeKind kind) const;

  const OnnxNode& node_;
  int64_t opset_;
  std::string where_;
  std::vector<const ValueInfo*> inputs_;
  size_t most_bytes_;
  bool gradients_;
  SharedParts* shared_;
  std::vector<std::optional<ValueInfo>> outputs_;
};

}  // namespace assay
