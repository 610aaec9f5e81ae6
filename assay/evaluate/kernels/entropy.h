// The entropy of many rows of attributions at once, on whole vectors.
//
// With M = max |phi_i|, q_i = |phi_i| / M and R = sum of all q but that of one maximum,
//   H = ln(1 + R) - sum over i of q_i ln q_i / (1 + R).
// Both terms are at least 0, so nothing cancels: a relative error of a few units in the last place, also where H is
// small, and for attributions of any size. ln total - sum |phi| ln |phi| / total, the usual form, has neither.
#pragma once

#include <cstddef>

namespace assay {

// out[r] = the entropy of row r; NaN when the row is all zero or not all numbers. A row's bits depend on that row and
// the vector target alone; targets agree to 1e-13.
void row_entropies(const float* values, size_t rows, size_t columns, double* out);

}  // namespace assay
