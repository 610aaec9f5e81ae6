#include "assay/explain/trees/row_kernels.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/explain/trees/row_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Numbers = hn::CappedTag<float, kTableWidth>;
using Wide = hn::CappedTag<double, 8>;

// Trees whose table rows are on their way from far memory while others are decided.
constexpr size_t kRowTreesAhead = 8;

#if HWY_TARGET == HWY_SCALAR

// Without vectors.
void decide_branches(const RowPlan& plan, const uint16_t* ranks, size_t /*columns*/, uint16_t* decided) {
  for (size_t at = 0; at < plan.columns.size(); at += kWordBranches) {
    uint16_t outside = 0;
    for (size_t i = 0; i < kWordBranches; i++) {
      const auto place = static_cast<uint16_t>(ranks[plan.columns[at + i]] - plan.lowest[at + i]);
      if (place > plan.width[at + i]) outside = static_cast<uint16_t>(outside | 1U << i);
    }
    decided[at / kWordBranches] = outside ^ plan.within[at / kWordBranches];
  }
}

void find_rows(const RowBlock& block, const RowTest* tests, const uint16_t* lanes, const uint16_t* decided,
               const uint32_t* first_rows, uint32_t* rows) {
  for (size_t i = 0; i < kBlockUnits; i++) {
    const uint16_t* own = lanes + i;
    uint16_t pattern = *own;
    own += kBlockUnits;
    for (size_t t = 0; t < block.tests; t++) {
      if ((decided[block.first_word + tests[t].word] & own[0]) != own[kBlockUnits]) pattern &= tests[t].keep;
      own += 2 * kBlockUnits;
    }
    for (size_t j = 0; j < block.planes; j++) {
      const size_t byte = block.first_plane + j;
      if ((decided[byte / 2] >> (byte % 2 * 8 + i) & 1) != 0) pattern |= *own;
      own += kBlockUnits;
    }
    rows[i] = first_rows[i] + pattern;
  }
}

#else

// 128 bits on every target: bytes that are looked up and interleaved stay in order.
using Bytes = hn::CappedTag<uint8_t, kWordBranches>;
using Words = hn::CappedTag<uint16_t, kBlockUnits>;

template <bool kOneTable>
void decide_by(const RowPlan& plan, const uint16_t* ranks, size_t columns, uint16_t* decided) {
  const Bytes bytes;
  const Words words;
  HWY_ALIGN uint8_t low[kMostRowColumns] = {};
  HWY_ALIGN uint8_t high[kMostRowColumns] = {};
  for (size_t c = 0; c < columns; c++) {
    low[c] = static_cast<uint8_t>(ranks[c]);
    high[c] = static_cast<uint8_t>(ranks[c] >> 8);
  }
  const auto low_table = hn::Load(bytes, low);
  const auto high_table = hn::Load(bytes, high);
  const auto nibble = hn::Set(bytes, uint8_t{15});
  const auto outside = [&](auto values, size_t at) HWY_ATTR {
    const auto place = hn::Sub(values, hn::LoadU(words, plan.lowest + at));
    return hn::BitCast(bytes, hn::VecFromMask(words, hn::Gt(place, hn::LoadU(words, plan.width + at))));
  };
  for (size_t at = 0; at < plan.columns.size(); at += kWordBranches) {
    const auto column = hn::LoadU(bytes, plan.columns.data() + at);
    auto low_bytes = hn::Zero(bytes);
    auto high_bytes = low_bytes;
    if constexpr (kOneTable) {
      low_bytes = hn::TableLookupBytes(low_table, column);
      high_bytes = hn::TableLookupBytes(high_table, column);
    } else {
      const auto place = hn::And(column, nibble);
      const auto part = hn::AndNot(nibble, column);
      for (size_t begin = 0; begin < columns; begin += kWordBranches) {
        const auto here = hn::Eq(part, hn::Set(bytes, static_cast<uint8_t>(begin)));
        low_bytes =
            hn::Or(low_bytes, hn::IfThenElseZero(here, hn::TableLookupBytes(hn::Load(bytes, low + begin), place)));
        high_bytes =
            hn::Or(high_bytes, hn::IfThenElseZero(here, hn::TableLookupBytes(hn::Load(bytes, high + begin), place)));
      }
    }
    const auto first = outside(hn::BitCast(words, hn::InterleaveLower(bytes, low_bytes, high_bytes)), at);
    const auto last =
        outside(hn::BitCast(words, hn::InterleaveUpper(bytes, low_bytes, high_bytes)), at + kWordBranches / 2);
    uint8_t found[8];
    hn::StoreMaskBits(bytes, hn::MaskFromVec(hn::ConcatEven(bytes, last, first)), found);
    const auto bits = static_cast<uint16_t>(found[0] | found[1] << 8);
    const size_t word = at / kWordBranches;
    decided[word] = bits ^ plan.within[word];
  }
}

