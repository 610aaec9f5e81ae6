#include "assay/explain/games/pair_estimator.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "assay/core/parallel.h"
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
// Triples are added to these orders: the middle one left the least error on networks and boosters, the rough one where
// hardly anything but triples is there.
constexpr size_t kSmoothTriples = 1;
constexpr size_t kRoughTriples = 2;
// Where pairs are few for the interactions there may be, single players may be the smaller part of a game: a process
// that takes them for no larger than others.
const ProcessPrior kShrunk(4, 1);
// Residuals whose squares are this small beside those of the left sides are rounding, or nearly.
constexpr double kNothingLeft = 1e-10;

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
  const bool triples = TripleRegression::worthwhile(design.coalitions.players(), design.pairs());
  Matrix64 influence = additive_.solver();
  for (const PairStratum& stratum : design.strata) {
    for (size_t i = 0; i < influence.rows() && stratum.whole(); i++) {
      std::ranges::fill(influence.row(i).subspan(stratum.begin, stratum.end - stratum.begin), 0.0);
    }
  }
  std::vector<ProcessPrior> priors(kOrders.begin(), kOrders.end());
  if (TripleRegression::few_pairs(design.coalitions.players(), design.pairs())) priors.push_back(kShrunk);
  // One beside the other, and each on all threads: parts of a factorisation have no work for more than one.
  std::vector<std::optional<InteractionRegression>> made(priors.size());
  std::vector<SolvedProcess> kept(priors.size());
  const auto keeps = [&](size_t k) { return triples && (k == kSmoothTriples || k == kRoughTriples); };
  parallel_blocks(context, priors.size(), 1, [&](const Block& block) {
    const size_t k = block.begin;
    made[k].emplace(design, priors[k], probes_, context, &influence, keeps(k) ? &kept[k] : nullptr);
  });
  if (triples && made[kSmoothTriples]->usable() && made[kRoughTriples]->usable()) {
    triples_.emplace(design, probes_, std::move(kept[kSmoothTriples]), std::move(kept[kRoughTriples]));
  }
  for (auto& each : made) {
    if (each->usable()) interactions_.push_back(*std::move(each));
  }
  left_out_ = Matrix((1 + interactions_.size()) * probes_.size(), design.pairs());
  const Matrix64 left_out = additive_.left_out(probes_);
  store_rows(left_out, 0, left_out_);
  for (size_t k = 0; k < probes_.size(); k++) foretold_.push_back(std::isnan(left_out(k, 0)) ? 0 : 1);
  if (static_cast<size_t>(std::ranges::count(foretold_, 1)) < kLeastProbes) std::ranges::fill(foretold_, uint8_t{1});
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
    choice = {.candidate = c, .scale = scale / (static_cast<double>(probes_.size()) - 2), .square = square};
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
  std::vector<Choice> choices(rows);
  for (size_t r = 0; r < rows; r++) {
    if (!left_out_.empty()) choices[r] = choose(residuals.row(r));
    const size_t candidate = choices[r].candidate;
    multiply(candidate == 0 ? additive_.solver() : interactions_[candidate - 1].values(), sides.row(r), values.row(r));
    share_rest(totals[r], values.row(r));
  }
  const std::vector<uint8_t> done = try_triples(sides, totals, choices, values, errors);
  std::vector<double> own(probes_.size());
  for (size_t r = 0; r < rows; r++) {
    const Choice& choice = choices[r];
    if (done[r] != 0) continue;
    if (choice.candidate == 0) {
      additive_.standard_errors(sides.row(r), values.row(r), errors.row(r));
      continue;
    }
    const InteractionRegression& chosen = interactions_[choice.candidate - 1];
    std::ranges::copy(residuals.row(r).subspan(choice.candidate * probes_.size(), probes_.size()), own.begin());
    multiply(chosen.own_errors(), sides.row(r), errors.row(r));
    store_errors(own, choice.scale, chosen.variances(), errors.row(r));
  }
}

void PairEstimator::store_errors(std::span<const double> residuals, double scale, std::span<const double> variances,
                                 std::span<double> errors) const {
  if (!additive_.has_errors()) {
    std::ranges::fill(errors, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  for (size_t i = 0; i < errors.size(); i++) {
    double misfit = 0;
    for (size_t k = 0; k < residuals.size(); k++) misfit += misfit_(i, k) * residuals[k] * residuals[k];
    errors[i] = std::sqrt(scale * variances[i] + std::max(misfit, errors[i] * errors[i]) / 2);
  }
}

std::vector<uint8_t> PairEstimator::try_triples(MatrixView<const double> sides, std::span<const double> totals,
                                                std::span<const Choice> choices, MatrixView<double> values,
                                                MatrixView<double> errors) const {
  std::vector<uint8_t> done(sides.rows());
  if (!triples_) return done;
  std::vector<size_t> wanted;
  for (size_t r = 0; r < sides.rows(); r++) {
    double square = 0;
    for (size_t k = 0; k < probes_.size(); k++) {
      if (foretold_[k] != 0) square += sides(r, probes_[k]) * sides(r, probes_[k]);
    }
    if (choices[r].square > kNothingLeft * square && std::isfinite(square)) wanted.push_back(r);
  }
  if (wanted.empty()) return done;
  Matrix64 own_sides(wanted.size(), sides.cols());
  Matrix64 own_values(wanted.size(), values.cols());
  std::vector<double> bars;
  for (size_t w = 0; w < wanted.size(); w++) {
    std::ranges::copy(sides.row(wanted[w]), own_sides.row(w).begin());
    std::ranges::copy(values.row(wanted[w]), own_values.row(w).begin());
    bars.push_back(choices[wanted[w]].square);
  }
  std::vector<TripleRegression::Fit> fits = triples_->fit(own_sides.view(), own_values.view(), foretold_, bars);
  for (size_t w = 0; w < wanted.size(); w++) {
    TripleRegression::Fit& fit = fits[w];
    const size_t r = wanted[w];
    if (fit.triples.empty() || !(fit.square < choices[r].square)) continue;
    std::ranges::copy(fit.values, values.row(r).begin());
    share_rest(totals[r], values.row(r));
    for (const PairStratum& stratum : additive_.design().strata) {
      if (!stratum.whole()) continue;
      std::ranges::fill(std::span(fit.pair_residuals).subspan(stratum.begin, stratum.end - stratum.begin), 0.0);
    }
    multiply(additive_.solver(), fit.pair_residuals, errors.row(r));
    store_errors(fit.residuals, fit.scale / (static_cast<double>(probes_.size()) - 2), fit.variances, errors.row(r));
    done[r] = 1;
  }
  return done;
}

}  // namespace assay
