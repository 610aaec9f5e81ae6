#include "assay/evaluate/scores.h"

#include <algorithm>

namespace assay {
namespace {

// Of a distribution that is symmetric around 0, by bisection: once for a summary.
template <class Distribution>
double quantile_of(const Distribution& distribution, double probability) {
  double low = -1e6;
  double high = 1e6;
  for (int step = 0; step < 100; step++) {
    const double middle = (low + high) / 2;
    (distribution(middle) < probability ? low : high) = middle;
  }
  return low;
}

double normal_quantile(double probability) {
  return quantile_of([](double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }, probability);
}

Interval interval_of(const Scores& scores, size_t count, const SummaryOptions& options, const Context& context) {
  // One value says nothing of the spread of others.
  if (options.draws == 0 || (count < 2 && !scores.dependent)) return {NAN, NAN};
  if (scores.of_rows && !scores.dependent) {
    return bootstrap_mean(scores.values, options.confidence, options.draws, context.seed);
  }
  const double tail = (1 + options.confidence) / 2;
  const auto degrees = static_cast<double>(count) - 1;
  const double width =
      scores.dependent ? normal_quantile(tail) : quantile_of([&](double t) { return student_t_cdf(t, degrees); }, tail);
  return {scores.mean - width * scores.mean_error, scores.mean + width * scores.mean_error};
}

}  // namespace

std::string_view direction_name(Direction direction) {
  switch (direction) {
    case Direction::higher: return "higher";
    case Direction::lower: return "lower";
    case Direction::neither: break;
  }
  return "neither";
}

void summarise(Scores& scores, const SummaryOptions& options, const Context& context) {
  RunningMoments moments;
  double sum = 0;
  for (const double value : scores.values) {
    if (std::isnan(value)) continue;
    moments.add(value);
    sum += value;
  }
  // Infinities have a mean, though no moments.
  scores.mean = std::isinf(sum) ? sum : moments.mean();
  scores.coverage =
      scores.values.empty() ? 0 : static_cast<double>(moments.count()) / static_cast<double>(scores.values.size());
  if (!scores.dependent) scores.mean_error = moments.standard_error();
  scores.interval = interval_of(scores, moments.count(), options, context);
  if (scores.shared_error > 0) {
    const double spread = normal_quantile((1 + options.confidence) / 2) * scores.shared_error;
    scores.interval.low = scores.mean - std::hypot(scores.mean - scores.interval.low, spread);
    scores.interval.high = scores.mean + std::hypot(scores.interval.high - scores.mean, spread);
    scores.mean_error = std::hypot(scores.mean_error, scores.shared_error);
  }
  std::ranges::stable_sort(scores.undefined, [](const Undefined& a, const Undefined& b) { return a.rows > b.rows; });
}

void UndefinedCounts::add(std::string_view reason, size_t rows) {
  if (rows == 0) return;
  const auto found = std::ranges::find(counts_, reason, &Undefined::reason);
  if (found != counts_.end()) {
    found->rows += rows;
  } else {
    counts_.push_back({std::string(reason), rows});
  }
}

void UndefinedCounts::merge(const UndefinedCounts& other) {
  for (const Undefined& each : other.counts_) add(each.reason, each.rows);
}

}  // namespace assay
