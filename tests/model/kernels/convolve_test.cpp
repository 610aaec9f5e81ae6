// Convolutions by their definition, and products of layers, to the last bit on every vector target of the machine.
#include "assay/model/kernels/convolve.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/core/vector_target.h"
#include "assay/model/graph/tensor.h"
#include "assay/model/kernels/layer_product.h"

namespace assay {
namespace {

Tensor random_numbers(size_t count, uint64_t seed) {
  Tensor made(OnnxElement::float32, {static_cast<int64_t>(count)});
  RandomStream random(seed, "convolve_test");
  for (size_t i = 0; i < count; i++) made.data<float>()[i] = static_cast<float>(random.normal());
  return made;
}

uint32_t bits_of(float value) { return std::bit_cast<uint32_t>(value); }

class ConvolveOnTargets : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { pin_vector_target(GetParam()); }
  void TearDown() override { pin_vector_target(all_targets().front()); }

 public:
  static std::vector<std::string> all_targets() {
    static const std::vector<std::string> kAll = vector_targets();
    return kAll;
  }
  static float multiply_add(float x, float y, float sum) {
    if (GetParam() != "SCALAR" && !GetParam().starts_with("SS")) return std::fma(x, y, sum);
    const volatile float product = x * y;
    return sum + product;
  }
};

INSTANTIATE_TEST_SUITE_P(Targets, ConvolveOnTargets, ::testing::ValuesIn(ConvolveOnTargets::all_targets()),
                         [](const auto& target) { return target.param; });

float leaky_by_hand(float y, float slope) {
  if (y > 0) return y;
  return slope == 0 ? (y < 0 ? 0 : y) : slope * y;
}

TEST_P(ConvolveOnTargets, SumsAreOneChainForEachPosition) {
  for (const size_t width : {size_t{16}, kPack}) {
    for (const size_t steps : {size_t{1}, size_t{25}, size_t{300}}) {
      for (const size_t columns : {size_t{1}, size_t{5}, size_t{12}, size_t{13}, size_t{25}}) {
        constexpr size_t kLines = 3;
        const size_t line_step = columns + 7;
        const Tensor image = random_numbers(kLines * line_step + 400, 1);
        const Tensor weights = random_numbers(steps * kPack, 2);
        const Tensor start = random_numbers(kPack, 3);
        std::vector<size_t> offsets(steps);
        for (size_t l = 0; l < steps; l++) offsets[l] = l * 7 % 390;
        Tensor sums = random_numbers(kLines * columns * kPack, 4);
        Convolution c;
        c.width = width;
        c.steps = steps;
        c.weights = weights.data<float>();
        c.offsets = offsets.data();
        c.start = start.data<float>();
        c.image = image.data<float>();
        c.lines = kLines;
        c.columns = columns;
        c.line_step = line_step;
        c.leaky = columns % 2 == 1;
        c.slope = columns == 5 ? 0.0F : 0.25F;
        c.sums = sums.data<float>();
        convolve(c);
        for (size_t p = 0; p < kLines * columns; p++) {
          for (size_t o = 0; o < width; o++) {
            float expected = c.start[o];
            for (size_t l = 0; l < steps; l++) {
              const float x = c.image[p / columns * line_step + p % columns + offsets[l]];
              expected = multiply_add(x, c.weights[l * kPack + o], expected);
            }
            if (c.leaky) expected = leaky_by_hand(expected, c.slope);
            ASSERT_EQ(bits_of(expected), bits_of(c.sums[p * kPack + o])) << p << " " << o;
          }
        }
      }
    }
  }
}

TEST_P(ConvolveOnTargets, PoolingTakesTheFirstOfTheLargestAndNaN) {
  constexpr size_t kLines = 4, kColumns = 6;
  Tensor sums = random_numbers(kLines * kColumns * kPack, 5);
  auto* values = sums.data<float>();
  values[0] = -0.0F, values[kPack] = 0.0F;  // equal: the first
  for (size_t below : {size_t{6}, size_t{7}}) values[below * kPack] = -1;
  values[9 * kPack + 3] = std::numeric_limits<float>::quiet_NaN();
  values[2 * kPack + 4] = std::numeric_limits<float>::quiet_NaN();
  values[4 * kPack + 5] = -std::numeric_limits<float>::infinity();
  const std::vector<float> before(values, values + sums.count());
  pool_sums(values, kPack, kLines, kColumns);
  for (size_t p = 0; p < kLines * kColumns / 4; p++) {
    const size_t line = p / (kColumns / 2) * 2;
    const size_t column = p % (kColumns / 2) * 2;
    for (size_t o = 0; o < kPack; o++) {
      float largest = before[(line * kColumns + column) * kPack + o];
      for (const size_t next :
           {line * kColumns + column + 1, (line + 1) * kColumns + column, (line + 1) * kColumns + column + 1}) {
        const float x = before[next * kPack + o];
        if (x > largest || (std::isnan(x) && !std::isnan(largest))) largest = x;
      }
      EXPECT_EQ(bits_of(largest), bits_of(values[p * kPack + o])) << p << " " << o;
    }
  }
}

TEST_P(ConvolveOnTargets, ALayersProductKeepsWhatWasBeforeAndAppliesSlopes) {
  for (const size_t n : {size_t{1}, size_t{16}, size_t{39}}) {
    for (const size_t m : {size_t{2}, size_t{14}}) {
      for (const size_t k : {size_t{2}, size_t{200}}) {
        for (const float slope : {0.0F, 0.01F, 1.0F, 1.5F, -0.5F}) {
          const Tensor a = random_numbers(m * k, 6), b = random_numbers(k * n, 7), gate = random_numbers(m * n, 8);
          Tensor plain(OnnxElement::float32, {static_cast<int64_t>(m * n)});
          Tensor out(OnnxElement::float32, {static_cast<int64_t>(m * n)});
          Tensor before(OnnxElement::float32, {static_cast<int64_t>(m * n)});
          Product p;
          p.m = m, p.n = n, p.k = k;
          p.a = a.data<float>(), p.a_row = k;
          p.b = b.data<float>(), p.b_row = n;
          p.out = plain.data<float>(), p.out_row = n;
          product(p);
          p.out = out.data<float>();
          p.leaky = true;
          p.slope = slope;
          product({.product = p, .before = before.data<float>()});
          for (size_t i = 0; i < m * n; i++) {
            ASSERT_EQ(bits_of(before.data<float>()[i]), bits_of(plain.data<float>()[i]));
            ASSERT_EQ(bits_of(out.data<float>()[i]), bits_of(leaky_by_hand(plain.data<float>()[i], slope)));
          }
          p.leaky = false;
          product({.product = p, .gate = gate.data<float>()});
          for (size_t i = 0; i < m * n; i++) {
            const float factor = gate.data<float>()[i] > 0 ? 1 : slope;
            ASSERT_EQ(bits_of(out.data<float>()[i]), bits_of(plain.data<float>()[i] * factor));
          }
        }
      }
    }
  }
}

TEST_P(ConvolveOnTargets, LeakyKeepsSignedZerosInfinitiesAndNaN) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float slope : {0.0F, 0.01F, 1.0F}) {
    for (const float y : {-0.0F, 0.0F, infinity, -infinity, 1e-45F, -1e-45F}) {
      const float one = 1;
      float out = 0;
      Product p;
      p.m = p.n = 1;
      p.bias = &y;  // the sum without a term
      p.a = p.b = &one;
      p.out = &out;
      p.leaky = true;
      p.slope = slope;
      product(p);
      EXPECT_EQ(bits_of(out), bits_of(leaky_by_hand(y, slope))) << y << " " << slope;
    }
  }
}

}  // namespace
}  // namespace assay
