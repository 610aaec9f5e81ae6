// One progress bar for a whole study, made of the bars of its steps.
//
// Each step has a share of the whole by what it is expected to take. Tasks within a step move the bar through that
// share: the first through half of it, the next through half of what is left, and so on, for nobody knows how many
// come.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/core/context.h"

namespace assay {

class StudyProgress final : public Progress {
 public:
  // outer may be null; begins it and ends it.
  StudyProgress(Progress* outer, double expected);
  ~StudyProgress() override;
  StudyProgress(const StudyProgress&) = delete;
  StudyProgress& operator=(const StudyProgress&) = delete;

  // The next step, and what it is expected to take; what is left of the one before counts as done.
  void step(std::string_view name, double expected) noexcept;

  void begin(std::string_view task, uint64_t total) noexcept override;
  void advance(uint64_t amount) noexcept override;
  void end() noexcept override;

 private:
  static constexpr uint64_t kWhole = 1'000'000;
  void move_to(double share) noexcept;

  Progress* outer_;
  double expected_;
  double before_ = 0;     // share of the steps that are done
  double step_ = 0;       // share of this step
  double task_from_ = 0;  // within the step, 0 to 1
  uint64_t total_ = 0;
  uint64_t done_ = 0;
  uint64_t shown_ = 0;
};

}  // namespace assay
