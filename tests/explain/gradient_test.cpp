#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "assay/core/random.h"
#include "tests/explain/run_method.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kPlain = "gradient";

TEST(Gradient, ToysHaveTheirSlopes) {
  size_t checked = 0;
  for (const Toy& toy : all_toys()) {
    if (toy.gradient.empty()) continue;
    SCOPED_TRACE(toy.name);
    const Result found = explained(kPlain, setting_of(toy));
    for (size_t r = 0; r < toy.gradient.size(); r++) {
      for (size_t c = 0; c < toy.gradient[r].size(); c++) {
        EXPECT_NEAR(found.values(r, c), toy.gradient[r][c], 1e-6 * std::max(1.0, std::abs(toy.gradient[r][c])));
      }
    }
    EXPECT_EQ(found.out.evaluations, toy.rows.size());
    EXPECT_TRUE(found.out.standard_error.empty());
    checked++;
  }
  EXPECT_GE(checked, 5U);
}

// Each row its own class, so that a slope of the wrong output would show.
TEST(Gradient, IsTheSlopeOfEachRowsOwnTarget) {
  for (const char* name : {"torch_mlp_script", "torch_activations_script", "sklearn_mlp", "torch_cnn1d_script"}) {
    SCOPED_TRACE(name);
    const Setting setting = fixture_setting(name, "predicted");
    const Result found = explained(kPlain, setting);
    const size_t rows = setting.rows.rows();
    const size_t outputs = setting.model->info().outputs();
    size_t near = 0;
    for (size_t c = 0; c < setting.rows.cols(); c++) {
      Matrix up = setting.rows;
      Matrix down = setting.rows;
      for (size_t r = 0; r < rows; r++) {
        up(r, c) += 2e-3F;
        down(r, c) -= 2e-3F;
      }
      Matrix high(rows, outputs);
      Matrix low(rows, outputs);
      setting.model->predict(up.view(), high.view(), {});
      setting.model->predict(down.view(), low.view(), {});
      for (size_t r = 0; r < rows; r++) {
        const OutputTerm& term = setting.targets.term(r);
        const double rise = static_cast<double>(high(r, term.output)) - low(r, term.output);
        const double slope = term.scale * rise / (static_cast<double>(up(r, c)) - down(r, c));
        near += std::abs(slope - found.values(r, c)) < 1e-2 * (1 + std::abs(slope)) ? 1 : 0;
      }
    }
    // A step may cross the kink of a ReLU.
    EXPECT_GE(near, rows * setting.rows.cols() * 97 / 100);
  }
}

TEST(Gradient, ClassZeroOfOneOutputHasTheOppositeSlope) {
  const auto graph = model({node("MatMul", {"x", "w"}, {"z"}), node("Sigmoid", {"z"}, {"p"})}, {value("x", {-1, 2})},
                           {value("p", {-1, 1})}, {floats("w", {2, 1}, {3, -1})});
  const std::shared_ptr<const Model> made = EngineModel::from_onnx("m.onnx", graph);
  const Result found = explained(kPlain, setting_of(made, matrix_of({{1, 1}}), matrix_of({{0, 0}}), "0"));
  EXPECT_EQ(found.values(0, 0), -3);
  EXPECT_EQ(found.values(0, 1), 1);
}

TEST(Gradient, GivesTheOutputsItMeets) {
  Setting setting = fixture_setting("torch_mlp_script", "predicted");
  const Result found = explained(kPlain, setting);
  Matrix outputs(setting.rows.rows(), setting.model->info().outputs());
  setting.model->predict(setting.rows.view(), outputs.view(), {});
  ASSERT_EQ(found.out.output.size(), setting.rows.rows());
  for (size_t r = 0; r < setting.rows.rows(); r++) {
    const OutputTerm& term = setting.targets.term(r);
    EXPECT_FLOAT_EQ(static_cast<float>(found.out.output[r]), term.scale * outputs(r, term.output) + term.offset);
  }
}

TEST(Gradient, GroupsGetTheSumOfTheirColumns) {
  Setting setting = setting_of(linear_toy());
  setting.players = players_of({1, 0, 1}, 2);
  const Result found = explained(kPlain, setting);
  EXPECT_EQ(found.values(0, 0), -3);
  EXPECT_EQ(found.values(0, 1), 2);
}

TEST(Gradient, AbsoluteIsOfThePlayer) {
  Setting setting = setting_of(linear_toy());
  const std::string absolute = "gradient:absolute=true";
  EXPECT_EQ(explained(absolute, setting).values(0, 1), 3);
  setting.players = players_of({0, 0, 1}, 2);
  EXPECT_EQ(explained(absolute, setting).values(0, 0), 1);  // |2 - 3|
}

// More rows than one call of the model takes.
Setting many_rows() {
  Setting setting = fixture_setting("torch_mlp_script");
  Matrix rows(9001, setting.rows.cols());
  RandomStream stream(3, "gradient test");
  for (float& each : rows.values()) each = static_cast<float>(stream.normal());
  return setting_of(setting.model, std::move(rows), std::move(setting.reference.rows), "predicted");
}

TEST(Gradient, BitsDoNotDependOnThreadsOrPartition) {
  Setting setting = many_rows();
  expect_same_bits_everywhere(kPlain, setting);
  std::vector<uint32_t> halves(setting.rows.cols());
  for (size_t c = 0; c < halves.size(); c++) halves[c] = static_cast<uint32_t>(c % 2);
  setting.players = players_of(halves, 2);
  expect_same_bits_everywhere(kPlain, setting);
}

TEST(Gradient, RefusesBeforehand) {
  const std::optional<std::string> trees = refusal_of(kPlain, fixture_setting("sklearn_forest"));
  ASSERT_TRUE(trees.has_value());
  EXPECT_THAT(*trees, HasSubstr("needs a gradient, and"));
  EXPECT_THAT(*trees, HasSubstr("TreeEnsemble"));
  Setting setting = setting_of(linear_toy());
  setting.targets.information = true;
  EXPECT_THAT(refusal_of(kPlain, setting).value_or(""), HasSubstr("the information form is a value of"));
}

}  // namespace
}  // namespace assay::testing
