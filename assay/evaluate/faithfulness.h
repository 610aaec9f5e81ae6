// Faithfulness: whether attributions say how much the model loses without them (Bhatt, Weller, Moura 2020,
// Definition on faithfulness): Pearson's correlation, over subsets S of one size, of
//   sum over i in S of phi_i   with   f(x) - f(x with S at the reference),
// f the explained value, whose target is frozen at x. With a background f(x with S at the reference) is the mean over
// its rows, taken before correlating.
//
// All C(d, |S|) subsets when they are within `budget`: no sampling error. Otherwise `samples` distinct random ones, the
// same for all rows, with a standard error for each row (subsets/subset_correlation.h, which also says when a side
// counts as constant: then the score is undefined, never 0). The mean over rows has the error of the shared subsets in
// its own. With fewer than 50 subsets these errors would be too small, so fewer are not taken.
//
// form = pooled is the paper's own experiment: in each of `runs` runs every row loses one random subset of its own, and
// over the rows the mean attribution in the subset is correlated with the value of the modified row. A faithful
// explanation gives high attributions to what lowers that value when it goes, so the paper's correlation falls as
// faithfulness rises, and its sign is turned here: a run's score is minus the correlation of the text. A table gives
// for each run the correlation as printed, and beside it the one with f(x) - f(modified x). The error over runs is that
// of the subsets alone: all runs have the same rows, and say nothing of others.
// Deviation from the paper: its tables are means of the pooled form, all positive, without a word on the sign; rows of
// different f(x) are mixed there, and even a perfect explanation of a linear model of independent features scores about
// 0 (with the difference instead: 1). So the definition, per_row, is the default.
// Cost: a game value for each subset and reference row; pooled: `runs` evaluations for each reference row, and one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/core/matrix.h"
#include "assay/evaluate/criterion.h"
#include "assay/explain/games/game.h"

namespace assay {

class Faithfulness final : public Criterion {
 public:
  struct Options {
    std::optional<int64_t> subset = {};
    int64_t budget = 4096;
    int64_t samples = 1000;
    std::string form = "per_row";
    int64_t runs = 10;

    void describe(OptionVisitor& visit) {
      visit.integer_or("subset", subset, "auto", "players that are removed together; auto: a quarter of them",
                       "players", 1, 1'000'000);
      visit.integer("budget", budget, "all subsets are taken when there are at most so many", "subsets", 0, 1'000'000);
      visit.integer("samples", samples, "random subsets beyond the budget", "subsets", 50, 100'000);
      visit.choice("form", form, "over subsets of each row, or over rows with one random subset each",
                   {"per_row", "pooled"});
      visit.integer("runs", runs, "of the pooled form, each with subsets of its own", "runs", 1, 10'000);
    }
  };

  explicit Faithfulness(const Options& options) : options_(options) {}
  std::optional<std::string> refuses(const EvaluateTask& task) const override;
  bool scores_rows() const override { return options_.form != "pooled"; }
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override;

 private:
  size_t subset_size(size_t players) const;
  void score_pooled(const EvaluateTask& task, Scores& scores, const Context& context) const;

  Options options_;
};

// For each row the correlation over exactly these subsets, in any sizes; NaN where undefined. attributions: a row for
// each row of the game, a column for each player.
std::vector<double> faithfulness_of(const Game& game, MatrixView<const float> attributions,
                                    std::span<const std::vector<uint32_t>> subsets, const Context& context);

CriterionInfo faithfulness_criterion();

}  // namespace assay
