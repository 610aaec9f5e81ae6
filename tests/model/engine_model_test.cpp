#include "assay/model/engine_model.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "assay/core/random.h"
#include "assay/data/kept_doubles.h"
#include "assay/model/trees/booster.h"
#include "tests/message.h"
#include "tests/model/ops/single_node.h"
#include "tests/model/ops/trees.h"
#include "tests/model/small_graph.h"

namespace assay::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<float> numbers(size_t count, uint64_t seed) {
  std::vector<float> values(count);
  RandomStream stream(seed, "graph model test");
  for (float& value : values) value = static_cast<float>(stream.normal());
  return values;
}

Matrix some_rows(size_t rows, size_t columns, uint64_t seed = 5) {
  Matrix x(rows, columns);
  const std::vector<float> values = numbers(rows * columns, seed);
  std::copy(values.begin(), values.end(), x.data());
  return x;
}

// 4 features, 6 hidden, 3 classes.
OnnxModel classifier(std::vector<OnnxNode> end, std::vector<OnnxValue> outputs) {
  std::vector<OnnxNode> nodes = {node("Gemm", {"x", "w", "b"}, {"h"}), node("Relu", {"h"}, {"a"}),
                                 node("Gemm", {"a", "v", "c"}, {"z"})};
  nodes.insert(nodes.end(), end.begin(), end.end());
  return model(nodes, {value("x", {-1, 4})}, std::move(outputs),
               {floats("w", {4, 6}, numbers(24, 1)), floats("b", {6}, numbers(6, 2)),
                floats("v", {6, 3}, numbers(18, 3)), floats("c", {3}, numbers(3, 4))});
}

std::unique_ptr<EngineModel> softmax_model(std::optional<OutputUnit> unit = {}) {
  EngineModelOptions options;
  options.unit = unit;
  return EngineModel::from_onnx("m.onnx", classifier({node("Softmax", {"z"}, {"p"})}, {value("p", {-1, 3})}), options);
}

Matrix outputs_of(const Model& model, const Matrix& x, unsigned threads = 1) {
  Matrix y(x.rows(), model.info().outputs());
  Context context;
  context.threads = threads;
  model.predict(x.view(), y.view(), context);
  return y;
}

TEST(EngineModel, UnitsAreFunctionsOfTheMargin) {
  const Matrix x = some_rows(50, 4);
  const auto margins = softmax_model();
  EXPECT_EQ(margins->info().unit, OutputUnit::margin);
  EXPECT_THAT(margins->info().note, HasSubstr("the value before Softmax"));
  EXPECT_THAT(margins->info().class_names, ElementsAre("0", "1", "2"));
  const Matrix z = outputs_of(*margins, x);
  const Matrix p = outputs_of(*softmax_model(OutputUnit::probability), x);
  const Matrix odds = outputs_of(*softmax_model(OutputUnit::log_odds), x);
  for (size_t r = 0; r < x.rows(); r++) {
    double total = 0;
    for (size_t c = 0; c < 3; c++) total += std::exp(static_cast<double>(z(r, c)));
    for (size_t c = 0; c < 3; c++) {
      const double share = std::exp(static_cast<double>(z(r, c))) / total;
      EXPECT_NEAR(p(r, c), share, 1e-6);
      EXPECT_NEAR(odds(r, c), std::log(share / (1 - share)), 1e-4);
    }
  }
}

TEST(EngineModel, BareLogitsAreMarginsOfClasses) {
  EngineModelOptions options;
  options.unit = OutputUnit::probability;
  const auto bare = EngineModel::from_onnx("m.onnx", classifier({}, {value("z", {-1, 3})}), options);
  const Matrix x = some_rows(5, 4);
  const Matrix p = outputs_of(*bare, x);
  const Matrix expected = outputs_of(*softmax_model(OutputUnit::probability), x);
  EXPECT_EQ(std::memcmp(p.data(), expected.data(), 15 * sizeof(float)), 0);
  EXPECT_THAT(EngineModel::from_onnx("m.onnx", classifier({}, {value("z", {-1, 3})}))->info().note,
              HasSubstr("taken for the classes' logits"));
}

