#include "python/src/run.h"

#include <nanobind/stl/string.h>
#include <pthread.h>

#include <chrono>
#include <new>
#include <system_error>
#include <thread>

#include "assay/core/crew.h"
#include "assay/core/error.h"
#include "python/src/module.h"

namespace nb = nanobind;

namespace assay::python {
namespace {

// How often signals and progress are checked.
constexpr std::chrono::milliseconds kTick(50);

thread_local EngineCall* current_call = nullptr;  // the call that this engine thread works for
thread_local EngineCall* served_call = nullptr;   // the call whose Python function runs on this thread

// See EngineCall::Turn.
std::timed_mutex turn_of_pools;

// The end of the interpreter waits for calls: Python would kill their threads in the middle of our code.
std::atomic<bool> closing = false;
std::atomic<int> live_calls = 0;

struct LiveCall {
  LiveCall() { live_calls++; }
  ~LiveCall() { live_calls--; }
  LiveCall(const LiveCall&) = delete;
  LiveCall& operator=(const LiveCall&) = delete;
};

void close_engine() {
  constexpr std::chrono::seconds kPatience(10);  // a Python function may never return
  closing = true;
  const nb::gil_scoped_release release;
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (live_calls > 0 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(kTick / 5);
}

// In a forked process: the threads that had the lock or a call do not exist there.
void note_fork() {
  new (&turn_of_pools) std::timed_mutex;
  live_calls = 0;
}

// Starts the thread of a call. An error if there is none: without it a call could not be interrupted.
template <class Work>
std::thread started(const Work& work) {
  try {
    return std::thread(work);
  } catch (const std::system_error& refused) {
    throw Error(ErrorKind::io,
                "the system refused the one thread that a call needs (a limit on processes or memory): " +
                    refused.code().message());
  }
}

// Warns once in a process: with fewer threads than asked for, only the time changes.
void warn_of_shortage() {
  static std::atomic<bool> warned = false;
  const std::string note = process_crew().note();
  if (note.empty() || warned.exchange(true)) return;
  if (PyErr_WarnEx(PyExc_RuntimeWarning, note.c_str(), 1) != 0) throw nb::python_error();
}

}  // namespace

// Progress of one call, from engine threads. If a task nests in another, the inner one is shown.
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

EngineCall::EngineCall(const Run& run) : run_(run), outer_(served_call) {}

EngineCall::Turn::Turn(const Context& context) {
  for (const EngineCall* call = current_call; call != nullptr; call = call->outer_) {
    if (call->has_turn_) return;
  }
  EngineCall* const call = current_call;
  if (call == nullptr) throw Error(ErrorKind::internal, "a turn was asked for on a thread that works for no call");
  while (!turn_of_pools.try_lock_for(kTick)) context.check_cancelled();
  call->has_turn_ = true;
  holder_ = call;
}

EngineCall::Turn::~Turn() {
  if (holder_ == nullptr) return;
  holder_->has_turn_ = false;
  turn_of_pools.unlock();
}

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

// Call with the lock held. The request runs without it.
void EngineCall::serve(std::unique_lock<std::mutex>& lock) {
  const std::function<void()>* request = request_;
  std::exception_ptr failure = stop_;  // once the caller was interrupted, no more functions are called
  lock.unlock();
  if (!failure) {
    const nb::gil_scoped_acquire gil;
    EngineCall* const before = std::exchange(served_call, this);
    try {
      (*request)();
    } catch (...) {
      failure = std::current_exception();
    }
    served_call = before;
  }
  lock.lock();
  request_failure_ = failure;
  request_ = nullptr;
  changed_.notify_all();
}

void EngineCall::check_signals() {
  if (closing) {
    stop_ = std::make_exception_ptr(Error(ErrorKind::cancelled, "the process ends"));
    return;
  }
  const nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() == 0) return;
  try {
    throw nb::python_error();
  } catch (...) {
    stop_ = std::current_exception();
  }
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

// Tells progress the end: an empty task. If the work was stopped, the caller gets that exception, not one from here.
void EngineCall::say_it_is_over() {
  try {
    run_.progress.attr("update")("", done_, total_);
  } catch (nb::python_error& raised) {
    if (stop_) {
      raised.discard_as_unraisable("progress");
    } else {
      stop_ = std::current_exception();
    }
  } catch (...) {
    if (!stop_) stop_ = std::current_exception();
  }
}

void EngineCall::work(const std::function<void(const Context&)>& body) {
  // A thread that gives up the interpreter now cannot come back to it.
  if (closing) throw Error(ErrorKind::cancelled, "the process ends");
  const bool watched = !run_.progress.is_none();
  const LiveCall live;
  {
    const nb::gil_scoped_release release;
    Watcher watcher(*this);
    Context context;
    context.seed = run_.seed;
    context.threads = run_.threads;
    context.cancelled = &cancelled_;
    if (watched) context.progress = &watcher;
    std::thread worker = started([&] {
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
  if (shown_) say_it_is_over();
  if (stop_) {
    failure_ = nullptr;
    std::rethrow_exception(std::exchange(stop_, nullptr));
  }
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  warn_of_shortage();
}

void bind_run(nb::module_& m) {
  pthread_atfork(nullptr, nullptr, note_fork);
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&close_engine));
  nb::class_<Run>(m, "Run").def(
      "__init__",
      [](Run* self, uint64_t seed, unsigned threads, nb::object progress) {
        new (self) Run{seed, threads, std::move(progress)};
      },
      nb::arg("seed") = 0, nb::arg("threads") = 0, nb::arg("progress") = nb::none());
}

}  // namespace assay::python
