#include "assay/model/ops/dense_chain.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "assay/model/kernels/elementwise.h"
#include "assay/model/kernels/layer_product.h"
#include "assay/model/kernels/products.h"

namespace assay {
namespace {

// Tiles of about this many floats stay in the second-level cache, and of at least so many rows use whole vectors.
constexpr size_t kTileFloats = size_t{48} << 10;
constexpr size_t kLeastTileRows = 64;
constexpr size_t kMostTileRows = 256;
constexpr size_t kStrideFloats = 16;

const std::array<float, kMostTileRows>& ones() {
  static const std::array<float, kMostTileRows> all_ones = [] {
    std::array<float, kMostTileRows> values;
    values.fill(1);
    return values;
  }();
  return all_ones;
}

}  // namespace

DenseChain::DenseChain(std::vector<ChainLayer> layers, size_t rows, bool gradients)
    : layers_(std::move(layers)), rows_(rows), gradients_(gradients), widest_(layers_[0].inputs) {
  size_t width = layers_[0].inputs;
  for (const ChainLayer& layer : layers_) {
    widest_ = std::max(widest_, layer.outputs);
    z_places_.push_back(width);
    width += layer.outputs;
    // Without an activation y is z.
    y_places_.push_back(layer.unary == nullptr ? z_places_.back() : width);
    if (layer.unary != nullptr) width += layer.outputs;
  }
  state_width_ = width;
  const size_t fitting = std::clamp(kTileFloats / std::max<size_t>(width, 1), kLeastTileRows, kMostTileRows);
  stride_ = std::min(fitting, std::max<size_t>(rows, 1));
  stride_ = (stride_ + kStrideFloats - 1) / kStrideFloats * kStrideFloats;
}

size_t DenseChain::tile_rows(size_t tile) const { return std::min(stride_, rows_ - tile * stride_); }
size_t DenseChain::state_bytes() const {
  return gradients_ ? tile_count() * state_width_ * stride_ * sizeof(float) : 0;
}
// Forward without gradients: one tile of input and two of outputs in turn. Backward: two tiles of derivatives in turn,
// and one to turn rows back.
size_t DenseChain::scratch_bytes() const { return 3 * widest_ * stride_ * sizeof(float); }

void DenseChain::forward(const Buffers& values) const {
  for (size_t tile = 0; tile < tile_count(); tile++) forward_tile(values, tile);
}

void DenseChain::forward_tile(const Buffers& values, size_t tile) const {
  const size_t rows = tile_rows(tile);
  auto* scratch = reinterpret_cast<float*>(values.scratch);
  float* state = gradients_ ? reinterpret_cast<float*>(values.state) + tile * state_width_ * stride_ : scratch;
  const size_t first_width = layers_[0].inputs;
  const float* x = values.in<float>(0) + tile * stride_ * first_width;
  transpose(x, first_width, rows, first_width, state, stride_);
  // The next tile is on its way from memory while this one is computed.
  for (size_t i = 0; i < stride_ * first_width; i += 16) __builtin_prefetch(x + stride_ * first_width + i);
  const float* input = state;
  for (size_t l = 0; l < layers_.size(); l++) {
    const ChainLayer& layer = layers_[l];
    const float slope = layer.unary == nullptr ? NAN : layer.unary->unary()->leaky_slope();
    const bool fused = !std::isnan(slope);
    float* z = gradients_ ? state + z_places_[l] * stride_ : scratch + (1 + l % 2) * widest_ * stride_;
    float* y = gradients_ ? state + y_places_[l] * stride_ : z;
    // Without gradients nobody asks for what comes before the activation.
    product({.product = {.m = layer.outputs,
                         .n = rows,
                         .k = layer.inputs,
                         .a = values.in<float>(layer.weight),
                         .a_row = layer.n_stride,
                         .a_col = layer.k_stride,
                         .b = input,
                         .b_row = stride_,
                         .bias = layer.bias == ChainLayer::kNone ? nullptr : values.in<float>(layer.bias),
                         .out = fused ? y : z,
                         .out_row = stride_,
                         .leaky = fused,
                         .slope = fused ? slope : 0},
             .before = fused && gradients_ ? z : nullptr});
    if (layer.unary != nullptr && !fused) layer.unary->unary()->apply(z, y, layer.outputs * stride_);
    input = y;
  }
  const size_t last_width = layers_.back().outputs;
  transpose(input, stride_, last_width, rows, values.out<float>(0) + tile * stride_ * last_width, last_width);
}

void DenseChain::backward(const Buffers& values, const Gradients& gradients) const {
  for (size_t tile = 0; tile < tile_count(); tile++) backward_tile(values, nullptr, gradients, tile);
}

void DenseChain::rescale(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const {
  for (size_t tile = 0; tile < tile_count(); tile++) backward_tile(values, &reference, multipliers, tile);
}

void DenseChain::apply_slopes(const ChainLayer& layer, size_t index, const float* state, const float* reference_state,
                              const float* dy, float* dz) const {
  const UnaryKernel* unary = layer.unary->unary();
  const size_t count = layer.outputs * stride_;
  const float* z = state + z_places_[index] * stride_;
  const float* y = state + y_places_[index] * stride_;
  if (reference_state == nullptr) {
    unary->pull_back(z, y, dy, dz, count);
    return;
  }
  unary->rescale_back(z, y, reference_state + z_places_[index] * stride_, reference_state + y_places_[index] * stride_,
                      dy, dz, count);
}

void DenseChain::backward_tile(const Buffers& values, const Buffers* reference, const Gradients& gradients,
                               size_t tile) const {
  const size_t rows = tile_rows(tile);
  const size_t tile_place = tile * state_width_ * stride_;
  const float* state = reinterpret_cast<const float*>(values.state) + tile_place;
  const float* reference_state =
      reference == nullptr ? nullptr : reinterpret_cast<const float*>(reference->state) + tile_place;
  auto* scratch = reinterpret_cast<float*>(values.scratch);
  float* dy = scratch;
  float* other = scratch + widest_ * stride_;
  const size_t last_width = layers_.back().outputs;
  transpose(gradients.out<float>(0) + tile * stride_ * last_width, last_width, rows, last_width, dy, stride_);
  bool sloped = false;  // the product of the layer above has applied the slopes of this one's activation
  for (size_t l = layers_.size(); l-- > 0;) {
    const ChainLayer& layer = layers_[l];
    if (layer.unary != nullptr && !sloped) apply_slopes(layer, l, state, reference_state, dy, dy);
    const float* input = l == 0 ? state : state + y_places_[l - 1] * stride_;
    if (float* weight_gradient = gradients.in<float>(layer.weight); weight_gradient != nullptr) {
      product_of_rows({.m = layer.outputs,
                       .n = layer.inputs,
                       .k = rows,
                       .a = dy,
                       .a_row = stride_,
                       .b = input,
                       .b_row = stride_,
                       .out = weight_gradient,
                       .out_row = layer.n_stride,
                       .out_col = layer.k_stride});
    }
    if (float* bias_gradient = layer.bias == ChainLayer::kNone ? nullptr : gradients.in<float>(layer.bias);
        bias_gradient != nullptr) {
      product_of_rows({.m = layer.outputs,
                       .n = 1,
                       .k = rows,
                       .a = dy,
                       .a_row = stride_,
                       .b = ones().data(),
                       .b_row = 0,
                       .out = bias_gradient,
                       .out_row = 1});
    }
    if (l == 0 && gradients.in<float>(0) == nullptr) return;
    const Kernel* below = l == 0 ? nullptr : layers_[l - 1].unary.get();
    const float slope = below == nullptr ? NAN : below->unary()->leaky_slope();
    sloped = reference == nullptr && !std::isnan(slope);
    product({.product = {.m = layer.inputs,
                         .n = rows,
                         .k = layer.outputs,
                         .a = values.in<float>(layer.weight),
                         .a_row = layer.k_stride,
                         .a_col = layer.n_stride,
                         .b = dy,
                         .b_row = stride_,
                         .out = other,
                         .out_row = stride_,
                         .slope = sloped ? slope : 0},
             .gate = sloped ? state + z_places_[l - 1] * stride_ : nullptr});
    std::swap(dy, other);
  }
  const size_t first_width = layers_[0].inputs;
  float* turned = scratch + 2 * widest_ * stride_;
  transpose(dy, stride_, first_width, rows, turned, first_width);
  add(turned, gradients.in<float>(0) + tile * stride_ * first_width, rows * first_width);
}

}  // namespace assay
