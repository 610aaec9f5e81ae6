#include "assay/core/rank_pairs.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace assay {
namespace {

// Sorts, and counts the pairs that were out of order.
uint64_t sort_and_count(std::span<double> values, std::span<double> scratch) {
  if (values.size() < 2) return 0;
  const size_t half = values.size() / 2;
  uint64_t exchanges = sort_and_count(values.first(half), scratch.first(half)) +
                       sort_and_count(values.subspan(half), scratch.subspan(half));
  size_t left = 0;
  size_t right = half;
  for (double& next : scratch) {
    if (right == values.size() || (left < half && values[left] <= values[right])) {
      next = values[left++];
    } else {
      next = values[right++];
      exchanges += half - left;
    }
  }
  std::ranges::copy(scratch, values.begin());
  return exchanges;
}

// Pairs of equal items, which stand side by side.
template <class Equal>
uint64_t tied_pairs(size_t count, const Equal& equal) {
  uint64_t pairs = 0;
  uint64_t run = 1;
  for (size_t i = 1; i < count; i++) {
    run = equal(i - 1, i) ? run + 1 : 1;
    pairs += run - 1;
  }
  return pairs;
}

}  // namespace

RankPairs count_rank_pairs(std::span<const double> a, std::span<const double> b) {
  const size_t count = a.size();
  RankPairs found;
  if (count < 2) return found;
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](uint32_t i, uint32_t j) { return a[i] != a[j] ? a[i] < a[j] : b[i] < b[j]; });
  const auto equal = [&](std::span<const double> values) {
    return [&, values](size_t i, size_t j) { return values[order[i]] == values[order[j]]; };
  };
  found.pairs = static_cast<uint64_t>(count) * (count - 1) / 2;
  found.tied_a = tied_pairs(count, equal(a));
  found.tied_both = tied_pairs(count, [&](size_t i, size_t j) { return equal(a)(i, j) && equal(b)(i, j); });
  std::vector<double> sorted(count);
  for (size_t i = 0; i < count; i++) sorted[i] = b[order[i]];
  std::vector<double> scratch(count);
  found.apart = sort_and_count(sorted, scratch);
  found.tied_b = tied_pairs(count, [&](size_t i, size_t j) { return sorted[i] == sorted[j]; });
  return found;
}

}  // namespace assay
