#include "assay/core/crew.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <new>
#include <system_error>

namespace assay {
namespace {

// Signals are for the threads of the program that uses us: a thread that it waits on in a system call must be the one
// that is interrupted. Faults and profilers concern the thread that they happen on.
std::thread start_without_signals(std::function<void()> work) {
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGPROF}) sigdelset(&blocked, own);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  struct Restore {
    const sigset_t& mask;
    ~Restore() { pthread_sigmask(SIG_SETMASK, &mask, nullptr); }
  } const restore{before};
  return std::thread(std::move(work));
}

}  // namespace

struct Crew::Loop {
  const std::function<void(size_t)>& body;
  size_t count;
  size_t room;  // for helpers
  size_t helpers = 0;
  std::atomic<size_t> next{0};
  std::condition_variable left = {};  // the last helper did

  bool open() const { return helpers < room && next.load(std::memory_order_relaxed) < count; }
  void work() {
    for (size_t i = next++; i < count; i = next++) body(i);
  }
};

Crew::Crew() : Crew(start_without_signals) {}

Crew::Crew(Start start) : start_(std::move(start)) {}

Crew::~Crew() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  called_.notify_all();
  for (auto& helper : helpers_) helper.join();
}

// With the lock.
void Crew::hire(unsigned wanted) {
  constexpr std::chrono::seconds kPause(1);  // a refusal costs time too, and a loop may come many times a second
  if (helpers_.size() >= wanted) return;
  if (std::chrono::steady_clock::now() >= next_try_) {
    try {
      helpers_.reserve(wanted);
      while (helpers_.size() < wanted) helpers_.push_back(start_([this] { serve(); }));
      return;
    } catch (const std::system_error&) {
      next_try_ = std::chrono::steady_clock::now() + kPause;
    } catch (const std::bad_alloc&) {
      next_try_ = std::chrono::steady_clock::now() + kPause;
    }
  }
  if (wanted + 1 < shortage_.wanted) return;
  shortage_ = {wanted + 1, static_cast<unsigned>(helpers_.size()) + 1};
}

void Crew::run(unsigned threads, size_t count, const std::function<void(size_t)>& body) {
  Loop loop{body, count, std::min<size_t>(std::max(threads, 1u), std::max<size_t>(count, 1)) - 1};
  if (loop.room > 0) {
    {
      const std::lock_guard lock(mutex_);
      hire(static_cast<unsigned>(loop.room));
      loops_.push_back(&loop);
    }
    called_.notify_one();
  }
  loop.work();
  if (loop.room == 0) return;
  std::unique_lock lock(mutex_);
  std::erase(loops_, &loop);
  loop.left.wait(lock, [&] { return loop.helpers == 0; });
}

// With the lock. The latest first: it may be part of an earlier one, which waits for it.
Crew::Loop* Crew::open_loop() {
  const auto found = std::find_if(loops_.rbegin(), loops_.rend(), [](const Loop* loop) { return loop->open(); });
  return found == loops_.rend() ? nullptr : *found;
}

void Crew::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    Loop* const loop = open_loop();
    if (loop == nullptr) {
      if (closing_) return;
      called_.wait(lock);
      continue;
    }
    loop->helpers++;
    // Each helper calls the next two, so that whoever began the loop need not wake them all.
    if (open_loop() != nullptr) {
      called_.notify_one();
      called_.notify_one();
    }
    lock.unlock();
    loop->work();
    lock.lock();
    // With the lock: the loop is gone as soon as its caller sees that nobody is left.
    if (--loop->helpers == 0) loop->left.notify_one();
  }
}

Crew::Shortage Crew::shortage() const {
  const std::lock_guard lock(mutex_);
  return shortage_;
}

std::string Crew::note() const {
  const Shortage found = shortage();
  if (found.wanted == 0) return {};
  return fmt::format(
      "the system refused threads (a limit on processes or memory): {} worked where {} were wanted; the results are "
      "the "
      "same",
      found.had, found.wanted);
}

Crew& process_crew() {
  struct Owned {
    pid_t process;
    Crew crew;
  };
  // Never deleted: a thread that is still in a loop when the program ends must not find it gone.
  static std::atomic<Owned*> current = nullptr;
  Owned* found = current.load();
  while (found == nullptr || found->process != ::getpid()) {
    auto fresh = std::make_unique<Owned>(::getpid());
    if (current.compare_exchange_strong(found, fresh.get())) return fresh.release()->crew;
  }
  return found->crew;
}

}  // namespace assay
