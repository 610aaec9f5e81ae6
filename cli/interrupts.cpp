#include "cli/interrupts.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace assay::cli {
namespace {

// A signal handler may use little more than lock-free atomics.
std::atomic<bool> came{false};
static_assert(std::atomic<bool>::is_always_lock_free);

timer_t reminder;
bool has_reminder = false;

void on_interrupt(int) {
  const int error = errno;
  came = true;
  if (has_reminder) {
    constexpr long kTick = 50'000'000;  // nanoseconds
    const itimerspec often{{0, kTick}, {0, kTick}};
    ::timer_settime(reminder, 0, &often, nullptr);
  }
  errno = error;
}

void on_reminder(int) {}

// flags must not have SA_RESTART: calls that wait must return.
void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

bool ignored(int signal) {
  struct sigaction action{};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void heed_interrupts() {
  sigevent by_signal{};
  by_signal.sigev_notify = SIGEV_SIGNAL;
  by_signal.sigev_signo = SIGALRM;
  handle(SIGALRM, on_reminder, 0);
  has_reminder = ::timer_create(CLOCK_MONOTONIC, &by_signal, &reminder) == 0;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (!ignored(signal)) handle(signal, on_interrupt, SA_RESETHAND);
  }
}

const std::atomic<bool>& interrupted() { return came; }

void tell(std::string_view line) noexcept {
  while (!line.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, line.data(), line.size());
    if (count < 0 && (errno != EINTR || came)) return;
    if (count > 0) line.remove_prefix(static_cast<size_t>(count));
  }
}

}  // namespace assay::cli
