// The numbers that tables are made of, such as -0.73645407, 42 or 1.5e-05: read eight digits at a time.
//
// The results are those of parse_number and parse_double, bit for bit. Whatever these functions do not read (more
// digits than 64 bits hold, a large exponent, inf, words, a number too near the middle of two float32) is left to them.
//
// Why the results are right: the text is digits * 10^exponent, with digits below 2^63 and |exponent| <= 22.
// - float64. A whole number up to 2^53 and a power of ten up to 10^22 are both exact doubles, so their product or
//   quotient is rounded once (Clinger, "How to read floating point numbers accurately", 1990).
// - float32. Beyond 2^53 the digits are rounded too, and where only float32 is needed the number is multiplied by an
//   inverse power of ten, which is rounded as well and takes less time than a division. Three roundings are an error of
//   at most three units in the last place of the double, and a bit. Rounding that double to float32 gives what rounding
//   the number gives, unless the middle of two float32 lies between them. So a double within four units of such a
//   middle is not used, except where it is a whole number that is known to be exact.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "assay/data/io/number.h"
#include "assay/data/lost_digits.h"

namespace assay {

// So many bytes from the start of a text are read at most, also where the text ends before.
inline constexpr size_t kPlainNumberReads = 64;

// The number is digits * 10^exponent, or minus that.
struct PlainDecimal {
  uint64_t digits = 0;
  int exponent = 0;
  bool negative = false;
};

namespace plain_number {

inline constexpr uint64_t kPowers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
inline constexpr double kExactPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr int kLargestExactPower = 22;
inline constexpr double kInversePowers[] = {1e-0, 1e-1,  1e-2,  1e-3,  1e-4,  1e-5,  1e-6,  1e-7, 1e-8,
                                            1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15, 1e-16};
inline constexpr uint64_t kExactDigits = uint64_t{1} << 53;  // whole numbers up to this are exact doubles
inline constexpr uint64_t kEndOfDigits = uint64_t{1} << 63;

// The number whose digits are these eight bytes, each 0 to 9, the first of them the lowest byte.
inline uint64_t eight_digits(uint64_t bytes) {
  // Neighbours are joined: bytes to pairs of digits, pairs to fours, fours to eight.
  bytes = bytes * 10 + (bytes >> 8);
  const uint64_t first_pairs = (bytes & 0x000000FF000000FFu) * (100 + (uint64_t{1000000} << 32));
  const uint64_t second_pairs = ((bytes >> 16) & 0x000000FF000000FFu) * (1 + (uint64_t{10000} << 32));
  return (first_pairs + second_pairs) >> 32;
}

// Whether the double is within four units of its last place of the middle of two float32. The last 29 bits of a double
// are what float32 has no room for; in the middle they are 1000...0.
inline bool near_middle(double wide) {
  constexpr uint64_t kLost = (uint64_t{1} << 29) - 1;
  constexpr uint64_t kMiddle = uint64_t{1} << 28;
  return ((std::bit_cast<uint64_t>(wide) - kMiddle + 4) & kLost) <= 8;
}

// Appends the digits that `text` begins with, at most eight, to `digits`; gives their number. Does not look whether
// there is room for them.
inline size_t append_digits(const char* text, uint64_t& digits) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, text, 8);
  // The characters 0 to 9 become the bytes 0 to 9; every other byte has its high bit set, at once or by the sum.
  bytes ^= 0x3030303030303030u;
  const uint64_t others = ((bytes + 0x7676767676767676u) | bytes) & 0x8080808080808080u;
  const auto count = static_cast<unsigned>(std::countr_zero(others)) / 8;
  // Always eight digits, the first in the lowest byte: zeros, then those of the text. Two shifts, because one by all 64
  // bits is not defined.
  const unsigned half = 4 * (8 - count);
  bytes = bytes << half << half;
  digits = digits * kPowers[count] + eight_digits(bytes);
  return count;
}

// Appends all digits that `text` begins with and gives their end; null if there are too many.
inline const char* append_all_digits(const char* text, uint64_t& digits) {
  constexpr uint64_t kRoomForEight = kEndOfDigits / 100000000 - 1;
  constexpr uint64_t kRoomForOne = kEndOfDigits / 10 - 1;
  for (int i = 0; i < 2 && digits < kRoomForEight; i++) {
    const size_t count = append_digits(text, digits);
    text += count;
    if (count < 8) return text;
  }
  for (int i = 0; i < 8; i++, text++) {
    const auto digit = static_cast<unsigned char>(*text - '0');
    if (digit > 9) return text;
    if (digits >= kRoomForOne) return nullptr;
    digits = digits * 10 + digit;
  }
  return nullptr;
}

}  // namespace plain_number

// The decimal that fills the text; false if it is not one of these. kPlainNumberReads bytes from the start of the text
// must be readable.
inline bool read_plain_decimal(const char* text, const char* end, PlainDecimal& out) {
  if constexpr (std::endian::native != std::endian::little) return false;
  const char* at = text;
  out.negative = *at == '-';
  at += static_cast<int>(out.negative) | static_cast<int>(*at == '+');
  out.digits = 0;
  const char* const whole = at;
  at = plain_number::append_all_digits(at, out.digits);
  if (at == nullptr) return false;
  ptrdiff_t count = at - whole;
  out.exponent = 0;
  if (*at == '.') {
    const char* const fraction = ++at;
    at = plain_number::append_all_digits(at, out.digits);
    if (at == nullptr) return false;
    count += at - fraction;
    out.exponent = -static_cast<int>(at - fraction);
  }
  if (count == 0) return false;
  if (at == end) return true;
  if (at > end || (*at != 'e' && *at != 'E')) return false;
  const bool small = *++at == '-';
  at += static_cast<int>(small) | static_cast<int>(*at == '+');
  const char* const power = at;
  int exponent = 0;
  for (; at < power + 4 && *at >= '0' && *at <= '9'; at++) exponent = 10 * exponent + (*at - '0');
  out.exponent += small ? -exponent : exponent;
  return at == end && at > power;
}

// What parse_number gives for this decimal; false if that is not known here.
inline bool plain_float32(const PlainDecimal& decimal, ParsedNumber& out) {
  using namespace plain_number;
  if (std::abs(decimal.exponent) > kLargestExactPower) return false;
  auto wide = static_cast<double>(static_cast<int64_t>(decimal.digits));
  wide = decimal.exponent < 0 ? wide / kExactPowers[-decimal.exponent] : wide * kExactPowers[decimal.exponent];
  if (near_middle(wide) && (decimal.exponent != 0 || decimal.digits > kExactDigits)) return false;
  if (wide >= 0x1p127) return false;  // may be too large
  const auto value = static_cast<float>(wide);
  out.rounded = false;
  if (value >= 0x1p24F) {
    if (decimal.digits > kExactDigits) return false;
    out.rounded = is_rounded(wide, value);
  }
  out.value = std::bit_cast<float>(std::bit_cast<uint32_t>(value) | static_cast<uint32_t>(decimal.negative) << 31);
  return true;
}

// What parse_double gives for this decimal; false if that is not known here.
inline bool plain_float64(const PlainDecimal& decimal, double& out) {
  using namespace plain_number;
  if (std::abs(decimal.exponent) > kLargestExactPower || decimal.digits > kExactDigits) return false;
  const auto digits = static_cast<double>(static_cast<int64_t>(decimal.digits));
  out = decimal.exponent < 0 ? digits / kExactPowers[-decimal.exponent] : digits * kExactPowers[decimal.exponent];
  if (decimal.negative) out = -out;
  return true;
}

}  // namespace assay
