#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "assay/core/random.h"
#include "tests/explain/run_method.h"
#include "tests/message.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string by_rule(const std::string& rule, int64_t steps = 32, double tolerance = 1e-3, int64_t most_steps = 1024) {
  return fmt::format("integrated_gradients:rule={}:steps={}:most_steps={}:tolerance={}", rule, steps, most_steps,
                     tolerance);
}

double sum_of(std::span<const float> values) {
  double sum = 0;
  for (const float each : values) sum += each;
  return sum;
}

// output - base of a row, base being the mean over the reference rows
double change_of(const Setting& setting, size_t row) {
  const auto value = [&](MatrixView<const float> rows) {
    Matrix outputs(rows.rows(), setting.model->info().outputs());
    setting.model->predict(rows, outputs.view(), {});
    const OutputTerm& term = setting.targets.term(row);
    double sum = 0;
    for (size_t r = 0; r < rows.rows(); r++) sum += static_cast<double>(term.scale) * outputs(r, term.output);
    return sum / static_cast<double>(rows.rows());
  };
  return value(setting.rows.view().rows_between(row, row + 1)) - value(setting.reference.rows.view());
}

void expect_values(const Setting& setting, const std::string& method, const std::vector<std::vector<double>>& expected,
                   double tolerance) {
  const Result found = explained(method, setting);
  for (size_t r = 0; r < expected.size(); r++) {
    for (size_t c = 0; c < expected[r].size(); c++) {
      EXPECT_NEAR(found.values(r, c), expected[r][c], tolerance * std::max(1.0, std::abs(expected[r][c])));
    }
  }
}

// On a straight path from r to x: linear w (x - r); each term of a sum of functions of one feature its own difference;
// x1 x2 gives (x1 - r1)(x2 + r2) / 2, as Shapley values do.
TEST(IntegratedGradients, SmoothToysAreExact) {
  for (const Toy& toy : {linear_toy(), product_toy()}) {
    SCOPED_TRACE(toy.name);
    for (const char* rule : {"auto", "gauss_legendre", "trapezoid", "middle"}) {
      expect_values(setting_of(toy), by_rule(rule), toy.shapley, 1e-6);
    }
  }
  Toy positive = additive_toy();
  positive.rows = {{3, 1, 2}};  // |x3| without its kink
  expect_values(setting_of(positive), by_rule("gauss_legendre"), {{8, 1.718281828459045, 1}}, 1e-6);
}

// f = 1 - relu(1 - x) at 2 from 0: the gradient is 0, integrated gradients give the whole rise of 1 (Sundararajan et
// al.).
TEST(IntegratedGradients, SeesBehindSaturation) {
  expect_values(setting_of(saturated_toy()), by_rule("auto"), {{1, 0}}, 1e-6);
  EXPECT_THAT(explained(by_rule("auto"), setting_of(saturated_toy())).out.notes, ElementsAre(HasSubstr("exact")));
  expect_values(setting_of(saturated_toy()), by_rule("gauss_legendre"), {{1, 0}}, 1e-3);
}

// min(x1, x2): the smaller one moves it all the way; xor and and: slope 1 (and -2) beyond the middle of the path.
TEST(IntegratedGradients, PiecewiseLinearToys) {
  for (const char* rule : {"auto", "gauss_legendre", "middle"}) {
    SCOPED_TRACE(rule);
    expect_values(setting_of(min_toy()), by_rule(rule), {{0, 6}, {3, 0}}, 2e-3);
    expect_values(setting_of(and_toy()), by_rule(rule), {{0.5, 0.5}, {0, 0}}, 2e-3);
    expect_values(setting_of(xor_toy()), by_rule(rule), {{0, 0}, {1, 0}, {0, 1}}, 2e-3);
  }
}

std::shared_ptr<const Model> square() {
  return EngineModel::from_onnx("square",
                                model({node("Mul", {"x", "x"}, {"y"})}, {value("x", {-1, 1})}, {value("y", {-1, 1})}));
}

// x^2 from 0 to 3: left sums give 9 (n - 1) / n, right ones 9 (n + 1) / n, middle and trapezoid 9.
TEST(IntegratedGradients, FixedStepsAreTheRule) {
  const Setting setting = setting_of(square(), matrix_of({{3}}), matrix_of({{0}}));
  expect_values(setting, by_rule("left", 5, 0), {{9 * 4 / 5.0}}, 1e-6);
  expect_values(setting, by_rule("right", 5, 0), {{9 * 6 / 5.0}}, 1e-6);
  expect_values(setting, by_rule("middle", 5, 0), {{9}}, 1e-6);
  expect_values(setting, by_rule("trapezoid", 5, 0), {{9}}, 1e-6);
  expect_values(setting, by_rule("gauss_legendre", 1, 0), {{9}}, 1e-6);
  // More points than one call of the model takes.
  expect_values(setting, by_rule("left", 40000, 0), {{9 * 39999 / 40000.0}}, 1e-6);
  EXPECT_EQ(explained(by_rule("left", 7, 0), setting).out.evaluations, 7U);
}

