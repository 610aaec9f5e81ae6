// Advice: which explanation of a study to use, as data. Sentences, tables and pages are printed from it, so they cannot
// contradict each other. docs/verdict.md says the same for users.
//
//   aliases    entries whose unit vectors agree to 1e-6 on all rows are one: the first of them speaks for the others
//   compared   entries with signs. Differences of faithfulness have simultaneous 95 % intervals over all pairs
//              (core/simultaneous.h); so have those of stability and of simplicity
//   standard   the entry that others are held against: the best mean of those that are Shapley values of the game; of
//              all, if there are none. Why: see below
//   faithful   the standard's mean less the entry's: its interval lies within the margin, or the difference itself
//              within the tie. Not faithful: the interval lies beyond the margin. Else undecided, with the number of
//              rows that would decide
//   Entries above the standard by more than the margin are fitted to the test, and are not recommended.
//   overall    of the faithful ones that add up to the prediction (of all faithful ones, if none does), the best mean.
//              Means within the tie of it count as equal: exact before sampled, then the cheapest
//   faithfulness  of the faithful ones, the best mean; of those within the tie of it, complete before incomplete, exact
//              before sampled, then the cheapest
//   stability, simplicity  of the faithful methods that nothing faithful is better than, by the intervals: complete
//              before incomplete, exact before sampled, then the cheapest. An aggregate only if it is better than every
//              faithful method
//
// Why Shapley values are the standard, and completeness comes first: faithfulness correlates sums over subsets of one
// size, and a least-squares fit at that size (LIME) can score above the true attributions, far above where features
// interact. Why the tie is so small: two explanations whose correlations differ by m can be about sqrt(2 m) apart as
// unit vectors.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/statistics.h"
#include "assay/study/comparisons.h"
#include "assay/study/study.h"

namespace assay {

// Whether an entry is within the margin of the best faithfulness.
enum class Faithful {
  unknown,  // it has no score, or no signs
  no,
  undecided,
  yes,
};
std::string_view faithful_name(Faithful state);

// What is known of one entry. Scores are in Study.
struct EntryAdvice {
  size_t alias_of = 0;  // the entry that speaks for it; its own index if it speaks for itself
  Faithful faithful = Faithful::unknown;
  double behind = NAN;  // the standard's mean faithfulness less its own, over the rows that both have
  Interval behind_interval = {NAN, NAN};
  double rows_to_decide = NAN;  // where undecided: about how many rows would decide
  bool complete = false;        // attributions add up to the prediction less the base value
  bool exact = false;           // nothing in it is sampled
  bool has_signs = true;        // false for ranks
  bool shapley = false;         // it, or what it speaks for, is made of Shapley values, exact or well estimated
  uint64_t evaluations = 0;     // of the model, to make it: an aggregate costs what its members cost
};

// One recommended entry.
struct Recommendation {
  size_t entry = 0;
  size_t criterion = 0;             // that it was chosen by
  std::vector<size_t> tied = {};    // other faithful entries that the intervals do not tell from it, best first
  std::vector<size_t> better = {};  // faithful entries that it is better than, by the intervals, best first
  // Faithful entries that are better than it, by the intervals, best first: it was preferred as complete, or exact, or
  // cheaper within the tie.
  std::vector<size_t> ahead = {};
  std::vector<size_t> unfaithful =
      {};  // entries with a better mean by this criterion that are not faithful, best first
};

// What a feature contributes, by the explanation that is recommended overall.
struct Driver {
  size_t player = 0;
  double size = 0;     // mean of |attribution| over the rows
  double share = 0;    // of the sizes of all players
  double mean = 0;     // of the attribution itself
  double trend = NAN;  // correlation of the player's value with its attribution (value_trends); NaN if there is none
  Interval interval = {NAN, NAN};  // of `size`, 95 %
};

struct Gain {
  size_t aggregate = 0;  // the best faithful one by the criterion
  size_t method = 0;     // the best faithful one by the criterion
  size_t criterion = 0;
  double difference = NAN;  // how much better the aggregate is; negative: worse
  Interval interval = {NAN, NAN};
};

struct Advice {
  AdviceOptions options;
  double critical = NAN;                     // of the intervals of faithfulness
  std::vector<EntryAdvice> entries;          // one for each entry
  std::optional<size_t> most_faithful = {};  // the entry with the best mean
  std::optional<size_t> standard = {};       // the entry that others are held against
  double best_upper = NAN;                   // upper end of the 95 % interval of the standard's mean
  // best_upper is below 0.5. If the standard has Shapley values that add up to the prediction, no attribution describes
  // the model at these rows (one_number_fails). If not, none of the entries does, and others might (none_describes):
  // then none is faithful, and nothing is recommended.
  bool one_number_fails = false;
  bool none_describes = false;
  std::optional<Recommendation> overall, faithfulness, stability, simplicity;
  std::vector<Gain> gains = {};        // of aggregates over methods, by each aim
  std::vector<Driver> drivers = {};    // largest first
  std::vector<std::string> next = {};  // what to do now, one plain sentence each
};

// What is known of the entries before they are compared: aliases, completeness, cost.
std::vector<EntryAdvice> describe_entries(const Study& study);

// entries: as described. compared: one for each criterion of the study, over the entries that speak for themselves.
Advice advise(const Study& study, std::vector<EntryAdvice> entries, std::span<const CriterionComparison> compared);

// What each player contributes by this entry, over all rows, largest first.
std::vector<Driver> drivers_of(const StudyEntry& entry);
// The 95 % interval of the mean of sizes, which are not negative, by Student's t. NaN for fewer than two.
Interval size_interval(const RunningMoments& sizes);

// Whether two explanations of the same rows have the same unit vectors, to 1e-6, on every row.
bool same_directions(const Explanations& a, const Explanations& b);

// The entries that `entry` speaks for, itself left out.
std::vector<size_t> aliases_of(const Advice& advice, size_t entry);

}  // namespace assay
