// Tournaments: for each pair of players, a margin by which one beats the other. Here are orders of the players that
// contradict as few of these margins as possible:
//
//   upsets(order) = sum of margin(i, j) over the pairs where i beats j and yet comes after it
//
// The minimum is the weighted feedback arc set problem, which is NP-hard. Here are parts that can be ordered one by
// one, a lower bound, an exact order for few players and a good order for many.
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
  // By how much i beats j; negative if j beats i, 0 for a tie.
  int64_t margin(size_t i, size_t j) const { return margins_[i * size_ + j]; }
  const int64_t* row(size_t i) const { return &margins_[i * size_]; }
  void set(size_t i, size_t j, int64_t margin) {
    margins_[i * size_ + j] = margin;
    margins_[j * size_ + i] = -margin;
  }
  // The tournament of these players alone; they are renumbered in this order.
  Tournament among(std::span<const uint32_t> players) const;

 private:
  size_t size_;
  std::vector<int64_t> margins_;
};

int64_t upsets(const Tournament& tournament, std::span<const uint32_t> order);

// The strongly connected components of "beats", in an order such that no player is beaten by a player of a later
// component. Where there is a choice, the component with the lowest player comes first. Players ascend within each.
//
// Best orders of the components in this sequence are a best order of all (an extended Condorcet criterion; Truchon
// 1998): no pair across two components is an upset, and the pairs within one cost at least what its best order does.
// A tied pair costs nothing either way, so it does not matter to which components its players belong.
// Cost: n^3 / 64.
std::vector<std::vector<uint32_t>> components(const Tournament& tournament, const Context& context = {});

// A lower bound of upsets: every order contradicts one margin of each triangle "i beats j beats k beats i". Triangles
// are taken greedily, in order of index; each adds its least margin to the bound and takes it off its three margins.
int64_t triangle_bound(const Tournament& tournament, const Context& context = {});

// The most players that best_order takes.
inline constexpr size_t kMostBySubsets = 20;

// A best order; of several, the lexicographically first. By dynamic programming over the sets of players that come last
// (Held and Karp 1962). Cost: 2^n n / 2 steps of a nanosecond or two and 2^n numbers of 8 bytes.
std::vector<uint32_t> best_order(const Tournament& tournament, const Context& context);

// A good order, by local search: blocks of one to three neighbours are moved to their best place until nothing moves.
// It starts from the players sorted by the sum of their margins, then by their wins less their losses, then repeatedly
// from the best order so far with some players moved at random. It stops when upsets are as few as `bound`, or after a
// number of restarts that shrinks with n^2. Cost: up to about 30 ms, more from about a hundred players on.
std::vector<uint32_t> good_order(const Tournament& tournament, int64_t bound, RandomStream draw,
                                 const Context& context);

}  // namespace assay
