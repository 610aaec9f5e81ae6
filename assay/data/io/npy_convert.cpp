#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "assay/core/error.h"
#include "assay/core/half.h"
#include "assay/data/io/npy.h"
#include "assay/data/kept_doubles.h"
#include "assay/data/lost_digits.h"

namespace assay {
namespace {

// A 16-bit float is its own type here, so that it is not taken for a whole number.
struct Half {
  uint16_t bits;
};

float number(Half half) { return float_from_half(half.bits); }
template <class T>
  requires std::is_arithmetic_v<T>
T number(T value) {
  return value;
}

bool loses_digits(uint64_t magnitude) {
  return magnitude != 0 && ((magnitude >> std::countr_zero(magnitude)) >> std::numeric_limits<float>::digits) != 0;
}

// Whether this is a number beyond 2^24 that float32 cannot hold.
template <class T>
bool is_rounded_item(T value) {
  if constexpr (std::is_same_v<T, double>) {
    return is_rounded(value, static_cast<float>(value));
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    const auto bits = static_cast<uint64_t>(value);
    return loses_digits(value < T{0} ? 0 - bits : bits);
  } else {
    return false;
  }
}

// Calls f with a function from an index to the number there, in the number's own type.
template <class F>
void with_numbers(std::string_view where, const NpyArray& array, F f) {
  const auto as = [&]<class T>(T) { f([&](size_t i) { return number(array.item<T>(i)); }); };
  switch (array.type) {
    case NpyType::boolean: f([&](size_t i) { return array.item<uint8_t>(i) != 0; }); break;
    case NpyType::int8: as(int8_t{}); break;
    case NpyType::int16: as(int16_t{}); break;
    case NpyType::int32: as(int32_t{}); break;
    case NpyType::int64: as(int64_t{}); break;
    case NpyType::uint8: as(uint8_t{}); break;
    case NpyType::uint16: as(uint16_t{}); break;
    case NpyType::uint32: as(uint32_t{}); break;
    case NpyType::uint64: as(uint64_t{}); break;
    case NpyType::float16: as(Half{}); break;
    case NpyType::float32: as(float{}); break;
    case NpyType::float64: as(double{}); break;
    case NpyType::unicode:
    case NpyType::bytes: fail_input(where, "numbers", "text, dtype " + dtype_text(array.type, array.item_size));
  }
}

bool is_character(uint32_t code) { return code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF); }

void append_utf8(std::string& out, uint32_t code) {
  const auto byte = [&](uint32_t bits) { out += static_cast<char>(static_cast<unsigned char>(bits)); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | (code >> 6));
    byte(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    byte(0xE0 | (code >> 12));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  } else {
    byte(0xF0 | (code >> 18));
    byte(0x80 | ((code >> 12) & 0x3F));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

// The characters of UTF-8 text; false when it is not UTF-8.
bool decode_utf8(std::string_view text, std::vector<uint32_t>& out) {
  out.clear();
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xC0 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF8 ? 4 : 0;
    if (length == 0 || length > text.size() - i) return false;
    uint32_t code = length == 1 ? lead : lead & (0x7FU >> length);
    for (size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xC0) != 0x80) return false;
      code = (code << 6) | (next & 0x3FU);
    }
    // The shortest form is the only valid one.
    constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < kLeast[length] || !is_character(code)) return false;
    out.push_back(code);
    i += length;
  }
  return true;
}

NpyArray from_values(NpyType type, size_t item_size, std::vector<size_t> shape, const void* data) {
  NpyArray array{type, item_size, std::move(shape)};
  size_t total = item_size;
  for (const size_t dimension : array.shape) total *= dimension;
  if (total > 0) array.bytes.assign(static_cast<const char*>(data), total);
  return array;
}

}  // namespace

