#include "assay/aggregate/complexity/walk.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "assay/aggregate/complexity/sums.h"

namespace assay {
namespace {

struct Move {
  double to = 0;
  double logs = 0;  // |to| ln |to|
};

// Below this share of the norm that fresh sums had, sums are made afresh.
constexpr double kLeastShare = 0.01;
// Relative changes up to this leave 1e-17 beyond the eighth power.
constexpr double kSmallChange = 1.0 / 64;

// The point with its sums. They drift with every move, so that each pass begins with fresh ones.
class Walker {
 public:
  Walker(double floor, WalkScratch& scratch) : floor_(floor), point_(scratch.point), logs_(scratch.logs) {}

  void refresh() {
    const SizeSums fresh = sums_with_logs(point_, logs_);
    now_ = sums_of(fresh.norm, fresh.logs, std::log(fresh.norm));
    fresh_norm_ = fresh.norm;
  }

  // |dH/dv| of a coordinate that is not 0.
  double slope(size_t k) const {
    return std::abs(std::log(std::abs(point_[k]) * now_.inverse) + now_.entropy) * now_.inverse;
  }

  // Makes the move of a coordinate, or that to 0 where it may, whichever lowers entropy more, if one does.
  bool try_moves(size_t k, const Move& move, bool or_zero) {
    const double rest = now_.norm - std::abs(point_[k]);
    const double rest_sum = now_.sum - logs_[k];
    const double norm = rest + std::abs(move.to);
    const double sum = rest_sum + move.logs;
    const double bar = now_.entropy - kLeastFall;
    // ln(new / old norm) >= (new - old) / new: most moves are refused without a logarithm or a division. One branch for
    // both, as signs are hard to predict.
    const double slope = bar - now_.log_norm;
    const bool may_move = norm - now_.norm - sum < slope * norm;
    const bool may_vanish = static_cast<int>(or_zero) & static_cast<int>(rest - now_.norm - rest_sum < slope * rest);
    if ((static_cast<int>(may_move) | static_cast<int>(may_vanish)) == 0) return false;
    Sums best{.entropy = bar};
    const bool moves = may_move && improve(norm, sum, best);
    const bool vanishes = may_vanish && improve(rest, rest_sum, best);
    if (vanishes) return make(k, {}, best);
    return moves && make(k, move, best);
  }

 private:
  struct Sums {
    double norm = 0;
    double sum = 0;  // of logs
    double log_norm = 0;
    double inverse = 0;  // of the norm
    double entropy = 0;
  };

  static Sums sums_of(double norm, double sum, double log_norm) {
    const double inverse = 1 / norm;
    return {norm, sum, log_norm, inverse, log_norm - sum * inverse};
  }

  // Whether these sums have less entropy than the best so far, which they then are.
  bool improve(double norm, double sum, Sums& best) const {
    if (!(norm > 0) || (norm < floor_ && norm < now_.norm)) return false;
    const Sums then = sums_of(norm, sum, log_of(norm));
    if (!(then.entropy < best.entropy)) return false;
    best = then;
    return true;
  }

  // Most moves change the norm by little: then a few terms of the series of ln(1 + x) are as good as the logarithm.
  double log_of(double norm) const {
    const double x = (norm - now_.norm) * now_.inverse;
    if (std::abs(x) > kSmallChange) return std::log(norm);
    const double y = x * x;
    const double high = (1.0 / 5 - x * (1.0 / 6)) + y * (1.0 / 7 - x * (1.0 / 8));
    return now_.log_norm + x * ((1 - x * 0.5) + y * ((1.0 / 3 - x * 0.25) + y * high));
  }

  bool make(size_t k, const Move& move, const Sums& then) {
    const double before = now_.entropy;
    now_ = then;
    const Move back{std::exchange(point_[k], move.to), std::exchange(logs_[k], move.logs)};
    if (now_.norm >= kLeastShare * fresh_norm_) return true;
    // What is left may be rounding, at worst of the origin.
    refresh();
    if (now_.entropy < before - kLeastFall) return true;
    point_[k] = back.to;
    logs_[k] = back.logs;
    refresh();
    return false;
  }

  double floor_;
  std::vector<double>& point_;
  std::vector<double>& logs_;
  double fresh_norm_ = 0;  // when sums were fresh
  Sums now_ = {};
};

// Numbers whose product is smaller than the smallest double do not occur: members are float32.
bool zero_is_between(double a, double b) { return a * b < 0; }

double fixed_step(double from, double target, double length) {
  const double next = from < target ? std::min(from + length, target) : std::max(from - length, target);
  return zero_is_between(from, next) ? 0 : next;
}

}  // namespace

double walk_towards(std::span<const double> start, std::span<const double> target, double floor, const WalkStep& step,
                    const Context& context, WalkScratch& scratch) {
  scratch.point.assign(start.begin(), start.end());
  scratch.logs.resize(start.size());
  scratch.target_logs.resize(start.size());
  size_logs(start, scratch.logs);
  size_logs(target, scratch.target_logs);
  std::vector<size_t>& left = scratch.left;
  left.resize(start.size());
  std::iota(left.begin(), left.end(), size_t{0});
  Walker walker(floor, scratch);
  for (bool moved = true; moved;) {
    context.check_cancelled();
    moved = false;
    walker.refresh();
    std::erase_if(left, [&](size_t k) { return scratch.point[k] == target[k]; });
    for (const size_t k : left) {
      const double here = scratch.point[k];
      if (step.alpha && here == 0) continue;
      if (step.fixed || step.alpha) {
        const double length = step.fixed ? *step.fixed : *step.alpha * walker.slope(k);
        const double next = fixed_step(here, target[k], length);
        const double size = std::abs(next);
        const Move move{next, size > 0 ? size * std::log(size) : 0};
        moved = walker.try_moves(k, move, false) || moved;
      } else {
        moved = walker.try_moves(k, {target[k], scratch.target_logs[k]}, zero_is_between(here, target[k])) || moved;
      }
    }
  }
  return entropy_of(scratch.point);
}

MeanWalks::MeanWalks(const MemberRow& row, double floor, const WalkOptions& options, const Context& context)
    : context_(context), floor_(floor), mean_(row.values.cols(), 0.0) {
  if (options.step == "fixed") step_.fixed = options.size / std::sqrt(static_cast<double>(mean_.size()));
  if (options.step == "derivative") step_.alpha = options.size;
  simplest_.entropy = std::numeric_limits<double>::infinity();
  for (const size_t j : row.nonzero) {
    const auto member = row.values.row(j);
    for (size_t k = 0; k < mean_.size(); k++) mean_[k] += member[k] / static_cast<double>(row.nonzero.size());
    const double entropy = entropy_of(member);
    if (entropy < simplest_.entropy) simplest_ = {entropy, {member.begin(), member.end()}};
  }
  const double norm = l1_norm(mean_);
  mean_counts_ = norm > 0 && norm >= floor;
}

void MeanWalks::both_ways(std::span<const double> point) {
  one_way(point, mean_);
  if (mean_counts_) one_way(mean_, point);
}

void MeanWalks::one_way(std::span<const double> start, std::span<const double> target) {
  const double entropy = walk_towards(start, target, floor_, step_, context_, scratch_);
  if (!(entropy < simplest_.entropy)) return;
  if (l1_norm(scratch_.point) < floor_ && !std::ranges::equal(scratch_.point, start)) return;
  simplest_.entropy = entropy;
  simplest_.values = scratch_.point;
}

}  // namespace assay
