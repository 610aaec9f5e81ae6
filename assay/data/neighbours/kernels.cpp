#include "assay/data/neighbours/kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/data/neighbours/space.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/data/neighbours/kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// At most 8 lanes: four accumulators then cover a block on AVX2 and AVX-512 alike, and 256-bit vectors keep three ports
// of a CPU with AVX-512 busy.
using Floats = hn::CappedTag<float, 8>;
using Doubles = hn::CappedTag<double, 4>;
using FloatVector = hn::Vec<Floats>;
using DoubleVector = hn::Vec<Doubles>;

// Coordinates between two looks at whether any row is still under the ceiling.
constexpr size_t kStride = 16;

template <Norm norm, class D, class V = hn::Vec<D>>
HWY_INLINE V accumulate(D, V total, V difference) {
  if constexpr (norm == Norm::linf) return hn::Max(total, difference);
  if constexpr (norm == Norm::l1) return hn::Add(total, difference);
  if constexpr (norm == Norm::l2) return hn::Add(total, hn::Mul(difference, difference));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V one_if_different(D d, V a, V b) {
  return hn::IfThenElseZero(hn::Ne(a, b), hn::Set(d, 1));
}

template <bool missing, class D, class V = hn::Vec<D>>
HWY_INLINE V number_difference(D d, V a, V b) {
  const V difference = hn::Abs(hn::Sub(a, b));
  if constexpr (!missing) return difference;
  return hn::IfThenElse(hn::Ge(difference, hn::Set(d, kMissingGap)), hn::Set(d, 1), difference);
}

HWY_INLINE uint32_t bits_of(hn::Mask<Floats> mask) {
  uint8_t bytes[8] = {};
  hn::StoreMaskBits(Floats(), mask, bytes);
  return bytes[0];
}

// The masks of a block; without `decide` only `under` is filled.
template <Norm norm, bool missing, bool decide>
HWY_INLINE BlockEstimate estimate_of(const BlockLayout& layout, const float* HWY_RESTRICT block,
                                     const float* HWY_RESTRICT query, const BlockLimits& limits) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  const size_t end = layout.coordinates();
  // Under l-infinity a mismatch decides alone: it kills the row or says nothing.
  const FloatVector mismatch_value = hn::Set(d, norm == Norm::linf ? std::numeric_limits<float>::infinity() : 1.0f);
  const FloatVector top = hn::Set(d, limits.ceiling);
  BlockEstimate found;
  for (size_t lane = 0; lane < kBlockRows; lane += 4 * lanes) {
    const float* HWY_RESTRICT x = block + lane;
    FloatVector s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    const auto all_above = [&]() HWY_ATTR {
      const FloatVector lowest = hn::Min(hn::Min(s0, s1), hn::Min(s2, s3));
      return hn::AllFalse(d, hn::Le(lowest, top));
    };
    if (limits.mismatches_count) {
      for (size_t c = 0; c < layout.mismatches; ++c) {
        const FloatVector q = hn::Set(d, query[c]);
        const float* HWY_RESTRICT at = x + c * kBlockRows;
        s0 = hn::Add(s0, hn::IfThenElseZero(hn::Ne(hn::Load(d, at), q), mismatch_value));
        s1 = hn::Add(s1, hn::IfThenElseZero(hn::Ne(hn::Load(d, at + lanes), q), mismatch_value));
        s2 = hn::Add(s2, hn::IfThenElseZero(hn::Ne(hn::Load(d, at + 2 * lanes), q), mismatch_value));
        s3 = hn::Add(s3, hn::IfThenElseZero(hn::Ne(hn::Load(d, at + 3 * lanes), q), mismatch_value));
      }
      if (layout.mismatches > 0 && all_above()) continue;
    }
    bool dropped = false;
    for (size_t c = layout.mismatches; c < end && !dropped;) {
      const size_t stop = std::min(end, c + kStride);
      for (; c < stop; ++c) {
        const FloatVector q = hn::Set(d, query[c]);
        const float* HWY_RESTRICT at = x + c * kBlockRows;
        s0 = accumulate<norm>(d, s0, number_difference<missing>(d, hn::Load(d, at), q));
        s1 = accumulate<norm>(d, s1, number_difference<missing>(d, hn::Load(d, at + lanes), q));
        s2 = accumulate<norm>(d, s2, number_difference<missing>(d, hn::Load(d, at + 2 * lanes), q));
        s3 = accumulate<norm>(d, s3, number_difference<missing>(d, hn::Load(d, at + 3 * lanes), q));
      }
      dropped = all_above();
    }
    if (dropped) continue;
    const auto at_most = [&](FloatVector limit) HWY_ATTR {
      const uint32_t bits = bits_of(hn::Le(s0, limit)) | bits_of(hn::Le(s1, limit)) << lanes |
                            bits_of(hn::Le(s2, limit)) << (2 * lanes) | bits_of(hn::Le(s3, limit)) << (3 * lanes);
      return bits << lane;
    };
    found.under |= at_most(top);
    if constexpr (decide) {
      found.surely |= at_most(hn::Set(d, limits.floor));
      found.zero |= at_most(hn::Zero(d));
    }
  }
  return found;
}

