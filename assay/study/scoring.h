// Everything that is computed about one entry of a study once it is explained.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "assay/core/context.h"
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/subsets/subset_values.h"
#include "assay/explain/subject.h"
#include "assay/study/plan.h"
#include "assay/study/study.h"
#include "assay/study/study_radii.h"

namespace assay {

// What all entries of a study are scored with.
struct Scoring {
  const Subject& subject;
  const StudyPlan& plan;
  // For curves: those of the first max_sensitivity and the first avg_sensitivity criterion, if there are such.
  std::vector<StudyNeighbourhoods> neighbourhoods = {};
  // Values of the game that all entries share: with the subject's reference, then with each of the others. Tasks that
  // are scored must point to the first.
  std::vector<SubsetValues> subset_values = {};
};

Scoring prepare_scoring(const Subject& subject, const StudyPlan& plan, const Context& context);

// Fills in scores, curves and evaluations. Scores task.explanations: the entry's own, or recorded ones when a study is
// checked. Criteria that explain rows again score `own`, always the entry's own explanations: what they compare must
// come from one machine. Changes the radius of the neighbourhoods. first: whether this is the first entry of the study.
// Evaluations for values that all entries share are counted for the first.
void score_entry(Scoring& scoring, const EvaluateTask& task, const EvaluateTask& own, bool first, StudyEntry& entry,
                 const Context& context);

// Explains by this method with each other baseline of the subject and, if the method is sampled, with another seed.
// Returns the means of faithfulness and complexity, those of the two that are studied.
std::vector<Variation> score_variations(Scoring& scoring, const Spec& method, const Context& context);

}  // namespace assay
