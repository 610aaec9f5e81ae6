#include "assay/evaluate/scores.h"

#include <algorithm>

namespace assay {
namespace {

// The standard normal's, by bisection of its distribution: once for a summary.
double normal_quantile(double probability) {
  double low = -40;
  double high = 40;
  for (int step = 0; step < 100; step++) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < probability ? low : high) = middle;
  }
  return low;
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
  for (const double value : scores.values) {
    if (!std::isnan(value)) moments.add(value);
  }
  scores.mean = moments.mean();
  scores.coverage =
      scores.values.empty() ? 0 : static_cast<double>(moments.count()) / static_cast<double>(scores.values.size());
  if (scores.dependent) {
    const double half = normal_quantile((1 + options.confidence) / 2) * scores.mean_error;
    scores.interval = options.draws == 0 ? Interval{NAN, NAN} : Interval{scores.mean - half, scores.mean + half};
  } else {
    scores.mean_error = moments.standard_error();
    scores.interval = bootstrap_mean(scores.values, options.confidence, options.draws, context.seed);
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
