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

// In place, on the scores of one row. A single score is changed by probit only: onnxruntime applies the others where it
// adds the second class, as below.
void apply_post_transform(PostTransform transform, std::span<double> scores);

// The scores of both classes of a two-class model that has one score, that of the second class. If it is a probability
// (of an ensemble whose weights are all positive, of a linear model), the first class gets the rest to 1, else -score.
// Softmax changes nothing. Logistic gives logistic(-score) and logistic(score). Probit gives -probit(score) and
// probit(score), where onnxruntime leaves one column unwritten.
void apply_post_transform_binary(PostTransform transform, double score, bool is_probability, std::span<double, 2> both);

}  // namespace assay
