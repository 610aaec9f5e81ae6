#include "assay/explain/games/paired_regression.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

namespace assay {

std::optional<PairedRegression> PairedRegression::make(PairDesign design, const Context& context) {
  const size_t pairs = design.pairs();
  const size_t players = design.coalitions.players();
  std::vector<double> regressors((pairs + 1) * players);
  std::vector<double> weights(pairs + 1);
  double mass = 0;
  for (const PairStratum& stratum : design.strata) {
    const double part = static_cast<double>(stratum.size) / static_cast<double>(players);
    context.check_cancelled();
    for (size_t p = stratum.begin; p < stratum.end; p++) {
      weights[p] = stratum.weight();
      for (size_t i = 0; i < players; i++) {
        regressors[p * players + i] = (design.coalitions.contains(2 + p, i) ? 1 : 0) - part;
      }
    }
    mass += stratum.mass;
  }
  // The constraint. Its weight changes nothing but how far apart the pivots are.
  std::ranges::fill(std::span(regressors).last(players), 1 / std::sqrt(static_cast<double>(players)));
  weights[pairs] = mass / static_cast<double>(players);
  auto fit = weighted_least_squares({regressors.data(), pairs + 1, players}, weights, context);
  if (!fit) return {};
  return PairedRegression(std::move(design), *std::move(fit));
}

PairedRegression::PairedRegression(PairDesign design, SharedFit fit)
    : design_(std::move(design)),
      solver_(fit.solver.rows(), fit.solver.cols() - 1),
      leverage_(fit.leverage.begin(), fit.leverage.end() - 1),
      expected_(leverage_.size()) {
  const size_t players = solver_.rows();
  for (size_t i = 0; i < players; i++) std::copy_n(fit.solver.row(i).begin(), pairs(), solver_.row(i).begin());
  for (const PairStratum& stratum : design_.strata) {
    const double part = static_cast<double>(stratum.size) / static_cast<double>(players);
    const auto count = static_cast<double>(stratum.end - stratum.begin);
    std::fill(expected_.begin() + stratum.begin, expected_.begin() + stratum.end, part - 0.5);
    if (stratum.whole()) continue;
    const bool centred = count > 1;
    const double factor = (1 - count / stratum.population) * (centred ? count / (count - 1) : 1);
    strata_.push_back({.begin = stratum.begin, .end = stratum.end, .factor = factor, .centred = centred});
  }
  if (!strata_.empty()) scales_ = ResidualScales(std::span(leverage_).subspan(strata_.front().begin));
  const size_t groups = (players + 7) / 8;
  bytes_.resize(groups * pairs());
  for (size_t b = 0; b < groups; b++) {
    for (size_t p = 0; p < pairs(); p++) {
      bytes_[b * pairs() + p] = static_cast<uint8_t>(design_.coalitions.word(2 + p, b / 8) >> b % 8 * 8);
    }
  }
}

double PairedRegression::left_sides(std::span<const float> values, std::span<double> sides) const {
  assert(values.size() == 2 * pairs() + 2 && sides.size() == pairs());
  const double total = static_cast<double>(values[1]) - static_cast<double>(values[0]);
  const float* first = values.data() + 2;
  const float* second = first + pairs();
  for (size_t p = 0; p < sides.size(); p++) {
    sides[p] = (static_cast<double>(first[p]) - static_cast<double>(second[p])) / 2 - total * expected_[p];
  }
  return total;
}

void PairedRegression::fit(std::span<const double> sides, double total, std::span<double> phi) const {
  multiply(solver_, sides, phi);
  share_rest(total, phi);
}

Matrix64 PairedRegression::left_out(std::span<const size_t> pairs) const {
  Matrix64 made(pairs.size(), this->pairs());
  for (size_t k = 0; k < pairs.size(); k++) {
    const auto row = made.row(k);
    const double own = 1 - leverage_[pairs[k]];
    if (!(own > kLeastOwnShare)) {
      std::ranges::fill(row, std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    // The values sum to 0 beyond an equal share, so those of the coalition are all that is fitted to the pair.
    for (size_t i = 0; i < solver_.rows(); i++) {
      if (!design_.coalitions.contains(2 + pairs[k], i)) continue;
      for (size_t p = 0; p < row.size(); p++) row[p] -= solver_(i, p) / own;
    }
    row[pairs[k]] += 1 / own;
  }
  return made;
}

void PairedRegression::standard_errors(std::span<double> sides, std::span<const double> phi,
                                       std::span<double> errors) const {
  if (strata_.empty()) {
    std::ranges::fill(errors, 0.0);
    return;
  }
  if (!has_errors()) {
    std::ranges::fill(errors, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  double total = 0;
  for (const double value : phi) total += value;
  const double each = total / static_cast<double>(phi.size());
  const size_t from = strata_.front().begin;
  // phi(S) as one table look-up for eight players.
  std::array<double, 256> table;
  for (size_t b = 0; b * 8 < phi.size(); b++) {
    table[0] = 0;
    for (size_t j = 0; j < 8; j++) {
      const double psi = b * 8 + j < phi.size() ? phi[b * 8 + j] - each : 0;
      const size_t half = size_t{1} << j;
      for (size_t m = 0; m < half; m++) table[half + m] = table[m] + psi;
    }
    const uint8_t* bytes = bytes_.data() + b * pairs();
    for (size_t p = from; p < sides.size(); p++) sides[p] -= table[bytes[p]];
  }
  scales_.restore(sides.subspan(from));
  stratified_variances(solver_, sides, strata_, errors);
  for (double& error : errors) error = std::sqrt(error);
}

void share_rest(double total, std::span<double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  const double each = (total - sum) / static_cast<double>(values.size());
  for (double& value : values) value += each;
}

}  // namespace assay
