// Loops over elements of float32 that are worth their own vector code.
#pragma once

#include <cstddef>

namespace assay {

// y = x where x > 0 and slope * x elsewhere; with slope 0, exactly 0 for all x < 0, even minus infinity. NaN stays NaN.
// y may be x.
void leaky_relu(const float* x, float* y, float slope, size_t count);

// dx = dy * (x > 0 ? 1 : slope), added to dx when `accumulate`. dx may be dy.
void leaky_relu_gradient(const float* x, const float* dy, float* dx, float slope, size_t count, bool accumulate);

// DeepLift's multipliers of leaky_relu: dx = dy * (y - y_reference) / (x - reference). If x and reference are too near,
// dy times the slope half way between. It gives the same bits as rescale_multiplier (ops/unary.h). Added to dx when
// `accumulate`. dx may be dy.
struct LeakyPairs {
  const float* x;
  const float* y;
  const float* reference;
  const float* y_reference;
};
void leaky_relu_rescale(LeakyPairs pairs, const float* dy, float* dx, float slope, size_t count, bool accumulate);

// y += x
void add(const float* x, float* y, size_t count);

// y += scale * x, fused where the vector target can
void axpy(float scale, const float* x, float* y, size_t count);

}  // namespace assay
