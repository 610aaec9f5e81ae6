// One call into the engine from Python.
//
// The work runs on a thread of its own, without the GIL. Meanwhile the calling thread runs Python's signal handlers,
// shows progress, and calls the Python functions that the work needs. So Python functions only ever run on the thread
// that called us. An exception from any of them stops the work and reaches the caller unchanged.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "assay/core/context.h"

namespace assay::python {

// `_core.Run`, made by the Python package.
struct Run {
  uint64_t seed = 0;
  unsigned threads = 0;
  nanobind::object progress = nanobind::none();
};

class EngineCall {
 public:
  explicit EngineCall(const Run& run);
  EngineCall(const EngineCall&) = delete;
  EngineCall& operator=(const EngineCall&) = delete;

  // Runs body(context) on a thread of its own. The calling thread must hold the GIL; it holds it again afterwards.
  template <class Body>
  auto operator()(const Body& body) {
    using Result = decltype(body(std::declval<const Context&>()));
    if constexpr (std::is_void_v<Result>) {
      work([&](const Context& context) { body(context); });
    } else {
      std::optional<Result> result;
      work([&](const Context& context) { result.emplace(body(context)); });
      return std::move(*result);
    }
  }

  // A lock for explanations of pools, which calls on several threads may share. Waiting for it can be cancelled. A call
  // made by a Python function that another call runs shares the lock of that outer call.
  class Turn {
   public:
    explicit Turn(const Context& context);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    EngineCall* holder_ = nullptr;  // null if an outer call has the lock
  };

  // Runs `request` on the thread that called the engine, with the GIL, and waits. Rethrows what it throws. Call only on
  // an engine thread that works for a call.
  static void on_calling_thread(const std::function<void()>& request);

 private:
  class Watcher;

  void work(const std::function<void(const Context&)>& body);
  void serve(std::unique_lock<std::mutex>& lock);
  void show_progress(std::unique_lock<std::mutex>& lock);
  void check_signals();
  void say_it_is_over();

  const Run& run_;
  EngineCall* outer_ = nullptr;  // the call that runs the Python function that made this call; may be null
  bool has_turn_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> cancelled_ = false;
  const std::function<void()>* request_ = nullptr;  // to run on the calling thread; the work waits for it
  std::exception_ptr request_failure_;
  std::exception_ptr stop_;  // what a signal handler or the progress object raised
  std::exception_ptr failure_;
  bool finished_ = false;
  // Progress, set by the engine's threads.
  std::string task_;
  uint64_t done_ = 0;
  uint64_t total_ = 0;
  bool moved_ = false;
  bool shown_ = false;
};

// Runs body(context) in a call of its own.
template <class Body>
auto run_engine(const Run& run, const Body& body) {
  return EngineCall(run)(body);
}

}  // namespace assay::python
