// Top-k agreement: how many of the strongest players two explanations of a row have in common ("feature agreement" of
// Krishna et al. 2022),
//   |top k of one and top k of the other| / k,
// by |phi|, ties by index. k = auto is max(1, d / 4); a k above d is refused. A row's score is the mean over the other
// explanations (agreement/by_other.h); a table has a row for each of them. Two random orders share k / d on average.
//
// Undefined when one of the two is all zero: nothing is on top.
// Cost: none; d ln d for each pair of explanations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/evaluate/criterion.h"

namespace assay {

class TopKAgreement final : public Criterion {
 public:
  struct Options {
    std::optional<int64_t> k = {};

    void describe(OptionVisitor& visit) {
      visit.integer_or("k", k, "auto", "strongest players that are compared; auto: a quarter of them", "players", 1,
                       1'000'000);
    }
  };

  explicit TopKAgreement(const Options& options) : options_(options) {}
  std::optional<std::string> refuses(const EvaluateTask& task) const override;
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;

 private:
  Options options_;
};

CriterionInfo top_k_agreement_criterion();

}  // namespace assay
