// ONNX's own tests of operators, run on the engine: every test of $ASSAY_ONNX_NODE_TESTS whose operators the engine has
// must pass, but for those that node_tests_skipped.txt lists with a reason; and a test on that list must fail.
//
// The folder holds test_*/model.onnx and test_*/test_data_set_*/{input,output}_*.pb, as Debian's libonnx-testdata and
// the onnx package of PyPI bring them (or, since 1.23, make them: tests/peers/test_onnx_nodes.py). ONNX's own runner
// compares with a relative tolerance of 1e-3; here it is 1e-4 for float32, and 1e-7 for float64.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/core/error.h"
#include "assay/model/graph/functions.h"
#include "assay/model/graph/graph.h"
#include "assay/model/graph/onnx.h"
#include "assay/model/graph/plan.h"
#include "assay/model/ops/operators.h"
#include "tests/model/graph/onnx_bytes.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path.filename().string() + " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

// A file of one TensorProto, the value of an input or output.
OnnxTensor read_tensor(const fs::path& path, const OnnxValue& value) {
  if (value.type.kind != OnnxValueKind::tensor) throw std::runtime_error("'" + value.name + "' is not a tensor");
  OnnxModel model = parse_onnx(path.filename().string(), onnx_bytes::model_with(content(path)), "");
  OnnxTensor& tensor = model.graph.initializers.at(0);
  // Older sets hold the bits of a bfloat16 as a whole number.
  if (tensor.type == OnnxElement::uint16 && value.type.element == OnnxElement::bfloat16) {
    tensor.type = OnnxElement::bfloat16;
  }
  return tensor;
}

struct Tolerance {
  double relative = 0;
  double absolute = 0;
};
// Tests whose expected values are written in so few digits that they need the tolerance of ONNX's own runner.
bool is_coarse(const std::string& name) { return name == "test_averagepool_2d_ceil_last_window_starts_on_pad"; }
Tolerance tolerance(OnnxElement type, bool coarse) {
  if (coarse) return {1e-3, 1e-7};
  switch (type) {
    case OnnxElement::float32: return {1e-4, 1e-6};
    case OnnxElement::float64: return {1e-7, 1e-9};
    // The expected values are rounded to 11 and 8 bits; those of the engine are not.
    case OnnxElement::float16: return {2e-3, 1e-4};
    case OnnxElement::bfloat16: return {1e-2, 1e-4};
    default: return {};
  }
}

template <class T>
bool agree(const T& is, const T& must, const Tolerance& tolerance) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(must)) return std::isnan(is);
    const double allowed = tolerance.absolute + tolerance.relative * std::abs(double{must});
    if (std::isfinite(must)) return std::abs(double{is} - double{must}) <= allowed;
  }
  return is == must;
}

// What differs, or nothing.
std::string difference(const ValueInfo& info, const void* found, const OnnxTensor& file, bool coarse) {
  const Tensor expected = Tensor::from_onnx("the expected output", file);
  if (info.type != expected.type()) {
    return fmt::format("it is of type {}, expected {}", onnx_type_name(info.type), onnx_type_name(expected.type()));
  }
  if (info.dims != expected.dims()) {
    return fmt::format("its dimensions are {}, expected {}", onnx_shape_text(info.dims),
                       onnx_shape_text(expected.dims()));
  }
  return with_element(info.type, [&]<class T>() -> std::string {
    for (size_t i = 0; i < expected.count(); i++) {
      const T& is = static_cast<const T*>(found)[i];
      const T& must = expected.data<T>()[i];
      if (!agree(is, must, tolerance(file.type, coarse)))
        return fmt::format("element {} of {} is {}, expected {}", i, expected.count(), is, must);
    }
    return "";
  });
}

// Which inputs are known when the plan is made.
enum class Known { none, all_but_first, all };

class DataSet {
 public:
  DataSet(const OnnxModel& model, const fs::path& folder)
      : coarse_(is_coarse(folder.parent_path().filename().string())) {
    for (size_t i = 0; i < model.graph.inputs.size(); i++) {
      names_.push_back(model.graph.inputs[i].name);
      const OnnxTensor tensor = read_tensor(folder / fmt::format("input_{}.pb", i), model.graph.inputs[i]);
      inputs_.push_back(std::make_shared<Tensor>(Tensor::from_onnx("an input", tensor)));
    }
    for (size_t i = 0; i < model.graph.outputs.size(); i++) {
      fetches_.push_back(model.graph.outputs[i].name);
      expected_.push_back(read_tensor(folder / fmt::format("output_{}.pb", i), model.graph.outputs[i]));
    }
  }

  // Why the graph does not give the expected outputs; empty when it does.
  std::string run(const Graph& graph) const {
    // Where an operator must know shapes, axes or bounds before it runs, they are given beforehand.
    for (const Known known : {Known::none, Known::all_but_first}) {
      try {
        return run_both(graph, known);
      } catch (const Error& error) {
        if (std::string_view(error.what()).find("depends on the data") == std::string_view::npos) throw;
      }
    }
    return run_both(graph, Known::all);
  }

 private:
  // Plans for derivatives are made of other kernels here and there.
  std::string run_both(const Graph& graph, Known known) const {
    const std::string different = run(graph, known, false);
    return different.empty() ? run(graph, known, true) : different;
  }

