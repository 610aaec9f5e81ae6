// What a search collects: the k nearest rows, or all within a radius. Rows are offered in any order; the result does
// not depend on it. Call sort() once, after all offers: it sorts by (distance, row).
//
// limit(lowest_row): rows with this number or a higher one can enter the list only if their distance is at most this.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "assay/data/neighbours.h"

namespace assay {

// The order of a list. A function object, so that sorting inlines it.
struct Closer {
  bool operator()(const Neighbour& a, const Neighbour& b) const {
    return a.distance != b.distance ? a.distance < b.distance : a.row < b.row;
  }
};

// Sorts neighbours of distinct rows, in linear time unless distances are very unevenly spread. A wide radius finds tens
// of thousands, and sorting them by comparisons would take far longer than finding them.
void sort_neighbours(std::span<Neighbour> items);

class NearestList {
 public:
  static constexpr bool kShrinks = true;  // limit() falls as rows are offered: near ones are best offered first

  // coincident: whether rows at distance 0 count.
  NearestList(size_t k, size_t excluded, bool coincident = true)
      : k_(k), excluded_(excluded), coincident_(coincident) {}

  double limit(size_t lowest_row) const { return lowest_row < last_row_ ? limit_ : limit_without_ties_; }

  void offer(double distance, size_t row) {
    if (row == excluded_ || (!coincident_ && distance == 0)) return;
    const Neighbour item{row, distance};
    if (items_.size() == k_) {
      if (!Closer()(item, items_.front())) return;
      std::pop_heap(items_.begin(), items_.end(), Closer());
      items_.back() = item;
    } else {
      items_.push_back(item);
    }
    std::push_heap(items_.begin(), items_.end(), Closer());
    if (items_.size() < k_) return;
    last_row_ = items_.front().row;
    limit_ = items_.front().distance;
    limit_without_ties_ = std::nextafter(limit_, -1.0);
  }

  void sort() { std::sort_heap(items_.begin(), items_.end(), Closer()); }
  std::span<const Neighbour> items() const { return items_; }

 private:
  size_t k_;
  size_t excluded_;
  bool coincident_;
  size_t last_row_ = kNoRow;
  double limit_ = std::numeric_limits<double>::infinity();
  double limit_without_ties_ = std::numeric_limits<double>::infinity();
  std::vector<Neighbour> items_;  // a heap, the farthest on top
};

class RadiusList {
 public:
  static constexpr bool kShrinks = false;

  RadiusList(double radius, size_t excluded) : radius_(radius), excluded_(excluded) {}

  double limit(size_t) const { return radius_; }

  void offer(double distance, size_t row) {
    if (distance <= radius_ && row != excluded_) items_.push_back({row, distance});
  }

  void sort() { sort_neighbours(items_); }
  std::span<const Neighbour> items() const { return items_; }

 private:
  double radius_;
  size_t excluded_;
  std::vector<Neighbour> items_;
};

}  // namespace assay
