// Memory that a game's calls reuse, from any thread.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "assay/core/aligned_memory.h"

namespace assay {

// Memory for numbers, aligned for all vector types. Its contents are lost when it grows.
template <class T>
class VectorBuffer {
 public:
  T* get(size_t count) {
    if (count > size_) {
      data_.reset();
      size_ = 0;
      data_.reset(static_cast<T*>(aligned_memory(count * sizeof(T))));
      size_ = count;
    }
    return data_.get();
  }
  T* zeros(size_t count) {
    T* data = get(count);
    if (count > 0) std::memset(data, 0, count * sizeof(T));
    return data;
  }

 private:
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };
  std::unique_ptr<T, Free> data_;
  size_t size_ = 0;
};

// Each call leases a Scratch of its own. Not thread_local: a thread that waits in one call may start a second one.
template <class Scratch>
class ScratchPool {
 public:
  class Lease {
   public:
    explicit Lease(ScratchPool& pool) : pool_(pool) {
      const std::lock_guard lock(pool.mutex_);
      if (pool.idle_.empty()) {
        scratch_ = std::make_unique<Scratch>();
      } else {
        scratch_ = std::move(pool.idle_.back());
        pool.idle_.pop_back();
      }
    }
    ~Lease() {
      const std::lock_guard lock(pool_.mutex_);
      pool_.idle_.push_back(std::move(scratch_));
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Scratch* operator->() const { return scratch_.get(); }
    Scratch& operator*() const { return *scratch_; }

   private:
    ScratchPool& pool_;
    std::unique_ptr<Scratch> scratch_;
  };

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> idle_;
};

}  // namespace assay
