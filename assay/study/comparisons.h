// All entries of a study compared by one criterion, two at a time, with intervals that hold for all pairs at once.
//
// Rows that are scored one by one: core/simultaneous.h, a bootstrap over rows. Criteria whose values are runs, or
// depend on each other: means and their errors, with Bonferroni's correction over all pairs (Student's t for runs, the
// normal distribution for dependent values).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/simultaneous.h"
#include "assay/study/study.h"

namespace assay {

// Relative difference of scores that is only float32 rounding: two methods that compute the same values may differ by
// this much, and nothing should tell them apart.
inline constexpr double kTieRounding = 1e-6;

// Whether a exceeds b by more than kTieRounding, relatively. False if one is NaN.
bool above_rounding(double a, double b);

class CriterionComparison {
 public:
  using Difference = SimultaneousDifferences::Difference;

  // entries: those that are compared, each with a finite mean by this criterion.
  CriterionComparison(const Study& study, size_t criterion, std::vector<size_t> entries, const Context& context);

  const std::vector<size_t>& entries() const { return entries_; }
  // How much better `first` is than `second`, two of `entries`: positive if better, whatever the criterion's direction.
  Difference between(size_t first, size_t second) const;
  // Whether the interval says that `first` is better than `second`.
  bool better(size_t first, size_t second) const;
  // By how many errors the intervals reach to each side; for runs and dependent values that of the widest pair.
  double critical() const;

 private:
  Difference by_means(size_t first, size_t second) const;

  const Study& study_;
  size_t criterion_;
  std::vector<size_t> entries_;
  std::optional<SimultaneousDifferences> by_rows_;
};

}  // namespace assay
