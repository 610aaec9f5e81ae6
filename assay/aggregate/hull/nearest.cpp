#include "assay/aggregate/hull/nearest.h"

#include <algorithm>
#include <cmath>

#include "assay/aggregate/common.h"
#include "assay/aggregate/complexity/segment.h"

namespace assay {
namespace {

constexpr size_t kPolished = 6;           // starts that are followed
constexpr size_t kMostPolishSteps = 150;  // of each
constexpr size_t kMostHalvings = 25;      // of one step
constexpr size_t kBisections = 45;
constexpr double kLargestPower = 1e4;  // sizes that this power leaves alike are ties
constexpr double kLeastGain = 1e-13;   // beside rounding, not worth another step
constexpr double kNearer = 1e-12;      // a step that gains less, relative to the distance, is the last

double squared_distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (size_t k = 0; k < a.size(); k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sum;
}

// Of the powers gamma of sizes given as logarithms relative to the largest.
double power_entropy(std::span<const double> logs, double gamma) {
  double total = 0;
  double sum = 0;
  for (const double each : logs) {
    if (std::isinf(each)) continue;
    const double size = std::exp(gamma * each);
    total += size;
    sum += size * gamma * each;
  }
  return std::log(total) - sum / total;
}

class Nearest {
 public:
  Nearest(std::span<const double> x, double h) : x_(x), h_(h) {}

  std::vector<double> find(std::span<const double> start) {
    add({start.begin(), start.end()});
    add_thresholds();
    std::ranges::stable_sort(found_, {}, &Found::distance);
    found_.resize(std::min(found_.size(), kPolished));
    for (Found& each : found_) polish(each);
    return std::ranges::min_element(found_, {}, &Found::distance)->point;
  }

 private:
  struct Found {
    std::vector<double> point = {};
    double distance = 0;  // squared
  };

  std::vector<double> largest(size_t count) const {
    std::vector<double> made(x_.begin(), x_.end());
    std::fill(made.begin() + static_cast<ptrdiff_t>(count), made.end(), 0.0);
    return made;
  }

  void rescale(std::span<double> y) const {
    const double factor = dot(x_, y) / dot(y, y);
    for (double& each : y) each *= factor;
  }

  void add(std::vector<double> point) {
    rescale(point);
    const double distance = squared_distance(x_, point);
    found_.push_back({std::move(point), distance});
  }

  // As far from y towards the target as h allows. Both are positive where they are not 0, where entropy is
  // quasi-concave: it passes h once on the way, or not at all.
  void approach(std::span<double> y, std::span<const double> target) {
    trial_.resize(y.size());
    const auto above_h = [&](double t) {
      for (size_t k = 0; k < y.size(); k++) trial_[k] = y[k] + t * (target[k] - y[k]);
      return entropy_of(trial_) - h_;
    };
    double low = 0;
    double high = 1;
    double above = above_h(1);
    if (above <= 0) low = 1;
    double below = low < high ? above_h(0) : 0;
    for (size_t i = 0; i < kBisections && low < high && below < -kLeastGain; i++) {
      const double secant = low - (high - low) * below / (above - below);
      const double guess = i % 3 == 2 || !(secant > low && secant < high) ? (low + high) / 2 : secant;
      const double value = above_h(guess);
      (value > 0 ? high : low) = guess;
      (value > 0 ? above : below) = value;
    }
    for (size_t k = 0; k < y.size(); k++) y[k] += low * (target[k] - y[k]);
  }

  void add_thresholds() {
    const size_t all = static_cast<size_t>(std::ranges::count_if(x_, [](double each) { return each > 0; }));
    size_t within = 1;
    while (within < all && entropy_of(largest(within + 1)) <= h_) within++;
    std::vector<size_t> smaller = {within};
    for (size_t step = 1; step < within; step *= 2) smaller.push_back(within - step);
    if (smaller.back() != 1) smaller.push_back(1);
    for (const size_t i : smaller) add(largest(i));
    std::vector<size_t> larger;
    for (size_t step = 1; within + step < all; step *= 2) larger.push_back(within + step);
    if (within < all) larger.push_back(all);
    for (const size_t j : larger) {
      const std::vector<double> target = largest(j);
      for (const size_t i : smaller) {
        std::vector<double> point = largest(i);
        approach(point, target);
        add(std::move(point));
      }
      std::vector<double> point = target;
      if (sharpen(point, h_)) add(std::move(point));
    }
  }

