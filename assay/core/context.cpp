#include "assay/core/context.h"

#include <algorithm>
#include <thread>

#include "assay/core/error.h"

namespace assay {

unsigned Context::thread_count() const {
  return threads > 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
}

void Context::check_cancelled() const {
  if (cancelled != nullptr && cancelled->load(std::memory_order_relaxed)) {
    throw Error(ErrorKind::cancelled, "interrupted");
  }
}

}  // namespace assay
