#include "assay/model/ops/two_by_two.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "assay/core/random.h"
#include "assay/core/vector_target.h"

namespace assay {
namespace {

// The first of the largest, or the first that is not a number.
float largest(const std::vector<float>& window) {
  float best = window[0];
  for (const float x : window) {
    if (x > best || (std::isnan(x) && !std::isnan(best))) best = x;
  }
  return best;
}

// With and without winners, of zeros of both signs, infinities and NaN, for whole vectors and what is left of them.
TEST(TwoByTwo, ValuesAreThoseOfTheDefinitionToTheBit) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> special = {0.0F, -0.0F, kInfinity, -kInfinity, std::nanf("1"), -1, 1};
  const std::string before = vector_target();
  for (const std::string& target : vector_targets()) {
    pin_vector_target(target);
    RandomStream random(1, "two_by_two_test");
    for (size_t columns = 1; columns < 40; columns++) {
      const size_t lines = 3;
      const size_t width = 2 * columns + columns % 2;
      // Every other plane has no NaN.
      std::vector<float> x(2 * lines * width);
      for (float& each : x) {
        const uint32_t drawn = random.below(20);
        each = drawn < special.size() ? special[drawn] : static_cast<float>(random.normal());
        if (std::isnan(each) && columns % 2 == 0) each = 0;
      }
      std::vector<float> with(lines * columns);
      std::vector<float> without(lines * columns);
      std::vector<int32_t> winners(lines * columns);
      max_of_squares(x.data(), with.data(), winners.data(), static_cast<int32_t>(width), lines, columns);
      max_of_squares(x.data(), without.data(), nullptr, static_cast<int32_t>(width), lines, columns);
      for (size_t i = 0; i < with.size(); i++) {
        const float* corner = x.data() + i / columns * 2 * width + i % columns * 2;
        const float expected = largest({corner[0], corner[1], corner[width], corner[width + 1]});
        EXPECT_EQ(std::bit_cast<uint32_t>(without[i]), std::bit_cast<uint32_t>(expected)) << target << ' ' << columns;
        EXPECT_EQ(std::bit_cast<uint32_t>(with[i]), std::bit_cast<uint32_t>(expected)) << target << ' ' << columns;
        const float won = x[static_cast<size_t>(winners[i])];
        EXPECT_EQ(std::bit_cast<uint32_t>(won), std::bit_cast<uint32_t>(expected)) << target << ' ' << columns;
      }
    }
  }
  pin_vector_target(before);
}

}  // namespace
}  // namespace assay
