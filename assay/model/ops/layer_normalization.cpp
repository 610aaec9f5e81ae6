// LayerNormalization (opset 17): over the axes from `axis` on, with c = x - mean(x) and s = 1 / sqrt(mean(c^2) +
// epsilon), y = c * s * Scale + B. Outputs 2 and 3 are mean(x) and s, of the type stash_type. Statistics are computed
// in float64 whatever it says. Scale and B may be broadcast along the normalised axes.
//
// DeepLift: the composition of its parts. Of a product uv the multipliers are the means (v + v_r) / 2 and (u + u_r) /
// 2, so c^2 has c + c_r; 1 / sqrt(a) has the quotient of differences, which is -(s s_r)^2 / (s + s_r) without a
// division by a difference. With the reference equal to x they are the derivatives, so one function computes both.
#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "assay/model/ops/node_setup.h"

namespace assay {
namespace {

class LayerNormalization final : public Kernel {
 public:
  // x is rows x length; index: for each of length, which element of Scale or B; empty when it is the same.
  LayerNormalization(OnnxElement type, OnnxElement stash, size_t rows, size_t length, float epsilon,
                     std::vector<size_t> scale_index, std::vector<size_t> offset_index)
      : type_(type),
        stash_(stash),
        rows_(rows),
        length_(length),
        epsilon_(epsilon),
        scale_index_(std::move(scale_index)),
        offset_index_(std::move(offset_index)) {}

