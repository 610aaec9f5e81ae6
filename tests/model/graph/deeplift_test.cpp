// DeepLift's multipliers of whole graphs, by both rules: complete on random graphs and on models of PyTorch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>

#include "assay/data/table_io.h"
#include "assay/model/engine_model.h"
#include "tests/model/graph/multipliers.h"
#include "tests/model/ops/single_node.h"
#include "tests/model/small_graph.h"

namespace assay::testing {
namespace {

// Completeness to 1e-4 of the change, and the rounding of float32: `steps` half units in the last place of the largest
// numbers that are added up (outputs and single attributions), or of 0.02: values inside a graph are of order 1 even
// where its outputs cancel.
void expect_complete(const Model& model, const Matrix& x, const Matrix& reference, const Matrix& weights,
                     DeepLiftRule rule, double steps = 32) {
  const Matrix found = multipliers_of(model, x, reference, weights, rule);
  const size_t width = model.info().outputs();
  Matrix high(x.rows(), width);
  Matrix low(reference.rows(), width);
  model.predict(x.view(), high.view(), {});
  model.predict(reference.view(), low.view(), {});
  for (size_t r = 0; r < x.rows(); r++) {
    const size_t base = reference.rows() == 1 ? 0 : r;
    double sum = 0;
    double change = 0;
    double largest = 0.02;
    for (size_t j = 0; j < x.cols(); j++) {
      const double part =
          double{found(r, j)} * (static_cast<double>(x(r, j)) - static_cast<double>(reference(base, j)));
      ASSERT_TRUE(std::isfinite(part)) << "row " << r << " column " << j;
      sum += part;
      largest = std::max(largest, std::abs(part));
    }
    for (size_t c = 0; c < width; c++) {
      const double weight = double{weights(r, c)};
      change += weight * (static_cast<double>(high(r, c)) - static_cast<double>(low(base, c)));
      largest = std::max({largest, std::abs(weight * high(r, c)), std::abs(weight * low(base, c))});
    }
    EXPECT_NEAR(sum, change, 1e-4 * std::abs(change) + steps * 0x1p-24 * largest) << "row " << r;
  }
}

// A graph of random operators on values of kWidth columns, and the names of the values made so far.
class RandomGraph {
 public:
  static constexpr int64_t kWidth = 6;

  explicit RandomGraph(uint64_t seed) : stream_(seed, "random graph", 0), seed_(seed * 1000) {
    const size_t steps = 3 + stream_.below(6);
    std::string last = "x";
    names_ = {last};
    for (size_t i = 0; i < steps; i++) {
      last = grow(last);
      names_.push_back(last);
    }
    add("MatMul", {last, weight({kWidth, 2})}, "y");
  }

  std::unique_ptr<EngineModel> model_of() const {
    return EngineModel::from_onnx("random", model(nodes_, {value("x", {-1, kWidth})}, {value("y", {-1, 2})}, weights_));
  }
  std::string text() const {
    std::string all;
    for (const OnnxNode& node : nodes_) all += node.op_type + " ";
    return all;
  }

 private:
  std::string fresh() { return "v" + std::to_string(count_++); }
  std::string weight(const std::vector<int64_t>& dims, double scale = 1) {
    weights_.push_back(floats(fresh(), dims, random_floats(element_count(dims), ++seed_, scale)));
    return weights_.back().name;
  }
  std::string list(const std::vector<int64_t>& numbers) {
    weights_.push_back(integers(fresh(), {static_cast<int64_t>(numbers.size())}, numbers));
    return weights_.back().name;
  }
  std::string add(const std::string& op, const std::vector<std::string>& inputs, std::string output = "",
                  const std::vector<OnnxAttribute>& attributes = {}) {
    if (output.empty()) output = fresh();
    nodes_.push_back(node(op, inputs, {output}, attributes));
    return output;
  }
  size_t pick(size_t count) { return stream_.below(static_cast<uint32_t>(count)); }
  const std::string& earlier() { return names_[pick(names_.size())]; }
  // As an image of two channels and three positions, and back.
  std::string image(const std::string& from) { return add("Reshape", {from, list({-1, 2, 3})}); }
  std::string flat(const std::string& from) { return add("Reshape", {from, list({-1, kWidth})}); }

