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

// They depend on rows and model alone, so they are found once for all entries.
struct StudyNeighbourhoods {
  Spec spec;  // the criterion that they belong to
  NeighbourhoodOptions options;
  Neighbourhoods around;      // at the study's own radius
  std::vector<double> radii;  // ascending, the study's own among them
};

// The radii are the study's own and those at which the median row has 3, 5, 10, 20 and 40 neighbours: distinct ones
// above 0. With more than 64 players, none is larger than the study's own. Without `curve` there are none.
StudyNeighbourhoods study_neighbourhoods(const Subject& subject, const Spec& sensitivity, bool curve,
                                         const Context& context);

}  // namespace assay
