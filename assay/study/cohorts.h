// Groups of rows (cohorts) and how they differ: in the quality of the model, in what drives it, and in how far the
// recommended explanation can be trusted. find_cohorts.h makes them.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/study/quality.h"

namespace assay {

// Smaller groups, and groups that fewer rows are left beside, are shown without a test.
inline constexpr size_t kLeastCohortRows = 30;
// Drivers that are shown for a group, and that are tested: the study's main ones.
inline constexpr size_t kCohortDrivers = 3;

// How a column is cut into groups.
enum class CohortCut {
  prediction,  // right or wrong
  levels,      // one group for each value
  quantiles,   // numbers: four parts of about the same size
};
std::string_view cohort_cut_name(CohortCut cut);

enum class CohortMeasure {
  faithfulness,   // of the recommended explanation
  stability,      // of it, by the study's criterion of that role
  accuracy,       // of the model, for classes
  squared_error,  // of the model, for numbers
  driver,         // a player's share of the attributions
};
std::string_view cohort_measure_name(CohortMeasure measure);

// A group against all other rows of the same column, by one measure.
struct CohortDifference {
  CohortMeasure measure = CohortMeasure::faithfulness;
  std::optional<size_t> player = {};  // of a driver
  double difference = NAN;            // the group less the others
  double error = NAN;                 // standard error of it; NaN for accuracy, whose test is exact
  double p_value = NAN;               // two-sided, of this test alone; NaN: not tested
  double corrected = NAN;             // by Holm's correction over all tests of the study's groups
  bool different = false;             // corrected is below kSignificance
};

// A mean over the group's rows that have a value.
struct CohortScore {
  size_t rows = 0;
  double mean = NAN;
  double error = NAN;  // standard error of the mean
};

struct CohortDriver {
  size_t player = 0;
  double share = NAN;  // of all attributions: mean |attribution| over the sum of these means
};

struct Cohort {
  std::string name;  // "right", a level, "above 25, up to 33"
  size_t rows = 0;
  ModelQuality quality = {};      // on these rows alone
  double mean_output = NAN;       // of the explained value; NaN if rows explain different targets
  double mean_probability = NAN;  // of the explained class, where it is known
  std::vector<CohortDriver> drivers = {};
  CohortScore faithfulness = {};
  CohortScore stability = {};
  std::string not_tested = {};  // why there is no test; empty if there is
  std::vector<CohortDifference> differences = {};

  bool different() const;
};

// A column's groups: every row is in exactly one.
struct CohortColumn {
  std::string name;
  CohortCut cut = CohortCut::levels;
  std::vector<Cohort> cohorts = {};
};

struct StudyCohorts {
  std::vector<CohortColumn> columns = {};
  size_t tests = 0;    // that were made, which the correction is for
  bool named = false;  // whether the user named the columns
};

}  // namespace assay
