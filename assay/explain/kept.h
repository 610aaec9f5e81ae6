// What methods make once and use for many calls: tables of trees, designs, factorisations.
//
// A PreparedExplainer (prepared.h) owns one and hands it to each of its calls, in ExplainTask::kept. What is kept may
// point to the task's model, players and reference, so these must be the same objects in all calls, and the seed the
// same. ExplainTask::designs is for what does not depend on these objects. Only so many things are kept, those that
// were used last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace assay {

class Kept {
 public:
  Kept() = default;
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  // What is kept under this name, which must be a T, or what make() gives: a std::shared_ptr<const T>. Safe from
  // several threads at once: one of them makes it, and those that want the same wait.
  template <class T, class Make>
  std::shared_ptr<const T> get(const std::string& name, const Make& make) {
    const std::shared_ptr<Slot> slot = slot_of(name);
    const std::lock_guard lock(slot->mutex);
    if (slot->value == nullptr) slot->value = make();
    return std::static_pointer_cast<const T>(slot->value);
  }

 private:
  static constexpr size_t kMost = 128;
  struct Slot {
    std::mutex mutex;
    std::shared_ptr<const void> value;
    uint64_t used = 0;  // when it was last asked for, in calls
  };
  std::shared_ptr<Slot> slot_of(const std::string& name);

  std::mutex mutex_;
  uint64_t calls_ = 0;
  std::map<std::string, std::shared_ptr<Slot>> slots_;
};

// From `kept`, or made for the caller alone if that is null.
template <class T, class Make>
std::shared_ptr<const T> kept_or_made(Kept* kept, const std::string& name, const Make& make) {
  if (kept != nullptr) return kept->get<T>(name, make);
  return make();
}

}  // namespace assay
