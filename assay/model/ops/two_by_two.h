// The commonest pooling window, 2 x 2 elements side by side, as vector code.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay {

// x is a plane of lines of `width` elements. y, `lines` x `columns`, gets the largest element of each window; all
// windows lie inside x. winner, unless null, gets the position in x of the first such element. NaN wins.
void max_of_squares(const float* x, float* y, int32_t* winner, int32_t width, size_t lines, size_t columns);

}  // namespace assay
