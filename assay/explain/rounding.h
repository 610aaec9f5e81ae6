// Whether explanations that were computed on another vector target, or by another version, are the same within the
// tolerances of core/rounding.h. What is no number (names, targets, options, which arrays there are) must be equal,
// but for the version and vector target that provenance names.
#pragma once

#include <string>

#include "assay/core/matrix.h"
#include "assay/core/rounding.h"
#include "assay/explain/explanations.h"

namespace assay {

// What the rounding of a row's attributions is measured by: the sum of |attributions| of this row, and |output| +
// |base| where attributions are differences of outputs; plus a tenth of the largest of all rows. Slopes, which have no
// base value, and relative aggregates are not in the unit of the output: its size says nothing of theirs. Numbers that
// are none count as 0.
std::vector<double> attribution_scales(const Explanations& explanations);

void compare_explanations(const Explanations& recorded, const Explanations& found, RoundingCheck& check);

// Attributions alone, as a study keeps those of its pool. scale: what the rounding of a row is measured by, beside the
// sum of its own |attributions|.
void compare_attributions(const std::string& what, const Matrix& recorded, const Matrix& found, double scale,
                          RoundingCheck& check);

}  // namespace assay
