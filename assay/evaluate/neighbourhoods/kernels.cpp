#include "assay/evaluate/neighbourhoods/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/evaluate/neighbourhoods/kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, kLanes>;
using DoubleVector = hn::Vec<Doubles>;

template <ExplanationDistance distance>
HWY_INLINE DoubleVector accumulate(Doubles d, DoubleVector total, DoubleVector a, DoubleVector b) {
  if constexpr (distance == ExplanationDistance::l1) return hn::Add(total, hn::Abs(hn::Sub(a, b)));
  if constexpr (distance == ExplanationDistance::l0) {
    return hn::Add(total, hn::IfThenElseZero(hn::Ne(a, b), hn::Set(d, 1.0)));
  }
  // Not fused, which only some targets can.
  const DoubleVector apart = hn::Sub(a, b);
  return hn::Add(total, hn::Mul(apart, apart));
}

template <ExplanationDistance distance, Fold fold, bool weighted>
HWY_INLINE void add_to_lanes(Doubles d, DoubleVector sum, size_t place, const TileQuery& query) {
  const size_t lanes = hn::Lanes(d);
  const uint32_t chosen = query.places >> place;
  uint8_t bytes[8] = {static_cast<uint8_t>(chosen & ((1U << lanes) - 1))};
  const auto mask = hn::LoadMaskBits(d, bytes);
  DoubleVector value = distance == ExplanationDistance::l2 ? hn::Sqrt(sum) : sum;
  if constexpr (weighted) value = hn::Div(value, hn::LoadU(d, query.rho + place));
  value = hn::IfThenElseZero(mask, value);
  double* lane = query.lanes->values + place % kLanes;
  const DoubleVector before = hn::Load(d, lane);
  hn::Store(fold == Fold::mean ? hn::Add(before, value) : hn::Max(before, value), d, lane);
}

template <ExplanationDistance distance, Fold fold, bool weighted>
void fold_tile_of(const double* HWY_RESTRICT tile, size_t players, std::span<const TileQuery> queries) {
  const Doubles d;
  const size_t lanes = hn::Lanes(d);
  for (const TileQuery& query : queries) {
    for (size_t place = 0; place < kBlockRows; place += 4 * lanes) {
      const double* HWY_RESTRICT at = tile + place;
      DoubleVector s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
      for (size_t p = 0; p < players; p++, at += kBlockRows) {
        const DoubleVector x = hn::Set(d, static_cast<double>(query.values[p]));
        s0 = accumulate<distance>(d, s0, hn::Load(d, at), x);
        s1 = accumulate<distance>(d, s1, hn::Load(d, at + lanes), x);
        s2 = accumulate<distance>(d, s2, hn::Load(d, at + 2 * lanes), x);
        s3 = accumulate<distance>(d, s3, hn::Load(d, at + 3 * lanes), x);
      }
      add_to_lanes<distance, fold, weighted>(d, s0, place, query);
      add_to_lanes<distance, fold, weighted>(d, s1, place + lanes, query);
      add_to_lanes<distance, fold, weighted>(d, s2, place + 2 * lanes, query);
      add_to_lanes<distance, fold, weighted>(d, s3, place + 3 * lanes, query);
    }
  }
}

void fold_tile_here(ExplanationDistance distance, Fold fold, const float* narrow_tile, double* tile, size_t players,
                    std::span<const TileQuery> queries) {
  // Once for all queries of the tile.
  const Doubles d;
  const hn::Rebind<float, Doubles> narrow;
  for (size_t i = 0; i < players * kBlockRows; i += hn::Lanes(d)) {
    hn::Store(hn::PromoteTo(d, hn::Load(narrow, narrow_tile + i)), d, tile + i);
  }
  const auto run = [&]<ExplanationDistance which>() {
    const bool weighted = queries.front().rho != nullptr;
    if (fold == Fold::mean) {
      weighted ? fold_tile_of<which, Fold::mean, true>(tile, players, queries)
               : fold_tile_of<which, Fold::mean, false>(tile, players, queries);
    } else {
      weighted ? fold_tile_of<which, Fold::max, true>(tile, players, queries)
               : fold_tile_of<which, Fold::max, false>(tile, players, queries);
    }
  };
  switch (distance) {
    case ExplanationDistance::l1: return run.template operator()<ExplanationDistance::l1>();
    case ExplanationDistance::l2: return run.template operator()<ExplanationDistance::l2>();
    default: return run.template operator()<ExplanationDistance::l0>();
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cassert>

namespace assay {
namespace {

HWY_EXPORT(fold_tile_here);

}  // namespace

bool has_tile_kernel(ExplanationDistance distance) {
  return distance == ExplanationDistance::l1 || distance == ExplanationDistance::l2 ||
         distance == ExplanationDistance::l0;
}

void fold_tile(ExplanationDistance distance, Fold fold, const float* tile, double* wide, size_t players,
               std::span<const TileQuery> queries) {
  assert(has_tile_kernel(distance));
  if (queries.empty()) return;
  HWY_DYNAMIC_DISPATCH(fold_tile_here)(distance, fold, tile, wide, players, queries);
}

}  // namespace assay
#endif