NpyArray npy_from_matrix(MatrixView<const float> values) {
  NpyArray array{NpyType::float32, sizeof(float), {values.rows(), values.cols()}};
  if (values.empty()) return array;
  array.bytes.reserve(values.rows() * values.cols() * sizeof(float));
  for (size_t i = 0; i < values.rows(); ++i) {
    const auto bytes = std::as_bytes(values.row(i));
    array.bytes.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return array;
}

NpyArray npy_from_doubles(std::span<const double> values) {
  return from_values(NpyType::float64, sizeof(double), {values.size()}, values.data());
}

NpyArray npy_from_int64(std::span<const int64_t> values) {
  return from_values(NpyType::int64, sizeof(int64_t), {values.size()}, values.data());
}

NpyArray npy_from_strings(std::string_view where, const std::vector<std::string>& values) {
  std::vector<uint32_t> characters;
  // NumPy has no text of width 0.
  size_t width = 1;
  for (const auto& value : values) {
    if (!decode_utf8(value, characters)) fail_input(where, "UTF-8 text", in_quotes(value));
    if (value.ends_with('\0')) fail_input(where, "text that does not end in a NUL character", in_quotes(value));
    width = std::max(width, characters.size());
  }
  NpyArray array{NpyType::unicode, width * sizeof(uint32_t), {values.size()}};
  array.bytes.resize(values.size() * array.item_size);
  for (size_t i = 0; i < values.size(); ++i) {
    decode_utf8(values[i], characters);
    if (!characters.empty()) {
      std::memcpy(array.bytes.data() + i * array.item_size, characters.data(), characters.size() * sizeof(uint32_t));
    }
  }
  return array;
}

NpyArray npy_from_string(std::string_view where, const std::string& value) {
  NpyArray array = npy_from_strings(where, {value});
  array.shape.clear();
  return array;
}

std::pair<size_t, size_t> rows_and_columns(const std::vector<size_t>& shape) {
  size_t columns = 1;
  for (size_t k = 1; k < shape.size(); ++k) columns *= shape[k];
  return {shape.empty() ? 1 : shape[0], columns};
}

void copy_numbers(std::string_view where, const NpyArray& array, MatrixView<float> out, std::span<size_t> rounded,
                  std::span<std::vector<double>> doubles) {
  assert(rows_and_columns(array.shape) == std::pair(out.rows(), out.cols()));
  assert(rounded.empty() || rounded.size() == out.cols());
  with_numbers(where, array, [&](auto number_at) {
    if (out.empty()) return;
    for (size_t i = 0; i < out.rows(); ++i) {
      const std::span<float> row = out.row(i);
      for (size_t j = 0; j < row.size(); ++j) {
        const auto value = number_at(i * row.size() + j);
        if constexpr (std::is_same_v<decltype(value), const double>) {
          // The largest finite float32 and half a step: what lies below still rounds to it.
          constexpr double kBeyond = 0x1.ffffffp127;
          if (std::isfinite(value) && std::abs(value) >= kBeyond) {
            fail_input(where, "numbers within the range of float32 (3.4e38)",
                       fmt::format("{} in row {}, column {}", value, i + 1, j + 1));
          }
        }
        row[j] = static_cast<float>(value);
        if (!rounded.empty() && is_rounded_item(value)) ++rounded[j];
        // All others fit into float32.
        if constexpr (sizeof(value) >= sizeof(float) && !std::is_same_v<decltype(value), const float>) {
          if (!doubles.empty()) keep_double(doubles[j], out, i, j, static_cast<double>(value));
        }
      }
    }
  });
}

Matrix to_matrix(std::string_view where, const NpyArray& array, std::vector<size_t>* rounded) {
  // Text is refused before memory is taken for it.
  with_numbers(where, array, [](auto) {});
  const auto [rows, columns] = rows_and_columns(array.shape);
  Matrix out(rows, columns);
  if (rounded != nullptr) rounded->assign(rows == 0 ? 0 : columns, 0);
  copy_numbers(where, array, out.view(), rounded == nullptr ? std::span<size_t>() : *rounded);
  return out;
}

std::vector<double> to_doubles(std::string_view where, const NpyArray& array) {
  std::vector<double> out;
  with_numbers(where, array, [&](auto number_at) {
    out.reserve(array.count());
    for (size_t i = 0; i < array.count(); ++i) out.push_back(static_cast<double>(number_at(i)));
  });
  return out;
}

std::vector<std::string> to_strings(std::string_view where, const NpyArray& array) {
  if (!array.is_text()) fail_input(where, "text", "numbers, dtype " + dtype_text(array.type, array.item_size));
  std::vector<std::string> out;
  out.reserve(array.count());
  std::vector<uint32_t> characters;
  for (size_t i = 0; i < array.count(); ++i) {
    std::string_view item(array.bytes.data() + i * array.item_size, array.item_size);
    std::string text;
    if (array.type == NpyType::bytes) {
      while (item.ends_with('\0')) item.remove_suffix(1);
      if (!decode_utf8(item, characters)) {
        fail_input(where, "UTF-8 text", fmt::format("{} in item {}", in_quotes(item), i + 1));
      }
      text = item;
    } else {
      characters.resize(item.size() / sizeof(uint32_t));
      std::memcpy(characters.data(), item.data(), item.size());
      while (!characters.empty() && characters.back() == 0) characters.pop_back();
      for (const uint32_t code : characters) {
        if (!is_character(code)) {
          fail_input(where, "Unicode text", fmt::format("the code {:#x} in item {}", code, i + 1));
        }
        append_utf8(text, code);
      }
    }
    out.push_back(std::move(text));
  }
  return out;
}

}  // namespace assay
