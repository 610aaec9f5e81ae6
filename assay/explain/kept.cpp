#include "assay/explain/kept.h"

#include <algorithm>

namespace assay {

std::shared_ptr<Kept::Slot> Kept::slot_of(const std::string& name) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Slot>& slot = slots_[name];
  if (slot == nullptr) slot = std::make_shared<Slot>();
  slot->used = ++calls_;
  std::shared_ptr<Slot> found = slot;
  if (slots_.size() > kMost) {
    slots_.erase(std::ranges::min_element(slots_, {}, [](const auto& each) { return each.second->used; }));
  }
  return found;
}

}  // namespace assay
