// Compares scores of the same attributions that were computed on another vector target or by another version: are they
// equal within the tolerances of core/rounding.h?
//
// A criterion is of one of four kinds:
//   smooth     small changes of the input change the score little: every value must be near.
//   stepwise   depends on comparisons of numbers: which class a model predicts, whether a step falls, how the
//              explanations of a changed model rank. If two of these are equal up to rounding, the score may jump.
//              All but one value in twenty (at least one) must be near.
//   quotient   divides by attributions or changes, which may be near 0. Values may differ by a hundredth, and one in
//              twenty may jump, because its divisor is nothing but rounding.
//   retrained  trains networks, and training diverges from the first rounding on. Values of runs are not compared;
//              the means may differ by 8 standard errors of the repeated run plus 0.05.
// The order of attributions makes no score jump: both scores come from the same attributions.
//
// Mean, standard error and coverage must also follow from the recorded values, even if a value jumps.
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

// Sizes of what was scored. The rounding of scores in the same unit is relative to them.
struct ScoreScales {
  double attributions = 0;  // the largest of attribution_scales (explain/rounding.h)
  double outputs = 0;       // the largest |output| or |base|
  bool regression = false;  // true: scores of outputs have the unit of the outputs; false: probabilities or log-odds
};
ScoreScales score_scales(const Explanations& scored);

// The absolute tolerance of a score, in addition to the relative one. options: of the criterion; largest: the largest
// |score| of all rows.
double score_floor(std::string_view criterion, const std::vector<std::pair<std::string, std::string>>& options,
                   double largest, const ScoreScales& scales);

void compare_scores(const Scores& recorded, const Scores& found, const ScoreScales& scales, RoundingCheck& check);

}  // namespace assay
