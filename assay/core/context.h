// What every long computation is handed: threads, seed, where to report progress, and whether to stop.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace assay {

// Receives progress. Calls come from one thread at a time. Nothing here may throw: a display that fails must not stop
// the work.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void begin(std::string_view task, uint64_t total) noexcept = 0;
  virtual void advance(uint64_t amount) noexcept = 0;
  virtual void end() noexcept = 0;
  // The same task goes on under another name.
  virtual void rename(std::string_view /*task*/) noexcept {}
};

// The most memory and work that one job may take where a model file sets its size: building its graph, computing its
// constants, planning a block of rows and trying it. A file of a few bytes can ask for gigabytes and hours. Charged
// through Spending (core/budget.h). Packed files have a limit of their own (data/io/unpacking.h).
struct Budget {
  uint64_t bytes = uint64_t{1} << 30;
  uint64_t steps = uint64_t{1} << 35;  // multiply-adds, comparisons, copied elements: about 1 ns each
};

// Passed in, never global. A default Context uses all cores, seed 0, reports to nobody and is never cancelled.
struct Context {
  unsigned threads = 0;  // 0 = as many as the machine has
  uint64_t seed = 0;
  Progress* progress = nullptr;
  const std::atomic<bool>* cancelled = nullptr;
  Budget budget = {};

  unsigned thread_count() const;
  // Throws Error(cancelled) once the caller asked to stop.
  void check_cancelled() const;
  // The same without progress, for work inside a task that reports its own.
  Context quiet() const {
    Context same = *this;
    same.progress = nullptr;
    return same;
  }
};

// Progress over one task; begin and end are paired whatever happens between them.
class ProgressScope {
 public:
  ProgressScope(const Context& context, std::string_view task, uint64_t total) : progress_(context.progress) {
    if (progress_ != nullptr) progress_->begin(task, total);
  }
  ~ProgressScope() {
    if (progress_ != nullptr) progress_->end();
  }
  ProgressScope(const ProgressScope&) = delete;
  ProgressScope& operator=(const ProgressScope&) = delete;

  void advance(uint64_t amount) {
    if (progress_ != nullptr) progress_->advance(amount);
  }

 private:
  Progress* progress_;
};

}  // namespace assay
