// Kernel SHAP (Lundberg and Lee 2017): Shapley values as the solution of a weighted least squares problem over
// coalitions, of which a sample is evaluated.
//
// Coalitions come in complementary pairs (Covert and Lee 2021), stratified by size, small sizes whole, the rest without
// replacement (games/coalition_design.h); `sampling` says how many pairs a size gets. The regression is solved in
// float64 with the constraint that values sum to output - base (games/paired_regression.h): without a large weight for
// it, a ridge or L1 selection of features, all of which change values. A design that does not determine all values is
// refused. All rows share one design and its factorisation, so after the evaluations a row costs one matrix-vector
// product.
//
// Of the three samplings balanced had the least mean squared error, or nearly, on random networks of 14 and 20 players
// at budgets of 60 to 20,000; mostly they differ by a few percent.
//
// Standard errors are those of sampling coalitions; over many games about 95 % of value +- 1.96 errors hold the exact
// value, a little more at small budgets. They need a few pairs in every sampled size: of 4 players, where 10 to 14
// samples leave one or two, they hold only 67 to 83 %; take the 16 that are exact. A background of several rows gives
// the mean over them, and its own error.
//
// A budget of 2^d or more gives exact values from all coalitions, with errors of 0. With a tolerance, rows whose
// largest standard error is above it are done again with twice the samples, up to most_samples.
//
// Cost: `samples` evaluations for each row and reference row, the empty and the full coalition among them; with a
// tolerance the sum of the rounds. Memory: 8 bytes for each player and pair, four times that while solving.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/explain/explainer.h"
#include "assay/explain/games/game.h"

namespace assay {

class KernelShap final : public Explainer {
 public:
  struct Options {
    int64_t samples = 2048;
    std::string sampling = "balanced";
    double tolerance = 0;
    int64_t most_samples = 65536;
    void describe(OptionVisitor& visit) {
      visit.integer("samples", samples, "coalitions for each row", "evaluations", 1, 1 << 20);
      visit.choice("sampling", sampling, "how coalitions are shared out to sizes", {"balanced", "kernel", "leverage"});
      visit.real("tolerance", tolerance, "more samples until no standard error of a row is above this; 0: no more",
                 "of the explained value", 0, 1e300);
      visit.integer("most_samples", most_samples, "where rows stop that do not reach the tolerance", "evaluations", 1,
                    1 << 20);
    }
  };
  explicit KernelShap(const Options& options) : options_(options) {}

  std::optional<std::string> refuses(const ExplainTask& task) const override;
  void attribute(const ExplainTask& task, Attributions& out, const Context& context) const override;

 private:
  Options options_;
};

// Why this many players cannot be done with these options, as `refuses` says it.
std::optional<std::string> kernel_shap_refuses(size_t players, const KernelShap::Options& options);

// The same for any game. An input error when the sample does not determine all values.
void kernel_shap(const Game& game, const KernelShap::Options& options, Attributions& out, const Context& context);

MethodInfo kernel_shap_method();

}  // namespace assay
