// Summaries of many runs of one experiment: a mean with its interval, comparisons of pairs, tables, and findings.
//
// Over n runs: mean m, standard deviation s, and the 95 % interval m +- t s / sqrt(n), t the 0.975 quantile of
// Student's t with n - 1 degrees. Two series are compared by this interval of their differences, run by run. The first
// is above the second if the whole interval is above 0. A claim about several comparisons is supported only if each of
// them is, so their number needs no correction. Assumes that runs are independent given the data set, which they
// share: intervals say nothing about other data.
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
  size_t runs = 0;  // with a defined value
  double mean = NAN;
  double deviation = NAN;
  Interval interval = {NAN, NAN};  // 95 % interval of the mean; undefined below two runs
};
RunSummary summarise_runs(std::span<const double> values);

// Whether numbers support a claim.
enum class Support { supported, contradicted, unclear };

struct PairedRuns {
  RunSummary difference;             // first - second, over the runs where both are defined
  Support above = Support::unclear;  // that first is above second: the interval is all above 0, all below, or neither
};
PairedRuns compare_runs(std::span<const double> first, std::span<const double> second);
// Whether `a` is stronger evidence against "above" than `b`: a contradiction first, then the smaller mean.
bool more_against(const PairedRuns& a, const PairedRuns& b);
// Support for the opposite claim.
Support opposite(Support support);
// Supported when all are, contradicted when one is.
Support all_of_them(std::span<const Support> parts);
// Whether a curve rises from its first point to the second and never rises again once it has fallen. points[i]: the
// values of point i over runs.
Support rises_then_stays(std::span<const std::vector<double>> points);
// For each run the mean over the series; NaN if one is undefined.
std::vector<double> mean_of_series(std::span<const std::span<const double>> series);

struct Evidence {
  Support support = Support::unclear;
  std::string text;  // "iris: 0.12 against 0.21"
};
// Replicates when there is evidence and all of it supports the claim; cannot be tested when there is none.
Finding make_finding(std::string claim, std::span<const Evidence> evidence);
// Marks all findings as "cannot be tested", for the quick form: its two runs leave every interval wide.
void withhold_findings(std::vector<Finding>& findings);
// "holds", "does not hold" or "is not clear".
std::string_view support_word(Support support);
// "0.1234 (0.1 to 0.15)"
std::string summary_text(const RunSummary& summary);

// The results of one set: for each row and column a list of values over runs, in the order they were added.
class RunTable {
 public:
  struct Cell {
    std::string row;
    std::string column;
    double paper = NAN;
    double paper_spread = NAN;
    bool printed = true;  // false: used only for findings
  };
  void add(const Cell& cell, double value, double coverage = 1);
  // Empty if there is no such cell.
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
