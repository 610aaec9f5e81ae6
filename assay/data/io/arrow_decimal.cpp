#include <array>
#include <charconv>
#include <cmath>

#include "assay/data/io/arrow_window.h"

namespace assay {
namespace {

// Whole numbers and powers of ten that doubles hold exactly: their quotient is rounded once.
constexpr Int128 kMostExact = Int128{1} << 53;
constexpr std::array<double, 23> kPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                            1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

}  // namespace

double decimal_number(Int128 unscaled, int scale) {
  const bool exact = unscaled >= -kMostExact && unscaled <= kMostExact;
  if (exact && scale >= 0 && static_cast<size_t>(scale) < kPowers.size()) {
    return static_cast<double>(static_cast<int64_t>(unscaled)) / kPowers[static_cast<size_t>(scale)];
  }
  // As text, which from_chars rounds correctly.
  __extension__ using Magnitude = unsigned __int128;
  const bool negative = unscaled < 0;
  Magnitude left = negative ? Magnitude{0} - static_cast<Magnitude>(unscaled) : static_cast<Magnitude>(unscaled);
  std::array<char, 64> text{};
  size_t begin = 48;  // 2^127 has 39 digits
  const auto stop = std::to_chars(text.data() + begin + 1, text.data() + text.size(), -scale);
  text[begin] = 'e';
  do {
    text[--begin] = static_cast<char>('0' + static_cast<int>(left % 10));
    left /= 10;
  } while (left > 0);
  double number = 0;
  std::from_chars(text.data() + begin, stop.ptr, number);
  return negative ? -number : number;
}

}  // namespace assay
