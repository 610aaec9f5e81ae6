#include "assay/model/ops/direct_conv.h"

#include <algorithm>
#include <utility>

#include "assay/model/kernels/convolve.h"
#include "assay/model/kernels/products.h"

namespace assay {
namespace {

constexpr size_t kVectorChannels = 16;  // channels are computed in multiples of these
// Sums of a strip should stay near; a strip has two lines at least, so they must not be long.
constexpr size_t kStripSums = size_t{1} << 13;
constexpr size_t kLongestLine = 2048;
constexpr size_t kMostPadded = size_t{1} << 18;
constexpr size_t kMostWeights = size_t{1} << 24;

size_t rounded_up(size_t count, size_t unit) { return (count + unit - 1) / unit * unit; }

// The last two dimensions of a window of one or two.
size_t side(const std::vector<int64_t>& sizes, size_t from_end, int64_t missing) {
  return static_cast<size_t>(sizes.size() >= from_end ? sizes[sizes.size() - from_end] : missing);
}

}  // namespace

std::shared_ptr<const DirectConv> DirectConv::make(const Window& window, Sizes sizes,
                                                   std::shared_ptr<const Tensor> weights) {
  const auto any = [](const std::vector<int64_t>& list, auto is) { return std::any_of(list.begin(), list.end(), is); };
  const bool fits = window.rank() <= 2 && window.strides.back() == 1 && window.output.back() <= int64_t{kLongestLine} &&
                    !any(window.output, [](int64_t size) { return size < 1; }) &&
                    !any(window.pads_begin, [](int64_t pad) { return pad < 0; }) &&
                    !any(window.pads_end, [](int64_t pad) { return pad < 0; });
  if (!fits || sizes.channels == 0 || weights->count() > kMostWeights) return nullptr;
  // A quarter of the lanes may be idle.
  if (4 * rounded_up(sizes.outputs, kVectorChannels) > 5 * sizes.outputs) return nullptr;
  std::shared_ptr<DirectConv> made(new DirectConv(window, sizes, std::move(weights)));
  const bool pads = made->padded_height_ != made->height_ || made->padded_width_ != made->width_;
  if (pads && sizes.channels * made->padded_height_ * made->padded_width_ > kMostPadded) return nullptr;
  return made;
}

DirectConv::DirectConv(const Window& window, Sizes sizes, std::shared_ptr<const Tensor> weights)
    : window_(window),
      sizes_(sizes),
      packs_((sizes.outputs + kPack - 1) / kPack),
      weights_(std::move(weights)),
      lines_(side(window.output, 2, 1)),
      columns_(side(window.output, 1, 1)),
      height_(side(window.input, 2, 1)),
      width_(side(window.input, 1, 1)),
      top_(side(window.pads_begin, 2, 0)),
      left_(side(window.pads_begin, 1, 0)),
      padded_height_(height_ + top_ + side(window.pads_end, 2, 0)),
      padded_width_(width_ + left_ + side(window.pads_end, 1, 0)),
      line_stride_(side(window.strides, 2, 1)) {
  const size_t kernel_lines = side(window.kernel, 2, 1);
  const size_t kernel_columns = side(window.kernel, 1, 1);
  for (size_t channel = 0; channel < sizes.channels; channel++) {
    for (size_t line = 0; line < kernel_lines; line++) {
      const size_t at = channel * padded_height_ + line * side(window.dilations, 2, 1);
      for (size_t column = 0; column < kernel_columns; column++) {
        offsets_.push_back(at * padded_width_ + column * side(window.dilations, 1, 1));
      }
    }
  }
  steps_ = offsets_.size();
  strip_lines_ = std::min(rounded_up(lines_, 2), std::max<size_t>(kStripSums / kPack / columns_ / 2 * 2, 2));
}

bool DirectConv::is_for(const Window& window, const std::shared_ptr<const Tensor>& weights) const {
  return weights == weights_ && window.kernel == window_.kernel && window.strides == window_.strides &&
         window.dilations == window_.dilations && window.pads_begin == window_.pads_begin &&
         window.pads_end == window_.pads_end && window.input == window_.input;
}

size_t DirectConv::packed_floats() const { return sizes_.groups * packs_ * steps_ * kPack; }
size_t DirectConv::held_bytes() const { return packed_floats() * sizeof(float) + steps_ * sizeof(size_t); }

// When first needed: not every plan that is made runs.
const float* DirectConv::packed() const {
  std::call_once(packs_once_, [this] {
    packed_ = Tensor(OnnxElement::float32, {static_cast<int64_t>(packed_floats())});
    for (size_t group = 0; group < sizes_.groups; group++) {
      for (size_t first = 0; first < sizes_.outputs; first += kPack) {
        const float* from = weights_->data<float>() + (group * sizes_.outputs + first) * steps_;
        float* to = packed_.data<float>() + (group * packs_ + first / kPack) * steps_ * kPack;
        transpose(from, steps_, std::min(kPack, sizes_.outputs - first), steps_, to, kPack);
      }
    }
  });
  return packed_.data<float>();
}

size_t DirectConv::scratch_floats() const {
  const bool pads = padded_height_ != height_ || padded_width_ != width_;
  return strip_lines_ * columns_ * kPack + (pads ? sizes_.channels * padded_height_ * padded_width_ : 0);
}

const float* DirectConv::padded(const float* image, float* copy) const {
  if (padded_height_ == height_ && padded_width_ == width_) return image;
  float* to = copy;
  for (size_t channel = 0; channel < sizes_.channels; channel++) {
    for (size_t line = 0; line < padded_height_; line++, to += padded_width_) {
      if (line < top_ || line >= top_ + height_) {
        std::fill_n(to, padded_width_, 0.0F);
        continue;
      }
      std::fill_n(to, left_, 0.0F);
      std::copy_n(image, width_, to + left_);
      std::fill(to + left_ + width_, to + padded_width_, 0.0F);
      image += width_;
    }
  }
  return copy;
}

void DirectConv::run(const float* image, size_t group, const float* bias, Finish finish, float* scratch,
                     float* out) const {
  const float* weights = packed();
  const size_t lines = finish.squares ? lines_ / 2 * 2 : lines_;
  Convolution c;
  c.steps = steps_;
  c.offsets = offsets_.data();
  c.columns = finish.squares ? columns_ / 2 * 2 : columns_;
  c.line_step = line_stride_ * padded_width_;
  c.leaky = finish.leaky;
  c.slope = finish.slope;
  c.sums = scratch;
  const float* seen = padded(image, scratch + strip_lines_ * columns_ * kPack);
  const size_t plane = positions(finish);
  for (size_t first = 0; first < sizes_.outputs; first += kPack) {
    const size_t outputs = std::min(kPack, sizes_.outputs - first);
    alignas(64) float start[kPack] = {};
    if (bias != nullptr) std::copy_n(bias + group * sizes_.outputs + first, outputs, start);
    c.start = start;
    c.width = rounded_up(outputs, kVectorChannels);
    c.weights = weights + (group * packs_ + first / kPack) * steps_ * kPack;
    float* to = out + first * plane;
    for (size_t line = 0; line < lines; line += strip_lines_) {
      c.lines = std::min(strip_lines_, lines - line);
      c.image = seen + line * c.line_step;
      convolve(c);
      if (finish.squares) pool_sums(scratch, c.width, c.lines, c.columns);
      const size_t count = c.lines * c.columns / (finish.squares ? 4 : 1);
      transpose(scratch, kPack, count, outputs, to, plane);
      to += count;
    }
  }
}

}  // namespace assay
