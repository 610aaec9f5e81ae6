// The inner loops of methods that move rows: along paths, or by noise.
//
// Every element is computed by the same operations wherever it falls among vectors, so its bits do not depend on the
// number of rows or columns. Matrices are dense: a row follows the last at once.
#pragma once

#include <cstddef>

namespace assay {

// points[k][c] = from[c] + at[k] * (to[c] - from[c]) for k < count.
void points_on_path(const float* from, const float* to, const float* at, size_t count, size_t columns, float* points);

// points[k][c] = centre[c] + deviations[c] * normals[k][c] for k < count.
void points_around(const float* centre, const float* deviations, const float* normals, size_t count, size_t columns,
                   float* points);

// values[c] *= to[c] - from[c]
void multiply_by_way(const float* from, const float* to, size_t columns, float* values);

// sums[k] = sum over c of values[k][c] for k < count, in float64 and ascending c.
void sum_rows(const float* values, size_t count, size_t columns, double* sums);

// sums[c] += sum over k < count of weights[k] * values[k][c], in float64 and ascending k.
void add_weighted_rows(const float* values, const double* weights, size_t count, size_t columns, double* sums);

// For k < count: sums[c] += values[k][c] - origin[c], squares[c] += (values[k][c] - origin[c])^2, in float64.
void add_moments(const float* values, const double* origin, size_t count, size_t columns, double* sums,
                 double* squares);

// Mean slopes of leaky(z) (z for z > 0, slope * z elsewhere) between the entries of a reference row and those of a row,
// each times a weight: out[j] = weights[j] * (leaky(to[j]) - leaky(from[j])) / (to[j] - from[j]), and weights[j] times
// the slope at the point itself where both are equal.
void weighted_mean_slopes(const float* from, const float* to, const float* weights, float slope, size_t count,
                          float* out);

}  // namespace assay
