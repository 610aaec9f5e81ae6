// Plain numbers are read as std::from_chars reads them, bit for bit, or not at all.
#include "assay/data/io/plain_number.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/data/io/plain_cells.h"
#include "tests/every_target.h"

namespace assay {
namespace {

// What the standard library makes of the whole text, with a plus before it or not; nothing if it is no number of this
// type.
template <class T>
std::optional<T> by_from_chars(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  T value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

// Texts with bytes behind them, which must not matter.
class Padded {
 public:
  Padded(std::string_view text, char filler) : bytes_(text), size_(text.size()) { bytes_.append(64, filler); }
  const char* begin() const { return bytes_.data(); }
  const char* end() const { return bytes_.data() + size_; }
  std::string_view view() const { return {begin(), size_}; }

 private:
  std::string bytes_;
  size_t size_;
};

// How many texts were read with a comma behind them: one by one, and by vector instructions.
struct Read {
  size_t one = 0;
  size_t many = 0;
};

void expect_as_from_chars(const std::string& text, Read& read) {
  const auto narrow = by_from_chars<float>(text);
  const auto slow = parse_number(text);
  for (const char filler : {',', '0', '7', '.', 'e', '-', '\0', '\n'}) {
    const Padded padded(text, filler);
    PlainDecimal decimal;
    ParsedNumber number{};
    float cell = 0;
    const std::string_view view = padded.view();
    const bool plain = read_plain_decimal(padded.begin(), padded.end(), decimal);
    if (plain && plain_float32(decimal, number)) {
      ASSERT_TRUE(narrow && slow) << text << " was read as " << number.value;
      ASSERT_EQ(std::bit_cast<uint32_t>(number.value), std::bit_cast<uint32_t>(*narrow)) << text;
      ASSERT_EQ(number.rounded, slow->rounded) << text;
      read.one += filler == ',' ? 1 : 0;
    }
    if (double wide = 0; plain && plain_float64(decimal, wide)) {
      const auto expected = by_from_chars<double>(text);
      ASSERT_TRUE(expected) << text << " was read as " << wide;
      ASSERT_EQ(std::bit_cast<uint64_t>(wide), std::bit_cast<uint64_t>(*expected)) << text;
    }
    if (read_plain_cells(&view, 1, &cell) == 1) {
      ASSERT_TRUE(narrow && slow) << text << " was read as " << cell;
      ASSERT_EQ(std::bit_cast<uint32_t>(cell), std::bit_cast<uint32_t>(*narrow)) << text;
      ASSERT_FALSE(slow->rounded) << text;
      read.many += filler == ',' ? 1 : 0;
    }
  }
}

// The texts on every vector target. At least these shares of them must be read.
void expect_as_from_chars(const std::vector<std::string>& texts, double least_one, double least_many) {
  on_every_target([&] {
    Read read;
    for (const std::string& text : texts) {
      expect_as_from_chars(text, read);
      if (::testing::Test::HasFatalFailure()) return;
    }
    EXPECT_GE(static_cast<double>(read.one), least_one * static_cast<double>(texts.size()));
    EXPECT_GE(static_cast<double>(read.many), least_many * static_cast<double>(texts.size()));
  });
}

TEST(PlainNumber, AllShortTexts) {
  constexpr std::string_view kAlphabet = "0159.-+e";
  std::vector<std::string> texts{""};
  for (size_t begin = 0, length = 1; length <= 5; length++) {
    const size_t end = texts.size();
    for (; begin < end; begin++) {
      for (const char c : kAlphabet) texts.push_back(texts[begin] + c);
    }
  }
  expect_as_from_chars(texts, 0.05, 0.05);
}

TEST(PlainNumber, FormsThatPeopleWriteAndOthers) {
  expect_as_from_chars(
      {"42", "-0.5", "1.", ".5", "0", "-0", "0.0", "00012", "-0.73645407", "0.028422242", "123456.789"}, 1, 1);
  expect_as_from_chars({"+1", "1e5", "1E-05", "1.25e+10", "16777217", "-16777219", "1700000060", "9007199254740992",
                        "0.12345678901234567", "-0.00012345678901234567", "1e22", "1e-22"},
                       1, 0);
  // Not plain, or no numbers at all.
  expect_as_from_chars({"inf",
                        "-inf",
                        "INF",
                        "infinity",
                        "nan",
                        "NaN",
                        "-nan",
                        "nan(1)",
                        "0x10",
                        "0x1p3",
                        "1e",
                        "1e+",
                        "e5",
                        "1.2.3",
                        "--1",
                        "+-1",
                        "-+1",
                        "1,5",
                        "1 ",
                        " 1",
                        "1_000",
                        "1e5.0",
                        "1f",
                        "1e39",
                        "-1e39",
                        "3.4028235e38",
                        "3.4028236e38",
                        "1e400",
                        "1e-400",
                        "1e99999999999",
                        "1.4e-45",
                        "7e-46",
                        "1.1754943e-38",
                        "1.1754942e-38",
                        "0x",
                        ".",
                        "-.",
                        "+",
                        "-",
                        "1:2",
                        "1/2",
                        "\xC2\xBD",
                        "1\xA0"},
                       0, 0);
}

// The numbers of tables: few digits or as many as a float or double needs.
TEST(PlainNumber, RandomDecimals) {
  RandomStream random(11, "plain numbers");
  std::vector<std::string> texts;
  for (int i = 0; i < 20000; i++) {
    std::array<char, 64> text{};
    const double value = random.normal() * std::pow(10.0, static_cast<double>(random.below(12)) - 6);
    const int digits = 1 + static_cast<int>(random.below(17));
    const bool fixed = i % 3 != 0;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                   fixed ? std::chars_format::fixed : std::chars_format::scientific, digits);
    texts.emplace_back(text.data(), end.ptr);
    const auto shortest = i % 2 == 0 ? std::to_chars(text.data(), text.data() + text.size(), static_cast<float>(value))
                                     : std::to_chars(text.data(), text.data() + text.size(), value);
    texts.emplace_back(text.data(), shortest.ptr);
  }
  expect_as_from_chars(texts, 0.8, 0.3);
}

// Any digits, any place of the point, any exponent, also with too many of each.
TEST(PlainNumber, RandomDigits) {
  RandomStream random(12, "plain digits");
  std::vector<std::string> texts;
  for (int i = 0; i < 40000; i++) {
    std::string text = random.below(2) == 0 ? "-" : "";
    const uint32_t zeros = random.below(4) == 0 ? random.below(30) : 0;
    const uint32_t digits = random.below(random.below(2) == 0 ? 12 : 40);
    text.append(zeros, '0');
    for (uint32_t k = 0; k < digits; k++) text += static_cast<char>('0' + random.below(10));
    if (random.below(4) != 0) text.insert(text.begin() + random.below(static_cast<uint32_t>(text.size()) + 1), '.');
    if (random.below(4) == 0) text += "e" + std::to_string(static_cast<int>(random.below(100)) - 50);
    texts.push_back(text);
  }
  expect_as_from_chars(texts, 0.3, 0.2);
}

// At the middle of two float32, and beside it by the last digit: rounding twice goes wrong here.
TEST(PlainNumber, MiddlesOfTwoFloats) {
  RandomStream random(13, "middles");
  std::vector<std::string> texts;
  for (int i = 0; i < 20000; i++) {
    const int exponent = static_cast<int>(random.below(40)) - 8;
    const auto low = static_cast<float>(std::ldexp(1 + random.uniform(), exponent));
    const double middle =
        (static_cast<double>(low) + static_cast<double>(std::nextafter(low, std::numeric_limits<float>::max()))) / 2;
    std::array<char, 400> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), middle, std::chars_format::fixed);
    std::string exact(text.data(), end.ptr);
    if (exact.find('.') == std::string::npos) exact += ".0";
    texts.push_back(exact);
    texts.push_back("-" + exact + "000");
    texts.push_back(exact + "1");
    texts.push_back(exact + "0000001");
    // One unit of the last digit below, with nines behind it.
    if (exact.back() == '5') {
      exact.back() = '4';
      texts.push_back(exact + "9");
      texts.push_back(exact + "99999");
      texts.push_back(exact + "9999999999");
    }
  }
  expect_as_from_chars(texts, 0.02, 0.0);
}

