// ONNX model files as plain structs, in and out: no executor, no shapes inferred, no operator known.
//
// The format is protobuf with the messages of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto, which also says
// what each field means; names here are ONNX's. Lists keep the order of the file. A file may store a tensor in many
// forms; here it is always little-endian bytes. The domain "ai.onnx" is the same as "" and always written as "" here.
// Documentation, training information, quantization annotations, device configurations, and the metadata of everything
// but the model are not kept, and fields of a newer format are skipped. Contents that nothing here can use (sparse
// tensors, types as attributes) are not kept either, but what held them is, so that an error can name it.
//
// Files are hostile. Nothing they claim is trusted, memory stays in proportion to the bytes that are there, and what
// cannot be right by itself is an input error that names file, node and operator, or tensor. Whether names are unique,
// references lead somewhere, or operators exist is not checked here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/model/graph/onnx_bytes.h"

namespace assay {

// Of a tensor or a value: far more than any operator takes, and as many as NumPy allows (data/io/npy.h).
inline constexpr size_t kMostDimensions = 64;

// The type of a tensor's elements, with ONNX's numbers (TensorProto.DataType).
enum class OnnxElement : int32_t {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  complex64 = 14,
  complex128 = 15,
  bfloat16 = 16,
  float8e4m3fn = 17,
  float8e4m3fnuz = 18,
  float8e5m2 = 19,
  float8e5m2fnuz = 20,
  uint4 = 21,
  int4 = 22,
  float4e2m1 = 23,
  float8e8m0 = 24,
  uint2 = 25,
  int2 = 26,
  float6e2m3 = 27,
  float6e3m2 = 28,
};

struct OnnxTensor {
  std::string name = {};
  OnnxElement type = OnnxElement::undefined;
  std::vector<int64_t> dims = {};  // empty: one element without dimensions
  // Numbers: row-major, little-endian; a boolean is a byte; elements of less than a byte are packed, low bits first.
  OnnxBytes raw = {};
  std::vector<std::string> strings = {};  // the elements of a tensor of text, as bytes

  bool operator==(const OnnxTensor&) const = default;
};

// What an attribute holds, with ONNX's numbers (AttributeProto.AttributeType).
enum class OnnxAttributeKind : int32_t {
  undefined = 0,
  one_float = 1,
  one_int = 2,
  one_string = 3,
  one_tensor = 4,
  one_graph = 5,
  floats = 6,
  ints = 7,
  strings = 8,
  tensors = 9,
  graphs = 10,
  sparse_tensor = 11,   // content not kept
  sparse_tensors = 12,  // content not kept
  type_proto = 13,      // content not kept
  type_protos = 14,     // content not kept
};

struct OnnxGraph;

// A single value is a list of one: the axis of a Softmax is ints[0].
struct OnnxAttribute {
  std::string name;
  OnnxAttributeKind kind = OnnxAttributeKind::undefined;
  // In a function's body: the function's attribute whose value this one takes. It has none of its own then.
  std::string reference;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;  // bytes; ONNX asks for UTF-8, but not all writers care
  std::vector<OnnxTensor> tensors;
  std::vector<OnnxGraph> graphs;

  static OnnxAttribute one_int(std::string name, int64_t value);
  bool operator==(const OnnxAttribute&) const = default;
};

struct OnnxNode {
  std::string name;  // often empty
  std::string op_type;
  std::string domain;
  std::string overload;              // picks one of several model-local functions of this name
  std::vector<std::string> inputs;   // "" where an optional one is left out
  std::vector<std::string> outputs;  // likewise
  std::vector<OnnxAttribute> attributes;

  // The attribute of this name, or null.
  const OnnxAttribute* attribute(std::string_view wanted) const;
  // The first number of an attribute; the fallback where there is none.
  int64_t int_attribute(std::string_view wanted, int64_t fallback) const;
  float real_attribute(std::string_view wanted, float fallback) const;
  bool operator==(const OnnxNode&) const = default;
};

// A dimension of a value: a number, a name that stands for one ("batch"), or neither. -1, which some exporters write
// for a size they do not know, is read as neither.
struct OnnxDimension {
  std::optional<int64_t> size = {};
  std::string symbol = {};

