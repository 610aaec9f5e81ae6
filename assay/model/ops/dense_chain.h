// Dense layers and the element-wise functions between them, fused: rows lie in vector lanes.
//
// A tile of rows is transposed once, so that a feature's values of many rows are adjacent; each layer is then a product
// whose vectors run over rows (kernels/products.h), so they are full even in narrow layers. A tile's values stay in the
// cache from the first layer to the last. A sum starts with its bias, even if the graph adds that last.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "assay/model/ops/kernel.h"
#include "assay/model/ops/unary.h"

namespace assay {

// z = weight^T x + bias, y = activation(z)
struct ChainLayer {
  static constexpr size_t kNone = SIZE_MAX;

  size_t inputs = 0;
  size_t outputs = 0;
  size_t weight = 0;  // which input of the kernel; element (k, n) at weight[k * k_stride + n * n_stride]
  size_t k_stride = 0;
  size_t n_stride = 1;
  size_t bias = kNone;                            // which input of the kernel
  std::shared_ptr<const Kernel> unary = nullptr;  // the activation's kernel; null without
};

// Input 0 is [rows, layers[0].inputs]; the output is [rows, layers.back().outputs]; both float32.
class DenseChain final : public Kernel {
 public:
  // With `gradients`, forward keeps what backward needs.
  DenseChain(std::vector<ChainLayer> layers, size_t rows, bool gradients);

  void forward(const Buffers& values) const override;
  bool differentiable(size_t) const override { return true; }
  void backward(const Buffers& values, const Gradients& gradients) const override;
  void rescale(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const override;
  size_t state_bytes() const override;
  size_t scratch_bytes() const override;

 private:
  // Where a tile's values lie: for each layer its input, z and y, each [width][stride].
  struct Tile {
    const float* input;
    const float* z;
    float* y;
  };
  void forward_tile(const Buffers& values, size_t tile) const;
  void backward_tile(const Buffers& values, const Buffers* reference, const Gradients& gradients, size_t tile) const;
  void apply_slopes(const ChainLayer& layer, size_t index, const float* state, const float* reference_state,
                    const float* dy, float* dz) const;
  size_t tile_count() const { return (rows_ + stride_ - 1) / stride_; }
  size_t tile_rows(size_t tile) const;

  std::vector<ChainLayer> layers_;
  size_t rows_;
  bool gradients_;
  size_t stride_;                 // rows of a tile, and floats from one feature to the next
  size_t widest_;                 // of all layers' inputs and outputs
  std::vector<size_t> z_places_;  // of each layer in a tile's state, in features
  std::vector<size_t> y_places_;
  size_t state_width_ = 0;  // features of a tile's state
};

}  // namespace assay
