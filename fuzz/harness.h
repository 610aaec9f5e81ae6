// What fuzz targets share. A target takes any bytes and ends in a result or in an assay::Error: any other exception, a
// sanitizer's report or a broken promise about the result is a finding.
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

// Whether f came to its end; an assay::Error is the other way a target may go.
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