  bool operator==(const OnnxDimension&) const = default;
};

enum class OnnxValueKind { undefined, tensor, sequence, map, optional, sparse_tensor, opaque };

struct OnnxValueType {
  OnnxValueKind kind = OnnxValueKind::undefined;
  OnnxElement element = OnnxElement::undefined;    // of a tensor, or of a map's keys
  std::optional<std::vector<OnnxDimension>> dims;  // of a tensor; absent: their number is not known
  std::vector<OnnxValueType> inner;                // one type: of a sequence's items, a map's values, what is optional

  bool operator==(const OnnxValueType&) const = default;
};

struct OnnxValue {
  std::string name;
  OnnxValueType type;

  bool operator==(const OnnxValue&) const = default;
};

struct OnnxGraph {
  std::string name;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> initializers;
  std::vector<std::string> sparse_initializers;  // their names; the content is not kept
  std::vector<OnnxValue> inputs;
  std::vector<OnnxValue> outputs;
  std::vector<OnnxValue> value_info;

  bool operator==(const OnnxGraph&) const = default;
};

// The version of a domain's operators.
struct OnnxOpset {
  std::string domain = {};
  int64_t version = 0;

  bool operator==(const OnnxOpset&) const = default;
};

// An operator that the model brings itself.
struct OnnxFunction {
  std::string name;
  std::string domain;
  std::string overload;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> attributes;  // that a call must give
  std::vector<OnnxAttribute> attributes_with_default;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxOpset> opsets;

  bool operator==(const OnnxFunction&) const = default;
};

struct OnnxModel {
  int64_t ir_version = 0;
  std::vector<OnnxOpset> opsets;
  std::string producer_name;
  std::string producer_version;
  std::vector<std::pair<std::string, std::string>> metadata;  // metadata_props
  OnnxGraph graph;
  std::vector<OnnxFunction> functions;
  // The files that external data was read from, each once, in the order of the tensors: a model is its file and these.
  // Never written.
  std::vector<std::string> external_files;

  bool operator==(const OnnxModel&) const = default;
};

// A model file, plain, .gz or .xz. External data is read from the file's folder and nowhere else.
OnnxModel read_onnx(const std::string& path);
// A model in memory; name is for messages. External data is read from folder; when that is empty, it is refused.
OnnxModel parse_onnx(std::string name, std::string_view bytes, const std::string& folder);

// The bytes of a model file, all tensors inside; the same model gives the same bytes. An error when the model has
// contents that were not kept, does not fit in the 2 GiB that protobuf allows, or would be refused when read.
std::string serialise_onnx(const OnnxModel& model);
void write_onnx(const OnnxModel& model, const std::string& path);

// The version of a domain's operators, or 0; the largest when the domain is listed more than once.
int64_t opset_version(const std::vector<OnnxOpset>& opsets, std::string_view domain);

// For messages: "node 'conv1' (Conv)"; a node without a name is "node 3 (Conv)", its position counted from 1.
std::string node_label(const OnnxNode& node, size_t position);
// ONNX's name of a type: "FLOAT", "INT64".
std::string_view onnx_type_name(OnnxElement type);
// ONNX's name of a kind: "INTS", "SPARSE_TENSOR".
std::string_view onnx_kind_name(OnnxAttributeKind kind);
// "3 x 28 x 28"; "no dimensions" when there are none.
std::string onnx_shape_text(std::span<const int64_t> dims);

// The number of elements. An input error that starts with `where` when a dimension is negative, there are more than 64,
// or the elements would not fit in memory. For this, dimensions of 0 count as 1, because products of some dimensions
// are taken later.
size_t onnx_element_count(std::string_view where, std::span<const int64_t> dims);
// The size of raw for so many elements; 0 for text.
size_t onnx_byte_count(OnnxElement type, size_t elements);

// All elements. An input error that starts with `where` and names the tensor when its type cannot be converted (text,
// complex numbers, floats to whole numbers, everything of less than 8 bits and floats of 8), and when a number is
// beyond the range of the result. Digits beyond the precision of float or double are rounded.
std::vector<float> to_floats(std::string_view where, const OnnxTensor& tensor);
std::vector<double> to_doubles(std::string_view where, const OnnxTensor& tensor);
std::vector<int64_t> to_int64s(std::string_view where, const OnnxTensor& tensor);

// Tensors from numbers; there must be as many as dims say.
OnnxTensor onnx_tensor(std::string name, std::vector<int64_t> dims, std::span<const float> values);
OnnxTensor onnx_tensor(std::string name, std::vector<int64_t> dims, std::span<const int64_t> values);

}  // namespace assay
