#include "assay/explain/games/pair_estimator.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

namespace assay {
namespace {

// Players of an interaction, about: the smooth one is right for boosters of shallow trees, the rough one for steps. On
// networks the middle one has the least error, or nearly.
constexpr std::array<double, 3> kOrders = {0.3, 1.5, 4};
// Residuals that tell one candidate from another, and the scale of an error to about an eighth.
constexpr size_t kProbes = 32;
// Fewer say nothing about a scale.
constexpr size_t kLeastProbes = 4;

// Pairs at equal distances among those of sizes that were not taken whole.
std::vector<size_t> make_probes(const PairDesign& design) {
  std::vector<size_t> sampled;
  for (const PairStratum& stratum : design.strata) {
    if (stratum.whole()) continue;
    for (size_t p = stratum.begin; p < stratum.end; p++) sampled.push_back(p);
  }
  const size_t count = std::min(kProbes, sampled.size());
  std::vector<size_t> probes(count);
  for (size_t k = 0; k < count; k++) probes[k] = sampled[k * sampled.size() / count];
  return probes;
}

}  // namespace

std::optional<PairEstimator> PairEstimator::make(PairDesign design, bool interactions, const Context& context) {
  auto additive = PairedRegression::make(std::move(design), context);
  if (!additive) return {};
  return PairEstimator(*std::move(additive), interactions, context);
}

PairEstimator::PairEstimator(PairedRegression additive, bool interactions, const Context& context)
    : additive_(std::move(additive)) {
  const PairDesign& design = additive_.design();
  if (!interactions || design.pairs() > kMostPairs) return;
  probes_ = make_probes(design);
  if (probes_.size() < kLeastProbes) return;
  for (const double order : kOrders) {
    InteractionRegression made(design, order, probes_, context);
    if (made.usable()) interactions_.push_back(std::move(made));
  }
}

PairEstimator::Choice PairEstimator::choose(double additive_square, std::span<const Matrix64> residuals,
                                            size_t row) const {
  Choice choice;
  double least = additive_square;
  for (size_t c = 0; c < interactions_.size(); c++) {
    double square = 0;
    double scale = 0;
    for (size_t k = 0; k < probes_.size(); k++) {
      const double squared = residuals[c](row, k) * residuals[c](row, k);
      square += squared;
      scale += squared / interactions_[c].left_out_variance(k);
    }
    if (!(square < least)) continue;
    least = square;
    choice = {.candidate = c + 1, .scale = scale / (static_cast<double>(probes_.size()) - 2)};
  }
  return choice;
}

void PairEstimator::estimate(MatrixView<double> sides, std::span<const double> totals, MatrixView<double> values,
                             MatrixView<double> errors) const {
  const size_t rows = sides.rows();
  const size_t players = values.cols();
  assert(rows <= kTogether && totals.size() == rows);
  std::vector<Matrix64> residuals;
  for (const InteractionRegression& each : interactions_) {
    residuals.emplace_back(rows, probes_.size());
    multiply_rows(each.left_out(), sides, residuals.back().view());
  }
  for (size_t r = 0; r < rows; r++) {
    additive_.fit(sides.row(r), totals[r], values.row(r));
    const Choice choice = choose(additive_.left_out_squares(sides.row(r), values.row(r), probes_), residuals, r);
    if (choice.candidate == 0) {
      additive_.standard_errors(sides.row(r), values.row(r), errors.row(r));
      continue;
    }
    const InteractionRegression& chosen = interactions_[choice.candidate - 1];
    multiply(chosen.values(), sides.row(r), values.row(r));
    share_rest(totals[r], values.row(r));
    for (size_t i = 0; i < players; i++) {
      errors(r, i) = additive_.has_errors() ? std::sqrt(choice.scale * chosen.variance(i))
                                            : std::numeric_limits<double>::quiet_NaN();
    }
  }
}

}  // namespace assay
