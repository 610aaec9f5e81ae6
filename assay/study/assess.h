// What a study's numbers support: the best by each criterion, what is dominated, and which rankings are not reliable.
// docs/verdict.md says the same for users.
//
//   order     by the mean over the rows for which the entry has a score
//   test      each entry against the first, two-sided at 0.05. With k entries ranked, p is multiplied by k / 2, then
//             Holm-adjusted over the k - 1 comparisons (Holm 1979)
//   dominated another entry is at least as good in every aim's mean, and better in one, beyond float32 rounding
//
// Why k / 2: the same data choose the first, and any of the k may come first. If r were fixed as the first, Holm's rule
// at level a / k would keep the chance of a false "worse" at a / k. Summed over the k choices of r, that is a. An entry
// is called worse only if it is behind, so the test is one-sided: its p is p / 2, and times k that is p k / 2. The
// smallest p is thus multiplied by (k - 1) k / 2, the number of pairs: the same as Bonferroni over all pairs.
//
// Cost: entries x criteria x rows. Nothing here is random, and the order of the rows does not matter beyond rounding.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "assay/study/study.h"

namespace assay {

// Multiply a score by this, and larger is better.
inline double direction_sign(Direction direction) { return direction == Direction::lower ? -1 : 1; }

// How an entry stands against the best by one criterion.
enum class Standing {
  undefined,  // it has no finite mean
  best,       // significantly better than every other
  tied,       // the best, or not significantly worse than it
  worse,
};

// The name in files and reports.
std::string_view standing_name(Standing standing);

struct CriterionRanking {
  size_t criterion = 0;            // index into Study::criteria
  std::vector<size_t> order;       // entries with a finite mean, best first; equal ones by index
  std::vector<Standing> standing;  // one for each entry
  // One for each entry: the adjusted p-value of its test against order[0]. NaN for order[0] and where there is no test.
  std::vector<double> p_value;
  bool ranks = false;  // false: the criterion has no direction, or no entry has a finite mean; then all else is empty
  // Entries that beat order[0] on the rows where both have a score, by more than the standard error of the difference.
  // They rank lower because their mean is over other rows.
  std::vector<size_t> ahead_on_common_rows = {};
};

// Two entries compared by one criterion.
struct EntryComparison {
  double difference = NAN;  // mean of the first minus mean of the second
  double error = NAN;       // standard error of the difference
  double p_value = NAN;     // two-sided; NaN if there is no test
  bool paired = false;      // over the rows where both are defined
};

// Student's paired t over rows. To its error is added the error of the random draws that all rows of an entry share.
// Two entries mostly share these draws too, so the sum is rather too large than too small. If values are runs or are
// dependent, only means and their errors are used: Welch's t for runs, the normal distribution for dependent values.
// A difference within float32 rounding has p = 1, even if it is the same in every row.
EntryComparison entry_comparison(const Scores& first, const Scores& second);

struct Assessment {
  std::vector<CriterionRanking> rankings;  // one for each criterion
  // For each entry: whether another entry's means are at least as good in faithfulness, average sensitivity and
  // complexity (those that are studied), and better in one. False for all if fewer than two of these rank.
  std::vector<bool> dominated;
  std::vector<size_t> dominated_by;   // the first such other entry; the entry's own index if not dominated
  std::vector<std::string> verdict;   // plain sentences: which to use when
  std::vector<std::string> warnings;  // plain sentences: what the numbers do not support
};

Assessment assess(const Study& study);

}  // namespace assay