  std::string run(const Graph& graph, Known known, bool gradients) const {
    PlanRequest request;
    request.fetches = fetches_;
    for (size_t i = 0; i < inputs_.size(); i++) {
      const bool constant = known == Known::all || (known == Known::all_but_first && i > 0);
      request.feeds.push_back(
          {names_[i], {inputs_[i]->type(), inputs_[i]->dims(), constant ? inputs_[i] : nullptr}, gradients});
    }
    const Plan plan(graph, request);
    Workspace workspace(plan);
    for (size_t i = 0; i < inputs_.size(); i++) {
      if (request.feeds[i].info.constant == nullptr) workspace.feed(i, inputs_[i]->raw());
    }
    workspace.forward();
    for (size_t i = 0; i < expected_.size(); i++) {
      const std::string different = difference(plan.fetched(i), workspace.fetched(i), expected_[i], coarse_);
      if (!different.empty()) return fmt::format("output '{}': {}", fetches_[i], different);
    }
    return "";
  }

  bool coarse_;
  std::vector<std::string> names_;
  std::vector<std::shared_ptr<const Tensor>> inputs_;
  std::vector<std::string> fetches_;
  std::vector<OnnxTensor> expected_;
};

// Why the test fails; empty when it passes.
std::string failure(const OnnxModel& model, const fs::path& folder) {
  try {
    size_t sets = 0;
    const Graph graph("model.onnx", model);
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (!entry.is_directory()) continue;
      sets++;
      const std::string why = DataSet(model, entry.path()).run(graph);
      if (!why.empty()) return why;
    }
    return sets > 0 ? "" : "it has no data";
  } catch (const std::exception& error) {
    return error.what();
  }
}

// Names and reasons, by section. "[every set]" is for tests that every known set of tests has; "[opset 17]" for those
// that only the set has whose newest operators are of that version; "[opset 27, opset 28]" for those of two sets.
std::map<std::string, std::map<std::string, std::string>> skips() {
  std::map<std::string, std::map<std::string, std::string>> sections;
  std::ifstream file(fs::path(ASSAY_SOURCE_DIR) / "tests/model/graph/node_tests_skipped.txt");
  std::vector<std::string> named;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t colon = line.find(": ");
    if (line[0] == '[') {
      named.clear();
      for (size_t begin = 1, end = 0; begin < line.size(); begin = end + 2) {
        end = std::min(line.find(", ", begin), line.size() - 1);
        named.push_back(line.substr(begin, end - begin));
        sections.try_emplace(named.back());
      }
    } else if (colon == std::string::npos || named.empty()) {
      ADD_FAILURE() << "node_tests_skipped.txt: expected 'name: reason' below a section, found '" << line << "'";
    } else {
      for (const std::string& section : named) sections[section][line.substr(0, colon)] = line.substr(colon + 2);
    }
  }
  return sections;
}

TEST(Onnx, NodeTestsPass) {
  const char* variable = std::getenv("ASSAY_ONNX_NODE_TESTS");
  const fs::path root = variable == nullptr ? "" : variable;
  if (!fs::is_directory(root)) GTEST_SKIP() << "there are no ONNX node tests in $ASSAY_ONNX_NODE_TESTS";

  int64_t newest = 0;
  size_t not_concerned = 0;
  std::vector<std::string> passed;
  std::map<std::string, std::string> failed;
  for (const auto& entry : fs::directory_iterator(root)) {
    if (!fs::exists(entry.path() / "model.onnx")) continue;
    const std::string name = entry.path().filename().string();
    OnnxModel model = read_onnx((entry.path() / "model.onnx").string());
    newest = std::max(newest, opset_version(model.opsets, ""));
    inline_functions(name, model);
    // Tests of operators that are older than the oldest version of the engine, and in that one as they were before.
    for (OnnxOpset& opset : model.opsets) {
      if (opset.domain.empty()) opset.version = std::max(opset.version, Graph::kOldestOpset);
    }
    const auto& nodes = model.graph.nodes;
    if (std::any_of(nodes.begin(), nodes.end(),
                    [](const OnnxNode& node) { return find_operator(node.domain, node.op_type) == nullptr; })) {
      not_concerned++;
      continue;
    }
    if (const std::string why = failure(model, entry.path()); why.empty()) {
      passed.push_back(name);
    } else {
      failed[name] = why;
    }
  }
  EXPECT_GT(passed.size(), 300U) << root << " is not a whole set of tests";

  auto sections = skips();
  const std::string own = fmt::format("opset {}", newest);
  EXPECT_TRUE(sections.contains(own)) << "node_tests_skipped.txt has no section [" << own << "]";
  std::map<std::string, std::string> skipped = sections["every set"];
  skipped.insert(sections[own].begin(), sections[own].end());
  for (const auto& [name, why] : failed) {
    if (!skipped.contains(name)) ADD_FAILURE() << name << ": " << why;
  }
  for (const auto& [name, reason] : skipped) {
    if (!failed.contains(name)) {
      ADD_FAILURE() << name << " is listed in node_tests_skipped.txt, but it "
                    << (std::count(passed.begin(), passed.end(), name) > 0 ? "passes" : "is not in this set of tests");
    }
  }
  std::cout << fmt::format("ONNX node tests to opset {}: {} passed, {} not concerned, {} skipped\n", newest,
                           passed.size(), not_concerned, skipped.size());
  for (const auto& [name, reason] : skipped) std::cout << fmt::format("  skipped {}: {}\n", name, reason);
}

}  // namespace
}  // namespace assay
