#include "assay/explain/trees/table_kernels.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/explain/trees/table_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Ranks = hn::CappedTag<uint16_t, 32>;
using FewRanks = hn::CappedTag<uint16_t, 8>;  // for few rows: short vectors are written faster
using Floats = hn::CappedTag<float, kTableWidth>;
using Doubles = hn::CappedTag<double, 8>;

template <class D>
void flow_by(D d, std::span<const PatternSplit> splits, std::span<const PatternBit> bits, const uint16_t* ranks,
             size_t columns, const uint16_t* decided, size_t rows, uint16_t* patterns) {
  const size_t lanes = hn::Lanes(d);
  const auto values_of = [&](const RankTest& test) HWY_ATTR {
    return test.column < columns ? ranks + test.column * kRankRows : decided + (test.column - columns) * kRankRows;
  };
  // All bits where row i goes to the true child.
  const auto goes_true = [=](const RankTest& test, const uint16_t* values, size_t i) HWY_ATTR {
    const auto place = hn::Sub(hn::Load(d, values + i), hn::Set(d, test.lowest));
    const auto outside = hn::VecFromMask(d, hn::Gt(place, hn::Set(d, test.width)));
    return hn::Xor(outside, hn::Set(d, static_cast<uint16_t>(~test.flip)));
  };
  for (size_t i = 0; i < rows; i += lanes) hn::Store(hn::Zero(d), d, patterns + i);
  for (const PatternSplit& split : splits) {
    const uint16_t* values = values_of(split.test);
    const uint16_t* from = patterns + split.from * kRankRows;
    uint16_t* to_true = patterns + split.to_true * kRankRows;
    uint16_t* to_false = patterns + split.to_false * kRankRows;
    const auto new_bit = hn::Set(d, split.new_bit);
    const auto keep = hn::Set(d, split.keep);
    for (size_t i = 0; i < rows; i += lanes) {
      const auto yes = goes_true(split.test, values, i);
      const auto pattern = hn::Load(d, from + i);
      hn::Store(hn::And(hn::Or(pattern, hn::And(yes, new_bit)), hn::Or(yes, keep)), d, to_true + i);
      hn::Store(hn::And(hn::Or(pattern, hn::AndNot(yes, new_bit)), hn::Or(hn::Not(yes), keep)), d, to_false + i);
    }
  }
  for (const PatternBit& bit : bits) {
    const uint16_t* values = values_of(bit.test);
    uint16_t* at = patterns + bit.at * kRankRows;
    const auto mask = hn::Set(d, bit.bit);
    for (size_t i = 0; i < rows; i += lanes) {
      const auto yes = goes_true(bit.test, values, i);
      hn::Store(hn::Or(hn::Load(d, at + i), hn::And(yes, mask)), d, at + i);
    }
  }
}

void flow_patterns(std::span<const PatternSplit> splits, std::span<const PatternBit> bits, const uint16_t* ranks,
                   size_t columns, const uint16_t* decided, size_t rows, uint16_t* patterns) {
  // NOLINTNEXTLINE(bugprone-branch-clone): the same only on targets whose vectors are short
  if (rows <= hn::Lanes(FewRanks())) {
    flow_by(FewRanks(), splits, bits, ranks, columns, decided, rows, patterns);
  } else {
    flow_by(Ranks(), splits, bits, ranks, columns, decided, rows, patterns);
  }
}

void sum_units(std::span<const TableUnit> units, const float* tables, const uint16_t* patterns, size_t rows,
               float* sums) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  if (rows == 1) {
    for (size_t j = 0; j < kTableWidth; j += lanes) {
      auto sum = hn::Zero(d);
      for (const TableUnit& unit : units) {
        const size_t row = size_t{unit.first_row} + patterns[unit.pattern * kRankRows];
        sum = hn::Add(sum, hn::Load(d, tables + row * kTableWidth + j));
      }
      hn::Store(sum, d, sums + j);
    }
    return;
  }
  // Four rows at a time, so that additions need not wait for each other.
  for (size_t i = 0; i < rows; i += 4) {
    for (size_t j = 0; j < kTableWidth; j += lanes) {
      auto sum0 = hn::Zero(d);
      auto sum1 = sum0;
      auto sum2 = sum0;
      auto sum3 = sum0;
      for (const TableUnit& unit : units) {
        const uint16_t* at = patterns + unit.pattern * kRankRows + i;
        const float* table = tables + size_t{unit.first_row} * kTableWidth + j;
        sum0 = hn::Add(sum0, hn::Load(d, table + at[0] * kTableWidth));
        sum1 = hn::Add(sum1, hn::Load(d, table + at[1] * kTableWidth));
        sum2 = hn::Add(sum2, hn::Load(d, table + at[2] * kTableWidth));
        sum3 = hn::Add(sum3, hn::Load(d, table + at[3] * kTableWidth));
      }
      hn::Store(sum0, d, sums + (i + 0) * kTableWidth + j);
      hn::Store(sum1, d, sums + (i + 1) * kTableWidth + j);
      hn::Store(sum2, d, sums + (i + 2) * kTableWidth + j);
      hn::Store(sum3, d, sums + (i + 3) * kTableWidth + j);
    }
  }
}

void add_sums(const float* sums, size_t count, double* totals) {
  const Doubles d;
  const hn::Rebind<float, Doubles> narrow;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto sum = hn::PromoteTo(d, hn::LoadU(narrow, sums + i));
    hn::StoreU(hn::Add(hn::LoadU(d, totals + i), sum), d, totals + i);
  }
  for (; i < count; i++) totals[i] += static_cast<double>(sums[i]);
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {

HWY_EXPORT(flow_patterns);
HWY_EXPORT(sum_units);
HWY_EXPORT(add_sums);

}  // namespace

void flow_patterns(std::span<const PatternSplit> splits, std::span<const PatternBit> bits, const uint16_t* ranks,
                   size_t columns, const uint16_t* decided, size_t rows, uint16_t* patterns) {
  HWY_DYNAMIC_DISPATCH(flow_patterns)(splits, bits, ranks, columns, decided, rows, patterns);
}

void fetch_tables(const float* tables, size_t rows) {
  for (size_t i = 0; i < rows; i++) hwy::Prefetch(tables + i * kTableWidth);
}

void fetch_rows(std::span<const TableUnit> units, const float* tables, const uint16_t* patterns, size_t rows) {
  for (const TableUnit& unit : units) {
    const uint16_t* at = patterns + unit.pattern * kRankRows;
    for (size_t i = 0; i < rows; i++) hwy::Prefetch(tables + (size_t{unit.first_row} + at[i]) * kTableWidth);
  }
}

void sum_units(std::span<const TableUnit> units, const float* tables, const uint16_t* patterns, size_t rows,
               float* sums) {
  HWY_DYNAMIC_DISPATCH(sum_units)(units, tables, patterns, rows, sums);
}

void add_sums(const float* sums, size_t count, double* totals) { HWY_DYNAMIC_DISPATCH(add_sums)(sums, count, totals); }

}  // namespace assay
#endif
