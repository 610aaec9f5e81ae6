// Sign agreement: how many of the strongest players two explanations of a row have in common and with the same sign
// (Krishna et al. 2022),
//   |players in the top k of both whose values have the same sign| / k,
// by |phi|, ties by index. With k = all, the default, it is the share of all players with the same sign; 0 has a sign
// of its own, the same as that of another 0. A k above d is refused. A row's score is the mean over the other
// explanations (agreement/by_other.h); a table has a row for each of them.
//
// Undefined when one of the two is all zero. Cost: none; d ln d for each pair of explanations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/evaluate/criterion.h"

namespace assay {

class SignAgreement final : public Criterion {
 public:
  struct Options {
    std::optional<int64_t> k = {};

    void describe(OptionVisitor& visit) {
      visit.integer_or("k", k, "all", "strongest players that are compared", "players", 1, 1'000'000);
    }
  };

  explicit SignAgreement(const Options& options) : options_(options) {}
  std::optional<std::string> refuses(const EvaluateTask& task) const override;
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;

 private:
  Options options_;
};

CriterionInfo sign_agreement_criterion();

}  // namespace assay
