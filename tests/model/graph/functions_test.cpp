// Functions of a model put in the places of their calls: names, attributes, versions; and functions made to hurt.
#include "assay/model/graph/functions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/message.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Texts = std::vector<std::string>;

OnnxNode node(std::string name, std::string op, Texts inputs, Texts outputs, std::vector<OnnxAttribute> attributes = {},
              std::string domain = "") {
  OnnxNode node;
  node.name = std::move(name);
  node.op_type = std::move(op);
  node.domain = std::move(domain);
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.attributes = std::move(attributes);
  return node;
}
OnnxNode call(std::string name, std::string op, Texts inputs, Texts outputs,
              std::vector<OnnxAttribute> attributes = {}) {
  return node(std::move(name), std::move(op), std::move(inputs), std::move(outputs), std::move(attributes), "local");
}

OnnxAttribute real(std::string name, float value) {
  OnnxAttribute attribute;
  attribute.name = std::move(name);
  attribute.kind = OnnxAttributeKind::one_float;
  attribute.floats = {value};
  return attribute;
}
OnnxAttribute reference(std::string name, std::string to, OnnxAttributeKind kind = OnnxAttributeKind::one_float) {
  OnnxAttribute attribute;
  attribute.name = std::move(name);
  attribute.kind = kind;
  attribute.reference = std::move(to);
  return attribute;
}

OnnxFunction function(std::string name, Texts inputs, Texts outputs, std::vector<OnnxNode> nodes) {
  OnnxFunction function;
  function.name = std::move(name);
  function.domain = "local";
  function.inputs = std::move(inputs);
  function.outputs = std::move(outputs);
  function.nodes = std::move(nodes);
  function.opsets = {{"", 17}, {"local", 1}};
  return function;
}

OnnxModel model(std::vector<OnnxNode> nodes, std::vector<OnnxFunction> functions) {
  OnnxModel model;
  model.opsets = {{"", 17}, {"local", 1}};
  model.graph.inputs = {{"x", {}}};
  model.graph.nodes = std::move(nodes);
  model.functions = std::move(functions);
  return model;
}

// Nodes as "name: Op(inputs) -> outputs".
Texts lines(const OnnxModel& model) {
  const auto list = [](const Texts& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ",") + (name.empty() ? "-" : name);
    return text;
  };
  Texts out;
  for (const OnnxNode& each : model.graph.nodes) {
    out.push_back(each.name + ": " + each.op_type + "(" + list(each.inputs) + ") -> " + list(each.outputs));
  }
  return out;
}
Texts inlined(OnnxModel model) {
  inline_functions("m.onnx", model);
  EXPECT_TRUE(model.functions.empty());
  return lines(model);
}
std::string refusal(OnnxModel model) {
  return sentence([&] { inline_functions("m.onnx", model); });
}

TEST(Functions, AModelWithoutThemStaysAsItIs) {
  OnnxModel plain = model({node("a", "Relu", {"x"}, {"y"}), call("b", "Unknown", {"y"}, {"z"})}, {});
  const OnnxModel before = plain;
  inline_functions("m.onnx", plain);
  EXPECT_EQ(plain, before);
}

TEST(Functions, CallsBecomeBodies) {
  const OnnxFunction twice =
      function("Twice", {"a"}, {"b"}, {node("n", "Add", {"a", "a"}, {"t"}), node("", "Relu", {"t"}, {"b"})});
  EXPECT_THAT(inlined(model({call("one", "Twice", {"x"}, {"m"}), node("mid", "Neg", {"m"}, {"n"}),
                             call("", "Twice", {"n"}, {"y"})},
                            {twice})),
              ElementsAre("one/n: Add(x,x) -> one/t", "one/Relu_2: Relu(one/t) -> m", "mid: Neg(m) -> n",
                          "Twice_3/n: Add(n,n) -> Twice_3/t", "Twice_3/Relu_2: Relu(Twice_3/t) -> y"));
}

