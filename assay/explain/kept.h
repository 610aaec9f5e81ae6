// What methods make once and use for many calls: tables of trees, designs, factorisations.
//
// A PreparedExplainer (prepared.h) owns one and hands it to each of its calls, in ExplainTask::kept. What is kept may
// point to the task's model, players and reference, so these must be the same objects in all calls, and the seed the
// same. ExplainTask::designs is for what does not depend on these objects. Only so many things are kept, and only so
// many bytes of those that tell their size (bytes()); those that were used last stay. What is not kept any more is made
// again when it is asked for, with the same bits.
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
  static constexpr size_t kMostBytes = size_t{1} << 30;

  // One thing may be larger than most_bytes and is kept alone.
  explicit Kept(size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  // What is kept under this name, which must be a T, or what make() gives: a std::shared_ptr<const T>. Safe from
  // several threads at once: one of them makes it, and those that want the same wait.
  template <class T, class Make>
  std::shared_ptr<const T> get(const std::string& name, const Make& make) {
    const std::shared_ptr<Slot> slot = slot_of(name);
    const std::lock_guard lock(slot->mutex);
    if (slot->value == nullptr) {
      const std::shared_ptr<const T> made = make();
      if constexpr (requires { made->bytes(); }) count_bytes(name, *slot, made->bytes());
      slot->value = made;
    }
    return std::static_pointer_cast<const T>(slot->value);
  }

  // Of the things that are kept and tell their size.
  size_t bytes() const;
  size_t most_bytes() const { return most_bytes_; }

 private:
  static constexpr size_t kMost = 128;
  struct Slot {
    std::mutex mutex;
    std::shared_ptr<const void> value;
    // Guarded by the mutex of Kept:
    uint64_t used = 0;  // when it was last asked for, in calls
    size_t bytes = 0;
  };
  using Slots = std::map<std::string, std::shared_ptr<Slot>>;
  std::shared_ptr<Slot> slot_of(const std::string& name);
  // Counts what was made for a slot, and drops others where it is too much.
  void count_bytes(const std::string& name, Slot& slot, size_t bytes);
  void drop(Slots::iterator slot);

  const size_t most_bytes_;
  mutable std::mutex mutex_;
  size_t bytes_ = 0;
  uint64_t calls_ = 0;
  Slots slots_;
};

// From `kept`, or made for the caller alone if that is null.
template <class T, class Make>
std::shared_ptr<const T> kept_or_made(Kept* kept, const std::string& name, const Make& make) {
  if (kept != nullptr) return kept->get<T>(name, make);
  return make();
}

}  // namespace assay
