#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "assay/core/half.h"
#include "tests/message.h"
#include "tests/model/ops/movement_reference.h"
#include "tests/model/ops/single_node.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class To, class From>
std::vector<To> cast(const std::vector<From>& values, OnnxElement to = element_of<To>()) {
  const SingleNode node("Cast", {int_attribute("to", static_cast<int64_t>(to))},
                        {variable<From>({static_cast<int64_t>(values.size())}, values)});
  EXPECT_EQ(node.output_info(0)->type, element_of<To>());
  const SingleNode::Run run = node.forward();
  const auto found = run.outputs[0].values<To>();
  return {found.begin(), found.end()};
}

template <class From>
void expect_small_numbers_survive() {
  const std::vector<From> values = {From(0), From(1), From(100)};
  EXPECT_EQ((cast<float, From>(values)), (std::vector<float>{0, 1, 100}));
  EXPECT_EQ((cast<double, From>(values)), (std::vector<double>{0, 1, 100}));
  EXPECT_EQ((cast<int8_t, From>(values)), (std::vector<int8_t>{0, 1, 100}));
  EXPECT_EQ((cast<int16_t, From>(values)), (std::vector<int16_t>{0, 1, 100}));
  EXPECT_EQ((cast<int32_t, From>(values)), (std::vector<int32_t>{0, 1, 100}));
  EXPECT_EQ((cast<int64_t, From>(values)), (std::vector<int64_t>{0, 1, 100}));
  EXPECT_EQ((cast<uint8_t, From>(values)), (std::vector<uint8_t>{0, 1, 100}));
  EXPECT_EQ((cast<uint16_t, From>(values)), (std::vector<uint16_t>{0, 1, 100}));
  EXPECT_EQ((cast<uint32_t, From>(values)), (std::vector<uint32_t>{0, 1, 100}));
  EXPECT_EQ((cast<uint64_t, From>(values)), (std::vector<uint64_t>{0, 1, 100}));
  EXPECT_EQ((cast<bool, From>(values)), (std::vector<bool>{false, true, true}));
  EXPECT_EQ((cast<std::string, From>(values)), (std::vector<std::string>{"0", "1", "100"}));
  EXPECT_EQ((cast<float, From>(values, OnnxElement::float16)), (std::vector<float>{0, 1, 100}));
  EXPECT_EQ((cast<float, From>(values, OnnxElement::bfloat16)), (std::vector<float>{0, 1, 100}));
}

TEST(Cast, EveryPairOfNumbers) {
  expect_small_numbers_survive<float>();
  expect_small_numbers_survive<double>();
  expect_small_numbers_survive<int8_t>();
  expect_small_numbers_survive<int16_t>();
  expect_small_numbers_survive<int32_t>();
  expect_small_numbers_survive<int64_t>();
  expect_small_numbers_survive<uint8_t>();
  expect_small_numbers_survive<uint16_t>();
  expect_small_numbers_survive<uint32_t>();
  expect_small_numbers_survive<uint64_t>();
}

