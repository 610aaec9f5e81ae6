#include "assay/aggregate/centroids/hull_coordinates.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "assay/aggregate/common.h"

namespace assay {
namespace {

// Of the largest distance to the mean: what members differ by less is rounding of the mean.
constexpr double kMeanRounding = 1e-13;

void subtract_times(std::span<double> from, double factor, std::span<const double> what) {
  for (size_t p = 0; p < from.size(); p++) from[p] -= factor * what[p];
}

}  // namespace

HullCoordinates hull_coordinates(MatrixView<const double> members) {
  const size_t count = members.rows();
  const size_t players = members.cols();
  Matrix64 centred(count, players);
  std::vector<double> mean(players);
  mean_of(members, mean);
  HullCoordinates made;
  for (size_t j = 0; j < count; j++) {
    std::ranges::copy(members.row(j), centred.row(j).begin());
    subtract_times(centred.row(j), 1, mean);
    made.scale = std::max(made.scale, l2_norm(centred.row(j)));
  }
  if (made.scale <= kMeanRounding * l2_norm(members.row(0))) made.scale = 0;

  Matrix64 rest = centred;
  Matrix64 directions(std::min(count, players), players);
  size_t found = 0;
  while (made.scale > 0 && found < directions.rows()) {
    size_t farthest = 0;
    double most = 0;
    for (size_t j = 0; j < count; j++) {
      const double norm = l2_norm(rest.row(j));
      if (norm > most) {
        most = norm;
        farthest = j;
      }
    }
    if (most <= kMeanRounding * made.scale) break;
    const auto direction = directions.row(found);
    std::ranges::copy(rest.row(farthest), direction.begin());
    for (size_t k = 0; k < found; k++) subtract_times(direction, dot(direction, directions.row(k)), directions.row(k));
    const double norm = l2_norm(direction);
    for (double& each : direction) each /= norm;
    for (size_t j = 0; j < count; j++) subtract_times(rest.row(j), dot(rest.row(j), direction), direction);
    found++;
  }

  made.points = Matrix64(count, found);
  for (size_t j = 0; j < count; j++) {
    for (size_t k = 0; k < found; k++) made.points(j, k) = dot(centred.row(j), directions.row(k)) / made.scale;
  }
  return made;
}

}  // namespace assay
