#include "assay/explain/games/interaction_regression.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "assay/core/parallel.h"
#include "assay/explain/games/least_squares.h"
#include "assay/explain/paths/quadrature.h"

namespace assay {
namespace {

// What of a variance may be noise: values are float32, and a matrix of this condition is still solved to many digits.
constexpr double kNoise = 1e-10;
// q below 1 keeps every factor positive.
constexpr double kMostDecay = 0.9;
// Points of the integral; its integrand is a polynomial that grows by less than exp(order).
constexpr size_t kPoints = 32;
constexpr size_t kBlockRows = 64;

double power(double base, size_t exponent) { return std::pow(base, static_cast<double>(exponent)); }

// Covariances of coalitions with so many players, all that is needed of the prior.
class Prior {
 public:
  Prior(size_t players, const ProcessPrior& prior)
      : players_(players), decay_(std::min(prior.order / static_cast<double>(players), kMostDecay)) {
    single_ = (prior.singles - 1) * decay_;
    for (size_t h = 0; h <= players; h++) {
      const double alike = power(1 + decay_, players - h) * power(1 - decay_, h);
      const double opposite = power(1 - decay_, players - h) * power(1 + decay_, h);
      const double agreement = static_cast<double>(players) - 2 * static_cast<double>(h);
      of_pairs_.push_back((alike - opposite) / 2 + single_ * agreement);
    }
    const Quadrature rule = quadrature(QuadratureRule::gauss_legendre, kPoints);
    for (size_t a = 0; a < players; a++) {
      const size_t b = players - 1 - a;
      double integral = 0;
      for (size_t k = 0; k < rule.size(); k++) {
        const double step = decay_ * rule.points[k];
        const double odd_first = power(1 + step, a) * power(1 - step, b);
        const double even_first = power(1 - step, a) * power(1 + step, b);
        integral += rule.weights[k] * (odd_first + even_first) / 2;
      }
      of_value_.push_back(2 * (decay_ * integral + single_));
    }
  }

  // Of the values of two pairs whose coalitions differ in h players.
  double of_pairs(size_t h) const { return of_pairs_[h]; }
  // Of a player's value and the value of a pair that it is in, beside `others` others; with the sign turned where the
  // player is not in it.
  double of_value(size_t others) const { return of_value_[others]; }
  double of_triple() const { return decay_ * decay_ * decay_; }
  // Of a player's value: sum over odd k of q^k (2 / k)^2 C(d - 1, k - 1).
  double value_variance() const {
    double sum = 4 * (decay_ + single_);
    double term = decay_;  // q^k C(d - 1, k - 1)
    for (size_t k = 2; k <= players_; k++) {
      term *= decay_ * static_cast<double>(players_ - k + 1) / static_cast<double>(k - 1);
      if (k % 2 == 1) sum += term * 4 / (static_cast<double>(k) * static_cast<double>(k));
    }
    return sum;
  }

 private:
  size_t players_;
  double decay_;
  double single_;
  std::vector<double> of_pairs_;
  std::vector<double> of_value_;
};

size_t distance(const Coalitions& coalitions, size_t a, size_t b) {
  size_t count = 0;
  for (size_t w = 0; w < coalitions.words(); w++) {
    count += static_cast<size_t>(std::popcount(coalitions.word(a, w) ^ coalitions.word(b, w)));
  }
  return count;
}

}  // namespace

InteractionRegression::InteractionRegression(const PairDesign& design, const ProcessPrior& given,
                                             std::span<const size_t> probes, const Context& context,
                                             const Matrix64* influence, SolvedProcess* solved) {
  const Coalitions& coalitions = design.coalitions;
  const size_t players = coalitions.players();
  const Prior prior(players, given);
  // Coalition 1 is that of all players: its pair is known, and its left side is 0. Then come the pairs' first halves.
  const size_t known = design.pairs() + 1;
  const size_t own = known + players + probes.size();  // where rows of own errors begin
  Matrix64 system(own + (influence != nullptr ? players : 0), known);
  parallel_blocks(context, known, kBlockRows, [&](const Block& block) {
    for (size_t i = block.begin; i < block.end; i++) {
      for (size_t j = 0; j <= i; j++) system(i, j) = prior.of_pairs(distance(coalitions, 1 + i, 1 + j));
      system(i, i) += kNoise * prior.of_pairs(0);
    }
  });
  for (size_t j = 0; j < known; j++) {
    const size_t size = players - distance(coalitions, 1, 1 + j);
    for (size_t i = 0; i < players; i++) {
      const bool inside = coalitions.contains(1 + j, i);
      system(known + i, j) = inside ? prior.of_value(size - 1) : -prior.of_value(size);
    }
  }
  for (size_t k = 0; k < probes.size(); k++) system(known + players + k, 1 + probes[k]) = 1;
  if (!factorise(system.view().rows_between(0, own), context)) return;
  for (size_t i = 0; i < players; i++) {
    variances_.push_back(std::max(0.0, prior.value_variance() - squared_norm(system.row(known + i))));
  }
  for (size_t k = 0; k < probes.size(); k++) {
    left_out_variances_.push_back(1 / squared_norm(system.row(known + players + k)));
  }
  if (influence != nullptr) {
    const std::vector<size_t> nearest = nearest_probes(design.pairs(), probes);
    const auto rows = system.view().rows_between(own, own + players);
    for (size_t i = 0; i < players; i++) {
      for (size_t p = 0; p < nearest.size(); p++) {
        rows(i, 1 + p) = (*influence)(i, p) * left_out_variances_[nearest[p]];
      }
    }
    substitute(system.view().rows_between(0, known), rows, context);
  }
  if (solved != nullptr) solved->solver = CholeskySolver(system.view().rows_between(0, known), context);
  divide(system.view(), context);
  values_ = Matrix64(players, design.pairs());
  left_out_ = Matrix64(probes.size(), design.pairs());
  for (size_t i = 0; i < players; i++) std::ranges::copy(system.row(known + i).subspan(1), values_.row(i).begin());
  for (size_t k = 0; k < probes.size(); k++) {
    const auto row = system.row(known + players + k).subspan(1);
    std::ranges::transform(row, left_out_.row(k).begin(), [&](double value) { return value * left_out_variances_[k]; });
  }
  if (influence != nullptr) {
    own_errors_ = Matrix64(players, design.pairs());
    for (size_t i = 0; i < players; i++) std::ranges::copy(system.row(own + i).subspan(1), own_errors_.row(i).begin());
  }
  if (solved == nullptr) return;
  solved->triple = prior.of_triple();
  solved->variances = variances_;
  solved->values = Matrix64(players, known);
  solved->probes = Matrix64(probes.size(), known);
  for (size_t i = 0; i < players; i++) std::ranges::copy(system.row(known + i), solved->values.row(i).begin());
  for (size_t k = 0; k < probes.size(); k++) {
    std::ranges::copy(system.row(known + players + k), solved->probes.row(k).begin());
  }
}

std::vector<size_t> nearest_probes(size_t pairs, std::span<const size_t> probes) {
  std::vector<size_t> nearest(pairs);
  size_t k = 0;
  for (size_t p = 0; p < pairs; p++) {
    const auto away = [&](size_t probe) { return probes[probe] > p ? probes[probe] - p : p - probes[probe]; };
    while (k + 1 < probes.size() && away(k + 1) < away(k)) k++;
    nearest[p] = k;
  }
  return nearest;
}

}  // namespace assay
