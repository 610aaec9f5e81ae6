// Conv with constant weights, without copies of patches (kernels/convolve.h): the weights are packed before the
// first run, and each image is read where it lies, or, with padding, from a padded copy. What follows a convolution, a
// leaky ReLU and the largest of two by two positions, is done while the sums are still near.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "assay/model/graph/tensor.h"
#include "assay/model/ops/window.h"

namespace assay {

class DirectConv {
 public:
  struct Sizes {
    size_t groups = 1;
    size_t channels = 0, outputs = 0;  // of one group
  };
  struct Finish {
    bool leaky = false;
    float slope = 0;
    bool squares = false;  // keep the largest of each two by two positions; an odd last line or column is dropped
  };

  // Weights as Conv has them, [groups * outputs][channels][kernel]. Null where patches (im2col.h) are as good: windows
  // that step over columns, few or odd numbers of output channels, three spatial dimensions, large padded images, or
  // very many weights.
  static std::shared_ptr<const DirectConv> make(const Window& window, Sizes sizes,
                                                std::shared_ptr<const Tensor> weights);

  // Whether it was made for these.
  bool is_for(const Window& window, const std::shared_ptr<const Tensor>& weights) const;
  size_t held_bytes() const;
  size_t scratch_floats() const;
  // Of one plane of the output.
  size_t positions(Finish finish) const { return finish.squares ? (lines_ / 2) * (columns_ / 2) : lines_ * columns_; }
  // One group of one image. bias may be null; scratch is aligned to 64 bytes.
  void run(const float* image, size_t group, const float* bias, Finish finish, float* scratch, float* out) const;

 private:
  DirectConv(const Window& window, Sizes sizes, std::shared_ptr<const Tensor> weights);
  size_t packed_floats() const;
  const float* packed() const;
  const float* padded(const float* image, float* copy) const;

  Window window_;
  Sizes sizes_;
  size_t steps_ = 0;  // channels x kernel elements
  size_t packs_ = 0;  // of one group
  std::shared_ptr<const Tensor> weights_;
  mutable std::once_flag packs_once_;
  mutable Tensor packed_;           // [groups][packs][steps][kPack], zeros for channels that are not there
  std::vector<size_t> offsets_;     // of each step from the window's first element
  size_t lines_ = 1, columns_ = 1;  // of the output
  size_t strip_lines_ = 1;          // computed at a time
  size_t height_ = 1, width_ = 1;   // of a channel of the image
  size_t top_ = 0, left_ = 0;       // padding before it
  size_t padded_height_ = 1, padded_width_ = 1;
  size_t line_stride_ = 1;
};

}  // namespace assay
