#include "assay/data/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>

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

// Checked, and as a number of rows.
size_t test_rows(size_t rows, double test_share) {
  if (!(test_share > 0 && test_share < 1)) {
    fail_input("test share", "a number between 0 and 1", fmt::format("{}", test_share));
  }
  return static_cast<size_t>(std::llround(test_share * static_cast<double>(rows)));
}

std::vector<std::vector<size_t>> rows_by_group(std::span<const size_t> groups) {
  std::unordered_map<size_t, size_t> index;
  std::vector<std::vector<size_t>> out;
  for (size_t i = 0; i < groups.size(); ++i) {
    const auto [found, fresh] = index.emplace(groups[i], out.size());
    if (fresh) out.emplace_back();
    out[found->second].push_back(i);
  }
  return out;
}

// Moves the group to the other side where that brings the test part's counts nearer to what is wanted. missing: by
// class, how many rows the test part still lacks; below zero where it has too many.
bool move_group(const std::vector<size_t>& rows, const std::vector<size_t>& class_of, bool in_test,
                std::vector<int64_t>& missing) {
  const int64_t sign = in_test ? -1 : 1;
  std::map<size_t, int64_t> counts;
  for (const size_t row : rows) ++counts[class_of[row]];
  // |missing|^2 - |missing - sign counts|^2
  int64_t gain = 0;
  for (const auto& [c, count] : counts) gain += count * (2 * sign * missing[c] - count);
  if (gain <= 0) return false;
  for (const auto& [c, count] : counts) missing[c] -= sign * count;
  return true;
}

}  // namespace

RowSplit stratified_split(std::span<const float> labels, double test_share, uint64_t seed) {
  RowSplit split;
  split.test = draw(labels, test_rows(labels.size(), test_share), seed);
  for (size_t i = 0, next = 0; i < labels.size(); ++i) {
    if (next < split.test.size() && split.test[next] == i) {
      ++next;
    } else {
      split.train.push_back(i);
    }
  }
  return split;
}

RowSplit grouped_split(std::span<const float> labels, std::span<const size_t> groups, double test_share,
                       uint64_t seed) {
  if (groups.empty()) return stratified_split(labels, test_share, seed);
  if (groups.size() != labels.size()) {
    fail_input("groups", fmt::format("one for each of {} rows", labels.size()), fmt::format("{}", groups.size()));
  }
  const auto classes = rows_by_class(labels);
  const auto quota = quotas(classes, labels.size(), test_rows(labels.size(), test_share));
  std::vector<size_t> class_of(labels.size());
  for (size_t c = 0; c < classes.size(); ++c) {
    for (const size_t row : classes[c]) class_of[row] = c;
  }
  std::vector<int64_t> missing(quota.begin(), quota.end());
  const auto members = rows_by_group(groups);
  std::vector<uint32_t> order(members.size());
  RandomStream(seed, "grouped split").permutation(order);
  std::vector<bool> in_test(members.size(), false);
  // Every move makes the distance, a whole number, smaller: there is an end. Later rounds mend what mixed groups broke.
  for (bool moved = true; moved;) {
    moved = false;
    for (const uint32_t group : order) {
      if (!move_group(members[group], class_of, in_test[group], missing)) continue;
      in_test[group] = !in_test[group];
      moved = true;
    }
  }
  RowSplit split;
  for (size_t group = 0; group < members.size(); ++group) {
    auto& side = in_test[group] ? split.test : split.train;
    side.insert(side.end(), members[group].begin(), members[group].end());
  }
  std::ranges::sort(split.train);
  std::ranges::sort(split.test);
  return split;
}

std::vector<size_t> stratified_sample(std::span<const float> labels, size_t count, uint64_t seed) {
  return draw(labels, std::min(count, labels.size()), seed);
}

}  // namespace assay
