// Pad: along every axis so many elements before and after, by mode
//   constant  one value        reflect  mirrored at the first and last element, which are not repeated
//   edge      those two        wrap     from the other end
// Negative numbers cut off; modes other than constant continue what is left then, for any length. Pads and value are
// attributes before opset 11 and inputs from then on (pads constant, with axes from opset 18).
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "assay/core/text.h"
#include "assay/model/ops/kernel_cost.h"
#include "assay/model/ops/movement.h"

namespace assay {
namespace {

enum class Mode { constant, reflect, edge, wrap };

// One axis of the output, or several that lie in a row.
struct Axis {
  size_t count;
  size_t from_stride;
  size_t to_stride;
  // Where each element comes from along the axis, -1: the value. Empty: the same place.
  std::vector<int64_t> source = {};
  // The part of `source` that counts up by one, as long as there is.
  size_t run_begin = 0;
  size_t run_length = 0;
};

class PadKernel final : public Kernel, public KernelCost {
 public:
  // The value is input 2 when there is one, else `value`.
  PadKernel(OnnxElement type, std::vector<Axis> axes, double value, bool value_is_input)
      : type_(type), axes_(std::move(axes)), value_(value), value_is_input_(value_is_input) {}

  void forward(const Buffers& values) const override {
    with_element(type_, [&]<class T>() {
      T value{};
      if (value_is_input_) {
        value = *values.in<T>(2);
      } else if constexpr (std::is_floating_point_v<T>) {
        value = static_cast<T>(value_);
      }
      fill<T>(0, values.in<T>(0), values.out<T>(0), value);
    });
  }

  size_t held_bytes() const override {
    size_t count = 0;
    for (const Axis& axis : axes_) count += axis.source.size();
    return count * sizeof(int64_t);
  }
  bool differentiable(size_t input) const override {
    return is_floating(type_) && (input == 0 || (input == 2 && value_is_input_));
  }
  std::optional<AffineForm> affine_form(const std::vector<bool>&) const override {
    // A value of the kernel's own cannot be set to 0.
    if (!value_is_input_ && value_ != 0) return {};
    return AffineForm{};
  }

  void backward(const Buffers&, const Gradients& gradients) const override {
    const auto typed = [&]<class T>() {
      T ignored = 0;
      T* dvalue = value_is_input_ ? gradients.in<T>(2) : nullptr;
      if (gradients.out<T>(0) == nullptr) return;
      add_back<T>(0, gradients.out<T>(0), gradients.in<T>(0), dvalue == nullptr ? &ignored : dvalue);
    };
    if (type_ == OnnxElement::float64) {
      typed.template operator()<double>();
    } else {
      typed.template operator()<float>();
    }
  }

 private:
  template <class T>
  void fill(size_t level, const T* x, T* y, const T& value) const {
    const Axis& axis = axes_[level];
    const bool last = level + 1 == axes_.size();
    if (last && axis.source.empty()) {
      std::copy_n(x, axis.count, y);
      return;
    }
    for (size_t i = 0; i < axis.count; i++) {
      T* to = y + i * axis.to_stride;
      const int64_t from = axis.source.empty() ? static_cast<int64_t>(i) : axis.source[i];
      if (from < 0) {
        std::fill_n(to, axis.to_stride, value);
      } else if (!last) {
        fill<T>(level + 1, x + static_cast<size_t>(from) * axis.from_stride, to, value);
      } else if (i == axis.run_begin) {
        std::copy_n(x + from, axis.run_length, to);
        i += axis.run_length - 1;
      } else {
        *to = x[from];
      }
    }
  }

  // dx null: only the derivative by the value is wanted.
  template <class T>
  void add_back(size_t level, const T* dy, T* dx, T* dvalue) const {
    const Axis& axis = axes_[level];
    const bool last = level + 1 == axes_.size();
    if (last && axis.source.empty()) {
      for (size_t i = 0; dx != nullptr && i < axis.count; i++) dx[i] += dy[i];
      return;
    }
    for (size_t i = 0; i < axis.count; i++) {
      const T* to = dy + i * axis.to_stride;
      const int64_t from = axis.source.empty() ? static_cast<int64_t>(i) : axis.source[i];
      if (from < 0) {
        for (size_t j = 0; j < axis.to_stride; j++) *dvalue += to[j];
      } else if (!last) {
        T* part = dx == nullptr ? nullptr : dx + static_cast<size_t>(from) * axis.from_stride;
        add_back<T>(level + 1, to, part, dvalue);
      } else if (dx != nullptr) {
        dx[from] += *to;
      }
    }
  }

