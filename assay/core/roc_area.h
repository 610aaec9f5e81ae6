// The area under the ROC curve, with an interval.
//
// A class's area is the chance that a row of the class scores higher than a row of another, ties one half; of several
// classes, the mean over those that the rows have, each against the rest.
//
// The 95 % interval has the variance of DeLong, DeLong and Clarke-Pearson (1988): a row's component is the share of the
// other side that it stands right to, and the squares of the components' deviations sum to the variance. For several
// classes, a row's deviations are averaged first, so that the areas' correlation counts. The interval is on the logit
// scale, so that it stays within 0 and 1. If nothing varies (a perfect order), or a class has one row, it is the score
// interval of Newcombe (Statistics in Medicine 2006, method 5), of several classes the mean of theirs: rather too wide.
//
// Cost: classes x rows x log rows.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "assay/core/statistics.h"

namespace assay {

// The 97.5 % quantile of the normal distribution.
inline constexpr double kNormal95 = 1.959963984540054;

struct AreaUnderCurve {
  double auc = NAN;
  Interval interval = {NAN, NAN};
  size_t classes = 0;  // that have rows and do not have all of them
};
// scores[c][i]: of class number first + c for row i. labels: class of each row.
AreaUnderCurve area_under_curve(const std::vector<std::vector<double>>& scores, std::span<const size_t> labels,
                                size_t first);

}  // namespace assay
