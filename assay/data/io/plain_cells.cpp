#include "assay/data/io/plain_cells.h"

#include <bit>
#include <cstdint>

#include "assay/data/io/plain_number.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/data/io/plain_cells.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

using Characters = hn::Full128<uint8_t>;

// One bit for each of 16 characters.
HWY_INLINE uint32_t bits_of(hn::Mask<Characters> mask) {
  uint8_t bytes[8] = {};
  hn::StoreMaskBits(Characters(), mask, bytes);
  uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return bits;
}

// False if the text is not one of these.
HWY_INLINE bool read_plain_cell(const char* text, size_t size, float& out) {
  const Characters d;
  const hn::RebindToSigned<Characters> d_signed;
  const hn::Repartition<uint64_t, Characters> d_words;
  const auto negative = static_cast<uint32_t>(*text == '-');
  text += negative;
  size -= negative;
  if (size - 1 >= 16) return false;  // also if it is 0
  const auto characters = hn::LoadU(d, reinterpret_cast<const uint8_t*>(text));
  const auto digits = hn::Sub(characters, hn::Set(d, static_cast<uint8_t>('0')));
  const uint32_t within = (uint32_t{2} << (size - 1)) - 1;
  const uint32_t point = bits_of(hn::Eq(characters, hn::Set(d, static_cast<uint8_t>('.')))) & within;
  const uint32_t is_digit = bits_of(hn::Eq(digits, hn::Min(digits, hn::Set(d, uint8_t{9})))) & within;
  // Digits and at most one point, which is a power of two.
  if ((is_digit | point) != within || is_digit == 0 || (point & (point - 1)) != 0) return false;
  const auto whole = static_cast<uint32_t>(std::countr_zero(point | (within + 1)));  // digits before the point
  const auto count = static_cast<uint32_t>(size) - static_cast<uint32_t>(point != 0);
  // The 16 digits of a number with zeros before it: digit i comes from place i - (16 - count), or one place later if
  // that is behind the point. Places below 0 give 0.
  const auto place = hn::Add(hn::Iota(d, 0), hn::Set(d, static_cast<uint8_t>(count - 16)));
  const auto behind = hn::Gt(hn::BitCast(d_signed, place), hn::Set(d_signed, static_cast<int8_t>(whole - 1)));
  const auto from = hn::Sub(place, hn::BitCast(d, hn::VecFromMask(d_signed, behind)));
  const auto words = hn::BitCast(d_words, hn::TableLookupBytesOr0(digits, from));
  const uint64_t first = plain_number::eight_digits(hn::ExtractLane(words, 0));
  const uint64_t last = plain_number::eight_digits(hn::ExtractLane(words, 1));
  const auto number = static_cast<double>(static_cast<int64_t>(first * 100000000 + last));
  const double wide = number * plain_number::kInversePowers[count - whole];
  const auto value = static_cast<float>(wide);
  if (plain_number::near_middle(wide) || value >= 0x1p24F) return false;
  out = std::bit_cast<float>(std::bit_cast<uint32_t>(value) | negative << 31);
  return true;
}

#else

HWY_INLINE bool read_plain_cell(const char* text, size_t size, float& out) {
  PlainDecimal decimal;
  ParsedNumber number{};
  if (size > 16 || !read_plain_decimal(text, text + size, decimal) || !plain_float32(decimal, number)) return false;
  out = number.value;
  return number.value < 0x1p24F && number.value > -0x1p24F;
}

#endif

size_t read_plain_cells(const std::string_view* cells, size_t count, float* out) {
  for (size_t i = 0; i < count; i++) {
    if (!read_plain_cell(cells[i].data(), cells[i].size(), out[i])) return i;
  }
  return count;
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay {
namespace {

HWY_EXPORT(read_plain_cells);

}  // namespace

size_t read_plain_cells(const std::string_view* cells, size_t count, float* out) {
  return HWY_DYNAMIC_DISPATCH(read_plain_cells)(cells, count, out);
}

}  // namespace assay
#endif
