// Counter-based randomness: every draw is a pure function of (seed, purpose, row, draw).
//
// A stream is Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011)
// keyed by seed and purpose, its counter holding row, draw and a running block number. Nothing is shared between
// streams, so results do not depend on threads, batches or the order of rows. The distributions are ours, because
// the standard library's differ between implementations.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace assay {

class RandomStream {
 public:
  // purpose names who draws ("kernel_shap", "split"), so that two users of one seed never share numbers.
  RandomStream(uint64_t seed, std::string_view purpose, uint64_t row = 0, uint32_t draw = 0);

  uint32_t bits32();
  uint64_t bits64();
  double uniform();                // [0, 1), 53 random bits
  double normal();                 // mean 0, variance 1 (Box-Muller)
  uint32_t below(uint32_t bound);  // 0 .. bound - 1, unbiased; bound > 0

  // A uniformly random order of 0 .. out.size() - 1.
  void permutation(std::span<uint32_t> out);
  // A uniformly random set of out.size() distinct numbers below `bound`, ascending.
  void subset(uint32_t bound, std::span<uint32_t> out);

 private:
  void refill();

  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_;
  std::array<uint32_t, 4> block_{};
  unsigned used_ = 4;
  double spare_normal_ = 0;
  bool has_spare_normal_ = false;
};

}  // namespace assay
