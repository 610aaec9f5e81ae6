// Runs a study: explains, scores, aggregates, scores again, each entry kept in a store as soon as it is finished.
#pragma once

#include "assay/core/context.h"
#include "assay/explain/subject.h"
#include "assay/study/plan.h"
#include "assay/study/store.h"
#include "assay/study/study.h"

namespace assay {

// Entries that the store has are taken from there. The result does not depend on whether it has any: every entry is
// read back from the store before it is used. What the facts do not say yet (rows, features, targets, accuracy) is
// filled in. `times` receives what was measured.
//
// recorded: the store of the same study as another machine made it, to be checked; null otherwise. Every part is then
// made anew and kept in `store`, each from the recorded ones that it follows from: scores from the recorded
// attributions, aggregates from the recorded members, the study itself from the recorded entries. So rounding does not
// add up from step to step, and two attributions that are nearly equal are in the recorded order for all that follows.
// Every step is made anew, so what was changed by hand still shows where it was changed.
Study run_study(const Subject& subject, const StudyPlan& plan, StudyFacts facts, StudyStore& store, StudyTimes& times,
                const Context& context, const StudyStore* recorded = nullptr);

}  // namespace assay
