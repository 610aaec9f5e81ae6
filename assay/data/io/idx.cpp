#include "assay/data/io/idx.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/core/error.h"

namespace assay {
namespace {

struct IdxType {
  uint8_t code;
  size_t size;
  NpyType type;
};
constexpr IdxType kTypes[] = {{0x08, 1, NpyType::uint8}, {0x09, 1, NpyType::int8},    {0x0B, 2, NpyType::int16},
                              {0x0C, 4, NpyType::int32}, {0x0D, 4, NpyType::float32}, {0x0E, 8, NpyType::float64}};

}  // namespace

NpyArray read_idx(ByteSource& source) {
  const std::string& where = source.name();
  unsigned char start[4] = {};
  const size_t got = source.read_fully({reinterpret_cast<char*>(start), sizeof(start)});
  const auto* type = std::ranges::find(kTypes, start[2], &IdxType::code);
  if (got < sizeof(start) || start[0] != 0 || start[1] != 0 || type == std::end(kTypes)) {
    fail_input(where, "an IDX file, which starts with 00 00 and a type from 08, 09, 0B, 0C, 0D, 0E",
               got < sizeof(start) ? "the end of the file"
                                   : fmt::format("{:02X} {:02X} {:02X}", start[0], start[1], start[2]));
  }
  const size_t dimensions = start[3];
  if (dimensions == 0 || dimensions > kMaxDimensions) {
    fail_input(where, fmt::format("1 to {} dimensions in the IDX header", kMaxDimensions),
               fmt::format("{}", dimensions));
  }
  std::string sizes(dimensions * sizeof(uint32_t), '\0');
  if (source.read_fully(sizes) < sizes.size()) fail_input(where, "a whole IDX header", "the end of the file");
  swap_bytes(sizes, sizeof(uint32_t));
  NpyHeader header{.type = type->type, .item_size = type->size, .shape = {}, .big_endian = true};
  for (size_t k = 0; k < dimensions; ++k) {
    uint32_t size = 0;
    std::memcpy(&size, sizes.data() + k * sizeof(size), sizeof(size));
    header.shape.push_back(size);
  }
  return read_npy_data(source, header);
}

void write_idx(std::string_view where, AtomicFile& file, const NpyArray& array) {
  const auto* type = std::ranges::find(kTypes, array.type, &IdxType::type);
  if (type == std::end(kTypes)) {
    fail_input(where, "a type that IDX has (8-bit, int16, int32, float32 or float64)",
               "dtype " + dtype_text(array.type, array.item_size));
  }
  if (array.shape.empty() || array.shape.size() > 255) {
    fail_input(where, "1 to 255 dimensions in an IDX file", fmt::format("{}", array.shape.size()));
  }
  std::string header = {'\0', '\0', static_cast<char>(type->code), static_cast<char>(array.shape.size())};
  for (const size_t size : array.shape) {
    if (size > UINT32_MAX) fail_input(where, "dimensions below 2^32 in an IDX file", fmt::format("{}", size));
    for (int shift = 24; shift >= 0; shift -= 8) header += static_cast<char>((size >> shift) & 0xff);
  }
  file.write(header);
  // In pieces, so that swapping needs no second copy of the data.
  constexpr size_t kPiece = size_t{1} << 20;
  for (size_t at = 0; at < array.bytes.size(); at += kPiece) {
    std::string piece = array.bytes.substr(at, kPiece);
    swap_bytes(piece, type->size);
    file.write(piece);
  }
}

}  // namespace assay
