#include "assay/aggregate/centroids/exact_median.h"

#include <algorithm>

#include "assay/aggregate/common.h"

namespace assay {
namespace {

std::vector<double> median_on_line(MatrixView<const double> points) {
  const size_t count = points.rows();
  std::vector<size_t> order(count);
  for (size_t i = 0; i < count; i++) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](size_t i) { return points(i, 0); });
  std::vector<double> found = weights_at(points, order[(count - 1) / 2]);
  const std::vector<double> other = weights_at(points, order[count / 2]);
  for (size_t i = 0; i < count; i++) found[i] = (found[i] + other[i]) / 2;
  return found;
}

}  // namespace

std::optional<std::vector<double>> exact_median(MatrixView<const double> points) {
  const size_t size = points.cols();
  if (size == 1) return median_on_line(points);
  std::vector<double> offset(size);
  std::vector<double> pull(size);
  for (size_t j = 0; j < points.rows(); j++) {
    std::ranges::fill(pull, 0.0);
    double equal = 0;
    for (size_t i = 0; i < points.rows(); i++) {
      for (size_t k = 0; k < size; k++) offset[k] = points(j, k) - points(i, k);
      const double distance = l2_norm(offset);
      if (distance == 0) equal++;
      for (size_t k = 0; k < size && distance > 0; k++) pull[k] += offset[k] / distance;
    }
    if (l2_norm(pull) <= equal) return weights_at(points, j);
  }
  return {};
}

std::vector<double> weights_at(MatrixView<const double> points, size_t point) {
  std::vector<double> made(points.rows(), 0.0);
  double equal = 0;
  for (size_t i = 0; i < points.rows(); i++) {
    if (!std::ranges::equal(points.row(i), points.row(point))) continue;
    made[i] = 1;
    equal++;
  }
  for (double& each : made) each /= equal;
  return made;
}

}  // namespace assay
