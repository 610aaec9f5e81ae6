// Coalitions: sets of players, as bits. A list that all rows share.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace assay {

// Either a list of any coalitions; or a range: all coalitions whose bits are first .. first + count - 1, that is all
// subsets of the lowest players, each joined to the same others; or the coalitions along orders of the players. Games
// may have faster code for the last two.
class Coalitions {
 public:
  explicit Coalitions(size_t players) : players_(players), words_((players + 63) / 64) {}
  // A range. count is a power of two, first a multiple of it, players at most 63.
  static Coalitions range(size_t players, uint64_t first, size_t count) {
    assert(players < 64 && (count & (count - 1)) == 0 && first % count == 0 && first + count <= uint64_t{1} << players);
    Coalitions made(players);
    made.is_range_ = true;
    made.first_ = first;
    made.count_ = count;
    return made;
  }
  // The empty coalition, all players, then for each order its first 1, 2, .. players - 1 players. orders holds whole
  // orders of the players, one after another.
  static Coalitions along(size_t players, std::vector<uint32_t> orders) {
    assert(players > 0 && orders.size() % players == 0);
    Coalitions made(players);
    made.add(std::vector<uint64_t>(made.words_));
    made.add(made.complement(0));
    for (size_t first = 0; first < orders.size(); first += players) {
      std::vector<uint64_t> bits(made.words_);
      for (size_t j = first; j + 1 < first + players; j++) {
        bits[orders[j] / 64] |= uint64_t{1} << orders[j] % 64;
        made.add(bits);
      }
    }
    made.orders_ = std::move(orders);
    return made;
  }

  size_t players() const { return players_; }
  size_t size() const { return count_; }
  size_t words() const { return words_; }  // 64-bit words of a coalition
  bool is_range() const { return is_range_; }
  uint64_t first() const { return first_; }
  std::span<const uint32_t> orders() const { return orders_; }  // empty unless made by along()

  bool contains(size_t coalition, size_t player) const {
    return (word(coalition, player / 64) >> player % 64 & 1) != 0;
  }
  // Players 64 w .. 64 w + 63 of a coalition.
  uint64_t word(size_t coalition, size_t w) const {
    return is_range_ ? first_ + coalition : bits_[coalition * words_ + w];
  }

  // Appends a coalition; for lists only.
  void add(std::span<const uint64_t> bits) {
    assert(!is_range_ && orders_.empty() && bits.size() == words_);
    bits_.insert(bits_.end(), bits.begin(), bits.end());
    count_++;
  }
  // All players but those of the coalition.
  std::vector<uint64_t> complement(size_t coalition) const {
    std::vector<uint64_t> other(words_);
    for (size_t w = 0; w < words_; w++) {
      const size_t here = players_ - w * 64 < 64 ? players_ - w * 64 : 64;
      const uint64_t all = here == 64 ? ~uint64_t{0} : (uint64_t{1} << here) - 1;
      other[w] = all & ~word(coalition, w);
    }
    return other;
  }

 private:
  size_t players_;
  size_t words_;
  bool is_range_ = false;
  uint64_t first_ = 0;
  size_t count_ = 0;
  std::vector<uint64_t> bits_;
  std::vector<uint32_t> orders_;
};

}  // namespace assay