  OnnxElement type_;
  std::vector<Axis> axes_;
  double value_;
  bool value_is_input_;
};

Mode read_mode(const NodeSetup& setup) {
  const std::string mode = setup.text("mode", "constant");
  if (mode == "constant") return Mode::constant;
  if (mode == "reflect") return Mode::reflect;
  if (mode == "edge") return Mode::edge;
  if (mode == "wrap" && setup.opset() >= 19) return Mode::wrap;
  setup.fail(fmt::format("mode must be {}, found {}",
                         setup.opset() >= 19 ? "constant, reflect, edge or wrap" : "constant, reflect or edge",
                         in_quotes(mode)));
}

struct Pads {
  std::vector<int64_t> before;
  std::vector<int64_t> after;
};

Pads read_pads(const NodeSetup& setup, size_t rank) {
  const auto given = attribute_or_input(setup, "pads", 11, 1);
  if (!given) setup.fail("expected pads, found none");
  std::vector<int64_t> axes(rank);
  for (size_t d = 0; d < rank; d++) axes[d] = static_cast<int64_t>(d);
  if (setup.opset() >= 18 && setup.has_input(3)) axes = setup.constant_integers(3, "axes");
  setup.axes(axes, rank);
  if (given->size() != 2 * axes.size()) {
    setup.fail(fmt::format("pads must be {} numbers, two for each axis, found {}", 2 * axes.size(), given->size()));
  }
  Pads pads = {std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 0)};
  for (size_t i = 0; i < given->size(); i++) {
    const int64_t pad = (*given)[i];
    if (pad > kMostElements || pad < -kMostElements) {
      setup.fail(fmt::format("a pad of {} is beyond every size that is allowed", pad));
    }
    auto& side = i < axes.size() ? pads.before : pads.after;
    side[setup.axis(axes[i % axes.size()], rank)] = pad;
  }
  return pads;
}

// For every element along an axis of the output the one it comes from, or -1.
std::vector<int64_t> sources(const NodeSetup& setup, Mode mode, int64_t size, int64_t before, int64_t after) {
  const int64_t count = size + before + after;
  std::vector<int64_t> source(setup.checked_bytes(static_cast<size_t>(count), sizeof(int64_t)) / sizeof(int64_t));
  const int64_t first = std::max<int64_t>(-before, 0);
  const int64_t length = size - first - std::max<int64_t>(-after, 0);
  if (mode != Mode::constant && length <= 0 && count > 0) {
    setup.fail(fmt::format("an axis of {} element{} has none left to pad with", size, size == 1 ? "" : "s"));
  }
  const int64_t period = mode == Mode::reflect ? std::max<int64_t>(2 * (length - 1), 1) : length;
  for (int64_t i = 0; i < count; i++) {
    int64_t at = i - before;
    if (mode == Mode::constant) {
      if (at < 0 || at >= size) at = -1;
    } else {
      at -= first;
      if (mode == Mode::edge) {
        at = std::clamp<int64_t>(at, 0, length - 1);
      } else {
        at = ((at % period) + period) % period;
        if (at >= length) at = period - at;
      }
      at += first;
    }
    source[static_cast<size_t>(i)] = at;
  }
  return source;
}

// The axes with pads, and between them the others as one.
std::vector<Axis> make_axes(const NodeSetup& setup, Mode mode, const Pads& pads, const Shape& from, const Shape& to) {
  const std::vector<int64_t> from_strides = row_major_strides(from);
  const std::vector<int64_t> to_strides = row_major_strides(to);
  std::vector<Axis> axes;
  for (size_t d = 0; d < from.size(); d++) {
    Axis axis = {static_cast<size_t>(to[d]), static_cast<size_t>(from_strides[d]), static_cast<size_t>(to_strides[d])};
    if (pads.before[d] != 0 || pads.after[d] != 0) {
      axis.source = sources(setup, mode, from[d], pads.before[d], pads.after[d]);
      axis.run_begin = std::min(static_cast<size_t>(std::max<int64_t>(pads.before[d], 0)), axis.count);
      axis.run_length = 0;
      for (size_t i = axis.run_begin; i < axis.count && axis.source[i] >= 0; i++, axis.run_length++) {
        if (i > axis.run_begin && axis.source[i] != axis.source[i - 1] + 1) break;
      }
    } else if (!axes.empty() && axes.back().source.empty()) {
      axis.count *= axes.back().count;
      axes.pop_back();
    }
    axes.push_back(std::move(axis));
  }
  if (axes.empty()) axes.push_back({1, 1, 1});
  return axes;
}

}  // namespace

std::unique_ptr<Kernel> make_pad(NodeSetup& setup) {
  const int64_t opset = setup.opset();
  setup.expect_inputs(opset < 11 ? 1 : 2, opset < 11 ? 1 : opset < 18 ? 3 : 4);
  setup.expect_outputs(1, 1);
  const ValueInfo& data = opset < 11 ? setup.floating_input(0) : setup.input(0);
  const Mode mode = read_mode(setup);
  const bool value_is_input = mode == Mode::constant && setup.has_input(2);
  if (value_is_input && setup.typed_input(2, data.type).count() != 1) {
    setup.fail(fmt::format("constant_value must be one element, found {}", setup.input(2).count()));
  }
  const Pads pads = read_pads(setup, data.dims.size());
  Shape dims = data.dims;
  for (size_t d = 0; d < dims.size(); d++) dims[d] += pads.before[d] + pads.after[d];
  setup.set_output(0, data.type, dims);
  const double value = opset < 11 ? setup.real("value", 0) : 0;
  return std::make_unique<PadKernel>(data.type, make_axes(setup, mode, pads, data.dims, dims), value, value_is_input);
}

}  // namespace assay
