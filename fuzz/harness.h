// Shared by all fuzz targets. A target takes any bytes and ends with a result or an assay::Error. Any other exception,
// a sanitizer report or a failed require() is a bug.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "assay/core/error.h"

namespace assay::fuzz {

inline void require(bool holds) {
  if (!holds) std::abort();
}

// Whether f returned. False if it threw an assay::Error; other exceptions pass through.
template <class F>
bool succeeds(F&& f) {
  try {
    f();
    return true;
  } catch (const Error& error) {
    require(*error.what() != '\0');
    return false;
  }
}

inline std::string_view bytes_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace assay::fuzz
