// The losses that training minimises, and how often the largest output is right.
//
// Outputs are float32, sums are float64. A loss is returned as a sum over rows, so that blocks of a batch can be added;
// gradients are multiplied by `scale`, which is 1 / (weight of the whole batch) for the gradient of the batch's mean.
#pragma once

#include <cstddef>
#include <span>

#include "assay/core/matrix.h"

namespace assay {

// sum over rows i of w[y_i] * (ln sum over c of exp z_ic - z_i,y_i), and its derivatives by z_ic:
// scale * w[y_i] * (softmax(z_i)_c - [c = y_i]). Labels are class indices that were checked before. An empty list of
// class weights: all 1. An empty gradient: not wanted.
double cross_entropy(MatrixView<const float> logits, std::span<const float> labels, std::span<const double> weights,
                     double scale, MatrixView<float> gradient);

// sum over rows i of (v_i - y_i)^2, and its derivatives scale * 2 (v_i - y_i), for one output per row.
double squared_error(MatrixView<const float> values, std::span<const float> labels, double scale,
                     MatrixView<float> gradient);

// In how many rows the largest output (the first of equal ones) is that of the label.
size_t correct_count(MatrixView<const float> outputs, std::span<const float> labels);

}  // namespace assay
