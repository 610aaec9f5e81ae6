#include "assay/data/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "assay/core/error.h"
#include "assay/core/random.h"

namespace assay {
namespace {

std::vector<std::vector<size_t>> rows_by_class(std::span<const float> labels) {
  std::map<float, std::vector<size_t>> classes;
  std::vector<size_t> unlabelled;
  for (size_t i = 0; i < labels.size(); ++i) {
    (std::isnan(labels[i]) ? unlabelled : classes[labels[i]]).push_back(i);
  }
  std::vector<std::vector<size_t>> out;
  for (auto& [label, rows] : classes) out.push_back(std::move(rows));
  if (!unlabelled.empty()) out.push_back(std::move(unlabelled));
  return out;
}

// How many of `total` each class gives: its exact share rounded down, the rest to the largest remainders.
std::vector<size_t> quotas(const std::vector<std::vector<size_t>>& classes, size_t rows, size_t total) {
  std::vector<size_t> quota(classes.size());
  std::vector<size_t> remainder(classes.size());
  size_t given = 0;
  for (size_t c = 0; c < classes.size(); ++c) {
    // In whole numbers, so that no rounding decides; both factors are row numbers below 2^32.
    const uint64_t product = classes[c].size() * total;
    quota[c] = product / rows;
    remainder[c] = product % rows;
    given += quota[c];
  }
  std::vector<size_t> order(classes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return remainder[a] > remainder[b]; });
  for (size_t i = 0; given < total; ++i, ++given) ++quota[order[i]];
  return quota;
}

std::vector<size_t> draw(std::span<const float> labels, size_t total, uint64_t seed) {
  const auto classes = rows_by_class(labels);
  const auto quota = quotas(classes, labels.size(), total);
  std::vector<size_t> chosen;
  for (size_t c = 0; c < classes.size(); ++c) {
    std::vector<uint32_t> picks(quota[c]);
    RandomStream(seed, "stratified", c).subset(static_cast<uint32_t>(classes[c].size()), picks);
    for (const uint32_t pick : picks) chosen.push_back(classes[c][pick]);
  }
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace

RowSplit stratified_split(std::span<const float> labels, double test_share, uint64_t seed) {
  if (!(test_share > 0 && test_share < 1)) {
    fail_input("test share", "a number between 0 and 1", fmt::format("{}", test_share));
  }
  RowSplit split;
  split.test = draw(labels, static_cast<size_t>(std::llround(test_share * static_cast<double>(labels.size()))), seed);
  for (size_t i = 0, next = 0; i < labels.size(); ++i) {
    if (next < split.test.size() && split.test[next] == i) {
      ++next;
    } else {
      split.train.push_back(i);
    }
  }
  return split;
}

std::vector<size_t> stratified_sample(std::span<const float> labels, size_t count, uint64_t seed) {
  return draw(labels, std::min(count, labels.size()), seed);
}

}  // namespace assay
