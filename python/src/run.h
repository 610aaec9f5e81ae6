// One call into the engine from Python.
//
// The work runs on a thread of its own, and the GIL is released. The calling thread waits: it runs Python's signal
// handlers, shows progress, and calls the Python functions that the work asks for, so that these see no thread but the
// one that called us. An exception from any of them stops the work and reaches the caller unchanged.
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

// As Python makes it: `_core.Run`.
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

  // body(context) on a thread of its own. The calling thread has the GIL, and has it again afterwards.
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

  // Only one call at a time works on explanations of pools, which calls of several threads share. Waits for its turn,
  // and lets itself be cancelled; a call that a function of another call makes has that one's turn.
  class Turn {
   public:
    explicit Turn(const Context& context);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    EngineCall* holder_ = nullptr;  // null where an outer call has it
  };

  // Runs `request` on the thread that called the engine, with the GIL, and waits for it. Only on an engine thread that
  // works for a call; what it throws is thrown here.
  static void on_calling_thread(const std::function<void()>& request);

 private:
  class Watcher;

  void work(const std::function<void(const Context&)>& body);
  void serve(std::unique_lock<std::mutex>& lock);
  void show_progress(std::unique_lock<std::mutex>& lock);
  void check_signals();
  void say_it_is_over();

  const Run& run_;
  EngineCall* outer_ = nullptr;  // the call whose function made this one
  bool has_turn_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> cancelled_ = false;
  const std::function<void()>* request_ = nullptr;  // what the work waits for
  std::exception_ptr request_failure_;
  std::exception_ptr stop_;  // what a signal handler or the progress object raised
  std::exception_ptr failure_;
  bool finished_ = false;
  // Progress, as the engine's threads tell it.
  std::string task_;
  uint64_t done_ = 0;
  uint64_t total_ = 0;
  bool moved_ = false;
  bool shown_ = false;
};

// body(context) in a call of its own.
template <class Body>
auto run_engine(const Run& run, const Body& body) {
  EngineCall call(run);
  return call(body);
}

}  // namespace assay::python
