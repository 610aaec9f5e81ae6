#include "assay/aggregate/mixtures/unit_distances.h"

#include <hwy/cache_control.h>

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/aggregate/mixtures/unit_distances.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// At most eight numbers, so that kUnitWidth is two vectors or more.
using Wide = hn::CappedTag<double, 8>;
using Vector = hn::Vec<Wide>;

// Their Gram matrices stay in the nearest cache while all blocks of weights are gone through.
constexpr size_t kPairsInCache = 32;
// Norms are at most 1 and above 1e-7. Scaled by this, products of squares and norms stay in float32's range.
constexpr double kScale = 0x1p100;
constexpr double kRootOfScale = 0x1p50;
// Below it, after scaling, a distance is less than 1e-20 and counts as 0.
constexpr double kLeast = 1e-35;

// The distance, from the square of the difference and both norms.
HWY_INLINE Vector unit_distance(Vector square, Vector norm_a, Vector norm_b) {
  const Wide d;
  const hn::Rebind<float, Wide> narrow;
  const auto zero = hn::Zero(d);
  const auto apart = hn::Sub(norm_a, norm_b);
  const auto product = hn::Mul(norm_a, norm_b);
  const auto x = hn::Min(hn::NegMulAdd(apart, apart, square), hn::Mul(hn::Set(d, 4.0), product));
  const auto v = hn::Mul(hn::Mul(x, product), hn::Set(d, kScale));
  const auto counts = hn::Gt(v, hn::Set(d, kLeast));
  // Off by 1e-7 of itself at most; one step of third order makes it exact to the last digits.
  const auto near = hn::Div(hn::Set(narrow, 1.0f), hn::Sqrt(hn::DemoteTo(narrow, v)));
  const auto y = hn::PromoteTo(d, near);
  const auto rest = hn::NegMulAdd(hn::Mul(v, y), y, hn::Set(d, 1.0));
  const auto step = hn::Mul(rest, hn::MulAdd(rest, hn::Set(d, 0.375), hn::Set(d, 0.5)));
  const auto root = hn::MulAdd(y, step, y);
  const auto distance = hn::IfThenElseZero(counts, hn::Mul(x, hn::Mul(root, hn::Set(d, kRootOfScale))));
  const auto one_is_zero = hn::IfThenElseZero(hn::Gt(hn::Max(norm_a, norm_b), zero), hn::Set(d, 1.0));
  return hn::IfThenElse(hn::Gt(product, zero), distance, one_is_zero);
}

// Neighbours lie anywhere in the pool, so their norms are asked for before they are needed.
HWY_INLINE void prefetch(const double* numbers, size_t count) {
  for (size_t i = 0; i < count; i += 8) hwy::Prefetch(numbers + i);
}

// Two vectors of one block's weights.
struct Columns {
  const WeightBlock& block;
  size_t at;     // within the block
  size_t first;  // the column of all weights that `at` is
  size_t width;
};

// What the distances of one row's pairs are added up from, for two vectors of weights.
struct Sums {
  Vector norm0, norm1;  // of the row
  Vector sum0, sum1;
};

HWY_INLINE void add_pair(const PairSpan& pairs, size_t z, const Columns& columns, const UnitMixtures& mixtures,
                         Vector square0, Vector square1, Sums& to) {
  const Wide d;
  const size_t lanes = hn::Lanes(d);
  const double* other = mixtures.pool_norms + pairs.others[z] * columns.width + columns.first;
  prefetch(other + 2 * lanes, 2 * lanes);
  const auto factor = hn::Set(d, pairs.factors[z]);
  to.sum0 = hn::Add(to.sum0, hn::Mul(factor, unit_distance(square0, to.norm0, hn::LoadU(d, other))));
  to.sum1 = hn::Add(to.sum1, hn::Mul(factor, unit_distance(square1, to.norm1, hn::LoadU(d, other + lanes))));
}

