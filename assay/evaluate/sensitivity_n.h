// Sensitivity-n: faithfulness at every subset size (Ancona, Ceolini, Oztireli, Gross 2018). For n = 1 .. d - 1 the
// Pearson correlation, over subsets S of n players, of
//   sum over i in S of phi_i   with   f(x) - f(x with S at the reference),
// and a row's score is the mean over the sizes where it is defined. A method that has the paper's property
// "sensitivity-n" at all n scores 1.
//
// Wide rows take `sizes` sizes, evenly spread from 1 to d - 1. All subsets of a size when they are within `budget`,
// otherwise `samples` distinct random ones, the same for all rows; a row's standard error is that of the mean over
// sizes, whose subsets are drawn independently, and the mean over rows has the error of the shared subsets in its own.
// The table "by size" has the mean over rows, its standard error, the rows where it is defined, and the subsets taken.
// Deviation from the paper: it stops at about 80 % of the features and draws 100 subsets of each size; here all sizes
// count, and few subsets are enumerated. A side that does not vary makes that size undefined (see
// subsets/subset_correlation.h).
// Cost: a game value for each subset of all sizes and reference row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/evaluate/criterion.h"

namespace assay {

class SensitivityN final : public Criterion {
 public:
  struct Options {
    int64_t sizes = 32;
    int64_t budget = 1000;
    int64_t samples = 100;

    void describe(OptionVisitor& visit) {
      visit.integer("sizes", sizes, "of subsets, at most so many, evenly spread from 1 to all players but one", "sizes",
                    1, 256);
      visit.integer("budget", budget, "all subsets of a size are taken when there are at most so many", "subsets", 0,
                    1'000'000);
      visit.integer("samples", samples, "random subsets of each size beyond the budget", "subsets", 50, 100'000);
    }
  };

  explicit SensitivityN(const Options& options) : options_(options) {}
  std::optional<std::string> refuses(const EvaluateTask& task) const override;
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;

 private:
  Options options_;
};

// At most `most` sizes from 1 to players - 1, both among them (1 alone for most = 1), ascending. players >= 2.
std::vector<size_t> spread_sizes(size_t players, size_t most);

CriterionInfo sensitivity_n_criterion();

}  // namespace assay