TEST(Functions, NamesStayUnique) {
  const OnnxFunction hidden =
      function("F", {"a"}, {"b"}, {node("", "Relu", {"a"}, {"t"}), node("", "Relu", {"t"}, {"b"})});
  // Two calls of one name, and values that have the names a call would take.
  OnnxModel clash = model({node("", "Neg", {"x"}, {"c/t"}), node("", "Neg", {"x"}, {"c/t#1"}),
                           call("c", "F", {"x"}, {"y"}), call("c", "F", {"y"}, {"z"})},
                          {hidden});
  clash.graph.initializers.resize(1);
  clash.graph.initializers[0].name = "c/t#2";
  inline_functions("m.onnx", clash);
  std::set<std::string> made;
  for (const OnnxNode& each : clash.graph.nodes) {
    for (const std::string& name : each.outputs) EXPECT_TRUE(made.insert(name).second) << name;
  }
  EXPECT_EQ(made.count("c/t#2"), 0U);
  EXPECT_EQ(clash.graph.nodes[3].inputs, clash.graph.nodes[2].outputs);
  EXPECT_EQ(clash.graph.nodes[5].inputs, clash.graph.nodes[4].outputs);
}

TEST(Functions, MayCallFunctions) {
  const OnnxFunction inner =
      function("Inner", {"a"}, {"b"}, {node("r", "Relu", {"a"}, {"h"}), node("n", "Neg", {"h"}, {"b"})});
  const OnnxFunction outer =
      function("Outer", {"a"}, {"b"}, {call("i", "Inner", {"a"}, {"h"}), call("j", "Inner", {"h"}, {"b"})});
  EXPECT_THAT(inlined(model({call("o", "Outer", {"x"}, {"y"})}, {outer, inner})),
              ElementsAre("o/i/r: Relu(x) -> o/i/h", "o/i/n: Neg(o/i/h) -> o/h", "o/j/r: Relu(o/h) -> o/j/h",
                          "o/j/n: Neg(o/j/h) -> y"));
}

TEST(Functions, AreMatchedByDomainNameAndOverload) {
  const OnnxFunction plain = function("F", {"a"}, {"b"}, {node("", "Relu", {"a"}, {"b"})});
  OnnxFunction other = function("F", {"a"}, {"b"}, {node("", "Neg", {"a"}, {"b"})});
  other.overload = "other";
  OnnxFunction own = function("Abs", {"a"}, {"b"}, {node("", "Exp", {"a"}, {"b"})});
  own.domain = "";
  OnnxNode overloaded = call("o", "F", {"x"}, {"p"});
  overloaded.overload = "other";
  EXPECT_THAT(
      inlined(model(
          {overloaded, call("p", "F", {"x"}, {"q"}), node("own", "Abs", {"x"}, {"r"}), node("left", "F", {"x"}, {"s"})},
          {plain, other, own})),
      ElementsAre("o/Neg_1: Neg(x) -> p", "p/Relu_1: Relu(x) -> q", "own/Exp_1: Exp(x) -> r", "left: F(x) -> s"));
  EXPECT_EQ(refusal(model({}, {plain, plain})), "m.onnx: there are two functions 'F' of 'local'");
  EXPECT_EQ(refusal(model({}, {other, other})), "m.onnx: there are two functions 'F' of 'local', overload 'other'");
}

TEST(Functions, TakeAttributesFromTheCallOrTheirDefaults) {
  OnnxFunction leaky = function("F", {"a"}, {"b"},
                                {node("", "LeakyRelu", {"a"}, {"b"},
                                      {reference("alpha", "slope"), real("fixed", 3), reference("beta", "needed"),
                                       reference("any", "needed", OnnxAttributeKind::undefined)})});
  leaky.attributes = {"needed"};
  leaky.attributes_with_default = {real("slope", 0.5F)};
  const auto attributes = [&](std::vector<OnnxAttribute> given) {
    OnnxModel result = model({call("c", "F", {"x"}, {"y"}, std::move(given))}, {leaky});
    inline_functions("m.onnx", result);
    return result.graph.nodes.at(0).attributes;
  };
  EXPECT_EQ(attributes({}), (std::vector{real("alpha", 0.5F), real("fixed", 3)}));
  EXPECT_EQ(attributes({real("needed", 7), real("slope", 2)}),
            (std::vector{real("alpha", 2), real("fixed", 3), real("beta", 7), real("any", 7)}));

  // Through two functions.
  OnnxFunction outer = function("Outer", {"a"}, {"b"}, {call("i", "F", {"a"}, {"b"}, {reference("slope", "s")})});
  outer.attributes = {"s"};
  OnnxModel nested = model({call("c", "Outer", {"x"}, {"y"}, {real("s", 9)})}, {leaky, outer});
  inline_functions("m.onnx", nested);
  EXPECT_EQ(nested.graph.nodes.at(0).attributes, (std::vector{real("alpha", 9), real("fixed", 3)}));

  OnnxAttribute whole = real("slope", 0);
  whole.kind = OnnxAttributeKind::one_int;
  EXPECT_EQ(refusal(model({call("c", "F", {"x"}, {"y"}, {whole})}, {leaky})),
            "m.onnx: node 'c' (F), function 'F' of 'local', node 1 (LeakyRelu): the function's attribute 'slope' must "
            "be FLOAT, found INT");
  leaky.attributes = {};
  EXPECT_EQ(refusal(model({call("c", "F", {"x"}, {"y"})}, {leaky})),
            "m.onnx: node 'c' (F), function 'F' of 'local', node 1 (LeakyRelu): attribute 'beta' refers to 'needed', "
            "which is no attribute of the function");
  EXPECT_EQ(refusal(model({node("n", "LeakyRelu", {"x"}, {"y"}, {reference("alpha", "slope")})}, {})),
            "m.onnx: node 'n' (LeakyRelu): attribute 'alpha' refers to 'slope' of a function, but the node is in none");
}

