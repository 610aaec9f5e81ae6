#include "assay/explain/games/value_function.h"

#include <gtest/gtest.h>

#include <cmath>

#include "assay/explain/games/game.h"
#include "tests/explain/games/game_tasks.h"

namespace assay {
namespace {

using testing::node;
using testing::games::dense_network;
using testing::games::outputs_by_hand;
using testing::games::OwnTask;
using testing::games::random_coalitions;
using testing::games::random_task;
using testing::games::values_of;

// A model whose outputs are its features, in this unit.
std::unique_ptr<Model> identity_model(size_t outputs, OutputUnit unit) {
  ModelInfo info;
  info.unit = unit;
  for (size_t c = 0; c < outputs; c++) {
    info.feature_names.push_back("x" + std::to_string(c));
    info.output_names.push_back("y" + std::to_string(c));
  }
  info.class_names = outputs == 1 ? std::vector<std::string>{"no", "yes"} : info.output_names;
  return model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> out) {
    for (size_t r = 0; r < rows.rows(); r++) std::copy(rows.row(r).begin(), rows.row(r).end(), out.row(r).begin());
  });
}

Targets information(size_t rows) {
  Targets made;
  made.information = true;
  made.names = {"information"};
  made.of_row.assign(rows, 0);
  return made;
}

// The values of row 0, whose outputs are `row`, for other outputs.
std::vector<float> values_from(OutputUnit unit, const std::vector<float>& row, const std::vector<float>& outputs) {
  const auto model = identity_model(row.size(), unit);
  const Targets targets = information(1);
  const ValueFunction value(*model, {row.data(), 1, row.size()}, targets, {});
  EXPECT_FALSE(value.term(0));
  std::vector<float> values(outputs.size() / row.size());
  value.apply(0, {outputs.data(), values.size(), row.size()}, values);
  return values;
}

TEST(ValueFunction, OneOutputIsScaledAndShifted) {
  const auto model = identity_model(3, OutputUnit::margin);
  Targets targets;
  targets.terms = {{2, -1, 1}, {0, 2, 0}};
  targets.of_row = {1, 0};
  const Matrix rows(2, 3);
  const ValueFunction value(*model, rows.view(), targets, {});
  const std::vector<float> outputs = {1, 2, 3, 4, 5, 6};
  std::vector<float> values(2);
  value.apply(0, {outputs.data(), 2, 3}, values);
  EXPECT_EQ(values, (std::vector<float>{2, 8}));
  value.apply(1, {outputs.data(), 2, 3}, values);
  EXPECT_EQ(values, (std::vector<float>{-2, -5}));
  EXPECT_EQ(value.term(1)->output, 2U);
  // Each row its own: 2 * 1, then 1 - 6; from the second row on 1 - 3 alone.
  std::vector<double> of_rows(2);
  value.apply_to_rows(0, {outputs.data(), 2, 3}, of_rows);
  EXPECT_EQ(of_rows, (std::vector<double>{2, -5}));
  value.apply_to_rows(1, {outputs.data(), 1, 3}, {of_rows.data(), 1});
  EXPECT_EQ(of_rows[0], -2);
}

// P(y | x) = (1, 1) / 2 and (1, 3) / 4; of a row's own outputs the value is -entropy.
TEST(ValueFunction, InformationOfRowsThemselves) {
  const auto model = identity_model(2, OutputUnit::probability);
  const std::vector<float> outputs = {0.5F, 0.5F, 0.25F, 0.75F};
  const Targets targets = information(2);
  const ValueFunction value(*model, {outputs.data(), 2, 2}, targets, {});
  std::vector<double> values(2);
  value.apply_to_rows(0, {outputs.data(), 2, 2}, values);
  EXPECT_NEAR(values[0], -std::log(2.0), 1e-6);
  EXPECT_NEAR(values[1], 0.25 * std::log(0.25) + 0.75 * std::log(0.75), 1e-6);
  value.apply_to_rows(1, {outputs.data(), 1, 2}, {values.data(), 1});
  EXPECT_NEAR(values[0], -std::log(2.0), 1e-6);
}