  void polish(Found& found) {
    std::vector<double> target(x_.size());
    std::vector<double> tangent(x_.size());
    std::vector<double> next(x_.size());
    double step = 1;
    for (size_t round = 0; round < kMostPolishSteps; round++) {
      // Coordinates at 0 stay there: entropy rises infinitely fast beside them.
      for (size_t k = 0; k < x_.size(); k++) target[k] = found.point[k] > 0 ? x_[k] : 0;
      next = found.point;
      approach(next, target);
      rescale(next);
      found = {next, squared_distance(x_, next)};
      if (!tangent_at(found.point, tangent)) return;
      const double before = found.distance;
      step = std::min(1.0, 4 * step);
      for (size_t halving = 0; halving < kMostHalvings; halving++, step /= 2) {
        for (size_t k = 0; k < x_.size(); k++) next[k] = std::max(0.0, found.point[k] + step * tangent[k]);
        if (!(l1_norm(next) > 0) || (entropy_of(next) > h_ && !sharpen(next, h_))) continue;
        rescale(next);
        const double distance = squared_distance(x_, next);
        if (distance < found.distance) {
          found = {next, distance};
          break;
        }
      }
      if (!(found.distance < before * (1 - kNearer))) return;
    }
  }

  // What is left of x - y when its part along the gradient of H is taken away; false when nothing is.
  bool tangent_at(std::span<const double> y, std::span<double> tangent) const {
    const double total = l1_norm(y);
    const double entropy = entropy_of(y);
    double squares = 0;
    double along = 0;
    for (size_t k = 0; k < y.size(); k++) {
      tangent[k] = y[k] > 0 ? -(std::log(y[k] / total) + entropy) / total : 0;
      squares += tangent[k] * tangent[k];
      if (y[k] > 0) along += tangent[k] * (x_[k] - y[k]);
    }
    if (!(squares > 0)) return false;
    double length = 0;
    for (size_t k = 0; k < y.size(); k++) {
      if (y[k] > 0) tangent[k] = x_[k] - y[k] - tangent[k] * along / squares;
      length += tangent[k] * tangent[k];
    }
    return length > 0;
  }

  std::span<const double> x_;
  double h_;
  std::vector<Found> found_;
  std::vector<double> trial_;
};

}  // namespace

bool sharpen(std::span<double> y, double h) {
  const double most = *std::ranges::max_element(y);
  std::vector<double> logs;
  logs.reserve(y.size());
  for (const double each : y) logs.push_back(std::log(each / most));
  double low = 1;
  if (power_entropy(logs, low) <= h) return true;
  // From close by outwards: most calls come with an entropy that is all but h.
  double step = 1e-6;
  while (low + step <= kLargestPower && power_entropy(logs, low + step) > h) {
    low += step;
    step *= 8;
  }
  double high = low + step;
  if (high > kLargestPower) return false;
  // The secant's end that is within h is kept; the other only has to come near.
  double above = power_entropy(logs, low) - h;
  double below = power_entropy(logs, high) - h;
  for (size_t i = 0; i < kBisections && high - low > 1e-15 * high && below < 0; i++) {
    const double secant = low + (high - low) * above / (above - below);
    const double guess = i % 3 == 2 || !(secant > low && secant < high) ? (low + high) / 2 : secant;
    const double value = power_entropy(logs, guess) - h;
    (value > 0 ? low : high) = guess;
    (value > 0 ? above : below) = value;
    if (below > -kLeastGain) break;
  }
  for (size_t k = 0; k < y.size(); k++) y[k] = y[k] > 0 ? most * std::exp(high * logs[k]) : 0;
  return true;
}

std::vector<double> nearest_simple(std::span<const double> x, double h, std::span<const double> start) {
  return Nearest(x, h).find(start);
}

double distance_bound(std::span<const double> x, double h) {
  const double share = std::exp(-h);
  const double total = l1_norm(x);
  const auto others = static_cast<double>(x.size() - 1);
  const double missing = share * total - x[0];
  const double length = std::sqrt((1 - share) * (1 - share) + others * share * share);
  return missing > 0 && length > 0 ? missing / length : 0;
}

}  // namespace assay
