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
//              are not compared; the means may be 4 standard errors of both apart, and 0.05.
// An order of attributions decides nothing here: both come from the same ones.
#pragma once

#include <string_view>

#include "assay/core/rounding.h"
#include "assay/evaluate/scores.h"

namespace assay {

enum class ScoreKind { smooth, stepwise, quotient, retrained };
ScoreKind score_kind(std::string_view criterion);

// scale: of the attributions that were scored, the largest of attribution_scales (explain/rounding.h). What a score in
// units of the model's output may be apart beside its own share.
void compare_scores(const Scores& recorded, const Scores& found, double scale, RoundingCheck& check);

}  // namespace assay
