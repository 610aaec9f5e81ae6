#include "assay/model/ops/node_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/text.h"

namespace assay {

NodeSetup::NodeSetup(const OnnxNode& node, int64_t opset, std::string where, std::vector<const ValueInfo*> inputs,
                     size_t most_bytes, bool gradients, SharedParts* shared)
    : node_(node),
      opset_(opset),
      where_(std::move(where)),
      inputs_(std::move(inputs)),
      most_bytes_(most_bytes),
      gradients_(gradients),
      shared_(shared),
      outputs_(node.outputs.size()) {}

void NodeSetup::fail(std::string_view message) const { fail_input(fmt::format("{}: {}", where_, message)); }

void NodeSetup::expect_inputs(size_t least, size_t most) const {
  size_t given = inputs_.size();
  while (given > 0 && inputs_[given - 1] == nullptr) given--;
  if (given >= least && given <= most) return;
  const std::string expected = least == most      ? fmt::format("{}", least)
                               : most == SIZE_MAX ? fmt::format("{} or more", least)
                                                  : fmt::format("{} to {}", least, most);
  fail(fmt::format("expected {} input{}, found {}", expected, expected == "1" ? "" : "s", given));
}

void NodeSetup::expect_outputs(size_t least, size_t most) const {
  if (output_count() >= least && output_count() <= most) return;
  fail(fmt::format("expected {} output{}, found {}",
                   least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most),
                   most == 1 ? "" : "s", output_count()));
}

const ValueInfo& NodeSetup::input(size_t i) const {
  if (!has_input(i)) fail(fmt::format("input {} is missing", i + 1));
  return *inputs_[i];
}

const ValueInfo& NodeSetup::floating_input(size_t i) const {
  const ValueInfo& value = input(i);
  if (!is_floating(value.type)) {
    fail(fmt::format("input {} must be FLOAT or DOUBLE, found {}", i + 1, onnx_type_name(value.type)));
  }
  return value;
}

const ValueInfo& NodeSetup::typed_input(size_t i, OnnxElement type) const {
  const ValueInfo& value = input(i);
  if (value.type != type) {
    fail(fmt::format("input {} must be {}, found {}", i + 1, onnx_type_name(type), onnx_type_name(value.type)));
  }
  return value;
}

void NodeSetup::expect_rank(size_t i, size_t least, size_t most) const {
  const size_t rank = input(i).dims.size();
  if (rank >= least && rank <= most) return;
  const std::string expected = least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
  fail(fmt::format("input {} must have {} dimension{}, found {} ({})", i + 1, expected, expected == "1" ? "" : "s",
                   rank, onnx_shape_text(input(i).dims)));
}

const Tensor& NodeSetup::constant_input(size_t i, std::string_view what) const {
  const ValueInfo& value = input(i);
  if (value.constant == nullptr) {
    fail(fmt::format("{} (input {}) depends on the data; it must be known before the model runs", what, i + 1));
  }
  return *value.constant;
}

std::vector<int64_t> NodeSetup::constant_integers(size_t i, std::string_view what) const {
  const Tensor& tensor = constant_input(i, what);
  if (tensor.dims().size() > 1) {
    fail(fmt::format("{} (input {}) must have one dimension, found {}", what, i + 1, onnx_shape_text(tensor.dims())));
  }
  if (tensor.type() == OnnxElement::int64) {
    const auto values = tensor.values<int64_t>();
    return {values.begin(), values.end()};
  }
  if (tensor.type() == OnnxElement::int32) {
    const auto values = tensor.values<int32_t>();
    return {values.begin(), values.end()};
  }
  fail(fmt::format("{} (input {}) must be INT64, found {}", what, i + 1, onnx_type_name(tensor.type())));
}

