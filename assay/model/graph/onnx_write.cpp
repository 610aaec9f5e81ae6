// Fields are written in the order of their numbers, and lists of numbers one by one, as ONNX's own library does.
#include <fmt/format.h>

#include <protozero/pbf_writer.hpp>

#include "assay/core/error.h"
#include "assay/data/io/bytes.h"
#include "assay/model/graph/onnx.h"
#include "assay/model/graph/onnx_parts.h"

namespace assay {
namespace {

[[noreturn]] void refuse_size() {
  throw Error(ErrorKind::unsupported, "ONNX model: expected less than 2 GiB, the most an ONNX file holds, found more");
}

class Writer {
 public:
  std::string model(const OnnxModel& model);

 private:
  using Out = protozero::pbf_writer;

  // The part of a message that is a message itself.
  template <class Fill>
  void part(Out& out, uint32_t number, const Fill& fill) {
    Out inner(out, number);
    const size_t begin = bytes_.size();
    fill(inner);
    if (bytes_.size() > kMostOnnxBytes) refuse_size();
    if (bytes_.size() > begin) return;
    // protozero drops a part that is empty, but an unknown dimension is one.
    inner.rollback();
    out.add_bytes(number, "", 0);
  }
  static void bytes(Out& out, uint32_t number, std::string_view value) {
    if (value.size() > kMostOnnxBytes) refuse_size();
    out.add_bytes(number, value.data(), value.size());
  }
  void text(Out& out, uint32_t number, std::string_view value) {
    if (!valid_utf8(value)) fail_input(where_, "UTF-8 text", in_quotes(value));
    bytes(out, number, value);
  }
  void text_unless_empty(Out& out, uint32_t number, std::string_view value) {
    if (!value.empty()) text(out, number, value);
  }
  void texts(Out& out, uint32_t number, const std::vector<std::string>& values) {
    for (const auto& value : values) text(out, number, value);
  }

  // The value of an attribute that has a single one.
  template <class T>
  const T& single(const OnnxAttribute& attribute, const std::vector<T>& values) {
    if (values.size() == 1) return values[0];
    fail_input(fmt::format("{}, attribute {}", where_, in_quotes(attribute.name)),
               fmt::format("one value of its type {}", onnx_kind_name(attribute.kind)),
               fmt::format("{}", values.size()));
  }

  void opsets(Out& out, uint32_t number, const std::vector<OnnxOpset>& opsets);
  void type(Out& out, const OnnxValueType& type);
  void values(Out& out, uint32_t number, const std::vector<OnnxValue>& values);
  void tensor(Out& out, const OnnxTensor& tensor);
  void attribute(Out& out, const OnnxAttribute& attribute);
  void nodes(Out& out, uint32_t number, const std::vector<OnnxNode>& nodes);
  void graph(Out& out, const OnnxGraph& graph);
  void function(Out& out, const OnnxFunction& function);

