// What the criteria of agreement share: how far the explanation of a row agrees with each other explanation of that
// row, averaged over the others; and a table with a row for each other explanation.
//
// A pair is undefined when one of the two is not all numbers or all zero, or when the criterion itself is undefined for
// it. A row's score is the mean over its defined pairs. If it has none, it is undefined for the reason of its first
// pair.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "assay/core/context.h"
#include "assay/evaluate/criterion.h"

namespace assay {

// Agreement of two explanations of one row; NaN where it is undefined.
using Agreement = std::function<double(std::span<const float> mine, std::span<const float> other)>;

// `undefined_reason`: why `agreement` is NaN for two explanations that are numbers and not all zero.
void score_agreement(const EvaluateTask& task, const Agreement& agreement, std::string_view undefined_reason,
                     Scores& scores, const Context& context);

}  // namespace assay
