// Statistics in float64. Undefined is NaN: a mean of nothing, a variance of one value, a correlation with a constant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay {

// Mean and variance of values seen one at a time (Welford 1962), mergeable (Chan, Golub, LeVeque 1979).
class RunningMoments {
 public:
  void add(double value);
  void merge(const RunningMoments& other);

  size_t count() const { return count_; }
  double mean() const;
  double variance() const;  // unbiased, over count - 1
  double standard_deviation() const;
  double standard_error() const;  // of the mean

 private:
  size_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

// Pearson correlation of pairs seen one at a time, mergeable. NaN when either side has no variance.
class RunningCorrelation {
 public:
  void add(double x, double y);
  void merge(const RunningCorrelation& other);

  size_t count() const { return count_; }
  double correlation() const;

 private:
  size_t count_ = 0;
  double mean_x_ = 0;
  double mean_y_ = 0;
  double squares_x_ = 0;
  double squares_y_ = 0;
  double products_ = 0;
};

double pearson(std::span<const double> x, std::span<const double> y);

// The q-quantile by linear interpolation between order statistics (R's type 7, NumPy's default). NaN values are left
// out; NaN when none is left. The values are reordered.
double quantile(std::span<double> values, double q);

struct Interval {
  double low;
  double high;
};

// Percentile bootstrap interval of the mean. NaN values are left out. Same seed, same bits. More than 4,096 values are
// first dealt at random into 4,096 groups, and groups are drawn instead of values: their sums are as independent as the
// values, and the spread of the mean is the same. Cost: draws x min(values, 4,096).
Interval bootstrap_mean(std::span<const double> values, double confidence, size_t draws, uint64_t seed);

struct PairedTest {
  size_t pairs;            // with both values defined
  double mean_difference;  // of first - second
  double standard_error;
  double p_value;  // two-sided
};

// Student's paired t-test. A constant difference gives p = 1 when it is 0, else 0.
PairedTest paired_t_test(std::span<const double> first, std::span<const double> second);

// Paired sign-flip permutation test of the mean difference: no assumption on the shape of the differences, only that
// under the null their signs are exchangeable. Tries all 2^n sign patterns if these are at most `draws`. Otherwise
// `draws` random ones, and counts the observed pattern too, so that p is never 0. Undefined for infinite differences.
PairedTest paired_permutation_test(std::span<const double> first, std::span<const double> second, size_t draws,
                                   uint64_t seed);

// Holm's step-down correction of p-values for several comparisons. NaN stays NaN and does not count.
std::vector<double> holm_adjusted(std::span<const double> p_values);

// P(T <= t) for Student's t with this many degrees of freedom, to a relative error of 1e-10 up to a million
// degrees, also far in the tail.
double student_t_cdf(double t, double degrees);
// t with P(T <= t) = probability, by bisection to 1e-12. For probabilities from 0.5 to 1 - 1e-9.
double student_t_quantile(double probability, double degrees);

}  // namespace assay
