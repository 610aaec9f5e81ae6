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
    drop(std::ranges::min_element(slots_, {}, [](const auto& each) { return each.second->used; }));
  }
  return found;
}

void Kept::count_bytes(const std::string& name, Slot& slot, size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto own = slots_.find(name);
  // It may have been dropped while it was made. Then only the caller has it.
  if (own == slots_.end() || own->second.get() != &slot) return;
  slot.bytes = bytes;
  bytes_ += bytes;
  while (bytes_ > most_bytes_) {
    auto oldest = slots_.end();
    for (auto each = slots_.begin(); each != slots_.end(); ++each) {
      if (each == own || each->second->bytes == 0) continue;
      if (oldest == slots_.end() || each->second->used < oldest->second->used) oldest = each;
    }
    if (oldest == slots_.end()) return;
    drop(oldest);
  }
}

void Kept::drop(Slots::iterator slot) {
  bytes_ -= slot->second->bytes;
  slots_.erase(slot);
}

size_t Kept::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace assay
