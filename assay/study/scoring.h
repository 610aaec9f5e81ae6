// Everything that is computed about one entry of a study once it is explained.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "assay/core/context.h"
#include "assay/evaluate/criterion.h"
#include "assay/explain/subject.h"
#include "assay/study/plan.h"
#include "assay/study/radii.h"
#include "assay/study/study.h"

namespace assay {

// What all entries of a study are scored with.
struct Scoring {
  const Subject& subject;
  const StudyPlan& plan;
  // Of the first avg_sensitivity and max_sensitivity among the criteria; none without one.
  std::vector<StudyNeighbourhoods> neighbourhoods = {};
};

Scoring prepare_scoring(const Subject& subject, const StudyPlan& plan, const Context& context);

// Fills scores, curves and evaluations. task.explanations are what is scored, the entry's as a rule. Criteria that
// explain the rows again score `own` instead, which has the entry's in any case: they compare what one machine makes
// twice. Moves the radius of the neighbourhoods.
void score_entry(Scoring& scoring, const EvaluateTask& task, const EvaluateTask& own, StudyEntry& entry,
                 const Context& context);

// The means of faithfulness and complexity, as far as they are studied, of this method with the other baselines of the
// subject and, where it is sampled, with another seed.
std::vector<Variation> vary(const Scoring& scoring, const Spec& method, const Context& context);

}  // namespace assay