template <Norm norm, bool missing>
uint32_t boxes_under_of(const BlockLayout& layout, const float* HWY_RESTRICT boxes, const BlockQuery& asked,
                        float ceiling, float* HWY_RESTRICT estimates) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  const float* HWY_RESTRICT query = asked.values;
  const FloatVector one = hn::Set(d, 1);
  const FloatVector other_level = hn::Set(d, asked.mismatch);
  const FloatVector zero = hn::Zero(d);
  uint32_t under = 0;
  for (size_t lane = 0; lane < kBlockRows; lane += lanes) {
    FloatVector mismatch = zero;
    FloatVector total = zero;
    const auto gap = [&](size_t c) HWY_ATTR {
      const FloatVector q = hn::Set(d, query[c]);
      const FloatVector below = hn::Sub(hn::Load(d, boxes + 2 * c * kBlockRows + lane), q);
      const FloatVector above = hn::Sub(q, hn::Load(d, boxes + (2 * c + 1) * kBlockRows + lane));
      return hn::Max(hn::Max(below, above), zero);
    };
    size_t c = 0;
    for (; c < layout.mismatches; ++c) {
      mismatch = accumulate<norm>(d, mismatch, hn::IfThenElseZero(hn::Ne(gap(c), zero), other_level));
    }
    for (; c < layout.coordinates(); ++c) {
      FloatVector difference = gap(c);  // NOLINT(misc-const-correctness): changed where values may be missing
      if constexpr (missing) {
        // A box that holds a missing value holds a row no further than 1, however far its numbers are.
        const FloatVector highest = hn::Load(d, boxes + (2 * c + 1) * kBlockRows + lane);
        const auto at_most_one =
            hn::Or(hn::Ge(difference, hn::Set(d, kMissingGap)), hn::Eq(highest, hn::Set(d, kMissingCoordinate)));
        difference = hn::IfThenElse(at_most_one, hn::Min(difference, one), difference);
      }
      total = accumulate<norm>(d, total, difference);
    }
    total = norm == Norm::linf ? hn::Max(total, mismatch) : hn::Add(total, mismatch);
    hn::StoreU(total, d, estimates + lane);
    under |= bits_of(hn::Le(total, hn::Set(d, ceiling))) << lane;
  }
  return under;
}

// 1 for each row of the block that differs from the query in a coordinate that only matches or not, else 0.
HWY_INLINE void any_mismatch(const BlockLayout& layout, const float* HWY_RESTRICT block,
                             const float* HWY_RESTRICT query, float* HWY_RESTRICT mismatch) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  for (size_t lane = 0; lane < kBlockRows; lane += 4 * lanes) {
    const float* HWY_RESTRICT at = block + lane;
    FloatVector s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    for (size_t c = 0; c < layout.mismatches; ++c, at += kBlockRows) {
      const FloatVector q = hn::Set(d, query[c]);
      s0 = hn::Max(s0, one_if_different(d, hn::Load(d, at), q));
      s1 = hn::Max(s1, one_if_different(d, hn::Load(d, at + lanes), q));
      s2 = hn::Max(s2, one_if_different(d, hn::Load(d, at + 2 * lanes), q));
      s3 = hn::Max(s3, one_if_different(d, hn::Load(d, at + 3 * lanes), q));
    }
    hn::Store(s0, d, mismatch + lane);
    hn::Store(s1, d, mismatch + lane + lanes);
    hn::Store(s2, d, mismatch + lane + 2 * lanes);
    hn::Store(s3, d, mismatch + lane + 3 * lanes);
  }
}

