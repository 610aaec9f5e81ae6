// Arrays of NumPy: the .npy format, versions 1.0 to 3.0, in and out.
//
// The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html. Numbers, booleans and text are
// read; Python objects and structured types are refused by name. Nothing the header claims is trusted: memory grows
// with the bytes that really arrive.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/core/matrix.h"
#include "assay/data/io/bytes.h"

namespace assay {

enum class NpyType {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  float32,
  float64,
  unicode,  // text of a fixed width, 4 bytes for a character (NumPy's U)
  bytes,    // text of a fixed width, 1 byte for a character (NumPy's S)
};

// What stands in front of the data.
struct NpyHeader {
  NpyType type = NpyType::float32;
  size_t item_size = 4;       // bytes
  std::vector<size_t> shape;  // empty: one item without dimensions
  bool fortran_order = false;
  bool big_endian = false;
};

// An array in memory: always C order and the byte order of this machine (little-endian).
struct NpyArray {
  NpyType type = NpyType::float32;
  size_t item_size = 4;
  std::vector<size_t> shape = {};
  std::string bytes = {};

  size_t count() const { return item_size == 0 ? 0 : bytes.size() / item_size; }
  bool is_text() const { return type == NpyType::unicode || type == NpyType::bytes; }

  // Item i in C order. T must be the C++ type of `type` (uint8_t for boolean, uint16_t for float16).
  template <class T>
  T item(size_t i) const {
    assert(sizeof(T) == item_size && i < count());
    T out;
    std::memcpy(&out, bytes.data() + i * sizeof(T), sizeof(T));
    return out;
  }
};

// NumPy allows no more dimensions than this.
inline constexpr size_t kMaxDimensions = 64;

// NumPy's name of a type, as in a header: "<f4", "|b1", "<U12".
std::string dtype_text(NpyType type, size_t item_size);
// "3 x 28 x 28"; "no dimensions" for an empty shape.
std::string shape_text(const std::vector<size_t>& shape);
bool is_text(NpyType type);

NpyHeader read_npy_header(ByteSource& source);
// The whole array; the source must end with it.
NpyArray read_npy(ByteSource& source);
// The part of read_npy after the header, which IDX needs too: reads the data, to the end of the source, and converts it
// to C order and to this machine's byte order.
NpyArray read_npy_data(ByteSource& source, const NpyHeader& header);

// The header that NumPy itself would write (version 1.0, data aligned to 64 bytes); the array's bytes follow it.
std::string npy_header(const NpyArray& array);
void write_npy(AtomicFile& file, const NpyArray& array);

// Swaps the bytes of every item of this width.
void swap_bytes(std::string& bytes, size_t width);

NpyArray npy_from_matrix(MatrixView<const float> values);
NpyArray npy_from_doubles(std::span<const double> values);
NpyArray npy_from_int64(std::span<const int64_t> values);
// Text as NumPy's U type, as wide as the longest. An input error that starts with `where` when a text is not UTF-8 or
// ends in a NUL, which NumPy would drop.
NpyArray npy_from_strings(std::string_view where, const std::vector<std::string>& values);
// One text without dimensions.
NpyArray npy_from_string(std::string_view where, const std::string& value);

// The array as rows x columns: the first dimension, and the product of all others (1 when there are none).
std::pair<size_t, size_t> rows_and_columns(const std::vector<size_t>& shape);

// Copies numbers into `out`, which must be rows x columns of this array. A float64 beyond the range of float32 is an
// input error that starts with `where` and names its position. rounded, if not empty, counts for each column the
// numbers beyond 2^24 that lose digits. doubles, if not empty, has a list for each column, filled by keep_double.
void copy_numbers(std::string_view where, const NpyArray& array, MatrixView<float> out, std::span<size_t> rounded = {},
                  std::span<std::vector<double>> doubles = {});
Matrix to_matrix(std::string_view where, const NpyArray& array, std::vector<size_t>* rounded = nullptr);

// All items in C order. Whole numbers beyond 2^53 are rounded.
std::vector<double> to_doubles(std::string_view where, const NpyArray& array);
// All items in C order, as UTF-8 without the NULs that pad them.
std::vector<std::string> to_strings(std::string_view where, const NpyArray& array);

}  // namespace assay
