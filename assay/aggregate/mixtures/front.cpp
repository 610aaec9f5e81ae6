#include "assay/aggregate/mixtures/front.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "assay/aggregate/mixtures/simplex.h"

namespace assay {
namespace {

constexpr double kResolution = 1e9;
constexpr double kLargest = 9e9;  // whose product fits into 63 bits
constexpr size_t kRounds = 4;

// How many lattice points with these divisions; at most `limit` + 1.
size_t lattice_size(size_t members, size_t divisions, size_t limit) {
  double count = 1;
  for (size_t j = 1; j < members; j++) {
    count = count * static_cast<double>(divisions + j) / static_cast<double>(j);
    if (count > static_cast<double>(limit)) return limit + 1;
  }
  return static_cast<size_t>(std::llround(count));
}

// All ways to part `left` among the members from `at` on.
void add_lattice(std::vector<size_t>& parts, size_t at, size_t left, std::vector<std::vector<size_t>>& made) {
  if (at + 1 == parts.size()) {
    parts[at] = left;
    made.push_back(parts);
    return;
  }
  for (size_t here = left + 1; here-- > 0;) {
    parts[at] = here;
    add_lattice(parts, at + 1, left - here, made);
  }
}

// Whole parts of `divisions`, as weights.
std::vector<double> weights_of_parts(std::span<const size_t> parts, size_t divisions) {
  std::vector<double> made;
  for (const size_t part : parts) made.push_back(static_cast<double>(part) / static_cast<double>(divisions));
  return representable_weights(made);
}

}  // namespace

std::array<int64_t, 3> TradeOff::losses() const {
  const auto whole = [](double value) {
    return std::isnan(value) ? 0 : std::llround(std::clamp(value, -kLargest, kLargest) * kResolution);
  };
  return {-whole(faithfulness), whole(avg_sensitivity), whole(complexity)};
}

bool dominates(const TradeOff& a, const TradeOff& b) {
  const auto of_a = a.losses();
  const auto of_b = b.losses();
  bool better = false;
  for (size_t c = 0; c < of_a.size(); c++) {
    if (of_a[c] > of_b[c]) return false;
    better = better || of_a[c] < of_b[c];
  }
  return better;
}

std::vector<size_t> front_of(std::span<const TradeOff> points) {
  std::vector<std::array<int64_t, 3>> losses;
  for (const TradeOff& point : points) losses.push_back(point.losses());
  std::vector<size_t> order(points.size());
  for (size_t i = 0; i < order.size(); i++) order[i] = i;
  // Whoever dominates another comes before it in this order, so that only the front so far must be asked.
  std::ranges::stable_sort(order, {}, [&](size_t i) { return losses[i]; });
  std::vector<size_t> front;
  for (const size_t i : order) {
    const bool beaten = std::ranges::any_of(front, [&](size_t k) {
      return losses[k][0] <= losses[i][0] && losses[k][1] <= losses[i][1] && losses[k][2] <= losses[i][2];
    });
    if (!beaten) front.push_back(i);
  }
  std::ranges::sort(front);
  return front;
}

size_t knee_of(std::span<const TradeOff> points, std::span<const size_t> front) {
  const auto best_and_worst = [&](double TradeOff::* criterion) {
    double least = INFINITY;
    double most = -INFINITY;
    for (const size_t i : front) {
      least = std::min(least, points[i].*criterion);
      most = std::max(most, points[i].*criterion);
    }
    return std::pair(least, most);
  };
  const auto faith = best_and_worst(&TradeOff::faithfulness);
  const auto sensitivity = best_and_worst(&TradeOff::avg_sensitivity);
  const auto complexity = best_and_worst(&TradeOff::complexity);
  const auto share = [](double away, const std::pair<double, double>& range) {
    const double width = range.second - range.first;
    return width > 1 / kResolution ? away / width : 0.0;
  };
  size_t knee = 0;
  double least = INFINITY;
  for (size_t k = 0; k < front.size(); k++) {
    const TradeOff& at = points[front[k]];
    const double a = share(faith.second - at.faithfulness, faith);
    const double b = share(at.avg_sensitivity - sensitivity.first, sensitivity);
    const double c = share(at.complexity - complexity.first, complexity);
    const double away = a * a + b * b + c * c;
    if (away < least) {
      least = away;
      knee = k;
    }
  }
  return knee;
}

FrontSearch search_front(size_t members, size_t points, const Judge& judge) {
  FrontSearch made;
  const size_t half = std::max<size_t>(points / 2, 1);
  size_t divisions = 1;
  if (members > 1) {
    while (lattice_size(members, divisions + 1, half) <= half) divisions++;
  }
  std::vector<std::vector<size_t>> parts;  // of all weights so far, in units of 1 / divisions
  std::vector<size_t> room(members);
  add_lattice(room, 0, divisions, parts);
  const auto try_new = [&] {
    std::vector<std::vector<double>> fresh;
    for (size_t i = made.weights.size(); i < parts.size(); i++) fresh.push_back(weights_of_parts(parts[i], divisions));
    judge(fresh, made.found, made.valid);
    made.weights.insert(made.weights.end(), fresh.begin(), fresh.end());
  };
  try_new();
  for (size_t round = 0; round < kRounds && members > 1 && parts.size() < points; round++) {
    divisions *= 2;
    for (std::vector<size_t>& each : parts) {
      for (size_t& part : each) part *= 2;
    }
    std::vector<size_t> judged;
    std::vector<TradeOff> valid;
    for (size_t i = 0; i < made.found.size(); i++) {
      if (!made.valid[i]) continue;
      judged.push_back(i);
      valid.push_back(made.found[i]);
    }
    std::set<std::vector<size_t>> seen(parts.begin(), parts.end());
    std::vector<std::vector<size_t>> near;
    for (const size_t i : front_of(valid)) {
      for (size_t from = 0; from < members; from++) {
        for (size_t to = 0; to < members; to++) {
          std::vector<size_t> moved = parts[judged[i]];
          if (to == from || moved[from] == 0) continue;
          moved[from]--;
          moved[to]++;
          if (seen.insert(moved).second) near.push_back(std::move(moved));
        }
      }
    }
    // Evenly over the front where there are too many.
    const size_t rounds = kRounds - round;
    const size_t wanted = std::min(near.size(), (points - parts.size() + rounds - 1) / rounds);
    for (size_t i = 0; i < wanted; i++) parts.push_back(std::move(near[i * near.size() / wanted]));
    try_new();
  }
  return made;
}

}  // namespace assay