// x / deviation, rounded as division rounds it. Where multiply-adds are one instruction, two corrections of the product
// with the reciprocal take a third of a division's time: the first comes within one unit of the last place, and a
// correction of such a quotient by a correctly rounded reciprocal is correctly rounded (Markstein 1990). Cells
// and deviations are float32 numbers or nearly so: nothing here leaves the range of float64.
HWY_INLINE DoubleVector quotient(DoubleVector x, DoubleVector deviation, DoubleVector inverse) {
#if HWY_NATIVE_FMA
  DoubleVector q = hn::Mul(x, inverse);
  q = hn::MulAdd(hn::NegMulAdd(q, deviation, x), inverse, q);
  return hn::MulAdd(hn::NegMulAdd(q, deviation, x), inverse, q);
#else
  (void)inverse;
  return hn::Div(x, deviation);
#endif
}

template <Norm norm, bool missing, bool scaled>
void exact_distances_of(const BlockLayout& layout, const BlockRows& rows, const BlockQuery& query,
                        double* HWY_RESTRICT distances) {
  const Doubles d;
  const hn::Rebind<float, Doubles> narrow;
  const size_t lanes = hn::Lanes(d);
  const auto wide = [&](const float* at) HWY_ATTR { return hn::PromoteTo(d, hn::Load(narrow, at)); };
  const float* HWY_RESTRICT block = rows.values;
  alignas(64) float mismatch[kBlockRows];
  if constexpr (norm == Norm::linf) any_mismatch(layout, block, query.values, mismatch);
  for (size_t lane = 0; lane < kBlockRows; lane += 4 * lanes) {
    DoubleVector s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    const auto add_number = [&](size_t c) HWY_ATTR {
      const size_t i = c - layout.mismatches;
      const DoubleVector q = hn::Set(d, static_cast<double>(query.cells[i]));
      const DoubleVector deviation = hn::Set(d, scaled ? layout.deviation[i] : 1.0);
      const DoubleVector inverse = hn::Set(d, scaled ? layout.inverse[i] : 1.0);
      const auto apart = [&](const float* at) HWY_ATTR {
        const DoubleVector difference = hn::Abs(hn::Sub(wide(at), q));
        const DoubleVector units = scaled ? quotient(difference, deviation, inverse) : difference;
        if constexpr (!missing) return units;
        return hn::IfThenElse(hn::Ge(difference, hn::Set(d, static_cast<double>(kMissingGap))), hn::Set(d, 1.0), units);
      };
      const float* HWY_RESTRICT at = rows.cells + i * kBlockRows + lane;
      s0 = accumulate<norm>(d, s0, apart(at));
      s1 = accumulate<norm>(d, s1, apart(at + lanes));
      s2 = accumulate<norm>(d, s2, apart(at + 2 * lanes));
      s3 = accumulate<norm>(d, s3, apart(at + 3 * lanes));
    };
    if constexpr (norm == Norm::linf) {
      // A maximum has no order: all mismatches at once, then the numbers as they lie.
      s0 = wide(mismatch + lane);
      s1 = wide(mismatch + lane + lanes);
      s2 = wide(mismatch + lane + 2 * lanes);
      s3 = wide(mismatch + lane + 3 * lanes);
      for (size_t c = layout.mismatches; c < layout.coordinates(); ++c) add_number(c);
    } else {
      for (const uint32_t c : layout.position) {
        if (c >= layout.mismatches) {
          add_number(c);
          continue;
        }
        const DoubleVector q = hn::Set(d, static_cast<double>(query.values[c]));
        const float* HWY_RESTRICT at = block + c * kBlockRows + lane;
        s0 = accumulate<norm>(d, s0, one_if_different(d, wide(at), q));
        s1 = accumulate<norm>(d, s1, one_if_different(d, wide(at + lanes), q));
        s2 = accumulate<norm>(d, s2, one_if_different(d, wide(at + 2 * lanes), q));
        s3 = accumulate<norm>(d, s3, one_if_different(d, wide(at + 3 * lanes), q));
      }
    }
    const auto store = [&](DoubleVector s, size_t at)
                           HWY_ATTR { hn::StoreU(norm == Norm::l2 ? hn::Sqrt(s) : s, d, distances + lane + at); };
    store(s0, 0);
    store(s1, lanes);
    store(s2, 2 * lanes);
    store(s3, 3 * lanes);
  }
}

