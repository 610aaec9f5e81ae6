#include "assay/model/ops/im2col.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "assay/model/kernels/copy_lines.h"

namespace assay {
namespace {

// Lines of an image are short: four elements at a time, without a call.
constexpr size_t kFew = 4;

template <class T>
void copy_line(const T* from, size_t step, size_t count, T* to) {
  if (step != 1) {
    for (size_t i = 0; i < count; i++) to[i] = from[i * step];
    return;
  }
  if (count < kFew) {
    for (size_t i = 0; i < count; i++) to[i] = from[i];
    return;
  }
  for (size_t i = 0; i < count; i += kFew) {
    i = std::min(i, count - kFew);
    std::memcpy(to + i, from + i, kFew * sizeof(T));
  }
}

template <class T>
void add_line(const T* from, size_t count, T* to, size_t step) {
  if (step != 1) {
    for (size_t i = 0; i < count; i++) to[i * step] += from[i];
    return;
  }
  size_t i = 0;
  for (; i + kFew <= count; i += kFew) {
    T sums[kFew];
    for (size_t j = 0; j < kFew; j++) sums[j] = to[i + j] + from[i + j];
    std::memcpy(to + i, sums, kFew * sizeof(T));
  }
  for (; i < count; i++) to[i] += from[i];
}

}  // namespace

Patches::Patches(const Window& window, size_t channels) : channels_(channels) {
  const size_t extra = 3 - window.rank();
  kernel_.fill(1);
  strides_.fill(1);
  dilations_.fill(1);
  input_.fill(1);
  output_.fill(1);
  for (size_t dim = 0; dim < window.rank(); dim++) {
    kernel_[extra + dim] = window.kernel[dim];
    strides_[extra + dim] = window.strides[dim];
    dilations_[extra + dim] = window.dilations[dim];
    pads_[extra + dim] = window.pads_begin[dim];
    input_[extra + dim] = window.input[dim];
    output_[extra + dim] = window.output[dim];
  }
  rows_ = channels_;
  positions_ = 1;
  image_ = 1;
  for (size_t dim = 0; dim < 3; dim++) {
    rows_ *= static_cast<size_t>(kernel_[dim]);
    positions_ *= static_cast<size_t>(output_[dim]);
    image_ *= static_cast<size_t>(input_[dim]);
  }
  const std::array<int64_t, 3> ones = {1, 1, 1};
  plain_ = kernel_ == ones && strides_ == ones && pads_ == std::array<int64_t, 3>{} && input_ == output_;
}

// Lines of output positions of one row of the matrix, one below the other: at `to` in the matrix come `before` elements
// of padding, then `inside` elements from `from` on in the image at the distance of a stride, then `after` elements of
// padding; then the next line follows in the matrix, and in the image at the distance of a stride.
struct Patches::Lines {
  size_t count = 0;
  size_t to = 0, from = 0;
  size_t before = 0, inside = 0, after = 0;
  size_t width() const { return before + inside + after; }
};

namespace {

// The output positions o in 0..count-1 that see the inside: start + o * stride in 0..size-1.
struct InsideRange {
  int64_t low = 0, high = 0;
};
InsideRange positions_inside(int64_t start, int64_t stride, int64_t size, int64_t count) {
  InsideRange range;
  range.low = start >= 0 ? 0 : std::min(count, (-start + stride - 1) / stride);
  range.high = start >= size ? 0 : std::min(count, (size - 1 - start) / stride + 1);
  range.high = std::max(range.low, range.high);
  return range;
}

}  // namespace

// Calls body(lines of the first channel, distance of the next channel's in the matrix) for all lines of the positions
// first..last-1 and every element of the kernel. What lines there are does not depend on the channel.
template <class Body>
void Patches::for_lines(size_t first, size_t last, const Body& body) const {
  if (first >= last || channels_ == 0) return;
  const int64_t width = output_[2];
  const auto first_line = static_cast<int64_t>(first) / width;
  const auto first_column = static_cast<int64_t>(first) % width;
  const int64_t first_depth = first_line / output_[1];
  const int64_t first_height = first_line % output_[1];
  const size_t columns_of_row = last - first;
  const size_t columns_of_channel = rows_ / channels_ * columns_of_row;
  size_t row_begin = 0;
  for (int64_t kd = 0; kd < kernel_[0]; kd++) {
    for (int64_t kh = 0; kh < kernel_[1]; kh++) {
      const int64_t top = kh * dilations_[1] - pads_[1];
      const InsideRange heights = positions_inside(top, strides_[1], input_[1], output_[1]);
      for (int64_t kw = 0; kw < kernel_[2]; kw++, row_begin += columns_of_row) {
        const int64_t start = kw * dilations_[2] - pads_[2];
        const InsideRange columns = positions_inside(start, strides_[2], input_[2], width);
        size_t to = row_begin;
        int64_t depth = first_depth;
        int64_t height = first_height;
        int64_t column = first_column;
        for (auto left = static_cast<int64_t>(last - first); left > 0;) {
          const int64_t end = std::min(width, column + left);
          const int64_t at_depth = depth * strides_[0] - pads_[0] + kd * dilations_[0];
          const bool outside = at_depth < 0 || at_depth >= input_[0];
          const bool inside = !outside && height >= heights.low && height < heights.high;
          // As many lines as are alike, where they are whole.
          int64_t count = 1;
          if (column == 0 && end == width) {
            const int64_t alike = inside ? heights.high : outside || height >= heights.low ? output_[1] : heights.low;
            count = std::min(alike - height, left / width);
          }
          const int64_t begin_in = inside ? std::clamp(columns.low, column, end) : end;
          const int64_t end_in = inside ? std::clamp(columns.high, begin_in, end) : end;
          Lines lines;
          lines.count = static_cast<size_t>(count);
          lines.to = to;
          lines.before = static_cast<size_t>(begin_in - column);
          lines.inside = static_cast<size_t>(end_in - begin_in);
          lines.after = static_cast<size_t>(end - end_in);
          if (begin_in < end_in) {
            const int64_t line = at_depth * input_[1] + height * strides_[1] + top;
            lines.from = static_cast<size_t>(line * input_[2] + begin_in * strides_[2] + start);
          }
          to += lines.count * lines.width();
          body(lines, columns_of_channel);
          left -= count * (end - column);
          column = 0;
          height += count;
          if (height == output_[1]) {
            height = 0;
            depth++;
          }
        }
      }
    }
  }
}

template <class T>
void Patches::gather(const T* image, size_t first, size_t last, T* columns) const {
  const auto step = static_cast<size_t>(strides_[2]);
  const auto line_step = static_cast<size_t>(strides_[1]) * static_cast<size_t>(input_[2]);
  for_lines(first, last, [=, this](const Lines& lines, size_t columns_of_channel) {
    if constexpr (std::is_same_v<T, float>) {
      if (step == 1 && lines.inside == lines.width()) {
        copy_lines({image + lines.from, line_step, image_, columns + lines.to, columns_of_channel, channels_,
                    lines.count, lines.inside});
        return;
      }
    }
    const size_t end = lines.before + lines.inside;
    for (size_t channel = 0; channel < channels_; channel++) {
      const T* from = image + channel * image_ + lines.from;
      T* to = columns + channel * columns_of_channel + lines.to;
      for (size_t line = 0; line < lines.count; line++) {
        for (size_t i = 0; i < lines.before; i++) to[i] = 0;
        if (lines.inside > 0) copy_line(from + line * line_step, step, lines.inside, to + lines.before);
        for (size_t i = end; i < lines.width(); i++) to[i] = 0;
        to += lines.width();
      }
    }
  });
}

template <class T>
void Patches::scatter(const T* columns, size_t first, size_t last, T* image) const {
  const auto step = static_cast<size_t>(strides_[2]);
  const auto line_step = static_cast<size_t>(strides_[1]) * static_cast<size_t>(input_[2]);
  for_lines(first, last, [=, this](const Lines& lines, size_t columns_of_channel) {
    if (lines.inside == 0) return;
    for (size_t channel = 0; channel < channels_; channel++) {
      const T* from = columns + channel * columns_of_channel + lines.to + lines.before;
      T* to = image + channel * image_ + lines.from;
      for (size_t line = 0; line < lines.count; line++) {
        add_line(from + line * lines.width(), lines.inside, to + line * line_step, step);
      }
    }
  });
}

template void Patches::gather(const float*, size_t, size_t, float*) const;
template void Patches::gather(const double*, size_t, size_t, double*) const;
template void Patches::scatter(const float*, size_t, size_t, float*) const;
template void Patches::scatter(const double*, size_t, size_t, double*) const;

}  // namespace assay
