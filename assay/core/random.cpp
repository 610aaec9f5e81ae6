#include "assay/core/random.h"

#include <Random123/philox.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

namespace assay {
namespace {

// FNV-1a over the purpose's letters, then SplitMix64's finaliser, so that near seeds give unrelated keys.
uint64_t hash_key(uint64_t seed, std::string_view purpose) {
  uint64_t h = 0xcbf29ce484222325u ^ seed;
  for (const char c : purpose) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  h += 0x9e3779b97f4a7c15u + seed;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
  return h ^ (h >> 31);
}

}  // namespace

RandomStream::RandomStream(uint64_t seed, std::string_view purpose, uint64_t row, uint32_t draw) {
  const uint64_t key = hash_key(seed, purpose);
  key_ = {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)};
  counter_ = {0, draw, static_cast<uint32_t>(row), static_cast<uint32_t>(row >> 32)};
}

void RandomStream::refill() {
  const r123::Philox4x32::ctr_type counter = {{counter_[0], counter_[1], counter_[2], counter_[3]}};
  const r123::Philox4x32::key_type key = {{key_[0], key_[1]}};
  const auto out = r123::Philox4x32()(counter, key);
  for (size_t i = 0; i < 4; ++i) block_[i] = out[i];
  ++counter_[0];
  assert(counter_[0] != 0 && "a stream holds 2^34 numbers");
  used_ = 0;
}

uint32_t RandomStream::bits32() {
  if (used_ == 4) refill();
  return block_[used_++];
}

uint64_t RandomStream::bits64() {
  const uint64_t low = bits32();
  return low | (static_cast<uint64_t>(bits32()) << 32);
}

double RandomStream::uniform() { return static_cast<double>(bits64() >> 11) * 0x1.0p-53; }

double RandomStream::normal() {
  if (std::exchange(has_spare_normal_, false)) return spare_normal_;
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));  // 1 - u lies in (0, 1]
  const double angle = 2.0 * std::numbers::pi * uniform();
  spare_normal_ = radius * std::sin(angle);
  has_spare_normal_ = true;
  return radius * std::cos(angle);
}

uint32_t RandomStream::below(uint32_t bound) {
  assert(bound > 0);
  // Lemire, "Fast random integer generation in an interval" (2019): reject the few products that would bias.
  uint64_t product = static_cast<uint64_t>(bits32()) * bound;
  if (static_cast<uint32_t>(product) < bound) {
    const uint32_t threshold = (0u - bound) % bound;
    while (static_cast<uint32_t>(product) < threshold) product = static_cast<uint64_t>(bits32()) * bound;
  }
  return static_cast<uint32_t>(product >> 32);
}

void RandomStream::permutation(std::span<uint32_t> out) {
  std::iota(out.begin(), out.end(), 0u);
  for (size_t i = out.size(); i > 1; --i) std::swap(out[i - 1], out[below(static_cast<uint32_t>(i))]);
}

void RandomStream::subset(uint32_t bound, std::span<uint32_t> out) {
  assert(out.size() <= bound);
  // Floyd's algorithm: exactly one draw for each member of the subset.
  std::vector<bool> chosen(bound);
  for (auto j = static_cast<uint32_t>(bound - out.size()); j < bound; ++j) {
    const uint32_t candidate = below(j + 1);
    chosen[chosen[candidate] ? j : candidate] = true;
  }
  size_t count = 0;
  for (uint32_t i = 0; i < bound; ++i) {
    if (chosen[i]) out[count++] = i;
  }
}

}  // namespace assay
