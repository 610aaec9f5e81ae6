// How similarly two explanations of the same rows rank the features.
//
// For each row: Spearman's rank correlation of two entries' |phi| over the features; ties share their mean rank. Then
// the mean over the rows where it is defined: both entries have all values, and neither has the same |phi| everywhere.
// Signs are ignored, so that methods with other units or directions can be compared.
// Cost: rows x (entries x d ln d + entries^2 d).
#pragma once

#include <cstddef>
#include <span>

#include "assay/core/matrix.h"

namespace assay {

// entries x entries; NaN if no row is defined. All matrices have the same size. rows: the rows to use.
Matrix64 mean_rank_agreement(std::span<const Matrix* const> entries, std::span<const size_t> rows);

}  // namespace assay
