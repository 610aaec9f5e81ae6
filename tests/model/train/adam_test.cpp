#include "assay/model/train/adam.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "assay/core/random.h"
#include "assay/core/vector_target.h"

namespace assay {
namespace {

// The formula of the paper, one number at a time, in float64.
struct ScalarAdam {
  double parameter, mean = 0, square = 0;
  int steps = 0;

  void step(double gradient, double rate, const AdamOptions& options) {
    ++steps;
    parameter -= rate * options.weight_decay * parameter;
    mean = options.beta1 * mean + (1 - options.beta1) * gradient;
    square = options.beta2 * square + (1 - options.beta2) * gradient * gradient;
    const double m = mean / (1 - std::pow(options.beta1, steps));
    const double v = square / (1 - std::pow(options.beta2, steps));
    parameter -= rate * m / (std::sqrt(v) + options.epsilon);
  }
};

void expect_like_scalar(const AdamOptions& options, size_t count) {
  RandomStream random(1, "adam_test");
  std::vector<float> parameters(count), gradients(count);
  std::vector<ScalarAdam> expected;
  for (float& each : parameters) {
    each = static_cast<float>(random.normal());
    expected.push_back({each});
  }
  Adam adam(count, options);
  for (int step = 0; step < 500; ++step) {
    const double rate = 0.01 / (1 + step % 7);
    for (size_t i = 0; i < count; ++i) {
      // Scales from 1e-6 to 1e3: the first are where epsilon matters.
      gradients[i] = static_cast<float>((0.3 + random.normal()) * std::pow(10, static_cast<double>(i % 10) - 6));
      expected[i].step(gradients[i], rate, options);
    }
    adam.step(parameters, gradients, rate);
  }
  EXPECT_EQ(adam.steps(), 500u);
  for (size_t i = 0; i < count; ++i) EXPECT_NEAR(parameters[i], expected[i].parameter, 1e-5) << i << " of " << count;
}

// Sizes below, at and beyond multiples of every vector's length.
constexpr size_t kSizes[] = {1, 3, 8, 16, 17, 37, 64};

TEST(Adam, AgreesWithTheFormulaInFloat64) {
  for (const size_t count : kSizes) expect_like_scalar({}, count);
}

TEST(Adam, DecaysWeightsApartFromTheGradient) {
  for (const size_t count : kSizes) expect_like_scalar({.weight_decay = 0.5}, count);
}

TEST(Adam, TakesOtherConstants) { expect_like_scalar({.beta1 = 0.5, .beta2 = 0.9, .epsilon = 1e-3}, 37); }

TEST(Adam, AgreesOnEveryVectorTarget) {
  const std::string best = vector_target();
  for (const auto& target : vector_targets()) {
    pin_vector_target(target);
    expect_like_scalar({}, 37);
  }
  pin_vector_target(best);
}

TEST(Adam, FirstStepIsTheRateAgainstTheSign) {
  std::vector<float> parameters = {1, 1, 1};
  const std::vector<float> gradients = {100, -0.01f, 0};
  Adam(3, {}).step(parameters, gradients, 0.125);
  EXPECT_NEAR(parameters[0], 0.875, 1e-6);
  EXPECT_NEAR(parameters[1], 1.125, 1e-6);
  EXPECT_EQ(parameters[2], 1);
}

// torch.optim.Adam([1.0, -2.0, 0.5], lr=0.1), gradients [0.5, -1 / t, t * t] for t = 1, 2, 3; and AdamW with
// weight_decay=0.1 (PyTorch 2.15).
TEST(Adam, AgreesWithPyTorch) {
  const auto run = [](double decay) {
    std::vector<float> parameters = {1, -2, 0.5f};
    Adam adam(3, {.weight_decay = decay});
    for (int t = 1; t <= 3; ++t) {
      const auto s = static_cast<float>(t);
      adam.step(parameters, std::vector<float>{0.5f, -1 / s, s * s}, 0.1);
    }
    return parameters;
  };
  const auto plain = run(0);
  const std::vector<float> torch_plain = {0.700000048f, -1.71946621f, 0.225019783f};
  const auto decayed = run(0.1);
  const std::vector<float> torch_decayed = {0.673289061f, -1.66298628f, 0.21304366f};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(plain[i], torch_plain[i], 2e-7);
    EXPECT_NEAR(decayed[i], torch_decayed[i], 2e-7);
  }
}

TEST(AddTo, AddsEveryElement) {
  for (const size_t count : kSizes) {
    std::vector<float> total(count), part(count);
    for (size_t i = 0; i < count; ++i) {
      total[i] = static_cast<float>(i);
      part[i] = 0.5f * static_cast<float>(i) + 1;
    }
    add_to(total, part);
    for (size_t i = 0; i < count; ++i) EXPECT_EQ(total[i], 1.5f * static_cast<float>(i) + 1);
  }
}

}  // namespace
}  // namespace assay
