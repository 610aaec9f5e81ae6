#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "assay/aggregate/centroids/centroid_of.h"
#include "assay/aggregate/common.h"

namespace assay {

Centroid mean_centroid(MatrixView<const double> members) {
  Centroid made;
  made.values.resize(members.cols());
  mean_of(members, made.values);
  made.weights.assign(members.rows(), 1.0 / static_cast<double>(members.rows()));
  for (size_t i = 0; i < members.rows(); i++) {
    for (size_t k = 0; k < members.cols(); k++) {
      const double offset = made.values[k] - members(i, k);
      made.loss += offset * offset;
    }
  }
  made.bound = made.loss;
  return made;
}

Centroid median_centroid(MatrixView<const double> members) {
  Centroid made;
  const size_t count = members.rows();
  std::vector<double> column(count);
  for (size_t k = 0; k < members.cols(); k++) {
    for (size_t i = 0; i < count; i++) column[i] = members(i, k);
    std::ranges::sort(column);
    made.values.push_back((column[(count - 1) / 2] + column[count / 2]) / 2);
    for (const double each : column) made.loss += std::abs(made.values[k] - each);
  }
  made.bound = made.loss;
  return made;
}

double conjugate_norm(std::span<const double> values, double p) {
  const double most = std::ranges::max(values);
  if (p == 1 || most == 0) return most;
  const double q = p / (p - 1);
  double sum = 0;
  for (const double each : values) sum += std::pow(each / most, q);
  return most * std::pow(sum, 1 / q);
}

}  // namespace assay
