#include "assay/core/aligned_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace assay {

void* aligned_memory(size_t bytes) {
  constexpr size_t kPage = size_t{2} << 20;
  const bool large = bytes >= 4 * kPage;
  const size_t alignment = large ? kPage : kVectorAlignment;
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* made = rounded >= bytes ? std::aligned_alloc(alignment, rounded) : nullptr;
  if (made == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  // Only a wish: where the system has no large pages, the memory is as good as any.
  if (large) static_cast<void>(::madvise(made, rounded, MADV_HUGEPAGE));
#endif
  return made;
}

}  // namespace assay
