// The commonest pooling window, 2 x 2 elements side by side, as vector code.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay {

// A plane x of lines of `width` elements, and its outputs, `lines` x `columns`, whose windows lie inside it: y is the
// largest element of each window, and winner, unless it is null, the position in the plane of the first such element.
// NaN wins.
void max_of_squares(const float* x, float* y, int32_t* winner, int32_t width, size_t lines, size_t columns);

}  // namespace assay
