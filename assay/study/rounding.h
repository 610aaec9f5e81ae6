// Whether an entry of a study that was made again, on another vector target or by another version, is the same within
// the tolerances of core/rounding.h: scores, curves and variations. Its attributions are compared by
// explain/rounding.h.
#pragma once

#include "assay/core/rounding.h"
#include "assay/evaluate/rounding.h"
#include "assay/study/study.h"

namespace assay {

// scales: as compare_scores has them.
void compare_entries(const StudyEntry& recorded, const StudyEntry& found, const ScoreScales& scales,
                     RoundingCheck& check);

}  // namespace assay
