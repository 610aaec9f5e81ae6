// GlobalMaxPool: the largest element of every plane, batch x channels x spatial dimensions to batch x channels x 1 x
// ... NaN wins. Derivative: all of it goes to the first of the largest elements, as in PyTorch's AdaptiveMaxPool.
// DeepLift: MaxPool's rule (pool.h).
#include <fmt/format.h>

#include <cmath>

#include "assay/model/ops/node_setup.h"
#include "assay/model/ops/pool.h"

namespace assay {
namespace {

class GlobalMaxPool final : public Kernel {
 public:
  GlobalMaxPool(OnnxElement type, size_t planes, size_t plane) : type_(type), planes_(planes), plane_(plane) {}

  void forward(const Buffers& values) const override {
    typed([&]<class T>() {
      const T* x = values.in<T>(0);
      T* y = values.out<T>(0);
      for (size_t i = 0; i < planes_; i++) y[i] = x[winner(x, i)];
    });
  }
  bool differentiable(size_t input) const override { return input == 0; }
  void backward(const Buffers& values, const Gradients& gradients) const override {
    typed([&]<class T>() {
      const T* x = values.in<T>(0);
      const T* dy = gradients.out<T>(0);
      T* dx = gradients.in<T>(0);
      if (dy == nullptr || dx == nullptr) return;
      for (size_t i = 0; i < planes_; i++) dx[winner(x, i)] += dy[i];
    });
  }
  void rescale(const Buffers& values, const Buffers& reference, const Gradients& multipliers) const override {
    typed([&]<class T>() {
      const T* x = values.in<T>(0);
      const T* r = reference.in<T>(0);
      const T* dy = multipliers.out<T>(0);
      T* dx = multipliers.in<T>(0);
      if (dy == nullptr || dx == nullptr) return;
      for (size_t i = 0; i < planes_; i++) share_maximum(x, r, winner(x, i), winner(r, i), dy[i], dx);
    });
  }

 private:
  template <class Body>
  void typed(const Body& body) const {
    if (type_ == OnnxElement::float64) {
      body.template operator()<double>();
    } else {
      body.template operator()<float>();
    }
  }
  // The first of the largest elements of a plane. Lanes side by side find the largest; a second look finds the place.
  template <class T>
  size_t winner(const T* x, size_t plane) const {
    constexpr size_t kLanes = 8;
    const size_t begin = plane * plane_, end = begin + plane_;
    T bests[kLanes];
    bool has_nan = false;
    for (T& best : bests) best = x[begin];
    size_t i = begin;
    for (; i + kLanes <= end; i += kLanes) {
      for (size_t lane = 0; lane < kLanes; lane++) {
        const T next = x[i + lane];
        bests[lane] = next > bests[lane] ? next : bests[lane];
        has_nan |= std::isnan(next);
      }
    }
    for (; i < end; i++) {
      bests[0] = x[i] > bests[0] ? x[i] : bests[0];
      has_nan |= std::isnan(x[i]);
    }
    T largest = bests[0];
    for (const T best : bests) largest = best > largest ? best : largest;
    for (i = begin; has_nan ? !std::isnan(x[i]) : x[i] != largest;) i++;
    return i;
  }

  OnnxElement type_;
  size_t planes_, plane_;
};

}  // namespace

std::unique_ptr<Kernel> make_global_max_pool(NodeSetup& setup) {
  setup.expect_inputs(1, 1);
  setup.expect_outputs(1, 1);
  const ValueInfo& x = setup.floating_input(0);
  setup.expect_rank(0, 2, 64);
  Shape dims = x.dims;
  for (size_t axis = 2; axis < dims.size(); axis++) dims[axis] = 1;
  const size_t plane = element_count(x.dims, 2, x.dims.size());
  if (plane == 0) setup.fail(fmt::format("the planes of its input of {} are empty", onnx_shape_text(x.dims)));
  setup.set_output(0, x.type, dims);
  return std::make_unique<GlobalMaxPool>(x.type, element_count(x.dims, 0, 2), plane);
}

}  // namespace assay
