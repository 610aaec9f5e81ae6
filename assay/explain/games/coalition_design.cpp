#include "assay/explain/games/coalition_design.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <set>

#include "assay/core/random.h"

namespace assay {
namespace {

constexpr size_t kLeastPairs = 2;
// Draws between two looks at whether to stop, a power of two.
constexpr size_t kDrawsPerCheck = 256;

// Sizes k and d - k; one size when they are the same.
double sizes_of(size_t players, size_t size) { return 2 * size == players ? 1 : 2; }

double share_of_size(size_t players, size_t size, PairAllocation allocation) {
  const double product = static_cast<double>(size) * static_cast<double>(players - size);
  switch (allocation) {
    case PairAllocation::kernel: return 1 / product;
    case PairAllocation::leverage: return 1;
    case PairAllocation::balanced: return 1 / std::sqrt(product);
  }
  return 1;
}

// Strata whose share covers them are taken whole, until no further one is covered by what is left.
std::vector<double> real_counts(const std::vector<PairStratum>& strata, const std::vector<double>& shares,
                                double pairs) {
  std::vector<double> counts(strata.size());
  std::vector<bool> whole(strata.size());
  for (bool again = true; again;) {
    again = false;
    double left = pairs;
    double total = 0;
    for (size_t s = 0; s < strata.size(); s++)
      (whole[s] ? left : total) += whole[s] ? -strata[s].population : shares[s];
    for (size_t s = 0; s < strata.size(); s++) {
      if (whole[s]) continue;
      counts[s] = left * shares[s] / total;
      if (counts[s] < strata[s].population) continue;
      counts[s] = strata[s].population;
      whole[s] = again = true;
    }
  }
  return counts;
}

// Whole numbers of the same sum: largest remainders, then those with too few take from the one with most.
std::vector<size_t> whole_counts(const std::vector<PairStratum>& strata, const std::vector<double>& counts,
                                 size_t pairs) {
  std::vector<size_t> whole(counts.size());
  for (size_t s = 0; s < counts.size(); s++) whole[s] = static_cast<size_t>(counts[s]);
  std::vector<size_t> order(counts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto remainder = [&](size_t s) { return counts[s] - static_cast<double>(whole[s]); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return remainder(a) > remainder(b); });
  const auto room = [&](size_t s) { return static_cast<double>(whole[s]) < strata[s].population; };
  size_t left = pairs - std::accumulate(whole.begin(), whole.end(), size_t{0});
  while (left > 0) {
    for (const size_t s : order) {
      if (left == 0) break;
      if (!room(s)) continue;
      whole[s]++;
      left--;
    }
  }
  for (size_t s = 0; s < whole.size(); s++) {
    while (whole[s] < kLeastPairs && room(s)) {
      const auto most = std::max_element(whole.begin(), whole.end());
      if (*most <= kLeastPairs) break;
      --*most;
      whole[s]++;
    }
  }
  return whole;
}

std::vector<uint64_t> bits_of(std::span<const uint32_t> members, size_t words) {
  std::vector<uint64_t> bits(words);
  for (const uint32_t player : members) bits[player / 64] |= uint64_t{1} << player % 64;
  return bits;
}

// Calls take(members) for all subsets of `size` of the players first .. players - 1, in lexicographic order, until it
// returns false.
template <class Take>
void for_subsets(size_t players, size_t first, size_t size, const Take& take) {
  std::vector<uint32_t> members(size);
  std::iota(members.begin(), members.end(), static_cast<uint32_t>(first));
  while (take(std::span<const uint32_t>(members))) {
    size_t at = size;
    while (at > 0 && members[at - 1] == players - size + at - 1) at--;
    if (at == 0) return;
    members[at - 1]++;
    for (size_t i = at; i < size; i++) members[i] = members[i - 1] + 1;
  }
}

// Draws the first halves of a stratum's pairs.
class StratumDraw {
 public:
  StratumDraw(size_t players, const PairStratum& stratum, const Context& context)
      : players_(players),
        words_((players + 63) / 64),
        // Both halves of a pair have half the players: the one with player 0 stands for it.
        fixed_(2 * stratum.size == players ? 1 : 0),
        size_(stratum.size),
        count_(stratum.end - stratum.begin),
        population_(stratum.population),
        context_(context),
        random_(context.seed, "kernel_shap", 0, static_cast<uint32_t>(stratum.size)) {}

