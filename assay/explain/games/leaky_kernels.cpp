#include "assay/explain/games/leaky_kernels.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "assay/model/kernels/products.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/explain/games/leaky_kernels.cpp"
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

// Coalitions side by side in a range: all subsets of the low players.
HWY_INLINE size_t range_lanes() { return 2 * hn::Lanes(Floats()); }

size_t low_players_of_range() { return static_cast<size_t>(std::countr_zero(range_lanes())); }

// Players whose subsets share one row of B at a time: 2^5 rows stay in the first-level cache.
constexpr size_t kMiddlePlayers = 5;

// So many units are added, then as many subtracted, in turn: the partial sums stay small, and rounding with them.
constexpr size_t kTurn = 16;

// One row of B against all lanes.
HWY_INLINE void play_row(const LeakyRow& row, const float* b, const float* minus_low, const float* low_part,
                         float high_part, float* out) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  const Vector part = hn::Set(d, high_part);
  Vector s0 = hn::Add(part, hn::Load(d, low_part));
  Vector s1 = hn::Add(part, hn::Load(d, low_part + lanes));
  size_t plus = 0;
  size_t minus = row.plus;
  while (plus < row.plus || minus < row.units) {
    const size_t plus_end = std::min(row.plus, plus + kTurn);
    const size_t minus_end = std::min(row.units, minus + kTurn);
    for (size_t j = plus; j < plus_end; j++) {
      const float* low = minus_low + 2 * lanes * j;
      const Vector at = hn::Set(d, b[j]);
      s0 = hn::Add(s0, hn::Max(at, hn::Load(d, low)));
      s1 = hn::Add(s1, hn::Max(at, hn::Load(d, low + lanes)));
    }
    for (size_t j = minus; j < minus_end; j++) {
      const float* low = minus_low + 2 * lanes * j;
      const Vector at = hn::Set(d, b[j]);
      s0 = hn::Sub(s0, hn::Max(at, hn::Load(d, low)));
      s1 = hn::Sub(s1, hn::Max(at, hn::Load(d, low + lanes)));
    }
    plus = plus_end;
    minus = minus_end;
  }
  hn::StoreU(s0, d, out);
  hn::StoreU(s1, d, out + lanes);
}

