#include "cli/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "assay/core/text.h"

namespace assay::cli {
void ProgressLine::begin(std::string_view task, uint64_t total) noexcept {
  task_ = one_line(task);
  total_ = total;
  done_ = 0;
  started_ = drawn_ = Clock::now();
}

void ProgressLine::rename(std::string_view task) noexcept { task_ = one_line(task); }

void ProgressLine::advance(uint64_t amount) noexcept {
  done_ += amount;
  const auto now = Clock::now();
  if (now - drawn_ < std::chrono::milliseconds(200)) return;
  drawn_ = now;
  visible_ = true;
  draw(now);
}

void ProgressLine::draw(Clock::time_point now) const {
  const double share = total_ > 0 ? static_cast<double>(done_) / static_cast<double>(total_) : 0;
  const double elapsed = std::chrono::duration<double>(now - started_).count();
  const std::string left = share > 0 ? ", " + time_text(elapsed * (1 - share) / share) + " left" : "";
  // Not fmt::print, which throws when the terminal has gone.
  std::fputs(fmt::format("\r\x1b[K{}: {:.0f} %{}", task_, 100 * share, left).c_str(), stderr);
  std::fflush(stderr);
}

void ProgressLine::end() noexcept {
  if (visible_) std::fputs("\r\x1b[K", stderr);
  visible_ = false;
}

}  // namespace assay::cli