TEST(EngineModel, ASigmoidIsOneOutputOfTwoClasses) {
  const OnnxModel sigmoid = model({node("MatMul", {"x", "w"}, {"z"}), node("Sigmoid", {"z"}, {"p"})},
                                  {value("x", {-1, 2})}, {value("p", {-1, 1})}, {floats("w", {2, 1}, {1, -1})});
  const auto margin = EngineModel::from_onnx("m.onnx", sigmoid);
  EXPECT_THAT(margin->info().class_names, ElementsAre("0", "1"));
  EXPECT_THAT(margin->info().output_names, ElementsAre("1"));
  Matrix x(1, 2);
  x(0, 0) = 3;
  x(0, 1) = 1;
  EXPECT_EQ(outputs_of(*margin, x)(0, 0), 2);
  EngineModelOptions options;
  options.unit = OutputUnit::log_odds;
  EXPECT_EQ(outputs_of(*EngineModel::from_onnx("m.onnx", sigmoid, options), x)(0, 0), 2);
}

TEST(EngineModel, ARegressionHasOneUnit) {
  const OnnxModel linear = model({node("MatMul", {"x", "w"}, {"y"})}, {value("x", {-1, 2})}, {value("y", {-1, 1})},
                                 {floats("w", {2, 1}, {1, -1})});
  const auto made = EngineModel::from_onnx("m.onnx", linear);
  EXPECT_EQ(made->info().unit, OutputUnit::value);
  EXPECT_THAT(made->info().output_names, ElementsAre("y"));
  EngineModelOptions options;
  options.unit = OutputUnit::probability;
  EXPECT_THAT(sentence([&] { EngineModel::from_onnx("m.onnx", linear, options); }),
              HasSubstr("m.onnx: output probability is not available"));
}

TEST(EngineModel, BitsDoNotDependOnThreadsOrTheBatch) {
  const auto made = softmax_model(OutputUnit::log_odds);
  const Matrix x = some_rows(3001, 4);
  const Matrix y = outputs_of(*made, x, 1);
  for (const unsigned threads : {2U, 7U}) {
    const Matrix other = outputs_of(*made, x, threads);
    EXPECT_EQ(std::memcmp(y.data(), other.data(), y.values().size() * sizeof(float)), 0);
  }
  Matrix part(1, 3);
  for (const size_t r : {size_t{0}, size_t{17}, size_t{3000}}) {
    made->predict(x.view().rows_between(r, r + 1), part.view(), {});
    EXPECT_EQ(std::memcmp(part.data(), y.row(r).data(), 3 * sizeof(float)), 0);
  }
}

TEST(EngineModel, GradientsAreSlopes) {
  const auto made = softmax_model(OutputUnit::log_odds);
  ASSERT_NE(made->differentiable(), nullptr);
  const Matrix x = some_rows(40, 4);
  const Matrix weights = some_rows(40, 3, 6);
  Matrix gradients(40, 4);
  Matrix outputs(40, 3);
  made->differentiable()->gradient(x.view(), weights.view(), gradients.view(), outputs.view(), {});
  const Matrix expected = outputs_of(*made, x);
  EXPECT_EQ(std::memcmp(outputs.data(), expected.data(), 120 * sizeof(float)), 0);
  const float step = 1e-3F;
  size_t near = 0;
  for (size_t j = 0; j < 4; j++) {
    Matrix up = x;
    Matrix down = x;
    for (size_t r = 0; r < 40; r++) {
      up(r, j) += step;
      down(r, j) -= step;
    }
    const Matrix high = outputs_of(*made, up);
    const Matrix low = outputs_of(*made, down);
    for (size_t r = 0; r < 40; r++) {
      double slope = 0;
      for (size_t c = 0; c < 3; c++) {
        slope += static_cast<double>(weights(r, c)) * (high(r, c) - low(r, c)) /
                 (up(r, j) - static_cast<double>(down(r, j)));
      }
      near += std::abs(slope - gradients(r, j)) < 5e-3 * (1 + std::abs(slope)) ? 1 : 0;
    }
  }
  // A step may cross the kink of a ReLU.
  EXPECT_GE(near, 155U);
}

