// Newton's method on the smoothed loss sum (|y - a_i|^2 + smoothing^2)^(p/2), whose smoothing shrinks with every step
// (not needed from p = 2 on). Below 2 the Hessian uses directions z_i of their own instead of the gradients of the
// distances (Andersen, Christiansen, Conn, Overton 2000): plain Newton steps are short where p is close to 1.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "assay/aggregate/centroids/centroid_of.h"
#include "assay/aggregate/centroids/exact_median.h"
#include "assay/aggregate/centroids/hull_coordinates.h"
#include "assay/aggregate/centroids/newton_search.h"
#include "assay/aggregate/centroids/positive_solve.h"
#include "assay/aggregate/common.h"

namespace assay {
namespace {

// Once the loss is certified. Where it is flat, the point is still far less certain than the loss.
constexpr size_t kStepsAfter = 4;
constexpr double kExact = 1e-13;
constexpr double kLeastSmoothing = 1e-15;

double smooth_loss(MatrixView<const double> points, std::span<const double> y, double p, double smoothing) {
  double sum = 0;
  for (size_t i = 0; i < points.rows(); i++) {
    double squares = smoothing * smoothing;
    for (size_t k = 0; k < y.size(); k++) squares += (y[k] - points(i, k)) * (y[k] - points(i, k));
    sum += std::pow(squares, p / 2);
  }
  return sum;
}

// The problem in the coordinates of the hull: points of at most unit norm whose mean is 0.
class EuclideanSolver {
 public:
  EuclideanSolver(MatrixView<const double> points, double p)
      : points_(points),
        count_(points.rows()),
        size_(points.cols()),
        p_(p),
        offsets_(count_, size_),
        duals_(count_, size_),
        trial_(count_, size_),
        hessian_(size_, size_),
        distances_(count_),
        norms_(count_),
        y_(size_),
        step_(size_),
        moved_(size_),
        rest_(size_),
        weights_(count_),
        best_(count_, 1.0 / static_cast<double>(count_)) {}

  // The weights of the best point found.
  const std::vector<double>& weights() const { return best_; }
  // How much of its loss is certain to be needed.
  double certain() const { return std::min(1.0, bound_ / loss_); }

  void solve(const Context& context) {
    look();
    natural_duals();
    // The mean first: where the best point is not unique (two members), it is the one we want.
    offer(best_);
    raise_bound();
    if (loss_ - bound_ <= kExact * loss_) return;
    if (p_ == 1 && solve_exactly()) return;
    smoothing_ = p_ < 2 ? kFirstSmoothing : 0;
    size_t after = 0;
    for (size_t steps = 0; steps < kNewtonSteps && after < kStepsAfter && bound_ < loss_; steps++) {
      context.check_cancelled();
      const double taken = newton_step();
      if (taken == 0 && smoothing_ <= kLeastSmoothing) return;
      offer_weighted();
      raise_bound();
      natural_duals();
      raise_bound();
      if (certified()) after++;
      if (taken == 0 || taken >= 0.5) smoothing_ *= certified() ? 0.02 : 0.2;
    }
  }

 private:
  bool certified() const { return loss_ - bound_ <= kCentroidGap * loss_; }

  bool solve_exactly() {
    const std::optional<std::vector<double>> found = exact_median(points_);
    if (!found) return false;
    offer(*found);
    bound_ = loss_;
    return true;
  }

  void look() {
    for (size_t i = 0; i < count_; i++) {
      for (size_t k = 0; k < size_; k++) offsets_(i, k) = y_[k] - points_(i, k);
      distances_[i] = l2_norm(offsets_.row(i));
    }
  }

  void offer(const std::vector<double>& weights) {
    std::vector<double>& at = moved_;
    std::ranges::fill(at, 0.0);
    for (size_t i = 0; i < count_; i++) {
      for (size_t k = 0; k < size_; k++) at[k] += weights[i] * points_(i, k);
    }
    const double loss = smooth_loss(points_, at, p_, 0);
    if (loss >= loss_) return;
    loss_ = loss;
    best_ = weights;
  }

  // At the optimum g is the mean of the members with weights D^(p-2), so those of a point close to it will do; and
  // below p = 2 a member itself may be it.
  void offer_weighted() {
    const size_t nearest = nearest_member();
    const double least = distances_[nearest];
    double sum = 0;
    for (size_t i = 0; i < count_ && least > 0; i++) {
      weights_[i] = p_ < 2 ? std::pow(least / distances_[i], 2 - p_) : std::pow(distances_[i], p_ - 2);
      sum += weights_[i];
    }
    for (double& each : weights_) each /= sum;
    if (least > 0) offer(weights_);
    if (p_ < 2) offer(weights_at(points_, nearest));
  }

  size_t nearest_member() const {
    return static_cast<size_t>(std::ranges::min_element(distances_) - distances_.begin());
  }

  // The gradients of the distances' powers, over p.
  void natural_duals() {
    for (size_t i = 0; i < count_; i++) {
      const double factor = distances_[i] > 0 ? std::pow(distances_[i], p_ - 2) : 0;
      for (size_t k = 0; k < size_; k++) trial_(i, k) = factor * offsets_(i, k);
    }
  }

