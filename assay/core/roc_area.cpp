#include "assay/core/roc_area.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay {
namespace {

// Ranks from 1, equal values with the mean of theirs.
std::vector<double> mid_ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t from = 0; from < order.size();) {
    size_t to = from;
    while (to < order.size() && values[order[to]] == values[order[from]]) to++;
    for (size_t i = from; i < to; i++) ranks[order[i]] = static_cast<double>(from + to + 1) / 2;
    from = to;
  }
  return ranks;
}

// Newcombe's method 5: solves |auc - t| = z sqrt(V(t)), with V the variance of the Mann-Whitney statistic of two
// exponential distributions. Unlike the components it never vanishes.
Interval newcombe_interval(double auc, double positives, double negatives) {
  const double extra = (positives + negatives) / 2 - 1;
  const auto reach = [&](double t) {
    const double variance = t * (1 - t) / (positives * negatives) * (1 + extra * ((1 - t) / (2 - t) + t / (1 + t)));
    return kNormal95 * std::sqrt(std::max(0.0, variance));
  };
  const auto solve = [&](double bound) {
    double within = auc;
    double beyond = bound;
    if (reach(bound) >= std::fabs(auc - bound)) return bound;
    for (int i = 0; i < 100; i++) {
      const double middle = (within + beyond) / 2;
      (reach(middle) >= std::fabs(auc - middle) ? within : beyond) = middle;
    }
    return within;
  };
  return {solve(0), solve(1)};
}

struct ClassArea {
  double auc = NAN;
  double positives = 0;
  double negatives = 0;
  // By row: its part of the error of `auc`, whose squares sum to DeLong's variance. Infinite with one row on a side.
  std::vector<double> parts;
};

ClassArea class_area(std::span<const double> scores, std::span<const size_t> labels, size_t positive) {
  ClassArea made;
  std::vector<double> sides[2];
  for (size_t i = 0; i < labels.size(); i++) sides[labels[i] == positive ? 1 : 0].push_back(scores[i]);
  made.negatives = static_cast<double>(sides[0].size());
  made.positives = static_cast<double>(sides[1].size());
  if (sides[0].empty() || sides[1].empty()) return made;
  const std::vector<double> all = mid_ranks(scores);
  const std::vector<double> within[] = {mid_ranks(sides[0]), mid_ranks(sides[1])};
  // The share of the other side that a row is above, a half for ties; of a negative row: that is above it.
  std::vector<double> shares(labels.size());
  size_t next[] = {0, 0};
  double sum = 0;
  for (size_t i = 0; i < labels.size(); i++) {
    const size_t side = labels[i] == positive ? 1 : 0;
    const double below = all[i] - within[side][next[side]++];
    shares[i] = side == 1 ? below / made.negatives : 1 - below / made.positives;
    if (side == 1) sum += shares[i];
  }
  made.auc = sum / made.positives;
  for (size_t i = 0; i < labels.size(); i++) {
    const double rows = labels[i] == positive ? made.positives : made.negatives;
    made.parts.push_back((shares[i] - made.auc) / std::sqrt(rows * (rows - 1)));
  }
  return made;
}

Interval logit_interval(double value, double error) {
  const double centre = std::log(value / (1 - value));
  const double reach = kNormal95 * error / (value * (1 - value));
  const auto back = [](double z) { return 1 / (1 + std::exp(-z)); };
  return {back(centre - reach), back(centre + reach)};
}

}  // namespace

AreaUnderCurve area_under_curve(const std::vector<std::vector<double>>& scores, std::span<const size_t> labels,
                                size_t first) {
  AreaUnderCurve made;
  double sum = 0;
  std::vector<double> parts(labels.size(), 0.0);
  Interval degenerate = {0, 0};
  for (size_t c = 0; c < scores.size(); c++) {
    const ClassArea area = class_area(scores[c], labels, first + c);
    if (std::isnan(area.auc)) continue;
    made.classes++;
    sum += area.auc;
    for (size_t i = 0; i < parts.size(); i++) parts[i] += area.parts[i];
    const Interval own = newcombe_interval(area.auc, area.positives, area.negatives);
    degenerate.low += own.low;
    degenerate.high += own.high;
  }
  if (made.classes == 0) return made;
  const auto classes = static_cast<double>(made.classes);
  made.auc = sum / classes;
  double variance = 0;
  for (const double part : parts) variance += part / classes * (part / classes);
  // Not a number: a class with one row has no variance of its own.
  const bool varies = variance > 0 && std::isfinite(variance) && made.auc > 0 && made.auc < 1;
  made.interval = varies ? logit_interval(made.auc, std::sqrt(variance))
                         : Interval{degenerate.low / classes, degenerate.high / classes};
  return made;
}

}  // namespace assay
