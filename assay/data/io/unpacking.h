// How much a packed file may unpack to. A few hundred bytes can hold gigabytes of zeros, which no table of anybody is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/core/error.h"

namespace assay {

// Read or unpacked between two looks whether to stop: a few packed bytes can hold as much as one likes.
inline constexpr size_t kMostReadAtOnce = size_t{1} << 22;

// Counts what comes out of packed bytes: an input error when that is more than 256 MiB and more than 256 times the
// packed bytes. Tables pack to a half or a fiftieth; gzip reaches 1,000 and xz 7,000 for zeros alone.
class UnpackingLimit {
 public:
  static constexpr uint64_t kFree = uint64_t{256} << 20;
  static constexpr uint64_t kRatio = 256;

  // More packed bytes, of which there may be more to come.
  void add_packed(uint64_t count) { packed_ += count; }
  void add_unpacked(std::string_view where, uint64_t count) {
    unpacked_ += count;
    if (unpacked_ <= kFree || unpacked_ / kRatio <= packed_) return;
    fail_input(where, "data that unpacks to 256 MiB or to 256 times its size (unpack it beforehand if it is sound)",
               "data that unpacks to more");
  }

 private:
  uint64_t packed_ = 0;
  uint64_t unpacked_ = 0;
};

}  // namespace assay
