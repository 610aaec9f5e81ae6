#include "assay/model/graph/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "assay/core/budget.h"
#include "assay/core/error.h"

namespace assay {
namespace {

constexpr size_t kDeepest = 32;
// Names and nodes lie in many small pieces, which take more time and memory than their bytes, and a graph and its plans
// hold most of them again.
constexpr uint64_t kCostOfStructure = 16;

// A call while it is replaced.
struct Call {
  const OnnxFunction& function;
  const OnnxNode& node;  // with all names as the graph has them
  std::string name;      // what the names of the body start with
  std::string where;     // for messages
};

// What a name inside a function stands for in the graph: "" for an input that the call leaves out.
using Names = std::unordered_map<std::string, std::string>;
// The attributes of a function as one call gives them; null for those that it does not give and that have no default.
using Attributes = std::unordered_map<std::string_view, const OnnxAttribute*>;

size_t bytes_of(const OnnxAttribute& attribute) {
  size_t bytes = attribute.floats.size() * sizeof(float) + attribute.ints.size() * sizeof(int64_t);
  for (const std::string& text : attribute.strings) bytes += sizeof(std::string) + text.size();
  for (const OnnxTensor& tensor : attribute.tensors) {
    bytes += sizeof(OnnxTensor) + tensor.raw.size() + tensor.dims.size() * sizeof(int64_t);
    for (const std::string& text : tensor.strings) bytes += sizeof(std::string) + text.size();
  }
  return bytes;
}

OnnxAttribute without_graphs(const OnnxAttribute& from, const std::string& name) {
  OnnxAttribute copy;
  copy.name = name;
  copy.kind = from.kind;
  copy.floats = from.floats;
  copy.ints = from.ints;
  copy.strings = from.strings;
  copy.tensors = from.tensors;
  return copy;
}

class Inliner {
 public:
  Inliner(std::string_view where, OnnxModel& model, const Context& context)
      : where_(where), model_(model), spending_(context, std::string(where)) {
    for (const OnnxFunction& function : model.functions) {
      if (!functions_.try_emplace({function.domain, function.name, function.overload}, &function).second) {
        fail_input(fmt::format("{}: there are two functions {}", where, label(function)));
      }
    }
    for (const OnnxValue& value : model.graph.inputs) taken_.insert(value.name);
    for (const OnnxTensor& tensor : model.graph.initializers) taken_.insert(tensor.name);
    for (const OnnxNode& node : model.graph.nodes) taken_.insert(node.outputs.begin(), node.outputs.end());
  }

  void run() {
    std::vector<OnnxNode> before = std::exchange(model_.graph.nodes, {});
    for (size_t i = 0; i < before.size(); i++) {
      OnnxNode& node = before[i];
      if (const OnnxFunction* function = find(node)) {
        inline_call(call_of(*function, node, i));
      } else {
        model_.graph.nodes.push_back(std::move(node));
      }
    }
    model_.functions.clear();
  }

 private:
  static std::string label(const OnnxFunction& function) {
    std::string text = in_quotes(function.name);
    if (!function.domain.empty()) text += " of " + in_quotes(function.domain);
    if (!function.overload.empty()) text += ", overload " + in_quotes(function.overload);
    return text;
  }
  static std::string name_of(const OnnxNode& node, size_t position) {
    return node.name.empty() ? fmt::format("{}_{}", node.op_type, position + 1) : node.name;
  }
  static std::string where_in(const Call& call, const OnnxNode& node, size_t position) {
    return fmt::format("{}, {}", call.where, node_label(node, position + 1));
  }

  const OnnxFunction* find(const OnnxNode& node) const {
    const auto found = functions_.find({node.domain, node.op_type, node.overload});
    return found == functions_.end() ? nullptr : found->second;
  }

  Call call_of(const OnnxFunction& function, const OnnxNode& node, size_t position) const {
    return {function, node, name_of(node, position),
            fmt::format("{}: {}, function {}", where_, node_label(node, position + 1), label(function))};
  }

  // A name that nothing else in the graph has.
  std::string fresh(const std::string& wanted) {
    std::string name = wanted;
    // One counter for all names, for a file may hold many of the names that are tried.
    while (!taken_.insert(name).second) name = fmt::format("{}#{}", wanted, ++renamed_);
    return name;
  }

