// A network with one feature of a far larger size than the others.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "assay/core/random.h"
#include "tests/explain/toys.h"

namespace assay::testing {

// One hidden layer of ReLUs, its columns in this order. The first feature is raw, of size 1e5 in the rows and 0 in the
// reference; its weights of about -0.1 take pre-activations to -1e4, so that where it is there all units are off. The
// value is of size 1 with it and without: what is of size 1e4 must not leave its rounding there.
inline Setting raw_feature(const std::vector<size_t>& order) {
  constexpr size_t kHidden = 12;
  const size_t features = order.size();
  RandomStream random(3, "raw feature");
  std::vector<std::vector<float>> weights(features, std::vector<float>(kHidden));
  std::vector<float> bias(kHidden);
  std::vector<float> tail(kHidden);
  for (size_t j = 0; j < kHidden; j++) {
    for (size_t i = 0; i < features; i++) weights[i][j] = static_cast<float>(random.normal());
    weights[0][j] = -0.05F - 0.05F * std::abs(weights[0][j]);
    bias[j] = static_cast<float>(random.normal());
    tail[j] = static_cast<float>(random.normal());
  }
  std::vector<float> in_order;
  for (const size_t i : order) in_order.insert(in_order.end(), weights[i].begin(), weights[i].end());
  const auto width = static_cast<int64_t>(features);
  auto graph =
      model({node("Gemm", {"x", "w", "b"}, {"z"}), node("Relu", {"z"}, {"h"}), node("MatMul", {"h", "v"}, {"y"})},
            {value("x", {-1, width})}, {value("y", {-1, 1})},
            {floats("w", {width, kHidden}, in_order), floats("b", {kHidden}, bias), floats("v", {kHidden, 1}, tail)});
  Matrix rows(20, features);
  Matrix reference(1, features);
  for (size_t i = 0; i < features; i++) {
    for (size_t r = 0; r < rows.rows(); r++) {
      RandomStream cell(4, "raw row", r, static_cast<uint32_t>(order[i]));
      rows(r, i) = static_cast<float>(order[i] == 0 ? 1e5 * (1 + cell.uniform()) : cell.normal());
    }
    reference(0, i) = order[i] == 0 ? 0 : 0.25F;
  }
  return setting_of(EngineModel::from_onnx("raw feature", std::move(graph)), std::move(rows), std::move(reference));
}

}  // namespace assay::testing
