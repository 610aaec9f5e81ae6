// Conv: Y[n, o, p] = B[o] + sum over channels c of the group and kernel elements k of
// W[o, c, k] * X[n, c, p * stride - pad + k * dilation], over 1 to 3 spatial dimensions, in groups.
// The patches of an image become the columns of a matrix (im2col), one strip of positions after the other, and W times
// it is a product. Forward with constant weights reads the image where it lies instead, where that is faster
// (direct_conv.h), with the same bits. Backward: dX adds W^T dY back to the patches, dW = dY columns^T, dB = dY summed.
// DeepLift: where X and W both change, each takes the other's average with its reference.
#include <fmt/format.h>

#include <algorithm>

#include "assay/model/kernels/products.h"
#include "assay/model/ops/direct_conv.h"
#include "assay/model/ops/im2col.h"
#include "assay/model/ops/kernel_cost.h"
#include "assay/model/ops/matrix_product.h"
#include "assay/model/ops/node_setup.h"

namespace assay {
namespace {

// Elements of a strip's matrix: they should fit in the second-level cache.
constexpr size_t kStripElements = size_t{1} << 17;
constexpr size_t kLeastStrip = 64;
// Forward takes the columns of some channels at a time: they should leave room in that cache.
constexpr size_t kPieceElements = size_t{1} << 16;
constexpr size_t kVectors = 32;  // elements that a product takes at a time

class Conv final : public Kernel, public KernelCost {
 public:
  explicit Conv(NodeSetup& setup);

