// Separability: whether different rows get different explanations (Bhatt, Weller, Moura 2020, appendix),
//   mean over pairs of distinct rows x, z of D(g(x), g(z)),   D = l0 by default: the players that differ at all.
// A row's score is the mean over its partners, the other rows. Rows are distinct when their inputs differ; where the
// inputs are not known, every two rows are.
//
// All other rows are partners when there are at most `partners` of them; else so many are drawn for each row, with
// replacement, and each score has its standard error. Rows that share inputs have fewer partners than others: the mean
// then weighs rows equally, not pairs. Pairs are not independent: each row is in many. The mean over
// rows is a U-statistic, and its standard error is the jackknife's (Hajek projection),
//   Var = 4 (n - 1) / (n (n - 2)^2) x sum over rows of (score - mean)^2, about 4 / n times the variance of the scores,
// where sampled partners add to the scores' variance, which is taken off, and add the variance of their own mean.
// Undefined for a row without a partner. One pair of rows has no standard error.
// Cost: none; rows x min(rows, partners) distances.
// Deviation from the paper: none where all pairs are formed; else sampled partners.
#pragma once

#include <cstdint>

#include "assay/evaluate/common.h"
#include "assay/evaluate/criterion.h"

namespace assay {

class Separability final : public Criterion {
 public:
  struct Options {
    ComparisonOptions comparison = {.distance = "l0"};
    int64_t partners = 500;

    void describe(OptionVisitor& visit) {
      comparison.describe(visit);
      visit.integer("partners", partners, "rows that each row is compared with: all others, or so many drawn", "rows",
                    2, 1'000'000);
    }
  };

  explicit Separability(const Options& options) : options_(options) {}
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;

 private:
  Options options_;
};

CriterionInfo separability_criterion();

}  // namespace assay
