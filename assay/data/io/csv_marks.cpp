#include "assay/data/io/csv_marks.h"

#include <algorithm>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/data/io/csv_marks.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// One bit for each of 64 bytes, the lowest for the first.
struct BlockBits {
  uint64_t marks;
  uint64_t odd;  // NUL, or not ASCII
};

#if HWY_TARGET != HWY_SCALAR

HWY_INLINE BlockBits bits_of_block(const char* text, char delimiter) {
  const hn::CappedTag<uint8_t, 64> d;
  const hn::RebindToSigned<decltype(d)> d_signed;
  const auto delimiters = hn::Set(d, static_cast<uint8_t>(delimiter));
  const auto quotes = hn::Set(d, static_cast<uint8_t>('"'));
  const auto line_feeds = hn::Set(d, static_cast<uint8_t>('\n'));
  const auto returns = hn::Set(d, static_cast<uint8_t>('\r'));
  const auto one = hn::Set(d_signed, int8_t{1});
  BlockBits bits{};
  for (size_t i = 0; i < 64; i += hn::Lanes(d)) {
    const auto bytes = hn::LoadU(d, reinterpret_cast<const uint8_t*>(text) + i);
    const auto line_end = hn::Or(hn::Eq(bytes, line_feeds), hn::Eq(bytes, returns));
    const auto other = hn::Or(hn::Eq(bytes, delimiters), hn::Eq(bytes, quotes));
    uint64_t marks = 0;
    hn::StoreMaskBits(d, hn::Or(line_end, other), reinterpret_cast<uint8_t*>(&marks));
    bits.marks |= marks << i;
    // As signed numbers, bytes beyond ASCII are negative.
    uint64_t odd = 0;
    hn::StoreMaskBits(d_signed, hn::Lt(hn::BitCast(d_signed, bytes), one), reinterpret_cast<uint8_t*>(&odd));
    bits.odd |= odd << i;
  }
  return bits;
}

#else

BlockBits bits_of_block(const char* text, char delimiter) {
  BlockBits bits{};
  for (size_t i = 0; i < 64; i++) {
    const char c = text[i];
    if (c == delimiter || c == '"' || c == '\n' || c == '\r') bits.marks |= uint64_t{1} << i;
    if (static_cast<signed char>(c) < 1) bits.odd |= uint64_t{1} << i;
  }
  return bits;
}

#endif

MarkedText find_csv_marks(const char* text, size_t size, char delimiter, uint32_t* positions) {
  uint32_t* to = positions;
  uint64_t odd = 0;
  for (size_t at = 0; at < size; at += 64) {
    BlockBits bits = bits_of_block(text + at, delimiter);
    if (size - at < 64) {
      const uint64_t within = (uint64_t{1} << (size - at)) - 1;
      bits.marks &= within;
      bits.odd &= within;
    }
    odd |= bits.odd;
    uint32_t* const block_end = to + std::popcount(bits.marks);
    // Eight at a time, some of them in vain: a loop that ends after the last would often be mispredicted.
    for (; to < block_end; to += 8) {
      for (size_t i = 0; i < 8; i++) {
        to[i] = static_cast<uint32_t>(at) + static_cast<uint32_t>(std::countr_zero(bits.marks));
        bits.marks &= bits.marks - 1;
      }
    }
    to = block_end;
  }
  return {static_cast<size_t>(to - positions), odd == 0};
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {

HWY_EXPORT(find_csv_marks);

}  // namespace

MarkedText find_csv_marks(const char* text, size_t size, char delimiter, uint32_t* positions) {
  return HWY_DYNAMIC_DISPATCH(find_csv_marks)(text, size, delimiter, positions);
}

void CsvMarks::start(const char* begin, const char* end, char delimiter) {
  if (!positions_) positions_ = std::make_unique_for_overwrite<uint32_t[]>(kWindow + 8);
  window_ = window_end_ = begin;
  end_ = end;
  count_ = taken_ = 0;
  delimiter_ = delimiter;
  window_plain_ = plain_ = true;
}

void CsvMarks::find_more() {
  do {
    window_ = window_end_;
    window_end_ += std::min<size_t>(kWindow, static_cast<size_t>(end_ - window_));
    const auto found =
        find_csv_marks(window_, static_cast<size_t>(window_end_ - window_), delimiter_, positions_.get());
    count_ = found.marks;
    window_plain_ = found.plain;
    plain_ &= found.plain;
  } while (count_ == 0 && window_end_ < end_);
  // The end of the text is its last mark, however often it is asked for.
  if (count_ == 0) positions_[count_++] = static_cast<uint32_t>(window_end_ - window_);
  taken_ = 0;
}

}  // namespace assay
#endif
