// What stands for absent features in a study, and which other choice the study compares it with.
//
// Unless the user says it, the reference is a background of rows of the pool that are spread over the model's scores
// (explain/spread_background.h). A row of means and modes may be like no row at all: for a credit model its score was a
// default probability of 6.7 % where the pool's mean is 28.6 %. The mean row is what the study is compared with
// instead.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "assay/core/context.h"
#include "assay/data/encoder.h"
#include "assay/explain/subject.h"
#include "assay/study/study.h"

namespace assay {

// With 16 rows the three main features of the german credit rows agree with those against the whole pool for 26 to 67 %
// of the rows, with 100 for 72 to 84 %.
inline constexpr size_t kStudyBackgroundRows = 100;

struct StudyReferenceOptions {
  bool said = false;       // the user chose subject.reference; otherwise it is replaced
  bool variations = true;  // whether to find other references
  size_t background = kStudyBackgroundRows;
  const Encoder* encoder = nullptr;  // of the model, if it has one
  size_t whole_pool = 0;             // rows of which the subject's pool is a sample; 0: the pool is no sample
};

// Sets reference and other_references of the subject, which must have model, rows, targets and pool. Its pool must be
// the one that is studied. If the user did not say it, its reference must be the pool's mean, or have no rows.
// pool_targets: of the pool's rows, by the same rule as those of the rows. Returns the facts about the reference.
// Cost: an evaluation of the model for each row of the pool, at most kMostScoredRows, and each reference row.
ReferenceFacts choose_study_reference(OwnedSubject& subject, const Targets& pool_targets,
                                      const StudyReferenceOptions& options, const Context& context);

}  // namespace assay