void decide_branches(const RowPlan& plan, const uint16_t* ranks, size_t columns, uint16_t* decided) {
  if (columns <= kWordBranches) {
    decide_by<true>(plan, ranks, columns, decided);
  } else {
    decide_by<false>(plan, ranks, columns, decided);
  }
}

HWY_ATTR void find_rows(const RowBlock& block, const RowTest* tests, const uint16_t* lanes, const uint16_t* decided,
                        const uint32_t* first_rows, uint32_t* rows) {
  const Words d;
  constexpr size_t kStep = kBlockUnits;
  auto patterns = hn::LoadU(d, lanes);
  lanes += kStep;
  const uint16_t* own = decided + block.first_word;
  for (size_t t = 0; t < block.tests; t++) {
    const auto masked = hn::And(hn::Set(d, own[tests[t].word]), hn::LoadU(d, lanes));
    const auto holds = hn::VecFromMask(d, hn::Eq(masked, hn::LoadU(d, lanes + kStep)));
    patterns = hn::And(patterns, hn::Or(holds, hn::Set(d, tests[t].keep)));
    lanes += 2 * kStep;
  }
  HWY_ALIGN static constexpr uint16_t kBits[kStep] = {1, 2, 4, 8, 16, 32, 64, 128};
  const auto bit_of_lane = hn::Load(d, kBits);
  for (size_t j = 0; j < block.planes; j++) {
    const size_t byte = block.first_plane + j;
    const auto plane = hn::Set(d, static_cast<uint16_t>(decided[byte / 2] >> (byte % 2 * 8)));
    const auto set = hn::VecFromMask(d, hn::TestBit(plane, bit_of_lane));
    patterns = hn::Or(patterns, hn::And(set, hn::LoadU(d, lanes)));
    lanes += kStep;
  }
  HWY_ALIGN uint16_t found[kStep];
  hn::Store(patterns, d, found);
  for (size_t i = 0; i < kStep; i++) rows[i] = first_rows[i] + found[i];
}

#endif

void add_row(const RowPlan& plan, const float* tables, const uint16_t* decided, size_t stride, uint32_t* rows,
             double* totals) {
  const Numbers d;
  const Wide wide;
  const hn::Rebind<float, Wide> narrow;
  HWY_ALIGN float sums[kTableWidth];
  const RowTest* tests = plan.tests;
  const uint16_t* lanes = plan.lanes;
  size_t block = 0;
  size_t group = 0;
  for (size_t tree = 0; tree < plan.trees.size() + kRowTreesAhead; tree++) {
    const size_t end_block = tree < plan.trees.size() ? plan.trees[tree].end_block : block;
    for (; block < end_block; block++) {
      const RowBlock& own = plan.blocks[block];
      uint32_t* to = rows + block * kBlockUnits;
      find_rows(own, tests, lanes, decided, plan.first_rows + block * kBlockUnits, to);
      tests += own.tests;
      lanes += (1 + 2 * size_t{own.tests} + own.planes) * kBlockUnits;
      for (size_t i = 0; i < kBlockUnits; i++) hwy::Prefetch(tables + size_t{to[i]} * kTableWidth);
    }
    if (tree < kRowTreesAhead) continue;
    for (const size_t end = plan.trees[tree - kRowTreesAhead].end_group; group < end; group++) {
      const RowGroup& own = plan.groups[group];
      for (size_t j = 0; j < kTableWidth; j += hn::Lanes(d)) {
        auto sum = hn::Zero(d);
        for (size_t u = own.first_unit; u < own.end_unit; u++) {
          sum = hn::Add(sum, hn::Load(d, tables + size_t{rows[u]} * kTableWidth + j));
        }
        hn::Store(sum, d, sums + j);
      }
      if (stride == kTableWidth) {
        for (size_t j = 0; j < kTableWidth; j += hn::Lanes(wide)) {
          const auto sum = hn::PromoteTo(wide, hn::Load(narrow, sums + j));
          hn::StoreU(hn::Add(hn::LoadU(wide, totals + j), sum), wide, totals + j);
        }
      } else {
        for (size_t j = 0; j < own.width; j++) totals[own.players[j]] += static_cast<double>(sums[j]);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {

HWY_EXPORT(decide_branches);
HWY_EXPORT(add_row);

}  // namespace

void decide_branches(const RowPlan& plan, const uint16_t* ranks, size_t columns, uint16_t* decided) {
  HWY_DYNAMIC_DISPATCH(decide_branches)(plan, ranks, columns, decided);
}

void add_row(const RowPlan& plan, const float* tables, const uint16_t* decided, size_t stride, uint32_t* rows,
             double* totals) {
  HWY_DYNAMIC_DISPATCH(add_row)(plan, tables, decided, stride, rows, totals);
}

}  // namespace assay
#endif
