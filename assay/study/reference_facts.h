// What the model gives for a study's reference, and for its pool.
#pragma once

#include "assay/core/context.h"
#include "assay/explain/spread_background.h"
#include "assay/explain/subject.h"
#include "assay/study/study.h"

namespace assay {

// subject: must have model, targets (of the studied rows), reference and pool. scored: rows of that pool. Runs the
// model on the reference rows. Values are NaN if the model gives no number for a reference row, or for no row of the
// pool.
//
// Probabilities are those of the explained class, so there are none where rows have different ones: their mean would be
// about 1 / classes whatever the reference. They come from margins where softmax or a sigmoid makes them, else from
// subject.probabilities; NaN without these.
ReferenceFacts reference_facts(const Subject& subject, const ScoredPool& scored, const Context& context);

}  // namespace assay
