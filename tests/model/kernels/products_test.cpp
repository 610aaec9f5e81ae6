// Every element of a product against the chain of operations that the header promises, to the last bit, on every vector
// target that the machine has.
#include "assay/model/kernels/products.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/core/vector_target.h"
#include "assay/model/kernels/elementwise.h"

namespace assay {
namespace {

constexpr float kUntouched = 12345;

std::vector<float> numbers(size_t count, uint64_t seed) {
  RandomStream random(seed, "products_test");
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }

// Runs the test once on each target and leaves the best one pinned.
class OnEveryTarget : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { pin_vector_target(GetParam()); }
  void TearDown() override { pin_vector_target(all_targets().front()); }

 public:
  static std::vector<std::string> all_targets() {
    static const std::vector<std::string> kAll = vector_targets();
    return kAll;
  }
  // One step of a chain as this target computes it.
  static float multiply_add(float x, float y, float sum) {
    const bool fused = GetParam() != "SCALAR" && !GetParam().starts_with("SS");  // SSE4, SSSE3, SSE2
    if (fused) return std::fma(x, y, sum);
    const volatile float product = x * y;
    return sum + product;
  }
};

INSTANTIATE_TEST_SUITE_P(Targets, OnEveryTarget, ::testing::ValuesIn(OnEveryTarget::all_targets()),
                         [](const auto& target) { return target.param; });

enum class Start { zero, bias, accumulate };

// Checks all elements of one product; the operands lie in larger buffers where `apart`.
void check_product(size_t m, size_t n, size_t k, bool swapped, Start start, size_t apart) {
  SCOPED_TRACE("m " + std::to_string(m) + " n " + std::to_string(n) + " k " + std::to_string(k) +
               (swapped ? " swapped" : "") + " start " + std::to_string(static_cast<int>(start)));
  Product p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.a_row = swapped ? 1 : k + apart;
  p.a_col = swapped ? m + apart : 1;
  p.b_row = n + apart;
  p.out_row = n + apart;
  const std::vector<float> a = numbers((m + apart) * (k + apart), 1);
  // Not an element more than needed, so that a sanitizer sees reads beyond.
  const std::vector<float> b = numbers(k == 0 || n == 0 ? 0 : (k - 1) * p.b_row + n, 2);
  const std::vector<float> bias = numbers(m, 3);
  std::vector<float> out = numbers(m * p.out_row, 4);
  for (size_t i = 0; i < m; i++) {
    for (size_t j = n; j < p.out_row; j++) out[i * p.out_row + j] = kUntouched;
  }
  const std::vector<float> before = out;
  p.a = a.data();
  p.b = b.data();
  p.out = out.data();
  if (start == Start::bias) p.bias = bias.data();
  p.accumulate = start == Start::accumulate;
  product(p);
  size_t wrong = 0;
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < n; j++) {
      float sum = start == Start::accumulate ? before[i * p.out_row + j] : start == Start::bias ? bias[i] : 0;
      for (size_t l = 0; l < k; l++) {
        sum = OnEveryTarget::multiply_add(a[i * p.a_row + l * p.a_col], b[l * p.b_row + j], sum);
      }
      wrong += bits(out[i * p.out_row + j]) != bits(sum);
    }
    for (size_t j = n; j < p.out_row; j++) wrong += out[i * p.out_row + j] != kUntouched;
  }
  EXPECT_EQ(wrong, 0U);
}

TEST_P(OnEveryTarget, ProductIsOneChainForEachElement) {
  const size_t ms[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 14, 17};
  const size_t ns[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130, 257};
  for (const size_t m : ms) {
    for (const size_t n : ns) {
      check_product(m, n, 14, false, Start::zero, 0);
      check_product(m, n, 3, true, Start::bias, 5);
    }
  }
}

TEST_P(OnEveryTarget, ProductKeepsTheChainAcrossBlocks) {
  for (const size_t k : {0, 1, 127, 128, 129, 256, 300}) {
    for (const Start start : {Start::zero, Start::bias, Start::accumulate}) {
      check_product(5, 21, k, false, start, 0);
      check_product(9, 40, k, true, start, 3);
      check_product(1, 150, k, false, start, 0);
    }
  }
}

TEST_P(OnEveryTarget, ProductCopiesPanelsWithoutAChange) {
  check_product(33, 300, 140, false, Start::bias, 0);
  check_product(40, 256, 32, true, Start::accumulate, 0);
}

TEST_P(OnEveryTarget, ProductOfNothingTouchesNothing) {
  check_product(0, 5, 3, false, Start::zero, 0);
  check_product(5, 0, 3, false, Start::zero, 2);
}