// The relative gap of left sums is 1 / n: 32 doubled to 1024 points is the first at or below 0.001.
TEST(IntegratedGradients, StepsGrowUntilComplete) {
  const Setting setting = setting_of(square(), matrix_of({{3}, {0}}), matrix_of({{0}}));
  const Result found = explained(by_rule("left"), setting);
  EXPECT_NEAR(found.values(0, 0), 9 * 1023 / 1024.0, 1e-5);
  EXPECT_EQ(found.values(1, 0), 0);
  // Both rows, the reference, and 32 + 64 + ... + 1024 points of the first row, 32 of the second.
  EXPECT_EQ(found.out.evaluations, 3U + 2016 + 32);
  EXPECT_THAT(found.out.notes, IsEmpty());
}

TEST(IntegratedGradients, RowsThatDoNotGetThereAreCounted) {
  const Setting setting = setting_of(square(), matrix_of({{30}, {0}, {-2}}), matrix_of({{0}}));
  const Result found = explained(by_rule("left", 32, 1e-3, 100), setting);
  EXPECT_NEAR(found.values(0, 0), 900 * 99 / 100.0, 1e-3);
  EXPECT_THAT(found.out.notes, ElementsAre("2 of 3 rows have a completeness gap above 0.001 of the change in output "
                                           "after 100 steps; the largest is 0.01"));
}

// (x - 1)^2 from 0 to 2 changes nothing: the left sums are 2 * (mean of 2 (x_k - 1)) = -4 / n, all of it gap, and no
// share of a change.
TEST(IntegratedGradients, GapsWithoutAChangeAreReportedAsTheyAre) {
  const std::shared_ptr<const Model> bowl =
      EngineModel::from_onnx("bowl", model({node("Sub", {"x", "one"}, {"d"}), node("Mul", {"d", "d"}, {"y"})},
                                           {value("x", {-1, 1})}, {value("y", {-1, 1})}, {floats("one", {1}, {1})}));
  const Result flat = explained(by_rule("left", 32, 1e-3, 100), setting_of(bowl, matrix_of({{2}}), matrix_of({{0}})));
  EXPECT_NEAR(flat.values(0, 0), -0.04, 1e-6);
  EXPECT_THAT(flat.out.notes, ElementsAre("1 of 1 rows have a completeness gap above 0.001 of the change in output "
                                          "after 100 steps; where the output does not change the largest gap is 0.04"));
  // From 0 to 3: 3 * (mean of 2 (x_k - 1)) = 3 (1 - 3 / n), 0.09 below the change of 3.
  const Result both =
      explained(by_rule("left", 32, 1e-3, 100), setting_of(bowl, matrix_of({{2}, {3}}), matrix_of({{0}})));
  EXPECT_THAT(both.out.notes, ElementsAre("2 of 2 rows have a completeness gap above 0.001 of the change in output "
                                          "after 100 steps; the largest is 0.03; where the output does not change "
                                          "the largest gap is 0.04"));
}