  // Charges about the memory for what comes out of a function; its constants are copied into every call. All work is in
  // proportion to what is charged.
  void spend(size_t structure, size_t content, const Call& call) {
    const uint64_t bytes = kCostOfStructure * structure + content;
    if (bytes > spending_.bytes_left()) spending_.at(fmt::format("{}: with all calls of functions", call.where));
    spending_.take_bytes(bytes);
  }

  void check_opsets(const Call& call) {
    if (!checked_.insert(&call.function).second) return;
    std::set<std::string_view> domains;
    for (const OnnxNode& node : call.function.nodes) {
      if (find(node) == nullptr) domains.insert(node.domain);
    }
    for (const std::string_view domain : domains) {
      const int64_t wanted = opset_version(call.function.opsets, domain);
      const int64_t given = opset_version(model_.opsets, domain);
      if (wanted == given || wanted == 0) continue;
      if (given != 0) {
        fail_input(fmt::format("{}: it uses version {} of the operators of {}, and the model uses version {}",
                               call.where, wanted, domain.empty() ? "ONNX" : in_quotes(domain), given));
      }
      model_.opsets.push_back({std::string(domain), wanted});
    }
  }

  // What the names of the body are in the graph: the call's for inputs and outputs, and new ones for the rest.
  Names names_of(const Call& call) {
    const OnnxFunction& function = call.function;
    const auto expect_at_most = [&](size_t found, size_t most, std::string_view what) {
      if (found <= most) return;
      fail_input(fmt::format("{}: expected at most {} {}, found {}", call.where, most, what, found));
    };
    expect_at_most(call.node.inputs.size(), function.inputs.size(), "inputs");
    expect_at_most(call.node.outputs.size(), function.outputs.size(), "outputs");
    spend((function.inputs.size() + call.node.outputs.size()) * 64, 0, call);

    Names names = {{"", ""}};
    const auto define = [&](const std::string& name, const std::string& meaning) {
      if (!names.try_emplace(name, meaning).second) {
        fail_input(fmt::format("{}: value {} is made twice", call.where, in_quotes(name)));
      }
    };
    for (size_t i = 0; i < function.inputs.size(); i++) {
      define(function.inputs[i], i < call.node.inputs.size() ? call.node.inputs[i] : "");
    }
    Names outputs;
    for (size_t i = 0; i < call.node.outputs.size(); i++) {
      // The first of an output listed twice; connect_outputs makes the second.
      if (!call.node.outputs[i].empty()) outputs.try_emplace(function.outputs[i], call.node.outputs[i]);
    }
    for (const OnnxNode& node : function.nodes) {
      for (const std::string& name : node.outputs) {
        if (name.empty()) continue;
        // As a name in use, and as one of the body.
        spend(2 * (sizeof(std::string) + call.name.size() + name.size()), 0, call);
        const auto output = outputs.find(name);
        define(name, output != outputs.end() ? output->second : fresh(call.name + "/" + name));
      }
    }
    return names;
  }

  Attributes attributes_of(const Call& call) {
    const OnnxFunction& function = call.function;
    spend((function.attributes.size() + function.attributes_with_default.size()) * 64, 0, call);
    Attributes attributes;
    for (const std::string& name : function.attributes) attributes[name] = nullptr;
    for (const OnnxAttribute& fallback : function.attributes_with_default) attributes[fallback.name] = &fallback;
    for (const OnnxAttribute& given : call.node.attributes) attributes[given.name] = &given;
    return attributes;
  }

  OnnxNode renamed(const Call& call, size_t position, const Names& names, const Attributes& attributes) {
    const OnnxNode& node = call.function.nodes[position];
    const auto meaning = [&](const std::string& name) {
      const auto found = names.find(name);
      if (found == names.end()) {
        fail_input(fmt::format("{}: it reads {}, which is neither an input of the function nor made in it",
                               where_in(call, node, position), in_quotes(name)));
      }
      spend(sizeof(std::string) + found->second.size(), 0, call);
      return found->second;
    };
    spend(sizeof(OnnxNode) + call.name.size() + node.name.size() + node.op_type.size() + node.domain.size(), 0, call);
    OnnxNode copy;
    copy.name = call.name + "/" + name_of(node, position);
    copy.op_type = node.op_type;
    copy.domain = node.domain;
    copy.overload = node.overload;
    for (const std::string& name : node.inputs) copy.inputs.push_back(meaning(name));
    for (const std::string& name : node.outputs) copy.outputs.push_back(meaning(name));
    for (const OnnxAttribute& attribute : node.attributes) {
      const OnnxAttribute* value = &attribute;
      if (!attribute.reference.empty()) value = referred(attributes, attribute, where_in(call, node, position));
      spend(sizeof(OnnxAttribute) + attribute.name.size(), value == nullptr ? 0 : bytes_of(*value), call);
      if (value != nullptr) copy.attributes.push_back(without_graphs(*value, attribute.name));
    }
    return copy;
  }

