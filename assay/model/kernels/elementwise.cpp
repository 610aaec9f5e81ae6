#include "assay/model/kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/model/kernels/elementwise.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using OneFloat = hn::CappedTag<float, 1>;

// Calls step(d, i) for vectors of elements from i on, then for single ones, which take the same instructions.
template <class Step>
HWY_INLINE void for_elements(size_t count, const Step& step) {
  const size_t lanes = hn::Lanes(Floats());
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) step(Floats(), i);
  for (; i < count; i++) step(OneFloat(), i);
}

void leaky_relu(const float* x, float* y, float slope, size_t count) {
  if (slope == 0) {
    for_elements(count, [=](auto d, size_t i) HWY_ATTR {
      const auto value = hn::LoadU(d, x + i);
      hn::StoreU(hn::IfThenZeroElse(hn::Lt(value, hn::Zero(d)), value), d, y + i);
    });
    return;
  }
  for_elements(count, [=](auto d, size_t i) HWY_ATTR {
    const auto value = hn::LoadU(d, x + i);
    const auto scaled = hn::Mul(hn::Set(d, slope), value);
    hn::StoreU(hn::IfThenElse(hn::Gt(value, hn::Zero(d)), value, scaled), d, y + i);
  });
}

void leaky_relu_gradient(const float* x, const float* dy, float* dx, float slope, size_t count, bool accumulate) {
  const auto gradient = [=](auto d, size_t i) HWY_ATTR {
    const auto factor = hn::IfThenElse(hn::Gt(hn::LoadU(d, x + i), hn::Zero(d)), hn::Set(d, 1.0F), hn::Set(d, slope));
    return hn::Mul(factor, hn::LoadU(d, dy + i));
  };
  if (accumulate) {
    for_elements(count, [=](auto d, size_t i)
                            HWY_ATTR { hn::StoreU(hn::Add(hn::LoadU(d, dx + i), gradient(d, i)), d, dx + i); });
  } else {
    for_elements(count, [=](auto d, size_t i) HWY_ATTR { hn::StoreU(gradient(d, i), d, dx + i); });
  }
}

void leaky_relu_rescale(LeakyPairs pairs, const float* dy, float* dx, float slope, size_t count, bool accumulate) {
  const auto multiplied = [=](auto d, size_t i) HWY_ATTR {
    const auto to = hn::LoadU(d, pairs.x + i);
    const auto from = hn::LoadU(d, pairs.reference + i);
    const auto difference = hn::Sub(to, from);
    const auto size = hn::Add(hn::Add(hn::Abs(to), hn::Abs(from)), hn::Set(d, 1e-3F));
    const auto near = hn::Mul(hn::Set(d, 64 * hwy::Epsilon<float>()), size);
    const auto quotient = hn::Div(hn::Sub(hn::LoadU(d, pairs.y + i), hn::LoadU(d, pairs.y_reference + i)), difference);
    const auto half_way = hn::Add(from, hn::Mul(difference, hn::Set(d, 0.5F)));
    const auto at_point = hn::IfThenElse(hn::Gt(half_way, hn::Zero(d)), hn::Set(d, 1.0F), hn::Set(d, slope));
    const auto multiplier = hn::IfThenElse(hn::Gt(hn::Abs(difference), near), quotient, at_point);
    return hn::Mul(multiplier, hn::LoadU(d, dy + i));
  };
  if (accumulate) {
    for_elements(count, [=](auto d, size_t i)
                            HWY_ATTR { hn::StoreU(hn::Add(hn::LoadU(d, dx + i), multiplied(d, i)), d, dx + i); });
  } else {
    for_elements(count, [=](auto d, size_t i) HWY_ATTR { hn::StoreU(multiplied(d, i), d, dx + i); });
  }
}

void add(const float* x, float* y, size_t count) {
  for_elements(count, [=](auto d, size_t i)
                          HWY_ATTR { hn::StoreU(hn::Add(hn::LoadU(d, y + i), hn::LoadU(d, x + i)), d, y + i); });
}

void axpy(float scale, const float* x, float* y, size_t count) {
  for_elements(count, [=](auto d, size_t i) HWY_ATTR {
    hn::StoreU(hn::MulAdd(hn::Set(d, scale), hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {

HWY_EXPORT(leaky_relu);
HWY_EXPORT(leaky_relu_gradient);
HWY_EXPORT(leaky_relu_rescale);
HWY_EXPORT(add);
HWY_EXPORT(axpy);

}  // namespace

void leaky_relu(const float* x, float* y, float slope, size_t count) {
  HWY_DYNAMIC_DISPATCH(leaky_relu)(x, y, slope, count);
}

void leaky_relu_gradient(const float* x, const float* dy, float* dx, float slope, size_t count, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(leaky_relu_gradient)(x, dy, dx, slope, count, accumulate);
}

void leaky_relu_rescale(LeakyPairs pairs, const float* dy, float* dx, float slope, size_t count, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(leaky_relu_rescale)(pairs, dy, dx, slope, count, accumulate);
}

void add(const float* x, float* y, size_t count) { HWY_DYNAMIC_DISPATCH(add)(x, y, count); }

void axpy(float scale, const float* x, float* y, size_t count) { HWY_DYNAMIC_DISPATCH(axpy)(scale, x, y, count); }

}  // namespace assay
#endif
