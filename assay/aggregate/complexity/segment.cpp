#include "assay/aggregate/complexity/segment.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
// A sum of two terms of opposite signs so much smaller than they are is rounding.
constexpr double kCrossingRounding = 4 * std::numeric_limits<double>::epsilon();

bool changes_sign(double a, double b) { return (a < 0 && b > 0) || (a > 0 && b < 0); }

// Branch and bound over the breakpoints of one segment.
class SegmentSearch {
 public:
  SegmentSearch(std::span<const double> a, std::span<const double> b, double below, SegmentScratch& scratch)
      : from_(scratch.from), to_(scratch.to), crossings_(scratch.crossings), best_{0, below} {
    scratch.crossings.clear();
    scratch.from.clear();
    scratch.to.clear();
    double slopes = 0;
    for (size_t k = 0; k < a.size(); k++) {
      const double near = std::abs(a[k]);
      const double far = std::abs(b[k]);
      if (changes_sign(a[k], b[k])) {
        crossings_.push_back({near / (near + far), near + far});
        slopes += near + far;
      } else if (near > 0 || far > 0) {
        from_.push_back(near);
        to_.push_back(far);
        plain_from_ += near;
        plain_to_ += far;
      }
    }
    noise_ = kCrossingRounding * slopes;
  }

  // t = 0 where none is less complex than `below`.
  SegmentPoint run(double floor) {
    if (crossings_.empty() && floor <= 0) return {};
    const size_t size = crossings_.size();
    const double end = floor > 0 ? leave_floor(floor, false) : 1;
    if (end >= 1) {
      branch(0, size, look_at(0), look_at(1));
    } else {
      const double begin = leave_floor(floor, true);
      const auto first = crossings_.begin();
      const auto left = std::partition(first, crossings_.end(), [&](const Crossing& c) { return c.at < end; });
      const auto right = std::partition(left, crossings_.end(), [&](const Crossing& c) { return c.at <= begin; });
      if (end > 0) branch(0, static_cast<size_t>(left - first), look_at(0), look_at(end));
      if (begin < 1) branch(static_cast<size_t>(right - first), size, look_at(begin), look_at(1));
    }
    return best_.t > 0 ? best_ : SegmentPoint{};
  }

 private:
  struct Place {
    double t = 0;
    SizeSums sums = {};
  };

  static double entropy_from(const SizeSums& sums) { return std::log(sums.norm) - sums.logs / sums.norm; }

  // The first t from this side on where the norm falls below the floor; the other side where it never does. The norm is
  // convex and piecewise linear, so Newton's steps come to that t from this side, in finitely many.
  double leave_floor(double floor, bool backwards) const {
    const double direction = backwards ? -1 : 1;
    double t = backwards ? 1 : 0;
    for (;;) {
      double norm = (1 - t) * plain_from_ + t * plain_to_;
      double slope = plain_to_ - plain_from_;
      for (const Crossing& c : crossings_) {
        const double ahead = t - c.at;
        norm += c.slope * std::abs(ahead);
        slope += ahead > 0 || (ahead == 0 && !backwards) ? c.slope : -c.slope;
      }
      const double fall = -direction * slope;
      if (norm < floor * (1 - kCrossingRounding) && t == (backwards ? 1 : 0)) return t;
      if (!(fall > 0)) return backwards ? 0 : 1;
      const double next = t + direction * (norm - floor) / fall;
      if (backwards ? next <= 0 : next >= 1) return backwards ? 0 : 1;
      // Newton's steps only go forwards, but for rounding.
      if (!(direction * (next - t) > kCrossingRounding)) return t;
      t = next;
    }
  }

  Place look_at(double t) {
    const SizeSums plain = plain_sums(from_, to_, t);
    const SizeSums crossing = crossing_sums(crossings_, t);
    const Place place{t, {plain.norm + crossing.norm, plain.logs + crossing.logs}};
    if (t > 0 && t < 1 && place.sums.norm > noise_) {
      const double entropy = entropy_from(place.sums);
      const bool longer = best_.t > 0 && entropy <= best_.entropy + kTiedEntropy && place.sums.norm > norm_;
      if (entropy < best_.entropy - (best_.t > 0 ? kTiedEntropy : 0) || longer) {
        best_ = {t, std::min(entropy, best_.entropy)};
        norm_ = place.sums.norm;
      }
    }
    return place;
  }

  // No less than this at t, and on the other side likewise, is the entropy between the two: see the header.
  static double share_of_others(const Place& place, const SizeSums& inside) {
    const double norm = place.sums.norm - inside.norm;
    if (!(norm > 0)) return 0;
    return (norm * std::log(norm) - (place.sums.logs - inside.logs)) / place.sums.norm;
  }

  // The crossings begin .. end are those between the two places.
  void branch(size_t begin, size_t end, const Place& left, const Place& right) {
    if (begin >= end) return;
    const std::span<const Crossing> inside(crossings_.data() + begin, end - begin);
    if (inside.size() > 1) {
      // Not where it may be equal, but with nothing found yet.
      const double bar = best_.t > 0 ? best_.entropy + kTiedEntropy : best_.entropy;
      if (share_of_others(left, crossing_sums(inside, left.t)) >= bar &&
          share_of_others(right, crossing_sums(inside, right.t)) >= bar) {
        return;
      }
    }
    const size_t middle = begin + inside.size() / 2;
    const auto at = [&](size_t k) { return crossings_.begin() + static_cast<std::ptrdiff_t>(k); };
    std::nth_element(at(begin), at(middle), at(end), [](const Crossing& a, const Crossing& b) { return a.at < b.at; });
    const Place place = look_at(crossings_[middle].at);
    branch(begin, middle, left, place);
    branch(middle + 1, end, place, right);
  }

  std::vector<double>& from_;
  std::vector<double>& to_;
  std::vector<Crossing>& crossings_;
  double plain_from_ = 0;  // sums
  double plain_to_ = 0;
  double noise_ = 0;  // norms up to this are rounding
  SegmentPoint best_;
  double norm_ = 0;  // l1, of the best
};

}  // namespace

void point_at(std::span<const double> a, std::span<const double> b, double t, std::span<double> out) {
  for (size_t k = 0; k < out.size(); k++) {
    const double v = (1 - t) * a[k] + t * b[k];
    const bool zero = t > 0 && t < 1 && changes_sign(a[k], b[k]) &&
                      std::abs(v) <= kCrossingRounding * (std::abs(a[k]) + std::abs(b[k]));
    out[k] = zero ? 0 : v;
  }
}

std::optional<SegmentPoint> segment_inside(std::span<const double> a, std::span<const double> b, double floor,
                                           double below, SegmentScratch& scratch) {
  const double t = SegmentSearch(a, b, below, scratch).run(floor).t;
  if (t <= 0) return {};
  scratch.point.resize(a.size());
  point_at(a, b, t, scratch.point);
  const double entropy = entropy_of(scratch.point);
  if (!(entropy < below)) return {};
  return SegmentPoint{t, entropy};
}

SegmentPoint segment_minimum(std::span<const double> a, std::span<const double> b, double floor,
                             SegmentScratch& scratch, double below) {
  const double first = entropy_of(a);
  const double second = entropy_of(b);
  // Also where the second is NaN.
  const SegmentPoint end = !(second < first) && !std::isnan(first) ? SegmentPoint{0, first} : SegmentPoint{1, second};
  const double least = std::isnan(end.entropy) ? kNone : end.entropy;
  return segment_inside(a, b, floor, std::min(below, least), scratch).value_or(end);
}

}  // namespace assay
