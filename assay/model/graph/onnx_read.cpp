// Field numbers in the switches below are those of the messages in onnx.proto; each function names its message.
#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "assay/core/error.h"
#include "assay/data/io/bytes.h"
#include "assay/model/graph/onnx.h"
#include "assay/model/graph/onnx_parts.h"

namespace assay {
namespace {

// Of graphs in attributes of nodes of graphs, and of types in types. Real models have 3 or 4 of the first.
constexpr int kMostNested = 32;
// Nodes, attributes, values and tensors in all. Real models have tens of thousands; a few bytes of a file make one,
// which takes a few hundred in memory.
constexpr size_t kMostThings = size_t{1} << 20;

std::string default_is_empty(std::string domain) { return domain == "ai.onnx" ? "" : std::move(domain); }

std::pair<std::string, std::string> read_entry(const std::string& where, std::string_view message) {
  std::pair<std::string, std::string> out;
  OnnxMessage fields(where, message);
  while (fields.next()) {
    if (fields.number() == 1) out.first = fields.text();
    if (fields.number() == 2) out.second = fields.text();
  }
  return out;
}

// OperatorSetIdProto
OnnxOpset read_opset(const std::string& where, std::string_view message) {
  OnnxOpset out;
  OnnxMessage fields(where, message);
  while (fields.next()) {
    if (fields.number() == 1) out.domain = default_is_empty(fields.text());
    if (fields.number() == 2) out.version = fields.integer();
  }
  return out;
}

// TensorShapeProto.Dimension
OnnxDimension read_dimension(const std::string& where, std::string_view message) {
  OnnxDimension out;
  OnnxMessage fields(where, message);
  while (fields.next()) {
    if (fields.number() == 1) {
      out = {fields.integer(), ""};
      if (*out.size < -1) fail_input(where, "dimensions of 0 or more", fmt::format("{}", *out.size));
      if (*out.size == -1) out.size.reset();
    }
    if (fields.number() == 2) out = {std::nullopt, fields.text()};
  }
  return out;
}

// TensorShapeProto
std::vector<OnnxDimension> read_shape(const std::string& where, std::string_view message) {
  std::vector<OnnxDimension> out;
  OnnxMessage fields(where, message);
  while (fields.next()) {
    if (fields.number() != 1) continue;
    // Checked early, since two bytes of a file make a dimension of many.
    if (out.size() == kMostDimensions) {
      fail_input(where, fmt::format("at most {} dimensions", kMostDimensions), "more");
    }
    out.push_back(read_dimension(where, fields.bytes()));
  }
  return out;
}

// TypeProto
OnnxValueType read_type(const std::string& where, std::string_view message, int depth) {
  if (depth > kMostNested) fail_input(where, fmt::format("types nested at most {} deep", kMostNested), "more");
  OnnxValueType out;
  OnnxMessage fields(where, message);
  while (fields.next()) {
    const uint32_t number = fields.number();
    const OnnxValueKind kind = number == 1   ? OnnxValueKind::tensor
                               : number == 4 ? OnnxValueKind::sequence
                               : number == 5 ? OnnxValueKind::map
                               : number == 7 ? OnnxValueKind::opaque
                               : number == 8 ? OnnxValueKind::sparse_tensor
                               : number == 9 ? OnnxValueKind::optional
                                             : OnnxValueKind::undefined;
    if (kind == OnnxValueKind::undefined) continue;
    out = OnnxValueType();
    out.kind = kind;
    OnnxMessage content(where, fields.bytes());
    const bool tensor = kind == OnnxValueKind::tensor || kind == OnnxValueKind::sparse_tensor;
    while (kind != OnnxValueKind::opaque && content.next()) {
      if (tensor && content.number() == 2) out.dims = read_shape(where, content.bytes());
      if ((tensor || kind == OnnxValueKind::map) && content.number() == 1) {
        out.element = read_onnx_element(where, content.integer());
      }
      // Of a sequence or an optional the inner type is field 1, of a map field 2.
      if (!tensor && content.number() == (kind == OnnxValueKind::map ? 2U : 1U)) {
        out.inner = {read_type(where, content.bytes(), depth + 1)};
      }
    }
  }
  return out;
}

class Reader {
 public:
  Reader(std::string file, const std::string& folder, const Context& context, std::shared_ptr<void> keeper)
      : file_(std::move(file)),
        before_(file_ + ": "),
        folder_(folder),
        external_(folder),
        context_(context),
        keeper_(std::move(keeper)) {}

