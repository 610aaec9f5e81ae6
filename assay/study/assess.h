// What a study's numbers support: the best by each criterion, what is dominated, and where the ranking is not to be
// relied on. docs/verdict.md says the same for users.
//
//   order     by the mean over all rows that an entry has a score for
//   test      of each entry against the first, two-sided at 0.05; p times k / 2 for the choice of the first among k
//             entries with a mean, then Holm-adjusted over the k - 1 comparisons (Holm 1979)
//   dominated another entry is at least as good by every aim's mean, and better by one, beyond the rounding of float32
//
// Why k / 2: the first is chosen by the same data, and any of the k may come first. Were r fixed as the first, Holm's
// rule at level a / k would keep the chance of any false "worse" at a / k; the sum over the k choices of r is a. An
// entry is called worse only where it is behind, which is one side of a two-sided test: p k / 2 is the one-sided p / 2
// at that level. The smallest p is so multiplied by (k - 1) k / 2, the number of pairs, as Bonferroni would over all of
// them.
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

// Times this, more is better.
inline double direction_sign(Direction direction) { return direction == Direction::lower ? -1 : 1; }

// How an entry stands against the best by one criterion.
enum class Standing {
  undefined,  // it has no score
  best,       // significantly better than every other
  tied,       // the best, or not significantly worse than it
  worse,
};

// As files and reports have it.
std::string_view standing_name(Standing standing);

struct CriterionRanking {
  size_t criterion = 0;            // index into Study::criteria
  std::vector<size_t> order;       // entries with a mean, best first; by index where equal
  std::vector<Standing> standing;  // of all entries
  // Of the paired test against the first of `order`, adjusted for its choice and over the entries; NaN for itself and
  // where there is none.
  std::vector<double> p_value;
  bool ranks = false;  // false: the criterion has no direction, or no entry has a score; then all else is empty
  // Entries that are ahead of the first of `order` on the rows where both have a score, by more than the standard error
  // of their difference: their means are of different rows.
  std::vector<size_t> ahead_on_common_rows = {};
};

// Scores of two entries by one criterion against each other.
struct EntryComparison {
  double difference = NAN;  // of the means: first less second
  double error = NAN;       // standard error of the difference
  double p_value = NAN;     // two-sided; NaN where there is no test
  bool paired = false;      // over the rows where both are defined
};

// Student's paired t over rows, with the error that the rows' shared draws have on both sides added to its own: the
// draws of two entries are mostly the same, which makes this too large rather than too small. Where values are of runs
// or dependent, from means and their errors instead: Welch's t over runs, the normal distribution for dependent ones.
// A difference within the rounding of float32 has p = 1, however regular it is.
EntryComparison entry_comparison(const Scores& first, const Scores& second);

struct Assessment {
  std::vector<CriterionRanking> rankings;  // one for each criterion
  // Entries that another one is at least as good as by faithfulness, average sensitivity and complexity (as far as they
  // are studied), and better in one: by their means.
  std::vector<bool> dominated;
  std::vector<size_t> dominated_by;   // the first such entry; its own index where not dominated
  std::vector<std::string> verdict;   // plain sentences: which to use when
  std::vector<std::string> warnings;  // plain sentences: what the numbers do not support
};

Assessment assess(const Study& study);

}  // namespace assay
