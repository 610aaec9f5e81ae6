#include "assay/explain/games/leaky_walks.h"

#include <algorithm>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/explain/games/leaky_walks.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;
using Doubles = hn::ScalableTag<double>;
using Halves = hn::Rebind<float, Doubles>;

// Units that are walked together.
constexpr size_t kUnits = 8;

size_t walk_lanes() { return hn::Lanes(Floats()); }

// sums[i] += factors[i] * numbers[i] for all lanes.
HWY_INLINE void add_products(const float* factors, const float* numbers, double* sums) {
  const Doubles d;
  const Halves narrow;
  for (size_t i = 0; i < hn::Lanes(Floats()); i += hn::Lanes(d)) {
    const auto factor = hn::PromoteTo(d, hn::Load(narrow, factors + i));
    const auto number = hn::PromoteTo(d, hn::Load(narrow, numbers + i));
    hn::Store(hn::MulAdd(factor, number, hn::Load(d, sums + i)), d, sums + i);
  }
}

// What each player brings to up to kUnits units: deltas[player][unit].
HWY_INLINE void find_deltas(const LeakyWalk& walk, size_t first, size_t units, float* HWY_RESTRICT deltas) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  std::fill_n(deltas, walk.players * kUnits * lanes, 0.0F);
  for (size_t c = 0; c < walk.weights.rows(); c++) {
    float* delta = deltas + walk.player_of_column[c] * kUnits * lanes;
    const float* HWY_RESTRICT weights = walk.weights.row(c).data() + first;
    const Vector difference = hn::Load(d, walk.differences + c * lanes);
    for (size_t u = 0; u < units; u++, delta += lanes) {
      hn::Store(hn::MulAdd(hn::Set(d, weights[u]), difference, hn::Load(d, delta)), d, delta);
    }
  }
}

// One unit's base; in rows where it never bends, base and deltas are zero, and it is part of what is additive. Its
// deltas are kUnits vectors apart.
HWY_INLINE void prepare_unit(const LeakyWalk& walk, size_t unit, float* deltas, float* base) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  const size_t step = kUnits * lanes;
  const Vector start = hn::Set(d, static_cast<float>(walk.base[unit]));
  Vector lowest = start, highest = start;
  for (size_t p = 0; p < walk.players; p++) {
    const Vector delta = hn::Load(d, deltas + p * step);
    lowest = hn::Add(lowest, hn::Min(delta, hn::Zero(d)));
    highest = hn::Add(highest, hn::Max(delta, hn::Zero(d)));
  }
  const auto bends = hn::And(hn::Lt(lowest, hn::Zero(d)), hn::Gt(highest, hn::Zero(d)));
  hn::Store(start, d, base);
  if (hn::AllTrue(d, bends)) return;
  const auto straight = hn::Ge(lowest, hn::Zero(d));
  if (!hn::AllFalse(d, straight)) {
    HWY_ALIGN float factors[hn::MaxLanes(d)];
    hn::Store(hn::IfThenElseZero(straight, hn::Load(d, walk.bends + unit * lanes)), d, factors);
    add_products(factors, base, walk.additive);
    for (size_t p = 0; p < walk.players; p++) {
      add_products(factors, deltas + p * step, walk.additive + (p + 1) * lanes);
    }
  }
  hn::Store(hn::IfThenElseZero(bends, start), d, base);
  for (size_t p = 0; p < walk.players; p++) {
    float* delta = deltas + p * step;
    hn::Store(hn::IfThenElseZero(bends, hn::Load(d, delta)), d, delta);
  }
}

// max(z, 0) by the bits, as integers: processors have more ports for it than for that of floats.
HWY_INLINE Vector bend(Vector z) {
  const Floats d;
  const hn::RebindToSigned<Floats> integers;
  return hn::BitCast(d, hn::Max(hn::BitCast(integers, z), hn::Zero(integers)));
}

