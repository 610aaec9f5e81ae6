// Which float32 numbers lie on which side of a number: comparisons of float32 features with float64 thresholds stay
// exact where a threshold becomes the last float32 number of its lower side. And float32 numbers as whole ones in the
// same order.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace assay {

// The largest float32 number that is not above t, which is not NaN.
inline float float_at_most(double t) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kMost = std::numeric_limits<float>::max();
  if (t > static_cast<double>(kMost)) return std::isinf(t) ? kInfinity : kMost;
  if (t < -static_cast<double>(kMost)) return -kInfinity;
  const auto nearest = static_cast<float>(t);
  return static_cast<double>(nearest) > t ? std::nextafter(nearest, -kInfinity) : nearest;
}

// The largest float32 number below t, which is not NaN; minus infinity, though not below itself, for minus infinity.
inline float float_below(double t) {
  const float found = float_at_most(t);
  return static_cast<double>(found) < t ? found : std::nextafter(found, -std::numeric_limits<float>::infinity());
}

// Keys are ordered as the numbers are, which are not NaN; -0 and 0 have the same key, 0.
inline int32_t float_key(float x) {
  const auto bits = std::bit_cast<int32_t>(x + 0.0F);  // -0 becomes 0
  return bits ^ ((bits >> 31) & std::numeric_limits<int32_t>::max());
}
// The number of a key between those of the infinities; -1, which no number has, gives -0.
inline float float_of_key(int32_t key) {
  return std::bit_cast<float>(key ^ ((key >> 31) & std::numeric_limits<int32_t>::max()));
}

}  // namespace assay
