#include "assay/model/train/step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "assay/model/train/networks.h"
#include "tests/model/train/made_data.h"

namespace assay {
namespace {

using Rows = std::vector<std::vector<double>>;

std::vector<uint32_t> first_rows(size_t count) {
  std::vector<uint32_t> chosen(count);
  std::iota(chosen.begin(), chosen.end(), 0u);
  return chosen;
}

Context on_threads(unsigned threads) {
  Context context;
  context.threads = threads;
  return context;
}

// A network d - h - c with leaky ReLUs, its loss and gradient written out in float64.
struct HandMlp {
  size_t d, h, c;
  double slope = 0.01;
  std::vector<double> w1, b1, w2, b2;  // [h][d], [h], [c][h], [c]

  HandMlp(const Parameters& parameters, size_t features, size_t hidden, size_t classes)
      : d(features), h(hidden), c(classes) {
    const auto take = [&](size_t i) {
      const ParameterPlace& place = parameters.places()[i];
      const auto values = parameters.values().subspan(place.first, place.count);
      return std::vector<double>(values.begin(), values.end());
    };
    w1 = take(0);
    b1 = take(1);
    w2 = take(2);
    b2 = take(3);
  }

  // The weighted mean loss; gradients of w1, b1, w2, b2 one after the other.
  double loss_and_gradient(const Rows& rows, const std::vector<size_t>& labels, const std::vector<double>& weights,
                           std::vector<double>& gradient) const {
    gradient.assign(w1.size() + b1.size() + w2.size() + b2.size(), 0);
    double* g1 = gradient.data();
    double* gb1 = g1 + w1.size();
    double* g2 = gb1 + b1.size();
    double* gb2 = g2 + w2.size();
    double total = 0, weight_sum = 0;
    for (const size_t label : labels) weight_sum += weights[label];
    for (size_t i = 0; i < rows.size(); ++i) {
      std::vector<double> before(h), after(h), z(c);
      for (size_t j = 0; j < h; ++j) {
        before[j] = b1[j];
        for (size_t k = 0; k < d; ++k) before[j] += w1[j * d + k] * rows[i][k];
        after[j] = before[j] > 0 ? before[j] : slope * before[j];
      }
      double sum = 0;
      for (size_t o = 0; o < c; ++o) {
        z[o] = b2[o];
        for (size_t j = 0; j < h; ++j) z[o] += w2[o * h + j] * after[j];
        sum += std::exp(z[o]);
      }
      const double weight = weights[labels[i]] / weight_sum;
      total -= weight * std::log(std::exp(z[labels[i]]) / sum);
      for (size_t o = 0; o < c; ++o) {
        const double delta = weight * (std::exp(z[o]) / sum - (o == labels[i] ? 1 : 0));
        gb2[o] += delta;
        for (size_t j = 0; j < h; ++j) {
          g2[o * h + j] += delta * after[j];
          const double back = delta * w2[o * h + j] * (before[j] > 0 ? 1 : slope);
          gb1[j] += back;
          for (size_t k = 0; k < d; ++k) g1[j * d + k] += back * rows[i][k];
        }
      }
    }
    return total;
  }
};

// The parameters' own elements, without the zeros between them.
std::vector<double> packed(const Parameters& parameters, std::span<const float> flat) {
  std::vector<double> out;
  for (const ParameterPlace& place : parameters.places()) {
    const auto part = flat.subspan(place.first, place.count);
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

TEST(TrainingStep, AgreesWithAComputationByHand) {
  MlpOptions options;
  options.hidden = {5};
  const OnnxModel network = mlp_network(options, 3, 2, true, 4);
  const Dataset data = circle(6, 3, 1);
  Parameters parameters(network);
  const HandMlp hand(parameters, 3, 5, 2);
  const std::vector<double> start = packed(parameters, parameters.values());
  const std::vector<double> weights = {0.75, 2};
  InputScaling scaling;
  scaling.shift = {0.5f, -1, 0.25f};
  scaling.factor = {2, 0.5f, 1};
  TrainingStep step(network, parameters, 6, {Loss::cross_entropy, weights}, {}, scaling, on_threads(1));

  // Five of the six rows: the block of six is not full.
  const std::vector<uint32_t> chosen = {4, 0, 3, 5, 1};
  Rows rows;
  std::vector<size_t> labels;
  double weight_sum = 0;
  for (const uint32_t i : chosen) {
    auto& row = rows.emplace_back();
    for (size_t j = 0; j < 3; ++j) row.push_back((data.x(i, j) - scaling.shift[j]) * scaling.factor[j]);
    labels.push_back(static_cast<size_t>(data.labels[i]));
    weight_sum += weights[labels.back()];
  }
  ASSERT_GT(std::ranges::count(labels, 0u), 0);
  ASSERT_GT(std::ranges::count(labels, 1u), 0);
  std::vector<double> gradient;
  const double loss = hand.loss_and_gradient(rows, labels, weights, gradient);
  const LossSum sum = step.run({data.x.view(), data.labels}, chosen, 0.01);

  EXPECT_EQ(step.block_rows(), 6u);
  EXPECT_NEAR(sum.mean(), loss, 1e-6);
  EXPECT_DOUBLE_EQ(sum.weight, weight_sum);
  EXPECT_EQ(sum.rows, 5u);
  const auto found = packed(parameters, step.gradient());
  const auto after = packed(parameters, parameters.values());
  ASSERT_EQ(found.size(), gradient.size());
  for (size_t i = 0; i < gradient.size(); ++i) {
    EXPECT_NEAR(found[i], gradient[i], 1e-6) << i;
    // Adam's first step is the rate times g / (|g| + epsilon).
    EXPECT_NEAR(after[i], start[i] - 0.01 * found[i] / (std::abs(found[i]) + 1e-8), 1e-6) << i;
  }
}

TEST(TrainingStep, SquaredErrorGoesDownItsGradient) {
  MlpOptions options;
  options.hidden = {};
  const OnnxModel network = mlp_network(options, 2, 1, false, 4);
  const Dataset data = curve(4, 1);
  Parameters parameters(network);
  const auto start = packed(parameters, parameters.values());  // w0, w1, b
  TrainingStep step(network, parameters, 4, {Loss::squared_error}, {}, {}, on_threads(1));
  const LossSum sum = step.run({data.x.view(), data.labels}, first_rows(4), 0.001);
  double loss = 0;
  std::vector<double> gradient(3);
  for (size_t i = 0; i < 4; ++i) {
    const double gap = start[0] * data.x(i, 0) + start[1] * data.x(i, 1) + start[2] - data.labels[i];
    loss += gap * gap / 4;
    gradient[0] += 2 * gap * data.x(i, 0) / 4;
    gradient[1] += 2 * gap * data.x(i, 1) / 4;
    gradient[2] += 2 * gap / 4;
  }
  EXPECT_NEAR(sum.mean(), loss, 1e-5 * loss);
  const auto found = packed(parameters, step.gradient());
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(found[i], gradient[i], 1e-4 * std::abs(gradient[i])) << i;
}

// 144-300-2 at batch 64: enough work for several blocks.
struct BlocksCase {
  MlpOptions options;
  OnnxModel network;
  Dataset data = stripes(100, 2);
  BlocksCase() {
    options.hidden = {300};
    network = mlp_network(options, 144, 2, true, 4);
  }
};

TEST(TrainingStep, BlocksAddUpToTheBatch) {
  const BlocksCase made;
  Parameters parameters(made.network);
  const HandMlp hand(parameters, 144, 300, 2);
  TrainingStep step(made.network, parameters, 64, {}, {}, pixel_scaling(made.data), on_threads(2));
  ASSERT_LT(step.block_rows(), 32u);
  // The last block is not full.
  const size_t count = 2 * step.block_rows() + 3;
  ASSERT_LE(count, 64u);
  Rows rows;
  std::vector<size_t> labels;
  for (size_t i = 0; i < count; ++i) {
    auto& row = rows.emplace_back();
    for (const float value : made.data.x.row(i)) row.push_back(value / 255.0);
    labels.push_back(static_cast<size_t>(made.data.labels[i]));
  }
  std::vector<double> gradient;
  const double loss = hand.loss_and_gradient(rows, labels, {1, 1}, gradient);
  const LossSum sum = step.run({made.data.x.view(), made.data.labels}, first_rows(count), 0.001);
  EXPECT_NEAR(sum.mean(), loss, 1e-5);
  EXPECT_EQ(sum.rows, count);
  const auto found = packed(parameters, step.gradient());
  double largest = 0;
  for (size_t i = 0; i < gradient.size(); ++i) largest = std::max(largest, std::abs(found[i] - gradient[i]));
  EXPECT_LT(largest, 1e-6);
}

TEST(TrainingStep, BitsDoNotDependOnThreads) {
  const BlocksCase made;
  std::vector<std::vector<double>> ends;
  for (const unsigned threads : {1u, 2u, 7u}) {
    Parameters parameters(made.network);
    TrainingStep step(made.network, parameters, 64, {}, {}, pixel_scaling(made.data), on_threads(threads));
    for (int i = 0; i < 5; ++i) step.run({made.data.x.view(), made.data.labels}, first_rows(64), 0.001);
    step.run({made.data.x.view(), made.data.labels}, first_rows(37), 0.001);
    ends.push_back(packed(parameters, parameters.values()));
  }
  EXPECT_EQ(ends[0], ends[1]);
  EXPECT_EQ(ends[0], ends[2]);
}

// A step must not see what the step before left behind.
TEST(TrainingStep, RowsOfZerosLeaveNoTrace) {
  const OnnxModel network = mlp_network({}, 3, 2, true, 4);
  const Dataset data = circle(40, 3, 1);
  std::vector<std::vector<float>> gradients;
  for (const bool before : {false, true}) {
    Parameters parameters(network);
    TrainingStep step(network, parameters, 32, {}, {}, {}, on_threads(1));
    if (before) step.run({data.x.view(), data.labels}, first_rows(32), 0);
    step.run({data.x.view(), data.labels}, first_rows(3), 0);
    gradients.emplace_back(step.gradient().begin(), step.gradient().end());
  }
  EXPECT_EQ(gradients[0], gradients[1]);
}

TEST(Evaluator, AgreesWithTheLossOfAStep) {
  const BlocksCase made;
  const InputScaling scaling = pixel_scaling(made.data);
  const LossOptions loss{Loss::cross_entropy, {1, 3}};
  Parameters parameters(made.network);
  std::vector<LossSum> sums;
  for (const unsigned threads : {1u, 2u, 7u}) {
    Evaluator evaluator(made.network, parameters, loss, scaling, on_threads(threads));
    sums.push_back(evaluator.run({made.data.x.view(), made.data.labels}));
    EXPECT_EQ(evaluator.outputs(), 2u);
  }
  EXPECT_EQ(sums[0].total, sums[1].total);
  EXPECT_EQ(sums[0].total, sums[2].total);
  EXPECT_EQ(sums[0].rows, 100u);
  EXPECT_LE(sums[0].correct, 100u);
  TrainingStep step(made.network, parameters, 100, loss, {}, scaling, on_threads(1));
  EXPECT_NEAR(step.run({made.data.x.view(), made.data.labels}, first_rows(100), 0).mean(), sums[0].mean(), 1e-6);
}

TEST(WorkPerRow, CountsMultiplications) {
  EXPECT_EQ(work_per_row(mlp_network({}, 14, 2, true, 1)), 14 * 40 + 40 * 2);
  EXPECT_EQ(work_per_row(cnn_network({}, {28, 28}, 10, true, 1)),
            25 * 32 * 24 * 24 + 25 * 32 * 64 * 8 * 8 + 64 * 4 * 4 * 10);
}

TEST(Parameters, ComeBackAsTheyWere) {
  OnnxModel network = mlp_network({}, 3, 2, true, 4);
  const OnnxModel before = network;
  Parameters parameters(network);
  parameters.store(network);
  EXPECT_EQ(network, before);
  parameters.values()[parameters.places()[1].first + 2] = 42;
  parameters.store(network);
  EXPECT_EQ(to_floats("test", network.graph.initializers[1])[2], 42);
  EXPECT_EQ(network.graph.initializers[0], before.graph.initializers[0]);
}

}  // namespace
}  // namespace assay
