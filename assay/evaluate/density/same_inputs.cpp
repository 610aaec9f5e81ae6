#include "assay/evaluate/density/same_inputs.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace assay {
namespace {

// FNV-1a over the numbers' bits, those of equal numbers made equal.
uint64_t hash_of(std::span<const float> x) {
  uint64_t hash = 0xcbf29ce484222325U;
  for (const float v : x) {
    const uint32_t bits = std::isnan(v) ? 0x7fc00000U : v == 0 ? 0U : std::bit_cast<uint32_t>(v);
    hash = (hash ^ bits) * 0x100000001b3U;
    hash ^= hash >> 32;
  }
  return hash;
}

bool same(std::span<const float> a, std::span<const float> b) {
  return std::ranges::equal(a, b, [](float v, float w) { return v == w || (std::isnan(v) && std::isnan(w)); });
}

}  // namespace

SameInputs::SameInputs(MatrixView<const float> inputs, std::span<const size_t> rows)
    : inputs_(inputs), rows_(rows.begin(), rows.end()) {
  by_hash_.reserve(rows.size());
  for (size_t i = 0; i < rows.size(); i++) by_hash_.emplace_back(hash_of(inputs.row(rows[i])), i);
  std::ranges::sort(by_hash_);
}

std::vector<size_t> SameInputs::of(std::span<const float> x) const {
  const uint64_t hash = hash_of(x);
  std::vector<size_t> found;
  for (auto at = std::ranges::lower_bound(by_hash_, std::pair(hash, size_t{0})); at != by_hash_.end(); ++at) {
    if (at->first != hash) break;
    if (same(inputs_.row(rows_[at->second]), x)) found.push_back(at->second);
  }
  return found;
}

}  // namespace assay
