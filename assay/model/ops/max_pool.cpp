// MaxPool: the largest element of every window, over 1 to 3 spatial dimensions; windows as in window.h, padding never
// wins, NaN does. Output 2, Indices, numbers the winners over the whole input, planes row-major or, with storage_order
// 1, column-major. A window that lies in the padding alone gives the type's least value and the index -1.
// Derivative: all of it goes to the first of the largest elements, as in PyTorch. DeepLift: share_maximum in pool.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "assay/model/ops/kernel_cost.h"
#include "assay/model/ops/node_setup.h"
#include "assay/model/ops/pool.h"
#include "assay/model/ops/two_by_two.h"

namespace assay {
namespace {

// Wider windows are taken one by one: their kernel may reach far beyond the input.
constexpr int64_t kNarrow = 64;

class MaxPool final : public Kernel, public KernelCost {
 public:
  MaxPool(OnnxElement type, PoolPlan plan, bool column_major, bool winners)
      : type_(type), plan_(std::move(plan)), column_major_(column_major), needs_winners_(winners) {}

  void forward(const Buffers& values) const override {
    switch (type_) {
      case OnnxElement::float64: return find<double>(values);
      case OnnxElement::int8: return find<int8_t>(values);
      case OnnxElement::uint8: return find<uint8_t>(values);
      default: return find<float>(values);
    }
  }
  bool differentiable(size_t input) const override { return input == 0 && is_floating(type_); }
  void backward(const Buffers& values, const Gradients& gradients) const override {
    with_floating_element(type_, [&]<class T>() { pull_back<T>(values, gradients); });
  }
  void rescale(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const override {
    with_floating_element(type_, [&]<class T>() { share_out<T>(values, reference, multipliers); });
  }
  // The winners: positions in their planes, -1 for none.
  size_t state_bytes() const override { return plan_.planes() * plan_.output_plane() * sizeof(int32_t); }
  size_t held_bytes() const override { return plan_.held_bytes(); }
  uint64_t further_steps() const override { return plan_.steps(); }
  bool pools_squares() const override { return type_ == OnnxElement::float32 && plan_.two_by_two() && !needs_winners_; }

 private:
  static const int32_t* winners(const Buffers& values) { return reinterpret_cast<const int32_t*>(values.state); }

  template <class T>
  void find(const Buffers& values) const {
    const T* x = values.in<T>(0);
    T* y = values.out<T>(0);
    int32_t* winner = reinterpret_cast<int32_t*>(values.state);
    for (size_t plane = 0; plane < plan_.planes(); plane++) {
      find_in_plane(x, y, winner);
      x += plan_.input_plane();
      y += plan_.output_plane();
      winner += plan_.output_plane();
    }
    if (int64_t* indices = values.out<int64_t>(1)) write_indices(winners(values), indices);
  }

  template <class T>
  void find_in_plane(const T* x, T* y, int32_t* winner) const {
    if constexpr (std::is_same_v<T, float>) {
      if (plan_.two_by_two()) {
        max_of_squares(x, y, needs_winners_ ? winner : nullptr, static_cast<int32_t>(plan_.side(2).input),
                       static_cast<size_t>(plan_.side(1).output), static_cast<size_t>(plan_.side(2).output));
        return;
      }
    }
    plan_.for_each_window([&](size_t output, size_t d, size_t h, size_t w) {
      // Where nothing is larger than the least value, the first element has it.
      y[output] =
          std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
      winner[output] = static_cast<int32_t>(plan_.first_element(d, h, w));
    });
    bool has_nan = false;
    for (size_t i = 0; i < plan_.input_plane(); i++) has_nan |= std::isnan(x[i]);
    if (has_nan || plan_.window().kernel.back() > kNarrow) {
      find_by_windows(x, y, winner);
    } else {
      find_by_lines(x, y, winner);
    }
  }

  template <class T>
  void find_by_windows(const T* x, T* y, int32_t* winner) const {
    plan_.for_each_window([&](size_t output, size_t d, size_t h, size_t w) {
      plan_.for_each_element(d, h, w, [&](size_t position) {
        const T next = x[position];
        if (next > y[output] || (std::isnan(next) && !std::isnan(y[output]))) {
          y[output] = next;
          winner[output] = static_cast<int32_t>(position);
        }
      });
    });
  }

  // The same without NaN, one line of outputs at a time: every element of the window is met by the whole line, which
  // needs no branch that depends on the values.
  template <class T>
  void find_by_lines(const T* x, T* y, int32_t* winner) const {
    const PoolPlan::Side &depth = plan_.side(0), &height = plan_.side(1), &width = plan_.side(2);
    const Window& window = plan_.window();
    const int64_t stride = window.strides.back();
    for (size_t d = 0; d < static_cast<size_t>(depth.output); d++) {
      for (size_t h = 0; h < static_cast<size_t>(height.output); h++, y += width.output, winner += width.output) {
        for (int64_t a = 0, z = depth.first[d]; a < depth.taps[d]; a++, z += depth.dilation) {
          for (int64_t b = 0, v = height.first[h]; b < height.taps[h]; b++, v += height.dilation) {
            const int64_t line = (z * height.input + v) * width.input;
            for (int64_t k = 0; k < window.kernel.back(); k++) {
              // Output o looks at position `start + o * stride` of the line.
              const int64_t start = k * width.dilation - window.pads_begin.back();
              const int64_t first = start >= 0 ? 0 : (-start + stride - 1) / stride;
              const int64_t last = start >= width.input ? 0 : (width.input - 1 - start) / stride + 1;
              meet(x + line, start, stride, first, std::min(last, width.output), static_cast<int32_t>(line), y, winner);
            }
          }
        }
      }
    }
  }
  template <class T>
  static void meet(const T* line, int64_t start, int64_t stride, int64_t first, int64_t last, int32_t base, T* y,
                   int32_t* winner) {
    for (int64_t o = first; o < last; o++) {
      const int64_t position = start + o * stride;
      const T next = line[position];
      const T best = y[o];
      // All bits set where next wins.
      const int32_t wins = -static_cast<int32_t>(next > best);
      y[o] = next > best ? next : best;
      winner[o] = (winner[o] & ~wins) | ((base + static_cast<int32_t>(position)) & wins);
    }
  }

  void write_indices(const int32_t* winner, int64_t* indices) const {
    const int64_t depth = plan_.side(0).input;
    const int64_t height = plan_.side(1).input;
    const int64_t width = plan_.side(2).input;
    for (size_t plane = 0; plane < plan_.planes(); plane++) {
      const auto begin = static_cast<int64_t>(plane * plan_.input_plane());
      for (size_t i = 0; i < plan_.output_plane(); i++, winner++, indices++) {
        const int64_t at = *winner;
        if (at < 0) {
          *indices = -1;
        } else if (column_major_) {
          *indices = begin + ((at % width) * height + at / width % height) * depth + at / (width * height);
        } else {
          *indices = begin + at;
        }
      }
    }
  }

  template <class T>
  void pull_back(const Buffers& values, const Gradients& gradients) const {
    const T* dy = gradients.out<T>(0);
    T* dx = gradients.in<T>(0);
    if (dy == nullptr || dx == nullptr) return;
    const int32_t* winner = winners(values);
    const size_t count = plan_.output_plane();
    for (size_t plane = 0; plane < plan_.planes(); plane++) {
      for (size_t i = 0; i < count; i++) {
        if (winner[i] >= 0) dx[winner[i]] += dy[i];
      }
      dx += plan_.input_plane();
      dy += count;
      winner += count;
    }
  }

  template <class T>
  void share_out(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const {
    const T* x = values.in<T>(0);
    const T* r = reference.in<T>(0);
    const T* dy = multipliers.out<T>(0);
    T* dx = multipliers.in<T>(0);
    if (dy == nullptr || dx == nullptr) return;
    const int32_t* winner = winners(values);
    const int32_t* winner_r = winners(reference);
    for (size_t plane = 0; plane < plan_.planes(); plane++) {
      for (size_t i = 0; i < plan_.output_plane(); i++, winner++, winner_r++, dy++) {
        // Which windows have no element does not depend on the values.
        if (*winner < 0) continue;
        share_maximum(x, r, static_cast<size_t>(*winner), static_cast<size_t>(*winner_r), *dy, dx);
      }
      x += plan_.input_plane();
      r += plan_.input_plane();
      dx += plan_.input_plane();
    }
  }

  OnnxElement type_;
  PoolPlan plan_;
  bool column_major_;
  bool needs_winners_;  // for backward, or for Indices
};

}  // namespace

std::unique_ptr<Kernel> make_max_pool(NodeSetup& setup) {
  setup.expect_inputs(1, 1);
  setup.expect_outputs(1, 2);
  const ValueInfo& x = setup.input(0);
  if (!is_floating(x.type) && x.type != OnnxElement::int8 && x.type != OnnxElement::uint8) {
    setup.fail(fmt::format("input 1 must be FLOAT, DOUBLE, INT8 or UINT8, found {}", onnx_type_name(x.type)));
  }
  const int64_t storage_order = setup.integer("storage_order", 0);
  if (storage_order != 0 && storage_order != 1) {
    setup.fail(fmt::format("attribute 'storage_order' must be 0 or 1, found {}", storage_order));
  }
  PoolPlan plan = PoolPlan::make(setup);
  if (plan.input_plane() > size_t{std::numeric_limits<int32_t>::max()}) {
    setup.fail(fmt::format("a plane of its input of {} has more than 2^31 - 1 elements", onnx_shape_text(x.dims)));
  }
  setup.checked_bytes(plan.planes() * plan.output_plane(), sizeof(int32_t));
  if (setup.wants_output(1)) setup.set_output(1, OnnxElement::int64, setup.outputs()[0]->dims);
  return std::make_unique<MaxPool>(x.type, std::move(plan), storage_order == 1,
                                   setup.gradients() || setup.wants_output(1));
}

}  // namespace assay
