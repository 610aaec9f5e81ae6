#include "assay/model/train/adam.h"

#include <cassert>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/model/train/adam.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

// The file is compiled once for each vector target; this is the same in all of them.
#ifndef ASSAY_MODEL_TRAIN_ADAM_ONCE
#define ASSAY_MODEL_TRAIN_ADAM_ONCE
namespace assay {

struct AdamScalars {
  float keep;       // 1 - rate * decay
  float one_beta1;  // 1 - beta1
  float beta2;
  float one_beta2;        // 1 - beta2
  float root_correction;  // sqrt(1 - beta2^t)
  float epsilon;
  float step_size;  // rate / (1 - beta1^t)
};

}  // namespace assay
#endif

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE void adam_at(D d, const AdamScalars& s, size_t i, float* HWY_RESTRICT parameters,
                        const float* HWY_RESTRICT gradients, float* HWY_RESTRICT mean, float* HWY_RESTRICT square) {
  const auto g = hn::LoadU(d, gradients + i);
  const auto old_mean = hn::LoadU(d, mean + i);
  const auto m = hn::MulAdd(hn::Set(d, s.one_beta1), hn::Sub(g, old_mean), old_mean);
  const auto v =
      hn::MulAdd(hn::Mul(hn::Set(d, s.one_beta2), g), g, hn::Mul(hn::Set(d, s.beta2), hn::LoadU(d, square + i)));
  const auto denominator = hn::Add(hn::Div(hn::Sqrt(v), hn::Set(d, s.root_correction)), hn::Set(d, s.epsilon));
  const auto kept = hn::Mul(hn::LoadU(d, parameters + i), hn::Set(d, s.keep));
  hn::StoreU(m, d, mean + i);
  hn::StoreU(v, d, square + i);
  hn::StoreU(hn::NegMulAdd(hn::Set(d, s.step_size), hn::Div(m, denominator), kept), d, parameters + i);
}

void adam_step(const AdamScalars& scalars, size_t count, float* HWY_RESTRICT parameters,
               const float* HWY_RESTRICT gradients, float* HWY_RESTRICT mean, float* HWY_RESTRICT square) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) adam_at(d, scalars, i, parameters, gradients, mean, square);
  for (; i < count; ++i) adam_at(one, scalars, i, parameters, gradients, mean, square);
}

void add_floats(size_t count, float* HWY_RESTRICT total, const float* HWY_RESTRICT part) {
  const hn::ScalableTag<float> d;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    hn::StoreU(hn::Add(hn::LoadU(d, total + i), hn::LoadU(d, part + i)), d, total + i);
  }
  for (; i < count; ++i) total[i] += part[i];
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {

HWY_EXPORT(adam_step);
HWY_EXPORT(add_floats);

}  // namespace

Adam::Adam(size_t parameters, const AdamOptions& options) : options_(options), mean_(parameters), square_(parameters) {}

void Adam::step(std::span<float> parameters, std::span<const float> gradients, double rate) {
  assert(parameters.size() == mean_.size() && gradients.size() == mean_.size());
  ++steps_;
  const auto t = static_cast<double>(steps_);
  const AdamScalars scalars{
      .keep = static_cast<float>(1 - rate * options_.weight_decay),
      .one_beta1 = static_cast<float>(1 - options_.beta1),
      .beta2 = static_cast<float>(options_.beta2),
      .one_beta2 = static_cast<float>(1 - options_.beta2),
      .root_correction = static_cast<float>(std::sqrt(1 - std::pow(options_.beta2, t))),
      .epsilon = static_cast<float>(options_.epsilon),
      .step_size = static_cast<float>(rate / (1 - std::pow(options_.beta1, t))),
  };
  HWY_DYNAMIC_DISPATCH(adam_step)
  (scalars, mean_.size(), parameters.data(), gradients.data(), mean_.data(), square_.data());
}

void add_to(std::span<float> total, std::span<const float> part) {
  assert(total.size() == part.size());
  HWY_DYNAMIC_DISPATCH(add_floats)(total.size(), total.data(), part.data());
}

}  // namespace assay
#endif
