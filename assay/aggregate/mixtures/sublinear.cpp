#include "assay/aggregate/mixtures/sublinear.h"

#include <algorithm>
#include <cmath>

#include "assay/aggregate/mixtures/simplex.h"

namespace assay {
namespace {

// How far towards the game's point a step goes from the best point so far.
constexpr double kTowardsGame = 0.4;
// A Newton step is halved at most so often.
constexpr size_t kHalvings = 8;
// Cuts that the game has not used for long are dropped beyond so many.
constexpr size_t kMostCuts = 400;
// Of the least value of a vertex: what rounding may add to a bound. Values that are roots of sums which cancel are good
// to half of the digits.
constexpr double kBoundRounding = 1e-8;

class SublinearSearch {
 public:
  SublinearSearch(size_t members, const SublinearFunction& function, size_t most_steps)
      : members_(members), function_(function), most_steps_(most_steps) {}

  bool spent() const { return best_.steps >= most_steps_; }

  // Whether the point is the best so far.
  bool look(std::span<const double> weights) {
    best_.steps++;
    SublinearPoint found = function_(weights);
    cuts_.insert(cuts_.end(), found.gradient.begin(), found.gradient.end());
    used_.push_back(best_.steps);
    const bool better = best_.weights.empty() || found.value < best_.value;
    if (better) {
      best_.value = found.value;
      best_.weights.assign(weights.begin(), weights.end());
      point_ = std::move(found);
    }
    return better;
  }

  // The best bound that all cuts give together.
  MatrixGame bound() {
    MatrixGame game = solve_matrix_game(MatrixView<const double>(cuts_.data(), used_.size(), members_));
    for (size_t k = 0; k < used_.size(); k++) {
      if (game.mix[k] > 0) used_[k] = best_.steps;
    }
    best_.bound = std::max(best_.bound, game.bound - allowance_);
    if (used_.size() > kMostCuts) drop_unused();
    return game;
  }

  // Whether some part of Newton's step is better than where it starts.
  bool newton() {
    if (point_.hessian.empty()) return false;
    const std::vector<double> from = best_.weights;
    const std::vector<double> to = minimise_on_simplex(from, point_.gradient, point_.hessian.view());
    std::vector<double> at(members_);
    double share = 1;
    for (size_t i = 0; i < kHalvings && !spent(); i++, share /= 2) {
      for (size_t j = 0; j < members_; j++) at[j] = from[j] + share * (to[j] - from[j]);
      if (at == from) return false;
      if (look(at)) return true;
    }
    return false;
  }

  void towards(std::span<const double> weights) {
    std::vector<double> at(members_);
    for (size_t j = 0; j < members_; j++) {
      at[j] = best_.weights[j] + kTowardsGame * (weights[j] - best_.weights[j]);
    }
    look(at);
  }

  void allow(double rounding) { allowance_ = rounding; }
  SublinearMinimum& best() { return best_; }

 private:
  void drop_unused() {
    std::vector<size_t> sorted = used_;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::ranges::nth_element(sorted, middle);
    const size_t limit = *middle;
    size_t kept = 0;
    for (size_t k = 0; k < used_.size(); k++) {
      if (used_[k] < limit) continue;
      std::copy_n(cuts_.begin() + static_cast<std::ptrdiff_t>(k * members_), members_,
                  cuts_.begin() + static_cast<std::ptrdiff_t>(kept * members_));
      used_[kept++] = used_[k];
    }
    used_.resize(kept);
    cuts_.resize(kept * members_);
  }

  size_t members_;
  const SublinearFunction& function_;
  size_t most_steps_;
  double allowance_ = 0;
  std::vector<double> cuts_;  // subgradients, one after another
  std::vector<size_t> used_;  // when each was last part of the game's mix
  SublinearPoint point_;      // at the best weights
  SublinearMinimum best_;
};

}  // namespace

SublinearMinimum minimise_sublinear(size_t members, const SublinearFunction& function, double gap, size_t most_steps) {
  SublinearSearch search(members, function, most_steps);
  for (size_t j = 0; j < members; j++) search.look(vertex_weights(members, j));
  SublinearMinimum& best = search.best();
  const double wanted = gap * best.value;
  search.allow(kBoundRounding * best.value);
  if (members > 1) search.look(std::vector<double>(members, 1 / static_cast<double>(members)));
  // Newton's steps rest, the longer the more often they failed, and others cut where the bound is weak.
  double before = INFINITY;
  size_t failures = 0;
  size_t rest = 0;
  while (true) {
    const MatrixGame game = search.bound();
    const double missing = best.value - best.bound;
    best.certified = missing <= wanted || members == 1;
    if (best.certified || search.spent()) break;
    bool stepped = false;
    if (rest > 0) {
      rest--;
    } else if (missing <= before / 2) {
      stepped = search.newton();
      if (!stepped) rest = size_t{1} << std::min<size_t>(++failures, 6);
    }
    before = stepped ? missing : INFINITY;
    if (!stepped && !search.spent()) search.towards(game.weights);
  }
  best.bound = std::min(best.bound, best.value);
  return best;
}

}  // namespace assay