// y = 2 x^2 - 1 from 0 to 1 goes from -1 to 1. Left sums fall short by 2 / n; rounding may explain 16 * 2^-23 * (the
// larger of |output| and |base|, 1, and the sum of values, 2) = 5.7e-6. So 250,000 points (8e-6) are not enough and
// 500,000 are, for class 0 (scale -1) as for class 1.
TEST(IntegratedGradients, WhatRoundingExplainsIsTheSameForBothClasses) {
  const std::shared_ptr<const Model> wide = EngineModel::from_onnx(
      "wide",
      model({node("Mul", {"x", "x"}, {"xx"}), node("Mul", {"xx", "two"}, {"s"}), node("Sub", {"s", "one"}, {"y"})},
            {value("x", {-1, 1})}, {value("y", {-1, 1})}, {floats("two", {1}, {2}), floats("one", {1}, {1})}));
  Setting setting = setting_of(wide, matrix_of({{1}}), matrix_of({{0}}));
  for (const float scale : {1.0F, -1.0F}) {
    setting.targets.terms = {{.output = 0, .scale = scale}};
    const Result found = explained(by_rule("left", 250'000, 1e-9, 1'000'000), setting);
    EXPECT_EQ(found.out.evaluations, 2U + 250'000 + 500'000) << scale;
    EXPECT_THAT(found.out.notes, IsEmpty());
  }
}

TEST(IntegratedGradients, CompleteOnFixtures) {
  for (const char* name :
       {"torch_mlp_script", "sklearn_mlp", "torch_attention_script", "torch_cnn_script", "sklearn_mlp_binary"}) {
    SCOPED_TRACE(name);
    const Setting setting = fixture_setting(name, "predicted");
    const Result found = explained(by_rule("gauss_legendre"), setting);
    size_t above = 0;
    for (size_t r = 0; r < setting.rows.rows(); r++) {
      const double change = change_of(setting, r);
      const double gap = std::abs(change - sum_of(found.values.row(r)));
      double size = 0;
      for (const float each : found.values.row(r)) size += std::abs(each);
      // Where kinks leave a row above the tolerance it is noted, and near it.
      EXPECT_LE(gap, 1e-3 * size + 1e-5);
      above += gap > 1.01e-3 * std::abs(change) + 1e-4 ? 1 : 0;
    }
    EXPECT_EQ(above > 0 && found.out.notes.empty(), false);
  }
}

// One hidden layer with everything that the closed form needs, and gradients of its own to integrate numerically.
class LeakyNetwork final : public Model, public Differentiable, public AffineEntry {
 public:
  LeakyNetwork(size_t features, size_t hidden, size_t outputs, float slope, uint64_t seed)
      : weights_(features, hidden), bias_(hidden), tail_(hidden, outputs), tail_bias_(outputs), slope_(slope) {
    RandomStream stream(seed, "leaky network");
    for (float& each : weights_.values()) each = static_cast<float>(stream.normal());
    for (float& each : bias_) each = static_cast<float>(stream.normal());
    for (float& each : tail_.values()) each = static_cast<float>(stream.normal());
    info_.name = "leaky";
    for (size_t c = 0; c < features; c++) info_.feature_names.push_back("x" + std::to_string(c));
    for (size_t c = 0; c < outputs; c++) info_.output_names.push_back("y" + std::to_string(c));
  }

  const ModelInfo& info() const override { return info_; }
  const Differentiable* differentiable() const override { return this; }
  const AffineEntry* affine_entry() const override { return this; }
  MatrixView<const float> weights() const override { return weights_.view(); }
  std::span<const float> bias() const override { return bias_; }
  std::optional<LeakyTail> leaky_tail() const override { return LeakyTail{slope_, tail_.view(), tail_bias_}; }
  void predict_from(MatrixView<const float>, MatrixView<float>, const Context&) const override { FAIL(); }

  void predict(MatrixView<const float> rows, MatrixView<float> outputs, const Context&) const override {
    for (size_t r = 0; r < rows.rows(); r++) {
      for (size_t c = 0; c < outputs.cols(); c++) {
        double sum = 0;
        for (size_t j = 0; j < bias_.size(); j++) {
          const double z = entry(rows.row(r), j);
          sum += tail_(j, c) * (z > 0 ? z : slope_ * z);
        }
        outputs(r, c) = static_cast<float>(sum);
      }
    }
  }

  void gradient(MatrixView<const float> rows, MatrixView<const float> weights, MatrixView<float> gradients,
                MatrixView<float>, const Context&) const override {
    for (size_t r = 0; r < rows.rows(); r++) {
      std::vector<double> sums(rows.cols());
      for (size_t j = 0; j < bias_.size(); j++) {
        double seed = 0;
        for (size_t c = 0; c < weights.cols(); c++) seed += static_cast<double>(weights(r, c)) * tail_(j, c);
        if (!(entry(rows.row(r), j) > 0)) seed *= slope_;
        for (size_t i = 0; i < sums.size(); i++) sums[i] += seed * weights_(i, j);
      }
      std::copy(sums.begin(), sums.end(), gradients.row(r).begin());
    }
  }

 private:
  double entry(std::span<const float> row, size_t j) const {
    double z = bias_[j];
    for (size_t i = 0; i < row.size(); i++) z += static_cast<double>(row[i]) * weights_(i, j);
    return z;
  }

  ModelInfo info_;
  Matrix weights_;
  std::vector<float> bias_;
  Matrix tail_;
  std::vector<float> tail_bias_;
  float slope_;
};

Matrix normal_rows(size_t rows, size_t columns, uint64_t seed) {
  Matrix made(rows, columns);
  RandomStream stream(seed, "normal rows");
  for (float& each : made.values()) each = static_cast<float>(stream.normal());
  return made;
}

// Every row its own output, in turn; half of them with the scale of a class 0.
Setting leaky_setting(size_t features, size_t hidden, float slope, size_t rows, size_t references) {
  auto network = std::make_shared<LeakyNetwork>(features, hidden, 3, slope, hidden);
  Setting setting = setting_of(network, normal_rows(rows, features, 1), normal_rows(references, features, 2), "0");
  setting.targets.names = {"a", "b", "c"};
  setting.targets.terms = {{.output = 0}, {.output = 1, .scale = -1}, {.output = 2, .scale = 0.5F, .offset = 3}};
  for (size_t r = 0; r < rows; r++) setting.targets.of_row[r] = static_cast<uint32_t>(r % 3);
  return setting;
}

TEST(IntegratedGradients, TheClosedFormIsTheIntegral) {
  for (const float slope : {0.0F, 0.01F, 0.3F, 1.0F}) {
    for (const size_t hidden : {size_t{1}, size_t{5}, size_t{19}}) {
      const Setting setting = leaky_setting(6, hidden, slope, 9, 1);
      const Result exact = explained(by_rule("exact"), setting);
      EXPECT_THAT(exact.out.notes, ElementsAre(HasSubstr("exact")));
      EXPECT_EQ(exact.out.evaluations, 9U + 1);
      const Result fine = explained(by_rule("middle", 30000, 0), setting, on_threads(1));
      for (size_t r = 0; r < 9; r++) {
        for (size_t c = 0; c < 6; c++) {
          EXPECT_NEAR(exact.values(r, c), fine.values(r, c), 1e-3 * std::max(1.0F, std::abs(fine.values(r, c))))
              << slope << " " << hidden;
        }
        double size = 0;
        for (const float each : exact.values.row(r)) size += std::abs(each);
        EXPECT_NEAR(sum_of(exact.values.row(r)), change_of(setting, r), 1e-5 * std::max(1.0, size));
      }
    }
  }
}

// One ReLU, by hand: z goes from -1 to 3, so three quarters of the path have slope 1: phi = 0.75 w (x - r).
TEST(IntegratedGradients, TheClosedFormByHand) {
  class OneUnit final : public Model, public AffineEntry {
   public:
    OneUnit() {
      info_.name = "one unit";
      info_.feature_names = {"a", "b"};
      info_.output_names = {"y"};
    }
    const ModelInfo& info() const override { return info_; }
    const AffineEntry* affine_entry() const override { return this; }
    MatrixView<const float> weights() const override { return weights_.view(); }
    std::span<const float> bias() const override { return bias_; }
    std::optional<LeakyTail> leaky_tail() const override { return LeakyTail{0, tail_.view(), tail_bias_}; }
    void predict_from(MatrixView<const float>, MatrixView<float>, const Context&) const override {}
    void predict(MatrixView<const float>, MatrixView<float>, const Context&) const override {}

   private:
    ModelInfo info_;
    Matrix weights_ = matrix_of({{1}, {-2}});
    std::vector<float> bias_ = {-1};
    Matrix tail_ = matrix_of({{10}});
    std::vector<float> tail_bias_ = {0};
  };
  // z = a - 2 b - 1: from (0, 0) to (2, -1), then to itself at z > 0 and at z < 0, then from -1 to -3.
  const auto unit = std::make_shared<OneUnit>();
  const Setting setting = setting_of(unit, matrix_of({{2, -1}, {0, 0}, {0, 1}}), matrix_of({{0, 0}}));
  const Result found = explained(by_rule("auto"), setting);
  EXPECT_FLOAT_EQ(found.values(0, 0), 0.75F * 10 * 2);
  EXPECT_FLOAT_EQ(found.values(0, 1), 0.75F * -20 * -1);
  EXPECT_EQ(found.values(1, 0), 0);
  EXPECT_EQ(found.values(2, 1), 0);
}

// (row, reference) pairs one at a time, and their mean and spread.
void expect_background_is_the_mean(const std::string& method, Setting setting, double tolerance) {
  const Result all = explained(method, setting);
  const size_t references = setting.reference.rows.rows();
  const size_t players = setting.players.size();
  ASSERT_EQ(all.out.background_error.rows(), setting.rows.rows());
  const Matrix background = setting.reference.rows;
  std::vector<Result> single;
  for (size_t b = 0; b < references; b++) {
    setting.reference.rows = Matrix(1, background.cols());
    std::copy_n(background.row(b).data(), background.cols(), setting.reference.rows.data());
    single.push_back(explained(method, setting));
    EXPECT_TRUE(single.back().out.background_error.empty());
  }
  const auto count = static_cast<double>(references);
  for (size_t r = 0; r < setting.rows.rows(); r++) {
    for (size_t p = 0; p < players; p++) {
      double mean = 0;
      double squares = 0;
      for (const Result& each : single) mean += each.values(r, p) / count;
      for (const Result& each : single) squares += std::pow(each.values(r, p) - mean, 2);
      EXPECT_NEAR(all.values(r, p), mean, tolerance * std::max(1.0, std::abs(mean)));
      const double error = std::sqrt(squares / count / (count - 1));
      EXPECT_NEAR(all.out.background_error(r, p), error, tolerance * std::max(1.0, error));
    }
  }
}

TEST(IntegratedGradients, ABackgroundGivesTheMean) {
  Setting leaky = leaky_setting(6, 7, 0.1F, 5, 4);
  expect_background_is_the_mean(by_rule("exact"), leaky, 1e-5);
  expect_background_is_the_mean(by_rule("gauss_legendre", 20, 0), leaky, 1e-5);
  leaky.players = players_of({0, 1, 1, 2, 0, 2}, 3);
  expect_background_is_the_mean(by_rule("exact"), leaky, 1e-5);
  expect_background_is_the_mean(by_rule("trapezoid", 20, 0), leaky, 1e-5);
}

// Paths are judged by the mean change over the background, so that the row's own gap is below the tolerance.
TEST(IntegratedGradients, WithABackgroundRowsAreComplete) {
  const Setting setting = leaky_setting(6, 7, 0.1F, 40, 5);
  const Result found = explained(by_rule("gauss_legendre", 8, 5e-3, 4096), setting);
  EXPECT_THAT(found.out.notes, IsEmpty());
  for (size_t r = 0; r < 40; r++) {
    const OutputTerm& term = setting.targets.term(r);
    Matrix at_row(1, 3);
    Matrix at_references(5, 3);
    setting.model->predict(setting.rows.view().rows_between(r, r + 1), at_row.view(), {});
    setting.model->predict(setting.reference.rows.view(), at_references.view(), {});
    double size = 0;
    for (size_t b = 0; b < 5; b++) {
      size += std::abs(term.scale * (at_row(0, term.output) - at_references(b, term.output))) / 5;
    }
    EXPECT_LE(std::abs(change_of(setting, r) - sum_of(found.values.row(r))), 5e-3 * size + 1e-4);
  }
}

TEST(IntegratedGradients, GroupsGetTheSumOfTheirColumns) {
  Setting setting = leaky_setting(6, 7, 0.1F, 5, 1);
  for (const char* rule : {"exact", "gauss_legendre"}) {
    setting.players = column_players(setting.model->info().feature_names);
    const Result columns = explained(by_rule(rule), setting);
    setting.players = players_of({0, 1, 1, 2, 0, 2}, 3);
    const Result groups = explained(by_rule(rule), setting);
    for (size_t r = 0; r < 5; r++) {
      EXPECT_NEAR(groups.values(r, 0), columns.values(r, 0) + columns.values(r, 4), 1e-5);
      EXPECT_NEAR(groups.values(r, 1), columns.values(r, 1) + columns.values(r, 2), 1e-5);
    }
  }
}

TEST(IntegratedGradients, BitsDoNotDependOnThreadsOrPartition) {
  const Setting fixture = fixture_setting("torch_mlp_script", "predicted");
  expect_same_bits_everywhere(by_rule("gauss_legendre"), fixture);
  expect_same_bits_everywhere(by_rule("auto"), fixture);
  const Setting leaky = leaky_setting(6, 21, 0.1F, 600, 2);
  expect_same_bits_everywhere(by_rule("exact"), leaky);
  expect_same_bits_everywhere(by_rule("left", 4, 1e-2, 16), leaky);
}

TEST(IntegratedGradients, RefusesBeforehand) {
  const std::string no_gradient = refusal_of(by_rule("auto"), fixture_setting("sklearn_forest")).value_or("");
  EXPECT_THAT(no_gradient, HasSubstr("needs a gradient"));
  EXPECT_THAT(refusal_of(by_rule("exact"), setting_of(product_toy())).value_or(""),
              HasSubstr("one hidden layer of (leaky) ReLUs, and product is none"));
  Setting setting = leaky_setting(6, 7, 0.1F, 5, 1);
  setting.targets.information = true;
  EXPECT_THAT(refusal_of(by_rule("exact"), setting).value_or(""), HasSubstr("the information form"));
  EXPECT_THAT(sentence([] { make_method(by_rule("trapezoid", 1)); }), HasSubstr("at least 2 steps"));
}

}  // namespace
}  // namespace assay::testing
