// Progress on stderr while the program works.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "assay/core/context.h"
#include "assay/core/table_text.h"

namespace assay::cli {

// A line on stderr with the share done and the time left, redrawn a few times a second.
class ProgressLine : public Progress {
 public:
  void begin(std::string_view task, uint64_t total) noexcept override;
  void rename(std::string_view task) noexcept override;
  void advance(uint64_t amount) noexcept override;
  void end() noexcept override;

 private:
  using Clock = std::chrono::steady_clock;
  void draw(Clock::time_point now) const;

  std::string task_;
  uint64_t total_ = 0;
  uint64_t done_ = 0;
  Clock::time_point started_;
  Clock::time_point drawn_;
  bool visible_ = false;
};

}  // namespace assay::cli
