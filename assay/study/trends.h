// Whether higher values of a feature raise or lower what is explained.
#pragma once

#include <vector>

#include "assay/explain/explanations.h"
#include "assay/explain/subject.h"

namespace assay {

// By player: Pearson's correlation, over the subject's rows, of its value with its attribution. NaN for players of
// several columns and of categories, whose values have no order, and where one of the two is constant. All NaN if rows
// have different targets: then there is no one thing that is raised.
std::vector<double> value_trends(const Subject& subject, const Explanations& explanations);

}  // namespace assay