// Four rows of B, which share the loads of -L. The same operations in the same order as for one.
HWY_INLINE void play_four_rows(const LeakyRow& row, const float* b, const float* minus_low, const float* low_part,
                               const float* high_parts, float* out) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  const float* b1 = b + row.stride;
  const float* b2 = b1 + row.stride;
  const float* b3 = b2 + row.stride;
  const Vector low0 = hn::Load(d, low_part);
  const Vector low1 = hn::Load(d, low_part + lanes);
  Vector s00 = hn::Add(hn::Set(d, high_parts[0]), low0), s01 = hn::Add(hn::Set(d, high_parts[0]), low1);
  Vector s10 = hn::Add(hn::Set(d, high_parts[1]), low0), s11 = hn::Add(hn::Set(d, high_parts[1]), low1);
  Vector s20 = hn::Add(hn::Set(d, high_parts[2]), low0), s21 = hn::Add(hn::Set(d, high_parts[2]), low1);
  Vector s30 = hn::Add(hn::Set(d, high_parts[3]), low0), s31 = hn::Add(hn::Set(d, high_parts[3]), low1);
  size_t plus = 0;
  size_t minus = row.plus;
  while (plus < row.plus || minus < row.units) {
    const size_t plus_end = std::min(row.plus, plus + kTurn);
    const size_t minus_end = std::min(row.units, minus + kTurn);
    for (size_t j = plus; j < plus_end; j++) {
      const Vector l0 = hn::Load(d, minus_low + 2 * lanes * j);
      const Vector l1 = hn::Load(d, minus_low + 2 * lanes * j + lanes);
      const Vector at0 = hn::Set(d, b[j]), at1 = hn::Set(d, b1[j]), at2 = hn::Set(d, b2[j]), at3 = hn::Set(d, b3[j]);
      s00 = hn::Add(s00, hn::Max(at0, l0));
      s01 = hn::Add(s01, hn::Max(at0, l1));
      s10 = hn::Add(s10, hn::Max(at1, l0));
      s11 = hn::Add(s11, hn::Max(at1, l1));
      s20 = hn::Add(s20, hn::Max(at2, l0));
      s21 = hn::Add(s21, hn::Max(at2, l1));
      s30 = hn::Add(s30, hn::Max(at3, l0));
      s31 = hn::Add(s31, hn::Max(at3, l1));
    }
    for (size_t j = minus; j < minus_end; j++) {
      const Vector l0 = hn::Load(d, minus_low + 2 * lanes * j);
      const Vector l1 = hn::Load(d, minus_low + 2 * lanes * j + lanes);
      const Vector at0 = hn::Set(d, b[j]), at1 = hn::Set(d, b1[j]), at2 = hn::Set(d, b2[j]), at3 = hn::Set(d, b3[j]);
      s00 = hn::Sub(s00, hn::Max(at0, l0));
      s01 = hn::Sub(s01, hn::Max(at0, l1));
      s10 = hn::Sub(s10, hn::Max(at1, l0));
      s11 = hn::Sub(s11, hn::Max(at1, l1));
      s20 = hn::Sub(s20, hn::Max(at2, l0));
      s21 = hn::Sub(s21, hn::Max(at2, l1));
      s30 = hn::Sub(s30, hn::Max(at3, l0));
      s31 = hn::Sub(s31, hn::Max(at3, l1));
    }
    plus = plus_end;
    minus = minus_end;
  }
  hn::StoreU(s00, d, out);
  hn::StoreU(s01, d, out + lanes);
  hn::StoreU(s10, d, out + 2 * lanes);
  hn::StoreU(s11, d, out + 3 * lanes);
  hn::StoreU(s20, d, out + 4 * lanes);
  hn::StoreU(s21, d, out + 5 * lanes);
  hn::StoreU(s30, d, out + 6 * lanes);
  hn::StoreU(s31, d, out + 7 * lanes);
}

// rows[m] = rows[0] + deltas of the players in m, for all m below 2^players.
HWY_INLINE void double_rows(const float* deltas, size_t players, size_t stride, float* rows) {
  const Floats d;
  for (size_t p = 0; p < players; p++) {
    const float* delta = deltas + p * stride;
    float* upper = rows + (stride << p);
    for (size_t i = 0; i < stride << p; i += stride) {
      for (size_t j = 0; j < stride; j += hn::Lanes(d)) {
        hn::Store(hn::Add(hn::Load(d, rows + i + j), hn::Load(d, delta + j)), d, upper + i + j);
      }
    }
  }
}

void sum_subsets(const double* numbers, size_t count, double start, float* sums) {
  const Doubles d;
  const hn::Rebind<float, Doubles> narrow;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN double exact[256];
  exact[0] = start;
  for (size_t p = 0; p < count; p++) {
    const size_t half = size_t{1} << p;
    size_t m = 0;
    for (; m + lanes <= half; m += lanes) {
      hn::StoreU(hn::Add(hn::LoadU(d, exact + m), hn::Set(d, numbers[p])), d, exact + half + m);
    }
    for (; m < half; m++) exact[half + m] = exact[m] + numbers[p];
  }
  const size_t size = size_t{1} << count;
  size_t m = 0;
  for (; m + lanes <= size; m += lanes) hn::StoreU(hn::DemoteTo(narrow, hn::LoadU(d, exact + m)), narrow, sums + m);
  for (; m < size; m++) sums[m] = static_cast<float>(exact[m]);
}

