#include "assay/model/graph_inputs.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "assay/data/kept_doubles.h"
#include "assay/model/engine_model.h"
#include "assay/model/trees/booster.h"
#include "tests/message.h"
#include "tests/model/ops/single_node.h"
#include "tests/model/ops/trees.h"
#include "tests/model/small_graph.h"

// How tables become rows of a model: columns by name and kind, texts, and numbers that float32 does not hold.
namespace assay::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Matrix outputs_of(const Model& model, const Matrix& x) {
  Matrix outputs(x.rows(), model.info().outputs());
  model.predict(x.view(), outputs.view(), {});
  return outputs;
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
      HasSubstr("rows.csv: column 'age' is text ('a' in row 1); m.onnx takes numbers there"));
  const auto plain =
      EngineModel::from_onnx("m.onnx", model({node("MatMul", {"x", "w"}, {"y"})}, {value("x", {-1, 4})},
                                             {value("y", {-1, 1})}, {floats("w", {4, 1}, {1, 1, 1, 1})}));
  EXPECT_THAT(sentence([&] { plain->features_of(table_of({{"a"}, {"b"}}, {{0, 1}})); }),
              HasSubstr("rows.csv: m.onnx takes 4 features, found 2 columns"));
}

}  // namespace
}  // namespace assay::testing
