#include "assay/report/png.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "assay/core/error.h"

namespace assay {
namespace {

void append_big_endian(std::string& out, uint32_t value) {
  for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(value >> shift & 0xff);
}

// Length, kind, bytes, and the checksum of kind and bytes.
void append_chunk(std::string& out, const char* kind, const std::string& bytes) {
  append_big_endian(out, static_cast<uint32_t>(bytes.size()));
  const std::string body = kind + bytes;
  out += body;
  append_big_endian(out, static_cast<uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size())));
}

std::array<uint8_t, 3> colour_of(float value, bool attribution) {
  const auto shade = [](float share) { return static_cast<uint8_t>(std::lround(255 * std::clamp(share, 0.0F, 1.0F))); };
  if (!attribution) return {shade(value), shade(value), shade(value)};
  // The root shows small attributions, of which there are many.
  const float size = std::sqrt(std::abs(value));
  return value < 0 ? std::array{shade(1 - size), shade(1 - 0.7F * size), uint8_t{255}}
                   : std::array{uint8_t{255}, shade(1 - 0.8F * size), shade(1 - size)};
}

}  // namespace

std::string png_bytes(std::span<const uint8_t> rgb, size_t width, size_t height) {
  std::string raw;
  for (size_t y = 0; y < height; y++) {
    raw += '\0';  // no filter
    raw.append(reinterpret_cast<const char*>(rgb.data() + y * width * 3), width * 3);
  }
  uLongf size = ::compressBound(static_cast<uLong>(raw.size()));
  std::string packed(size, '\0');
  const int done = ::compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                               reinterpret_cast<const Bytef*>(raw.data()), static_cast<uLong>(raw.size()), 9);
  if (done != Z_OK) fail_input("a picture cannot be compressed");
  packed.resize(size);

  std::string header;
  append_big_endian(header, static_cast<uint32_t>(width));
  append_big_endian(header, static_cast<uint32_t>(height));
  header += std::string("\x08\x02\x00\x00\x00", 5);  // 8 bits, colours, deflate, plain filters, not interlaced
  std::string out("\x89PNG\r\n\x1a\n", 8);
  append_chunk(out, "IHDR", header);
  append_chunk(out, "IDAT", packed);
  append_chunk(out, "IEND", "");
  return out;
}

std::string picture_png(const Picture& picture, size_t zoom) {
  const auto side = static_cast<size_t>(std::lround(std::sqrt(static_cast<double>(picture.values.size()))));
  const size_t width = side * zoom;
  std::vector<uint8_t> rgb;
  rgb.reserve(width * width * 3);
  for (size_t y = 0; y < width; y++) {
    for (size_t x = 0; x < width; x++) {
      const auto colour = colour_of(picture.values[y / zoom * side + x / zoom], picture.attribution);
      rgb.insert(rgb.end(), colour.begin(), colour.end());
    }
  }
  return png_bytes(rgb, width, width);
}

}  // namespace assay
