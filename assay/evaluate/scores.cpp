#include "assay/evaluate/scores.h"

#include <algorithm>

namespace assay {

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
  if (std::isnan(scores.mean_error)) scores.mean_error = moments.standard_error();
  scores.coverage =
      scores.values.empty() ? 0 : static_cast<double>(moments.count()) / static_cast<double>(scores.values.size());
  scores.interval = bootstrap_mean(scores.values, options.confidence, options.draws, context.seed);
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