// Adds kUnits units to the values of one order: those behind each of its first `count` players, or the last alone. The
// first units begin the values instead.
template <bool kLastAlone, bool kFirst>
HWY_INLINE void walk_order(const uint32_t* order, size_t count, const float* HWY_RESTRICT deltas,
                           const float* HWY_RESTRICT base, const float* HWY_RESTRICT bends, float* HWY_RESTRICT values,
                           size_t stride) {
  const Floats d;
  const size_t n = hn::Lanes(d);
  Vector z0 = hn::Load(d, base), z1 = hn::Load(d, base + n), z2 = hn::Load(d, base + 2 * n);
  Vector z3 = hn::Load(d, base + 3 * n), z4 = hn::Load(d, base + 4 * n), z5 = hn::Load(d, base + 5 * n);
  Vector z6 = hn::Load(d, base + 6 * n), z7 = hn::Load(d, base + 7 * n);
  const Vector b0 = hn::Load(d, bends), b1 = hn::Load(d, bends + n), b2 = hn::Load(d, bends + 2 * n);
  const Vector b3 = hn::Load(d, bends + 3 * n), b4 = hn::Load(d, bends + 4 * n), b5 = hn::Load(d, bends + 5 * n);
  const Vector b6 = hn::Load(d, bends + 6 * n), b7 = hn::Load(d, bends + 7 * n);
  const auto add_to = [&](float* out) HWY_ATTR {
    Vector even = kFirst ? hn::Mul(b0, bend(z0)) : hn::MulAdd(b0, bend(z0), hn::Load(d, out));
    Vector odd = hn::Mul(b1, bend(z1));
    even = hn::MulAdd(b2, bend(z2), even);
    odd = hn::MulAdd(b3, bend(z3), odd);
    even = hn::MulAdd(b4, bend(z4), even);
    odd = hn::MulAdd(b5, bend(z5), odd);
    even = hn::MulAdd(b6, bend(z6), even);
    odd = hn::MulAdd(b7, bend(z7), odd);
    hn::Store(hn::Add(even, odd), d, out);
  };
  for (size_t j = 0; j < count; j++) {
    const float* delta = deltas + order[j] * kUnits * n;
    z0 = hn::Add(z0, hn::Load(d, delta));
    z1 = hn::Add(z1, hn::Load(d, delta + n));
    z2 = hn::Add(z2, hn::Load(d, delta + 2 * n));
    z3 = hn::Add(z3, hn::Load(d, delta + 3 * n));
    z4 = hn::Add(z4, hn::Load(d, delta + 4 * n));
    z5 = hn::Add(z5, hn::Load(d, delta + 5 * n));
    z6 = hn::Add(z6, hn::Load(d, delta + 6 * n));
    z7 = hn::Add(z7, hn::Load(d, delta + 7 * n));
    if (!kLastAlone) add_to(values + j * stride);
  }
  if (kLastAlone) add_to(values);
}

// values[i] += sums[i] for all lanes.
HWY_INLINE void add_sums(const double* sums, float* values) {
  const Doubles d;
  const Halves narrow;
  for (size_t i = 0; i < hn::Lanes(Floats()); i += hn::Lanes(d)) {
    const auto value = hn::PromoteTo(d, hn::Load(narrow, values + i));
    hn::Store(hn::DemoteTo(narrow, hn::Add(value, hn::Load(d, sums + i))), narrow, values + i);
  }
}

HWY_INLINE void add_to_sums(const double* numbers, double* sums) {
  const Doubles d;
  for (size_t i = 0; i < hn::Lanes(Floats()); i += hn::Lanes(d)) {
    hn::Store(hn::Add(hn::Load(d, sums + i), hn::Load(d, numbers + i)), d, sums + i);
  }
}

void walk_orders(const LeakyWalk& walk, std::span<const uint32_t> orders, VectorBuffer<float>& scratch, float* values,
                 size_t stride) {
  const size_t lanes = hn::Lanes(Floats());
  const size_t players = walk.players;
  const size_t units = walk.weights.cols();
  const size_t step = kUnits * lanes;
  const size_t behind = (players - 1) * stride;  // values of one order
  float* deltas = scratch.get((players + 2) * step);
  float* base = deltas + players * step;
  float* bends = base + step;
  const size_t count = orders.size() / players;
  for (size_t c = 0; c < 2 + count * (players - 1) && units == 0; c++) std::fill_n(values + c * stride, lanes, 0.0F);
  for (size_t first = 0; first < units; first += kUnits) {
    const size_t here = std::min(kUnits, units - first);
    if (here < kUnits) std::fill_n(base, 2 * step, 0.0F);
    std::copy_n(walk.bends + first * lanes, here * lanes, bends);
    find_deltas(walk, first, here, deltas);
    for (size_t u = 0; u < here; u++) prepare_unit(walk, first + u, deltas + u * lanes, base + u * lanes);
    const auto walk_all = [&]<bool kFirst>(std::bool_constant<kFirst>) HWY_ATTR {
      walk_order<true, kFirst>(orders.data(), 0, deltas, base, bends, values, stride);
      walk_order<true, kFirst>(orders.data(), players, deltas, base, bends, values + stride, stride);
      float* out = values + 2 * stride;
      for (size_t k = 0; k < count; k++, out += behind) {
        walk_order<false, kFirst>(orders.data() + k * players, players - 1, deltas, base, bends, out, stride);
      }
    };
    if (first == 0) {
      walk_all(std::true_type());
    } else {
      walk_all(std::false_type());
    }
  }
  HWY_ALIGN double sums[hn::MaxLanes(Floats())];
  add_sums(walk.additive, values);
  float* out = values + 2 * stride;
  for (size_t k = 0; k < count; k++) {
    const uint32_t* order = orders.data() + k * players;
    std::copy_n(walk.additive, lanes, sums);
    for (size_t j = 0; j + 1 < players; j++, out += stride) {
      add_to_sums(walk.additive + (order[j] + 1) * lanes, sums);
      add_sums(sums, out);
    }
    if (k > 0) continue;
    add_to_sums(walk.additive + (order[players - 1] + 1) * lanes, sums);
    add_sums(sums, values + stride);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {

HWY_EXPORT(walk_lanes);
HWY_EXPORT(walk_orders);

}  // namespace

size_t walk_lanes() { return HWY_DYNAMIC_DISPATCH(walk_lanes)(); }

void walk_orders(const LeakyWalk& walk, std::span<const uint32_t> orders, VectorBuffer<float>& scratch, float* values,
                 size_t stride) {
  HWY_DYNAMIC_DISPATCH(walk_orders)(walk, orders, scratch, values, stride);
}

}  // namespace assay
#endif
