// ArgMax: the position of the largest element along one axis, as int64; of several the first, or with
// select_last_index (opset 12) the last. NaN wins, as in NumPy. Has no derivative.
#include <fmt/format.h>

#include <cmath>
#include <type_traits>

#include "assay/model/ops/node_setup.h"

namespace assay {
namespace {

class ArgMax final : public Kernel {
 public:
  // The axis as the middle of three: outer x length x inner.
  ArgMax(OnnxElement type, size_t outer, size_t length, size_t inner, bool last)
      : type_(type), outer_(outer), length_(length), inner_(inner), last_(last) {}

  void forward(const Buffers& values) const override {
    with_element(type_, [&]<class T>() {
      if constexpr (std::is_arithmetic_v<T>) find<T>(values);
    });
  }

 private:
  template <class T>
  void find(const Buffers& values) const {
    const T* x = values.in<T>(0);
    int64_t* y = values.out<int64_t>(0);
    for (size_t outer = 0; outer < outer_; outer++, x += length_ * inner_) {
      for (size_t inner = 0; inner < inner_; inner++) {
        T best = x[inner];
        size_t at = 0;
        for (size_t i = 1; i < length_; i++) {
          const T next = x[i * inner_ + inner];
          // A NaN is never less than another value, but every other value is less than it.
          const bool wins =
              std::isnan(best) ? last_ && std::isnan(next) : next > best || std::isnan(next) || (last_ && next == best);
          if (wins) {
            best = next;
            at = i;
          }
        }
        *y++ = static_cast<int64_t>(at);
      }
    }
  }

  OnnxElement type_;
  size_t outer_, length_, inner_;
  bool last_;
};

}  // namespace

std::unique_ptr<Kernel> make_arg_max(NodeSetup& setup) {
  setup.expect_inputs(1, 1);
  setup.expect_outputs(1, 1);
  const ValueInfo& x = setup.input(0);
  if (x.type == OnnxElement::string || x.type == OnnxElement::boolean) {
    setup.fail(fmt::format("input 1 must be numbers, found {}", onnx_type_name(x.type)));
  }
  setup.expect_rank(0, 1, 64);
  const size_t axis = setup.axis(setup.integer("axis", 0), x.dims.size());
  const size_t outer = element_count(x.dims, 0, axis);
  const size_t inner = element_count(x.dims, axis + 1, x.dims.size());
  const auto length = static_cast<size_t>(x.dims[axis]);
  if (length == 0 && outer * inner > 0) {
    setup.fail(fmt::format("axis {} of an input of {} has no elements to choose from", axis, onnx_shape_text(x.dims)));
  }
  Shape dims = x.dims;
  if (setup.flag("keepdims", true)) {
    dims[axis] = 1;
  } else {
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  setup.set_output(0, OnnxElement::int64, dims);
  const bool last = setup.opset() >= 12 && setup.flag("select_last_index", false);
  return std::make_unique<ArgMax>(x.type, outer, length, inner, last);
}

}  // namespace assay
