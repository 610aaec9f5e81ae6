#include "assay/study/study_reference.h"

#include <algorithm>
#include <utility>

#include "assay/explain/spread_background.h"
#include "assay/study/reference_facts.h"
#include "assay/study/subject_parts.h"

namespace assay {

ReferenceFacts choose_study_reference(OwnedSubject& subject, const Targets& pool_targets,
                                      const StudyReferenceOptions& options, const Context& context) {
  const Context quiet = context.quiet();
  const ScoredPool known = score_pool(*subject.pool, *subject.model, quiet);
  const auto background = [&] {
    Reference made = spread_background(*subject.pool, known, pool_targets, options.background, *subject.model, quiet);
    if (options.whole_pool > subject.pool->rows()) made.drawn_from = options.whole_pool;
    return made;
  };
  std::optional<Reference> mean;
  if (!options.said) {
    // The front end's own mean may know more digits than the pool's float32.
    if (subject.reference.rows.rows() == 1) mean = std::move(subject.reference);
    subject.reference = background();
  }
  if (options.variations) {
    const auto mean_row = [&] {
      return mean ? *mean : named_baseline("mean", subject.pool.get(), *subject.model, options.encoder, quiet);
    };
    subject.other_references = other_references(subject.reference, mean_row, background);
  }
  return reference_facts(subject.view(), known, quiet);
}

}  // namespace assay