TEST(Cast, FromBooleansAndText) {
  const std::vector<bool> flags = {true, false};
  EXPECT_EQ((cast<float, bool>(flags)), (std::vector<float>{1, 0}));
  EXPECT_EQ((cast<uint8_t, bool>(flags)), (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ((cast<bool, bool>(flags)), flags);
  EXPECT_EQ((cast<std::string, bool>(flags)), (std::vector<std::string>{"1", "0"}));
  const std::vector<std::string> words = {"a longer text than fits into a string object", ""};
  EXPECT_EQ((cast<std::string, std::string>(words)), words);
}

TEST(Cast, FloatsToWholeNumbersTruncateAndSaturate) {
  const std::vector<float> values = {1.9F,  -1.9F,  127.5F,    128,        -128.9F, -129,
                                     1e30F, -1e30F, kInfinity, -kInfinity, kNan};
  EXPECT_EQ((cast<int8_t, float>(values)), (std::vector<int8_t>{1, -1, 127, 127, -128, -128, 127, -128, 127, -128, 0}));
  EXPECT_EQ((cast<uint8_t, float>(values)), (std::vector<uint8_t>{1, 0, 127, 128, 0, 0, 255, 0, 255, 0, 0}));
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_EQ((cast<int64_t, float>({0x1p63F, 0x1.fffffep62F, -0x1p63F, -0x1p64F})),
            (std::vector<int64_t>{kMost, 0x7fffff8000000000, kLeast, kLeast}));
  EXPECT_EQ((cast<int64_t, double>({0x1p63, -0x1p63, 1e300, std::nan("")})),
            (std::vector<int64_t>{kMost, kLeast, kMost, 0}));
  EXPECT_EQ((cast<uint64_t, double>({0x1p64, -1.0, 0x1p63})),
            (std::vector<uint64_t>{std::numeric_limits<uint64_t>::max(), 0, uint64_t{1} << 63}));
  EXPECT_EQ((cast<bool, float>({0.5F, -0.0F, kNan})), (std::vector<bool>{true, false, true}));
}

TEST(Cast, WholeNumbersKeepTheirLowBits) {
  EXPECT_EQ((cast<int8_t, int64_t>({200, 300, -1})), (std::vector<int8_t>{-56, 44, -1}));
  EXPECT_EQ((cast<uint8_t, int32_t>({-1, 256})), (std::vector<uint8_t>{255, 0}));
  EXPECT_EQ((cast<int64_t, uint64_t>({~uint64_t{0}})), (std::vector<int64_t>{-1}));
}

TEST(Cast, EveryFloat16Survives) {
  std::vector<float> values;
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    const float value = float_from_half(static_cast<uint16_t>(bits));
    if (!std::isnan(value)) values.push_back(value);
  }
  const std::vector<float> found = cast<float, float>(values, OnnxElement::float16);
  for (size_t i = 0; i < values.size(); i++) {
    ASSERT_EQ(found[i], values[i]);
    ASSERT_EQ(std::signbit(found[i]), std::signbit(values[i]));
  }
}

TEST(Cast, RoundsToTheNearestFloat16) {
  // Between two neighbours everything goes to the nearer one, and the middle to the one whose last bit is 0.
  for (uint32_t bits = 0; bits < 0x7bff; bits++) {
    const double low = float_from_half(static_cast<uint16_t>(bits));
    const double high = float_from_half(static_cast<uint16_t>(bits + 1));
    const double middle = (low + high) / 2;
    const std::vector<double> values = {std::nextafter(middle, 0), middle, std::nextafter(middle, 1e9), -middle};
    const auto even = static_cast<float>(bits % 2 == 0 ? low : high);
    ASSERT_EQ((cast<float, double>(values, OnnxElement::float16)),
              (std::vector<float>{static_cast<float>(low), even, static_cast<float>(high), -even}))
        << bits;
  }
  EXPECT_EQ((cast<float, double>({65519.999, 65520, -65520, 0x1p982, -1e300}, OnnxElement::float16)),
            (std::vector<float>{65504, kInfinity, -kInfinity, kInfinity, -kInfinity}));
  EXPECT_EQ((cast<float, int64_t>({65519, 65520, 2049}, OnnxElement::float16)),
            (std::vector<float>{65504, kInfinity, 2048}));
  EXPECT_TRUE(std::isnan(cast<float, float>({kNan}, OnnxElement::float16)[0]));
}

TEST(Cast, RoundsToTheNearestBfloat16) {
  // A bfloat16 is the upper half of a float32, so rounding is one on its bits.
  RandomStream random(1, "bfloat16 test");
  std::vector<float> values;
  std::vector<float> expected;
  for (int i = 0; i < 100000; i++) {
    const uint32_t bits = i % 4 == 0 ? (random.bits32() & 0xffff0000U) | 0x8000U : random.bits32();
    if (!std::isfinite(std::bit_cast<float>(bits))) continue;
    values.push_back(std::bit_cast<float>(bits));
    expected.push_back(std::bit_cast<float>((bits + 0x7fffU + ((bits >> 16) & 1U)) & 0xffff0000U));
  }
  EXPECT_EQ((cast<float, float>(values, OnnxElement::bfloat16)), expected);
  EXPECT_EQ((cast<float, double>({0x1p979, -1e300, 3.4e38}, OnnxElement::bfloat16)),
            (std::vector<float>{kInfinity, -kInfinity, kInfinity}));
}

TEST(Cast, NumbersToText) {
  EXPECT_EQ(
      (cast<std::string, float>({0.1F, -314.15926F, 1e10F, 1e-7F, kNan, kInfinity, -kInfinity, 16777216})),
      (std::vector<std::string>{"0.1", "-314.15927", "10000000000", "0.0000001", "NaN", "INF", "-INF", "16777216"}));
  EXPECT_EQ((cast<std::string, double>({0.1, 1.0 / 3})), (std::vector<std::string>{"0.1", "0.3333333333333333"}));
  EXPECT_EQ((cast<std::string, double>({1e308}))[0].size(), 309U);
  const double least = -std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(cast<double>(cast<std::string, double>({least})), (std::vector<double>{least}));
  EXPECT_EQ((cast<std::string, int64_t>({std::numeric_limits<int64_t>::min()})),
            (std::vector<std::string>{"-9223372036854775808"}));
  EXPECT_EQ((cast<std::string, int8_t>({65, -1})), (std::vector<std::string>{"65", "-1"}));
}

TEST(Cast, TextToNumbers) {
  const std::vector<std::string> words = {"3.14", "1000", "1e-5", "1E8",  "+INF", "inf",
                                          "-Inf", " 2 ",  "+3",   "1e99", "1e-99"};
  const std::vector<float> floats = {3.14F, 1000, 1e-5F, 1e8F, kInfinity, kInfinity, -kInfinity, 2, 3, kInfinity, 0};
  EXPECT_EQ((cast<float, std::string>(words)), floats);
  EXPECT_TRUE(std::isnan(cast<double, std::string>({"NaN"})[0]));
  EXPECT_EQ((cast<double, std::string>({"1e400", "-1e400", "1e-400"})),
            (std::vector<double>{static_cast<double>(kInfinity), -static_cast<double>(kInfinity), 0}));
  EXPECT_EQ((cast<int8_t, std::string>({"-128", "100.5", "1e2", "+7", "-0.5"})),
            (std::vector<int8_t>{-128, 100, 100, 7, 0}));
  EXPECT_EQ((cast<uint64_t, std::string>({"18446744073709551615"})),
            (std::vector<uint64_t>{std::numeric_limits<uint64_t>::max()}));
  EXPECT_EQ((cast<bool, std::string>({"True", "false", "0", "2", "0.0"})),
            (std::vector<bool>{true, false, false, true, false}));
  // Rounded once, from the text: 2049 + 2^-40 is nearer to 2050, but float32 in between would be 2049, a tie.
  EXPECT_EQ((cast<float, std::string>({"2049.0000000000009095"}, OnnxElement::float16)), (std::vector<float>{2050}));
}

TEST(Cast, RefusesTextThatIsNoNumber) {
  EXPECT_EQ(sentence([] { cast<float, std::string>({"1", "Hello World!"}); }),
            "test: node 1 (Cast): 'Hello World!' cannot be cast to FLOAT");
  for (const std::string bad : {"", " ", "+", "1x", "+-1", "++1", "0x10", "1e99999", "--1"}) {
    EXPECT_THAT(sentence([&] { cast<double, std::string>({bad}); }), HasSubstr("cannot be cast to DOUBLE")) << bad;
  }
  for (const std::string bad : {"128", "-129", "NaN", "INF", "-INF", "++1", "one", "1e99999"}) {
    EXPECT_THAT(sentence([&] { cast<int8_t, std::string>({bad}); }), HasSubstr("cannot be cast to INT8")) << bad;
  }
  EXPECT_THAT(sentence([] { cast<uint8_t, std::string>({"-1"}); }), HasSubstr("cannot be cast to UINT8"));
  EXPECT_THAT(sentence([] { cast<int64_t, std::string>({"9223372036854775808"}); }), HasSubstr("cast to INT64"));
  EXPECT_THAT(sentence([] { cast<bool, std::string>({"yes"}); }), HasSubstr("cannot be cast to BOOL"));
}

TEST(Cast, DerivativesPassFromFloatToFloat) {
  const auto node = [](const NodeInput& x, OnnxElement to) {
    return SingleNode("Cast", {int_attribute("to", static_cast<int64_t>(to))}, {x});
  };
  expect_gradients(node(random_input<double>({3, 2}, 1), OnnxElement::float64));
  const auto backward = []<class In, class Out>(const SingleNode& made) {
    SingleNode::Run run = made.forward();
    const std::vector<Out> dy = {1, 2};
    std::vector<In> dx = {10, 10};
    const void* out[] = {dy.data()};
    void* in[] = {dx.data()};
    made.kernel().backward(run.buffers(), {out, in});
    void* none[] = {nullptr};
    made.kernel().backward(run.buffers(), {out, none});
    EXPECT_EQ(dx, (std::vector<In>{11, 12}));
  };
  const NodeInput single = counting_input<float>({2});
  const NodeInput wide = counting_input<double>({2});
  backward.operator()<float, float>(node(single, OnnxElement::float32));
  backward.operator()<float, float>(node(single, OnnxElement::float16));
  backward.operator()<float, double>(node(single, OnnxElement::float64));
  backward.operator()<double, float>(node(wide, OnnxElement::float32));
  backward.operator()<double, float>(node(wide, OnnxElement::bfloat16));
  EXPECT_TRUE(node(single, OnnxElement::float64).kernel().differentiable(0));
  EXPECT_FALSE(node(single, OnnxElement::int64).kernel().differentiable(0));
  EXPECT_FALSE(node(single, OnnxElement::boolean).kernel().differentiable(0));
  EXPECT_FALSE(node(counting_input<int32_t>({2}), OnnxElement::float32).kernel().differentiable(0));
}

TEST(Cast, RefusesTypesItCannotStore) {
  const auto refusal = [](std::vector<OnnxAttribute> attributes) {
    return sentence([&] { SingleNode("Cast", std::move(attributes), {counting_input<float>({2})}); });
  };
  EXPECT_THAT(refusal({}), HasSubstr("expected the attribute 'to', found none"));
  EXPECT_THAT(refusal({int_attribute("to", 17)}), HasSubstr("it casts to FLOAT8E4M3FN"));
  EXPECT_THAT(refusal({int_attribute("to", 14)}), HasSubstr("it casts to COMPLEX64"));
  EXPECT_THAT(refusal({int_attribute("to", 0)}), HasSubstr("it casts to"));
  EXPECT_THAT(refusal({int_attribute("to", 99)}), HasSubstr("it casts to UNKNOWN"));
  EXPECT_THAT(refusal({int_attribute("to", INT64_MIN)}), HasSubstr("there is no type -9223372036854775808"));
  EXPECT_EQ((cast<int64_t, float>({})), std::vector<int64_t>{});
}

}  // namespace
}  // namespace assay::testing