// Short decimals that are near a middle: all numbers of seven to nine digits cannot be tried, so those beside middles.
TEST(PlainNumber, DecimalsNextToMiddles) {
  RandomStream random(14, "near middles");
  std::vector<std::string> texts;
  for (int i = 0; i < 20000; i++) {
    const auto low = static_cast<float>(std::ldexp(1 + random.uniform(), static_cast<int>(random.below(24))));
    const double middle =
        (static_cast<double>(low) + static_cast<double>(std::nextafter(low, std::numeric_limits<float>::max()))) / 2;
    for (int decimals = 1; decimals <= 8; decimals++) {
      const double scale = std::pow(10.0, decimals);
      const auto nearest = static_cast<int64_t>(std::llround(middle * scale));
      for (int64_t step = -1; step <= 1; step++) {
        std::string digits = std::to_string(nearest + step);
        digits.insert(digits.end() - decimals, '.');
        texts.push_back(digits);
      }
    }
  }
  expect_as_from_chars(texts, 0.9, 0.8);
}

TEST(PlainNumber, ManyCellsUpToTheFirstOther) {
  const std::vector<std::string> words{"1", "-2.5", "0.125", "word", "4"};
  std::vector<Padded> padded;
  std::vector<std::string_view> cells;
  for (const std::string& word : words) padded.emplace_back(word, ',');
  for (const Padded& text : padded) cells.push_back(text.view());
  std::array<float, 5> values{};
  EXPECT_EQ(read_plain_cells(cells.data(), cells.size(), values.data()), 3u);
  EXPECT_EQ(values, (std::array<float, 5>{1, -2.5F, 0.125F, 0, 0}));
  EXPECT_EQ(read_plain_cells(cells.data() + 4, 1, values.data()), 1u);
  EXPECT_EQ(values[0], 4);
}

}  // namespace
}  // namespace assay