TEST(ValueFunction, InformationFromMarginsOfSeveralClasses) {
  // P(y | x) = (1, 2, 5) / 8, P(y | x_S) = (2, 1, 1) / 4:
  // v = (1 ln 1/2 + 2 ln 1/4 + 5 ln 1/4) / 8 = -(ln 2 + 14 ln 2) / 8 = -15/8 ln 2.
  const auto ln = [](double x) { return static_cast<float>(std::log(x)); };
  const auto values = values_from(OutputUnit::margin, {ln(1), ln(2), ln(5)}, {ln(2), ln(1), ln(1), 500, 499, -300});
  EXPECT_NEAR(values[0], -15.0 / 8 * std::log(2.0), 1e-6);
  // ln P = (-s, -1 - s, -800 - s) with s = ln(1 + 1/e): nothing overflows.
  const double s = std::log1p(std::exp(-1.0));
  EXPECT_NEAR(values[1], -s - 2.0 / 8 - 5.0 / 8 * 800, 1e-4);
}

TEST(ValueFunction, InformationFromOneMargin) {
  // P(yes | x) = 3/4, P(yes | x_S) = 1/5: v = 3/4 ln 1/5 + 1/4 ln 4/5.
  const auto values = values_from(OutputUnit::margin, {static_cast<float>(std::log(3.0))},
                                  {static_cast<float>(std::log(0.25)), 400, -400});
  EXPECT_NEAR(values[0], 0.75 * std::log(0.2) + 0.25 * std::log(0.8), 1e-6);
  EXPECT_NEAR(values[1], 0.25 * -400, 1e-4);
  EXPECT_NEAR(values[2], 0.75 * -400, 1e-4);
}

TEST(ValueFunction, InformationFromProbabilities) {
  const auto values =
      values_from(OutputUnit::probability, {0.5F, 0.5F, 0}, {0.25F, 0.5F, 0.25F, 0.5F, 0.5F, 0, 1, 0, 0});
  EXPECT_NEAR(values[0], 0.5 * std::log(0.25) + 0.5 * std::log(0.5), 1e-6);
  EXPECT_NEAR(values[1], std::log(0.5), 1e-6);  // 0 ln 0 = 0
  EXPECT_TRUE(std::isnan(values[2]));           // 0.5 ln 0
  const auto one = values_from(OutputUnit::probability, {0.75F}, {0.2F, 0, 1});
  EXPECT_NEAR(one[0], 0.75 * std::log(0.2) + 0.25 * std::log(0.8), 1e-6);
  EXPECT_TRUE(std::isnan(one[1]));
  EXPECT_TRUE(std::isnan(one[2]));
}

TEST(ValueFunction, GamesOfTheInformationForm) {
  // Against log-softmax by hand, from margins and from probabilities of one network, with several references.
  for (const OutputUnit unit : {OutputUnit::margin, OutputUnit::probability}) {
    EngineModelOptions options;
    options.unit = unit;
    OwnTask task =
        random_task(EngineModel::from_onnx("m", dense_network({6, 8, 3}, node("Relu", {}, {}), 2, "Softmax"), options),
                    4, 2, 3, {}, 2);
    task.targets = information(4);
    ASSERT_EQ(task.model->info().unit, unit);
    const Coalitions list = random_coalitions(3, 20, 1);
    Coalitions everybody(3);
    const uint64_t all = 7;
    everybody.add({&all, 1});
    const auto game = make_game(task.view(), {});
    EXPECT_TRUE(game->concurrent());
    const auto plain = make_masked_game(task.view(), {});
    const auto logs = [&](std::vector<float> outputs) {
      std::vector<double> made(outputs.begin(), outputs.end());
      double sum = 0;
      for (const double z : made) sum += unit == OutputUnit::margin ? std::exp(z) : 0;
      for (double& z : made) z = unit == OutputUnit::margin ? z - std::log(sum) : std::log(z);
      return made;
    };
    for (size_t reference = 0; reference < 2; reference++) {
      const Matrix found = values_of(*game, reference, list);
      const Matrix masked = values_of(*plain, reference, list);
      for (size_t r = 0; r < 4; r++) {
        const std::vector<double> at_row = logs(outputs_by_hand(task, r, reference, everybody, 0));
        for (size_t c = 0; c < 20; c++) {
          const std::vector<double> at_set = logs(outputs_by_hand(task, r, reference, list, c));
          double expected = 0;
          for (size_t y = 0; y < 3; y++) expected += std::exp(at_row[y]) * at_set[y];
          EXPECT_NEAR(found(r, c), expected, 1e-5);
          EXPECT_NEAR(masked(r, c), expected, 1e-5);
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay
