// Compares an entry of a study with the same entry made again on another vector target or by another version: scores,
// curves and variations, within the tolerances of core/rounding.h. Attributions are compared by explain/rounding.h.
#pragma once

#include "assay/core/rounding.h"
#include "assay/evaluate/rounding.h"
#include "assay/study/study.h"

namespace assay {

// scales: see compare_scores.
void compare_entries(const StudyEntry& recorded, const StudyEntry& found, const ScoreScales& scales,
                     RoundingCheck& check);

}  // namespace assay
