// How far explanations of the same rows rank the features alike.
//
// For each row, Spearman's correlation of two entries' |phi| over the features: Pearson's of their ranks, equal sizes
// sharing the mean of their ranks. Then the mean over the rows where it is defined: both entries have all their values,
// and neither gives every feature the same size. Signs play no part, so that methods that explain in other units or
// directions can be compared.
// Cost: rows x (entries x d ln d + entries^2 d).
#pragma once

#include <cstddef>
#include <span>

#include "assay/core/matrix.h"

namespace assay {

// entries x entries, NaN where no row is defined. The matrices have one size; `rows` are indices into them.
Matrix64 mean_rank_agreement(std::span<const Matrix* const> entries, std::span<const size_t> rows);

}  // namespace assay
