// Rows, weights and multipliers for the tests of DeepLift on graphs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/core/random.h"
#include "assay/model/engine_model.h"

namespace assay::testing {

inline constexpr DeepLiftRule kRules[] = {DeepLiftRule::rescale, DeepLiftRule::reveal_cancel};

inline std::vector<float> random_floats(size_t count, uint64_t seed, double scale = 1) {
  std::vector<float> made(count);
  RandomStream stream(seed, "deeplift test", 0);
  for (float& each : made) each = static_cast<float>(scale * (2 * stream.uniform() - 1));
  return made;
}

inline Matrix random_matrix(size_t rows, size_t cols, uint64_t seed, double scale = 1) {
  Matrix made(rows, cols);
  const auto values = random_floats(rows * cols, seed, scale);
  std::copy(values.begin(), values.end(), made.values().begin());
  return made;
}

inline Matrix ones_for(size_t rows) {
  Matrix made(rows, 1);
  std::fill(made.values().begin(), made.values().end(), 1.0F);
  return made;
}

inline Matrix multipliers_of(const Model& model, const Matrix& x, const Matrix& reference, const Matrix& weights,
                             DeepLiftRule rule, const Context& context = {}) {
  Matrix made(x.rows(), x.cols());
  model.rescalable()->multipliers(x.view(), reference.view(), weights.view(), rule, made.view(), context);
  return made;
}

}  // namespace assay::testing
