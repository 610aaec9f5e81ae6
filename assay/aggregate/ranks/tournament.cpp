#include "assay/aggregate/ranks/tournament.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>

namespace assay {
namespace {

constexpr size_t kWord = 64;

// A set of players for each player.
class PlayerSets {
 public:
  explicit PlayerSets(size_t size) : words_((size + kWord - 1) / kWord), bits_(size * words_) {}

  size_t words() const { return words_; }
  uint64_t* of(size_t i) { return &bits_[i * words_]; }
  bool has(size_t i, size_t j) const { return (bits_[i * words_ + j / kWord] >> (j % kWord) & 1) != 0; }
  void add(size_t i, size_t j) { bits_[i * words_ + j / kWord] |= uint64_t{1} << (j % kWord); }
  void remove(size_t i, size_t j) { bits_[i * words_ + j / kWord] &= ~(uint64_t{1} << (j % kWord)); }

 private:
  size_t words_;
  std::vector<uint64_t> bits_;
};

// For each player those that it beats.
PlayerSets beaten_by(const Tournament& tournament) {
  PlayerSets made(tournament.size());
  for (size_t i = 0; i < tournament.size(); i++) {
    const int64_t* row = tournament.row(i);
    for (size_t j = 0; j < tournament.size(); j++) {
      if (row[j] > 0) made.add(i, j);
    }
  }
  return made;
}

}  // namespace

Tournament Tournament::among(std::span<const uint32_t> players) const {
  Tournament made(players.size());
  for (size_t a = 0; a < players.size(); a++) {
    for (size_t b = a + 1; b < players.size(); b++) made.set(a, b, margin(players[a], players[b]));
  }
  return made;
}

int64_t upsets(const Tournament& tournament, std::span<const uint32_t> order) {
  assert(order.size() == tournament.size());
  int64_t sum = 0;
  for (size_t a = 0; a < order.size(); a++) {
    const int64_t* row = tournament.row(order[a]);
    for (size_t b = a + 1; b < order.size(); b++) sum += std::max<int64_t>(0, -row[order[b]]);
  }
  return sum;
}

std::vector<std::vector<uint32_t>> components(const Tournament& tournament, const Context& context) {
  const size_t n = tournament.size();
  PlayerSets reached = beaten_by(tournament);
  for (size_t k = 0; k < n; k++) {
    context.check_cancelled();
    const uint64_t* via = reached.of(k);
    for (size_t i = 0; i < n; i++) {
      if (i == k || !reached.has(i, k)) continue;
      uint64_t* own = reached.of(i);
      for (size_t w = 0; w < reached.words(); w++) own[w] |= via[w];
    }
  }

  std::vector<std::vector<uint32_t>> found;
  std::vector<size_t> of(n, n);
  for (uint32_t i = 0; i < n; i++) {
    if (of[i] != n) continue;
    std::vector<uint32_t>& made = found.emplace_back();
    for (uint32_t j = i; j < n; j++) {
      if (j != i && !(reached.has(i, j) && reached.has(j, i))) continue;
      of[j] = found.size() - 1;
      made.push_back(j);
    }
  }

  // They are numbered by their lowest players, so the lowest number that nothing holds back any more goes next.
  std::vector<size_t> holds_back(found.size(), 0);
  for (size_t a = 0; a < found.size(); a++) {
    for (size_t b = 0; b < found.size(); b++) {
      if (a != b && reached.has(found[a][0], found[b][0])) holds_back[b]++;
    }
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t a = 0; a < found.size(); a++) {
    if (holds_back[a] == 0) ready.push(a);
  }
  std::vector<std::vector<uint32_t>> in_order;
  while (!ready.empty()) {
    const size_t next = ready.top();
    ready.pop();
    for (size_t b = 0; b < found.size(); b++) {
      if (b != next && reached.has(found[next][0], found[b][0]) && --holds_back[b] == 0) ready.push(b);
    }
    in_order.push_back(std::move(found[next]));
    found[next] = {in_order.back()[0]};
  }
  return in_order;
}

int64_t triangle_bound(const Tournament& tournament, const Context& context) {
  const size_t n = tournament.size();
  PlayerSets beats = beaten_by(tournament);
  PlayerSets beaten(n);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      if (tournament.margin(i, j) > 0) beaten.add(j, i);
    }
  }
  std::vector<int64_t> left(n * n);
  for (size_t i = 0; i < n; i++) std::copy_n(tournament.row(i), n, &left[i * n]);
  const auto take = [&](size_t i, size_t j, int64_t amount) {
    left[i * n + j] -= amount;
    if (left[i * n + j] > 0) return;
    beats.remove(i, j);
    beaten.remove(j, i);
  };

  int64_t bound = 0;
  for (size_t i = 0; i < n; i++) {
    context.check_cancelled();
    for (size_t j = 0; j < n; j++) {
      for (size_t w = 0; w < beats.words() && beats.has(i, j); w++) {
        uint64_t close = beats.of(j)[w] & beaten.of(i)[w];
        while (close != 0 && beats.has(i, j)) {
          const size_t k = w * kWord + static_cast<size_t>(std::countr_zero(close));
          close &= close - 1;
          const int64_t least = std::min({left[i * n + j], left[j * n + k], left[k * n + i]});
          bound += least;
          take(i, j, least);
          take(j, k, least);
          take(k, i, least);
        }
      }
    }
  }
  return bound;
}

}  // namespace assay
