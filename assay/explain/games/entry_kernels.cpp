#include "assay/explain/games/entry_kernels.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/explain/games/entry_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Doubles = hn::ScalableTag<double>;

void add_deltas(MatrixView<const float> weights, std::span<const uint32_t> of_column,
                std::span<const double> differences, double* deltas, size_t stride) {
  const Doubles d;
  const hn::Rebind<float, Doubles> narrow;
  const size_t lanes = hn::Lanes(d);
  const size_t width = weights.cols();
  for (size_t c = 0; c < differences.size(); c++) {
    if (differences[c] == 0) continue;
    const auto difference = hn::Set(d, differences[c]);
    const float* from = weights.row(c).data();
    double* to = deltas + of_column[c] * stride;
    size_t j = 0;
    for (; j + lanes <= width; j += lanes) {
      const auto weight = hn::PromoteTo(d, hn::LoadU(narrow, from + j));
      hn::StoreU(hn::MulAdd(difference, weight, hn::LoadU(d, to + j)), d, to + j);
    }
    for (; j < width; j++) to[j] += differences[c] * static_cast<double>(from[j]);
  }
}

void build_tables(const TablePlan& plan, const float* deltas, const float* base, size_t stride, float* tables) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  for (size_t chunk = 0; chunk < plan.chunks; chunk++) {
    float* table = tables + plan.first_row[chunk] * stride;
    if (chunk + 1 == plan.chunks) {
      std::copy_n(base, stride, table);
    } else {
      std::fill_n(table, stride, 0.0F);
    }
    const size_t players = plan.first_player[chunk + 1] - plan.first_player[chunk];
    for (size_t p = 0; p < players; p++) {
      const float* delta = deltas + (plan.first_player[chunk] + p) * stride;
      float* upper = table + (stride << p);
      for (size_t m = 0; m < size_t{1} << p; m++) {
        for (size_t j = 0; j < stride; j += lanes) {
          const auto sum = hn::Add(hn::Load(d, table + m * stride + j), hn::Load(d, delta + j));
          hn::Store(sum, d, upper + m * stride + j);
        }
      }
    }
  }
}

void sum_table_rows(const float* tables, size_t stride, const uint32_t* rows, size_t chunks, size_t count, size_t width,
                    float* sums) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < count; i++, rows += chunks, sums += width) {
    const auto sum_at = [=](size_t j) HWY_ATTR {
      auto sum = hn::Load(d, tables + rows[0] * stride + j);
      for (size_t c = 1; c < chunks; c++) sum = hn::Add(sum, hn::Load(d, tables + rows[c] * stride + j));
      return sum;
    };
    size_t j = 0;
    for (; j + lanes <= width; j += lanes) hn::StoreU(sum_at(j), d, sums + j);
    if (j < width) {
      HWY_ALIGN float last[hn::MaxLanes(d)];
      hn::Store(sum_at(j), d, last);
      std::copy_n(last, width - j, sums + j);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {

HWY_EXPORT(add_deltas);
HWY_EXPORT(build_tables);
HWY_EXPORT(sum_table_rows);

}  // namespace

void add_deltas(MatrixView<const float> weights, std::span<const uint32_t> of_column,
                std::span<const double> differences, double* deltas, size_t stride) {
  HWY_DYNAMIC_DISPATCH(add_deltas)(weights, of_column, differences, deltas, stride);
}

void build_tables(const TablePlan& plan, const float* deltas, const float* base, size_t stride, float* tables) {
  HWY_DYNAMIC_DISPATCH(build_tables)(plan, deltas, base, stride, tables);
}

void sum_table_rows(const float* tables, size_t stride, const uint32_t* rows, size_t chunks, size_t count, size_t width,
                    float* sums) {
  HWY_DYNAMIC_DISPATCH(sum_table_rows)(tables, stride, rows, chunks, count, width, sums);
}

}  // namespace assay
#endif
