// A checked look at some rows of one array of the Arrow C data interface.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "assay/core/error.h"
#include "assay/core/half.h"
#include "assay/data/io/arrow_c.h"
#include "assay/data/io/arrow_type.h"

namespace assay {

// The element at this position. Copied byte by byte, because Arrow does not promise aligned buffers.
template <class T>
T load_arrow(const void* buffer, int64_t position) {
  T value;
  std::memcpy(&value, static_cast<const char*>(buffer) + position * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

inline bool arrow_bit(const void* bits, int64_t position) {
  return (static_cast<const uint8_t*>(bits)[position / 8] >> (position % 8) & 1) != 0;
}

__extension__ using Int128 = __int128;

// The double nearest to unscaled / 10^scale.
double decimal_number(Int128 unscaled, int scale);

// Rows first .. first + count - 1 of one array. Checks its shape: a wrong one would lead to reads outside its memory.
class ArrowWindow {
 public:
  // scale: of decimal numbers.
  ArrowWindow(const std::string& where, const ArrowArray* array, ArrowValue type, int64_t first, int64_t count,
              int scale = 0)
      : where_(where), type_(type), scale_(scale), count_(count) {
    const auto refuse = [&](std::string_view found) { fail_input(where, "a well-formed Arrow array", found); };
    if (array == nullptr || array->release == nullptr) refuse("none");
    if (array->length < 0 || array->offset < 0 || array->offset > INT64_MAX - array->length) refuse("a negative size");
    if (first > array->length || count > array->length - first) refuse("fewer rows than the batch has");
    first_ = array->offset + first;
    const int expected = arrow_buffer_count(type);
    const bool more = type == ArrowValue::text_view && array->n_buffers > expected;
    if (array->n_buffers != expected && !more) refuse(std::to_string(array->n_buffers) + " buffers");
    if (count == 0 || type == ArrowValue::null) return;
    if (array->buffers == nullptr) refuse("no buffers");
    validity_ = array->null_count == 0 ? nullptr : array->buffers[0];
    if (array->null_count > 0 && validity_ == nullptr) refuse("nulls without a validity bitmap");
    values_ = array->buffers[1];
    if (values_ == nullptr) refuse("rows without values");
    if (type == ArrowValue::text_view) {
      buffers_ = array->buffers + 2;
      buffer_count_ = array->n_buffers - expected;
      buffer_sizes_ = array->buffers[array->n_buffers - 1];
      if (buffer_count_ > 0 && buffer_sizes_ == nullptr) refuse("text buffers without their sizes");
    } else if (is_text(type)) {
      bytes_ = static_cast<const char*>(array->buffers[2]);
    }
  }

  ArrowValue type() const { return type_; }
  int64_t count() const { return count_; }
  bool valid(int64_t i) const {
    return type_ != ArrowValue::null && (validity_ == nullptr || arrow_bit(validity_, first_ + i));
  }

  std::string_view text(int64_t i) const {
    if (type_ == ArrowValue::text_view) return viewed(first_ + i);
    const bool large = type_ == ArrowValue::large_text;
    const int64_t at = first_ + i;
    const int64_t begin = large ? load_arrow<int64_t>(values_, at) : load_arrow<int32_t>(values_, at);
    const int64_t end = large ? load_arrow<int64_t>(values_, at + 1) : load_arrow<int32_t>(values_, at + 1);
    if (begin < 0 || end < begin) fail_input(where_, "a well-formed Arrow array", "text offsets that go backwards");
    if (end == begin) return {};
    if (bytes_ == nullptr) fail_input(where_, "a well-formed Arrow array", "text without bytes");
    return {bytes_ + begin, static_cast<size_t>(end - begin)};
  }

  // Calls use(i, number) for every row that is not null, the number in its own type.
  template <class F>
  void for_each_number(F&& use) const {
    switch (type_) {
      case ArrowValue::boolean: return each([&](int64_t at) { return int32_t{arrow_bit(values_, at)}; }, use);
      case ArrowValue::int8: return each_of<int8_t>(use);
      case ArrowValue::uint8: return each_of<uint8_t>(use);
      case ArrowValue::int16: return each_of<int16_t>(use);
      case ArrowValue::uint16: return each_of<uint16_t>(use);
      case ArrowValue::int32: return each_of<int32_t>(use);
      case ArrowValue::uint32: return each_of<uint32_t>(use);
      case ArrowValue::int64: return each_of<int64_t>(use);
      case ArrowValue::uint64: return each_of<uint64_t>(use);
      case ArrowValue::float16:
        return each([&](int64_t at) { return float_from_half(load_arrow<uint16_t>(values_, at)); }, use);
      case ArrowValue::float32: return each_of<float>(use);
      case ArrowValue::float64: return each_of<double>(use);
      case ArrowValue::decimal32:
        return each([&](int64_t at) { return decimal_number(load_arrow<int32_t>(values_, at), scale_); }, use);
      case ArrowValue::decimal64:
        return each([&](int64_t at) { return decimal_number(load_arrow<int64_t>(values_, at), scale_); }, use);
      case ArrowValue::decimal128:
        return each([&](int64_t at) { return decimal_number(load_arrow<Int128>(values_, at), scale_); }, use);
      case ArrowValue::null:
      case ArrowValue::text:
      case ArrowValue::large_text:
      case ArrowValue::text_view: return;
    }
  }

 private:
  // A view is 16 bytes: the length, then the text itself if it fits, else its first four bytes, a buffer and an offset.
  std::string_view viewed(int64_t at) const {
    constexpr int64_t kViewBytes = 16;
    constexpr int32_t kInPlace = 12;
    const char* view = static_cast<const char*>(values_) + at * kViewBytes;
    const auto length = load_arrow<int32_t>(view, 0);
    const auto refuse = [&](std::string_view found) { fail_input(where_, "a well-formed Arrow array", found); };
    if (length < 0) refuse("a text of negative length");
    if (length <= kInPlace) return {view + 4, static_cast<size_t>(length)};
    const auto buffer = load_arrow<int32_t>(view, 2);
    const auto offset = load_arrow<int32_t>(view, 3);
    if (buffer < 0 || buffer >= buffer_count_ || buffers_[buffer] == nullptr)
      refuse("a text in a buffer that is not there");
    const auto size = load_arrow<int64_t>(buffer_sizes_, buffer);
    if (offset < 0 || offset > size || length > size - offset) refuse("a text beyond its buffer");
    return {static_cast<const char*>(buffers_[buffer]) + offset, static_cast<size_t>(length)};
  }

  template <class Get, class F>
  void each(const Get& get, F& use) const {
    for (int64_t i = 0; i < count_; ++i) {
      if (valid(i)) use(i, get(first_ + i));
    }
  }
  template <class T, class F>
  void each_of(F& use) const {
    each([&](int64_t at) { return load_arrow<T>(values_, at); }, use);
  }

  const std::string& where_;
  ArrowValue type_;
  int scale_;
  int64_t first_ = 0;
  int64_t count_ = 0;
  const void* validity_ = nullptr;
  const void* values_ = nullptr;
  const char* bytes_ = nullptr;
  // For text views only.
  const void* const* buffers_ = nullptr;
  int64_t buffer_count_ = 0;
  const void* buffer_sizes_ = nullptr;
};

}  // namespace assay
