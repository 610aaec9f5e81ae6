#include "assay/study/comparisons.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "assay/core/statistics.h"
#include "assay/evaluate/criteria.h"
#include "assay/study/assess.h"

namespace assay {
namespace {

constexpr double kConfidence = 0.95;
constexpr double kLeastFloor = 1e-9;
constexpr double kNormalDegrees = 1e6;  // of freedom: Student's t is the normal distribution then

bool scored_row_by_row(const Scores& scores) { return scores.of_rows && !scores.dependent; }

double spread_of(std::span<const double> values) {
  RunningMoments moments;
  for (const double v : values) {
    if (std::isfinite(v)) moments.add(v);
  }
  return moments.count() < 2 ? 0 : moments.standard_deviation();
}

// The standard deviation of a difference that does not matter. Faithfulness is a correlation: the margin itself. Other
// criteria have units of their own: that share of the usual spread of their scores. Never less than the tie:
// differences within it do not matter, whatever the margin.
double floor_for(const Study& study, size_t criterion, const std::vector<size_t>& entries) {
  const double margin = std::max(study.advice.margin, study.advice.tie);
  if (role_of(study.criterion_names[criterion]) == CriterionRole::faithfulness) return std::max(margin, kLeastFloor);
  std::vector<double> spreads;
  for (const size_t e : entries) spreads.push_back(spread_of(study.entries[e].scores[criterion].values));
  const double usual = spreads.empty() ? 0 : quantile(spreads, 0.5);
  return std::max(margin * usual, kLeastFloor);
}

// The error of the difference of two means that comes from draws that all rows share. Both entries share the draws too,
// so this bound is rather too large than too small.
double shared_error_between(const Scores& first, const Scores& second) {
  return std::hypot(first.shared_error, second.shared_error);
}

}  // namespace

bool above_rounding(double a, double b) { return a - b > kTieRounding * std::max(std::fabs(a), std::fabs(b)); }

CriterionComparison::CriterionComparison(const Study& study, size_t criterion, std::vector<size_t> entries,
                                         const Context& context)
    : study_(study), criterion_(criterion), entries_(std::move(entries)) {
  std::vector<std::span<const double>> columns;
  for (const size_t e : entries_) {
    const Scores& scores = study.entries[e].scores[criterion];
    if (!scored_row_by_row(scores)) return;
    if (!columns.empty() && columns[0].size() != scores.values.size()) return;
    columns.emplace_back(scores.values);
  }
  if (columns.empty()) return;
  Context seeded = context;
  seeded.seed = study.facts.seed;
  by_rows_ = simultaneous_differences(
      columns, {.floor = floor_for(study, criterion, entries_), .confidence = kConfidence},
      [&](size_t i, size_t j) {
        return shared_error_between(study.entries[entries_[i]].scores[criterion],
                                    study.entries[entries_[j]].scores[criterion]);
      },
      seeded);
}

CriterionComparison::Difference CriterionComparison::by_means(size_t first, size_t second) const {
  const EntryComparison test =
      entry_comparison(study_.entries[first].scores[criterion_], study_.entries[second].scores[criterion_]);
  Difference made{.mean = test.difference, .error = test.error, .shared = 0, .rows = 0, .interval = {NAN, NAN}};
  const auto count = static_cast<double>(entries_.size());
  const double pairs = std::max(1.0, count * (count - 1) / 2);
  const double degrees = std::isfinite(test.degrees) ? test.degrees : kNormalDegrees;
  const double half = test.error * student_t_quantile(1 - (1 - kConfidence) / 2 / pairs, degrees);
  made.interval = {made.mean - half, made.mean + half};
  return made;
}

CriterionComparison::Difference CriterionComparison::between(size_t first, size_t second) const {
  Difference made;
  if (by_rows_) {
    const auto place = [&](size_t entry) {
      return static_cast<size_t>(std::ranges::find(entries_, entry) - entries_.begin());
    };
    made = by_rows_->between(place(first), place(second));
  } else if (first != second) {
    made = by_means(first, second);
  }
  if (study_.directions[criterion_] == Direction::lower) {
    made.mean = -made.mean;
    made.interval = {-made.interval.high, -made.interval.low};
  }
  return made;
}

bool CriterionComparison::better(size_t first, size_t second) const {
  const Difference found = between(first, second);
  const double size = std::max(std::fabs(study_.entries[first].scores[criterion_].mean),
                               std::fabs(study_.entries[second].scores[criterion_].mean));
  return found.interval.low > 0 && found.mean > kTieRounding * size;
}

double CriterionComparison::critical() const {
  if (by_rows_) return by_rows_->critical();
  double widest = NAN;
  for (size_t i = 0; i < entries_.size(); ++i) {
    for (size_t j = i + 1; j < entries_.size(); ++j) {
      const Difference found = by_means(entries_[i], entries_[j]);
      const double reach = (found.interval.high - found.mean) / found.error;
      if (std::isfinite(reach)) widest = std::isnan(widest) ? reach : std::max(widest, reach);
    }
  }
  return widest;
}

}  // namespace assay
