#include "assay/model/train/losses.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "assay/core/random.h"

namespace assay {
namespace {

Matrix random_outputs(size_t rows, size_t cols, double spread) {
  Matrix out(rows, cols);
  RandomStream random(7, "losses_test");
  for (float& value : out.values()) value = static_cast<float>(spread * random.normal());
  return out;
}

// The definition, without care for overflow.
double plain_cross_entropy(const std::vector<double>& z, size_t label, double weight) {
  double sum = 0;
  for (const double each : z) sum += std::exp(each);
  return -weight * std::log(std::exp(z[label]) / sum);
}

TEST(CrossEntropy, EqualsItsDefinition) {
  const Matrix logits = random_outputs(6, 4, 3);
  const std::vector<float> labels = {0, 1, 2, 3, 1, 1};
  const std::vector<double> weights = {0.5, 2, 1, 3};
  double expected = 0;
  for (size_t i = 0; i < logits.rows(); ++i) {
    const auto label = static_cast<size_t>(labels[i]);
    expected += plain_cross_entropy({logits.row(i).begin(), logits.row(i).end()}, label, weights[label]);
  }
  EXPECT_NEAR(cross_entropy(logits.view(), labels, weights, 1, {}), expected, 1e-12 * expected);
}

TEST(CrossEntropy, GradientAgreesWithFiniteDifferences) {
  const Matrix logits = random_outputs(5, 3, 2);
  const std::vector<float> labels = {2, 0, 1, 1, 0};
  const std::vector<double> weights = {1.5, 0.25, 2};
  constexpr double kScale = 0.3;
  constexpr double kStep = 1e-5;
  Matrix gradient(5, 3);
  cross_entropy(logits.view(), labels, weights, kScale, gradient.view());
  for (size_t i = 0; i < logits.rows(); ++i) {
    const auto label = static_cast<size_t>(labels[i]);
    for (size_t c = 0; c < logits.cols(); ++c) {
      std::vector<double> z(logits.row(i).begin(), logits.row(i).end());
      z[c] += kStep;
      const double above = plain_cross_entropy(z, label, weights[label]);
      z[c] -= 2 * kStep;
      const double below = plain_cross_entropy(z, label, weights[label]);
      EXPECT_NEAR(gradient(i, c), kScale * (above - below) / (2 * kStep), 1e-7) << i << ", " << c;
    }
  }
}

TEST(CrossEntropy, NoWeightsAreWeightsOfOne) {
  const Matrix logits = random_outputs(4, 3, 1);
  const std::vector<float> labels = {2, 0, 1, 1};
  const std::vector<double> ones = {1, 1, 1};
  Matrix plain(4, 3), weighted(4, 3);
  EXPECT_EQ(cross_entropy(logits.view(), labels, {}, 1, plain.view()),
            cross_entropy(logits.view(), labels, ones, 1, weighted.view()));
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(plain.values()[i], weighted.values()[i]);
}

TEST(CrossEntropy, LargeMarginsDoNotOverflow) {
  Matrix logits(2, 2);
  logits(0, 0) = 3e4f;
  logits(1, 1) = -3e4f;
  const std::vector<float> labels = {1, 0};
  Matrix gradient(2, 2);
  // exp(-60000) is far below what can be seen beside 1.
  EXPECT_EQ(cross_entropy(logits.view(), labels, {}, 1, gradient.view()), 3e4);
  EXPECT_EQ(gradient(0, 0), 1);
  EXPECT_EQ(gradient(0, 1), -1);
  EXPECT_EQ(gradient(1, 0), 0);
}

TEST(CrossEntropy, TellsOfLogitsThatAreNoNumbers) {
  const std::vector<float> labels = {0};
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (size_t c = 0; c < 2; ++c) {
      Matrix logits(1, 2);
      logits(0, c) = bad;
      EXPECT_FALSE(std::isfinite(cross_entropy(logits.view(), labels, {}, 1, {}))) << bad << " at " << c;
    }
  }
}

TEST(SquaredError, ValueAndGradient) {
  Matrix values(3, 1);
  values(0, 0) = 1;
  values(1, 0) = -2;
  values(2, 0) = 0.5f;
  const std::vector<float> labels = {3, -2, 0};
  Matrix gradient(3, 1);
  EXPECT_EQ(squared_error(values.view(), labels, 0.25, gradient.view()), 4.25);
  EXPECT_EQ(gradient(0, 0), -1);
  EXPECT_EQ(gradient(1, 0), 0);
  EXPECT_EQ(gradient(2, 0), 0.25f);
  EXPECT_EQ(squared_error(values.view(), labels, 0.25, {}), 4.25);
}

TEST(CorrectCount, TakesTheFirstOfEqualOutputs) {
  Matrix outputs(3, 3);
  outputs(0, 2) = 1;                    // 2
  outputs(1, 0) = outputs(1, 1) = 0.5;  // 0
  const std::vector<float> labels = {2, 1, 0};
  EXPECT_EQ(correct_count(outputs.view(), labels), 2u);
}

}  // namespace
}  // namespace assay