  std::string grow(const std::string& last) {
    static const std::vector<std::string> functions = {"Relu", "Tanh", "Sigmoid", "LeakyRelu", "Softplus",
                                                       "Elu",  "Abs",  "Neg",     "Gelu",      "Erf"};
    switch (stream_.below(18)) {
      case 0: return add("Add", {add("MatMul", {last, weight({kWidth, kWidth})}), weight({kWidth})});
      case 1:
        return add("Gemm", {last, weight({kWidth, kWidth}), weight({kWidth})}, "",
                   {int_attribute("transB", 1), float_attribute("alpha", -0.7F)});
      case 2:
      case 3:
      case 4: {
        const std::string& op = functions[pick(functions.size())];
        if (op == "Gelu") return add("Mul", {add("Sigmoid", {last}), last});
        return add(op, {last});
      }
      case 5: return add("Add", {last, earlier()});
      case 6: return add("Sub", {earlier(), last});
      case 7: return add("Mul", {last, earlier()});
      case 8: return add("Mul", {weight({1, kWidth}), last});
      case 9: return add("Div", {last, weight_away({kWidth})});
      case 10:
        return add("LayerNormalization", {last, weight({kWidth}), weight({kWidth})}, "",
                   {int_attribute("axis", -1), float_attribute("epsilon", 0.1F)});
      case 11: return add("Softmax", {last}, "", {int_attribute("axis", -1)});
      case 12: {
        const std::string conv = add("Conv", {image(last), weight({2, 2, 3}), weight({2})}, "",
                                     {ints_attribute("pads", {1, 1}), ints_attribute("kernel_shape", {3})});
        const std::string norm =
            add("BatchNormalization", {conv, weight({2}), weight({2}), weight({2}), positive({2})});
        return flat(add("Relu", {norm}));
      }
      case 13:
        return flat(add(stream_.below(2) == 0 ? "MaxPool" : "AveragePool", {image(last)}, "",
                        {ints_attribute("kernel_shape", {3}), ints_attribute("pads", {1, 1})}));
      case 14: {
        const std::string mean =
            add("ReduceMean", {last}, "", {ints_attribute("axes", {1}), int_attribute("keepdims", 1)});
        const std::string part = add("Slice", {last, list({1}), list({3}), list({1})});
        const std::string rest = add("Pad", {part, list({0, 1, 0, 0}), weight({})});
        return add("Sub", {add("Concat", {rest, earlier_slice(last)}, "", {int_attribute("axis", 1)}), mean});
      }
      case 15: return add("Clip", {last, scalar(-0.5F), scalar(0.8F)});
      case 16: return add("PRelu", {last, weight({kWidth})});
      default: {
        if (stream_.below(3) == 0) return add("Pow", {add("Tanh", {last}), scalar(3)});
        return add(stream_.below(2) == 0 ? "Max" : "Min", {weight({1, kWidth}), last});
      }
    }
  }
  std::string earlier_slice(const std::string& last) { return add("Slice", {last, list({3}), list({6}), list({1})}); }
  std::string scalar(float number) {
    weights_.push_back(floats(fresh(), {}, {number}));
    return weights_.back().name;
  }
  std::string positive(const std::vector<int64_t>& dims) {
    auto values = random_floats(element_count(dims), ++seed_);
    for (float& each : values) each = 0.3F + std::abs(each);
    weights_.push_back(floats(fresh(), dims, values));
    return weights_.back().name;
  }
  std::string weight_away(const std::vector<int64_t>& dims) {
    auto values = random_floats(element_count(dims), ++seed_);
    for (float& each : values) each = std::copysign(0.5F + std::abs(each), each);
    weights_.push_back(floats(fresh(), dims, values));
    return weights_.back().name;
  }

