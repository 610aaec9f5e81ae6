#include "assay/data/io/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "assay/core/random.h"

namespace assay {
namespace {

TEST(Number, ReadsTheFormsPeopleWrite) {
  const auto value = [](const char* text) { return parse_number(text).value().value; };
  EXPECT_EQ(value("42"), 42);
  EXPECT_EQ(value("-0.5"), -0.5f);
  EXPECT_EQ(value("+3"), 3);
  EXPECT_EQ(value("1e3"), 1000);
  EXPECT_EQ(value("1.E-2"), 0.01f);
  EXPECT_EQ(value(".5"), 0.5f);
  EXPECT_EQ(value("inf"), std::numeric_limits<float>::infinity());
  EXPECT_EQ(value("1e-60"), 0);
  EXPECT_EQ(value("1e-400"), 0);
  EXPECT_EQ(value("0.0000000000000000000000000000000000000000000001e-99999999999999999999"), 0);
  EXPECT_EQ(value("0e99999999999999999999"), 0);
  EXPECT_TRUE(std::signbit(value("-0")));
}

TEST(Number, RefusesTheRest) {
  for (const char* text : {"",
                           "-",
                           "+",
                           "+-3",
                           "1,5",
                           "1.2.3",
                           "12a",
                           "0x10",
                           "1e39",
                           "-1e39",
                           ".",
                           "-.",
                           "1..2",
                           "1.2.3",
                           "1e400",
                           "1000000000000000000000000000000000000000000e-2",
                           "1e99999999999999999999",
                           "e5",
                           " 1",
                           "1 ",
                           "--1"}) {
    EXPECT_FALSE(parse_number(text).has_value()) << text;
  }
}

TEST(Number, AgreesWithTheCLibraryOnRandomText) {
  RandomStream random(5, "numbers");
  for (int i = 0; i < 100000; ++i) {
    char text[64];
    const double v = (random.uniform() - 0.5) * std::pow(10.0, 60 * random.uniform() - 30);
    std::snprintf(text, sizeof text, i % 2 == 0 ? "%.*g" : "%.*e", static_cast<int>(random.below(17)) + 1, v);
    ASSERT_EQ(parse_number(text).value().value, std::strtof(text, nullptr)) << text;
  }
}

// Where rounding twice, to float64 and then to float32, would go wrong: at and beside the middle of two float32.
TEST(Number, AgreesWithTheCLibraryAroundMidpoints) {
  RandomStream random(7, "midpoints");
  for (int i = 0; i < 100000; ++i) {
    const auto low = static_cast<float>(std::ldexp(1 + random.uniform(), static_cast<int>(random.below(40)) - 10));
    const double middle = (static_cast<double>(low) + std::nextafter(low, 1e30f)) / 2;
    for (const int decimals : {0, 3, 9}) {
      for (const double v : {middle, std::nextafter(middle, 0), std::nextafter(middle, 1e30)}) {
        char text[64];
        std::snprintf(text, sizeof text, "%.*f", decimals, v);
        ASSERT_EQ(parse_number(text).value().value, std::strtof(text, nullptr)) << text;
      }
    }
  }
  for (const char* text : {"16777217", "16777219", "8388608.5", "8388609.5", "-4194304.25", "4194304.75"}) {
    EXPECT_EQ(parse_number(text).value().value, std::strtof(text, nullptr)) << text;
  }
}

TEST(Number, RoundTripsEveryKindOfFloat) {
  RandomStream random(6, "floats");
  for (int i = 0; i < 200000; ++i) {
    const uint32_t bits = random.bits32();
    float v = 0;
    std::memcpy(&v, &bits, sizeof v);
    if (!std::isfinite(v)) continue;
    std::string text;
    append_number(text, v);
    const float back = parse_number(text).value().value;
    ASSERT_EQ(std::memcmp(&v, &back, sizeof v), 0) << text;
  }
}

TEST(Number, WholeNumbersHaveNoExponent) {
  EXPECT_EQ(number_text(100000), "100000");
  EXPECT_EQ(number_text(-16777216), "-16777216");
  EXPECT_EQ(number_text(1e20f), "1e+20");
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(-0.0f), "-0");
  EXPECT_EQ(number_text(0.1f), "0.1");
}

TEST(Number, WholeNumbersThatLoseDigitsAreMarked) {
  EXPECT_FALSE(parse_number("16777216").value().rounded);
  EXPECT_TRUE(parse_number("16777217").value().rounded);
  EXPECT_TRUE(parse_number("-16777217").value().rounded);
  EXPECT_FALSE(parse_number("33554432").value().rounded);
  EXPECT_TRUE(parse_number("16777217.5").value().rounded);
  EXPECT_TRUE(parse_number("1700000060.25").value().rounded);
  EXPECT_TRUE(parse_number("1.7e18").value().rounded);
  EXPECT_TRUE(parse_number("16777215.75").value().rounded);
  EXPECT_FALSE(parse_number("738000.123").value().rounded);
  EXPECT_FALSE(parse_number("inf").value().rounded);
}

}  // namespace
}  // namespace assay
