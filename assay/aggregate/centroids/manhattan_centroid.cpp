// Newton's method on the smoothed loss sum_i (sum_k sqrt((y_k - g_ik)^2 + smoothing^2))^p, whose smoothing shrinks with
// every step; the Hessian uses signs z_ik of their own, as the l2 solver does its directions. It is a diagonal of
// players and a part of rank `members`, so that a step takes members^2 x players.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "assay/aggregate/centroids/centroid_of.h"
#include "assay/aggregate/centroids/newton_search.h"
#include "assay/aggregate/centroids/positive_solve.h"
#include "assay/aggregate/common.h"

namespace assay {
namespace {

constexpr double kLeastBlur = 1e-14;
constexpr double kPolishBlur = 1e-2;
constexpr double kPatience = 0.1;
constexpr double kShrink = 0.2;
constexpr size_t kPolishSteps = 4;
// How far off a feature may be, in units of the smoothing, to be held at a member's value: one is always right.
constexpr double kReaches[] = {10, 1e3, 1e5};
constexpr double kHessianRidge = 1e-8;
// Distances below have next to no curvature at high powers, and are not divided by.
constexpr double kNear = 1e-3;

class ManhattanSolver {
 public:
  ManhattanSolver(MatrixView<const double> members, std::span<const double> start, double p)
      : count_(members.rows()),
        p_(p),
        distances_(count_),
        smooth_(count_),
        forces_(count_),
        inner_(count_, count_),
        pull_(count_) {
    for (size_t k = 0; k < members.cols(); k++) {
      bool equal = true;
      for (size_t i = 1; i < count_; i++) equal = equal && members(i, k) == members(0, k);
      if (!equal) players_.push_back(k);
    }
    size_ = players_.size();
    points_ = Matrix64(count_, size_);
    for (size_t i = 0; i < count_; i++) {
      double distance = 0;
      for (size_t k = 0; k < size_; k++) {
        points_(i, k) = members(i, players_[k]) - start[players_[k]];
        distance += std::abs(points_(i, k));
      }
      scale_ = std::max(scale_, distance);
    }
    for (double& each : points_.values()) each /= scale_;
    signs_ = Matrix64(count_, size_);
    slopes_ = Matrix64(count_, size_);
    order_.resize(count_ * size_);
    for (size_t k = 0; k < size_; k++) {
      const auto order = std::span(order_).subspan(k * count_, count_);
      for (size_t i = 0; i < count_; i++) order[i] = i;
      std::ranges::stable_sort(order, {}, [&](size_t i) { return points_(i, k); });
    }
    y_.resize(size_);
    best_.resize(size_);
    step_.resize(size_);
    gradient_.resize(size_);
    diagonal_.resize(size_);
    moved_.resize(size_);
  }

  bool all_equal() const { return size_ == 0; }
  // Where members differ: the best point found, relative to the start.
  std::span<const size_t> players() const { return players_; }
  double offset(size_t k) const { return scale_ * best_[k]; }
  // How much of its loss is certain to be needed.
  double certain() const { return std::min(1.0, bound_ / loss_); }

  void solve(const Context& context) {
    look();
    const auto size = static_cast<double>(size_);
    smoothing_ = kFirstSmoothing / size;
    for (size_t steps = 0; steps < kNewtonSteps && !certified(); steps++) {
      context.check_cancelled();
      const double promised = newton_step();
      look();
      // Less is to be gained here than smoothing costs: all distances are too long by up to this.
      const double blur = smoothing_ * size;
      if (promised > kPatience * blur) continue;
      if (blur <= kLeastBlur) return;
      for (const double reach : kReaches) {
        if (blur <= kPolishBlur && !certified()) polish(reach * smoothing_);
      }
      smoothing_ *= kShrink;
    }
  }

 private:
  bool certified() const { return loss_ - bound_ <= kCentroidGap * loss_; }

