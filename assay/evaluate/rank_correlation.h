// Rank correlation: whether two explanations of a row order its players alike (Krishna et al. 2022, and others).
//   coefficient=spearman: Pearson correlation of the ranks; ties share their mean rank
//   coefficient=kendall:  tau-b, (agreeing - disagreeing pairs) / sqrt(pairs untied in one x pairs untied in the other)
// of |phi| (order=absolute) or of phi (order=signed). A row's score is the mean over the other explanations
// (agreement/by_other.h); a table has a row for each of them.
//
// Undefined when one of the two gives all players the same rank: all zero, equal sizes, one player.
// Cost: none; d ln d for each pair of explanations.
#pragma once

#include <string>

#include "assay/evaluate/criterion.h"

namespace assay {

class RankCorrelation final : public Criterion {
 public:
  struct Options {
    std::string coefficient = "spearman";
    std::string order = "absolute";

    void describe(OptionVisitor& visit) {
      visit.choice("coefficient", coefficient, "Spearman's rho or Kendall's tau-b", {"spearman", "kendall"});
      visit.choice("order", order, "players ranked by size, or by value with its sign", {"absolute", "signed"});
    }
  };

  explicit RankCorrelation(const Options& options) : options_(options) {}
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;

 private:
  Options options_;
};

CriterionInfo rank_correlation_criterion();

}  // namespace assay
