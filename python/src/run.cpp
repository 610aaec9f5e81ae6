#include "python/src/run.h"

#include <nanobind/stl/string.h>
#include <pthread.h>

#include <chrono>
#include <thread>

#include "assay/core/error.h"
#include "python/src/module.h"

namespace nb = nanobind;

namespace assay::python {
namespace {

// Signals and progress are looked at this often.
constexpr std::chrono::milliseconds kTick(50);

thread_local EngineCall* current_call = nullptr;

// The threads of oneTBB do not come along into a forked process, where waiting for them would never end. Loops on one
// thread do not need them, and give the same bits.
std::atomic<bool> forked = false;
std::atomic<bool> used = false;

void note_fork() { forked = used.load(); }

}  // namespace

// Progress of one call, told from threads of the engine. Tasks do not nest; where one does, the inner one is shown.
class EngineCall::Watcher final : public Progress {
 public:
  explicit Watcher(EngineCall& call) : call_(call) {}

  void begin(std::string_view task, uint64_t total) noexcept override {
    const std::lock_guard lock(call_.mutex_);
    try {
      call_.task_ = task;
    } catch (...) {
      call_.task_.clear();
    }
    call_.done_ = 0;
    call_.total_ = total;
    call_.moved_ = true;
  }
  void advance(uint64_t amount) noexcept override {
    const std::lock_guard lock(call_.mutex_);
    call_.done_ += amount;
    call_.moved_ = true;
  }
  void end() noexcept override {
    const std::lock_guard lock(call_.mutex_);
    call_.moved_ = true;
  }
  void rename(std::string_view task) noexcept override {
    const std::lock_guard lock(call_.mutex_);
    try {
      call_.task_ = task;
    } catch (...) {
      call_.task_.clear();
    }
    call_.moved_ = true;
  }

 private:
  EngineCall& call_;
};

EngineCall::EngineCall(const Run& run) : run_(run) {}

void EngineCall::on_calling_thread(const std::function<void()>& request) {
  EngineCall* call = current_call;
  if (call == nullptr) {
    throw Error(ErrorKind::internal, "a Python function was asked for on a thread that works for no call");
  }
  std::unique_lock lock(call->mutex_);
  call->request_ = &request;
  call->changed_.notify_all();
  call->changed_.wait(lock, [&] { return call->request_ == nullptr; });
  if (call->request_failure_) std::rethrow_exception(std::exchange(call->request_failure_, nullptr));
}

// With the lock; what is asked for runs without it.
void EngineCall::serve(std::unique_lock<std::mutex>& lock) {
  const std::function<void()>* request = request_;
  std::exception_ptr failure = stop_;  // nothing is called any more once the caller was interrupted
  lock.unlock();
  if (!failure) {
    const nb::gil_scoped_acquire gil;
    try {
      (*request)();
    } catch (...) {
      failure = std::current_exception();
    }
  }
  lock.lock();
  request_failure_ = failure;
  request_ = nullptr;
  changed_.notify_all();
}

bool EngineCall::check_signals() {
  const nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() == 0) return true;
  try {
    throw nb::python_error();
  } catch (...) {
    stop_ = std::current_exception();
  }
  return false;
}

void EngineCall::show_progress(std::unique_lock<std::mutex>& lock) {
  if (!moved_ || task_.empty()) return;
  const std::string task = task_;
  const uint64_t done = done_;
  const uint64_t total = total_;
  moved_ = false;
  shown_ = true;
  lock.unlock();
  try {
    const nb::gil_scoped_acquire gil;
    run_.progress.attr("update")(task, done, total);
  } catch (...) {
    stop_ = std::current_exception();
  }
  lock.lock();
}

void EngineCall::work(const std::function<void(const Context&)>& body) {
  const bool watched = !run_.progress.is_none();
  {
    const nb::gil_scoped_release release;
    Watcher watcher(*this);
    Context context;
    context.seed = run_.seed;
    context.threads = forked ? 1 : run_.threads;
    if (context.thread_count() > 1) used = true;
    context.cancelled = &cancelled_;
    if (watched) context.progress = &watcher;
    std::thread worker([&] {
      current_call = this;
      std::exception_ptr failure;
      try {
        body(context);
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      failure_ = std::move(failure);
      finished_ = true;
      changed_.notify_all();
    });
    std::unique_lock lock(mutex_);
    auto next_tick = std::chrono::steady_clock::now() + kTick;
    while (!finished_) {
      changed_.wait_until(lock, next_tick, [&] { return finished_ || request_ != nullptr; });
      if (request_ != nullptr) serve(lock);
      if (std::chrono::steady_clock::now() < next_tick) continue;
      next_tick = std::chrono::steady_clock::now() + kTick;
      if (stop_ || finished_) continue;
      lock.unlock();
      check_signals();
      lock.lock();
      if (watched && !stop_ && !finished_) show_progress(lock);
      if (stop_) cancelled_ = true;
    }
    lock.unlock();
    worker.join();
  }
  // An empty name says that it is over.
  if (shown_ && !stop_) {
    try {
      run_.progress.attr("update")("", done_, total_);
    } catch (...) {
      stop_ = std::current_exception();
    }
  } else if (shown_) {
    // What was raised before is what the caller must see.
    try {
      run_.progress.attr("update")("", done_, total_);
    } catch (nb::python_error& ignored) {
      ignored.discard_as_unraisable("progress");
    }
  }
  if (stop_) {
    failure_ = nullptr;
    std::rethrow_exception(std::exchange(stop_, nullptr));
  }
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void bind_run(nb::module_& m) {
  pthread_atfork(nullptr, nullptr, note_fork);
  nb::class_<Run>(m, "Run").def(
      "__init__",
      [](Run* self, uint64_t seed, unsigned threads, nb::object progress) {
        new (self) Run{seed, threads, std::move(progress)};
      },
      nb::arg("seed") = 0, nb::arg("threads") = 0, nb::arg("progress") = nb::none());
}

}  // namespace assay::python