// The sum that the header describes.
float dot(const float* a, const float* b, size_t k) {
  if (k <= 128) {
    float sum = 0;
    for (size_t l = 0; l < k; l++) sum = OnEveryTarget::multiply_add(a[l], b[l], sum);
    return sum;
  }
  float lanes[16] = {};
  for (size_t l = 0; l < k; l++) lanes[l % 16] = OnEveryTarget::multiply_add(a[l], b[l], lanes[l % 16]);
  for (size_t half = 8; half > 0; half /= 2) {
    for (size_t lane = 0; lane < half; lane++) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

void check_rows(size_t m, size_t n, size_t k, bool turned, size_t apart) {
  SCOPED_TRACE("m " + std::to_string(m) + " n " + std::to_string(n) + " k " + std::to_string(k) +
               (turned ? " turned" : ""));
  ProductOfRows p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.a_row = k + apart;
  p.b_row = k + apart;
  p.out_row = turned ? 1 : n + apart;
  p.out_col = turned ? m + apart : 1;
  const std::vector<float> a = numbers((m - 1) * p.a_row + k, 5);
  const std::vector<float> b = numbers((n - 1) * p.b_row + k, 6);
  std::vector<float> out = numbers((m + apart) * (n + apart), 7);
  const std::vector<float> before = out;
  p.a = a.data();
  p.b = b.data();
  p.out = out.data();
  product_of_rows(p);
  std::vector<float> expected = before;
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < n; j++) {
      expected[i * p.out_row + j * p.out_col] += dot(a.data() + i * p.a_row, b.data() + j * p.b_row, k);
    }
  }
  size_t wrong = 0;
  for (size_t i = 0; i < out.size(); i++) wrong += bits(out[i]) != bits(expected[i]);
  EXPECT_EQ(wrong, 0U);
}

TEST_P(OnEveryTarget, ProductOfRowsAddsInTheOrderItPromises) {
  for (const size_t m : {1, 2, 3, 4, 5, 7, 9}) {
    for (const size_t n : {1, 2, 3, 4, 5, 6, 17}) {
      for (const size_t k : {0, 1, 5, 33, 128, 129, 144, 160, 255}) {
        check_rows(m, n, k, false, 0);
        check_rows(m, n, k, true, 3);
      }
    }
  }
  check_rows(70, 130, 64, false, 0);
  check_rows(130, 70, 100, true, 1);
}

TEST_P(OnEveryTarget, TransposeMovesEveryElementAndNoOther) {
  for (const size_t rows : {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33}) {
    for (const size_t cols : {0, 1, 2, 3, 4, 5, 6, 14, 16, 35}) {
      for (const size_t apart : {0, 3}) {
        SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(cols));
        const size_t in_row = cols + apart;
        const size_t out_row = rows + apart;
        const std::vector<float> in = numbers(rows == 0 ? 0 : (rows - 1) * in_row + cols, 8);
        std::vector<float> out(cols * out_row, kUntouched);
        transpose(in.data(), in_row, rows, cols, out.data(), out_row);
        size_t wrong = 0;
        for (size_t j = 0; j < cols; j++) {
          for (size_t i = 0; i < out_row; i++) {
            wrong += out[j * out_row + i] != (i < rows ? in[i * in_row + j] : kUntouched);
          }
        }
        EXPECT_EQ(wrong, 0U);
      }
    }
  }
}

// Numbers with everything that is special among them.
std::vector<float> special_numbers(size_t count, uint64_t seed) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float special[] = {-kInfinity, kInfinity, 0.0F, -0.0F, std::numeric_limits<float>::quiet_NaN(), -1e-40F};
  std::vector<float> values = numbers(count, seed);
  for (size_t i = 0; i < count; i += 3) values[i] = special[(i / 3 + seed) % 6];
  return values;
}

bool same(float found, float expected) {
  return std::isnan(expected) ? std::isnan(found) : bits(found) == bits(expected);
}

TEST_P(OnEveryTarget, LeakyReluAndItsGradient) {
  for (const float slope : {0.0F, 0.01F, -0.5F, 2.0F}) {
    for (const size_t count : {0, 1, 3, 8, 15, 16, 18, 67}) {
      const std::vector<float> x = special_numbers(count, 1);
      const std::vector<float> dy = numbers(count, 2);
      std::vector<float> y(count);
      leaky_relu(x.data(), y.data(), slope, count);
      std::vector<float> in_place = x;
      leaky_relu(in_place.data(), in_place.data(), slope, count);
      std::vector<float> dx(count, kUntouched);
      leaky_relu_gradient(x.data(), dy.data(), dx.data(), slope, count, false);
      std::vector<float> sum = numbers(count, 3);
      const std::vector<float> before = sum;
      leaky_relu_gradient(x.data(), dy.data(), sum.data(), slope, count, true);
      for (size_t i = 0; i < count; i++) {
        const float leak = slope == 0 && x[i] < 0 ? 0 : slope == 0 ? x[i] : slope * x[i];
        EXPECT_TRUE(same(y[i], x[i] > 0 ? x[i] : leak)) << x[i] << " gave " << y[i] << " at slope " << slope;
        EXPECT_TRUE(same(in_place[i], y[i]));
        const float expected = dy[i] * (x[i] > 0 ? 1 : slope);
        EXPECT_EQ(bits(dx[i]), bits(expected)) << x[i];
        EXPECT_EQ(bits(sum[i]), bits(before[i] + expected));
      }
    }
  }
}

TEST_P(OnEveryTarget, Sums) {
  for (const size_t count : {0, 1, 7, 16, 35}) {
    const std::vector<float> x = numbers(count, 1);
    std::vector<float> sum = numbers(count, 2);
    std::vector<float> scaled = sum;
    const std::vector<float> before = sum;
    add(x.data(), sum.data(), count);
    axpy(0.3F, x.data(), scaled.data(), count);
    for (size_t i = 0; i < count; i++) {
      EXPECT_EQ(bits(sum[i]), bits(before[i] + x[i]));
      EXPECT_EQ(bits(scaled[i]), bits(multiply_add(0.3F, x[i], before[i])));
    }
  }
}

}  // namespace
}  // namespace assay
