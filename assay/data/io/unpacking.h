// Limits how much a packed file may unpack to: a few hundred bytes can hold gigabytes of zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assay/core/error.h"

namespace assay {

// The most bytes that are read or unpacked between two checks for cancellation.
inline constexpr size_t kMostReadAtOnce = size_t{1} << 22;

// Counts what comes out of packed bytes: an input error when that is more than 256 MiB and more than 256 times the
// packed bytes. Real tables unpack to 2 to 50 times their size; zeros alone reach 1,000 (gzip) and 7,000 (xz).
class UnpackingLimit {
 public:
  static constexpr uint64_t kFree = uint64_t{256} << 20;
  static constexpr uint64_t kRatio = 256;

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
