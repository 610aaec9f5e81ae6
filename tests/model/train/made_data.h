// Small data sets made up for tests of training.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/data/dataset.h"

namespace assay {

inline Dataset unlabelled(size_t rows, size_t features, uint64_t seed) {
  Dataset data;
  data.source = "made.csv";
  data.label_name = "y";
  data.x = Matrix(rows, features);
  RandomStream random(seed, "made_data");
  for (float& value : data.x.values()) value = static_cast<float>(random.normal());
  for (size_t j = 0; j < features; ++j) {
    data.feature_names.push_back(std::string("f").append(std::to_string(j)));
    data.groups.push_back({data.feature_names.back(), j});
  }
  return data;
}

// Two classes: whether the point of the first two features is outside a circle. The other features are noise.
inline Dataset circle(size_t rows, size_t features, uint64_t seed) {
  Dataset data = unlabelled(rows, features, seed);
  data.class_names = {"inside", "outside"};
  for (size_t i = 0; i < rows; ++i) data.labels.push_back(std::hypot(data.x(i, 0), data.x(i, 1)) > 1.2f ? 1.0f : 0.0f);
  return data;
}

// A regression on numbers far from mean 0 and deviation 1: y = 1000 + 50 (x0 / 100) - 20 (x1 - 5)^2.
inline Dataset curve(size_t rows, uint64_t seed) {
  Dataset data = unlabelled(rows, 2, seed);
  for (size_t i = 0; i < rows; ++i) {
    const float a = data.x(i, 0), b = data.x(i, 1);
    data.labels.push_back(1000 + 50 * a - 20 * b * b);
    data.x(i, 0) = 100 * a;
    data.x(i, 1) = 5 + b;
  }
  return data;
}

// 12 x 12 images in bytes with a bright stripe: across (0) or down (1).
inline Dataset stripes(size_t rows, uint64_t seed) {
  constexpr size_t kSide = 12;
  Dataset data = unlabelled(rows, kSide * kSide, seed);
  data.item_shape = {kSide, kSide};
  data.class_names = {"across", "down"};
  RandomStream random(seed, "stripes");
  for (size_t i = 0; i < rows; ++i) {
    const uint32_t label = random.below(2), at = random.below(kSide);
    data.labels.push_back(static_cast<float>(label));
    for (size_t j = 0; j < kSide * kSide; ++j) {
      const bool bright = (label == 0 ? j / kSide : j % kSide) == at;
      data.x(i, j) = bright ? 255.0f : static_cast<float>(random.below(80));
    }
  }
  return data;
}

}  // namespace assay