void values_of_range(const LeakyRow& row, uint64_t first, size_t count, VectorBuffer<float>& scratch, float* values) {
  const size_t lanes = range_lanes();
  const size_t low_subsets = size_t{1} << row.low;
  const size_t middle = std::min(kMiddlePlayers, row.players - row.low);
  const size_t block = size_t{1} << middle;
  const float* middle_deltas = row.deltas + row.low * row.stride;

  float* minus_low = scratch.get(row.stride * lanes + std::max(block, low_subsets) * row.stride + 2 * lanes);
  float* rows = minus_low + row.stride * lanes;
  float* low_part = rows + std::max(block, low_subsets) * row.stride;
  float* spare = low_part + lanes;
  if (low_subsets < lanes) {
    std::fill_n(minus_low, row.stride * lanes, 0.0F);
    std::fill_n(low_part, lanes, 0.0F);
  }
  std::fill_n(rows, row.stride, 0.0F);
  double_rows(row.deltas, row.low, row.stride, rows);
  transpose(rows, row.stride, low_subsets, row.stride, minus_low, lanes);
  sum_subsets(row.additive, row.low, 0, low_part);

  const size_t block_size = low_subsets * block;
  for (uint64_t at = first; at < first + count;) {
    // Sums from the reference on, not from another block: a value must not depend on where its range began.
    const uint64_t high = at / block_size;
    double start = row.constant;
    std::copy_n(row.base, row.stride, rows);
    for (uint64_t bits = high; bits != 0; bits &= bits - 1) {
      const size_t p = row.low + middle + static_cast<size_t>(std::countr_zero(bits));
      const float* delta = row.deltas + p * row.stride;
      const Floats d;
      for (size_t j = 0; j < row.stride; j += hn::Lanes(d)) {
        hn::Store(hn::Add(hn::Load(d, rows + j), hn::Load(d, delta + j)), d, rows + j);
      }
      start += row.additive[p];
    }
    double_rows(middle_deltas, middle, row.stride, rows);
    float high_part[size_t{1} << kMiddlePlayers];
    sum_subsets(row.additive + row.low, middle, start, high_part);

    const uint64_t stop = std::min<uint64_t>(first + count, (high + 1) * block_size);
    while (at < stop) {
      const size_t m = at % block_size / low_subsets;
      float* out = values + (at - first);
      if (low_subsets == lanes && stop - at >= 4 * lanes) {
        play_four_rows(row, rows + m * row.stride, minus_low, low_part, high_part + m, out);
        at += 4 * lanes;
      } else if (low_subsets == lanes && stop - at >= lanes) {
        play_row(row, rows + m * row.stride, minus_low, low_part, high_part[m], out);
        at += lanes;
      } else {
        play_row(row, rows + m * row.stride, minus_low, low_part, high_part[m], spare);
        const size_t wanted = std::min<uint64_t>(stop - at, low_subsets);
        std::copy_n(spare + at % low_subsets, wanted, out);
        at += wanted;
      }
    }
  }
}

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

