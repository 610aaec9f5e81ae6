// Tests of whether two groups of rows differ, two-sided.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "assay/core/random.h"
#include "assay/core/statistics.h"

namespace assay {

struct GroupTest {
  double difference = NAN;  // the first less the second
  double error = NAN;       // standard error of the difference; NaN if the test has none
  double p_value = NAN;     // NaN if there is no test: fewer than two values on a side, or infinite ones
};

// Welch's t-test of two means (Biometrika 1947). To the error of each is added `shared`, a standard error that all rows
// have in common. A difference within float32 rounding has p = 1, as in entry_comparison.
GroupTest welch_test(const RunningMoments& first, const RunningMoments& second, double shared = 0);

// How often two random parts of these values, of the sizes of the groups, differ as much by Welch's t as the groups do:
// a studentised permutation test (Janssen 1997). It holds for values of any distribution, where Welch's test finds too
// much in small groups of skewed values: a group whose values happen to be small seems to vary little, too. in_group:
// for each value whether it is in the first group. Which group is the first makes no difference. Stops early, with a
// p-value that is still right (Besag and Clifford 1991), where chance alone often does as much.
double shuffled_p_value(std::span<const double> values, std::span<const uint8_t> in_group, RandomStream random);

// Fisher's exact test of two shares: the chance, the sums given, of a table that is no likelier than this one.
// Cost: the number of such tables.
GroupTest fisher_test(size_t first_successes, size_t first_count, size_t second_successes, size_t second_count);

// sum of parts / sum of wholes, with its standard error by linearisation: that of the mean of
// (part_i - ratio * whole_i) / mean of wholes. NaN if the wholes sum to 0.
struct Ratio {
  size_t count = 0;
  double ratio = NAN;
  double error = NAN;
};
Ratio ratio_of(std::span<const double> parts, std::span<const double> wholes);

// Welch's t-test of two ratios.
GroupTest ratio_test(const Ratio& first, const Ratio& second);

}  // namespace assay
