// Gemm: Y = alpha * A' B' + beta * C, where A' is A or its transpose (transA), B' likewise, and C is broadcast to
// M x N. C may be left out (also before opset 11, where ONNX requires it). dA' = alpha dY B'^T, dB' = alpha A'^T dY,
// dC = beta dY summed where C was broadcast. DeepLift: where both A and B change, each takes the other's average with
// its reference. Integers (from opset 9) take alpha = beta = 1.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/model/kernels/products.h"
#include "assay/model/ops/dense_layer.h"
#include "assay/model/ops/kernel_cost.h"
#include "assay/model/ops/matrix_product.h"
#include "assay/model/ops/node_setup.h"

namespace assay {
namespace {

class Gemm final : public Kernel, public KernelCost {
 public:
  explicit Gemm(NodeSetup& setup);

  void forward(const Buffers& values) const override {
    with_product_element(type_, [&]<class T>() { run<T>(values); });
  }
  bool differentiable(size_t) const override { return is_floating(type_); }
  std::optional<AffineForm> affine_form(const std::vector<bool>& changes) const override {
    if (changes[0] == changes[1] || (changes.size() > 2 && changes[2])) return {};
    auto absolute = std::make_shared<Gemm>(*this);
    absolute->alpha_ = std::abs(alpha_);
    absolute->turned_ = nullptr;
    return AffineForm{.mixes = true, .coefficients = {changes[0] ? size_t{1} : size_t{0}}, .absolute = absolute};
  }
  void backward(const Buffers& values, const Gradients& gradients) const override {
    rescale(values, values, gradients);
  }
  void rescale(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const override {
    const bool changes =
        both_change_ && values.inputs[0] != reference.inputs[0] && values.inputs[1] != reference.inputs[1];
    with_floating_element(type_, [&]<class T>() {
      const T* dy = multipliers.out<T>(0);
      if (dy == nullptr || m_ * n_ == 0) return;
      add_bias_gradient(dy, multipliers.in<T>(2));
      dy = scaled(dy, values);
      T* half = changes ? reinterpret_cast<T*>(values.scratch) + scaled_count_ : nullptr;
      if (T* da = multipliers.in<T>(0)) {
        add_left_gradient(average(values.in<T>(1), reference.in<T>(1), half, k_ * n_), dy, da);
      }
      if (T* db = multipliers.in<T>(1)) {
        add_right_gradient(average(values.in<T>(0), reference.in<T>(0), half, m_ * k_), dy, db);
      }
    });
  }
  size_t scratch_bytes() const override { return scratch_bytes_; }
  size_t held_bytes() const override { return turned_ == nullptr ? 0 : k_ * n_ * sizeof(float); }
  uint64_t further_steps() const override {
    return uint64_t{m_} * n_ * k_ * (type_ == OnnxElement::float32 ? 1 : kSlowSteps);
  }
  const DenseLayer* dense_layer() const override { return is_dense_ ? &dense_ : nullptr; }

 private:
  void set_bias(const NodeSetup& setup);

  template <class T>
  MatrixPart<T> left(const T* a) const {
    return transpose_a_ ? MatrixPart<T>{a, 1, m_} : MatrixPart<T>{a, k_, 1};
  }
  template <class T>
  MatrixPart<T> right(const T* b) const {
    return transpose_b_ ? whole_matrix(b, n_, k_).transposed() : whole_matrix(b, k_, n_);
  }

  template <class T>
  void run(const Buffers& values) const {
    const T* c = values.in<T>(2);
    T* y = values.out<T>(0);
    if (m_ * n_ == 0) return;
    // With a factor for the product, C is added last; else the sums start from it.
    const bool start = alpha_ == 1 && c != nullptr;
    for (size_t i = 0; i < m_; i++) {
      T* row = y + i * n_;
      if (!start) {
        std::fill_n(row, n_, T(0));
      } else if (beta_ == 1 && c_col_ == 1) {
        std::copy_n(c + i * c_row_, n_, row);
      } else {
        for (size_t j = 0; j < n_; j++) row[j] = T(beta_) * c[i * c_row_ + j * c_col_];
      }
    }
    MatrixPart<T> b = right(values.in<T>(1));
    if (turned_ != nullptr) b = whole_matrix(turned_->data<T>(), k_, n_);
    add_product(m_, n_, k_, left(values.in<T>(0)), b, y);
    if (alpha_ == 1) return;
    for (size_t i = 0; i < m_; i++) {
      for (size_t j = 0; j < n_; j++) {
        y[i * n_ + j] = T(alpha_) * y[i * n_ + j] + (c == nullptr ? T(0) : T(beta_) * c[i * c_row_ + j * c_col_]);
      }
    }
  }

  // alpha * dY.
  template <class T>
  const T* scaled(const T* dy, const Buffers& values) const {
    if (alpha_ == 1) return dy;
    T* to = reinterpret_cast<T*>(values.scratch);
    for (size_t i = 0; i < m_ * n_; i++) to[i] = T(alpha_) * dy[i];
    return to;
  }
  template <class T>
  void add_left_gradient(const T* b, const T* dy, T* da) const {
    const MatrixPart<T> outer{dy, n_, 1};
    if (transpose_a_) {
      add_product(k_, m_, n_, right(b), outer.transposed(), da);
    } else {
      add_product(m_, k_, n_, outer, right(b).transposed(), da);
    }
  }
  template <class T>
  void add_right_gradient(const T* a, const T* dy, T* db) const {
    const MatrixPart<T> outer{dy, n_, 1};
    // One column lies in memory as one row does, and a row fills vectors.
    if (transpose_b_ || n_ == 1) {
      add_product(n_, k_, m_, outer.transposed(), left(a), db);
    } else {
      add_product(k_, n_, m_, left(a).transposed(), outer, db);
    }
  }
  template <class T>
  void add_bias_gradient(const T* dy, T* dc) const {
    if (dc == nullptr) return;
    for (size_t i = 0; i < m_; i++) {
      for (size_t j = 0; j < n_; j++) dc[i * c_row_ + j * c_col_] += T(beta_) * dy[i * n_ + j];
    }
  }

  OnnxElement type_;
  bool transpose_a_, transpose_b_;
  float alpha_, beta_;
  size_t m_ = 0, n_ = 0, k_ = 0;
  size_t c_row_ = 0, c_col_ = 0;          // strides of C; 0 where it is broadcast
  std::shared_ptr<const Tensor> turned_;  // a constant float32 B, transposed to K x N once; null where it is not
  bool both_change_ = false;
  size_t scaled_count_ = 0;  // elements at the start of scratch
  size_t scratch_bytes_ = 0;
  bool is_dense_ = false;
  DenseLayer dense_;
};

Gemm::Gemm(NodeSetup& setup)
    : type_(product_type(setup)),
      transpose_a_(setup.flag("transA", false)),
      transpose_b_(setup.flag("transB", false)),
      alpha_(setup.real("alpha", 1)),
      beta_(setup.real("beta", 1)) {
  setup.expect_rank(0, 2, 2);
  setup.expect_rank(1, 2, 2);
  if (!is_floating(type_) && (alpha_ != 1 || beta_ != 1)) {
    setup.fail(fmt::format("attributes 'alpha' and 'beta' must be 1 for {}, found {} and {}", onnx_type_name(type_),
                           alpha_, beta_));
  }
  const ValueInfo& a = setup.input(0);
  const ValueInfo& b = setup.input(1);
  const Shape shape_a = transpose_a_ ? Shape{a.dims[1], a.dims[0]} : a.dims;
  const Shape shape_b = transpose_b_ ? Shape{b.dims[1], b.dims[0]} : b.dims;
  if (shape_a[1] != shape_b[0]) {
    setup.fail(fmt::format("the inner dimensions of its matrices must agree, found {} and {}", onnx_shape_text(shape_a),
                           onnx_shape_text(shape_b)));
  }
  setup.set_output(0, type_, {shape_a[0], shape_b[1]});
  m_ = static_cast<size_t>(shape_a[0]);
  k_ = static_cast<size_t>(shape_a[1]);
  n_ = static_cast<size_t>(shape_b[1]);
  if (setup.has_input(2)) set_bias(setup);

  both_change_ = is_floating(type_) && a.constant == nullptr && b.constant == nullptr;
  if (is_floating(type_) && alpha_ != 1) scaled_count_ = m_ * n_;
  scratch_bytes_ =
      setup.checked_bytes(scaled_count_ + (both_change_ ? std::max(m_ * k_, k_ * n_) : 0), element_size(type_));
  if (type_ != OnnxElement::float32) return;
  if (b.constant != nullptr && transpose_b_ && k_ * n_ > 0) {
    auto turned = std::make_shared<Tensor>(type_, shape_b);
    transpose(b.constant->data<float>(), k_, n_, k_, turned->data<float>(), n_);
    turned_ = std::move(turned);
  }
  const bool bias_of_outputs = c_row_ == 0 && (c_col_ == 1 || n_ == 1);
  is_dense_ = a.constant == nullptr && !transpose_a_ && alpha_ == 1 && beta_ == 1 && k_ * n_ > 0 &&
              (!setup.has_input(2) || (bias_of_outputs && setup.input(2).count() == n_));
  dense_.inputs = k_;
  dense_.outputs = n_;
  dense_.bias_input = setup.has_input(2) ? 2 : DenseLayer::kNone;
  dense_.input_stride = transpose_b_ ? 1 : n_;
  dense_.output_stride = transpose_b_ ? k_ : 1;
}

void Gemm::set_bias(const NodeSetup& setup) {
  const Shape& dims = setup.typed_input(2, type_).dims;
  const Shape full = {static_cast<int64_t>(m_), static_cast<int64_t>(n_)};
  bool fits = dims.size() <= 2;
  for (size_t i = 0; fits && i < dims.size(); i++) {
    fits = dims[dims.size() - 1 - i] == 1 || dims[dims.size() - 1 - i] == full[1 - i];
  }
  if (!fits) {
    setup.fail(fmt::format("input 3 must fit into {}, found {}", onnx_shape_text(full), onnx_shape_text(dims)));
  }
  c_col_ = !dims.empty() && dims.back() != 1 ? 1 : 0;
  c_row_ = dims.size() == 2 && dims[0] != 1 ? static_cast<size_t>(dims[1]) : 0;
}

}  // namespace

std::unique_ptr<Kernel> make_gemm(NodeSetup& setup) {
  setup.expect_inputs(2, 3);
  setup.expect_outputs(1, 1);
  return std::make_unique<Gemm>(setup);
}

}  // namespace assay
