// The inner loops of methods that move rows: along paths, or by noise.
//
// Every element is computed by the same operations at any position in a vector, so its bits do not depend on the number
// of rows or columns. Matrices are dense: rows follow each other without a gap.
#pragma once

#include <cstddef>
#include <cstdint>

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

// From the sums of add_moments over `count` vectors, the origin included: means[c] = origin[c] + sums[c] / count, and
// errors[c] = the standard error of the mean, NaN for one vector. errors may be null.
void finish_moments(const double* origin, const double* sums, const double* squares, size_t count, size_t columns,
                    float* means, float* errors);

// What each player adds along an order, for several rows side by side: added[order[j]][r] = v(first j + 1 players of
// the order) - v(first j players) of row r. With `average`, the mean of this and of what `added` held before.
// values[0][r] is v of no players, values[1][r] of all; behind[j][r] is v of the first j + 1 players.
void steps_of_order(const float* values, const uint32_t* order, size_t players, size_t rows, const float* behind,
                    bool average, float* added);

// Weighted mean slopes of leaky(z) = z for z > 0, slope * z elsewhere, between two points: out[j] = weights[j] *
// (leaky(to[j]) - leaky(from[j])) / (to[j] - from[j]). Where both points are equal, weights[j] times the slope there.
void weighted_mean_slopes(const float* from, const float* to, const float* weights, float slope, size_t count,
                          float* out);

}  // namespace assay