  OnnxModel model(std::string_view message);

 private:
  OnnxGraph graph(std::string_view message, int depth);
  OnnxNode node(const std::string& before, std::string_view message, size_t position, int depth);
  OnnxAttribute attribute(const std::string& before, std::string_view message, int depth);
  OnnxFunction function(std::string_view message);
  OnnxTensor initializer(std::string_view message, size_t position);
  OnnxTensor tensor(const std::string& where, std::string_view message);
  OnnxValue value(std::string_view role, std::string_view message);
  void count_one_more();

  std::string file_;
  std::string before_;  // what every message starts with; the names of things follow it
  std::filesystem::path folder_;
  OnnxExternalFiles external_;
  std::vector<std::string> external_files_ = {};
  std::set<std::string> external_paths_ = {};  // the same files without links, for one may have several names
  const Context& context_;
  std::shared_ptr<void> keeper_;
  size_t things_ = 0;
};

void Reader::count_one_more() {
  // One thing may be a tensor of gigabytes.
  context_.check_cancelled();
  if (++things_ > kMostThings) {
    fail_input(file_, fmt::format("at most {} nodes, attributes, values and tensors", kMostThings), "more");
  }
}

// ValueInfoProto; role is input, output or value.
OnnxValue Reader::value(std::string_view role, std::string_view message) {
  count_one_more();
  const std::string where = fmt::format("{}{} {}", before_, role, in_quotes(peek_bytes(message, 1)));
  OnnxValue out;
  OnnxMessage fields(where, message);
  while (fields.next()) {
    if (fields.number() == 1) out.name = fields.text();
    if (fields.number() == 2) out.type = read_type(where, fields.bytes(), 1);
  }
  if (out.name.empty()) fail_input(where, "a name", "none");
  return out;
}

// The kind of attribute that a field of AttributeProto belongs to.
OnnxAttributeKind kind_of_field(uint32_t number) {
  using enum OnnxAttributeKind;
  constexpr OnnxAttributeKind kKinds[] = {undefined, undefined, one_float, one_int, one_string, one_tensor,
                                          one_graph, floats,    ints,      strings, tensors,    graphs};
  switch (number) {
    case 14: return type_proto;
    case 15: return type_protos;
    case 22: return sparse_tensor;
    case 23: return sparse_tensors;
    default: return number < std::size(kKinds) ? kKinds[number] : undefined;
  }
}

// AttributeProto
OnnxAttribute Reader::attribute(const std::string& before, std::string_view message, int depth) {
  using enum OnnxAttributeKind;
  count_one_more();
  const std::string where = fmt::format("{}attribute {}", before, in_quotes(peek_bytes(message, 1)));
  OnnxAttribute out;
  std::optional<OnnxAttributeKind> held;
  std::string floats_as_bytes;
  OnnxMessage fields(where, message);
  while (fields.next()) {
    const OnnxAttributeKind kind = kind_of_field(fields.number());
    if (kind != undefined) {
      if (held.value_or(kind) != kind) {
        fail_input(where, "a value of one kind", fmt::format("{} and {}", onnx_kind_name(*held), onnx_kind_name(kind)));
      }
      if (held && (kind == one_tensor || kind == one_graph)) {
        fail_input(where, fmt::format("one {}", onnx_kind_name(kind)), "two");
      }
      held = kind;
    }
    switch (fields.number()) {
      case 1: out.name = fields.text(); break;
      case 2: out.floats = {fields.real()}; break;
      case 3: out.ints = {fields.integer()}; break;
      case 4: out.strings = {std::string(fields.bytes())}; break;
      case 5:
      case 10:
        count_one_more();
        out.tensors.push_back(tensor(where, fields.bytes()));
        break;
      case 6:
      case 11: out.graphs.push_back(graph(fields.bytes(), depth + 1)); break;
      case 7: fields.append_floats(floats_as_bytes); break;
      case 8: fields.append_integers(out.ints); break;
      case 9: out.strings.emplace_back(fields.bytes()); break;
      case 20: {
        const int64_t type = fields.integer();
        if (type < 0 || type > static_cast<int64_t>(type_protos)) {
          fail_input(where, "a type of attribute that ONNX has", fmt::format("{}", type));
        }
        out.kind = static_cast<OnnxAttributeKind>(type);
        break;
      }
      case 21: out.reference = fields.text(); break;
      default: break;
    }
  }
  if (out.name.empty()) fail_input(where, "a name", "none");
  // Files from before the type was part of the format, and some writers since, leave it out.
  if (out.kind == undefined && held) out.kind = *held;
  if (out.kind == undefined) fail_input(where, "a type or a value", "neither");
  if (held.value_or(out.kind) != out.kind) {
    fail_input(where, fmt::format("a value of its type {}", onnx_kind_name(out.kind)), onnx_kind_name(*held));
  }
  if (!out.reference.empty()) {
    if (held) fail_input(where, "no value beside the reference to another attribute", onnx_kind_name(*held));
    return out;
  }
  if (!floats_as_bytes.empty()) {
    out.floats.resize(floats_as_bytes.size() / sizeof(float));
    floats_as_bytes.copy(reinterpret_cast<char*>(out.floats.data()), floats_as_bytes.size());
  }
  // A single value that is zero or empty is not written by all writers.
  if (!held && out.kind == one_float) out.floats = {0};
  if (!held && out.kind == one_int) out.ints = {0};
  if (!held && out.kind == one_string) out.strings = {""};
  if (!held && (out.kind == one_tensor || out.kind == one_graph)) {
    fail_input(where, fmt::format("a value of its type {}", onnx_kind_name(out.kind)), "none");
  }
  return out;
}

// NodeProto
OnnxNode Reader::node(const std::string& before, std::string_view message, size_t position, int depth) {
  count_one_more();
  OnnxNode out;
  out.name = peek_bytes(message, 3);
  out.op_type = peek_bytes(message, 4);
  const std::string where = before + node_label(out, position);
  const std::string before_attribute = where + ", ";
  OnnxMessage fields(where, message);
  while (fields.next()) {
    switch (fields.number()) {
      case 1: out.inputs.push_back(fields.text()); break;
      case 2: out.outputs.push_back(fields.text()); break;
      case 3: out.name = fields.text(); break;
      case 4: out.op_type = fields.text(); break;
      case 5: out.attributes.push_back(attribute(before_attribute, fields.bytes(), depth)); break;
      case 7: out.domain = default_is_empty(fields.text()); break;
      case 8: out.overload = fields.text(); break;
      default: break;
    }
  }
  if (out.op_type.empty()) fail_input(where, "an operator", "none");
  return out;
}

OnnxTensor Reader::initializer(std::string_view message, size_t position) {
  count_one_more();
  const std::string_view name = peek_bytes(message, 8);
  const std::string label = name.empty() ? fmt::format("initializer {}", position) : "tensor " + in_quotes(name);
  return tensor(before_ + label, message);
}

// TensorProto, and a note of the file that its data came from.
OnnxTensor Reader::tensor(const std::string& where, std::string_view message) {
  bool external = false;
  std::string location;
  OnnxMessage fields(where, message);
  while (fields.next()) {
    if (fields.number() == 14) external = fields.integer() == 1;
    if (fields.number() != 13) continue;
    auto [key, value] = read_entry(where, fields.bytes());
    if (key == "location") location = std::move(value);
  }
  OnnxTensor out = read_onnx_tensor(where, message, external_, keeper_);
  if (!external) return out;
  const std::filesystem::path path = folder_ / location;
  std::error_code gone;  // then an error of whoever reads it next
  if (external_paths_.insert(std::filesystem::canonical(path, gone).string()).second) {
    external_files_.push_back(path.lexically_normal().string());
  }
  return out;
}

// GraphProto
OnnxGraph Reader::graph(std::string_view message, int depth) {
  count_one_more();
  const std::string where = fmt::format("{}graph {}", before_, in_quotes(peek_bytes(message, 2)));
  if (depth > kMostNested) fail_input(where, fmt::format("graphs nested at most {} deep", kMostNested), "more");
  OnnxGraph out;
  OnnxMessage fields(where, message);
  while (fields.next()) {
    switch (fields.number()) {
      case 1: out.nodes.push_back(node(before_, fields.bytes(), out.nodes.size() + 1, depth)); break;
      case 2: out.name = fields.text(); break;
      case 5: out.initializers.push_back(initializer(fields.bytes(), out.initializers.size() + 1)); break;
      case 11: out.inputs.push_back(value("input", fields.bytes())); break;
      case 12: out.outputs.push_back(value("output", fields.bytes())); break;
      case 13: out.value_info.push_back(value("value", fields.bytes())); break;
      // SparseTensorProto: its name is that of its values, a TensorProto.
      case 15: out.sparse_initializers.emplace_back(peek_bytes(peek_bytes(fields.bytes(), 1), 8)); break;
      default: break;
    }
  }
  return out;
}

// FunctionProto
OnnxFunction Reader::function(std::string_view message) {
  count_one_more();
  const std::string where = fmt::format("{}function {}", before_, in_quotes(peek_bytes(message, 1)));
  const std::string before = where + ", ";
  OnnxFunction out;
  OnnxMessage fields(where, message);
  while (fields.next()) {
    switch (fields.number()) {
      case 1: out.name = fields.text(); break;
      case 4: out.inputs.push_back(fields.text()); break;
      case 5: out.outputs.push_back(fields.text()); break;
      case 6: out.attributes.push_back(fields.text()); break;
      case 7: out.nodes.push_back(node(before, fields.bytes(), out.nodes.size() + 1, 1)); break;
      case 9: out.opsets.push_back(read_opset(where, fields.bytes())); break;
      case 10: out.domain = default_is_empty(fields.text()); break;
      case 11: out.attributes_with_default.push_back(attribute(before, fields.bytes(), 1)); break;
      case 13: out.overload = fields.text(); break;
      default: break;
    }
  }
  if (out.name.empty()) fail_input(where, "a name", "none");
  return out;
}

// ModelProto
OnnxModel Reader::model(std::string_view message) {
  if (message.size() > kMostOnnxBytes) {
    fail_input(file_, "a model file of less than 2 GiB, with larger weights in external data",
               fmt::format("{} bytes", message.size()));
  }
  OnnxModel out;
  bool has_graph = false;
  OnnxMessage fields(file_, message);
  while (fields.next()) {
    switch (fields.number()) {
      case 1: out.ir_version = fields.integer(); break;
      case 2: out.producer_name = fields.text(); break;
      case 3: out.producer_version = fields.text(); break;
      case 7:
        if (has_graph) fail_input(file_, "an ONNX model with one graph", "two");
        has_graph = true;
        out.graph = graph(fields.bytes(), 1);
        break;
      case 8: out.opsets.push_back(read_opset(file_, fields.bytes())); break;
      case 14: out.metadata.push_back(read_entry(file_, fields.bytes())); break;
      case 25: out.functions.push_back(function(fields.bytes())); break;
      default: break;
    }
  }
  if (!has_graph) fail_input(file_, "an ONNX model", message.empty() ? "an empty file" : "no graph in it");
  out.external_files = std::move(external_files_);
  return out;
}

}  // namespace

OnnxModel read_onnx(const std::string& path) {
  const std::string bytes = read_all(*open_bytes(path), kMostOnnxBytes);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return parse_onnx(path, bytes, folder.empty() ? "." : folder);
}

OnnxModel parse_onnx(std::string name, std::string_view bytes, const std::string& folder) {
  return parse_onnx(std::move(name), bytes, folder, {});
}

OnnxModel parse_onnx(std::string name, std::string_view bytes, const std::string& folder, const Context& context,
                     const std::shared_ptr<void>& keeper) {
  return Reader(std::move(name), folder, context, keeper).model(bytes);
}

}  // namespace assay