  void add_to(Coalitions& coalitions) {
    // Drawing anew what was drawn before is cheap while less than half of all is wanted; beyond, all are few.
    if (2 * static_cast<double>(count_) < population_) {
      add_distinct(coalitions);
    } else {
      add_by_number(coalitions);
    }
  }

 private:
  void add_distinct(Coalitions& coalitions) {
    std::set<std::vector<uint64_t>> seen;
    std::vector<uint32_t> members(size_);
    const std::span<uint32_t> free = std::span(members).subspan(fixed_);
    for (size_t draw = 0; seen.size() < count_; draw++) {
      if (draw % kDrawsPerCheck == 0) context_.check_cancelled();
      random_.subset(static_cast<uint32_t>(players_ - fixed_), free);
      for (uint32_t& player : free) player += static_cast<uint32_t>(fixed_);
      const std::vector<uint64_t> bits = bits_of(members, words_);
      if (seen.insert(bits).second) coalitions.add(bits);
    }
  }

  void add_by_number(Coalitions& coalitions) {
    std::vector<uint32_t> numbers(count_);
    random_.subset(static_cast<uint32_t>(population_), numbers);
    uint32_t number = 0;
    size_t taken = 0;
    for_subsets(players_, fixed_, size_ - fixed_, [&](std::span<const uint32_t> free) {
      if (number % kDrawsPerCheck == 0) context_.check_cancelled();
      if (number++ == numbers[taken]) {
        std::vector<uint64_t> bits = bits_of(free, words_);
        if (fixed_ == 1) bits[0] |= 1;
        coalitions.add(bits);
        taken++;
      }
      return taken < count_;
    });
  }

  size_t players_;
  size_t words_;
  size_t fixed_;
  size_t size_;
  size_t count_;
  double population_;
  const Context& context_;
  RandomStream random_;
};

}  // namespace

std::vector<PairStratum> allocate_pairs(size_t players, size_t pairs, PairAllocation allocation) {
  std::vector<PairStratum> strata;
  std::vector<double> shares;
  double choose = 1;
  double population = 0;
  const auto d = static_cast<double>(players);
  for (size_t size = 1; 2 * size <= players; size++) {
    const auto k = static_cast<double>(size);
    choose = std::round(choose * (d - k + 1) / k);
    const double sizes = sizes_of(players, size);
    strata.push_back({.size = size, .population = choose * sizes / 2, .mass = sizes * (d - 1) / (k * (d - k))});
    shares.push_back(sizes * share_of_size(players, size, allocation));
    population += strata.back().population;
  }
  assert(pairs >= players && static_cast<double>(pairs) <= population);
  const auto counts = whole_counts(strata, real_counts(strata, shares, static_cast<double>(pairs)), pairs);
  size_t next = 0;
  for (size_t s = 0; s < strata.size(); s++) {
    strata[s].begin = next;
    strata[s].end = next += counts[s];
  }
  return strata;
}

PairDesign make_pair_design(size_t players, size_t pairs, PairAllocation allocation, const Context& context) {
  PairDesign design{Coalitions(players), allocate_pairs(players, pairs, allocation)};
  design.coalitions.add(std::vector<uint64_t>(design.coalitions.words()));
  design.coalitions.add(design.coalitions.complement(0));
  for (const PairStratum& stratum : design.strata) {
    StratumDraw(players, stratum, context).add_to(design.coalitions);
  }
  for (size_t p = 0; p < pairs; p++) design.coalitions.add(design.coalitions.complement(2 + p));
  return design;
}

}  // namespace assay
