// The complexity of one explanation; the criterion is in complexity.cpp.
#pragma once

#include <span>

namespace assay {

// NaN when the explanation is all zero or not all numbers.
double complexity(std::span<const float> values);

}  // namespace assay
