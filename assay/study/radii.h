// The neighbourhoods of a study: those of its sensitivity criteria, and the radii that their curves run over.
#pragma once

#include <cstddef>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/options.h"
#include "assay/evaluate/neighbourhoods/neighbourhoods.h"
#include "assay/explain/subject.h"
#include "assay/study/study.h"

namespace assay {

// Found once for all entries: they depend on rows and model alone.
struct StudyNeighbourhoods {
  Spec spec;  // of the criterion whose options they have
  NeighbourhoodOptions options;
  Neighbourhoods around;      // at the study's own radius
  std::vector<double> radii;  // ascending, the study's own among them
};

// The radii at which the median row has 3, 5, 10, 20 and 40 neighbours, as far as they differ and no larger than the
// pool allows, and the study's own; none beyond that where rows have more than 64 players.
StudyNeighbourhoods study_neighbourhoods(const Subject& subject, const Spec& sensitivity, bool curve,
                                         const Context& context);

}  // namespace assay
