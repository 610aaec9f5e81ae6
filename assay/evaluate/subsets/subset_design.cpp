#include "assay/evaluate/subsets/subset_design.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "assay/core/error.h"
#include "assay/core/random.h"

namespace assay {
namespace {

constexpr size_t kPlayersPerTable = 8;

// The next subset in lexicographic order; false after the last.
bool next_subset(std::vector<uint32_t>& subset, size_t players) {
  const size_t size = subset.size();
  size_t i = size;
  while (i > 0 && subset[i - 1] == players - size + i - 1) i--;
  if (i == 0) return false;
  subset[i - 1]++;
  for (size_t j = i; j < size; j++) subset[j] = subset[j - 1] + 1;
  return true;
}

}  // namespace

double subset_count(size_t players, size_t size) {
  double count = 1;
  size = std::min(size, players - size);
  // Each product is C(players - size + i, i), a whole number, and exact as long as float64 holds it.
  for (size_t i = 1; i <= size; i++) {
    count = count * static_cast<double>(players - size + i) / static_cast<double>(i);
    if (std::isinf(count)) return count;
  }
  return count;
}

void SubsetDesign::add(std::span<const uint32_t> subset) {
  std::vector<uint64_t> bits(kept_.words(), 0);
  for (const uint32_t player : subset) bits[player / 64] |= uint64_t{1} << player % 64;
  Coalitions removed(players());
  removed.add(bits);
  kept_.add(removed.complement(0));
  begins_.push_back(members_.size());
  members_.insert(members_.end(), subset.begin(), subset.end());
  largest_ = std::max(largest_, subset.size());
}

void SubsetDesign::finish() {
  begins_.push_back(members_.size());
  const size_t tables = (players() + kPlayersPerTable - 1) / kPlayersPerTable;
  if (members_.size() <= tables * ((size_t{1} << kPlayersPerTable) + size())) return;
  bytes_.assign(tables * size(), 0);
  for (size_t s = 0; s < size(); s++) {
    for (size_t m = begins_[s]; m < begins_[s + 1]; m++) {
      const uint32_t player = members_[m];
      bytes_[player / kPlayersPerTable * size() + s] |= static_cast<uint8_t>(1U << player % kPlayersPerTable);
    }
  }
  members_ = {};
  begins_ = {};
}

void SubsetDesign::sum(std::span<const float> values, std::span<double> sums, std::vector<double>& tables) const {
  assert(values.size() == players() && sums.size() == size());
  if (bytes_.empty()) {
    for (size_t s = 0; s < size(); s++) {
      double total = 0;
      for (size_t m = begins_[s]; m < begins_[s + 1]; m++) total += values[members_[m]];
      sums[s] = total;
    }
    return;
  }
  tables.resize(size_t{1} << kPlayersPerTable);
  std::ranges::fill(sums, 0.0);
  for (size_t first = 0; first < players(); first += kPlayersPerTable) {
    const size_t here = std::min(kPlayersPerTable, players() - first);
    tables[0] = 0;
    for (size_t p = 0; p < here; p++) {
      const size_t half = size_t{1} << p;
      for (size_t i = 0; i < half; i++) tables[half + i] = tables[i] + values[first + p];
    }
    const uint8_t* bytes = bytes_.data() + first / kPlayersPerTable * size();
    for (size_t s = 0; s < size(); s++) sums[s] += tables[bytes[s]];
  }
}

std::string SubsetDesign::description() const {
  return whole() ? fmt::format("all {} subsets of {} of {} players", size(), largest_, players())
                 : fmt::format("{} random subsets of {} of {} players", size(), largest_, players());
}

SubsetDesign make_subsets(size_t players, size_t size, size_t budget, size_t samples, std::string_view purpose,
                          const Context& context) {
  assert(size >= 1 && size <= players && samples >= 1);
  SubsetDesign made(players);
  made.population_ = subset_count(players, size);
  std::vector<uint32_t> subset(size);
  if (made.population_ <= static_cast<double>(std::max(budget, samples))) {
    std::iota(subset.begin(), subset.end(), 0U);
    do {
      if (made.size() % 4096 == 0) context.check_cancelled();
      made.add(subset);
    } while (next_subset(subset, players));
    made.finish();
    return made;
  }
  std::set<std::vector<uint32_t>> seen;
  for (uint32_t draw = 0; seen.size() < samples; draw++) {
    if (draw % 4096 == 0) context.check_cancelled();
    // A stream for each draw and size: more samples keep the subsets that fewer would have.
    RandomStream(context.seed, purpose, size, draw).subset(static_cast<uint32_t>(players), subset);
    if (seen.insert(subset).second) made.add(subset);
  }
  made.finish();
  return made;
}

SubsetDesign listed_subsets(size_t players, std::span<const std::vector<uint32_t>> subsets) {
  SubsetDesign made(players);
  made.population_ = std::numeric_limits<double>::infinity();
  for (size_t s = 0; s < subsets.size(); s++) {
    std::vector<uint32_t> sorted = subsets[s];
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) != sorted.end()) fail_input(fmt::format("subset {} has a player twice", s));
    if (!sorted.empty() && sorted.back() >= players) {
      fail_input(fmt::format("subset {}: expected players below {}, found {}", s, players, sorted.back()));
    }
    made.add(subsets[s]);
  }
  made.finish();
  return made;
}

}  // namespace assay