  static const OnnxAttribute* referred(const Attributes& attributes, const OnnxAttribute& attribute,
                                       const std::string& where) {
    const auto found = attributes.find(attribute.reference);
    if (found == attributes.end()) {
      fail_input(fmt::format("{}: attribute {} refers to {}, which is no attribute of the function", where,
                             in_quotes(attribute.name), in_quotes(attribute.reference)));
    }
    const OnnxAttribute* value = found->second;
    if (value != nullptr && attribute.kind != OnnxAttributeKind::undefined && attribute.kind != value->kind) {
      fail_input(fmt::format("{}: the function's attribute {} must be {}, found {}", where,
                             in_quotes(attribute.reference), onnx_kind_name(attribute.kind),
                             onnx_kind_name(value->kind)));
    }
    return value;
  }

  // Outputs that no node of the body makes under the call's name: inputs passed on, and outputs listed twice.
  void connect_outputs(const Call& call, const Names& names) {
    for (size_t i = 0; i < call.node.outputs.size(); i++) {
      const std::string& wanted = call.node.outputs[i];
      const std::string& inside = call.function.outputs[i];
      if (wanted.empty()) continue;
      const auto made = names.find(inside);
      if (made == names.end() || made->second.empty()) {
        fail_input(fmt::format("{}: its output {} is {}", call.where, in_quotes(inside),
                               made == names.end() ? "made by no node" : "an input that the call leaves out"));
      }
      if (made->second == wanted) continue;
      OnnxNode identity;
      identity.name = fmt::format("{}/Identity_{}", call.name, i + 1);
      identity.op_type = "Identity";
      identity.inputs = {made->second};
      identity.outputs = {wanted};
      spend(sizeof(OnnxNode) + call.name.size() + made->second.size() + wanted.size(), 0, call);
      model_.graph.nodes.push_back(std::move(identity));
    }
  }

  void inline_call(const Call& call) {
    if (std::find(active_.begin(), active_.end(), &call.function) != active_.end()) {
      fail_input(fmt::format("{}: the function calls itself", call.where));
    }
    if (active_.size() == kDeepest) {
      fail_input(fmt::format("{}: functions call each other more than {} deep", call.where, kDeepest));
    }
    active_.push_back(&call.function);
    check_opsets(call);
    const Names names = names_of(call);
    const Attributes attributes = attributes_of(call);
    for (size_t i = 0; i < call.function.nodes.size(); i++) {
      OnnxNode node = renamed(call, i, names, attributes);
      if (const OnnxFunction* function = find(node)) {
        inline_call(call_of(*function, node, i));
      } else {
        model_.graph.nodes.push_back(std::move(node));
      }
    }
    connect_outputs(call, names);
    active_.pop_back();
  }

  std::string_view where_;
  OnnxModel& model_;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, const OnnxFunction*> functions_;
  std::vector<const OnnxFunction*> active_;
  std::unordered_set<const OnnxFunction*> checked_;
  std::unordered_set<std::string> taken_;
  size_t renamed_ = 0;
  Spending spending_;
};

}  // namespace

void inline_functions(std::string_view where, OnnxModel& model, const Context& context) {
  for (size_t i = 0; i < model.graph.nodes.size(); i++) {
    const OnnxNode& node = model.graph.nodes[i];
    for (const OnnxAttribute& attribute : node.attributes) {
      if (attribute.reference.empty()) continue;
      fail_input(fmt::format("{}: {}: attribute {} refers to {} of a function, but the node is in none", where,
                             node_label(node, i + 1), in_quotes(attribute.name), in_quotes(attribute.reference)));
    }
  }
  if (model.functions.empty()) return;
  Inliner(where, model, context).run();
}

}  // namespace assay
