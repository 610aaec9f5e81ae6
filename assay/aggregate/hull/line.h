// The vertices of the arrangement on one line of weight space, and the floor's crossings.
//
// A line is given by two vectors of weights, lambda(t) = (1 - t) a + t b for t in [0, 1], each followed by what it
// gives for every group: a[0..n) are weights, a[n..n+k) group values. S(t) is followed from breakpoint to breakpoint in
// O(1); a vertex whose collision entropy -ln(sum p^2) = 2 ln S - ln |phi|_2^2, a lower bound of H, is not below the
// least H so far needs no logarithms. Nor does one between two others with values l and r, if on the whole of [l, r],
// with F = S H of the groups that do not vanish inside (concave there, and at most that of all) and S convex,
//   H >= min over l and r of F / S
// is not below it. Vertices that are as simple as the best so far are looked at too: one may be longer.
// Near the origin S and |phi|_2^2 are what large parts leave when they cancel: both filters allow for rounding on the
// scale of the parts. A crossing of the floor lies on it by construction and is not compared with it again. Cost: O(k
// log k) for a line, and k logarithms for each vertex that is looked at.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "assay/aggregate/hull/problem.h"

namespace assay {

// Which constraint holds at a vertex that a line found.
struct TightAt {
  enum class Kind { weight, group, floor } kind = Kind::weight;
  size_t index = 0;  // of the member or group
};

struct LineRequest {
  std::span<const double> a;  // weights, then group values
  std::span<const double> b;
  size_t first_group = 0;  // only groups from here on are looked at as vertices: the others are on other lines
  bool ends = false;       // the line's ends, where a weight vanishes, too
};

class LineScan {
 public:
  explicit LineScan(const HullProblem& problem);
  // Lowers best to the best vertex on the line when that is better, and says what is tight there.
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
  // Lowers best to the place where that is better and not below the floor.
  void take(const LineRequest& line, const Place& place, const TightAt& tight, HullPoint& best);
  double product(std::span<const double> a, std::span<const double> b) const;

  const HullProblem& problem_;
  std::vector<Break> breaks_;
  std::vector<size_t> left_;     // breaks that the collision entropy does not rule out
  std::vector<double> weights_;  // of the place that is looked at
  double low_ = 0;
  double high_ = 1;
  size_t low_member_ = 0;  // whose weight vanishes at the ends
  size_t high_member_ = 0;
  double from_ = 0;  // S(t) = (1 - t) from_ + t to_ between breakpoints
  double to_ = 0;
  std::optional<TightAt> found_;
};

// Replaces the line's or flat's basis (count vectors of `width`, one after the other) by one of count - 1 vectors on
// which entry `at` vanishes. False when it vanishes, up to rounding, on all of them already.
bool eliminate(std::span<const double> basis, size_t count, size_t width, size_t at, std::span<double> out);

}  // namespace assay
