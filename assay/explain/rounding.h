// Compares explanations that were computed on another vector target or by another version: are they equal within the
// tolerances of core/rounding.h? All that is no number (names, targets, options, which arrays there are) must be equal,
// except the version and vector target in the provenance.
#pragma once

#include <string>

#include "assay/core/matrix.h"
#include "assay/core/rounding.h"
#include "assay/explain/explanations.h"

namespace assay {

// For each row, the size that the rounding of its attributions is relative to: the sum of its |attributions|, plus
// |output| + |base| where attributions are differences of outputs, plus a tenth of the largest such size of all rows.
// Slopes (which have no base value) and relative aggregates do not have the unit of the output, so it is left out. NaN
// counts as 0.
std::vector<double> attribution_scales(const Explanations& explanations);

void compare_explanations(const Explanations& recorded, const Explanations& found, RoundingCheck& check);

// Compares attributions alone, such as those of a study's pool. scale: added to the sum of a row's |attributions| to
// give the size that its rounding is relative to.
void compare_attributions(const std::string& what, const Matrix& recorded, const Matrix& found, double scale,
                          RoundingCheck& check);

}  // namespace assay