  // By the directions in trial_, once they sum to 0: what they sum to is taken from all of them in proportion, or
  // from the nearest member's, which is free where the optimum is at that member.
  void raise_bound() {
    std::vector<double>& sum = moved_;
    std::ranges::fill(sum, 0.0);
    for (size_t i = 0; i < count_; i++) {
      for (size_t k = 0; k < size_; k++) sum[k] += trial_(i, k);
    }
    double total = 0;
    for (size_t i = 0; i < count_; i++) total += weights_[i] = l2_norm(trial_.row(i));
    if (total == 0) return;
    const size_t nearest = nearest_member();
    for (const bool from_all : {true, false}) {
      double gain = 0;
      std::ranges::fill(rest_, 0.0);
      for (size_t i = 0; i < count_; i++) {
        double squares = 0;
        const double part = from_all ? weights_[i] / total : (i == nearest ? 1.0 : 0.0);
        for (size_t k = 0; k < size_; k++) {
          const double dual = trial_(i, k) - part * sum[k];
          squares += dual * dual;
          gain += dual * offsets_(i, k);
          rest_[k] += dual;
        }
        norms_[i] = std::sqrt(squares);
      }
      // Where most of a long direction was taken away, rounding keeps them from summing to 0. The optimum is in the
      // hull, at most this far from y.
      gain -= l2_norm(rest_) * (l2_norm(y_) + 1);
      const double norm = conjugate_norm(norms_, p_);
      if (gain > 0 && norm > 0) bound_ = std::max(bound_, std::pow(gain / norm, p_));
    }
  }

  // Returns the length of the step taken as a multiple of Newton's.
  double newton_step() {
    std::ranges::fill(hessian_.values(), 0.0);
    std::ranges::fill(step_, 0.0);
    for (size_t i = 0; i < count_; i++) {
      const double width = std::sqrt(distances_[i] * distances_[i] + smoothing_ * smoothing_);
      // From p = 2 on the direction is the gradient's own. A distance of 0 has no part in it.
      const double factor = width > 0 ? std::pow(width, p_ - 2) : (p_ == 2 ? 1.0 : 0.0);
      const double bend = width > 0 ? (p_ - 2) / (width * width) : 0;
      for (size_t k = 0; k < size_; k++) {
        const double v = offsets_(i, k);
        const double z = p_ < 2 ? duals_(i, k) : factor * v;
        step_[k] -= factor * v;
        hessian_(k, k) += factor;
        for (size_t l = 0; l <= k; l++) {
          const double other = p_ < 2 ? duals_(i, l) : factor * offsets_(i, l);
          hessian_(k, l) += bend / 2 * (z * offsets_(i, l) + other * v);
        }
      }
    }
    const std::vector<double> downhill = step_;
    solve_positive(hessian_.view(), step_);
    const double slope = -p_ * dot(downhill, step_);
    const auto loss = [&](std::span<const double> y) { return smooth_loss(points_, y, p_, smoothing_); };
    const double taken =
        search_along({.from = y_, .step = step_, .before = loss(y_), .slope = slope, .p = p_}, moved_, loss);
    move_duals(taken);
    for (size_t k = 0; k < size_; k++) y_[k] += taken * step_[k];
    look();
    hold_duals();
    return taken;
  }

  void move_duals(double length) {
    for (size_t i = 0; i < count_ && p_ < 2; i++) {
      const double width = std::sqrt(distances_[i] * distances_[i] + smoothing_ * smoothing_);
      const double factor = std::pow(width, p_ - 2);
      const double turn = (2 - p_) / (width * width) * dot(offsets_.row(i), step_);
      for (size_t k = 0; k < size_; k++) {
        const double z = duals_(i, k);
        trial_(i, k) = factor * (offsets_(i, k) + step_[k]) - turn * z;
        duals_(i, k) += length * (trial_(i, k) - z);
      }
    }
  }

  // The Hessian stays positive as long as they are no longer than the gradients could be.
  void hold_duals() {
    for (size_t i = 0; i < count_ && p_ < 2; i++) {
      const double width = std::sqrt(distances_[i] * distances_[i] + smoothing_ * smoothing_);
      const double most = std::pow(width, p_ - 1);
      const double norm = l2_norm(duals_.row(i));
      if (norm <= most) continue;
      for (double& each : duals_.row(i)) each *= most / norm;
    }
    std::ranges::copy(duals_.values(), trial_.values().begin());
  }

  MatrixView<const double> points_;
  size_t count_;
  size_t size_;
  double p_;
  double smoothing_ = 0;
  Matrix64 offsets_;  // y - a_i
  Matrix64 duals_;    // z_i
  Matrix64 trial_;    // what the bound is made from
  Matrix64 hessian_;
  std::vector<double> distances_;
  std::vector<double> norms_;
  std::vector<double> y_;
  std::vector<double> step_;
  std::vector<double> moved_;
  std::vector<double> rest_;
  std::vector<double> weights_;
  std::vector<double> best_;
  double loss_ = INFINITY;
  double bound_ = 0;
};

}  // namespace

Centroid euclidean_centroid(MatrixView<const double> members, double p, const Context& context) {
  Centroid made = mean_centroid(members);
  const HullCoordinates hull = hull_coordinates(members);
  if (hull.points.cols() == 0) {
    made.loss = 0;
    made.bound = 0;
    return made;
  }
  EuclideanSolver solver(hull.points.view(), p);
  solver.solve(context);
  made.weights = solver.weights();
  std::ranges::fill(made.values, 0.0);
  for (size_t i = 0; i < members.rows(); i++) {
    const auto member = members.row(i);
    for (size_t k = 0; k < member.size() && made.weights[i] > 0; k++) made.values[k] += made.weights[i] * member[k];
  }
  made.loss = smooth_loss(members, made.values, p, 0);
  made.bound = made.loss * solver.certain();
  return made;
}

}  // namespace assay
