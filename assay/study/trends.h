// Whether higher values of a feature raise or lower what is explained.
#pragma once

#include <vector>

#include "assay/explain/explanations.h"
#include "assay/explain/subject.h"

namespace assay {

// Whether the values are slopes, or made of slopes. How a slope changes with the feature says nothing about how the
// output does: with diminishing returns it falls while the output rises.
bool has_slopes(const Explanations& explanations);

// By player: the correlation, over the subject's rows, of its value with its attribution: Pearson's or Spearman's,
// whichever is nearer to 0. Pearson's alone may be that of a few rows far off, and Spearman's that of many rows for
// which the feature hardly matters. NaN where their signs differ; for players of several columns and of categories,
// whose values have no order; where one of the two is constant; and where a 95 % interval (Fisher's, of the rows that
// have both) reaches 0. All NaN if rows have different targets: then there is no one thing that is raised; and for
// methods that have no reference (gradients), whose values are slopes, and aggregates of such.
std::vector<double> value_trends(const Subject& subject, const Explanations& explanations);

}  // namespace assay
