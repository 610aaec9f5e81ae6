// Finds the groups of a study's rows and tests how they differ.
//
// Groups come from columns (cohort_parts.h) and from whether the prediction is right. Each group is described by its
// size, the model's quality on it, the main drivers by the explanation that is recommended overall, and that
// explanation's mean faithfulness and stability. Then it is tested against all other rows of the same column:
//
//   faithfulness, stability  Welch's t of the rows' scores
//   accuracy                 Fisher's exact test. Not for groups that are right or wrong, which differ by definition
//   squared error            Welch's t, where the model predicts a number
//   drivers                  the shares of the study's three main drivers: Welch's t of ratios of means, with errors by
//                            linearisation. Not the share of the feature that the groups are cut by: far from its
//                            middle a feature has larger attributions, so that it nearly always differs
//
// Where Welch's test finds something, the p-value is that of random groups of the same sizes if that is larger
// (shuffled_p_value), because values of small groups are often skewed.
//
// All tests of all columns are one family, with Holm's correction (Scandinavian Journal of Statistics 1979): the chance
// of even one false `different` in a study is at most 5 %. Two groups of one column are each other's rest, and their
// tests are one. A side with fewer than 30 rows that have a value is not tested. The tests take rows as independent.
//
// Cost: one prediction of each row, and columns x rows x players.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/data/row_column.h"
#include "assay/explain/subject.h"
#include "assay/study/advice.h"
#include "assay/study/cohorts.h"
#include "assay/study/study.h"

namespace assay {

// Words that name groups, unless a column has the name.
inline constexpr std::string_view kPredictionCohorts = "prediction";
inline constexpr std::string_view kLabelCohorts = "label";

// Which columns the user wants groups of. By default: whether the prediction is right, and the two main drivers.
struct CohortWish {
  bool named = false;                   // false: the default; then the others mean nothing
  bool prediction = false;              // right or wrong
  bool label = false;                   // by the rows' labels
  std::vector<RowColumn> columns = {};  // of the subject's rows
};

// Throws an input error that begins with `option` if the subject's rows have no labels that such groups need.
void check_cohort_wish(std::string_view option, const CohortWish& wish, const Subject& subject);

// advice: of the study. The subject must be the study's.
StudyCohorts find_cohorts(const Study& study, const Advice& advice, const Subject& subject, const CohortWish& wish,
                          const Context& context);

}  // namespace assay
