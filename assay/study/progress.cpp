#include "assay/study/progress.h"

#include <algorithm>

namespace assay {

StudyProgress::StudyProgress(Progress* outer, double expected) : outer_(outer), expected_(std::max(expected, 1e-9)) {
  if (outer_ != nullptr) outer_->begin("study", kWhole);
}

StudyProgress::~StudyProgress() {
  if (outer_ != nullptr) outer_->end();
}

void StudyProgress::step(std::string_view name, double expected) noexcept {
  before_ = std::min(1.0, before_ + step_);
  step_ = std::clamp(expected / expected_, 0.0, 1.0 - before_);
  task_from_ = 0;
  total_ = 0;
  if (outer_ != nullptr) outer_->rename(name);
  move_to(0);
}

void StudyProgress::begin(std::string_view /*task*/, uint64_t total) noexcept {
  total_ = total;
  done_ = 0;
}

void StudyProgress::advance(uint64_t amount) noexcept {
  done_ += amount;
  if (total_ == 0) return;
  const double share = std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
  move_to(task_from_ + (1 - task_from_) / 2 * share);
}

void StudyProgress::end() noexcept { task_from_ += (1 - task_from_) / 2; }

void StudyProgress::move_to(double share) noexcept {
  if (outer_ == nullptr) return;
  const auto at = static_cast<uint64_t>((before_ + step_ * share) * static_cast<double>(kWhole));
  if (at <= shown_) {
    outer_->advance(0);
    return;
  }
  outer_->advance(at - shown_);
  shown_ = at;
}

}  // namespace assay