  std::string bytes_;
  std::string where_ = "ONNX model";
};

void Writer::opsets(Out& out, uint32_t number, const std::vector<OnnxOpset>& opsets) {
  for (const auto& opset : opsets) {
    part(out, number, [&](Out& inner) {
      text(inner, 1, opset.domain);
      inner.add_int64(2, opset.version);
    });
  }
}

// TypeProto
void Writer::type(Out& out, const OnnxValueType& type) {
  const auto inner_type = [&](Out& content, uint32_t number) {
    if (!type.inner.empty()) part(content, number, [&](Out& inner) { this->type(inner, type.inner[0]); });
  };
  switch (type.kind) {
    case OnnxValueKind::undefined: break;
    case OnnxValueKind::tensor:
    case OnnxValueKind::sparse_tensor:
      part(out, type.kind == OnnxValueKind::tensor ? 1 : 8, [&](Out& content) {
        content.add_int32(1, static_cast<int32_t>(type.element));
        if (!type.dims) return;
        part(content, 2, [&](Out& shape) {
          for (const auto& dimension : *type.dims) {
            part(shape, 1, [&](Out& inner) {
              if (dimension.size) inner.add_int64(1, *dimension.size);
              if (!dimension.size) text_unless_empty(inner, 2, dimension.symbol);
            });
          }
        });
      });
      break;
    case OnnxValueKind::sequence: part(out, 4, [&](Out& content) { inner_type(content, 1); }); break;
    case OnnxValueKind::map:
      part(out, 5, [&](Out& content) {
        content.add_int32(1, static_cast<int32_t>(type.element));
        inner_type(content, 2);
      });
      break;
    case OnnxValueKind::opaque: part(out, 7, [](Out&) {}); break;
    case OnnxValueKind::optional: part(out, 9, [&](Out& content) { inner_type(content, 1); }); break;
  }
}

void Writer::values(Out& out, uint32_t number, const std::vector<OnnxValue>& values) {
  for (const auto& value : values) {
    part(out, number, [&](Out& inner) {
      text(inner, 1, value.name);
      if (value.type.kind != OnnxValueKind::undefined) {
        part(inner, 2, [&](Out& content) { type(content, value.type); });
      }
    });
  }
}

// TensorProto
void Writer::tensor(Out& out, const OnnxTensor& tensor) {
  const std::string where = fmt::format("{}, tensor {}", where_, in_quotes(tensor.name));
  const bool is_text = tensor.type == OnnxElement::string;
  const size_t count = onnx_element_count(where, tensor.dims);
  const size_t expected = is_text ? count : onnx_byte_count(tensor.type, count);
  const size_t found = is_text ? tensor.strings.size() : tensor.raw.size();
  if (tensor.type == OnnxElement::undefined) fail_input(where, "an element type", "none");
  if (expected != found) {
    fail_input(where,
               fmt::format("{} {} for {} ({})", expected, is_text ? "strings" : "bytes", onnx_type_name(tensor.type),
                           onnx_shape_text(tensor.dims)),
               fmt::format("{}", found));
  }
  for (const int64_t size : tensor.dims) out.add_int64(1, size);
  out.add_int32(2, static_cast<int32_t>(tensor.type));
  for (const auto& element : tensor.strings) bytes(out, 6, element);
  text_unless_empty(out, 8, tensor.name);
  if (!is_text) bytes(out, 9, tensor.raw);
}

// AttributeProto
void Writer::attribute(Out& out, const OnnxAttribute& attribute) {
  using enum OnnxAttributeKind;
  const auto tensor_part = [&](uint32_t number, const OnnxTensor& value) {
    part(out, number, [&](Out& inner) { tensor(inner, value); });
  };
  const auto graph_part = [&](uint32_t number, const OnnxGraph& value) {
    part(out, number, [&](Out& inner) { graph(inner, value); });
  };
  text(out, 1, attribute.name);
  if (attribute.reference.empty()) {
    switch (attribute.kind) {
      case one_float: out.add_float(2, single(attribute, attribute.floats)); break;
      case one_int: out.add_int64(3, single(attribute, attribute.ints)); break;
      case one_string: bytes(out, 4, single(attribute, attribute.strings)); break;
      case one_tensor: tensor_part(5, single(attribute, attribute.tensors)); break;
      case one_graph: graph_part(6, single(attribute, attribute.graphs)); break;
      case floats:
        for (const float value : attribute.floats) out.add_float(7, value);
        break;
      case ints:
        for (const int64_t value : attribute.ints) out.add_int64(8, value);
        break;
      case strings:
        for (const auto& value : attribute.strings) bytes(out, 9, value);
        break;
      case tensors:
        for (const auto& value : attribute.tensors) tensor_part(10, value);
        break;
      case graphs:
        for (const auto& value : attribute.graphs) graph_part(11, value);
        break;
      default:
        throw Error(ErrorKind::unsupported, fmt::format("{}, attribute {}: {} cannot be written", where_,
                                                        in_quotes(attribute.name), onnx_kind_name(attribute.kind)));
    }
  }
  out.add_int32(20, static_cast<int32_t>(attribute.kind));
  text_unless_empty(out, 21, attribute.reference);
}

// NodeProto
void Writer::nodes(Out& out, uint32_t number, const std::vector<OnnxNode>& nodes) {
  const std::string outside = where_;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const OnnxNode& node = nodes[i];
    where_ = "ONNX model: " + node_label(node, i + 1);
    if (node.op_type.empty()) fail_input(where_, "an operator", "none");
    part(out, number, [&](Out& inner) {
      texts(inner, 1, node.inputs);
      texts(inner, 2, node.outputs);
      text_unless_empty(inner, 3, node.name);
      text(inner, 4, node.op_type);
      for (const auto& value : node.attributes) part(inner, 5, [&](Out& content) { attribute(content, value); });
      text_unless_empty(inner, 7, node.domain);
      text_unless_empty(inner, 8, node.overload);
    });
  }
  where_ = outside;
}

// GraphProto
void Writer::graph(Out& out, const OnnxGraph& graph) {
  if (!graph.sparse_initializers.empty()) {
    throw Error(ErrorKind::unsupported, fmt::format("{}: the sparse initializer {} cannot be written", where_,
                                                    in_quotes(graph.sparse_initializers[0])));
  }
  nodes(out, 1, graph.nodes);
  text(out, 2, graph.name);
  for (const auto& value : graph.initializers) part(out, 5, [&](Out& inner) { tensor(inner, value); });
  values(out, 11, graph.inputs);
  values(out, 12, graph.outputs);
  values(out, 13, graph.value_info);
}

// FunctionProto
void Writer::function(Out& out, const OnnxFunction& function) {
  text(out, 1, function.name);
  texts(out, 4, function.inputs);
  texts(out, 5, function.outputs);
  texts(out, 6, function.attributes);
  nodes(out, 7, function.nodes);
  opsets(out, 9, function.opsets);
  text_unless_empty(out, 10, function.domain);
  for (const auto& value : function.attributes_with_default) {
    part(out, 11, [&](Out& inner) { attribute(inner, value); });
  }
  text_unless_empty(out, 13, function.overload);
}

// ModelProto
std::string Writer::model(const OnnxModel& model) {
  size_t weights = 0;
  for (const auto& value : model.graph.initializers) weights += value.raw.size();
  if (weights > kMostOnnxBytes) refuse_size();
  bytes_.reserve(weights + weights / 16);

  Out out(bytes_);
  out.add_int64(1, model.ir_version);
  text_unless_empty(out, 2, model.producer_name);
  text_unless_empty(out, 3, model.producer_version);
  part(out, 7, [&](Out& inner) { graph(inner, model.graph); });
  opsets(out, 8, model.opsets);
  for (const auto& entry : model.metadata) {
    part(out, 14, [&](Out& inner) {
      text(inner, 1, entry.first);
      text(inner, 2, entry.second);
    });
  }
  for (const auto& value : model.functions) part(out, 25, [&](Out& inner) { function(inner, value); });
  return std::move(bytes_);
}

}  // namespace

std::string serialise_onnx(const OnnxModel& model) { return Writer().model(model); }

void write_onnx(const OnnxModel& model, const std::string& path) {
  const std::string bytes = serialise_onnx(model);
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace assay
