#include "assay/aggregate/centroids/newton_search.h"

#include <cstddef>

namespace assay {
namespace {

constexpr double kFairPart = 1e-4;
constexpr double kLeastLength = 1e-12;
// Of a loss. Steps that it hides are taken all the same: bounds see what losses do not.
constexpr double kLossRounding = 1e-14;

}  // namespace

double search_along(const NewtonSearch& search, std::span<double> moved,
                    const std::function<double(std::span<const double>)>& loss) {
  if (!(search.slope < 0)) return 0;
  const auto loss_along = [&](double length) {
    for (size_t k = 0; k < moved.size(); k++) moved[k] = search.from[k] + length * search.step[k];
    return loss(moved);
  };
  double length = 1;
  double at = loss_along(length);
  while (at > search.before + kFairPart * length * search.slope + kLossRounding * search.before) {
    length /= 2;
    if (length < kLeastLength) return 0;
    at = loss_along(length);
  }
  // High powers are flat: Newton's step covers about 1 / (p - 1) of the way.
  while (search.p > 2 && length >= 1 && length < 2 * search.p) {
    const double farther = loss_along(2 * length);
    if (farther >= at * (1 - kLossRounding)) break;
    at = farther;
    length *= 2;
  }
  return length;
}

}  // namespace assay
