// Operators that slide a window over 1 to 3 spatial dimensions, plane by plane (a plane is one channel of one row).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/model/graph/tensor.h"
#include "assay/model/ops/window.h"

namespace assay {

// Always as three dimensions: planes of fewer have leading dimensions of length 1.
class PoolPlan {
 public:
  // The part of the windows along one dimension, for every output position.
  struct Side {
    int64_t input = 1;
    int64_t output = 1;
    int64_t dilation = 1;
    std::vector<int64_t> first;  // the first input position inside the input
    std::vector<int64_t> taps;   // how many positions are inside, `dilation` apart
    // How many positions are inside or in the padding that was asked for; what ceil_mode adds does not count.
    std::vector<int64_t> padded_taps;
  };

  // Checks input 0 (of batch x channels x 1 to 3 dimensions) and the attributes, and sets output 0.
  static PoolPlan make(NodeSetup& setup);

  const Window& window() const { return window_; }
  const Side& side(size_t i) const { return sides_[i]; }
  size_t planes() const { return planes_; }
  size_t input_plane() const { return input_plane_; }
  size_t output_plane() const { return output_plane_; }

  // Steps for the elements of all windows that are inside the input, and bytes of the lists above.
  uint64_t steps() const;
  size_t held_bytes() const {
    size_t count = 0;
    for (const Side& side : sides_) count += side.first.size() + side.taps.size() + side.padded_taps.size();
    return count * sizeof(int64_t);
  }

  // Whether windows are 2 x 2, side by side, and none reaches beyond the input.
  bool two_by_two() const { return two_by_two_; }

  // Calls body(position in the output plane, its three output positions) for a whole plane.
  template <class Body>
  void for_each_window(const Body& body) const {
    size_t output = 0;
    for (size_t d = 0; d < static_cast<size_t>(sides_[0].output); d++) {
      for (size_t h = 0; h < static_cast<size_t>(sides_[1].output); h++) {
        for (size_t w = 0; w < static_cast<size_t>(sides_[2].output); w++) body(output++, d, h, w);
      }
    }
  }

  // The position in the input plane of the first element of one window that is inside the input; -1 when none is.
  int64_t first_element(size_t d, size_t h, size_t w) const {
    const Side &depth = sides_[0], &height = sides_[1], &width = sides_[2];
    if (depth.taps[d] == 0 || height.taps[h] == 0 || width.taps[w] == 0) return -1;
    return (depth.first[d] * height.input + height.first[h]) * width.input + width.first[w];
  }

  // Calls body(position in the input plane) for every element of one window that is inside the input, in memory order.
  template <class Body>
  void for_each_element(size_t d, size_t h, size_t w, const Body& body) const {
    const Side &depth = sides_[0], &height = sides_[1], &width = sides_[2];
    for (int64_t a = 0, z = depth.first[d]; a < depth.taps[d]; a++, z += depth.dilation) {
      for (int64_t b = 0, y = height.first[h]; b < height.taps[h]; b++, y += height.dilation) {
        const int64_t line = (z * height.input + y) * width.input;
        for (int64_t c = 0, x = width.first[w]; c < width.taps[w]; c++, x += width.dilation) {
          body(static_cast<size_t>(line + x));
        }
      }
    }
  }

 private:
  Window window_;
  std::array<Side, 3> sides_;
  size_t planes_ = 0;
  size_t input_plane_ = 1;
  size_t output_plane_ = 1;
  bool two_by_two_ = false;
};

// DeepLift's rule for a maximum y = x[at] with the reference y_r = r[at_r] (Captum's, after Shrikumar and others 2017):
// with c = max(y, y_r), c - y_r goes to the element that wins at x and y - c to the one that wins at the reference,
// each divided by the element's own difference. The quotients lie in 0..1, and where the difference is 0 the part is
// too.
template <class T>
void share_maximum(const T* x, const T* r, size_t at, size_t at_r, T dy, T* dx) {
  const T y = x[at];
  const T y_r = r[at_r];
  const T cross = y > y_r ? y : y_r;
  if (x[at] != r[at]) dx[at] += dy * ((cross - y_r) / (x[at] - r[at]));
  if (x[at_r] != r[at_r]) dx[at_r] += dy * ((y - cross) / (x[at_r] - r[at_r]));
}

}  // namespace assay