TEST(EngineModel, MultipliersAreComplete) {
  const auto made = softmax_model(OutputUnit::log_odds);
  const Matrix x = some_rows(30, 4);
  const Matrix weights = some_rows(30, 3, 6);
  for (const size_t references : {size_t{1}, size_t{30}}) {
    const Matrix reference = some_rows(references, 4, 8);
    Matrix multipliers(30, 4);
    made->rescalable()->multipliers(x.view(), reference.view(), weights.view(), DeepLiftRule::rescale,
                                    multipliers.view(), {});
    const Matrix high = outputs_of(*made, x);
    const Matrix low = outputs_of(*made, reference);
    for (size_t r = 0; r < 30; r++) {
      const size_t base = references == 1 ? 0 : r;
      double found = 0;
      double expected = 0;
      for (size_t j = 0; j < 4; j++) found += static_cast<double>(multipliers(r, j)) * (x(r, j) - reference(base, j));
      for (size_t c = 0; c < 3; c++) expected += static_cast<double>(weights(r, c)) * (high(r, c) - low(base, c));
      EXPECT_NEAR(found, expected, 1e-4 * (1 + std::abs(expected)));
    }
  }
}

TEST(EngineModel, TheRestBehindTheFirstLayerIsTheModel) {
  const auto made = softmax_model(OutputUnit::probability);
  const AffineEntry* entry = made->affine_entry();
  ASSERT_NE(entry, nullptr);
  ASSERT_EQ(entry->weights().rows(), 4U);
  ASSERT_EQ(entry->weights().cols(), 6U);
  const Matrix x = some_rows(20, 4);
  Matrix entries(20, 6);
  for (size_t r = 0; r < 20; r++) {
    for (size_t h = 0; h < 6; h++) {
      double sum = entry->bias()[h];
      for (size_t j = 0; j < 4; j++) sum += static_cast<double>(x(r, j)) * entry->weights()(j, h);
      entries(r, h) = static_cast<float>(sum);
    }
  }
  Matrix found(20, 3);
  entry->predict_from(entries.view(), found.view(), {});
  const Matrix expected = outputs_of(*made, x);
  for (size_t i = 0; i < 60; i++) EXPECT_NEAR(found.values()[i], expected.values()[i], 1e-6);
}

TEST(EngineModel, AFixedBatchIsOpened) {
  // As CNTK writes it: both the input and a Reshape fix one row.
  const auto made = EngineModel::from_onnx(
      "m.onnx", model({node("Reshape", {"x", "shape"}, {"r"}), node("Relu", {"r"}, {"y"})}, {value("x", {1, 2, 2})},
                      {value("y", {1, 4})}, {integers("shape", {2}, {1, 4})}));
  EXPECT_GT(made->block_rows(), 1U);
  const Matrix x = some_rows(9, 4);
  const Matrix y = outputs_of(*made, x);
  for (size_t i = 0; i < 36; i++) EXPECT_EQ(y.values()[i], std::max(0.0F, x.values()[i]));
}

TEST(EngineModel, ABatchThatCannotBeOpenedStaysFixed) {
  // Six elements are two rows of three and nothing else.
  const auto made = EngineModel::from_onnx(
      "m.onnx",
      model({node("Reshape", {"x", "flat"}, {"r"}), node("Relu", {"r"}, {"t"}), node("Reshape", {"t", "back"}, {"y"})},
            {value("x", {2, 3})}, {value("y", {2, 3})}, {integers("flat", {1}, {6}), integers("back", {2}, {2, 3})}));
  EXPECT_EQ(made->block_rows(), 2U);
  const Matrix x = some_rows(5, 3);
  const Matrix y = outputs_of(*made, x);
  for (size_t i = 0; i < 15; i++) EXPECT_EQ(y.values()[i], std::max(0.0F, x.values()[i]));
}

TEST(EngineModel, AModelThatMixesRowsIsRefused) {
  EXPECT_THAT(sentence([] {
                EngineModel::from_onnx("m.onnx", model({node("Softmax", {"x"}, {"p"}, {int_attribute("axis", 0)}),
                                                        node("Mul", {"x", "p"}, {"y"})},
                                                       {value("x", {-1, 2})}, {value("y", {-1, 2})}));
              }),
              HasSubstr("depends on the other rows of the batch"));
}