// Pair z alone.
HWY_INLINE void add_one(const PairSpan& pairs, size_t z, size_t packed, const Columns& columns,
                        const UnitMixtures& mixtures, Sums& to) {
  const Wide d;
  const size_t lanes = hn::Lanes(d);
  const double* HWY_RESTRICT gram = pairs.grams + z * packed;
  const double* HWY_RESTRICT by = columns.block.products.data() + columns.at;
  auto square0 = hn::Zero(d);
  auto square1 = hn::Zero(d);
  for (const uint32_t k : columns.block.entries) {
    const auto entry = hn::Set(d, gram[k]);
    square0 = hn::MulAdd(entry, hn::LoadU(d, by), square0);
    square1 = hn::MulAdd(entry, hn::LoadU(d, by + lanes), square1);
    by += kUnitWidth;
  }
  add_pair(pairs, z, columns, mixtures, square0, square1, to);
}

// Three pairs at once, because a chain of multiply-adds for one pair would wait for each of them.
HWY_INLINE void add_three(const PairSpan& pairs, size_t z, size_t packed, const Columns& columns,
                          const UnitMixtures& mixtures, Sums& to) {
  const Wide d;
  const size_t lanes = hn::Lanes(d);
  const double* HWY_RESTRICT gram = pairs.grams + z * packed;
  const double* HWY_RESTRICT by = columns.block.products.data() + columns.at;
  auto a0 = hn::Zero(d);
  auto a1 = hn::Zero(d);
  auto b0 = hn::Zero(d);
  auto b1 = hn::Zero(d);
  auto c0 = hn::Zero(d);
  auto c1 = hn::Zero(d);
  for (const uint32_t k : columns.block.entries) {
    const auto by0 = hn::LoadU(d, by);
    const auto by1 = hn::LoadU(d, by + lanes);
    const auto a = hn::Set(d, gram[k]);
    const auto b = hn::Set(d, gram[packed + k]);
    const auto c = hn::Set(d, gram[2 * packed + k]);
    a0 = hn::MulAdd(a, by0, a0);
    a1 = hn::MulAdd(a, by1, a1);
    b0 = hn::MulAdd(b, by0, b0);
    b1 = hn::MulAdd(b, by1, b1);
    c0 = hn::MulAdd(c, by0, c0);
    c1 = hn::MulAdd(c, by1, c1);
    by += kUnitWidth;
  }
  add_pair(pairs, z, columns, mixtures, a0, a1, to);
  add_pair(pairs, z + 1, columns, mixtures, b0, b1, to);
  add_pair(pairs, z + 2, columns, mixtures, c0, c1, to);
}

void add_unit_distances(const PairSpan& pairs, size_t packed, const UnitMixtures& mixtures, double* HWY_RESTRICT sums) {
  const Wide d;
  const size_t lanes = hn::Lanes(d);
  const size_t width = mixtures.weights.width();
  for (size_t begin = 0; begin < pairs.count; begin += kPairsInCache) {
    const size_t end = std::min(begin + kPairsInCache, pairs.count);
    for (size_t z = end; z < std::min(end + kPairsInCache, pairs.count); z++) {
      prefetch(mixtures.pool_norms + pairs.others[z] * width, 2 * lanes);
    }
    for (size_t t = 0; t < width; t += 2 * lanes) {
      const Columns columns{mixtures.weights.blocks[t / kUnitWidth], t % kUnitWidth, t, width};
      Sums to{hn::LoadU(d, mixtures.row_norms + t), hn::LoadU(d, mixtures.row_norms + t + lanes),
              hn::LoadU(d, sums + t), hn::LoadU(d, sums + t + lanes)};
      size_t z = begin;
      for (; z + 3 <= end; z += 3) add_three(pairs, z, packed, columns, mixtures, to);
      for (; z < end; z++) add_one(pairs, z, packed, columns, mixtures, to);
      hn::StoreU(to.sum0, d, sums + t);
      hn::StoreU(to.sum1, d, sums + t + lanes);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {
HWY_EXPORT(add_unit_distances);
}  // namespace

void add_unit_distances(const PairSpan& pairs, size_t packed, const UnitMixtures& mixtures, double* sums) {
  HWY_DYNAMIC_DISPATCH(add_unit_distances)(pairs, packed, mixtures, sums);
}

}  // namespace assay
#endif
