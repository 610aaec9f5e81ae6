#include "assay/model/ops/reduce.h"

#include <fmt/format.h>

#include <type_traits>
#include <utility>

#include "assay/model/ops/node_setup.h"

namespace assay {
namespace {

// What sums of T are taken in: unsigned for whole numbers, as overflow of signed ones is undefined.
template <class T>
using SumOf = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;

// Four sums side by side: one chain of additions would wait for each.
template <class T>
SumOf<T> sum_of(const T* x, size_t count) {
  using Sum = SumOf<T>;
  Sum sums[4] = {};
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (size_t lane = 0; lane < 4; lane++) sums[lane] += static_cast<Sum>(x[i + lane]);
  }
  for (; i < count; i++) sums[0] += static_cast<Sum>(x[i]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

class SumKernel final : public Kernel {
 public:
  SumKernel(OnnxElement type, Reduction reduction, bool mean)
      : type_(type), reduction_(std::move(reduction)), mean_(mean) {}

  void forward(const Buffers& values) const override {
    with_element(type_, [&]<class T>() {
      if constexpr (std::is_arithmetic_v<T>) fold<T>(values);
    });
  }
  bool differentiable(size_t input) const override { return input == 0 && is_floating(type_); }
  std::optional<AffineForm> affine_form(const std::vector<bool>&) const override { return AffineForm{}; }
  void backward(const Buffers&, const Gradients& gradients) const override {
    if (type_ == OnnxElement::float64) {
      spread<double>(gradients);
    } else {
      spread<float>(gradients);
    }
  }
  // The sums, before they are rounded.
  size_t scratch_bytes() const override { return reduction_.outputs() * sizeof(double); }

 private:
  template <class T>
  void fold(const Buffers& values) const {
    using Sum = SumOf<T>;
    const T* x = values.in<T>(0);
    Sum* sums = reinterpret_cast<Sum*>(values.scratch);
    for (size_t i = 0; i < reduction_.outputs(); i++) sums[i] = Sum(0);
    const bool last_folded = reduction_.last_folded();
    reduction_.for_each_run([&](size_t input, size_t output, size_t run) {
      if (last_folded) {
        sums[output] += sum_of(x + input, run);
      } else {
        for (size_t i = 0; i < run; i++) sums[output + i] += static_cast<Sum>(x[input + i]);
      }
    });
    T* y = values.out<T>(0);
    for (size_t i = 0; i < reduction_.outputs(); i++) {
      if constexpr (std::is_floating_point_v<T>) {
        y[i] = static_cast<T>(mean_ ? sums[i] / static_cast<double>(reduction_.folded()) : sums[i]);
      } else if (!mean_) {
        y[i] = static_cast<T>(sums[i]);
      } else if constexpr (std::is_signed_v<T>) {
        // ReduceMean refuses whole numbers where nothing is folded into an output.
        // NOLINTNEXTLINE(clang-analyzer-core.DivideZero)
        y[i] = static_cast<T>(static_cast<int64_t>(sums[i]) / static_cast<int64_t>(reduction_.folded()));
      } else {
        y[i] = static_cast<T>(sums[i] / reduction_.folded());  // NOLINT(clang-analyzer-core.DivideZero): as above
      }
    }
  }

  template <class T>
  void spread(const Gradients& gradients) const {
    const T* dy = gradients.out<T>(0);
    T* dx = gradients.in<T>(0);
    if (dy == nullptr || dx == nullptr) return;
    const T share = mean_ ? T(1) / static_cast<T>(reduction_.folded()) : T(1);
    const bool last_folded = reduction_.last_folded();
    reduction_.for_each_run([&](size_t input, size_t output, size_t run) {
      if (last_folded) {
        const T each = dy[output] * share;
        for (size_t i = 0; i < run; i++) dx[input + i] += each;
      } else {
        for (size_t i = 0; i < run; i++) dx[input + i] += dy[output + i] * share;
      }
    });
  }

  OnnxElement type_;
  Reduction reduction_;
  bool mean_;
};

}  // namespace

Reduction::Reduction(const Shape& dims, const std::vector<size_t>& axes, bool keep_dims) {
  std::vector<bool> folds(dims.size(), false);
  for (const size_t axis : axes) folds[axis] = true;
  std::vector<bool> joined_folds;
  for (size_t axis = 0; axis < dims.size(); axis++) {
    const auto length = static_cast<size_t>(dims[axis]);
    (folds[axis] ? folded_ : outputs_) *= length;
    if (!folds[axis]) {
      output_dims_.push_back(dims[axis]);
    } else if (keep_dims) {
      output_dims_.push_back(1);
    }
    if (!joined_folds.empty() && joined_folds.back() == folds[axis]) {
      lengths_.back() *= length;
    } else {
      lengths_.push_back(length);
      joined_folds.push_back(folds[axis]);
    }
  }
  if (lengths_.empty()) {
    lengths_.push_back(1);
    joined_folds.push_back(false);
  }
  steps_.resize(lengths_.size());
  size_t step = 1;
  for (size_t i = lengths_.size(); i-- > 0;) {
    steps_[i] = joined_folds[i] ? 0 : step;
    if (!joined_folds[i]) step *= lengths_[i];
  }
}

Reduction make_reduction(NodeSetup& setup, int64_t input_since) {
  const bool as_input = setup.opset() >= input_since;
  setup.expect_inputs(1, as_input ? 2 : 1);
  setup.expect_outputs(1, 1);
  setup.expect_rank(0, 0, 64);
  const ValueInfo& x = setup.input(0);
  std::vector<int64_t> given;
  if (as_input) {
    if (setup.has_attribute("axes")) {
      setup.fail(fmt::format("its axes must be an input from opset {} on, found an attribute", input_since));
    }
    if (setup.has_input(1)) given = setup.constant_integers(1, "the list of axes");
  } else {
    given = setup.integers("axes");
  }
  std::vector<size_t> axes = setup.axes(given, x.dims.size());
  if (given.empty() && !(as_input && setup.flag("noop_with_empty_axes", false))) {
    for (size_t axis = 0; axis < x.dims.size(); axis++) axes.push_back(axis);
  }
  Reduction reduction(x.dims, axes, setup.flag("keepdims", true));
  setup.set_output(0, x.type, reduction.output_dims());
  // Sums and counts of ties.
  setup.checked_bytes(reduction.outputs(), sizeof(double));
  return reduction;
}

std::unique_ptr<Kernel> make_sum_kernel(OnnxElement type, Reduction reduction, bool mean) {
  return std::make_unique<SumKernel>(type, std::move(reduction), mean);
}

}  // namespace assay