TEST(EngineModel, MixedRowsAreFoundAmongIntegersInFixedBatchesAndFarFromZero) {
  const auto refused = [](OnnxModel mixed) {
    return sentence([&] { EngineModel::from_onnx("m.onnx", std::move(mixed)); });
  };
  const auto less_mean = [](std::vector<OnnxNode> first, OnnxValue input) {
    first.push_back(node("ReduceMean", {"f"}, {"m"}, {ints_attribute("axes", {0})}));
    first.push_back(node("Sub", {"f", "m"}, {"y"}));
    return model(std::move(first), {std::move(input)}, {value("y", {-1, 5})});
  };
  EXPECT_THAT(refused(less_mean({node("Cast", {"x"}, {"f"}, {int_attribute("to", 1)})},
                                value("x", {-1, 5}, OnnxElement::int64))),
              HasSubstr("depends on the other rows"));
  EXPECT_THAT(refused(less_mean({node("Identity", {"x"}, {"f"})}, value("x", {3, 5}))),
              HasSubstr("depends on the other rows"));
  // Dead below 20.
  EXPECT_THAT(
      refused(model({node("Sub", {"x", "c"}, {"d"}), node("Relu", {"d"}, {"f"}),
                     node("ReduceMax", {"f"}, {"m"}, {ints_attribute("axes", {0})}), node("Sub", {"f", "m"}, {"y"})},
                    {value("x", {-1, 5})}, {value("y", {-1, 5})}, {floats("c", {1}, {20})})),
      HasSubstr("depends on the other rows"));
}

TEST(EngineModel, AnOutputThatIsNotByRowIsRefusedWhateverItsSize) {
  for (const int64_t size : {1, 4, 16, 1024}) {
    const auto made = EngineModel::from_onnx(
        "m.onnx", model({node("Relu", {"x"}, {"y"}), node("Identity", {"c"}, {"k"})}, {value("x", {-1, 2})},
                        {value("y", {-1, 2}), value("k", {size, 2})},
                        {floats("c", {size, 2}, std::vector<float>(static_cast<size_t>(2 * size), 1))}));
    const Matrix x = some_rows(40, 2);
    EXPECT_THAT(sentence([&] { made->own_outputs(x.view(), {}); }), HasSubstr("the first must be the row")) << size;
  }
}

TEST(EngineModel, ScoresOutsideZeroToOneAreNotCalledProbabilities) {
  const OnnxModel scores =
      model({node("MatMul", {"x", "w"}, {"probabilities"}), node("ArgMax", {"probabilities"}, {"label"})},
            {value("x", {-1, 2})}, {value("label", {-1, 1}, OnnxElement::int64), value("probabilities", {-1, 2})},
            {floats("w", {2, 2}, {3, -3, 1, 2})});
  EXPECT_EQ(EngineModel::from_onnx("m.onnx", scores)->info().unit, OutputUnit::margin);
  EngineModelOptions options;
  options.unit = OutputUnit::probability;
  EXPECT_THAT(sentence([&] { EngineModel::from_onnx("m.onnx", scores, options); }), HasSubstr("not between 0 and 1"));
}

TEST(EngineModel, AnInputNobodyReadsHasDerivativeZero) {
  const auto made = EngineModel::from_onnx(
      "m.onnx", model({node("Relu", {"a"}, {"y"})}, {value("a", {-1, 1}), value("b", {-1, 1})}, {value("y", {-1, 1})}));
  ASSERT_NE(made->differentiable(), nullptr);
  Matrix x(1, 2);
  x(0, 0) = 2;
  Matrix one(1, 1);
  one(0, 0) = 1;
  Matrix gradient(1, 2);
  gradient(0, 1) = 9;
  made->differentiable()->gradient(x.view(), one.view(), gradient.view(), {}, {});
  EXPECT_EQ(gradient(0, 0), 1);
  EXPECT_EQ(gradient(0, 1), 0);
}

TEST(EngineModel, WholeNumbersAreKeptOrRefused) {
  // A label beyond 2^24 is text; a fraction is no index.
  const auto made = EngineModel::from_onnx(
      "m.onnx",
      model({node("Gather", {"labels", "x"}, {"label"}), node("Cast", {"x"}, {"y"}, {int_attribute("to", 1)})},
            {value("x", {-1, 1}, OnnxElement::int64)},
            {value("y", {-1, 1}), value("label", {-1, 1}, OnnxElement::int64)},
            {integers("labels", {2}, {123456789, 123456790})}));
  Matrix x(2, 1);
  x(1, 0) = 1;
  const Table own = made->own_outputs(x.view(), {});
  EXPECT_THAT(own.columns[1].levels, ElementsAre("123456789", "123456790"));
  x(0, 0) = 0.5;
  EXPECT_THAT(sentence([&] { made->own_outputs(x.view(), {}); }), HasSubstr("takes whole numbers (INT64), found 0.5"));
}