  void forward(const Buffers& values) const override {
    if (type_ == OnnxElement::float64) {
      normalise<double>(values);
    } else {
      normalise<float>(values);
    }
  }
  bool differentiable(size_t input) const override { return input < 3; }
  void backward(const Buffers& values, const Gradients& gradients) const override {
    rescale(values, values, gradients);
  }
  void rescale(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const override {
    if (type_ == OnnxElement::float64) {
      pull_back<double>(values, reference, multipliers);
    } else {
      pull_back<float>(values, reference, multipliers);
    }
  }
  // Mean and inverse deviation of every row.
  size_t state_bytes() const override { return rows_ * 2 * sizeof(double); }
  // Scale and B as long as a row, or Scale and the derivatives by both.
  size_t scratch_bytes() const override { return length_ * 3 * sizeof(double); }

 private:
  static size_t at(const std::vector<size_t>& index, size_t i) { return index.empty() ? i : index[i]; }

  template <class T>
  void normalise(const Buffers& values) const {
    const T* x = values.in<T>(0);
    T* y = values.out<T>(0);
    double* statistics = reinterpret_cast<double*>(values.state);
    double* scale = reinterpret_cast<double*>(values.scratch);
    double* offset = scale + length_;
    for (size_t i = 0; i < length_; i++) {
      scale[i] = static_cast<double>(values.in<T>(1)[at(scale_index_, i)]);
      offset[i] = values.in<T>(2) == nullptr ? 0 : static_cast<double>(values.in<T>(2)[at(offset_index_, i)]);
    }
    const auto count = static_cast<double>(length_);
    for (size_t row = 0; row < rows_; row++, x += length_) {
      double sum = 0, squares = 0;
      for (size_t i = 0; i < length_; i++) sum += static_cast<double>(x[i]);
      const double mean = sum / count;
      for (size_t i = 0; i < length_; i++) {
        const double centred = static_cast<double>(x[i]) - mean;
        squares += centred * centred;
      }
      const double inverse = 1 / std::sqrt(squares / count + static_cast<double>(epsilon_));
      statistics[2 * row] = mean;
      statistics[2 * row + 1] = inverse;
      store(values, 1, row, mean);
      store(values, 2, row, inverse);
      if (y == nullptr) continue;
      for (size_t i = 0; i < length_; i++) {
        y[i] = static_cast<T>((static_cast<double>(x[i]) - mean) * inverse * scale[i] + offset[i]);
      }
      y += length_;
    }
  }

  void store(const Buffers& values, size_t output, size_t row, double value) const {
    if (values.out<void>(output) == nullptr) return;
    if (stash_ == OnnxElement::float64) {
      values.out<double>(output)[row] = value;
    } else {
      values.out<float>(output)[row] = static_cast<float>(value);
    }
  }
  double derivative(const Gradients& gradients, size_t output, size_t row) const {
    if (gradients.out<void>(output) == nullptr) return 0;
    if (stash_ == OnnxElement::float64) return gradients.out<double>(output)[row];
    return static_cast<double>(gradients.out<float>(output)[row]);
  }

  template <class T>
  void pull_back(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const {
    const T *x = values.in<T>(0), *x_r = reference.in<T>(0), *dy = multipliers.out<T>(0);
    T* dx = multipliers.in<T>(0);
    const double* statistics = reinterpret_cast<const double*>(values.state);
    const double* statistics_r = reinterpret_cast<const double*>(reference.state);
    double* scale = reinterpret_cast<double*>(values.scratch);
    double* d_scale = scale + length_;
    double* d_offset = d_scale + length_;
    for (size_t i = 0; i < length_; i++) {
      const size_t j = at(scale_index_, i);
      scale[i] = (static_cast<double>(values.in<T>(1)[j]) + static_cast<double>(reference.in<T>(1)[j])) / 2;
      d_scale[i] = d_offset[i] = 0;
    }
    const auto count = static_cast<double>(length_);
    for (size_t row = 0; row < rows_; row++) {
      const size_t begin = row * length_;
      const double mean = statistics[2 * row], inverse = statistics[2 * row + 1];
      const double mean_r = statistics_r[2 * row], inverse_r = statistics_r[2 * row + 1];
      // Names d_... are derivatives, or multipliers, by what follows; centred is the mean of c and c_r.
      const auto d_y = [&](size_t i) { return dy == nullptr ? 0 : static_cast<double>(dy[begin + i]); };
      const auto centred = [&](size_t i) {
        return ((static_cast<double>(x[begin + i]) - mean) + (static_cast<double>(x_r[begin + i]) - mean_r)) / 2;
      };
      const double inverse_mean = (inverse + inverse_r) / 2;
      double d_inverse = derivative(multipliers, 2, row);
      double d_normalised_sum = 0, centred_sum = 0;
      for (size_t i = 0; i < length_; i++) {
        const double c = centred(i), d_normalised = d_y(i) * scale[i];
        const double normalised_twice = (static_cast<double>(x[begin + i]) - mean) * inverse +
                                        (static_cast<double>(x_r[begin + i]) - mean_r) * inverse_r;
        d_scale[i] += d_y(i) * normalised_twice / 2;
        d_offset[i] += d_y(i);
        d_inverse += d_normalised * c;
        d_normalised_sum += d_normalised;
        centred_sum += c;
      }
      if (dx == nullptr) continue;
      const double product = inverse * inverse_r;
      const double d_variance = d_inverse * (-product * product / (inverse + inverse_r));
      const double d_square = 2 * d_variance / count;
      // What the mean takes from every element; the sum of the centred is 0 but for rounding.
      const double d_mean =
          -(d_normalised_sum * inverse_mean + d_square * centred_sum) + derivative(multipliers, 1, row);
      for (size_t i = 0; i < length_; i++) {
        const double d_centred = d_y(i) * scale[i] * inverse_mean + d_square * centred(i);
        dx[begin + i] += static_cast<T>(d_centred + d_mean / count);
      }
    }
    if (T* by_scale = multipliers.in<T>(1)) {
      for (size_t i = 0; i < length_; i++) by_scale[at(scale_index_, i)] += static_cast<T>(d_scale[i]);
    }
    if (T* by_offset = multipliers.in<T>(2)) {
      for (size_t i = 0; i < length_; i++) by_offset[at(offset_index_, i)] += static_cast<T>(d_offset[i]);
    }
  }

  OnnxElement type_, stash_;
  size_t rows_, length_;
  float epsilon_;
  std::vector<size_t> scale_index_, offset_index_;
};

// For every element of the normalised dimensions, which element of input i is broadcast to it; empty when the same.
std::vector<size_t> broadcast_index(const NodeSetup& setup, size_t input, std::span<const int64_t> normalised) {
  Shape dims = setup.input(input).dims;
  while (dims.size() > normalised.size() && dims.front() == 1) dims.erase(dims.begin());
  bool fits = dims.size() <= normalised.size();
  if (fits) dims.insert(dims.begin(), normalised.size() - dims.size(), 1);
  bool same = fits;
  for (size_t i = 0; fits && i < dims.size(); i++) {
    fits = dims[i] == normalised[i] || dims[i] == 1;
    same = same && dims[i] == normalised[i];
  }
  if (!fits) {
    setup.fail(fmt::format("input {} must broadcast to the normalised dimensions {}, found {}", input + 1,
                           onnx_shape_text(normalised), onnx_shape_text(setup.input(input).dims)));
  }
  if (same) return {};
  const size_t length = element_count(Shape(normalised.begin(), normalised.end()));
  setup.checked_bytes(length, sizeof(size_t));
  std::vector<size_t> index(length, 0);
  size_t inner = 1, step = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    const auto size = static_cast<size_t>(normalised[axis]);
    if (dims[axis] != 1) {
      for (size_t i = 0; i < length; i++) index[i] += i / inner % size * step;
      step *= size;
    }
    inner *= size;
  }
  return index;
}

}  // namespace

std::unique_ptr<Kernel> make_layer_normalization(NodeSetup& setup) {
  setup.expect_inputs(2, 3);
  setup.expect_outputs(1, 3);
  const ValueInfo& x = setup.floating_input(0);
  setup.expect_rank(0, 1, 64);
  const size_t axis = setup.axis(setup.integer("axis", -1), x.dims.size());
  const int64_t wanted = setup.integer("stash_type", 1);
  OnnxElement stash = OnnxElement::undefined;
  for (const OnnxElement type :
       {OnnxElement::float32, OnnxElement::float64, OnnxElement::float16, OnnxElement::bfloat16}) {
    if (wanted == static_cast<int64_t>(type)) stash = stored_element(type);
  }
  if (stash == OnnxElement::undefined) {
    setup.fail(fmt::format("attribute 'stash_type' must be a type of floating numbers, found {}", wanted));
  }
  setup.set_output(0, x.type, x.dims);
  Shape row_dims = x.dims;
  for (size_t i = axis; i < row_dims.size(); i++) row_dims[i] = 1;
  for (size_t i = 1; i < 3; i++) {
    if (setup.wants_output(i)) setup.set_output(i, stash, row_dims);
  }
  const std::span<const int64_t> normalised = std::span(x.dims).subspan(axis);
  const size_t rows = element_count(x.dims, 0, axis);
  const size_t length = element_count(x.dims, axis, x.dims.size());
  setup.checked_bytes(rows, 2 * sizeof(double));
  setup.checked_bytes(length, 3 * sizeof(double));
  setup.typed_input(1, x.type);
  std::vector<size_t> scale_index = broadcast_index(setup, 1, normalised);
  std::vector<size_t> offset_index;
  if (setup.has_input(2)) {
    setup.typed_input(2, x.type);
    offset_index = broadcast_index(setup, 2, normalised);
  }
  return std::make_unique<LayerNormalization>(x.type, stash, rows, length, setup.real("epsilon", 1e-5F),
                                              std::move(scale_index), std::move(offset_index));
}

}  // namespace assay
