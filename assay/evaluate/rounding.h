// Whether scores that were computed on another vector target, or by another version, from the same attributions are the
// same within the tolerances of core/rounding.h.
//
// A criterion is of one of four kinds:
//   smooth     a little more or less of what it reads changes it a little: every value must be near.
//   stepwise   comparisons of numbers that are not kept decide it: which class a model predicts, whether a step falls,
//              how the explanations of a changed model rank. Where two of them are equal up to rounding, a value jumps.
//              All but one value in twenty (at least one) must be near.
//   quotient   divided by single attributions, which may be near 0, or by changes that are: a hundredth of itself, and
//              one value in twenty may jump, where what it is divided by is rounding itself.
//   retrained  networks are trained for it, and training takes another way from its first rounding on. Values of runs
//              are not compared; the means may be 8 standard errors of the one that was made again apart, and 0.05.
// An order of attributions decides nothing here: both come from the same ones.
//
// Mean, standard error and coverage must follow from the recorded values besides. So a value that jumps does not leave
// them free.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/core/rounding.h"
#include "assay/evaluate/scores.h"
#include "assay/explain/explanations.h"

namespace assay {

enum class ScoreKind { smooth, stepwise, quotient, retrained };
ScoreKind score_kind(std::string_view criterion);

// What the rounding of scores is measured by that have the unit of something that was scored.
struct ScoreScales {
  double attributions = 0;  // the largest of attribution_scales (explain/rounding.h)
  double outputs = 0;       // the largest |output| or |base|
  bool regression = false;  // scores of the model's outputs are in their unit; else they are probabilities and log-odds
};
ScoreScales score_scales(const Explanations& scored);

// How far a score of this size may be apart, beside its own share. options: of the criterion; largest: the largest
// |score| of all rows.
double score_floor(std::string_view criterion, const std::vector<std::pair<std::string, std::string>>& options,
                   double largest, const ScoreScales& scales);

void compare_scores(const Scores& recorded, const Scores& found, const ScoreScales& scales, RoundingCheck& check);

}  // namespace assay
