// What the criteria of agreement share: each row's agreement with every other explanation of it, averaged over the
// others, and a table with a row for each of them.
//
// A pair is undefined when one of the two is (not all numbers, all zero, or what the criterion itself cannot say); a
// row is the mean over its defined pairs, undefined when there is none, for the reason of the first pair.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "assay/core/context.h"
#include "assay/evaluate/criterion.h"

namespace assay {

// Agreement of two explanations of one row; NaN where it is undefined.
using Agreement = std::function<double(std::span<const float> mine, std::span<const float> other)>;

// `undefined_reason`: what a NaN of `agreement` means, for pairs of numbers that are not all zero.
void score_agreement(const EvaluateTask& task, const Agreement& agreement, std::string_view undefined_reason,
                     Scores& scores, const Context& context);

}  // namespace assay