Table one_column(std::string name, const std::vector<float>& cells, size_t rounded) {
  Table table;
  table.source = "t.csv";
  table.columns.push_back({.name = std::move(name), .rounded = rounded});
  table.values = Matrix(cells.size(), 1);
  std::copy(cells.begin(), cells.end(), table.values.data());
  return table;
}

// A graph of doubles sees more digits than rows of float32 have.
TEST(EngineModel, DigitsThatRowsOfADoubleGraphLoseAreNoted) {
  const auto notes = [](const char* op, OnnxElement element, const std::vector<float>& cells) {
    const std::vector<std::string> inputs(op == std::string("Neg") ? 1 : 2, "x");
    const auto made = EngineModel::from_onnx(
        "m.onnx", model({node(op, inputs, {"z"}), node("Cast", {"z"}, {"y"}, {int_attribute("to", 1)})},
                        {value("x", {-1, 1}, element)}, {value("y", {-1, 1})}));
    return made->features_of(one_column("t", cells, 0)).notes;
  };
  const std::vector<float> datenum = {738000.125F, 738000.75F, 738001.25F};
  EXPECT_THAT(
      notes("Neg", OnnxElement::float64, datenum),
      ElementsAre(AllOf(HasSubstr("column 't' of t.csv lies near 738001"), HasSubstr("rounded by up to 0.04"))));
  EXPECT_THAT(notes("Neg", OnnxElement::float64, {738000.5F, 738000.5F}), SizeIs(1));
  EXPECT_THAT(notes("Greater", OnnxElement::float64, {0.25F, 0.5F}),
              ElementsAre(HasSubstr("m.onnx takes doubles and has the operator Greater")));
  // As much as float32 holds, whole numbers, and graphs of float32 themselves.
  EXPECT_THAT(notes("Neg", OnnxElement::float64, {0.1F, 0.2F}), IsEmpty());
  EXPECT_THAT(notes("Greater", OnnxElement::float64, {738000, 738001}), IsEmpty());
  EXPECT_THAT(notes("Greater", OnnxElement::float32, datenum), IsEmpty());
}

TEST(EngineModel, FractionsBeyondTheExactNumbersAreRefusedByADoubleGraph) {
  const auto made =
      EngineModel::from_onnx("m.onnx", model({node("Cast", {"x"}, {"y"}, {int_attribute("to", 1)})},
                                             {value("x", {-1, 1}, OnnxElement::float64)}, {value("y", {-1, 1})}));
  EXPECT_THAT(sentence([&] { made->features_of(one_column("t", {1700000000.0F}, 1)); }),
              HasSubstr("t.csv: column 't' holds numbers beyond 2^24, which tables round; m.onnx takes them exactly"));
}

// 16777217 is 16777216 in float32, which is another category; so is "007" the number 7.
TEST(EngineModel, NumbersThatLostTheirTextAreNoCategories) {
  const auto model_of = [](const std::string& levels) {
    OnnxModel made = model({node("Identity", {"x"}, {"y"})}, {value("x", {-1, 1})}, {value("y", {-1, 1})});
    made.metadata.emplace_back(kCategoriesKey, fmt::format(R"({{"0": [{}]}})", levels));
    return EngineModel::from_onnx("m.onnx", made);
  };
  const auto plain = model_of(R"("7", "16777216")");
  EXPECT_EQ(plain->features_of(one_column("c", {16777216}, 0)).x(0, 0), 1);
  EXPECT_THAT(sentence([&] { plain->features_of(one_column("c", {16777216}, 1)); }),
              HasSubstr("t.csv: column 'c' holds numbers beyond 2^24, which tables round, and the model knows its "
                        "cells one by one; read the column as categories"));
  for (const std::string other : {"16777217", "007", "1.0"}) {
    const auto made = model_of(fmt::format(R"("7", "{}")", other));
    EXPECT_THAT(sentence([&] { made->features_of(one_column("c", {7}, 0)); }),
                HasSubstr(fmt::format("column 'c' was read as numbers, and the model knows the category '{}'", other)));
    Table texts = one_column("c", {0}, 0);
    texts.columns[0].kind = ColumnKind::categorical;
    texts.columns[0].levels = {other};
    EXPECT_EQ(made->features_of(texts).x(0, 0), 1);
  }
  // Where all categories are plain numbers, another spelling of one is that one.
  Table texts = one_column("c", {0}, 0);
  texts.columns[0].kind = ColumnKind::categorical;
  texts.columns[0].levels = {"7.0"};
  EXPECT_EQ(plain->features_of(texts).x(0, 0), 0);
  texts.columns[0].levels = {"16777217"};
  EXPECT_THAT(sentence([&] { plain->features_of(texts); }), HasSubstr("holds '16777217', which is no category"));
}

