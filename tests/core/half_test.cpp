#include "assay/core/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay {
namespace {

// The examples of IEEE 754's binary16: 1 sign bit, 5 of exponent (bias 15), 10 of fraction.
TEST(Half, KnownValues) {
  EXPECT_EQ(float_from_half(0x0000), 0.0f);
  EXPECT_TRUE(std::signbit(float_from_half(0x8000)));
  EXPECT_EQ(float_from_half(0x3C00), 1.0f);
  EXPECT_EQ(float_from_half(0xC000), -2.0f);
  EXPECT_EQ(float_from_half(0x3555), 0.333251953125f);
  EXPECT_EQ(float_from_half(0x7BFF), 65504.0f);
  EXPECT_EQ(float_from_half(0x0400), 0x1p-14f);      // the smallest normal number
  EXPECT_EQ(float_from_half(0x03FF), 0x1.ff8p-15f);  // the largest subnormal one
  EXPECT_EQ(float_from_half(0x0001), 0x1p-24f);      // the smallest of all
  EXPECT_EQ(float_from_half(0x7C00), std::numeric_limits<float>::infinity());
  EXPECT_EQ(float_from_half(0xFC00), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(float_from_half(0x7E00)));
}

TEST(Half, NeighboursAreInOrder) {
  for (uint16_t bits = 0; bits < 0x7C00; ++bits) {
    ASSERT_LT(float_from_half(bits), float_from_half(static_cast<uint16_t>(bits + 1)));
  }
}

}  // namespace
}  // namespace assay