  void forward(const Buffers& values) const override {
    with_floating_element(type_, [&]<class T>() { run<T>(values); });
  }
  bool differentiable(size_t) const override { return true; }
  std::optional<AffineForm> affine_form(const std::vector<bool>& changes) const override {
    if (!changes[0] || changes[1] || (changes.size() > 2 && changes[2])) return {};
    return AffineForm{.mixes = true, .coefficients = {1}};
  }
  void backward(const Buffers& values, const Gradients& gradients) const override {
    with_floating_element(type_, [&]<class T>() {
      const T* dy = gradients.out<T>(0);
      if (dy == nullptr || empty()) return;
      if (T* dx = gradients.in<T>(0)) add_input_gradient(values, values.in<T>(1), dy, dx);
      if (T* dw = gradients.in<T>(1)) add_weight_gradient(values, values.in<T>(0), dy, dw);
      if (T* db = gradients.in<T>(2)) add_bias_gradient(dy, db);
    });
  }
  void rescale(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const override {
    if (!both_change_ || values.inputs[0] == reference.inputs[0] || values.inputs[1] == reference.inputs[1]) {
      return backward(values, multipliers);
    }
    with_floating_element(type_, [&]<class T>() {
      const T* dy = multipliers.out<T>(0);
      if (dy == nullptr || empty()) return;
      T* half = reinterpret_cast<T*>(values.scratch) + strip_count_;
      if (T* dx = multipliers.in<T>(0)) {
        average(values.in<T>(1), reference.in<T>(1), half, groups_ * weight_group());
        add_input_gradient<T>(values, half, dy, dx);
      }
      if (T* dw = multipliers.in<T>(1)) {
        average(values.in<T>(0), reference.in<T>(0), half, images_ * groups_ * input_group());
        add_weight_gradient<T>(values, half, dy, dw);
      }
      if (T* db = multipliers.in<T>(2)) add_bias_gradient(dy, db);
    });
  }
  size_t scratch_bytes() const override { return scratch_bytes_; }
  uint64_t further_steps() const override {
    return uint64_t{images_} * groups_ * output_group() * patches_.rows() *
           (type_ == OnnxElement::float32 ? 1 : kSlowSteps);
  }
  size_t held_bytes() const override { return direct_ == nullptr ? 0 : direct_->held_bytes(); }
  std::shared_ptr<const Kernel> with_leaky(float slope) const override {
    if (type_ != OnnxElement::float32) return nullptr;
    auto copy = std::make_shared<Conv>(*this);
    copy->finish_.leaky = true;
    copy->finish_.slope = slope;
    return copy;
  }
  std::shared_ptr<const Kernel> with_pooled_squares() const override {
    if (direct_ == nullptr) return nullptr;
    auto copy = std::make_shared<Conv>(*this);
    copy->finish_.squares = true;
    return copy;
  }

 private:
  bool empty() const { return images_ == 0 || outputs_ == 0 || patches_.positions() == 0; }
  // Elements of one group: of the weights, of an image, of an image's output.
  size_t weight_group() const { return outputs_ * patches_.rows(); }
  size_t input_group() const { return channels_ * patches_.image(); }
  size_t output_group() const { return outputs_ * patches_.positions(); }

  // Calls body(group, at_x, at_y, first, last) for each group of each image and each strip of its positions.
  template <class Body>
  void for_strips(const Body& body) const {
    for (size_t at = 0; at < images_ * groups_; at++) {
      for (size_t first = 0; first < patches_.positions(); first += strip_) {
        const size_t last = std::min(first + strip_, patches_.positions());
        body(at % groups_, at * input_group(), at * output_group(), first, last);
      }
    }
  }

  // The columns of a strip, which may be the image itself.
  template <class T>
  const T* columns(const Buffers& values, const T* image, size_t first, size_t last) const {
    if (patches_.plain()) return image;
    T* made = reinterpret_cast<T*>(values.scratch);
    patches_.gather(image, first, last, made);
    return made;
  }

  template <class T>
  void run(const Buffers& values) const;
  void run_floats(const Buffers& values) const;
  void run_direct(const Buffers& values) const;
  void choose_pieces(const Window& window);
  template <class T>
  void add_input_gradient(const Buffers& values, const T* w, const T* dy, T* dx) const;
  template <class T>
  void add_weight_gradient(const Buffers& values, const T* x, const T* dy, T* dw) const;
  template <class T>
  void add_bias_gradient(const T* dy, T* db) const {
    for (size_t at = 0; at < images_ * groups_ * outputs_; at++) {
      // In lanes, which a compiler turns into vectors.
      constexpr size_t kLanes = 16;
      T sums[kLanes] = {};
      const T* line = dy + at * patches_.positions();
      size_t p = 0;
      for (; p + kLanes <= patches_.positions(); p += kLanes) {
        for (size_t lane = 0; lane < kLanes; lane++) sums[lane] += line[p + lane];
      }
      for (; p < patches_.positions(); p++) sums[0] += line[p];
      for (size_t lane = 1; lane < kLanes; lane++) sums[0] += sums[lane];
      db[at % (groups_ * outputs_)] += sums[0];
    }
  }

  OnnxElement type_;
  size_t images_ = 0, groups_ = 1;
  size_t channels_ = 0, outputs_ = 0;  // of one group
  Patches patches_;                    // of one group
  size_t strip_ = 1;                   // positions computed at a time
  size_t strip_count_ = 0;             // elements at the start of scratch
  bool both_change_ = false;
  size_t scratch_bytes_ = 0;
  // Forward in float32: patches of so many channels, of what is left of them, and positions at a time.
  size_t piece_channels_ = 1;
  Patches piece_, last_piece_;
  size_t piece_strip_ = 1;
  std::shared_ptr<const DirectConv> direct_;  // null where patches are better
  DirectConv::Finish finish_;
};

// Products work on rows of positions: those of a strip in the columns, the whole image's in Y and dY.
ProductOfRows rows_product(size_t m, size_t n, size_t k, const float* a, size_t a_row, const float* b, size_t b_row,
                           float* out) {
  ProductOfRows p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.a = a;
  p.a_row = a_row;
  p.b = b;
  p.b_row = b_row;
  p.out = out;
  p.out_row = n;
  return p;
}

template <class T>
void Conv::run(const Buffers& values) const {
  if (empty()) return;
  if constexpr (std::is_same_v<T, float>) {
    return direct_ == nullptr ? run_floats(values) : run_direct(values);
  } else {
    const T* w = values.in<T>(1);
    const T* bias = values.in<T>(2);
    const size_t k = patches_.rows();
    const size_t y_row = patches_.positions();
    for_strips([&](size_t group, size_t at_x, size_t at_y, size_t first, size_t last) {
      const size_t n = last - first;
      const T* b = columns(values, values.in<T>(0) + at_x, first, last);
      const T* a = w + group * weight_group();
      const T* start = bias == nullptr ? nullptr : bias + group * outputs_;
      T* y = values.out<T>(0) + at_y + first;
      for (size_t o = 0; o < outputs_; o++) {
        for (size_t p = 0; p < n; p++) y[o * y_row + p] = start == nullptr ? T(0) : start[o];
        for (size_t l = 0; l < k; l++) {
          for (size_t p = 0; p < n; p++) y[o * y_row + p] += a[o * k + l] * b[l * n + p];
        }
      }
    });
  }
}

void Conv::run_direct(const Buffers& values) const {
  const size_t to = outputs_ * direct_->positions(finish_);
  for (size_t at = 0; at < images_ * groups_; at++) {
    direct_->run(values.in<float>(0) + at * input_group(), at % groups_, values.in<float>(2), finish_,
                 reinterpret_cast<float*>(values.scratch), values.out<float>(0) + at * to);
  }
}

// A sum over channels goes on from piece to piece: its order is that of the weights, and its bits are those of one
// product.
void Conv::run_floats(const Buffers& values) const {
  const auto* bias = values.in<float>(2);
  auto* scratch = reinterpret_cast<float*>(values.scratch);
  const size_t kernel = patches_.rows() / std::max<size_t>(channels_, 1);
  Product p;
  p.m = outputs_;
  p.a_row = patches_.rows();
  p.out_row = patches_.positions();
  p.slope = finish_.slope;
  for (size_t at = 0; at < images_ * groups_; at++) {
    const size_t group = at % groups_;
    const float* image = values.in<float>(0) + at * input_group();
    const float* weights = values.in<float>(1) + group * weight_group();
    for (size_t first = 0; first < patches_.positions(); first += piece_strip_) {
      const size_t last = std::min(first + piece_strip_, patches_.positions());
      p.n = last - first;
      p.out = values.out<float>(0) + at * output_group() + first;
      // Without channels there is still the bias.
      for (size_t channel = 0; channel == 0 || channel < channels_; channel += piece_channels_) {
        const size_t left = channels_ - channel;
        const Patches& piece = left < piece_channels_ ? last_piece_ : piece_;
        const float* channel_image = image + channel * patches_.image();
        if (!patches_.plain()) piece.gather(channel_image, first, last, scratch);
        p.k = std::min(left, piece_channels_) * kernel;
        p.a = weights + channel * kernel;
        p.b = patches_.plain() ? channel_image + first : scratch;
        p.b_row = patches_.plain() ? patches_.positions() : p.n;
        p.bias = bias == nullptr ? nullptr : bias + group * outputs_;
        p.accumulate = channel > 0;
        p.leaky = finish_.leaky && left <= piece_channels_;
        product(p);
      }
    }
  }
}

void Conv::choose_pieces(const Window& window) {
  const size_t positions = std::max<size_t>(patches_.positions(), 1);
  const size_t kernel = std::max<size_t>(patches_.rows() / std::max<size_t>(channels_, 1), 1);
  if (patches_.plain()) {
    piece_channels_ = std::max<size_t>(channels_, 1);
    piece_strip_ = positions;
    return;
  }
  // Whole lines of positions, as many as fit; rather so many that no product ends in a part of a vector. Where not even
  // one fits, a strip of it.
  const auto line = std::max<size_t>(static_cast<size_t>(window.output.back()), 1);
  const size_t lines = kPieceElements / kernel / line;
  piece_strip_ = std::min(positions, lines > 0 ? lines * line : strip_);
  for (size_t count = lines; count > lines / 2 && piece_strip_ < positions; count--) {
    if (count * line % kVectors != 0) continue;
    piece_strip_ = count * line;
    break;
  }
  piece_channels_ = std::clamp<size_t>(kPieceElements / (kernel * piece_strip_), 1, std::max<size_t>(channels_, 1));
  piece_ = Patches(window, piece_channels_);
  last_piece_ = Patches(window, channels_ % piece_channels_);
  strip_count_ = std::max(strip_count_, piece_.rows() * piece_strip_);
}

template <class T>
void Conv::add_input_gradient(const Buffers& values, const T* w, const T* dy, T* dx) const {
  const size_t rows = patches_.rows();
  const size_t y_row = patches_.positions();
  for_strips([&](size_t group, size_t at_x, size_t at_y, size_t first, size_t last) {
    const size_t n = last - first;
    const T* weights = w + group * weight_group();
    const T* outer = dy + at_y + first;
    // The gradient by the columns: added to the image at once where they are the image.
    T* to = patches_.plain() ? dx + at_x : reinterpret_cast<T*>(values.scratch);
    if constexpr (std::is_same_v<T, float>) {
      Product p;
      p.m = rows;
      p.n = n;
      p.k = outputs_;
      p.a = weights;
      p.a_row = 1;
      p.a_col = rows;
      p.b = outer;
      p.b_row = y_row;
      p.accumulate = patches_.plain();
      p.out = to;
      p.out_row = n;
      product(p);
    } else {
      if (!patches_.plain()) std::fill_n(to, rows * n, T(0));
      for (size_t o = 0; o < outputs_; o++) {
        for (size_t l = 0; l < rows; l++) {
          for (size_t p = 0; p < n; p++) to[l * n + p] += weights[o * rows + l] * outer[o * y_row + p];
        }
      }
    }
    if (!patches_.plain()) patches_.scatter(to, first, last, dx + at_x);
  });
}

template <class T>
void Conv::add_weight_gradient(const Buffers& values, const T* x, const T* dy, T* dw) const {
  const size_t rows = patches_.rows();
  const size_t y_row = patches_.positions();
  for_strips([&](size_t group, size_t at_x, size_t at_y, size_t first, size_t last) {
    const size_t n = last - first;
    const T* b = columns(values, x + at_x, first, last);
    const T* outer = dy + at_y + first;
    T* to = dw + group * weight_group();
    if constexpr (std::is_same_v<T, float>) {
      product_of_rows(rows_product(outputs_, rows, n, outer, y_row, b, n, to));
    } else {
      for (size_t o = 0; o < outputs_; o++) {
        for (size_t l = 0; l < rows; l++) {
          for (size_t p = 0; p < n; p++) to[o * rows + l] += outer[o * y_row + p] * b[l * n + p];
        }
      }
    }
  });
}

Conv::Conv(NodeSetup& setup) : type_(setup.floating_input(0).type) {
  setup.expect_rank(0, 3, 5);
  const ValueInfo& x = setup.input(0);
  const ValueInfo& w = setup.typed_input(1, type_);
  const size_t rank = x.dims.size();
  setup.expect_rank(1, rank, rank);
  const int64_t group = setup.integer("group", 1);
  if (group < 1 || x.dims[1] % group != 0 || w.dims[0] % group != 0 || w.dims[1] != x.dims[1] / group) {
    setup.fail(
        fmt::format("{} channels in {} groups do not fit weights of {}", x.dims[1], group, onnx_shape_text(w.dims)));
  }
  std::vector<int64_t> kernel(w.dims.begin() + 2, w.dims.end());
  if (const auto asked = setup.integers("kernel_shape"); !asked.empty() && asked != kernel) {
    setup.fail(fmt::format("attribute 'kernel_shape' is {}, but the weights have {}", onnx_shape_text(asked),
                           onnx_shape_text(kernel)));
  }
  if (setup.has_input(2)) {
    setup.typed_input(2, type_);
    setup.expect_rank(2, 1, 1);
    if (setup.input(2).dims[0] != w.dims[0]) {
      setup.fail(fmt::format("input 3 must have {} elements, one for each output channel, found {}", w.dims[0],
                             setup.input(2).dims[0]));
    }
  }
  const Window window = make_window(setup, {x.dims.begin() + 2, x.dims.end()}, std::move(kernel));
  Shape out = {x.dims[0], w.dims[0]};
  out.insert(out.end(), window.output.begin(), window.output.end());
  setup.set_output(0, type_, out);

  images_ = static_cast<size_t>(x.dims[0]);
  groups_ = static_cast<size_t>(group);
  channels_ = static_cast<size_t>(x.dims[1]) / groups_;
  outputs_ = static_cast<size_t>(w.dims[0]) / groups_;
  patches_ = Patches(window, channels_);
  // A whole image where it fits; else whole vectors.
  strip_ = std::max<size_t>(patches_.positions(), 1);
  if (!patches_.plain()) {
    const size_t rows = std::max<size_t>(patches_.rows(), 1);
    strip_ = std::min(strip_, std::max(kStripElements / rows / kLeastStrip * kLeastStrip, kLeastStrip));
    strip_count_ = setup.checked_bytes(rows * strip_, element_size(type_)) / element_size(type_);
  }
  choose_pieces(window);
  if (type_ == OnnxElement::float32 && w.constant != nullptr && !patches_.plain()) {
    const auto make = [&] { return DirectConv::make(window, {groups_, channels_, outputs_}, w.constant); };
    // All plans of the node have the same weights and images, unless dimensions are open or weights were replaced.
    direct_ = setup.shared<DirectConv>(reinterpret_cast<size_t>(w.constant.get()), make);
    if (direct_ != nullptr && !direct_->is_for(window, w.constant)) direct_ = make();
    if (direct_ != nullptr) strip_count_ = std::max(strip_count_, direct_->scratch_floats());
  }
  both_change_ = x.constant == nullptr && w.constant == nullptr;
  const size_t averages = both_change_ ? std::max(x.count(), w.count()) : 0;
  scratch_bytes_ = setup.checked_bytes(strip_count_ + averages, element_size(type_));
}

}  // namespace

std::unique_ptr<Kernel> make_conv(NodeSetup& setup) {
  setup.expect_inputs(2, 3);
  setup.expect_outputs(1, 1);
  return std::make_unique<Conv>(setup);
}

}  // namespace assay
