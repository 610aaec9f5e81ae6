#include "assay/study/rounding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace assay {
namespace {

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double each : values) largest = std::max(largest, std::isfinite(each) ? std::fabs(each) : 0);
  return largest;
}

void compare_means(const std::string& what, const std::vector<double>& recorded, const std::vector<double>& found,
                   double tolerance, RoundingCheck& check) {
  if (recorded.size() != found.size()) {
    check.fail(fmt::format("{} has other numbers of values", what));
    return;
  }
  for (size_t i = 0; i < recorded.size(); i++) {
    check.numbers(fmt::format("{}, number {}", what, i + 1), recorded[i], found[i], tolerance);
  }
}

// The points are means over rows of the criterion's scores, with the options that it has in this entry.
void compare_curves(const Curve& recorded, const Curve& found, const StudyEntry& entry, const ScoreScales& scales,
                    RoundingCheck& check) {
  const std::string what = fmt::format("the curve of {} along {}", recorded.criterion, recorded.along);
  check.words("a curve's criterion", recorded.criterion, found.criterion);
  check.words("a curve's axis", recorded.along, found.along);
  const double largest = largest_of(recorded.mean);
  const auto scores = std::ranges::find(entry.scores, recorded.criterion, &Scores::criterion);
  const double floor = scores == entry.scores.end() ? score_floor(recorded.criterion, {}, largest, scales)
                                                    : score_floor(recorded.criterion, scores->options, largest, scales);
  const double near = kScoreRounding * largest + floor;
  compare_means(fmt::format("{}: x", what), recorded.x, found.x, kScoreRounding * largest_of(recorded.x), check);
  compare_means(fmt::format("{}: the means", what), recorded.mean, found.mean, near, check);
  compare_means(fmt::format("{}: the standard errors", what), recorded.error, found.error, near, check);
  compare_means(fmt::format("{}: the coverage", what), recorded.coverage, found.coverage, 0, check);
}

}  // namespace

void compare_entries(const StudyEntry& recorded, const StudyEntry& found, const ScoreScales& scales,
                     RoundingCheck& check) {
  check.words("the name", recorded.name, found.name);
  check.words("the stem", recorded.stem, found.stem);
  check.words("the kind", std::string(entry_kind_name(recorded.kind)), std::string(entry_kind_name(found.kind)));
  check.words("the rows of the pool", fmt::format("{}", recorded.pool_rows), fmt::format("{}", found.pool_rows));
  check.words("the evaluations", fmt::format("{}", recorded.evaluations), fmt::format("{}", found.evaluations));
  if (recorded.scores.size() != found.scores.size() || recorded.curves.size() != found.curves.size() ||
      recorded.variations.size() != found.variations.size()) {
    check.fail("there are other numbers of scores, curves or variations");
    return;
  }
  for (size_t i = 0; i < recorded.scores.size(); i++) {
    compare_scores(recorded.scores[i], found.scores[i], scales, check);
  }
  for (size_t i = 0; i < recorded.curves.size(); i++) {
    compare_curves(recorded.curves[i], found.curves[i], recorded, scales, check);
  }
  for (size_t i = 0; i < recorded.variations.size(); i++) {
    const Variation& a = recorded.variations[i];
    const Variation& b = found.variations[i];
    check.words("what is varied", a.what, b.what);
    check.words("what it is varied to", a.value, b.value);
    if (a.criteria != b.criteria) check.fail("the criteria of a variation differ");
    // Means of faithfulness and complexity, which have no unit. Both sides were made from their own attributions.
    compare_means(fmt::format("the means with another {}", a.what), a.mean, b.mean,
                  kScoreRounding * largest_of(a.mean) + kAttributionRounding, check);
  }
}

}  // namespace assay
