// Prediction gaps: how far the probability of the explained class (a regression's value) moves when some players of the
// row are perturbed, mean over draws of |p(y|x) - p(y|x')|.
//
// Noise adds to each column of those players a normal draw of deviation scale x (the column's over the pool), so that
// columns of all units move alike. A column without deviation, as of a category, stays what it is; a row whose
// perturbed players have no other columns is undefined, since a gap of 0 would say nothing about them; and so is a row
// that no draw changes, because float32 is too coarse for it. The draws are the same for all rows, and the standard
// error of a row is that of the mean over them. Their part in the error of the mean over rows does not shrink with
// more rows:
//   shared error = deviation over draws of (the mean over rows of that draw's gap) / sqrt(draws).
// `baseline` puts the players at the reference instead; then a background is averaged over.
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

}  // namespace assay
