// A walk from one explanation towards another, coordinate by coordinate, as long as entropy falls: the inner loop of
// Algorithm 1 of Bhatt, Weller, Moura (2020).
//
// Coordinates move in order, in passes, until a whole pass moves none. With S = sum |v_k| and T = sum |v_k| ln |v_k|,
// entropy is ln S - T / S, so that a move costs O(1). Along one coordinate entropy is quasi-concave on each side of 0:
// it is least at 0, at the target, or where the coordinate is now. So an exact step jumps to the target, or to 0 if
// that lies on the way and is simpler. A fixed step goes a given length, stops at 0 (where the derivative is infinite),
// and never goes beyond the target. A derivative step has the length alpha |dH/dv_k| = alpha |ln p_k + H| / S, with
// p_k = |v_k| / S; it stops at 0 and at the target too, and a coordinate at 0 stays there. A move counts when entropy
// falls by more than rounding.
//
// Exact steps move a coordinate at most twice: at most 2 d moves. Cost of a pass: d times some nanoseconds.
// Deviation from the paper: it prints a step along +dE/dt, which would raise the entropy it wants to lower.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "assay/aggregate/common.h"
#include "assay/aggregate/complexity/options.h"
#include "assay/core/context.h"

namespace assay {

// Entropy must fall by more than this, or rounding would move coordinates.
inline constexpr double kLeastFall = 1e-12;

struct WalkScratch {
  std::vector<double> point = {};
  std::vector<double> logs = {};         // |v| ln |v| of the point
  std::vector<double> target_logs = {};  // of the target
  std::vector<size_t> left = {};         // coordinates that are not at the target
};

// How far a coordinate goes at a time: exactly as far as it should unless one of these is given.
struct WalkStep {
  std::optional<double> fixed = {};  // a length
  std::optional<double> alpha = {};  // what the derivative is multiplied by
};

// Walks from start, which must not be all zero. Leaves the last point in scratch.point and returns its entropy. No move
// lowers the l1 norm to less than floor.
double walk_towards(std::span<const double> start, std::span<const double> target, double floor, const WalkStep& step,
                    const Context& context, WalkScratch& scratch);

// The simplest point seen.
struct Simplest {
  double entropy = 0;
  std::vector<double> values = {};
};

// All walks of one row between points and the mean of its members that are not zero, in both directions.
class MeanWalks {
 public:
  // simplest() starts as the simplest nonzero member; there must be one.
  MeanWalks(const MemberRow& row, double floor, const WalkOptions& options, const Context& context);

  // Walks from the point to the mean and from the mean to the point. If the l1 norm of the mean is below the floor, no
  // walk starts there. A walk that moved and ends below the floor does not count.
  void both_ways(std::span<const double> point);
  const Simplest& simplest() const { return simplest_; }

 private:
  void one_way(std::span<const double> start, std::span<const double> target);

  const Context& context_;
  double floor_;
  WalkStep step_ = {};
  std::vector<double> mean_ = {};
  bool mean_counts_ = false;
  Simplest simplest_ = {};
  WalkScratch scratch_ = {};
};

}  // namespace assay