  // The loss at y, and the bound that its distances give.
  void look() {
    double sum = 0;
    for (size_t i = 0; i < count_; i++) {
      distances_[i] = 0;
      for (size_t k = 0; k < size_; k++) distances_[i] += std::abs(y_[k] - points_(i, k));
      sum += std::pow(distances_[i], p_);
      forces_[i] = std::pow(distances_[i], p_ - 1);
    }
    if (sum < loss_) {
      loss_ = sum;
      best_ = y_;
    }
    const double norm = conjugate_norm(forces_, p_);
    bound_ = std::max(bound_, std::pow(weighted_medians_cost() / norm, p_));
  }

  // min over g of sum_i forces_i D(g, g_i).
  double weighted_medians_cost() const {
    double total = 0;
    for (const double each : forces_) total += each;
    double cost = 0;
    for (size_t k = 0; k < size_; k++) {
      const auto order = std::span(order_).subspan(k * count_, count_);
      double below = 0;
      size_t at = 0;
      while (at + 1 < count_ && below + forces_[order[at]] < total / 2) below += forces_[order[at++]];
      const double median = points_(order[at], k);
      for (size_t i = 0; i < count_; i++) cost += forces_[i] * std::abs(median - points_(i, k));
    }
    return cost;
  }

  double smooth_distance(size_t i, std::span<const double> y) const {
    double sum = 0;
    for (size_t k = 0; k < size_; k++) {
      const double v = y[k] - points_(i, k);
      sum += std::sqrt(v * v + smoothing_ * smoothing_);
    }
    return sum;
  }

  double smooth_loss(std::span<const double> y) const {
    double sum = 0;
    for (size_t i = 0; i < count_; i++) sum += std::pow(smooth_distance(i, y), p_);
    return sum;
  }

  // Returns what Newton's quadratic model promises to gain, as a share of the loss' p-th root; 0 when stuck.
  double newton_step() {
    std::ranges::fill(gradient_, 0.0);
    std::ranges::fill(diagonal_, 0.0);
    double before = 0;
    for (size_t i = 0; i < count_; i++) {
      smooth_[i] = smooth_distance(i, y_);
      before += std::pow(smooth_[i], p_);
      const double force = std::pow(smooth_[i], p_ - 1);
      for (size_t k = 0; k < size_; k++) {
        const double v = y_[k] - points_(i, k);
        const double width = std::sqrt(v * v + smoothing_ * smoothing_);
        slopes_(i, k) = v / width;
        gradient_[k] += force * slopes_(i, k);
        diagonal_[k] += force * (1 - signs_(i, k) * slopes_(i, k)) / width;
      }
    }
    direction();
    double slope = 0;
    for (size_t k = 0; k < size_; k++) slope += p_ * gradient_[k] * step_[k];
    const double taken = search_along({.from = y_, .step = step_, .before = before, .slope = slope, .p = p_}, moved_,
                                      [&](std::span<const double> y) { return smooth_loss(y); });
    move_signs(taken);
    for (size_t k = 0; k < size_; k++) y_[k] += taken * step_[k];
    return taken > 0 ? -slope / (p_ * before) : 0;
  }

  // Which features stand at a member's value can be told long before smoothing is gone. With those held there, the loss
  // is smooth in the others, and Newton's method finds its minimum to all digits; the path goes on from where it was.
  void polish(double reach) {
    const std::vector<double> before = y_;
    std::vector<bool> held(size_, false);
    for (size_t k = 0; k < size_; k++) {
      size_t nearest = 0;
      for (size_t i = 1; i < count_; i++) {
        if (std::abs(y_[k] - points_(i, k)) < std::abs(y_[k] - points_(nearest, k))) nearest = i;
      }
      held[k] = std::abs(y_[k] - points_(nearest, k)) <= reach;
      if (held[k]) y_[k] = points_(nearest, k);
    }
    look();
    for (size_t steps = 0; steps < kPolishSteps && !certified(); steps++) {
      std::ranges::fill(gradient_, 0.0);
      smooth_ = distances_;
      for (size_t k = 0; k < size_; k++) {
        // A little of it makes the step unique where the loss is flat.
        diagonal_[k] = held[k] ? 1.0 : kHessianRidge * (p_ - 1) * loss_;
        for (size_t i = 0; i < count_; i++) {
          slopes_(i, k) = held[k] ? 0.0 : (y_[k] > points_(i, k) ? 1.0 : -1.0);
          gradient_[k] += forces_[i] * slopes_(i, k);
        }
      }
      direction();
      for (size_t k = 0; k < size_; k++) y_[k] += step_[k];
      look();
    }
    y_ = before;
  }

