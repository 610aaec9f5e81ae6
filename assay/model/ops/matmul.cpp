// MatMul: Y = A B as numpy.matmul: matrices in the last two dimensions, the ones before broadcast; a vector on the left
// is a row, one on the right a column, and the dimension it lacks is missing in Y too.
// dA = dY B^T, dB = A^T dY, summed where they were broadcast. DeepLift: where both A and B change, each takes the
// other's average with its reference.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "assay/model/ops/dense_layer.h"
#include "assay/model/ops/kernel_cost.h"
#include "assay/model/ops/matrix_product.h"
#include "assay/model/ops/node_setup.h"

namespace assay {
namespace {

class MatMul final : public Kernel, public KernelCost {
 public:
  explicit MatMul(NodeSetup& setup);

  void forward(const Buffers& values) const override {
    with_product_element(type_, [&]<class T>() {
      const T* a = values.in<T>(0);
      const T* b = values.in<T>(1);
      T* y = values.out<T>(0);
      std::fill_n(y, out_count_, T(0));
      for_matrices([&](size_t at_a, size_t at_b, size_t at_y) {
        add_product(m_, n_, k_, left(a + at_a), whole_matrix(b + at_b, k_, n_), y + at_y);
      });
    });
  }
  bool differentiable(size_t) const override { return is_floating(type_); }
  std::optional<AffineForm> affine_form(const std::vector<bool>& changes) const override {
    if (changes[0] == changes[1]) return {};
    return AffineForm{.mixes = true, .coefficients = {changes[0] ? size_t{1} : size_t{0}}};
  }
  void backward(const Buffers& values, const Gradients& gradients) const override {
    rescale(values, values, gradients);
  }
  void rescale(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const override {
    const bool changes =
        both_change_ && values.inputs[0] != reference.inputs[0] && values.inputs[1] != reference.inputs[1];
    with_floating_element(type_, [&]<class T>() {
      const T* dy = multipliers.out<T>(0);
      if (dy == nullptr) return;
      T* half = changes ? reinterpret_cast<T*>(values.scratch) : nullptr;
      if (T* da = multipliers.in<T>(0)) {
        add_left_gradient(average(values.in<T>(1), reference.in<T>(1), half, b_count_), dy, da);
      }
      if (T* db = multipliers.in<T>(1)) {
        add_right_gradient(average(values.in<T>(0), reference.in<T>(0), half, a_count_), dy, db);
      }
    });
  }
  size_t scratch_bytes() const override { return scratch_bytes_; }
  uint64_t further_steps() const override {
    return uint64_t{out_count_} * k_ * (type_ == OnnxElement::float32 ? 1 : kSlowSteps);
  }
  const DenseLayer* dense_layer() const override { return is_dense_ ? &dense_ : nullptr; }

 private:
  template <class T>
  MatrixPart<T> left(const T* a) const {
    return {a, k_, 1};
  }
  template <class T>
  void add_left_gradient(const T* b, const T* dy, T* da) const {
    for_matrices([&](size_t at_a, size_t at_b, size_t at_y) {
      const MatrixPart<T> outer{dy + at_y, n_, 1};
      add_product(m_, k_, n_, outer, whole_matrix(b + at_b, k_, n_).transposed(), da + at_a);
    });
  }
  template <class T>
  void add_right_gradient(const T* a, const T* dy, T* db) const {
    for_matrices([&](size_t at_a, size_t at_b, size_t at_y) {
      const MatrixPart<T> outer{dy + at_y, n_, 1};
      // One column lies in memory as one row does, and a row fills vectors.
      if (n_ == 1) {
        add_product(n_, k_, m_, outer.transposed(), left(a + at_a), db + at_b);
      } else {
        add_product(k_, n_, m_, left(a + at_a).transposed(), outer, db + at_b);
      }
    });
  }

  // Calls body with the offsets of each pair of matrices and their product.
  template <class Body>
  void for_matrices(const Body& body) const {
    if (out_count_ == 0) return;
    std::array<size_t, 64> position = {};
    size_t at_a = 0;
    size_t at_b = 0;
    for (size_t at_y = 0; at_y < out_count_; at_y += m_ * n_) {
      body(at_a, at_b, at_y);
      for (size_t dim = batch_.size(); dim-- > 0;) {
        at_a += batch_a_[dim];
        at_b += batch_b_[dim];
        if (++position[dim] < batch_[dim]) break;
        at_a -= batch_a_[dim] * batch_[dim];
        at_b -= batch_b_[dim] * batch_[dim];
        position[dim] = 0;
      }
    }
  }

  OnnxElement type_;
  size_t m_ = 0, n_ = 0, k_ = 0;
  std::vector<size_t> batch_, batch_a_, batch_b_;  // sizes; strides, 0 where broadcast
  size_t a_count_ = 0, b_count_ = 0, out_count_ = 0;
  bool both_change_ = false;
  size_t scratch_bytes_ = 0;
  bool is_dense_ = false;
  DenseLayer dense_;
};

MatMul::MatMul(NodeSetup& setup) : type_(product_type(setup)) {
  setup.expect_rank(0, 1);
  setup.expect_rank(1, 1);
  const ValueInfo& a = setup.input(0);
  const ValueInfo& b = setup.input(1);
  Shape dims_a = a.dims;
  Shape dims_b = b.dims;
  if (a.dims.size() == 1) dims_a.insert(dims_a.begin(), 1);
  if (b.dims.size() == 1) dims_b.push_back(1);
  const size_t outer_a = dims_a.size() - 2;
  const size_t outer_b = dims_b.size() - 2;
  const auto refuse = [&](std::string_view what) {
    setup.fail(fmt::format("{} of its matrices must agree, found {} and {}", what, onnx_shape_text(a.dims),
                           onnx_shape_text(b.dims)));
  };
  if (dims_a.back() != dims_b[outer_b]) refuse("the inner dimensions");

  const size_t outer = std::max(outer_a, outer_b);
  Shape shape(outer);
  // Dimension i of the batch in a value with fewer of them.
  const auto dim_of = [&](const Shape& dims, size_t own, size_t i) {
    return i + own < outer ? 1 : dims[i + own - outer];
  };
  for (size_t i = 0; i < outer; i++) {
    const int64_t in_a = dim_of(dims_a, outer_a, i);
    const int64_t in_b = dim_of(dims_b, outer_b, i);
    if (in_a != in_b && in_a != 1 && in_b != 1) refuse("the dimensions before those");
    shape[i] = in_a == 1 ? in_b : in_a;
  }
  Shape out = shape;
  if (a.dims.size() > 1) out.push_back(dims_a[outer_a]);
  if (b.dims.size() > 1) out.push_back(dims_b.back());
  setup.set_output(0, type_, out);

  m_ = static_cast<size_t>(dims_a[outer_a]);
  k_ = static_cast<size_t>(dims_a.back());
  n_ = static_cast<size_t>(dims_b.back());
  a_count_ = a.count();
  b_count_ = b.count();
  out_count_ = element_count(out);
  if (outer_b == 0) {
    // One matrix for all: the rows of all batches are the rows of one product.
    m_ *= element_count(shape);
  } else {
    batch_a_.resize(outer);
    batch_b_.resize(outer);
    for (size_t i = 0; i < outer; i++) batch_.push_back(static_cast<size_t>(shape[i]));
    size_t stride_a = m_ * k_;
    size_t stride_b = k_ * n_;
    for (size_t i = outer; i-- > 0;) {
      const auto in_a = static_cast<size_t>(dim_of(dims_a, outer_a, i));
      const auto in_b = static_cast<size_t>(dim_of(dims_b, outer_b, i));
      batch_a_[i] = in_a == 1 ? 0 : stride_a;
      batch_b_[i] = in_b == 1 ? 0 : stride_b;
      stride_a *= in_a;
      stride_b *= in_b;
    }
  }
  both_change_ = is_floating(type_) && a.constant == nullptr && b.constant == nullptr;
  if (both_change_) scratch_bytes_ = setup.checked_bytes(std::max(a_count_, b_count_), element_size(type_));
  is_dense_ =
      type_ == OnnxElement::float32 && a.constant == nullptr && a.dims.size() == 2 && b.dims.size() == 2 && k_ * n_ > 0;
  dense_.inputs = k_;
  dense_.outputs = n_;
  dense_.input_stride = n_;
  dense_.output_stride = 1;
}

}  // namespace

std::unique_ptr<Kernel> make_matmul(NodeSetup& setup) {
  setup.expect_inputs(2, 2);
  setup.expect_outputs(1, 1);
  return std::make_unique<MatMul>(setup);
}

}  // namespace assay
