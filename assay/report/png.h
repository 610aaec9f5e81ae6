// Writes PNG pictures (ISO/IEC 15948): 8 bits for each of red, green and blue, one deflated block, no filter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "assay/study/reproduce/reproduction.h"

namespace assay {

// rgb: width x height x 3 bytes, row by row.
std::string png_bytes(std::span<const uint8_t> rgb, size_t width, size_t height);

// A square picture, each value a square of `zoom` pixels: the image itself in grey, attributions from blue (negative)
// over white to red (positive).
std::string picture_png(const Picture& picture, size_t zoom);

}  // namespace assay
