// Runs a study: explains, scores, aggregates and scores the aggregates. Each finished entry is kept in a store.
#pragma once

#include "assay/core/context.h"
#include "assay/explain/subject.h"
#include "assay/study/plan.h"
#include "assay/study/store.h"
#include "assay/study/study.h"

namespace assay {

// Entries that the store has are taken from there. The result does not depend on whether it has any: every entry is
// read back from the store before it is used. Fills in the facts that only the run knows (rows, features, targets,
// accuracy) and `times`.
//
// recorded: null, or the store of the same study from another machine, to be checked. Then every part is made again
// and kept in `store`, but from recorded parts: scores from the recorded attributions, aggregates from the recorded
// members, the study from the recorded entries. So rounding does not add up from step to step, and attributions that
// are nearly equal keep their recorded order. A part that was changed by hand shows, because it is made again.
Study run_study(const Subject& subject, const StudyPlan& plan, StudyFacts facts, StudyStore& store, StudyTimes& times,
                const Context& context, const StudyStore* recorded = nullptr);

}  // namespace assay
