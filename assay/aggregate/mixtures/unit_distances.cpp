#include "assay/aggregate/mixtures/unit_distances.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/aggregate/mixtures/unit_distances.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Four vectors of at most eight numbers at a time: kUnitWidth.
using Wide = hn::CappedTag<double, 8>;
using Vector = hn::Vec<Wide>;

// The distance, from the square of the difference and both norms.
HWY_INLINE Vector unit_distance(Vector square, Vector norm_a, Vector norm_b) {
  const Wide d;
  const auto zero = hn::Zero(d);
  const auto apart = hn::Sub(norm_a, norm_b);
  const auto product = hn::Mul(norm_a, norm_b);
  const auto ratio = hn::Div(hn::NegMulAdd(apart, apart, square), product);
  const auto distance = hn::Sqrt(hn::Min(hn::Max(ratio, zero), hn::Set(d, 4.0)));
  const auto one_is_zero = hn::IfThenElseZero(hn::Gt(hn::Max(norm_a, norm_b), zero), hn::Set(d, 1.0));
  return hn::IfThenElse(hn::Gt(product, zero), distance, one_is_zero);
}

void add_unit_distances(const PairSpan& pairs, const UnitMixtures& mixtures, double* HWY_RESTRICT sums) {
  const Wide d;
  const size_t lanes = hn::Lanes(d);
  const size_t width = mixtures.width;
  for (size_t t = 0; t < width; t += 4 * lanes) {
    const double* HWY_RESTRICT norms = mixtures.row_norms + t;
    double* HWY_RESTRICT out = sums + t;
    auto sum0 = hn::LoadU(d, out);
    auto sum1 = hn::LoadU(d, out + lanes);
    auto sum2 = hn::LoadU(d, out + 2 * lanes);
    auto sum3 = hn::LoadU(d, out + 3 * lanes);
    for (size_t z = 0; z < pairs.count; z++) {
      const double* HWY_RESTRICT gram = pairs.grams + z * mixtures.packed;
      const double* HWY_RESTRICT by = mixtures.products + t;
      auto square0 = hn::Zero(d);
      auto square1 = hn::Zero(d);
      auto square2 = hn::Zero(d);
      auto square3 = hn::Zero(d);
      for (size_t k = 0; k < mixtures.packed; k++, by += width) {
        const auto entry = hn::Set(d, gram[k]);
        square0 = hn::MulAdd(entry, hn::LoadU(d, by), square0);
        square1 = hn::MulAdd(entry, hn::LoadU(d, by + lanes), square1);
        square2 = hn::MulAdd(entry, hn::LoadU(d, by + 2 * lanes), square2);
        square3 = hn::MulAdd(entry, hn::LoadU(d, by + 3 * lanes), square3);
      }
      const double* HWY_RESTRICT other = mixtures.pool_norms + pairs.others[z] * width + t;
      const auto factor = hn::Set(d, pairs.factors[z]);
      const auto apart = [&](Vector square, size_t at) HWY_ATTR {
        return hn::Mul(factor, unit_distance(square, hn::LoadU(d, norms + at), hn::LoadU(d, other + at)));
      };
      sum0 = hn::Add(sum0, apart(square0, 0));
      sum1 = hn::Add(sum1, apart(square1, lanes));
      sum2 = hn::Add(sum2, apart(square2, 2 * lanes));
      sum3 = hn::Add(sum3, apart(square3, 3 * lanes));
    }
    hn::StoreU(sum0, d, out);
    hn::StoreU(sum1, d, out + lanes);
    hn::StoreU(sum2, d, out + 2 * lanes);
    hn::StoreU(sum3, d, out + 3 * lanes);
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

void add_unit_distances(const PairSpan& pairs, const UnitMixtures& mixtures, double* sums) {
  HWY_DYNAMIC_DISPATCH(add_unit_distances)(pairs, mixtures, sums);
}

}  // namespace assay
#endif
