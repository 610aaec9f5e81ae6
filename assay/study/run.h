// Runs a study: explains, scores, aggregates, scores again, each entry kept in a folder as soon as it is finished.
#pragma once

#include "assay/core/context.h"
#include "assay/study/plan.h"
#include "assay/study/store.h"
#include "assay/study/study.h"

namespace assay {

// Entries that the store has are taken from there. The result does not depend on whether it has any: every entry is
// read back from the store before it is used. What the facts do not say yet (rows, features, targets, accuracy) is
// filled in. `times` receives what was measured.
Study run_study(const StudySubject& subject, const StudyPlan& plan, StudyFacts facts, const StudyStore& store,
                StudyTimes& times, const Context& context);

}  // namespace assay
