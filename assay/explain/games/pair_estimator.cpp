#include "assay/explain/games/pair_estimator.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "assay/model/kernels/products.h"

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

void store_rows(const Matrix64& from, size_t first, Matrix& to) {
  for (size_t k = 0; k < from.rows(); k++) {
    std::ranges::transform(from.row(k), to.row(first + k).begin(),
                           [](double value) { return static_cast<float>(value); });
  }
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
  left_out_ = Matrix((1 + interactions_.size()) * probes_.size(), design.pairs());
  store_rows(additive_.left_out(probes_), 0, left_out_);
  for (size_t c = 0; c < interactions_.size(); c++) {
    store_rows(interactions_[c].left_out(), (1 + c) * probes_.size(), left_out_);
  }
  weigh_misfit();
}

// Probes are at equal distances among the pairs that were sampled, so each stands for as many of them.
void PairEstimator::weigh_misfit() {
  const PairDesign& design = additive_.design();
  const Matrix64& solver = additive_.solver();
  misfit_ = Matrix64(solver.rows(), probes_.size());
  double sampled = 0;
  for (const PairStratum& stratum : design.strata) {
    if (!stratum.whole()) sampled += static_cast<double>(stratum.end - stratum.begin);
  }
  for (size_t k = 0; k < probes_.size(); k++) {
    const size_t p = probes_[k];
    const auto stratum =
        std::ranges::find_if(design.strata, [&](const PairStratum& each) { return each.begin <= p && p < each.end; });
    const double left = 1 - static_cast<double>(stratum->end - stratum->begin) / stratum->population;
    const double factor = left * sampled / (static_cast<double>(probes_.size()) - 2);
    for (size_t i = 0; i < solver.rows(); i++) misfit_(i, k) = factor * solver(i, p) * solver(i, p);
  }
}

PairEstimator::Choice PairEstimator::choose(std::span<const float> residuals) const {
  Choice choice;
  // A pair that alone tells of some player is foretold by no additive fit to the others: the candidates are compared on
  // the rest, or all of them without the additive one if little is left to compare it on.
  const auto own = residuals.first(probes_.size());
  const auto foretold = std::ranges::count_if(own, [](float residual) { return !std::isnan(residual); });
  const bool additive = static_cast<size_t>(foretold) >= kLeastProbes;
  double least = std::numeric_limits<double>::infinity();
  for (size_t c = additive || interactions_.empty() ? 0 : 1; c <= interactions_.size(); c++) {
    double square = 0;
    double scale = 0;
    for (size_t k = 0; k < probes_.size(); k++) {
      const double residual = residuals[c * probes_.size() + k];
      if (!additive || !std::isnan(own[k])) square += residual * residual;
      if (c > 0) scale += residual * residual / interactions_[c - 1].left_out_variance(k);
    }
    if (!(square < least)) continue;
    least = square;
    choice = {.candidate = c, .scale = scale / (static_cast<double>(probes_.size()) - 2)};
  }
  return choice;
}

void PairEstimator::estimate(MatrixView<double> sides, std::span<const double> totals, MatrixView<double> values,
                             MatrixView<double> errors) const {
  const size_t rows = sides.rows();
  assert(rows <= kTogether && totals.size() == rows);
  Matrix residuals(rows, left_out_.rows());
  if (!left_out_.empty()) {
    Matrix narrow(rows, sides.cols());
    for (size_t r = 0; r < rows; r++)
      std::ranges::transform(sides.row(r), narrow.row(r).begin(), [](double side) { return static_cast<float>(side); });
    product_of_rows({.m = rows,
                     .n = left_out_.rows(),
                     .k = sides.cols(),
                     .a = narrow.data(),
                     .a_row = narrow.cols(),
                     .b = left_out_.data(),
                     .b_row = left_out_.cols(),
                     .out = residuals.data(),
                     .out_row = residuals.cols()});
  }
  for (size_t r = 0; r < rows; r++) {
    const Choice choice = left_out_.empty() ? Choice{} : choose(residuals.row(r));
    if (choice.candidate == 0) {
      additive_.fit(sides.row(r), totals[r], values.row(r));
      additive_.standard_errors(sides.row(r), values.row(r), errors.row(r));
      continue;
    }
    const InteractionRegression& chosen = interactions_[choice.candidate - 1];
    multiply(chosen.values(), sides.row(r), values.row(r));
    share_rest(totals[r], values.row(r));
    if (!additive_.has_errors()) {
      std::ranges::fill(errors.row(r), std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const auto found =
        std::span<const float>(residuals.row(r)).subspan(choice.candidate * probes_.size(), probes_.size());
    for (size_t i = 0; i < values.cols(); i++) {
      double misfit = 0;
      for (size_t k = 0; k < found.size(); k++) misfit += misfit_(i, k) * found[k] * found[k];
      errors(r, i) = std::sqrt(std::max(choice.scale * chosen.variance(i), misfit));
    }
  }
}

}  // namespace assay