template <class D>
HWY_INLINE auto fold_to_four(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(d) == 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return fold_to_four(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// The sums of the lanes of four vectors.
HWY_INLINE void sum_lanes(Vector a, Vector b, Vector c, Vector e, float* sums) {
  const Floats d;
  const hn::Full128<float> four;
  const auto a4 = fold_to_four(d, a), b4 = fold_to_four(d, b), c4 = fold_to_four(d, c), e4 = fold_to_four(d, e);
  const auto ab = hn::Add(hn::InterleaveLower(four, a4, b4), hn::InterleaveUpper(four, a4, b4));
  const auto ce = hn::Add(hn::InterleaveLower(four, c4, e4), hn::InterleaveUpper(four, c4, e4));
  hn::StoreU(hn::Add(hn::ConcatLowerLower(four, ce, ab), hn::ConcatUpperUpper(four, ce, ab)), four, sums);
}

// Up to so many vectors of units have their signs in registers.
constexpr size_t kMostVectors = 6;

template <size_t kChunks>
HWY_INLINE Vector add_units(Vector sum, Vector signs, const float* first, const float* second, const float* minus_low) {
  const Floats d;
  Vector b = hn::Load(d, first);
  if (kChunks == 3) b = hn::Add(b, hn::Load(d, second));
  return hn::MulAdd(signs, hn::Max(b, hn::Load(d, minus_low)), sum);
}

// Sums over the units of a coalition, which are so many vectors, from the table rows of two or three chunks.
template <size_t kChunks, size_t... I>
HWY_INLINE Vector sum_units(std::index_sequence<I...>, const Vector* signs, size_t stride,
                            const float* HWY_RESTRICT tables, const uint32_t* HWY_RESTRICT rows) {
  const Floats d;
  constexpr size_t kLanes = hn::MaxLanes(Floats());
  const float* HWY_RESTRICT minus_low = tables + rows[0] * stride;
  const float* HWY_RESTRICT first = tables + rows[1] * stride;
  const float* HWY_RESTRICT second = tables + rows[kChunks - 1] * stride;
  Vector sum = hn::Zero(d);
  ((sum = add_units<kChunks>(sum, signs[I], first + I * kLanes, second + I * kLanes, minus_low + I * kLanes)), ...);
  return sum;
}

template <size_t kChunks>
HWY_INLINE float sum_parts(const float* HWY_RESTRICT additive, const uint32_t* HWY_RESTRICT rows) {
  const float two = additive[rows[0]] + additive[rows[1]];
  return kChunks == 3 ? two + additive[rows[2]] : two;
}

template <size_t kChunks, size_t... I>
HWY_NOINLINE void play_short(std::index_sequence<I...> vectors, const float* signs, size_t stride,
                             const float* HWY_RESTRICT tables, const float* HWY_RESTRICT additive,
                             const uint32_t* HWY_RESTRICT rows, size_t count, float* HWY_RESTRICT values) {
  const Floats d;
  const Vector sign[] = {hn::Load(d, signs + I * hn::Lanes(d))...};
  HWY_ALIGN float sums[4];
  size_t i = 0;
  for (; i + 4 <= count; i += 4, rows += 4 * kChunks) {
    const Vector s0 = sum_units<kChunks>(vectors, sign, stride, tables, rows);
    const Vector s1 = sum_units<kChunks>(vectors, sign, stride, tables, rows + kChunks);
    const Vector s2 = sum_units<kChunks>(vectors, sign, stride, tables, rows + 2 * kChunks);
    const Vector s3 = sum_units<kChunks>(vectors, sign, stride, tables, rows + 3 * kChunks);
    sum_lanes(s0, s1, s2, s3, sums);
    values[i] = sums[0] + sum_parts<kChunks>(additive, rows);
    values[i + 1] = sums[1] + sum_parts<kChunks>(additive, rows + kChunks);
    values[i + 2] = sums[2] + sum_parts<kChunks>(additive, rows + 2 * kChunks);
    values[i + 3] = sums[3] + sum_parts<kChunks>(additive, rows + 3 * kChunks);
  }
  // The rest in the same way, for the same bits.
  for (; i < count; i++, rows += kChunks) {
    const Vector s = sum_units<kChunks>(vectors, sign, stride, tables, rows);
    sum_lanes(s, s, s, s, sums);
    values[i] = sums[0] + sum_parts<kChunks>(additive, rows);
  }
}

#endif

// Any number of units. chunks: 2, or 0 for any number of table rows.
template <size_t kChunks>
HWY_NOINLINE void play_rows(const float* HWY_RESTRICT signs, size_t units, size_t stride,
                            const float* HWY_RESTRICT tables, const float* HWY_RESTRICT additive,
                            const uint32_t* HWY_RESTRICT rows, size_t any_chunks, size_t count,
                            float* HWY_RESTRICT values) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  const size_t chunks = kChunks == 0 ? any_chunks : kChunks;
  const size_t end = (units + lanes - 1) / lanes * lanes;
  for (size_t i = 0; i < count; i++, rows += chunks) {
    const float* minus_low = tables + rows[0] * stride;
    const float* first = tables + rows[1] * stride;
    const auto bend = [&](size_t j) HWY_ATTR {
      Vector b = hn::Load(d, first + j);
      for (size_t c = 2; c < chunks; c++) b = hn::Add(b, hn::Load(d, tables + rows[c] * stride + j));
      return hn::Max(b, hn::Load(d, minus_low + j));
    };
    Vector s0 = hn::Zero(d), s1 = s0;
    size_t j = 0;
    for (; j + lanes < end; j += 2 * lanes) {
      s0 = hn::MulAdd(hn::Load(d, signs + j), bend(j), s0);
      s1 = hn::MulAdd(hn::Load(d, signs + j + lanes), bend(j + lanes), s1);
    }
    if (j < end) s0 = hn::MulAdd(hn::Load(d, signs + j), bend(j), s0);
    float part = additive[rows[0]];
    for (size_t c = 1; c < chunks; c++) part += additive[rows[c]];
    values[i] = part + hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
  }
}

void values_of_table_rows(const LeakyRow& row, const float* tables, const float* additive, const uint32_t* rows,
                          size_t chunks, size_t count, float* values) {
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
  const size_t vectors = (row.units + hn::Lanes(Floats()) - 1) / hn::Lanes(Floats());
  const auto play = [&]<size_t... I>(std::index_sequence<I...> sequence) {
    if (chunks == 2) {
      play_short<2>(sequence, row.signs, row.stride, tables, additive, rows, count, values);
    } else {
      play_short<3>(sequence, row.signs, row.stride, tables, additive, rows, count, values);
    }
  };
  if (chunks <= 3 && vectors > 0 && vectors <= kMostVectors) {
    switch (vectors) {
      case 1: return play(std::make_index_sequence<1>());
      case 2: return play(std::make_index_sequence<2>());
      case 3: return play(std::make_index_sequence<3>());
      case 4: return play(std::make_index_sequence<4>());
      case 5: return play(std::make_index_sequence<5>());
      default: return play(std::make_index_sequence<kMostVectors>());
    }
  }
#endif
  if (chunks == 2) {
    play_rows<2>(row.signs, row.units, row.stride, tables, additive, rows, chunks, count, values);
  } else {
    play_rows<0>(row.signs, row.units, row.stride, tables, additive, rows, chunks, count, values);
  }
}

void scale_and_bound(size_t players, size_t units, size_t wide, const double* scales, const double* base,
                     double* deltas, double* lowest, double* highest) {
  const Doubles d;
  const auto zero = hn::Zero(d);
  for (size_t j = 0; j < units; j += hn::Lanes(d)) {
    const auto scale = hn::LoadU(d, scales + j);
    auto low = hn::Load(d, base + j);
    auto high = low;
    double* delta = deltas + j;
    for (size_t p = 0; p < players; p++, delta += wide) {
      const auto scaled = hn::Mul(scale, hn::Load(d, delta));
      hn::Store(scaled, d, delta);
      low = hn::Add(low, hn::Min(scaled, zero));
      high = hn::Add(high, hn::Max(scaled, zero));
    }
    hn::Store(low, d, lowest + j);
    hn::Store(high, d, highest + j);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {

HWY_EXPORT(low_players_of_range);
HWY_EXPORT(values_of_range);
HWY_EXPORT(values_of_table_rows);
HWY_EXPORT(sum_subsets);
HWY_EXPORT(scale_and_bound);

}  // namespace

size_t low_players_of_range() { return HWY_DYNAMIC_DISPATCH(low_players_of_range)(); }

void values_of_range(const LeakyRow& row, uint64_t first, size_t count, VectorBuffer<float>& scratch, float* values) {
  HWY_DYNAMIC_DISPATCH(values_of_range)(row, first, count, scratch, values);
}

void values_of_table_rows(const LeakyRow& row, const float* tables, const float* additive, const uint32_t* rows,
                          size_t chunks, size_t count, float* values) {
  HWY_DYNAMIC_DISPATCH(values_of_table_rows)(row, tables, additive, rows, chunks, count, values);
}

void scale_and_bound(size_t players, size_t units, size_t wide, const double* scales, const double* base,
                     double* deltas, double* lowest, double* highest) {
  HWY_DYNAMIC_DISPATCH(scale_and_bound)(players, units, wide, scales, base, deltas, lowest, highest);
}

void sum_subsets(const double* numbers, size_t count, double start, float* sums) {
  HWY_DYNAMIC_DISPATCH(sum_subsets)(numbers, count, start, sums);
}

}  // namespace assay
#endif