  // (diagonal + sum_i (p-1) D_i^(p-2) s_i s_i') step = - gradient, by a system of the members (Woodbury).
  void direction() {
    for (size_t i = 0; i < count_; i++) {
      pull_[i] = 0;
      for (size_t k = 0; k < size_; k++) pull_[i] += slopes_(i, k) * gradient_[k] / diagonal_[k];
      for (size_t j = 0; j <= i; j++) {
        double product = 0;
        for (size_t k = 0; k < size_; k++) product += slopes_(i, k) * slopes_(j, k) / diagonal_[k];
        inner_(i, j) = product;
      }
      inner_(i, i) += std::pow(p_ > 2 ? std::max(smooth_[i], kNear) : smooth_[i], 2 - p_) / (p_ - 1);
    }
    solve_positive(inner_.view(), pull_);
    for (size_t k = 0; k < size_; k++) {
      double rest = gradient_[k];
      for (size_t i = 0; i < count_; i++) rest -= slopes_(i, k) * pull_[i];
      step_[k] = -rest / diagonal_[k];
    }
  }

  void move_signs(double length) {
    for (size_t i = 0; i < count_; i++) {
      for (size_t k = 0; k < size_; k++) {
        const double v = y_[k] - points_(i, k);
        const double width = std::sqrt(v * v + smoothing_ * smoothing_);
        const double sign = signs_(i, k);
        const double next = (v + step_[k]) / width - sign * v * step_[k] / (width * width);
        // The diagonal stays positive as long as no sign leaves -1 .. 1.
        signs_(i, k) = std::clamp(sign + length * (next - sign), -1.0, 1.0);
      }
    }
  }

  size_t count_;
  size_t size_ = 0;
  double p_;
  double scale_ = 0;
  double smoothing_ = 0;
  std::vector<size_t> players_;  // those that members differ in
  std::vector<size_t> order_;    // for each player the members by value
  Matrix64 points_;
  Matrix64 signs_;   // z
  Matrix64 slopes_;  // of the smoothed distances
  std::vector<double> distances_;
  std::vector<double> smooth_;
  std::vector<double> forces_;
  Matrix64 inner_;
  std::vector<double> pull_;
  std::vector<double> y_;
  std::vector<double> best_;
  std::vector<double> step_;
  std::vector<double> gradient_;
  std::vector<double> diagonal_;
  std::vector<double> moved_;
  double loss_ = INFINITY;
  double bound_ = 0;
};

}  // namespace

Centroid manhattan_centroid(MatrixView<const double> members, double p, const Context& context) {
  Centroid made = mean_centroid(members);
  made.weights.clear();
  ManhattanSolver solver(members, made.values, p);
  made.loss = 0;
  made.bound = 0;
  if (solver.all_equal()) {
    std::ranges::copy(members.row(0), made.values.begin());
    return made;
  }
  solver.solve(context);
  for (size_t k = 0; k < solver.players().size(); k++) made.values[solver.players()[k]] += solver.offset(k);
  for (size_t i = 0; i < members.rows(); i++) {
    double distance = 0;
    for (size_t k = 0; k < members.cols(); k++) distance += std::abs(made.values[k] - members(i, k));
    made.loss += std::pow(distance, p);
  }
  made.bound = made.loss * solver.certain();
  return made;
}

}  // namespace assay