const OnnxAttribute* NodeSetup::attribute(std::string_view name, OnnxAttributeKind kind) const {
  const OnnxAttribute* found = node_.attribute(name);
  if (found == nullptr) return nullptr;
  if (found->kind != kind) {
    fail(fmt::format("attribute {} must be {}, found {}", in_quotes(name), onnx_kind_name(kind),
                     onnx_kind_name(found->kind)));
  }
  return found;
}

int64_t NodeSetup::integer(std::string_view name, int64_t fallback) const {
  const OnnxAttribute* found = attribute(name, OnnxAttributeKind::one_int);
  return found == nullptr || found->ints.empty() ? fallback : found->ints[0];
}

float NodeSetup::real(std::string_view name, float fallback) const {
  const OnnxAttribute* found = attribute(name, OnnxAttributeKind::one_float);
  return found == nullptr || found->floats.empty() ? fallback : found->floats[0];
}

std::string NodeSetup::text(std::string_view name, std::string_view fallback) const {
  const OnnxAttribute* found = attribute(name, OnnxAttributeKind::one_string);
  return found == nullptr || found->strings.empty() ? std::string(fallback) : found->strings[0];
}

std::vector<int64_t> NodeSetup::integers(std::string_view name) const {
  const OnnxAttribute* found = attribute(name, OnnxAttributeKind::ints);
  return found == nullptr ? std::vector<int64_t>() : found->ints;
}

std::vector<float> NodeSetup::reals(std::string_view name) const {
  const OnnxAttribute* found = attribute(name, OnnxAttributeKind::floats);
  return found == nullptr ? std::vector<float>() : found->floats;
}

std::vector<std::string> NodeSetup::texts(std::string_view name) const {
  const OnnxAttribute* found = attribute(name, OnnxAttributeKind::strings);
  return found == nullptr ? std::vector<std::string>() : found->strings;
}

const OnnxTensor* NodeSetup::tensor(std::string_view name) const {
  const OnnxAttribute* found = attribute(name, OnnxAttributeKind::one_tensor);
  return found == nullptr || found->tensors.empty() ? nullptr : &found->tensors[0];
}

size_t NodeSetup::axis(int64_t axis, size_t rank) const {
  const auto signed_rank = static_cast<int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) {
    fail(fmt::format("axis {} is outside the {} dimension{} of the input", axis, rank, rank == 1 ? "" : "s"));
  }
  return static_cast<size_t>(axis < 0 ? axis + signed_rank : axis);
}

std::vector<size_t> NodeSetup::axes(std::span<const int64_t> axes, size_t rank) const {
  std::vector<size_t> sorted;
  sorted.reserve(axes.size());
  for (const int64_t given : axes) sorted.push_back(axis(given, rank));
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
    fail(fmt::format("axis {} is given twice", *twice));
  }
  return sorted;
}

void NodeSetup::set_output(size_t i, OnnxElement stored, Shape dims) {
  if (i >= outputs_.size()) return;
  size_t count = 1;
  for (const int64_t dim : dims) {
    if (dim < 0) fail(fmt::format("its output would have the dimensions {}", onnx_shape_text(dims)));
    // Dimensions of 0 count as 1, for products of some dimensions are taken later.
    const auto factor = static_cast<size_t>(std::max<int64_t>(dim, 1));
    if (count > static_cast<size_t>(kMostElements) / factor) {
      count = static_cast<size_t>(kMostElements) + 1;
    } else {
      count *= factor;
    }
    if (count > static_cast<size_t>(kMostElements)) break;
  }
  checked_bytes(count, element_size(stored));
  outputs_[i] = ValueInfo{stored, std::move(dims), nullptr};
}

size_t NodeSetup::checked_bytes(size_t count, size_t element_bytes) const {
  if (count > most_bytes_ / std::max<size_t>(element_bytes, 1)) {
    fail(fmt::format("it needs {} elements of {} bytes in one block; at most {} bytes are allowed", count,
                     element_bytes, most_bytes_));
  }
  return count * element_bytes;
}

}  // namespace assay
