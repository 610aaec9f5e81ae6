// The transforms of scores that classifiers and regressors of ai.onnx.ml end with, as onnxruntime computes them.
#pragma once

#include <span>
#include <string_view>

#include "assay/model/ops/node_setup.h"

namespace assay {

// With the numbers that TreeEnsemble of version 5 uses.
enum class PostTransform { none = 0, softmax = 1, logistic = 2, softmax_zero = 3, probit = 4 };

// The attribute post_transform of a node, which is text.
PostTransform post_transform(const NodeSetup& setup);

// In place, on the scores of one row. A score alone is changed by probit only: onnxruntime leaves the rest to be done
// where the second class is made up.
void apply_post_transform(PostTransform transform, std::span<double> scores);

// Both classes' scores of a two-class model that has but one, that of the second class. Where the score is a
// probability (of an ensemble whose weights are all positive, of a linear model) the other class has the rest of it,
// else its negative; logistic knows better in both cases, and softmax changes nothing. For probit onnxruntime leaves
// one column unwritten; here it is the probit of the rest.
void apply_post_transform_binary(PostTransform transform, double score, bool is_probability, std::span<double, 2> both);

}  // namespace assay
