// The vertices of the arrangement on one line of weight space, and the floor's crossings.
//
// A line is lambda(t) = (1 - t) a + t b for t in [0, 1]. a and b hold n weights, followed by the k group values at
// these weights: a[0..n) are weights, a[n..n+k) group values. S(t) is updated from breakpoint to breakpoint in O(1).
// Two filters spare logarithms. A vertex is skipped if its collision entropy -ln(sum p^2) = 2 ln S - ln |phi|_2^2, a
// lower bound of H, is above the least H so far. All vertices between l and r are skipped if this bound is above it:
// let F be S H over the groups that are not 0 inside [l, r], which is concave there and at most S H over all groups; S
// is convex, so
//   H >= min over l and r of F / S
// on the whole of [l, r]. Vertices as simple as the best so far are looked at too: one may be longer.
// Near the origin S and |phi|_2^2 are small differences of large parts, so both filters allow for the rounding of these
// parts. A point where the line crosses the floor is not compared with the floor again.
// Cost: O(k log k) for a line, and k logarithms for each vertex that is looked at.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "assay/aggregate/hull/problem.h"

namespace assay {

// Which constraint makes the vertex that a line scan found: a weight or group is 0, or the l1 norm is the floor.
struct TightAt {
  enum class Kind { weight, group, floor } kind = Kind::weight;
  size_t index = 0;  // of the member or group
};

struct LineRequest {
  std::span<const double> a;  // weights, then group values
  std::span<const double> b;
  size_t first_group = 0;  // only vertices of groups from here on count: other lines find the others
  bool ends = false;       // whether the line's ends, where a weight is 0, count as vertices
};

class LineScan {
 public:
  explicit LineScan(const HullProblem& problem);
  // If the best vertex of the line is better than best, replaces best and returns the vertex's constraint.
  std::optional<TightAt> lower(const LineRequest& line, HullPoint& best);

 private:
  struct Break {
    double t;
    size_t group;
  };

  struct Place {
    double t = 0;
    double norm = 0;   // S
    double logs = 0;   // sum |phi| ln |phi|
    double parts = 0;  // what S would be without cancellation: its rounding is a share of this
  };

  bool clip(const LineRequest& line);
  void find_breaks(const LineRequest& line);
  void walk(const LineRequest& line, HullPoint& best);
  void branch(const LineRequest& line, std::span<const size_t> left, const std::pair<Place, size_t>& low,
              const std::pair<Place, size_t>& high, HullPoint& best);
  double bound_at(const LineRequest& line, const Place& place, size_t begin, size_t end) const;
  Place place(const LineRequest& line, double t) const;
  // Replaces best by this place if that is better and not below the floor.
  void take(const LineRequest& line, const Place& place, const TightAt& tight, HullPoint& best);
  double product(std::span<const double> a, std::span<const double> b) const;

  const HullProblem& problem_;
  std::vector<Break> breaks_;
  std::vector<size_t> left_;     // breaks that the collision entropy does not rule out
  std::vector<double> weights_;  // of the place that is looked at
  double low_ = 0;
  double high_ = 1;
  size_t low_member_ = 0;  // the member whose weight is 0 at low_, and at high_
  size_t high_member_ = 0;
  double from_ = 0;  // S(t) = (1 - t) from_ + t to_ between breakpoints
  double to_ = 0;
  std::optional<TightAt> found_;
};

// From a basis of `count` vectors of length `width`, stored one after the other, writes count - 1 vectors that span the
// part where entry `at` is 0. False if entry `at` is 0 in all of them already, up to rounding.
bool eliminate(std::span<const double> basis, size_t count, size_t width, size_t at, std::span<double> out);

}  // namespace assay
