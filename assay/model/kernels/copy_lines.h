// Copies many short lines at fixed distances, to make the columns of a convolution.
#pragma once

#include <cstddef>

namespace assay {

// to[c * to_channel + l * width + i] = from[c * from_channel + l * line_step + i] for c < channels, l < lines, i <
// width. from and to must not overlap.
struct LineCopies {
  const float* from = nullptr;
  size_t line_step = 0, from_channel = 0;
  float* to = nullptr;
  size_t to_channel = 0;
  size_t channels = 0, lines = 0, width = 0;
};
void copy_lines(const LineCopies& copies);

}  // namespace assay