// x <= 0.1 in doubles: the float32 number nearest to 0.1 is larger, so its neighbour stands for 0.1.
TEST(EngineModel, TreesThatAreFedWithDoublesGetCellsOnTheirSide) {
  Trees trees;
  trees.branch(0, 0, "BRANCH_LEQ", 0, 0, 1, 2);
  trees.leaf(0, 1);
  trees.leaf(0, 2);
  std::vector<OnnxAttribute> attributes = trees.regressor({int_attribute("n_targets", 1)});
  std::erase_if(attributes,
                [](const auto& each) { return each.name == "nodes_values" || each.name.starts_with("target_"); });
  attributes.push_back(tensor_attribute("nodes_values_as_tensor", tensor_of<double>({0.1, 0, 0})));
  attributes.push_back(ints_attribute("target_treeids", {0, 0}));
  attributes.push_back(ints_attribute("target_nodeids", {1, 2}));
  attributes.push_back(ints_attribute("target_ids", {0, 0}));
  attributes.push_back(tensor_attribute("target_weights_as_tensor", tensor_of<double>({1, 100})));
  const auto made =
      EngineModel::from_onnx("m.onnx", model({node("TreeEnsembleRegressor", {"x"}, {"y"}, attributes, "ai.onnx.ml")},
                                             {value("x", {-1, 1}, OnnxElement::float64)}, {value("y", {-1, 1})}));
  ASSERT_TRUE(made->compares_doubles());
  KeptDoubles doubles;
  doubles.set("x", {0.1, 0.3, std::nextafter(0.1, 1)});
  const Dataset data = made->features_of(one_column("x", {0.1F, 0.3F, 0.1F}, 0), &doubles);
  Matrix y(3, 1);
  made->predict(data.x.view(), y.view(), {});
  EXPECT_THAT(std::vector<float>(y.data(), y.data() + 3), ElementsAre(1, 100, 100));
}

TEST(EngineModel, ShapesOfCallsAreChecked) {
  const auto made = softmax_model();
  const Matrix x = some_rows(3, 5);
  Matrix y(3, 3);
  EXPECT_THAT(sentence([&] { made->predict(x.view(), y.view(), {}); }), HasSubstr("expected rows of 4 columns"));
}

Table table_of(std::vector<Column> columns, const std::vector<std::vector<float>>& rows) {
  Table table;
  table.source = "rows.csv";
  table.values = Matrix(rows.size(), columns.size());
  table.columns = std::move(columns);
  for (size_t r = 0; r < rows.size(); r++) std::copy(rows[r].begin(), rows[r].end(), table.values.row(r).begin());
  return table;
}

// Two named inputs, one of them text.
std::unique_ptr<EngineModel> mixed_model(const std::shared_ptr<TextCodes>& texts = {}) {
  OnnxAttribute cats = texts_attribute("cats_strings", {"a", "b"});
  return EngineModel::from_onnx(
      "m.onnx",
      model({node("OneHotEncoder", {"kind"}, {"hot"}, {cats}, "ai.onnx.ml"), node("Reshape", {"hot", "flat"}, {"f"}),
             node("Concat", {"age", "f"}, {"c"}, {int_attribute("axis", 1)}), node("MatMul", {"c", "w"}, {"y"})},
            {value("age", {-1, 1}), value("kind", {-1, 1}, OnnxElement::string)}, {value("y", {-1, 1})},
            {integers("flat", {2}, {-1, 2}), floats("w", {3, 1}, {1, 10, 100})}),
      {.texts = texts});
}

