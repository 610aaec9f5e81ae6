// A convolution that reads an image where it lies: vectors run over output channels, so that no patches are copied.
//
// Every sum is one chain of fused multiply-adds over channels and kernel elements in the order of the weights, as that
// of `product` (products.h) over the patches: both have the same bits.
#pragma once

#include <cstddef>

namespace assay {

// Output channels that are computed together. Weights of a pack lie as [steps][kPack], sums as [positions][kPack].
constexpr size_t kPack = 32;

// sums[(line * columns + column) * kPack + o] = start[o] + sum over l < steps of
// weights[l * kPack + o] * image[line * line_step + column + offsets[l]], for o < width, which is 16 or kPack. With
// `leaky`, a result y that is not above 0 becomes slope * y. weights, start and sums are aligned to 64 bytes.
struct Convolution {
  size_t width = kPack;
  size_t steps = 0;
  const float* weights = nullptr;
  const size_t* offsets = nullptr;
  const float* start = nullptr;
  const float* image = nullptr;
  size_t lines = 0, columns = 0, line_step = 0;
  bool leaky = false;
  float slope = 0;
  float* sums = nullptr;
};
void convolve(const Convolution& c);

// The largest of each two by two positions: sums of lines x columns positions become those of half as many lines and
// columns. Both are even. The first of equal ones is taken, and NaN wins, as in MaxPool.
void pool_sums(float* sums, size_t width, size_t lines, size_t columns);

}  // namespace assay
