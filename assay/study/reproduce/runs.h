// Summaries of many runs of one experiment: a mean with its interval, and comparisons of pairs.
//
// Over n runs: mean m, standard deviation s, and the 95 % interval m +- t s / sqrt(n), t the 0.975 quantile of
// Student's t with n - 1 degrees. Two series are compared by this interval of their differences, run by run. The first
// is above the second if the whole interval is above 0. A claim about several comparisons holds only if each of them
// does, so their number needs no correction. Assumes that runs are independent given the data set, which they share:
// intervals say nothing about other data.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/statistics.h"

namespace assay {

struct RunSummary {
  size_t runs = 0;  // with a defined value
  double mean = NAN;
  double deviation = NAN;
  Interval interval = {NAN, NAN};  // 95 % interval of the mean; undefined below two runs

  double reach() const { return (interval.high - interval.low) / 2; }
};
RunSummary summarise_runs(std::span<const double> values);
// The interval of Nadeau and Bengio (Machine Learning 52:239-281, 2003) for runs that split the same rows again and
// again: s^2 (1 / n + test / train) in place of s^2 / n. For shares: within 0 and 1. share: test rows for each training
// row.
Interval resplit_interval(std::span<const double> values, double share);

// Whether numbers support a claim.
enum class Support { supported, contradicted, unclear };

struct PairedRuns {
  RunSummary difference;             // first - second, over the runs where both are defined
  Support above = Support::unclear;  // that first is above second: the interval is all above 0, all below, or neither
};
PairedRuns compare_runs(std::span<const double> first, std::span<const double> second);
// Whether `a` is stronger evidence against "above" than `b`: a contradiction first, then what is not clear; then the
// smaller mean, relative to its reach.
bool more_against(const PairedRuns& a, const PairedRuns& b);
// For each run the mean over the series; NaN if one is undefined.
std::vector<double> mean_of_series(std::span<const std::span<const double>> series);
// "-0.12 (-0.2 to -0.05)"
std::string summary_text(const RunSummary& summary);

}  // namespace assay
