#include "assay/explain/kernels/row_loops.h"

#include <algorithm>
#include <array>
#include <numeric>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/explain/kernels/row_loops.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Calls step(d, i) for whole vectors of elements from i on, then for halves of vectors of what is left: tables have few
// columns, and one at a time they would take longer than the rest.
template <class T, size_t kLanes, class Step>
HWY_INLINE void for_elements_from(size_t i, size_t count, const Step& step) {
  const hn::CappedTag<T, kLanes> d;
  const size_t lanes = hn::Lanes(d);
  for (; i + lanes <= count; i += lanes) step(d, i);
  if constexpr (kLanes > 1) {
    if (i < count) for_elements_from<T, kLanes / 2>(i, count, step);
  }
}

template <class T, class Step>
HWY_INLINE void for_elements(size_t count, const Step& step) {
  for_elements_from<T, 64 / sizeof(T)>(0, count, step);
}

void points_on_path(const float* HWY_RESTRICT from, const float* HWY_RESTRICT to, const float* HWY_RESTRICT at,
                    size_t count, size_t columns, float* HWY_RESTRICT points) {
  for_elements<float>(columns, [=](auto d, size_t c) HWY_ATTR {
    const auto start = hn::LoadU(d, from + c);
    const auto difference = hn::Sub(hn::LoadU(d, to + c), start);
    for (size_t k = 0; k < count; k++) {
      hn::StoreU(hn::MulAdd(hn::Set(d, at[k]), difference, start), d, points + k * columns + c);
    }
  });
}

void points_around(const float* HWY_RESTRICT centre, const float* HWY_RESTRICT deviations,
                   const float* HWY_RESTRICT normals, size_t count, size_t columns, float* HWY_RESTRICT points) {
  for_elements<float>(columns, [=](auto d, size_t c) HWY_ATTR {
    const auto start = hn::LoadU(d, centre + c);
    const auto deviation = hn::LoadU(d, deviations + c);
    for (size_t k = c; k < count * columns; k += columns) {
      hn::StoreU(hn::MulAdd(deviation, hn::LoadU(d, normals + k), start), d, points + k);
    }
  });
}

void multiply_by_way(const float* HWY_RESTRICT from, const float* HWY_RESTRICT to, size_t columns,
                     float* HWY_RESTRICT values) {
  for_elements<float>(columns, [=](auto d, size_t c) HWY_ATTR {
    const auto way = hn::Sub(hn::LoadU(d, to + c), hn::LoadU(d, from + c));
    hn::StoreU(hn::Mul(hn::LoadU(d, values + c), way), d, values + c);
  });
}

void add_weighted_rows(const float* HWY_RESTRICT values, const double* HWY_RESTRICT weights, size_t count,
                       size_t columns, double* HWY_RESTRICT sums) {
  for_elements<double>(columns, [=](auto d, size_t c) HWY_ATTR {
    const hn::Rebind<float, decltype(d)> narrow;
    auto sum = hn::LoadU(d, sums + c);
    for (size_t k = 0; k < count; k++) {
      const auto value = hn::PromoteTo(d, hn::LoadU(narrow, values + k * columns + c));
      sum = hn::MulAdd(hn::Set(d, weights[k]), value, sum);
    }
    hn::StoreU(sum, d, sums + c);
  });
}

void add_moments(const float* HWY_RESTRICT values, const double* HWY_RESTRICT origin, size_t count, size_t columns,
                 double* HWY_RESTRICT sums, double* HWY_RESTRICT squares) {
  for_elements<double>(columns, [=](auto d, size_t c) HWY_ATTR {
    const hn::Rebind<float, decltype(d)> narrow;
    const auto start = hn::LoadU(d, origin + c);
    auto sum = hn::LoadU(d, sums + c);
    auto square = hn::LoadU(d, squares + c);
    for (size_t k = c; k < count * columns; k += columns) {
      const auto difference = hn::Sub(hn::PromoteTo(d, hn::LoadU(narrow, values + k)), start);
      sum = hn::Add(sum, difference);
      square = hn::MulAdd(difference, difference, square);
    }
    hn::StoreU(sum, d, sums + c);
    hn::StoreU(square, d, squares + c);
  });
}

void finish_moments(const double* HWY_RESTRICT origin, const double* HWY_RESTRICT sums,
                    const double* HWY_RESTRICT squares, size_t count, size_t columns, float* HWY_RESTRICT means,
                    float* HWY_RESTRICT errors) {
  const double share = 1 / static_cast<double>(count);
  // For one vector that is infinite, and its error 0 times it: NaN.
  const double scale = share / (static_cast<double>(count) - 1);
  for_elements<double>(columns, [=](auto d, size_t c) HWY_ATTR {
    const hn::Rebind<float, decltype(d)> narrow;
    const auto sum = hn::LoadU(d, sums + c);
    const auto shift = hn::Mul(sum, hn::Set(d, share));
    hn::StoreU(hn::DemoteTo(narrow, hn::Add(hn::LoadU(d, origin + c), shift)), narrow, means + c);
    if (errors == nullptr) return;
    const auto squared = hn::Mul(hn::Set(d, scale), hn::NegMulAdd(sum, shift, hn::LoadU(d, squares + c)));
    // Rounding may leave a negative rest; NaN must stay.
    const auto kept = hn::IfThenElse(hn::Lt(squared, hn::Zero(d)), hn::Zero(d), squared);
    hn::StoreU(hn::DemoteTo(narrow, hn::Sqrt(kept)), narrow, errors + c);
  });
}

