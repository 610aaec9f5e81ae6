#include "assay/core/half.h"

#include <cmath>
#include <limits>

namespace assay {

float float_from_half(uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const auto fraction = static_cast<float>(bits & 0x3ff);
  float magnitude = 0;
  if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else if (exponent < 0x1f) {
    magnitude = std::ldexp(fraction + 1024.0F, exponent - 25);
  } else {
    magnitude = fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

}  // namespace assay
