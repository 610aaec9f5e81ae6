// What many runs of one experiment come to: a mean with its interval, comparisons of pairs, tables, and findings.
//
// Over n runs: mean m, standard deviation s, and the 95 % interval m +- t s / sqrt(n), t the 0.975 quantile of
// Student's t with n - 1 degrees. Two series are compared by that interval of their differences, run by run: above
// where all of it is above 0. A claim about several comparisons at once is supported only where each of them is, so
// that no correction for their number is due. Assumes: that runs are independent given the data set, which they share;
// intervals say nothing of other data.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/statistics.h"
#include "assay/study/reproduce/reproduction.h"

namespace assay {

struct RunSummary {
  size_t runs = 0;  // defined ones
  double mean = NAN;
  double deviation = NAN;
  Interval interval = {NAN, NAN};  // 95 % of the mean; undefined below two runs
};
RunSummary summarise_runs(std::span<const double> values);
// Of Student's t, by bisection to 1e-12: P(T <= t) = probability. For probabilities from 0.5 to 1 - 1e-9.
double student_t_quantile(double probability, double degrees);

// Whether numbers support a claim.
enum class Support { supported, contradicted, unclear };

struct PairedRuns {
  RunSummary difference;             // first - second, over the runs where both are defined
  Support above = Support::unclear;  // that first is above second: by the whole interval, or against it
};
PairedRuns compare_runs(std::span<const double> first, std::span<const double> second);
// Whether `a` speaks against the claim more than `b`: a contradiction before anything else, then the smaller mean.
bool more_against(const PairedRuns& a, const PairedRuns& b);
// The claim the other way round.
Support opposite(Support support);
// Supported when all are, contradicted when one is.
Support all_of_them(std::span<const Support> parts);
// Whether a curve, whose points are lists over runs, rises from its first point to the second and does not rise again
// after it has fallen.
Support rises_then_stays(std::span<const std::vector<double>> points);
// Of the values of several series in each run; NaN where one is undefined.
std::vector<double> mean_of_series(std::span<const std::span<const double>> series);

struct Evidence {
  Support support = Support::unclear;
  std::string text;  // "iris: 0.12 against 0.21"
};
// Replicates when there is evidence and all of it supports the claim; cannot be tested when there is none.
Finding make_finding(std::string claim, std::span<const Evidence> evidence);
// For a quick form, whose two runs leave every interval wide: no finding can be tested by them.
void withhold_findings(std::vector<Finding>& findings);
// "holds", "does not hold" or "is not clear".
std::string_view support_word(Support support);
// "0.1234 (0.1 to 0.15)"
std::string summary_text(const RunSummary& summary);

// What the runs of one set gave: a list of values for each row and column, in the order they came.
class RunTable {
 public:
  struct Cell {
    std::string row;
    std::string column;
    double paper = NAN;
    double paper_spread = NAN;
    bool printed = true;  // else for the findings alone
  };
  void add(const Cell& cell, double value, double coverage = 1);
  // None where there is no such cell.
  std::span<const double> values(std::string_view row, std::string_view column) const;
  double coverage(std::string_view row, std::string_view column) const;  // mean over runs
  void append_to(const std::string& data, std::vector<Replication>& out) const;

 private:
  struct Kept {
    Cell cell;
    std::vector<double> values = {};
    std::vector<double> coverages = {};
  };
  const Kept* find(std::string_view row, std::string_view column) const;
  std::vector<Kept> cells_;
};

}  // namespace assay