TEST(Functions, LeaveOutWhatTheCallLeavesOut) {
  const OnnxFunction clip =
      function("F", {"a", "low", "high"}, {"b", "c"},
               {node("", "Clip", {"a", "low", "high"}, {"b"}), node("", "Dropout", {"b", ""}, {"c", ""})});
  EXPECT_THAT(inlined(model({call("c", "F", {"x", "", "h"}, {"", "y"}), call("d", "F", {"x"}, {"z"})}, {clip})),
              ElementsAre("c/Clip_1: Clip(x,-,h) -> c/b", "c/Dropout_2: Dropout(c/b,-) -> y,-",
                          "d/Clip_1: Clip(x,-,-) -> z", "d/Dropout_2: Dropout(z,-) -> d/c,-"));
  const std::string where = "m.onnx: node 'c' (F), function 'F' of 'local': ";
  EXPECT_EQ(refusal(model({call("c", "F", {"x", "", "", ""}, {"y"})}, {clip})),
            where + "expected at most 3 inputs, found 4");
  EXPECT_EQ(refusal(model({call("c", "F", {"x"}, {"y", "z", "w"})}, {clip})),
            where + "expected at most 2 outputs, found 3");
}

TEST(Functions, MayPassInputsOn) {
  const OnnxFunction pass = function("F", {"a", "o"}, {"a", "b", "b", "o"}, {node("", "Relu", {"a"}, {"b"})});
  EXPECT_THAT(
      inlined(model({call("c", "F", {"x"}, {"p", "q", "r"})}, {pass})),
      ElementsAre("c/Relu_1: Relu(x) -> q", "c/Identity_1: Identity(x) -> p", "c/Identity_3: Identity(q) -> r"));
  EXPECT_EQ(refusal(model({call("c", "F", {"x"}, {"", "", "", "y"})}, {pass})),
            "m.onnx: node 'c' (F), function 'F' of 'local': its output 'o' is an input that the call leaves out");
}

TEST(Functions, WithBodiesThatCannotBeRightAreRefused) {
  const auto refused = [](Texts inputs, Texts outputs, std::vector<OnnxNode> nodes) {
    return refusal(model({call("c", "F", {"x"}, {"y"})},
                         {function("F", std::move(inputs), std::move(outputs), std::move(nodes))}));
  };
  const std::string where = "m.onnx: node 'c' (F), function 'F' of 'local'";
  EXPECT_EQ(refused({"a"}, {"b"}, {}), where + ": its output 'b' is made by no node");
  EXPECT_EQ(refused({"a"}, {"b"}, {node("n", "Relu", {"x"}, {"b"})}),
            where + ", node 'n' (Relu): it reads 'x', which is neither an input of the function nor made in it");
  EXPECT_EQ(refused({"a"}, {"b"}, {node("", "Relu", {"a"}, {"b"}), node("", "Relu", {"a"}, {"b"})}),
            where + ": value 'b' is made twice");
  EXPECT_EQ(refused({"a"}, {"b"}, {node("", "Relu", {"a"}, {"a"})}), where + ": value 'a' is made twice");
  EXPECT_EQ(refused({"a", "a"}, {"b"}, {}), where + ": value 'a' is made twice");
}

