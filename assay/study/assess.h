// What a study's numbers support: the best by each criterion, what is dominated, and which rankings are not reliable.
// docs/verdict.md says the same for users.
//
//   order     by the mean over the rows for which the entry has a score
//   standing  each entry against the first, by intervals that hold for all pairs of entries at once (comparisons.h).
//             These same intervals make the advice (advice.h), so marks and sentences agree
//   dominated another entry is at least as good in every aim's mean, and better in one, beyond float32 rounding
//
// Cost: 1000 resamples x rows x pairs of entries, for each criterion. Resampling is by the study's seed: the same study
// has the same assessment.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "assay/study/advice.h"
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
  // One for each entry: by how much order[0] is better, over the rows that both have. NaN for order[0] itself, for what
  // has no mean, and for entries that speak with one voice with order[0] (Advice::entries).
  std::vector<double> behind;
  std::vector<Interval> behind_interval;  // of that, simultaneous, 95 %
  bool ranks = false;  // false: the criterion has no direction, or no entry has a finite mean; then all else is empty
  // Entries that beat order[0] on the rows where both have a score, by more than the standard error of the difference.
  // They rank lower because their mean is over other rows.
  std::vector<size_t> ahead_on_common_rows = {};
};

// Two entries compared by one criterion.
struct EntryComparison {
  double difference = NAN;  // mean of the first minus mean of the second
  double error = NAN;       // standard error of the difference
  double degrees = NAN;     // of freedom; infinite: by the normal distribution
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
  Advice advice;                      // which to use
  std::vector<std::string> verdict;   // the advice in plain sentences
  std::vector<std::string> warnings;  // plain sentences: what the numbers do not support
};

// The context gives threads and cancellation; the seed is the study's own.
Assessment assess(const Study& study, const Context& context = {});

}  // namespace assay
