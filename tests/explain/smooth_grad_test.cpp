#include <gtest/gtest.h>

#include <cmath>

#include "assay/core/random.h"
#include "tests/explain/run_method.h"

namespace assay::testing {
namespace {

// y = x1^2 + x2^2 + x3^3: slopes 2 x1, 2 x2, 3 x3^2
std::shared_ptr<const Model> powers() {
  return EngineModel::from_onnx(
      "powers",
      model({node("Mul", {"a", "a"}, {"aa"}), node("Mul", {"b", "b"}, {"bb"}), node("Mul", {"c", "c"}, {"cc"}),
             node("Mul", {"cc", "c"}, {"ccc"}), node("Add", {"aa", "bb"}, {"s"}), node("Add", {"s", "ccc"}, {"y"})},
            {value("a", {-1, 1}), value("b", {-1, 1}), value("c", {-1, 1})}, {value("y", {-1, 1})}));
}

Setting powers_setting(std::vector<float> scales) {
  Setting setting = setting_of(powers(), matrix_of({{1, -2, 0.5F}, {4, 0, 1}}), matrix_of({{0, 0, 0}}));
  setting.reference.scales = std::move(scales);
  return setting;
}

struct Moments {
  double mean = 0;
  double error = 0;
};

// Mean of slope(x + deviation * z) over the documented draws, and its standard error.
template <class Slope>
Moments over_draws(uint64_t seed, size_t samples, size_t column, double x, double deviation, const Slope& slope) {
  std::vector<double> found;
  for (size_t s = 0; s < samples; s++) {
    RandomStream stream(seed, "smooth_grad", 0, static_cast<uint32_t>(s));
    double z = 0;
    for (size_t c = 0; c <= column; c++) z = stream.normal();
    found.push_back(slope(x + deviation * z));
  }
  Moments made;
  for (const double each : found) made.mean += each / static_cast<double>(samples);
  double squares = 0;
  for (const double each : found) squares += (each - made.mean) * (each - made.mean);
  made.error = std::sqrt(squares / static_cast<double>(samples * (samples - 1)));
  return made;
}

double twice(double x) { return 2 * x; }
double cubic(double x) { return 3 * x * x; }

TEST(SmoothGrad, IsTheMeanSlopeOverTheDraws) {
  const Setting setting = powers_setting({1, 0.5F, 2});
  const Result found = explained("smooth_grad:samples=20:level=0.3", setting, on_threads(2, 9));
  EXPECT_EQ(found.out.evaluations, 40U);
  for (size_t r = 0; r < 2; r++) {
    const Moments first = over_draws(9, 20, 0, setting.rows(r, 0), 0.3, twice);
    const Moments second = over_draws(9, 20, 1, setting.rows(r, 1), 0.15, twice);
    const Moments third = over_draws(9, 20, 2, setting.rows(r, 2), 0.6, cubic);
    size_t c = 0;
    for (const Moments& each : {first, second, third}) {
      EXPECT_NEAR(found.values(r, c), each.mean, 1e-5);
      EXPECT_NEAR(found.out.standard_error(r, c), each.error, 1e-5);
      c++;
    }
  }
}

TEST(SmoothGrad, WithoutAPoolTheNoiseIsAShareOfTheRowsRange) {
  const Setting setting = powers_setting({});
  const Result found = explained("smooth_grad:samples=10:level=0.1", setting, on_threads(1, 2));
  EXPECT_NEAR(found.values(0, 0), over_draws(2, 10, 0, 1, 0.3, twice).mean, 1e-5);  // 1 - -2
  EXPECT_NEAR(found.values(1, 2), over_draws(2, 10, 2, 1, 0.4, cubic).mean, 1e-5);  // 4 - 0
}

TEST(SmoothGrad, CategoriesStay) {
  const Setting setting = powers_setting({1, 0, 1});
  const Result found = explained("smooth_grad", setting);
  EXPECT_EQ(found.values(0, 1), -4);
  EXPECT_EQ(found.out.standard_error(0, 1), 0);
  EXPECT_GT(found.out.standard_error(0, 0), 0);
}

TEST(SmoothGrad, AConstantSlopeHasNoError) {
  Setting setting = setting_of(linear_toy());
  setting.reference.scales = {1, 1, 1};
  const Result found = explained("smooth_grad", setting);
  for (size_t c = 0; c < 3; c++) {
    EXPECT_EQ(found.values(0, c), linear_toy().gradient[0][c]);
    EXPECT_EQ(found.out.standard_error(0, c), 0);
  }
}

// More copies than one call of the model takes come in several.
TEST(SmoothGrad, ManyDrawsComeInTurns) {
  const Setting setting = powers_setting({1, 1, 1});
  const Result found = explained("smooth_grad:samples=9000:level=0.3", setting, on_threads(1, 4));
  const Moments expected = over_draws(4, 9000, 1, -2, 0.3, twice);
  EXPECT_NEAR(found.values(0, 1), expected.mean, 1e-5);
  EXPECT_NEAR(found.out.standard_error(0, 1), expected.error, 1e-6);
}

TEST(SmoothGrad, GroupsGetTheErrorOfTheirSum) {
  Setting setting = powers_setting({1, 1, 1});
  setting.players = players_of({0, 0, 1}, 2);
  const Result found = explained("smooth_grad:samples=30:level=0.2", setting, on_threads(2, 6));
  // 2 (x1 + x2) + 2 * 0.2 (z1 + z2): as one variable of two columns' draws
  std::vector<double> sums;
  for (uint32_t s = 0; s < 30; s++) {
    RandomStream stream(6, "smooth_grad", 0, s);
    const double z1 = stream.normal();
    sums.push_back(2 * (1.0 - 2.0) + 0.4 * (z1 + stream.normal()));
  }
  double mean = 0;
  for (const double each : sums) mean += each / 30;
  double squares = 0;
  for (const double each : sums) squares += (each - mean) * (each - mean);
  EXPECT_NEAR(found.values(0, 0), mean, 1e-5);
  EXPECT_NEAR(found.out.standard_error(0, 0), std::sqrt(squares / 30 / 29), 1e-5);
}

// E[3 (x + s z)^2] = 3 x^2 + 3 s^2
TEST(SmoothGrad, ErrorsCoverTheTruth) {
  const Setting setting = powers_setting({1, 1, 1});
  size_t covered = 0;
  for (uint64_t seed = 0; seed < 300; seed++) {
    const Result found = explained("smooth_grad:samples=60:level=0.3", setting, on_threads(1, seed));
    covered += std::abs(found.values(1, 2) - (3 + 3 * 0.09)) < 1.96F * found.out.standard_error(1, 2) ? 1 : 0;
  }
  EXPECT_GE(covered, 270U);  // 95 % of 300 is 285, with a deviation of 4
  EXPECT_LE(covered, 298U);
}

TEST(SmoothGrad, BitsDoNotDependOnThreadsOrPartition) {
  expect_same_bits_everywhere("smooth_grad:samples=7", fixture_setting("torch_mlp_script", "predicted"));
}

}  // namespace
}  // namespace assay::testing
