#include "assay/aggregate/mixtures/front.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "assay/aggregate/mixtures/simplex.h"

namespace assay {
namespace {

constexpr size_t kRounds = 4;
// Steps from one member to another that are listed in one round; a long front is looked at here and there.
constexpr size_t kMostMoves = size_t{1} << 22;

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

std::array<double, 3> TradeOff::losses() const {
  const auto known = [](double value) { return std::isnan(value) ? 0.0 : value; };
  return {-known(faithfulness), known(avg_sensitivity), known(complexity)};
}

bool dominates(const TradeOff& a, const TradeOff& b, const Resolution& resolution) {
  const auto of_a = a.losses();
  const auto of_b = b.losses();
  bool better = false;
  for (size_t c = 0; c < of_a.size(); c++) {
    if (of_a[c] > of_b[c] + resolution[c]) return false;
    better = better || of_a[c] < of_b[c] - resolution[c];
  }
  return better;
}

std::vector<Levels> levels_of(std::span<const TradeOff> points, const Resolution& resolution) {
  std::vector<Levels> made(points.size());
  std::vector<std::pair<double, size_t>> sorted(points.size());
  for (size_t c = 0; c < resolution.size(); c++) {
    for (size_t i = 0; i < points.size(); i++) sorted[i] = {points[i].losses()[c], i};
    std::ranges::sort(sorted);
    size_t level = 0;
    for (size_t k = 0; k < sorted.size(); k++) {
      if (k > 0 && sorted[k].first > sorted[k - 1].first + resolution[c]) level++;
      made[sorted[k].second][c] = level;
    }
  }
  return made;
}

std::vector<size_t> front_of(std::span<const TradeOff> points, const Resolution& resolution, const Context& context) {
  const std::vector<Levels> levels = levels_of(points, resolution);
  context.check_cancelled();
  std::vector<size_t> order(points.size());
  for (size_t i = 0; i < order.size(); i++) order[i] = i;
  // Whoever dominates another comes before it in this order, so that only the front so far must be asked.
  std::ranges::stable_sort(order, {}, [&](size_t i) { return levels[i]; });
  context.check_cancelled();
  // Those that came before are no higher in the first criterion. Of the other two only a staircase of theirs counts:
  // by second level the least third level so far, which falls from one step to the next.
  std::map<size_t, size_t> stairs;
  std::vector<size_t> front;
  for (const size_t i : order) {
    const auto [first, second, third] = levels[i];
    auto above = stairs.upper_bound(second);
    if (above != stairs.begin() && std::prev(above)->second <= third) continue;
    front.push_back(i);
    while (above != stairs.end() && above->second >= third) above = stairs.erase(above);
    stairs[second] = third;
  }
  std::ranges::sort(front);
  return front;
}

size_t knee_of(std::span<const TradeOff> points, std::span<const size_t> front, const Resolution& resolution) {
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
  const auto share = [&](double away, const std::pair<double, double>& range, size_t criterion) {
    const double width = range.second - range.first;
    return width > resolution[criterion] ? away / width : 0.0;
  };
  size_t knee = 0;
  double least = INFINITY;
  for (size_t k = 0; k < front.size(); k++) {
    const TradeOff& at = points[front[k]];
    const double a = share(faith.second - at.faithfulness, faith, 0);
    const double b = share(at.avg_sensitivity - sensitivity.first, sensitivity, 1);
    const double c = share(at.complexity - complexity.first, complexity, 2);
    const double away = a * a + b * b + c * c;
    if (away < least) {
      least = away;
      knee = k;
    }
  }
  return knee;
}

FrontSearch search_front(size_t members, size_t points, const Judge& judge, const Resolution& resolution,
                         const Context& context) {
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
    const std::vector<size_t> front = front_of(valid, resolution, context);
    const size_t looked_at = std::min(front.size(), std::max<size_t>(kMostMoves / (members * (members - 1)), 1));
    for (size_t at = 0; at < looked_at; at++) {
      if (at % 1024 == 0) context.check_cancelled();
      const std::vector<size_t>& here = parts[judged[front[at * front.size() / looked_at]]];
      for (size_t from = 0; from < members; from++) {
        for (size_t to = 0; to < members; to++) {
          std::vector<size_t> moved = here;
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
