#include "assay/explain/games/tree_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/explain/games/tree_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void sum_over_subsets(uint64_t* table, size_t bits) {
  const hn::CappedTag<uint64_t, 8> d;
  const size_t lanes = hn::Lanes(d);
  const size_t size = size_t{1} << bits;
  size_t half = 1;
  for (; half < lanes && half < size; half *= 2) {
    for (size_t first = 0; first < size; first += 2 * half) {
      for (size_t i = first; i < first + half; i++) table[i + half] += table[i];
    }
  }
  // Two bits at a time, as long as there are two: half the traffic.
  for (; 2 * half < size; half *= 4) {
    for (size_t first = 0; first < size; first += 4 * half) {
      uint64_t* const t = table + first;
      for (size_t i = 0; i < half; i += lanes) {
        const auto t0 = hn::Load(d, t + i);
        const auto t1 = hn::Add(hn::Load(d, t + half + i), t0);
        const auto t2 = hn::Add(hn::Load(d, t + 2 * half + i), t0);
        const auto t3 = hn::Add(hn::Load(d, t + 3 * half + i), hn::Add(t1, hn::Sub(t2, t0)));
        hn::Store(t1, d, t + half + i);
        hn::Store(t2, d, t + 2 * half + i);
        hn::Store(t3, d, t + 3 * half + i);
      }
    }
  }
  for (; half < size; half *= 2) {
    for (size_t i = 0; i < half; i += lanes) {
      hn::Store(hn::Add(hn::Load(d, table + half + i), hn::Load(d, table + i)), d, table + half + i);
    }
  }
}

void write_indices(const uint64_t* has, size_t stride, std::span<const uint32_t> players, size_t count,
                   uint16_t* index) {
  const hn::CappedTag<uint16_t, 32> d;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < count; i += 64) {
    for (size_t part = 0; part < 64; part += lanes) {
      auto sum = hn::Zero(d);
      for (size_t j = 0; j < players.size(); j++) {
        const uint64_t bits = has[players[j] * stride + i / 64] >> part;
        const auto present = hn::LoadMaskBits(d, reinterpret_cast<const uint8_t*>(&bits));
        sum = hn::Or(sum, hn::IfThenElseZero(present, hn::Set(d, static_cast<uint16_t>(1U << j))));
      }
      hn::StoreU(sum, d, index + i + part);
    }
  }
}

void add_entries(const uint64_t* table, const uint16_t* index, size_t count, uint64_t* sums) {
  for (size_t i = 0; i < count; i++) sums[i] += table[index[i]];
}

void write_scores(const uint64_t* sums, size_t count, double quantum, double divisor, double base, float* scores,
                  size_t stride) {
  const hn::CappedTag<double, 8> d;
  const hn::RebindToSigned<decltype(d)> whole;
  const hn::Rebind<float, decltype(d)> narrow;
  const size_t lanes = hn::Lanes(d);
  const auto unit = hn::Set(d, quantum);
  const auto parts = hn::Set(d, divisor);
  const auto constant = hn::Set(d, base);
  size_t i = 0;
  for (; stride == 1 && i + lanes <= count; i += lanes) {
    const auto sum = hn::ConvertTo(d, hn::LoadU(whole, reinterpret_cast<const int64_t*>(sums + i)));
    hn::StoreU(hn::DemoteTo(narrow, hn::Add(hn::Div(hn::Mul(sum, unit), parts), constant)), narrow, scores + i);
  }
  for (; i < count; i++) {
    const auto sum = static_cast<double>(static_cast<int64_t>(sums[i]));
    scores[i * stride] = static_cast<float>(sum * quantum / divisor + base);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {

HWY_EXPORT(sum_over_subsets);
HWY_EXPORT(write_indices);
HWY_EXPORT(add_entries);
HWY_EXPORT(write_scores);

}  // namespace

void sum_over_subsets(uint64_t* table, size_t bits) { HWY_DYNAMIC_DISPATCH(sum_over_subsets)(table, bits); }

void transpose_bits(const uint64_t* rows, uint64_t* columns, size_t stride) {
  uint64_t block[64];
  for (size_t i = 0; i < 64; i++) block[i] = rows[i];
  // Swaps the off-diagonal quarters of squares of 64, then 32, ... then 2 bits.
  uint64_t low = 0xFFFFFFFF;
  for (size_t half = 32; half > 0; half /= 2, low ^= low << half) {
    for (size_t i = 0; i < 64; i = (i + half + 1) & ~half) {
      const uint64_t swapped = (block[i] >> half ^ block[i + half]) & low;
      block[i] ^= swapped << half;
      block[i + half] ^= swapped;
    }
  }
  for (size_t i = 0; i < 64; i++) columns[i * stride] = block[i];
}

void write_indices(const uint64_t* has, size_t stride, std::span<const uint32_t> players, size_t count,
                   uint16_t* index) {
  HWY_DYNAMIC_DISPATCH(write_indices)(has, stride, players, count, index);
}

void add_entries(const uint64_t* table, const uint16_t* index, size_t count, uint64_t* sums) {
  HWY_DYNAMIC_DISPATCH(add_entries)(table, index, count, sums);
}

void write_scores(const uint64_t* sums, size_t count, double quantum, double divisor, double base, float* scores,
                  size_t stride) {
  HWY_DYNAMIC_DISPATCH(write_scores)(sums, count, quantum, divisor, base, scores, stride);
}

}  // namespace assay
#endif
