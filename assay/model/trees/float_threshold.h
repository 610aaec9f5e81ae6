// The float32 numbers on both sides of a float64 threshold: a comparison of a float32 feature with it stays exact if
// the threshold is replaced by the last float32 number of its lower side. And keys: integers in the same order.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace assay {

// The largest float32 number that is at most t. t is not NaN.
inline float float_at_most(double t) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kMost = std::numeric_limits<float>::max();
  if (t > static_cast<double>(kMost)) return std::isinf(t) ? kInfinity : kMost;
  if (t < -static_cast<double>(kMost)) return -kInfinity;
  const auto nearest = static_cast<float>(t);
  return static_cast<double>(nearest) > t ? std::nextafter(nearest, -kInfinity) : nearest;
}

// The largest float32 number below t; minus infinity for t = minus infinity. t is not NaN.
inline float float_below(double t) {
  const float found = float_at_most(t);
  return static_cast<double>(found) < t ? found : std::nextafter(found, -std::numeric_limits<float>::infinity());
}

// A key: keys have the order of the numbers. -0 and 0 have the same key, 0. x is not NaN.
inline int32_t float_key(float x) {
  const auto bits = std::bit_cast<int32_t>(x + 0.0F);  // -0 becomes 0
  return bits ^ ((bits >> 31) & std::numeric_limits<int32_t>::max());
}
// The number of a key, which is not beyond those of the infinities. -1, which float_key never gives, becomes -0.
inline float float_of_key(int32_t key) {
  return std::bit_cast<float>(key ^ ((key >> 31) & std::numeric_limits<int32_t>::max()));
}

}  // namespace assay
