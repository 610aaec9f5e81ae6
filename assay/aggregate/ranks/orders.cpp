// The two ways of ordering a tournament's players that need nothing else: all subsets, and local search.
#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>
#include <numeric>

#include "assay/aggregate/ranks/tournament.h"

namespace assay {
namespace {

constexpr size_t kSetsBetweenChecks = size_t{1} << 16;
constexpr size_t kLongestBlock = 3;
constexpr size_t kPairsToLookAt = 20'000'000;  // in all rounds after the first, about
constexpr size_t kMostRestarts = 500;
constexpr size_t kPutElsewhere = 4;

// What it costs to put one player before all of a set, summed over two halves of the set that are looked up.
class SetCosts {
 public:
  explicit SetCosts(const Tournament& tournament)
      : low_bits_(tournament.size() / 2),
        low_(table(tournament, 0, low_bits_)),
        high_(table(tournament, low_bits_, tournament.size())),
        high_bits_(tournament.size() - low_bits_) {}

  int64_t before(size_t player, uint32_t set) const {
    const uint32_t low = set & ((1U << low_bits_) - 1);
    return low_[(player << low_bits_) + low] + high_[(player << high_bits_) + (set >> low_bits_)];
  }

 private:
  static std::vector<int64_t> table(const Tournament& tournament, size_t begin, size_t end) {
    const size_t sets = size_t{1} << (end - begin);
    std::vector<int64_t> made(tournament.size() * sets, 0);
    for (size_t player = 0; player < tournament.size(); player++) {
      int64_t* own = &made[player * sets];
      for (size_t set = 1; set < sets; set++) {
        const auto lowest = static_cast<size_t>(std::countr_zero(set));
        own[set] = own[set & (set - 1)] + std::max<int64_t>(0, tournament.margin(begin + lowest, player));
      }
    }
    return made;
  }

  size_t low_bits_;
  std::vector<int64_t> low_;
  std::vector<int64_t> high_;
  size_t high_bits_;
};

// An order that is improved in place.
class LocalSearch {
 public:
  LocalSearch(const Tournament& tournament, std::vector<uint32_t> order)
      : tournament_(tournament), order_(std::move(order)) {}

  std::vector<uint32_t> run(const Context& context) {
    // Longer blocks cost more and help only where single players are all in their places.
    for (size_t length = 1; length <= std::min(kLongestBlock, order_.size());) {
      context.check_cancelled();
      length = moved_any(length) ? 1 : length + 1;
    }
    return std::move(order_);
  }

 private:
  bool moved_any(size_t length) {
    bool moved = false;
    for (size_t at = 0; at + length <= order_.size(); at++) moved |= move_block(at, length);
    return moved;
  }

  // What is won when the block at `at` goes to the other side of this player, which is behind it.
  int64_t won_behind(size_t at, size_t length, uint32_t passed) const {
    int64_t sum = 0;
    for (size_t b = 0; b < length; b++) sum -= tournament_.margin(order_[at + b], passed);
    return sum;
  }

  bool move_block(size_t at, size_t length) {
    int64_t most = 0;
    size_t to = at;
    int64_t won = 0;
    for (size_t p = at; p-- > 0;) {
      won -= won_behind(at, length, order_[p]);
      if (won > most) {
        most = won;
        to = p;
      }
    }
    won = 0;
    for (size_t p = at + length; p < order_.size(); p++) {
      won += won_behind(at, length, order_[p]);
      if (won > most) {
        most = won;
        to = p + 1 - length;
      }
    }
    if (to == at) return false;
    const auto begin = order_.begin();
    const auto offset = [](size_t position) { return static_cast<ptrdiff_t>(position); };
    if (to < at) {
      std::rotate(begin + offset(to), begin + offset(at), begin + offset(at + length));
    } else {
      std::rotate(begin + offset(at), begin + offset(at + length), begin + offset(to + length));
    }
    return true;
  }

  const Tournament& tournament_;
  std::vector<uint32_t> order_;
};

std::vector<uint32_t> descending(const std::vector<int64_t>& points) {
  std::vector<uint32_t> order(points.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) { return points[a] > points[b]; });
  return order;
}

}  // namespace

std::vector<uint32_t> best_order(const Tournament& tournament, const Context& context) {
  const size_t n = tournament.size();
  assert(n <= kMostBySubsets);
  const SetCosts costs(tournament);
  // Least upsets among the players of a set, when they come last.
  std::vector<int64_t> least(size_t{1} << n, 0);
  const auto with_first = [&](uint32_t set, uint32_t player) {
    const uint32_t rest = set & ~(1U << player);
    return least[rest] + costs.before(player, rest);
  };
  for (uint32_t set = 1; set < least.size(); set++) {
    if (set % kSetsBetweenChecks == 0) context.check_cancelled();
    int64_t best = std::numeric_limits<int64_t>::max();
    for (uint32_t players = set; players != 0; players &= players - 1) {
      best = std::min(best, with_first(set, static_cast<uint32_t>(std::countr_zero(players))));
    }
    least[set] = best;
  }

  std::vector<uint32_t> order;
  for (auto set = static_cast<uint32_t>(least.size() - 1); set != 0;) {
    uint32_t next = 0;
    while ((set >> next & 1) == 0 || with_first(set, next) != least[set]) next++;
    order.push_back(next);
    set &= ~(1U << next);
  }
  return order;
}

std::vector<uint32_t> good_order(const Tournament& tournament, int64_t bound, RandomStream draw,
                                 const Context& context) {
  const size_t n = tournament.size();
  std::vector<int64_t> sums(n, 0);
  std::vector<int64_t> wins(n, 0);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      const int64_t margin = tournament.margin(i, j);
      sums[i] += margin;
      wins[i] += margin > 0 ? 1 : margin < 0 ? -1 : 0;
    }
  }
  std::vector<uint32_t> best = LocalSearch(tournament, descending(sums)).run(context);
  int64_t least = upsets(tournament, best);
  const auto take_if_good = [&](std::vector<uint32_t> order) {
    const int64_t found = upsets(tournament, order);
    // Also what is no worse: standing still in a plain of equal orders leads nowhere.
    if (found > least) return;
    least = found;
    best = std::move(order);
  };
  take_if_good(LocalSearch(tournament, descending(wins)).run(context));
  const size_t restarts = std::min(kMostRestarts, kPairsToLookAt / (10 * n * n));
  for (size_t r = 0; r < restarts && least > bound; r++) {
    std::vector<uint32_t> order = best;
    for (size_t each = 0; each < kPutElsewhere; each++) {
      const auto from = order.begin() + draw.below(static_cast<uint32_t>(n));
      const uint32_t player = *from;
      order.erase(from);
      order.insert(order.begin() + draw.below(static_cast<uint32_t>(n)), player);
    }
    take_if_good(LocalSearch(tournament, std::move(order)).run(context));
  }
  return best;
}

}  // namespace assay