void steps_of_order(const float* HWY_RESTRICT values, const uint32_t* HWY_RESTRICT order, size_t players, size_t rows,
                    const float* HWY_RESTRICT behind, bool average, float* HWY_RESTRICT added) {
  for_elements<float>(rows, [=](auto d, size_t r) HWY_ATTR {
    auto before = hn::LoadU(d, values + r);
    for (size_t j = 0; j < players; j++) {
      const auto here = hn::LoadU(d, (j + 1 < players ? behind + j * rows : values + rows) + r);
      float* to = added + order[j] * rows + r;
      const auto step = hn::Sub(here, before);
      hn::StoreU(average ? hn::Mul(hn::Set(d, 0.5F), hn::Add(hn::LoadU(d, to), step)) : step, d, to);
      before = here;
    }
  });
}

void weighted_mean_slopes(const float* HWY_RESTRICT from, const float* HWY_RESTRICT to,
                          const float* HWY_RESTRICT weights, float slope, size_t count, float* HWY_RESTRICT out) {
  // leaky(z) = slope * z + (1 - slope) * max(z, 0): the share of the path where z > 0 decides. Equal signs give a share
  // of exactly 0 or 1.
  for_elements<float>(count, [=](auto d, size_t j) HWY_ATTR {
    const auto zero = hn::Zero(d);
    const auto low = hn::LoadU(d, from + j);
    const auto high = hn::LoadU(d, to + j);
    const auto difference = hn::Sub(high, low);
    const auto share = hn::Div(hn::Sub(hn::Max(high, zero), hn::Max(low, zero)), difference);
    const auto at_point = hn::IfThenElse(hn::Gt(high, zero), hn::Set(d, 1.0F), zero);
    const auto positive = hn::IfThenElse(hn::Eq(difference, zero), at_point, share);
    const auto mean = hn::MulAdd(hn::Set(d, 1.0F - slope), positive, hn::Set(d, slope));
    hn::StoreU(hn::Mul(mean, hn::LoadU(d, weights + j)), d, out + j);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {

HWY_EXPORT(points_on_path);
HWY_EXPORT(points_around);
HWY_EXPORT(multiply_by_way);
HWY_EXPORT(add_weighted_rows);
HWY_EXPORT(add_moments);
HWY_EXPORT(finish_moments);
HWY_EXPORT(steps_of_order);
HWY_EXPORT(weighted_mean_slopes);

// Rows whose sums are formed side by side: one sum waits for each of its additions.
constexpr size_t kSideBySide = 8;

}  // namespace

void points_on_path(const float* from, const float* to, const float* at, size_t count, size_t columns, float* points) {
  HWY_DYNAMIC_DISPATCH(points_on_path)(from, to, at, count, columns, points);
}

void points_around(const float* centre, const float* deviations, const float* normals, size_t count, size_t columns,
                   float* points) {
  HWY_DYNAMIC_DISPATCH(points_around)(centre, deviations, normals, count, columns, points);
}

void multiply_by_way(const float* from, const float* to, size_t columns, float* values) {
  HWY_DYNAMIC_DISPATCH(multiply_by_way)(from, to, columns, values);
}

void sum_rows(const float* values, size_t count, size_t columns, double* sums) {
  size_t k = 0;
  for (; k + kSideBySide <= count; k += kSideBySide) {
    const float* first = values + k * columns;
    std::array<double, kSideBySide> sum{};
    for (size_t c = 0; c < columns; c++) {
      for (size_t i = 0; i < kSideBySide; i++) sum[i] += first[i * columns + c];
    }
    std::copy(sum.begin(), sum.end(), sums + k);
  }
  for (; k < count; k++) sums[k] = std::accumulate(values + k * columns, values + (k + 1) * columns, 0.0);
}

void add_weighted_rows(const float* values, const double* weights, size_t count, size_t columns, double* sums) {
  HWY_DYNAMIC_DISPATCH(add_weighted_rows)(values, weights, count, columns, sums);
}

void add_moments(const float* values, const double* origin, size_t count, size_t columns, double* sums,
                 double* squares) {
  HWY_DYNAMIC_DISPATCH(add_moments)(values, origin, count, columns, sums, squares);
}

void finish_moments(const double* origin, const double* sums, const double* squares, size_t count, size_t columns,
                    float* means, float* errors) {
  HWY_DYNAMIC_DISPATCH(finish_moments)(origin, sums, squares, count, columns, means, errors);
}

void steps_of_order(const float* values, const uint32_t* order, size_t players, size_t rows, const float* behind,
                    bool average, float* added) {
  HWY_DYNAMIC_DISPATCH(steps_of_order)(values, order, players, rows, behind, average, added);
}

void weighted_mean_slopes(const float* from, const float* to, const float* weights, float slope, size_t count,
                          float* out) {
  HWY_DYNAMIC_DISPATCH(weighted_mean_slopes)(from, to, weights, slope, count, out);
}

}  // namespace assay
#endif
