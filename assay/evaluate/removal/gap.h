// Prediction gaps: how far the probability of the explained class (or the value of a regression) moves when some
// players of the row are perturbed: the mean over draws of |p(y|x) - p(y|x')|.
//
// `noise` adds normal noise to each column of those players. Its deviation is `scale` times the column's deviation over
// the pool, so columns of any unit move alike. Columns without deviation, such as categories, stay as they are. A row
// is undefined if its perturbed players have only such columns, or if no draw changes it because float32 is too coarse:
// a gap of 0 would say nothing. All rows share the draws. The standard error of a row is that of the mean over the
// draws. The draws' part in the error of the mean over rows does not shrink with more rows:
//   shared error = deviation over draws of (the mean over rows of that draw's gap) / sqrt(draws).
// `baseline` puts the players at the reference instead; with a background, gaps are averaged over its rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "assay/core/context.h"
#include "assay/core/options.h"
#include "assay/core/refusal.h"
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/removal/top_k.h"

namespace assay {

inline constexpr std::string_view kUnmoved = "noise moves none of the players: their columns have no deviation";
inline constexpr std::string_view kUnchanged =
    "no draw changes the row: noise is below the resolution of its numbers, or they are missing";

struct GapOptions {
  std::optional<int64_t> k = {};
  std::string perturbation = "noise";
  int64_t samples = 100;
  double scale = 0.5;

  void describe(OptionVisitor& visit) {
    describe_k(visit, k);
    visit.choice("perturbation", perturbation, "players get normal noise, or go to the reference",
                 {"noise", "baseline"});
    visit.integer("samples", samples, "draws of the noise", "draws", 2, 1'000'000);
    visit.real("scale", scale, "deviation of the noise, over that of the column in the pool", "", 1e-6, 100);
  }
};

struct GapQuestion {
  std::string_view name;  // of the criterion
  bool strongest = true;  // the k strongest are perturbed; else all others
};

std::optional<Refusal> refuses_gap(const EvaluateTask& task, const GapQuestion& question, const GapOptions& options);
void score_gap(const EvaluateTask& task, const GapQuestion& question, const GapOptions& options, Scores& scores,
               const Context& context);

// The criterion that asks this question.
template <const GapQuestion& question>
class PredictionGap final : public Criterion {
 public:
  using Options = GapOptions;

  explicit PredictionGap(const Options& options) : options_(options) {}
  std::optional<Refusal> refuses(const EvaluateTask& task) const override {
    return refuses_gap(task, question, options_);
  }
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override {
    score_gap(task, question, options_, scores, context);
  }

 private:
  Options options_;
};

}  // namespace assay
