#include "assay/evaluate/agreement/rank_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "assay/core/statistics.h"
#include "assay/evaluate/common.h"

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

// Pairs of equal neighbours in a sorted order.
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

double spearman(std::span<const double> a, std::span<const double> b) { return pearson(ranks_of(a), ranks_of(b)); }

double kendall_tau_b(std::span<const double> a, std::span<const double> b) {
  const size_t count = a.size();
  if (count < 2) return NAN;
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](uint32_t i, uint32_t j) { return a[i] != a[j] ? a[i] < a[j] : b[i] < b[j]; });
  const uint64_t tied_a = tied_pairs(count, [&](size_t i, size_t j) { return a[order[i]] == a[order[j]]; });
  const uint64_t tied_both =
      tied_pairs(count, [&](size_t i, size_t j) { return a[order[i]] == a[order[j]] && b[order[i]] == b[order[j]]; });
  std::vector<double> sorted(count);
  for (size_t i = 0; i < count; i++) sorted[i] = b[order[i]];
  std::vector<double> scratch(count);
  const auto apart = static_cast<double>(sort_and_count(sorted, scratch));
  const uint64_t tied_b = tied_pairs(count, [&](size_t i, size_t j) { return sorted[i] == sorted[j]; });
  const uint64_t pairs = static_cast<uint64_t>(count) * (count - 1) / 2;
  if (tied_a == pairs || tied_b == pairs) return NAN;
  const auto untied_a = static_cast<double>(pairs - tied_a);
  const auto untied_b = static_cast<double>(pairs - tied_b);
  // Pairs tied in neither agree or not.
  const auto untied = static_cast<double>(pairs - tied_a - tied_b + tied_both);
  return std::clamp((untied - 2 * apart) / (std::sqrt(untied_a) * std::sqrt(untied_b)), -1.0, 1.0);
}

}  // namespace assay
