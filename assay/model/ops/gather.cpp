// Gather: y[before, i..., after] = x[before, indices[i...], after], where `axis` of x lies between before and after.
// Negative indices count from the end; those outside are an input error, at once when they are constant and else when
// the model runs. The derivative of an element is the sum over the places it was taken to.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "assay/core/error.h"
#include "assay/model/ops/movement.h"

namespace assay {
namespace {

class GatherKernel final : public Kernel {
 public:
  GatherKernel(OnnxElement type, OnnxElement index_type, const Shape& dims, size_t axis, size_t taken,
               std::string where)
      : type_(type),
        index_type_(index_type),
        outer_(element_count(dims, 0, axis)),
        size_(dims[axis]),
        inner_(element_count(dims, axis + 1, dims.size())),
        taken_(taken),
        where_(std::move(where)) {}

  void check(const void* indices) const {
    with_indices(indices, [&](const auto* index) {
      for (size_t i = 0; i < taken_; i++) expect_inside(index[i]);
    });
  }

  void forward(const Buffers& values) const override {
    // All at once, so that loops over elements need not.
    check(values.in<void>(1));
    if (outer_ * inner_ == 0) return;
    with_indices(values.in<void>(1), [&](const auto* index) {
      with_element(type_, [&]<class T>() {
        const T* x = values.in<T>(0);
        T* y = values.out<T>(0);
        each_block(index, [&](size_t from, size_t to) {
          if (inner_ == 1) {
            y[to] = x[from];
          } else {
            std::copy_n(x + from, inner_, y + to);
          }
        });
      });
    });
  }

  bool differentiable(size_t input) const override { return input == 0 && is_floating(type_); }
  std::optional<AffineForm> affine_form(const std::vector<bool>&) const override { return AffineForm{}; }

  void backward(const Buffers& values, const Gradients& gradients) const override {
    if (type_ == OnnxElement::float64) {
      scatter<double>(values, gradients);
    } else {
      scatter<float>(values, gradients);
    }
  }

 private:
  template <class T>
  void scatter(const Buffers& values, const Gradients& gradients) const {
    const T* dy = gradients.out<T>(0);
    T* dx = gradients.in<T>(0);
    if (dy == nullptr || dx == nullptr || outer_ * inner_ == 0) return;
    with_indices(values.in<void>(1), [&](const auto* index) {
      each_block(index, [&](size_t from, size_t to) {
        for (size_t i = 0; i < inner_; i++) dx[from + i] += dy[to + i];
      });
    });
  }

  template <class Body>
  void with_indices(const void* indices, const Body& body) const {
    if (index_type_ == OnnxElement::int32) {
      body(static_cast<const int32_t*>(indices));
    } else {
      body(static_cast<const int64_t*>(indices));
    }
  }

  // body(from, to) for the starts of all blocks of inner_ elements, of indices that were checked.
  template <class Index, class Body>
  void each_block(const Index* index, const Body& body) const {
    const size_t inner = inner_;
    const auto step = static_cast<size_t>(size_) * inner;
    size_t to = 0;
    for (size_t o = 0; o < outer_; o++) {
      for (size_t i = 0; i < taken_; i++, to += inner) {
        const int64_t at = index[i];
        body(o * step + static_cast<size_t>(at < 0 ? at + size_ : at) * inner, to);
      }
    }
  }

  void expect_inside(int64_t index) const {
    if (index >= -size_ && index < size_) return;
    fail_input(
        fmt::format("{}: index {} is outside an axis of {} element{}", where_, index, size_, size_ == 1 ? "" : "s"));
  }

  OnnxElement type_;
  OnnxElement index_type_;
  size_t outer_;
  int64_t size_;
  size_t inner_;
  size_t taken_;
  std::string where_;
};

}  // namespace

std::unique_ptr<Kernel> make_gather(NodeSetup& setup) {
  setup.expect_inputs(2, 2);
  setup.expect_outputs(1, 1);
  const ValueInfo& data = setup.input(0);
  const ValueInfo& indices = setup.input(1);
  if (indices.type != OnnxElement::int32 && indices.type != OnnxElement::int64) {
    setup.fail(fmt::format("its indices must be INT32 or INT64, found {}", onnx_type_name(indices.type)));
  }
  const size_t axis = setup.axis(setup.integer("axis", 0), data.dims.size());
  const auto split = data.dims.begin() + static_cast<ptrdiff_t>(axis);
  Shape dims(data.dims.begin(), split);
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), split + 1, data.dims.end());
  expect_output_rank(setup, dims.size());
  setup.set_output(0, data.type, std::move(dims));
  auto kernel =
      std::make_unique<GatherKernel>(data.type, indices.type, data.dims, axis, indices.count(), setup.where());
  if (indices.constant != nullptr) kernel->check(indices.constant->raw());
  return kernel;
}

}  // namespace assay
