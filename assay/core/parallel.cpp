#include "assay/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <exception>
#include <mutex>
#include <optional>

#include "assay/core/crew.h"

namespace assay {
namespace {

// The exception of the lowest failed block, and which blocks are still worth running.
class FirstFailure {
 public:
  bool worth_running(size_t index) const { return index < lowest_.load(std::memory_order_relaxed); }
  void record(size_t index) {
    const std::lock_guard lock(mutex_);
    if (index >= lowest_) return;
    lowest_ = index;
    exception_ = std::current_exception();
  }
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::atomic<size_t> lowest_{SIZE_MAX};
  std::exception_ptr exception_;
  std::mutex mutex_;
};

}  // namespace

size_t block_count(size_t items, size_t block_size) {
  assert(block_size > 0);
  return items / block_size + (items % block_size != 0 ? 1 : 0);
}

void parallel_blocks(const Context& context, size_t items, size_t block_size,
                     const std::function<void(const Block&)>& body, std::string_view task) {
  const size_t count = block_count(items, block_size);
  std::optional<ProgressScope> progress;
  if (!task.empty()) progress.emplace(context, task, items);
  std::mutex progress_mutex;
  FirstFailure failure;

  const auto run = [&](size_t index) {
    if (!failure.worth_running(index)) return;
    try {
      context.check_cancelled();
      const size_t begin = index * block_size;
      const size_t end = begin + std::min(block_size, items - begin);
      body({begin, end, index});
      if (progress) {
        const std::lock_guard lock(progress_mutex);
        progress->advance(end - begin);
      }
    } catch (...) {
      failure.record(index);
    }
  };

  const auto threads = static_cast<unsigned>(std::min<size_t>(context.thread_count(), count));
  if (threads <= 1) {
    for (size_t index = 0; index < count; ++index) run(index);
  } else {
    process_crew().run(threads, count, run);
  }
  failure.rethrow();
}

}  // namespace assay
