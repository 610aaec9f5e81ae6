// One progress bar for a whole study, made of the bars of its steps.
//
// Each step has a share of the bar, in proportion to the time it is expected to take. The number of tasks within a step
// is not known. So the first task fills half of the step's share, the next half of what is left, and so on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/core/context.h"

namespace assay {

class StudyProgress final : public Progress {
 public:
  // outer: the bar that is shown; may be null. Its task begins here and ends in the destructor.
  StudyProgress(Progress* outer, double expected);
  ~StudyProgress() override;
  StudyProgress(const StudyProgress&) = delete;
  StudyProgress& operator=(const StudyProgress&) = delete;

  // Begins the next step. expected: its time, in the unit of the constructor. The step before counts as done.
  void step(std::string_view name, double expected) noexcept;

  void begin(std::string_view task, uint64_t total) noexcept override;
  void advance(uint64_t amount) noexcept override;
  void end() noexcept override;

 private:
  static constexpr uint64_t kWhole = 1'000'000;
  void move_to(double share) noexcept;

  Progress* outer_;
  double expected_;
  double before_ = 0;     // share of the whole that earlier steps have
  double step_ = 0;       // share of the whole that this step has
  double task_from_ = 0;  // where the current task begins within the step, 0 to 1
  uint64_t total_ = 0;
  uint64_t done_ = 0;
  uint64_t shown_ = 0;
};

}  // namespace assay
