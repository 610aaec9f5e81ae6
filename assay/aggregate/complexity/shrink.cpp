#include "assay/aggregate/complexity/shrink.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "assay/aggregate/complexity/segment.h"

namespace assay {
namespace {

// Coordinates of unit members that differ by no more are the same but for rounding; entropies then by no more than the
// second.
constexpr double kSamePoint = 1e-12;
constexpr double kSamePointEntropy = 1e-9;

class Region {
 public:
  Region(const MemberRow& row, const ShrinkOptions& options, double floor)
      : keep_(static_cast<size_t>(options.keep)), pairs_alone_(options.candidates == "pairs"), floor_(floor) {
    const size_t members = row.values.rows();
    for (const size_t j : row.nonzero) {
      const auto values = row.values.row(j);
      const size_t slot = new_slot();
      ShrunkPoint& point = points_[slot];
      point.entropy = entropy_of(values);
      point.values.assign(values.begin(), values.end());
      point.length = l2_norm(values);
      point.weights.assign(members, 0.0);
      point.weights[j] = 1;
      insert(slot, now_, row.nonzero.size());
    }
    fresh_.assign(now_.size(), true);
  }

  // Whether there is a new point, or, of pairs alone, a point less.
  bool shrink(const Context& context) {
    if (now_.size() < 2) return false;
    next_.clear();
    if (!pairs_alone_) {
      next_.assign(now_.begin(), now_.begin() + static_cast<std::ptrdiff_t>(std::min(keep_, now_.size())));
    }
    for (size_t i = 0; i < now_.size(); i++) {
      context.check_cancelled();
      for (size_t j = i + 1; j < now_.size(); j++) {
        // A pair's minimum may have been dropped since, and as printed all pairs count in every round.
        if (fresh_[i] || fresh_[j] || pairs_alone_) look_between(now_[i], now_[j]);
      }
    }
    fresh_.clear();
    bool changed = next_.size() < now_.size() && pairs_alone_;
    for (const size_t slot : next_) {
      fresh_.push_back(std::ranges::find(now_, slot) == now_.end());
      changed = changed || fresh_.back();
    }
    for (const size_t slot : now_) {
      if (std::ranges::find(next_, slot) == next_.end()) unused_.push_back(slot);
    }
    std::swap(now_, next_);
    return changed;
  }

  std::vector<ShrunkPoint> take() {
    std::vector<ShrunkPoint> taken;
    taken.reserve(now_.size());
    for (const size_t slot : now_) taken.push_back(std::move(points_[slot]));
    return taken;
  }

 private:
  size_t new_slot() {
    if (unused_.empty()) {
      points_.emplace_back();
      return points_.size() - 1;
    }
    const size_t slot = unused_.back();
    unused_.pop_back();
    return slot;
  }

  void look_between(size_t first, size_t second) {
    double below = std::min(points_[first].entropy, points_[second].entropy);
    if (next_.size() == keep_) below = std::min(below, points_[next_.back()].entropy);
    const auto found = segment_inside(points_[first].values, points_[second].values, floor_, below, scratch_);
    if (!found) {
      if (pairs_alone_) keep_end(first, second);
      return;
    }
    const size_t slot = new_slot();
    const ShrunkPoint& a = points_[first];
    const ShrunkPoint& b = points_[second];
    ShrunkPoint& point = points_[slot];
    point.entropy = found->entropy;
    point.values = scratch_.point;
    point.length = l2_norm(point.values);
    point.weights.resize(a.weights.size());
    for (size_t j = 0; j < a.weights.size(); j++) {
      point.weights[j] = (1 - found->t) * a.weights[j] + found->t * b.weights[j];
    }
    insert(slot, next_, keep_);
  }

  // The simpler end of a segment without a simpler point inside.
  void keep_end(size_t first, size_t second) {
    const size_t end = better(points_[second], points_[first]) ? second : first;
    for (const size_t other : next_) {
      if (other == end || same(points_[other], points_[end])) return;
    }
    insert(end, next_, keep_);
  }

  bool same(const ShrunkPoint& a, const ShrunkPoint& b) const {
    if (std::abs(a.entropy - b.entropy) > kSamePointEntropy) return false;
    for (size_t k = 0; k < a.values.size(); k++) {
      if (std::abs(a.values[k] - b.values[k]) > kSamePoint) return false;
    }
    return true;
  }

  static bool better(const ShrunkPoint& a, const ShrunkPoint& b) {
    if (std::abs(a.entropy - b.entropy) > kTiedEntropy) return a.entropy < b.entropy;
    return a.length > b.length * (1 + kLonger);
  }

  // Before the first that is not as good; at most `most` stay.
  void insert(size_t slot, std::vector<size_t>& list, size_t most) {
    const ShrunkPoint& point = points_[slot];
    for (const size_t other : list) {
      if (same(points_[other], point)) return unused_.push_back(slot);
    }
    list.insert(std::ranges::find_if(list, [&](size_t other) { return better(point, points_[other]); }), slot);
    if (list.size() <= most) return;
    const size_t last = list.back();
    list.pop_back();
    // Points of this round's S still have pairs.
    if (std::ranges::find(now_, last) == now_.end()) unused_.push_back(last);
  }

  size_t keep_;
  bool pairs_alone_;
  double floor_;
  std::vector<ShrunkPoint> points_ = {};  // slots: those of now_, next_ and unused_
  std::vector<size_t> unused_ = {};
  std::vector<size_t> now_ = {};  // S, simplest first
  std::vector<size_t> next_ = {};
  std::vector<bool> fresh_ = {};  // whether that point of S came with the last round
  SegmentScratch scratch_ = {};
};

}  // namespace

std::vector<ShrunkPoint> shrink_region(const MemberRow& row, const ShrinkOptions& options, double floor,
                                       const Context& context) {
  Region region(row, options, floor);
  for (int64_t round = 0; round < options.rounds; round++) {
    if (!region.shrink(context)) break;
  }
  return region.take();
}

}  // namespace assay