template <class Run>
HWY_INLINE auto by_norm(Norm norm, const Run& run) {
  switch (norm) {
    case Norm::linf: return run.template operator()<Norm::linf>();
    case Norm::l1: return run.template operator()<Norm::l1>();
    case Norm::l2: break;
  }
  return run.template operator()<Norm::l2>();
}

uint32_t rows_under(const BlockLayout& layout, const BlockRows& rows, const BlockQuery& query,
                    const BlockLimits& limits) {
  return by_norm(layout.norm, [&]<Norm norm>() HWY_ATTR {
    return query.missing ? estimate_of<norm, true, false>(layout, rows.values, query.values, limits).under
                         : estimate_of<norm, false, false>(layout, rows.values, query.values, limits).under;
  });
}

BlockEstimate estimate_rows(const BlockLayout& layout, const BlockRows& rows, const BlockQuery& query,
                            const BlockLimits& limits) {
  return by_norm(layout.norm, [&]<Norm norm>() HWY_ATTR {
    return query.missing ? estimate_of<norm, true, true>(layout, rows.values, query.values, limits)
                         : estimate_of<norm, false, true>(layout, rows.values, query.values, limits);
  });
}

uint32_t boxes_under(const BlockLayout& layout, const float* boxes, const BlockQuery& query, float ceiling,
                     float* estimates) {
  return by_norm(layout.norm, [&]<Norm norm>() HWY_ATTR {
    return query.missing ? boxes_under_of<norm, true>(layout, boxes, query, ceiling, estimates)
                         : boxes_under_of<norm, false>(layout, boxes, query, ceiling, estimates);
  });
}

void exact_distances(const BlockLayout& layout, const BlockRows& rows, const BlockQuery& query, double* distances) {
  by_norm(layout.norm, [&]<Norm norm>() HWY_ATTR {
    if (layout.scaled()) {
      query.missing ? exact_distances_of<norm, true, true>(layout, rows, query, distances)
                    : exact_distances_of<norm, false, true>(layout, rows, query, distances);
    } else {
      query.missing ? exact_distances_of<norm, true, false>(layout, rows, query, distances)
                    : exact_distances_of<norm, false, false>(layout, rows, query, distances);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {

HWY_EXPORT(rows_under);
HWY_EXPORT(estimate_rows);
HWY_EXPORT(boxes_under);
HWY_EXPORT(exact_distances);

}  // namespace

BlockEstimate estimate_rows(const BlockLayout& layout, const BlockRows& rows, const BlockQuery& query,
                            const BlockLimits& limits) {
  return HWY_DYNAMIC_DISPATCH(estimate_rows)(layout, rows, query, limits);
}

uint32_t rows_under(const BlockLayout& layout, const BlockRows& rows, const BlockQuery& query,
                    const BlockLimits& limits) {
  return HWY_DYNAMIC_DISPATCH(rows_under)(layout, rows, query, limits);
}

uint32_t boxes_under(const BlockLayout& layout, const float* boxes, const BlockQuery& query, float ceiling,
                     float* estimates) {
  return HWY_DYNAMIC_DISPATCH(boxes_under)(layout, boxes, query, ceiling, estimates);
}

void exact_distances(const BlockLayout& layout, const BlockRows& rows, const BlockQuery& query, double* distances) {
  HWY_DYNAMIC_DISPATCH(exact_distances)(layout, rows, query, distances);
}

double exact_distance(const BlockLayout& layout, const BlockRows& rows, size_t row, const BlockQuery& query) {
  double total = 0;
  for (const uint32_t c : layout.position) {
    double difference = 0;
    if (c < layout.mismatches) {
      difference = rows.values[c * kBlockRows + row] != query.values[c] ? 1 : 0;
    } else {
      const size_t i = c - layout.mismatches;
      difference = std::abs(static_cast<double>(rows.cells[i * kBlockRows + row]) - query.cells[i]);
      if (difference >= kMissingGap) {
        difference = 1;
      } else if (layout.scaled()) {
        difference /= layout.deviation[i];
      }
    }
    switch (layout.norm) {
      case Norm::linf: total = std::max(total, difference); break;
      case Norm::l1: total += difference; break;
      case Norm::l2: total += difference * difference; break;
    }
  }
  return layout.norm == Norm::l2 ? std::sqrt(total) : total;
}

}  // namespace assay
#endif
