#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/message.h"
#include "tests/model/ops/single_node.h"

namespace assay::testing {
namespace {

using Real = long double;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

SingleNode log_odds(NodeInput z) { return {"LogOdds", {}, {std::move(z)}, 1, 1, "assay"}; }

template <class T>
std::vector<T> values(const SingleNode& node) {
  const auto run = node.forward();
  return {run.outputs[0].data<T>(), run.outputs[0].data<T>() + run.outputs[0].count()};
}

// Softmax of a line by its definition; LogSoftmax is its logarithm.
std::vector<Real> softmax_of(const std::vector<Real>& z) {
  Real sum = 0;
  for (const Real each : z) sum += std::exp(each);
  std::vector<Real> y;
  for (const Real each : z) y.push_back(std::exp(each) / sum);
  return y;
}

struct Lines {
  int64_t opset;
  std::vector<OnnxAttribute> attributes;
  // Of a tensor of 2 x 3 x 4: the axes that one line runs over.
  bool over[3];
};
std::vector<Lines> line_cases() {
  return {
      {13, {}, {false, false, true}},
      {17, {int_attribute("axis", 2)}, {false, false, true}},
      {13, {int_attribute("axis", 1)}, {false, true, false}},
      {13, {int_attribute("axis", -2)}, {false, true, false}},
      {13, {int_attribute("axis", 0)}, {true, false, false}},
      {7, {}, {false, true, true}},
      {12, {int_attribute("axis", 0)}, {true, true, true}},
      {11, {int_attribute("axis", -1)}, {false, false, true}},
      {11, {int_attribute("axis", -2)}, {false, true, true}},
  };
}

TEST(Softmax, LinesOfEveryOpset) {
  const Shape dims = {2, 3, 4};
  const NodeInput z = random_input<double>(dims, 1, -3, 3);
  const std::vector<float> narrow(z.tensor->data<double>(), z.tensor->data<double>() + 24);
  for (const Lines& each : line_cases()) {
    // Elements belong to one line when they agree in the axes that it does not run over.
    std::vector<Real> expected(24);
    for (size_t i = 0; i < 24; i++) {
      const auto line_of = [&](size_t at) {
        return std::vector<size_t>{each.over[0] ? 0 : at / 12, each.over[1] ? 0 : at / 4 % 3,
                                   each.over[2] ? 0 : at % 4};
      };
      std::vector<Real> line = {z.tensor->data<double>()[i]};
      for (size_t other = 0; other < 24; other++) {
        if (other != i && line_of(other) == line_of(i)) line.push_back(z.tensor->data<double>()[other]);
      }
      expected[i] = softmax_of(line)[0];
    }
    for (const std::string op : {"Softmax", "LogSoftmax"}) {
      SCOPED_TRACE(op + " of opset " + std::to_string(each.opset));
      const SingleNode node(op, each.attributes, {z}, 1, each.opset);
      EXPECT_EQ(node.output_info(0)->dims, dims);
      const auto y = values<double>(node);
      const auto y_float =
          values<float>(SingleNode(op, each.attributes, {variable<float>(dims, narrow)}, 1, each.opset));
      for (size_t i = 0; i < 24; i++) {
        const Real wanted = op == "Softmax" ? expected[i] : std::log(expected[i]);
        EXPECT_NEAR(y[i], static_cast<double>(wanted), 1e-14) << i;
        EXPECT_NEAR(static_cast<double>(y_float[i]), static_cast<double>(wanted), 1e-6) << i;
      }
      expect_gradients(node);
      expect_rescale_complete(node, {random_input<double>(dims, 2, -3, 3)});
      expect_rescale_complete(node, {random_input<double>(dims, 3, -30, 30)});
      expect_rescale_complete(node, {z});
    }
  }
}

TEST(Softmax, LargeLogitsNeitherOverflowNorVanish) {
  const NodeInput z = variable<double>({2, 3}, {1000, 999, -1000, -2000, -2001, -2000});
  const Real e = std::exp(-1.0L);
  const auto y = values<double>(SingleNode("Softmax", {}, {z}));
  const std::vector<Real> expected = {1 / (1 + e), e / (1 + e), 0, 1 / (2 + e), e / (2 + e), 1 / (2 + e)};
  for (size_t i = 0; i < 6; i++) EXPECT_NEAR(y[i], static_cast<double>(expected[i]), 1e-15) << i;
  const auto logs = values<double>(SingleNode("LogSoftmax", {}, {z}));
  EXPECT_NEAR(logs[2], static_cast<double>(-2000 - std::log(1 + e)), 1e-12);
  EXPECT_NEAR(logs[3], static_cast<double>(-std::log(2 + e)), 1e-15);
}

TEST(Softmax, MaskedElementsTakeNoPart) {
  for (const std::string op : {"Softmax", "LogSoftmax"}) {
    const SingleNode node(op, {}, {variable<double>({1, 3}, {1, -kInfinity, 2})});
    const SingleNode without(op, {}, {variable<double>({1, 2}, {1, 2})});
    const auto y = values<double>(node);
    const auto y_without = values<double>(without);
    EXPECT_DOUBLE_EQ(y[0], y_without[0]);
    EXPECT_DOUBLE_EQ(y[2], y_without[1]);
    EXPECT_EQ(y[1], op == "Softmax" ? 0 : -kInfinity);
    const auto multipliers = [](const SingleNode& of, const NodeInput& reference, std::vector<double> dy) {
      std::vector<double> dz(dy.size(), 0.0);
      const void* out = dy.data();
      void* in = dz.data();
      auto run = of.forward();
      auto base = of.forward({reference});
      of.kernel().rescale(run.buffers(), base.buffers(), {{&out, 1}, {&in, 1}});
      return dz;
    };
    const auto masked = multipliers(node, variable<double>({1, 3}, {3, -kInfinity, -1}), {1, 0, -2});
    const auto plain = multipliers(without, variable<double>({1, 2}, {3, -1}), {1, -2});
    EXPECT_NEAR(masked[0], plain[0], 1e-14);
    EXPECT_NEAR(masked[2], plain[1], 1e-14);
    EXPECT_EQ(masked[1], 0);
    EXPECT_TRUE(std::isnan(values<double>(SingleNode(op, {}, {variable<double>({2}, {-kInfinity, -kInfinity})}))[0]));
  }
}

// Multipliers of output `which` of one line.
std::vector<double> line_multipliers(const SingleNode& node, const std::vector<double>& reference, size_t which) {
  std::vector<double> dy(reference.size(), 0.0);
  dy[which] = 1;
  std::vector<double> dz(reference.size(), 0.0);
  const void* out = dy.data();
  void* in = dz.data();
  auto run = node.forward();
  const NodeInput kept = variable<double>({1, static_cast<int64_t>(reference.size())}, reference);
  auto base = node.forward({kept});
  node.kernel().rescale(run.buffers(), base.buffers(), {{&out, 1}, {&in, 1}});
  return dz;
}

TEST(Softmax, OfTwoClassesIsASigmoidOfTheirDifference) {
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  // The same class leads at both ends.
  const std::vector<std::pair<std::vector<double>, std::vector<double>>> lines = {
      {{8, 3}, {0, 0}}, {{5, 1}, {2, -3}}, {{-5, 4}, {40, 41}}, {{1, 2}, {101, 102.5}}, {{3, 1}, {5, -2}}};
  for (const auto& [z, r] : lines) {
    const double difference = (z[0] - z[1]) - (r[0] - r[1]);
    const double slope = (sigmoid(z[0] - z[1]) - sigmoid(r[0] - r[1])) / difference;
    const auto m = line_multipliers(SingleNode("Softmax", {}, {variable<double>({1, 2}, z)}), r, 0);
    EXPECT_NEAR(m[0], slope, 1e-12);
    EXPECT_NEAR(m[1], -slope, 1e-12);
  }
}

TEST(LogOdds, OfTwoClassesAreTheirDifference) {
  for (const std::vector<double>& r : std::vector<std::vector<double>>{{0, 0}, {4, 9}, {-100, 7}, {8, 3}}) {
    const auto m = line_multipliers(log_odds(variable<double>({1, 2}, {8, 3})), r, 0);
    EXPECT_NEAR(m[0], 1, 1e-12);
    EXPECT_NEAR(m[1], -1, 1e-12);
  }
}

TEST(Softmax, EqualLeadersShareTheShift) {
  for (const std::string op : {"Softmax", "LogSoftmax"}) {
    const SingleNode node(op, {}, {variable<double>({1, 3}, {5, 5, 1})});
    expect_rescale_complete(node, {variable<double>({1, 3}, {0, 1, 0})});
    const auto m = line_multipliers(node, {1, 1, 0}, 2);
    EXPECT_EQ(m[0], m[1]) << op;
  }
}

TEST(Softmax, MultipliersStaySmallForLinesFarApart) {
  // exp of the two lines differs by a factor of 10^217.
  const std::vector<double> z = {500, 499, 0};
  const std::vector<double> r = {0, 0.5, -0.5};
  for (const std::string op : {"Softmax", "LogSoftmax"}) {
    const SingleNode node(op, {}, {variable<double>({1, 3}, z)});
    expect_rescale_complete(node, {variable<double>({1, 3}, r)});
    for (size_t which = 0; which < 3; which++) {
      for (const double m : line_multipliers(node, r, which)) EXPECT_LT(std::abs(m), 2) << op;
    }
  }
}

TEST(LogOdds, EqualTheirDefinition) {
  const Shape dims = {3, 5};
  const NodeInput z = random_input<double>(dims, 11, -4, 4);
  const std::vector<float> narrow(z.tensor->data<double>(), z.tensor->data<double>() + 15);
  const auto y = values<double>(log_odds(z));
  const auto y_float = values<float>(log_odds(variable<float>(dims, narrow)));
  for (size_t row = 0; row < 3; row++) {
    const std::vector<Real> line(z.tensor->data<double>() + row * 5, z.tensor->data<double>() + row * 5 + 5);
    const std::vector<Real> p = softmax_of(line);
    for (size_t c = 0; c < 5; c++) {
      const auto expected = static_cast<double>(std::log(p[c] / (1 - p[c])));
      EXPECT_NEAR(y[row * 5 + c], expected, 1e-13);
      EXPECT_NEAR(static_cast<double>(y_float[row * 5 + c]), expected, 5e-6);
    }
  }
  const SingleNode node = log_odds(z);
  EXPECT_EQ(node.output_info(0)->dims, dims);
  expect_gradients(node);
  expect_rescale_complete(node, {random_input<double>(dims, 12, -4, 4)});
  expect_rescale_complete(node, {random_input<double>(dims, 13, -400, 400)});
  expect_rescale_complete(node, {z});
}

TEST(LogOdds, KeepTheirDigits) {
  // 1 - p would be 0 for the first class.
  const auto y = values<double>(log_odds(variable<double>({1, 3}, {900, 100, 99})));
  const Real beside = std::log(1 + std::exp(-1.0L));
  EXPECT_NEAR(y[0], static_cast<double>(800 - beside), 1e-12);
  EXPECT_NEAR(y[1], -800, 1e-12);
  EXPECT_NEAR(y[2], -801, 1e-12);
  const auto sure = values<double>(log_odds(variable<double>({1, 2}, {3, -kInfinity})));
  EXPECT_EQ(sure, (std::vector<double>{kInfinity, -kInfinity}));
  const auto equal = values<double>(log_odds(variable<double>({1, 3}, {7, 7, 7})));
  for (const double each : equal) EXPECT_NEAR(each, -std::log(2.0), 1e-15);
  const auto two = values<float>(log_odds(variable<float>({2, 2}, {3, 1, -50, 50})));
  EXPECT_EQ(two, (std::vector<float>{2, -2, -100, 100}));
}

TEST(LogOdds, OneColumnIsTheLogitItself) {
  const SingleNode node = log_odds(variable<double>({3, 1}, {-2, 0, 5}));
  EXPECT_EQ(values<double>(node), (std::vector<double>{-2, 0, 5}));
  expect_gradients(node);
  expect_rescale_complete(node, {variable<double>({3, 1}, {1, 2, 3})});
}

TEST(Softmax, RowsDoNotDependOnTheBatchAndNullsAreLeftAlone) {
  const NodeInput all = random_input<float>({4, 6}, 21);
  const NodeInput all_r = random_input<float>({4, 6}, 22);
  const NodeInput dy = random_input<float>({4, 6}, 23);
  for (const std::string op : {"Softmax", "LogSoftmax", "LogOdds"}) {
    const auto everything = [&](size_t first, size_t rows) {
      const auto part = [&](const NodeInput& of) {
        const float* from = of.tensor->data<float>() + first * 6;
        return variable<float>({static_cast<int64_t>(rows), 6}, std::vector<float>(from, from + rows * 6));
      };
      const SingleNode node(op, {}, {part(all)}, 1, 13, op == "LogOdds" ? "assay" : "");
      auto run = node.forward();
      const NodeInput reference = part(all_r);
      auto base = node.forward({reference});
      std::vector<float> gradient(rows * 6, 0.0F);
      std::vector<float> multipliers(rows * 6, 0.0F);
      const NodeInput weights = part(dy);
      const void* out = weights.tensor->raw();
      void* in = gradient.data();
      node.kernel().backward(run.buffers(), {{&out, 1}, {&in, 1}});
      in = multipliers.data();
      node.kernel().rescale(run.buffers(), base.buffers(), {{&out, 1}, {&in, 1}});
      in = nullptr;
      node.kernel().backward(run.buffers(), {{&out, 1}, {&in, 1}});
      node.kernel().rescale(run.buffers(), base.buffers(), {{&out, 1}, {&in, 1}});
      in = gradient.data();
      out = nullptr;
      node.kernel().backward(run.buffers(), {{&out, 1}, {&in, 1}});
      node.kernel().rescale(run.buffers(), base.buffers(), {{&out, 1}, {&in, 1}});
      const float* y = run.outputs[0].data<float>();
      return std::vector<std::vector<float>>{{y, y + rows * 6}, gradient, multipliers};
    };
    const auto whole = everything(0, 4);
    for (size_t row = 0; row < 4; row++) {
      const auto alone = everything(row, 1);
      for (size_t part = 0; part < 3; part++) {
        EXPECT_TRUE(std::equal(alone[part].begin(), alone[part].end(),
                               whole[part].begin() + static_cast<std::ptrdiff_t>(row * 6)))
            << op;
      }
    }
  }
}

TEST(Softmax, EmptyTensors) {
  for (const Shape& dims : std::vector<Shape>{{0, 3}, {3, 0}, {2, 0, 3}}) {
    for (const std::string op : {"Softmax", "LogSoftmax"}) {
      for (const int64_t opset : {12, 13}) {
        const SingleNode node(op, {int_attribute("axis", 1)}, {variable<float>(dims, {})}, 1, opset);
        EXPECT_EQ(node.forward().outputs[0].dims(), dims);
      }
    }
  }
  EXPECT_EQ(log_odds(variable<float>({0, 4}, {})).forward().outputs[0].dims(), (Shape{0, 4}));
}

TEST(Softmax, Refusals) {
  const auto refused = [](std::vector<OnnxAttribute> attributes, const NodeInput& z, int64_t opset) {
    return sentence([&] { const SingleNode node("Softmax", std::move(attributes), {z}, 1, opset); });
  };
  const NodeInput row = variable<float>({2}, {1, 2});
  EXPECT_EQ(refused({int_attribute("axis", 1)}, row, 13),
            "test: node 1 (Softmax): axis 1 is outside the 1 dimension of the input");
  EXPECT_EQ(refused({int_attribute("axis", INT64_MIN)}, row, 11),
            "test: node 1 (Softmax): axis -9223372036854775808 is outside the 1 dimension of the input");
  EXPECT_EQ(refused({}, row, 7), "test: node 1 (Softmax): axis 1 is outside the 1 dimension of the input");
  EXPECT_EQ(refused({}, variable<float>({}, {1}), 13),
            "test: node 1 (Softmax): axis -1 is outside the 0 dimensions of the input");
  EXPECT_EQ(refused({}, variable<int64_t>({2}, {1, 2}), 13),
            "test: node 1 (Softmax): input 1 must be FLOAT or DOUBLE, found INT64");
  EXPECT_EQ(sentence([&] { log_odds(row); }), "test: node 1 (LogOdds): input 1 must have 2 dimensions, found 1 (2)");
  EXPECT_EQ(sentence([&] { log_odds(variable<float>({2, 0}, {})); }),
            "test: node 1 (LogOdds): input 1 must have at least one class, found 2 x 0");
}

}  // namespace
}  // namespace assay::testing
