// Tournaments: players of which each pair has a margin by which one beats the other, and orders that go against as
// little of it as possible.
//
//   upsets(order) = sum of margin(i, j) over the pairs where i beats j and yet comes after it
//
// Its minimum is the weighted feedback arc set problem, NP-hard. What several aggregators of ranks need of it is here:
// parts that can be ordered one by one, a bound from below, an exact order of few players and a good order of many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/random.h"

namespace assay {

class Tournament {
 public:
  explicit Tournament(size_t size) : size_(size), margins_(size * size) {}

  size_t size() const { return size_; }
  // How much i beats j by; 0: neither does.
  int64_t margin(size_t i, size_t j) const { return margins_[i * size_ + j]; }
  const int64_t* row(size_t i) const { return &margins_[i * size_]; }
  void set(size_t i, size_t j, int64_t margin) {
    margins_[i * size_ + j] = margin;
    margins_[j * size_ + i] = -margin;
  }
  // Between these players alone, in this order.
  Tournament among(std::span<const uint32_t> players) const;

 private:
  size_t size_;
  std::vector<int64_t> margins_;
};

int64_t upsets(const Tournament& tournament, std::span<const uint32_t> order);

// The strongly connected components of "beats", one after the other so that nobody is beaten by a player of a later
// one; where that leaves a choice, the component with the lowest player first; players ascend within each.
//
// Best orders of the components in this sequence are a best order of all (an extended Condorcet criterion; Truchon
// 1998): no pair across two components is an upset, and the pairs within one cost at least what its best order does.
// Ties need not keep players together for that: a pair that ties costs nothing either way.
// Cost: n^3 / 64.
std::vector<std::vector<uint32_t>> components(const Tournament& tournament, const Context& context = {});

// No order has fewer upsets: triangles i beats j beats k beats i are packed into the margins, each taking the least of
// its three from all of them. Every order breaks each triangle somewhere. Greedy, in order of index.
int64_t triangle_bound(const Tournament& tournament, const Context& context = {});

// The most players that best_order takes.
inline constexpr size_t kMostBySubsets = 20;

// A best order, of several the first in the order of the alphabet, by dynamic programming over the sets of players that
// come last (Held and Karp 1962). Cost: 2^n n / 2 steps of a nanosecond or two and 2^n numbers of 8 bytes.
std::vector<uint32_t> best_order(const Tournament& tournament, const Context& context);

// A good order: from the players by margins summed up and by number of wins, one to three neighbours at a time are put
// where they are best until nothing moves; then again and again from the best order so far with some players put
// elsewhere at random, until an order has as few upsets as `bound` or for about so long whatever n is. Cost: n^2 for
// each round of some ten; up to about 30 ms, from some hundred players on more.
std::vector<uint32_t> good_order(const Tournament& tournament, int64_t bound, RandomStream draw,
                                 const Context& context);

}  // namespace assay
