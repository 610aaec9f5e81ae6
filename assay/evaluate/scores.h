// Scores: what every criterion returns, whatever it measures.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/statistics.h"

namespace assay {

enum class Direction {
  higher,   // is better
  lower,    // is better
  neither,  // describes; a higher value is not better in itself
};
std::string_view direction_name(Direction direction);

// How many rows have no score, and why.
struct Undefined {
  std::string reason;  // as in "no neighbour within the radius"
  size_t rows = 0;
};

// Numbers beside the scores: a curve, results by subset size, controls.
struct ScoreTable {
  std::string name;
  std::vector<std::string> columns;
  std::vector<std::vector<double>> rows;
  std::vector<std::string> labels = {};  // of the rows, where they have names
};

struct Scores {
  std::string criterion;
  std::vector<std::pair<std::string, std::string>> options;  // all of them, with the values used
  Direction direction = Direction::neither;
  // One for each row of the explanations, NaN where undefined. For a criterion of the whole data set: one for each
  // independent run (a seed, a draw).
  std::vector<double> values;
  bool of_rows = true;
  std::vector<double> standard_error = {};  // of each value, where it is sampled; empty where nothing is
  std::vector<Undefined> undefined = {};    // all reasons, most frequent first
  // Whether the values depend on each other, for example because each is a mean over the other rows. Then the criterion
  // sets mean_error itself; NaN if it has none.
  bool dependent = false;
  // If all rows share their random draws: the standard error of the mean that comes from the draws, which the spread
  // over rows does not show. It is added to mean_error and interval.
  double shared_error = 0;
  double mean = NAN;  // this and the next two: over the defined values
  double mean_error = NAN;
  Interval interval = {NAN, NAN};
  double coverage = 0;  // share of values that are defined
  std::vector<ScoreTable> tables = {};
  std::vector<std::string> notes = {};  // what was chosen for the user (subset size, radius), one sentence each
  uint64_t evaluations = 0;             // rows that the model predicted or differentiated for this criterion alone
};

// How the interval of the mean is found: by percentile bootstrap over rows. By normal quantiles if the values are
// dependent, and by Student's t over runs, which are few.
struct SummaryOptions {
  double confidence = 0.95;
  size_t draws = 1000;  // 0: no interval
};

// Fills mean, mean_error (unless dependent), interval and coverage from the values; sorts the reasons. Infinite values
// count as defined, so they make mean and interval infinite or NaN.
void summarise(Scores& scores, const SummaryOptions& options, const Context& context);

// Counts the reasons why rows are undefined: one for each NaN that a criterion writes. Reasons stay in the order of
// their first use, also through merge().
class UndefinedCounts {
 public:
  void add(std::string_view reason, size_t rows = 1);
  void merge(const UndefinedCounts& other);
  std::vector<Undefined> take() { return std::move(counts_); }

 private:
  std::vector<Undefined> counts_;
};

}  // namespace assay