TEST(EngineModel, NamedInputsTakeColumnsByName) {
  const auto made = mixed_model();
  EXPECT_EQ(made->differentiable(), nullptr);
  const Table table = table_of({{"kind", ColumnKind::categorical, {"a", "b", "z"}}, {"other"}, {"age"}},
                               {{1, 9, 5}, {0, 9, 6}, {2, 9, 7}, {NAN, 9, 8}});
  const Dataset data = made->features_of(table);
  EXPECT_THAT(data.feature_names, ElementsAre("age", "kind"));
  const Matrix y = outputs_of(*made, data.x);
  EXPECT_THAT(std::vector<float>(y.data(), y.data() + 4), ElementsAre(105, 16, 7, 8));
  const Table own = made->own_outputs(data.x.view(), {});
  EXPECT_EQ(own.columns[0].name, "y");
  EXPECT_EQ(own.values(0, 0), 105);
}

// The number of a text keeps its meaning, whatever tables come later, and models that share texts share rows.
TEST(EngineModel, TablesChangeNothingForRowsThatAreThere) {
  const std::shared_ptr<TextCodes> texts = std::make_shared<TextCodes>();
  const std::unique_ptr<const EngineModel> made = mixed_model(texts);
  const std::unique_ptr<const EngineModel> other = mixed_model(texts);
  const std::unique_ptr<const EngineModel> alone = mixed_model();
  const Dataset first = made->features_of(table_of({{"kind", ColumnKind::categorical, {"b"}}, {"age"}}, {{0, 5}}));
  EXPECT_EQ(outputs_of(*made, first.x)(0, 0), 105);
  made->features_of(table_of({{"kind", ColumnKind::categorical, {"a", "b"}}, {"age"}}, {{0, 1}, {1, 1}}));
  EXPECT_EQ(outputs_of(*made, first.x)(0, 0), 105);
  EXPECT_EQ(outputs_of(*other, first.x)(0, 0), 105);
  EXPECT_THAT(sentence([&] { outputs_of(*alone, first.x); }), HasSubstr("feature 2 is text with 0 levels"));
}

TEST(EngineModel, TablesThatDoNotFitAreRefusedByColumn) {
  const auto mixed = mixed_model();
  EXPECT_THAT(
      sentence([&] { mixed->features_of(table_of({{"aged"}, {"kind", ColumnKind::categorical, {"a"}}}, {{1, 0}})); }),
      HasSubstr("rows.csv: column 'age' is missing, which m.onnx takes (did you mean 'aged'?)"));
  EXPECT_THAT(
      sentence([&] { mixed->features_of(table_of({{"age", ColumnKind::categorical, {"a"}}, {"kind"}}, {{0, 1}})); }),
      HasSubstr("rows.csv: column 'age' is text; m.onnx takes numbers there"));
  const auto plain = softmax_model();
  EXPECT_THAT(sentence([&] { plain->features_of(table_of({{"a"}, {"b"}}, {{0, 1}})); }),
              HasSubstr("rows.csv: m.onnx takes 4 features, found 2 columns"));
}

TEST(Model, ABlackBoxIsCalledInBatchesOnThisThread) {
  ModelInfo info;
  info.feature_names = {"a", "b"};
  info.output_names = {"sum"};
  size_t calls = 0;
  const auto made = model_from_function(
      info,
      [&](MatrixView<const float> rows, MatrixView<float> out) {
        calls++;
        for (size_t r = 0; r < rows.rows(); r++) out(r, 0) = rows(r, 0) + rows(r, 1);
      },
      4);
  const Matrix x = some_rows(10, 2);
  const Matrix y = outputs_of(*made, x, 7);
  EXPECT_EQ(calls, 3U);
  for (size_t r = 0; r < 10; r++) EXPECT_EQ(y(r, 0), x(r, 0) + x(r, 1));
  EXPECT_EQ(made->differentiable(), nullptr);
  EXPECT_EQ(made->affine_entry(), nullptr);
}

}  // namespace
}  // namespace assay::testing