TEST(Functions, UseTheModelsVersionsOfOperators) {
  OnnxFunction f =
      function("F", {"a"}, {"b"}, {node("", "Relu", {"a"}, {"h"}), node("", "Scaler", {"h"}, {"b"}, {}, "ai.onnx.ml")});
  f.opsets = {{"", 17}, {"ai.onnx.ml", 3}, {"unused", 5}, {"local", 2}};
  OnnxModel good = model({call("c", "F", {"x"}, {"y"}), call("d", "F", {"x"}, {"z"})}, {f});
  inline_functions("m.onnx", good);
  EXPECT_EQ(good.opsets, (std::vector<OnnxOpset>{{"", 17}, {"local", 1}, {"ai.onnx.ml", 3}}));

  f.opsets[0].version = 18;
  EXPECT_EQ(refusal(model({call("c", "F", {"x"}, {"y"})}, {f})),
            "m.onnx: node 'c' (F), function 'F' of 'local': it uses version 18 of the operators of ONNX, and the model "
            "uses version 17");
  f.opsets[0].version = 17;
  OnnxFunction g = f;
  g.name = "G";
  g.opsets[1].version = 2;
  EXPECT_THAT(refusal(model({call("c", "F", {"x"}, {"y"}), call("d", "G", {"x"}, {"z"})}, {f, g})),
              HasSubstr("it uses version 2 of the operators of 'ai.onnx.ml', and the model uses version 3"));
  // A function nobody calls hurts nobody.
  EXPECT_THAT(inlined(model({}, {f, g})), ElementsAre());
}

TEST(Functions, ThatCallThemselvesAreRefused) {
  const OnnxFunction f = function("F", {"a"}, {"b"}, {call("g", "G", {"a"}, {"b"})});
  const OnnxFunction g = function("G", {"a"}, {"b"}, {call("f", "F", {"a"}, {"b"})});
  EXPECT_EQ(refusal(model({call("c", "F", {"x"}, {"y"})}, {f, g})),
            "m.onnx: node 'c/g/f' (F), function 'F' of 'local': the function calls itself");
}

// F0 calls F1 `width` times, that F2, and so on; the last one has one node, or none.
OnnxModel tower(size_t height, size_t width, bool empty) {
  std::vector<OnnxFunction> functions;
  for (size_t i = 0; i < height; i++) {
    OnnxFunction f = function(fmt::format("F{}", i), {"a"}, {"b0"}, {});
    for (size_t k = 0; k < (i + 1 < height ? width : empty ? 0 : 1); k++) {
      const std::string op = i + 1 < height ? fmt::format("F{}", i + 1) : "Relu";
      const Texts outputs = empty ? Texts() : Texts{fmt::format("b{}", k)};
      f.nodes.push_back(i + 1 < height ? call("", op, {"a"}, outputs) : node("", op, {"a"}, outputs));
    }
    functions.push_back(std::move(f));
  }
  return model({call("c", "F0", {"x"}, empty ? Texts() : Texts{"y"})}, std::move(functions));
}

TEST(Functions, ThatGrowWithoutBoundAreRefused) {
  EXPECT_EQ(inlined(tower(32, 1, false)).size(), 1U);
  EXPECT_THAT(refusal(tower(33, 1, false)), HasSubstr("functions call each other more than 32 deep"));
  EXPECT_EQ(inlined(tower(10, 2, false)).size(), 512U);
  EXPECT_THAT(refusal(tower(32, 2, false)), HasSubstr("with all calls of functions: it takes"));
  // Calls count too, even when nothing comes out of them.
  EXPECT_THAT(refusal(tower(32, 2, true)), HasSubstr("with all calls of functions: it takes"));
  EXPECT_THAT(inlined(tower(10, 2, true)), ElementsAre());

  // Nor may constants be copied without end.
  OnnxAttribute value;
  value.name = "value";
  value.kind = OnnxAttributeKind::one_tensor;
  value.tensors.resize(1);
  value.tensors[0].raw.resize(size_t{1} << 26);
  std::vector<OnnxNode> calls;
  for (size_t i = 0; i < 16; i++) calls.push_back(call("", "F", {}, {fmt::format("y{}", i)}));
  EXPECT_THAT(refusal(model(calls, {function("F", {}, {"b"}, {node("", "Constant", {}, {"b"}, {value})})})),
              HasSubstr("node 16 (F), function 'F' of 'local': with all calls of functions: it takes"));
}

}  // namespace
}  // namespace assay
