// The k strongest players of an explanation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "assay/evaluate/common.h"

namespace assay {

// The k players of largest |value|, ties by index; listed by ascending index.
inline std::vector<uint32_t> top_players(std::span<const float> values, size_t k) {
  std::vector<uint32_t> order = strongest_first(values);
  order.resize(std::min(k, order.size()));
  std::ranges::sort(order);
  return order;
}

// The players that are among the k strongest of both, listed by ascending index.
inline std::vector<uint32_t> common_top_players(std::span<const float> a, std::span<const float> b, size_t k) {
  const std::vector<uint32_t> of_a = top_players(a, k);
  const std::vector<uint32_t> of_b = top_players(b, k);
  std::vector<uint32_t> both;
  std::ranges::set_intersection(of_a, of_b, std::back_inserter(both));
  return both;
}

}  // namespace assay
