// Images as columns: the patch of the input under each position of a window becomes one column of a matrix, so that a
// convolution is a product of matrices (Chellapilla, Puri, Simard 2006).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "assay/model/ops/window.h"

namespace assay {

// A window over one to three spatial dimensions, always kept as three.
class Patches {
 public:
  Patches() = default;
  // There must be 1 to 3 dimensions.
  Patches(const Window& window, size_t channels);

  // Rows of the matrix: channels x kernel elements; its columns in all: positions of the window.
  size_t rows() const { return rows_; }
  size_t positions() const { return positions_; }
  // Elements of one channel of the image.
  size_t image() const { return image_; }
  // Whether the matrix is the image itself: kernel 1, stride 1, no padding.
  bool plain() const { return plain_; }

  // columns[row * (last - first) + p - first] = the element of `image` (channels x spatial) that row sees at position
  // p in first..last-1; 0 in the padding.
  template <class T>
  void gather(const T* image, size_t first, size_t last, T* columns) const;
  // The transpose of gather: adds every element of columns to the element of image it came from.
  template <class T>
  void scatter(const T* columns, size_t first, size_t last, T* image) const;

 private:
  struct Lines;
  template <class Body>
  void for_lines(size_t first, size_t last, const Body& body) const;

  size_t channels_ = 0, rows_ = 0, positions_ = 0, image_ = 0;
  bool plain_ = false;
  std::array<int64_t, 3> kernel_ = {}, strides_ = {}, dilations_ = {}, pads_ = {}, input_ = {}, output_ = {};
};

}  // namespace assay
