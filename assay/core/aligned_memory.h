// Memory for vector code: aligned for all vector types and, where there is much of it, in large pages. Tables that are
// read in no order would otherwise wait for the address of a page at every read.
#pragma once

#include <cstddef>

namespace assay {

inline constexpr size_t kVectorAlignment = 64;

// To be freed by std::free. Throws std::bad_alloc.
void* aligned_memory(size_t bytes);

}  // namespace assay
