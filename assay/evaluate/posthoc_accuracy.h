// Post-hoc accuracy: whether the k strongest players alone make the model predict the same class (Chen, Song,
// Wainwright, Jordan 2018),
//   1 if the class predicted at x is the class predicted with S as in x and all others at the reference, else 0,
// with S the k players of largest |phi|. The mean over rows is the accuracy. Several reference rows: the share of them
// that keep the class.
//
// Undefined where attributions are all 0; refused for a regression.
// Deviation from the paper: it scores a selector that was trained for this and sets unselected features to 0; here the
// reference stands for absent.
// Cost: 1 evaluation for each row and reference row, and one for each row and each reference row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/evaluate/criterion.h"
#include "assay/evaluate/removal/top_k.h"

namespace assay {

class PosthocAccuracy final : public Criterion {
 public:
  struct Options {
    std::optional<int64_t> k = {};

    void describe(OptionVisitor& visit) { describe_k(visit, k); }
  };

  explicit PosthocAccuracy(const Options& options) : options_(options) {}
  std::optional<std::string> refuses(const EvaluateTask& task) const override;
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;

 private:
  Options options_;
};

CriterionInfo posthoc_accuracy_criterion();

}  // namespace assay
