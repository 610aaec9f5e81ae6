// What the model gives for a study's reference, and for its pool.
#pragma once

#include "assay/core/context.h"
#include "assay/explain/reference.h"
#include "assay/explain/spread_background.h"
#include "assay/explain/target.h"
#include "assay/model/model.h"
#include "assay/study/study.h"

namespace assay {

// targets: of the studied rows. Runs the model on the reference rows. Values are NaN if the model gives no number for a
// reference row, or for no row of the pool.
ReferenceFacts reference_facts(const Model& model, const Reference& reference, const Targets& targets,
                               const ScoredPool& pool, const Context& context);

}  // namespace assay
