#include "assay/model/graph/onnx.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>

#include "assay/core/error.h"
#include "assay/core/half.h"

namespace assay {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are kept in little-endian order");

struct ElementType {
  std::string_view name;
  size_t bits;
};
constexpr std::array<ElementType, 29> kElementTypes = {{
    {"UNDEFINED", 0},      {"FLOAT", 32},    {"UINT8", 8},        {"INT8", 8},           {"UINT16", 16},
    {"INT16", 16},         {"INT32", 32},    {"INT64", 64},       {"STRING", 0},         {"BOOL", 8},
    {"FLOAT16", 16},       {"DOUBLE", 64},   {"UINT32", 32},      {"UINT64", 64},        {"COMPLEX64", 64},
    {"COMPLEX128", 128},   {"BFLOAT16", 16}, {"FLOAT8E4M3FN", 8}, {"FLOAT8E4M3FNUZ", 8}, {"FLOAT8E5M2", 8},
    {"FLOAT8E5M2FNUZ", 8}, {"UINT4", 4},     {"INT4", 4},         {"FLOAT4E2M1", 4},     {"FLOAT8E8M0", 8},
    {"UINT2", 2},          {"INT2", 2},      {"FLOAT6E2M3", 6},   {"FLOAT6E3M2", 6},
}};
constexpr std::array<std::string_view, 15> kKindNames = {
    "UNDEFINED", "FLOAT",   "INT",    "STRING",        "TENSOR",         "GRAPH",      "FLOATS",      "INTS",
    "STRINGS",   "TENSORS", "GRAPHS", "SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS",
};

std::string tensor_label(std::string_view where, const OnnxTensor& tensor) {
  return tensor.name.empty() ? std::string(where) : fmt::format("{}, tensor {}", where, in_quotes(tensor.name));
}

float bfloat_to_float(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

template <class To, class From>
To checked(std::string_view where, const OnnxTensor& tensor, size_t i, From value) {
  if constexpr (std::same_as<To, float> && std::same_as<From, double>) {
    // Rounding to the largest float is no overflow, so the result is what is looked at.
    const auto rounded = static_cast<float>(value);
    if (std::isinf(rounded) && !std::isinf(value)) {
      fail_input(tensor_label(where, tensor), "numbers within the range of float32 (3.4e38)",
                 fmt::format("{:g} as element {}", value, i + 1));
    }
    return rounded;
  } else if constexpr (std::integral<To> && std::integral<From>) {
    if (!std::in_range<To>(value)) {
      fail_input(tensor_label(where, tensor), "whole numbers within the range of int64",
                 fmt::format("{} as element {}", value, i + 1));
    }
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

// Stored is the type in memory, and `meaning` turns it into the number it stands for.
template <class To, class Stored, class Meaning>
std::vector<To> converted_elements(std::string_view where, const OnnxTensor& tensor, Meaning meaning) {
  const size_t count = tensor.raw.size() / sizeof(Stored);
  std::vector<To> out(count);
  for (size_t i = 0; i < count; ++i) {
    Stored stored;
    std::memcpy(&stored, tensor.raw.data() + i * sizeof(Stored), sizeof(Stored));
    out[i] = checked<To>(where, tensor, i, meaning(stored));
  }
  return out;
}

template <class To>
std::vector<To> numbers(std::string_view where, const OnnxTensor& tensor) {
  const auto itself = [](auto value) { return value; };
  switch (tensor.type) {
    case OnnxElement::int8: return converted_elements<To, int8_t>(where, tensor, itself);
    case OnnxElement::int16: return converted_elements<To, int16_t>(where, tensor, itself);
    case OnnxElement::int32: return converted_elements<To, int32_t>(where, tensor, itself);
    case OnnxElement::int64: return converted_elements<To, int64_t>(where, tensor, itself);
    case OnnxElement::uint8: return converted_elements<To, uint8_t>(where, tensor, itself);
    case OnnxElement::uint16: return converted_elements<To, uint16_t>(where, tensor, itself);
    case OnnxElement::uint32: return converted_elements<To, uint32_t>(where, tensor, itself);
    case OnnxElement::uint64: return converted_elements<To, uint64_t>(where, tensor, itself);
    case OnnxElement::boolean:
      return converted_elements<To, uint8_t>(where, tensor,
                                             [](uint8_t byte) { return static_cast<uint8_t>(byte != 0); });
    default: break;
  }
  if constexpr (std::floating_point<To>) {
    switch (tensor.type) {
      case OnnxElement::float32: return converted_elements<To, float>(where, tensor, itself);
      case OnnxElement::float64: return converted_elements<To, double>(where, tensor, itself);
      case OnnxElement::float16: return converted_elements<To, uint16_t>(where, tensor, float_from_half);
      case OnnxElement::bfloat16: return converted_elements<To, uint16_t>(where, tensor, bfloat_to_float);
      default: break;
    }
  }
  fail_input(tensor_label(where, tensor),
             std::integral<To> ? "a tensor of whole numbers" : "a tensor of real numbers of 8 bits or more",
             fmt::format("one of {}", onnx_type_name(tensor.type)));
}

template <class T>
OnnxTensor tensor_of(std::string name, OnnxElement type, std::vector<int64_t> dims, std::span<const T> values) {
  assert(onnx_element_count("a new tensor", dims) == values.size());
  std::string raw(values.size_bytes(), '\0');
  if (!values.empty()) std::memcpy(raw.data(), values.data(), raw.size());
  return {std::move(name), type, std::move(dims), std::move(raw)};
}

}  // namespace

const OnnxAttribute* OnnxNode::attribute(std::string_view wanted) const {
  const auto found = std::ranges::find(attributes, wanted, &OnnxAttribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

int64_t OnnxNode::int_attribute(std::string_view wanted, int64_t fallback) const {
  const OnnxAttribute* found = attribute(wanted);
  return found == nullptr || found->ints.empty() ? fallback : found->ints[0];
}

float OnnxNode::real_attribute(std::string_view wanted, float fallback) const {
  const OnnxAttribute* found = attribute(wanted);
  return found == nullptr || found->floats.empty() ? fallback : found->floats[0];
}

OnnxAttribute OnnxAttribute::one_int(std::string name, int64_t value) {
  OnnxAttribute made;
  made.name = std::move(name);
  made.kind = OnnxAttributeKind::one_int;
  made.ints = {value};
  return made;
}

int64_t opset_version(const std::vector<OnnxOpset>& opsets, std::string_view domain) {
  int64_t version = 0;
  for (const auto& opset : opsets) {
    if (opset.domain == domain) version = std::max(version, opset.version);
  }
  return version;
}

std::string node_label(const OnnxNode& node, size_t position) {
  const std::string name = node.name.empty() ? fmt::format("{}", position) : in_quotes(node.name);
  if (node.op_type.empty()) return fmt::format("node {}", name);
  // An operator's name is a word, so it goes without the quotes, but it is from outside all the same.
  const std::string op_type = in_quotes(node.op_type);
  return fmt::format("node {} ({})", name, op_type.substr(1, op_type.size() - 2));
}

std::string_view onnx_type_name(OnnxElement type) {
  const auto index = static_cast<size_t>(type);
  return index < kElementTypes.size() ? kElementTypes[index].name : "UNKNOWN";
}

std::string_view onnx_kind_name(OnnxAttributeKind kind) {
  const auto index = static_cast<size_t>(kind);
  return index < kKindNames.size() ? kKindNames[index] : "UNKNOWN";
}

std::string onnx_shape_text(std::span<const int64_t> dims) {
  return dims.empty() ? "no dimensions" : fmt::format("{}", fmt::join(dims, " x "));
}

size_t onnx_element_count(std::string_view where, std::span<const int64_t> dims) {
  // The widest element has 16 bytes, and sizes are counted in bits on the way.
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 128;
  if (dims.size() > kMostDimensions) {
    fail_input(where, fmt::format("at most {} dimensions", kMostDimensions), fmt::format("{}", dims.size()));
  }
  int64_t total = 1;
  bool empty = false;
  for (const int64_t size : dims) {
    if (size < 0) fail_input(where, "dimensions of 0 or more", fmt::format("{}", onnx_shape_text(dims)));
    empty = empty || size == 0;
    const int64_t factor = std::max<int64_t>(size, 1);
    if (factor > kMost / total) {
      fail_input(where, "a tensor that fits in memory", fmt::format("one of {} elements", onnx_shape_text(dims)));
    }
    total *= factor;
  }
  return empty ? 0 : static_cast<size_t>(total);
}

size_t onnx_byte_count(OnnxElement type, size_t elements) {
  const auto index = static_cast<size_t>(type);
  return index < kElementTypes.size() ? (elements * kElementTypes[index].bits + 7) / 8 : 0;
}

std::vector<float> to_floats(std::string_view where, const OnnxTensor& tensor) { return numbers<float>(where, tensor); }
std::vector<double> to_doubles(std::string_view where, const OnnxTensor& tensor) {
  return numbers<double>(where, tensor);
}
std::vector<int64_t> to_int64s(std::string_view where, const OnnxTensor& tensor) {
  return numbers<int64_t>(where, tensor);
}

OnnxTensor onnx_tensor(std::string name, std::vector<int64_t> dims, std::span<const float> values) {
  return tensor_of(std::move(name), OnnxElement::float32, std::move(dims), values);
}
OnnxTensor onnx_tensor(std::string name, std::vector<int64_t> dims, std::span<const int64_t> values) {
  return tensor_of(std::move(name), OnnxElement::int64, std::move(dims), values);
}

}  // namespace assay
