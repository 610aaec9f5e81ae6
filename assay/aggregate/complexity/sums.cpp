#include "assay/aggregate/complexity/sums.h"

#include <algorithm>
#include <array>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/aggregate/complexity/sums.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// u ln u; 0 ln 0 = 0: the logarithm is that of 1 instead.
template <class D, class V>
HWY_INLINE V size_log(D d, V u) {
  return hn::Mul(u, hn::Log(d, hn::IfThenElse(hn::Gt(u, hn::Zero(d)), u, hn::Set(d, 1.0))));
}

// load(k, count) gives the sizes k .. k + count, 0 in lanes beyond.
template <class Load>
HWY_INLINE SizeSums sums_of(size_t size, const Load& load) {
  const hn::ScalableTag<double> d;
  const size_t lanes = hn::Lanes(d);
  auto norm = hn::Zero(d);
  auto logs = hn::Zero(d);
  for (size_t k = 0; k < size; k += lanes) {
    const auto u = load(k, size - k < lanes ? size - k : lanes);
    norm = hn::Add(norm, u);
    logs = hn::Add(logs, size_log(d, u));
  }
  return {hn::GetLane(hn::SumOfLanes(d, norm)), hn::GetLane(hn::SumOfLanes(d, logs))};
}

template <class D>
HWY_INLINE hn::Vec<D> load_some(D d, const double* HWY_RESTRICT values, size_t count) {
  if (count == hn::Lanes(d)) return hn::LoadU(d, values);
  HWY_ALIGN std::array<double, hn::MaxLanes(d)> part{};
  for (size_t k = 0; k < count; k++) part[k] = values[k];
  return hn::Load(d, part.data());
}

SizeSums plain_sums(const double* HWY_RESTRICT from, const double* HWY_RESTRICT to, size_t size, double t) {
  const hn::ScalableTag<double> d;
  const auto near = hn::Set(d, 1 - t);
  const auto far = hn::Set(d, t);
  return sums_of(size, [&](size_t k, size_t count) HWY_ATTR {
    return hn::MulAdd(far, load_some(d, to + k, count), hn::Mul(near, load_some(d, from + k, count)));
  });
}

SizeSums crossing_sums(const Crossing* HWY_RESTRICT crossings, size_t size, double t) {
  const hn::ScalableTag<double> d;
  const auto here = hn::Set(d, t);
  const auto size_at = [&](const double* pairs) HWY_ATTR {
    auto at = hn::Zero(d);
    auto slope = at;
    hn::LoadInterleaved2(d, pairs, at, slope);
    return hn::Mul(slope, hn::Abs(hn::Sub(here, at)));
  };
  return sums_of(size, [&](size_t k, size_t count) HWY_ATTR {
    const double* const pairs = &crossings[k].at;
    if (count == hn::Lanes(d)) return size_at(pairs);
    HWY_ALIGN std::array<double, 2 * hn::MaxLanes(d)> part{};
    for (size_t p = 0; p < 2 * count; p++) part[p] = pairs[p];
    return size_at(part.data());
  });
}

void size_logs(const double* HWY_RESTRICT values, size_t size, double* HWY_RESTRICT logs) {
  const hn::ScalableTag<double> d;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN std::array<double, hn::MaxLanes(d)> part{};
  for (size_t k = 0; k < size; k += lanes) {
    const size_t count = size - k < lanes ? size - k : lanes;
    const auto found = size_log(d, hn::Abs(load_some(d, values + k, count)));
    if (count == lanes) {
      hn::StoreU(found, d, logs + k);
    } else {
      hn::Store(found, d, part.data());
      for (size_t p = 0; p < count; p++) logs[k + p] = part[p];
    }
  }
}

SizeSums sums_with_logs(const double* HWY_RESTRICT values, const double* HWY_RESTRICT logs, size_t size) {
  const hn::ScalableTag<double> d;
  const size_t lanes = hn::Lanes(d);
  auto norm = hn::Zero(d);
  auto sum = hn::Zero(d);
  for (size_t k = 0; k < size; k += lanes) {
    const size_t count = size - k < lanes ? size - k : lanes;
    norm = hn::Add(norm, hn::Abs(load_some(d, values + k, count)));
    sum = hn::Add(sum, load_some(d, logs + k, count));
  }
  return {hn::GetLane(hn::SumOfLanes(d, norm)), hn::GetLane(hn::SumOfLanes(d, sum))};
}

// Sums of |v| / largest below 1; those that are 1 add nothing.
SizeSums sums_below(const double* HWY_RESTRICT values, size_t size, double largest) {
  const hn::ScalableTag<double> d;
  const auto most = hn::Set(d, largest);
  return sums_of(size, [&](size_t k, size_t count) HWY_ATTR {
    const auto u = hn::Abs(load_some(d, values + k, count));
    return hn::IfThenZeroElse(hn::Eq(u, most), hn::Div(u, most));
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {

HWY_EXPORT(plain_sums);
HWY_EXPORT(crossing_sums);
HWY_EXPORT(size_logs);
HWY_EXPORT(sums_with_logs);
HWY_EXPORT(sums_below);

static_assert(sizeof(Crossing) == 2 * sizeof(double));  // loaded as pairs

}  // namespace

SizeSums plain_sums(std::span<const double> from, std::span<const double> to, double t) {
  return HWY_DYNAMIC_DISPATCH(plain_sums)(from.data(), to.data(), from.size(), t);
}

SizeSums crossing_sums(std::span<const Crossing> crossings, double t) {
  if (crossings.empty()) return {};
  return HWY_DYNAMIC_DISPATCH(crossing_sums)(crossings.data(), crossings.size(), t);
}

void size_logs(std::span<const double> values, std::span<double> logs) {
  HWY_DYNAMIC_DISPATCH(size_logs)(values.data(), values.size(), logs.data());
}

SizeSums sums_with_logs(std::span<const double> values, std::span<const double> logs) {
  return HWY_DYNAMIC_DISPATCH(sums_with_logs)(values.data(), logs.data(), values.size());
}

double l1_norm(std::span<const double> values) { return sums_with_logs(values, values).norm; }

double entropy_of(std::span<const double> values) {
  double largest = 0;
  for (const double v : values) largest = std::max(largest, std::abs(v));
  if (!(largest > 0)) return NAN;
  double others = -1;
  for (const double v : values) others += std::abs(v) == largest ? 1 : 0;
  const SizeSums below = HWY_DYNAMIC_DISPATCH(sums_below)(values.data(), values.size(), largest);
  others += below.norm;
  return std::log1p(others) - below.logs / (1 + others);
}

}  // namespace assay
#endif