  RandomStream stream_;
  uint64_t seed_;
  size_t count_ = 0;
  std::vector<std::string> names_;
  std::vector<OnnxNode> nodes_;
  std::vector<OnnxTensor> weights_;
};

TEST(DeepLiftOnGraphs, IsCompleteOnRandomGraphs) {
  for (uint64_t seed = 0; seed < 300; seed++) {
    const RandomGraph graph(seed);
    SCOPED_TRACE(std::to_string(seed) + ": " + graph.text());
    const auto made = graph.model_of();
    ASSERT_NE(made->rescalable(), nullptr);
    Matrix x = random_matrix(9, RandomGraph::kWidth, 7 * seed + 1, 2);
    const Matrix reference = random_matrix(9, RandomGraph::kWidth, 7 * seed + 2, 2);
    for (size_t j = 0; j < x.cols(); j += 2) x(3, j) = reference(3, j);  // no difference there
    std::copy_n(reference.row(4).data(), x.cols(), x.row(4).data());     // nor anywhere here
    for (const DeepLiftRule rule : kRules) {
      SCOPED_TRACE(rule == DeepLiftRule::rescale ? "rescale" : "reveal_cancel");
      expect_complete(*made, x, reference, random_matrix(9, 2, 7 * seed + 3), rule, 256);
    }
  }
}

TEST(DeepLiftOnGraphs, IsCompleteOnModelsOfPyTorch) {
  const auto fixtures = std::filesystem::path(ASSAY_SOURCE_DIR) / "tests" / "fixtures" / "models";
  size_t checked = 0;
  for (const auto& folder : std::filesystem::directory_iterator(fixtures)) {
    if (!std::filesystem::exists(folder.path() / "gradients.csv")) continue;
    SCOPED_TRACE(folder.path().filename().string());
    const auto made = EngineModel::load((folder.path() / "model.onnx").string());
    const Dataset data = made->features_of(read_table((folder.path() / "rows.csv").string()));
    Matrix reference(data.x.rows(), data.x.cols());
    for (size_t r = 0; r < data.x.rows(); r++) {
      std::copy_n(data.x.row((r + 1) % data.x.rows()).data(), data.x.cols(), reference.row(r).data());
    }
    for (size_t c = 0; c < made->info().outputs(); c++) {
      Matrix weights(data.x.rows(), made->info().outputs());
      for (size_t r = 0; r < weights.rows(); r++) weights(r, c) = 1;
      for (const DeepLiftRule rule : kRules) {
        SCOPED_TRACE(std::string(rule == DeepLiftRule::rescale ? "rescale" : "reveal_cancel") + ", output " +
                     std::to_string(c));
        expect_complete(*made, data.x, reference, weights, rule);
        expect_complete(*made, data.x, Matrix(1, data.x.cols()), weights, rule);
      }
    }
    checked++;
  }
  EXPECT_GE(checked, 12U);
}

// relu(a) and relu(b) by one activation module that is called twice, a value that feeds two activations, and an
// activation that two others read: y = relu(x1 + x2) + tanh(x1 + x2) + relu(relu(x1 + x2) - x3) + relu(x1 + x2) x3.
TEST(DeepLiftOnGraphs, RescaleByHandWhereValuesAreReused) {
  const auto graph =
      model({node("Add", {"a", "b"}, {"s"}), node("Relu", {"s"}, {"h"}), node("Tanh", {"s"}, {"t"}),
             node("Sub", {"h", "c"}, {"d"}), node("Relu", {"d"}, {"e"}), node("Mul", {"h", "c"}, {"p"}),
             node("Add", {"h", "t"}, {"y1"}), node("Add", {"y1", "e"}, {"y2"}), node("Add", {"y2", "p"}, {"y"})},
            {value("a", {-1, 1}), value("b", {-1, 1}), value("c", {-1, 1})}, {value("y", {-1, 1})});
  const auto made = EngineModel::from_onnx("reused", graph);
  Matrix x(1, 3);
  x(0, 0) = 3, x(0, 1) = -1, x(0, 2) = 0.5F;
  Matrix reference(1, 3);
  reference(0, 0) = -1, reference(0, 1) = 0, reference(0, 2) = 2;
  const Matrix found = multipliers_of(*made, x, reference, ones_for(1), DeepLiftRule::rescale);
  // s: -1 -> 2, h: 0 -> 2, t: tanh(-1) -> tanh(2), d: -2 -> 1.5, e: 0 -> 1.5, c: 2 -> 0.5.
  const double m_e = 1.5 / 3.5;                // of relu on d
  const double m_h = 1 + m_e + (0.5 + 2) / 2;  // itself, through d, and times the mean of c
  const double m_s = m_h * 2 / 3 + (std::tanh(2.0) - std::tanh(-1.0)) / 3;
  const double m_c = -m_e + (2.0 + 0) / 2;
  EXPECT_NEAR(found(0, 0), m_s, 1e-6);
  EXPECT_NEAR(found(0, 1), m_s, 1e-6);
  EXPECT_NEAR(found(0, 2), m_c, 1e-6);
}

TEST(DeepLiftOnGraphs, BitsDoNotDependOnThreadsCompanyOrHowTheReferenceIsGiven) {
  const auto folder = std::filesystem::path(ASSAY_SOURCE_DIR) / "tests" / "fixtures" / "models";
  for (const char* name : {"torch_mlp_script", "torch_cnn_script", "torch_grouped_cnn_dynamo"}) {
    SCOPED_TRACE(name);
    const auto made = EngineModel::load((folder / name / "model.onnx").string());
    const size_t rows = 203;
    const Matrix x = random_matrix(rows, made->info().features(), 50);
    const Matrix one = random_matrix(1, x.cols(), 51);
    Matrix same(rows, x.cols());
    for (size_t r = 0; r < rows; r++) std::copy_n(one.row(0).data(), x.cols(), same.row(r).data());
    const Matrix weights = random_matrix(rows, made->info().outputs(), 52);
    for (const DeepLiftRule rule : kRules) {
      Context context;
      context.threads = 1;
      const Matrix expected = multipliers_of(*made, x, same, weights, rule, context);
      for (const unsigned threads : {1U, 2U, 5U}) {
        context.threads = threads;
        const Matrix found = multipliers_of(*made, x, one, weights, rule, context);
        EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.values().size_bytes()), 0) << threads;
      }
      Matrix alone(1, x.cols());
      made->rescalable()->multipliers(x.view().rows_between(77, 78), one.view(), weights.view().rows_between(77, 78),
                                      rule, alone.view(), {});
      EXPECT_EQ(std::memcmp(alone.data(), expected.row(77).data(), alone.values().size_bytes()), 0);
    }
  }
}

}  // namespace
}  // namespace assay::testing
