// The entropy of many rows of attributions at once, in vector code.
//
// With M = max |phi_i|, q_i = |phi_i| / M and R = the sum of all q_i except one that is 1,
//   H = ln(1 + R) - sum over i of q_i ln q_i / (1 + R).
// Both terms are at least 0, so nothing cancels: the relative error is a few units in the last place, even where H is
// small, and for attributions of any size. The usual form, ln total - sum |phi| ln |phi| / total, is less precise.
#pragma once

#include <cstddef>

namespace assay {

// out[r] = the entropy of row r; NaN when the row is all zero or not all numbers. A row's bits depend on that row and
// the vector target alone; targets agree to 1e-13.
void row_entropies(const float* values, size_t rows, size_t columns, double* out);

}  // namespace assay
