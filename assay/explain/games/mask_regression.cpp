#include "assay/explain/games/mask_regression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/parallel.h"
#include "assay/explain/games/cholesky.h"

namespace assay {
namespace {

constexpr size_t kMasksPerBlock = 64;
// Below these intervals held too little, as measured.
constexpr size_t kLeastMasks = 16;
constexpr double kLeastFree = 5;

[[noreturn]] void fail_undetermined(size_t masks, size_t players, const MaskWeights& weights) {
  fail_input(fmt::format(
      "lime: {} masks with a kernel of width {:g} do not determine the coefficients of {} players {}; more samples, a "
      "wider kernel or a {} would",
      masks, weights.width, players,
      weights.ridge > 0 ? fmt::format("with a ridge of {:g}", weights.ridge) : "without a ridge",
      weights.ridge > 0 ? "larger ridge" : "ridge above 0"));
}

size_t shared_players(const Coalitions& masks, size_t a, size_t b) {
  size_t count = 0;
  for (size_t w = 0; w < masks.words(); w++) {
    count += static_cast<size_t>(std::popcount(masks.word(a, w) & masks.word(b, w)));
  }
  return count;
}

}  // namespace

MaskRegression::MaskRegression(const Coalitions& masks, const MaskWeights& weights, const Context& context,
                               MaskForm form)
    : masks_(masks.size()), players_(masks.players()), weights_(masks.size()), centres_(masks.players()) {
  weigh(masks, weights, context);
  const bool dual = form == MaskForm::best ? masks_ <= players_ && weights.ridge > 0 : form == MaskForm::by_masks;
  const bool determined =
      dual ? solve_by_masks(masks, weights.ridge, context) : solve_by_players(masks, weights.ridge, context);
  if (!determined) fail_undetermined(masks_, players_, weights);
}

double MaskRegression::size(size_t masks, size_t players) {
  const auto n = static_cast<double>(masks);
  const auto d = static_cast<double>(players);
  return masks <= players ? (2 * n + d) * n : (2 * n + d) * d;
}

size_t MaskRegression::enough_for_errors(size_t players) {
  return std::max(kLeastMasks, players + 1 + static_cast<size_t>(kLeastFree));
}

void MaskRegression::weigh(const Coalitions& masks, const MaskWeights& weights, const Context& context) {
  for (size_t s = 0; s < masks_; s++) {
    if (s % kMasksPerBlock == 0) context.check_cancelled();
    size_t present = 0;
    for (size_t w = 0; w < masks.words(); w++) present += static_cast<size_t>(std::popcount(masks.word(s, w)));
    weights_[s] = weights.draws * std::exp(-static_cast<double>(players_ - present) / (weights.width * weights.width));
    total_ += weights_[s];
    for (size_t i = 0; i < players_; i++) centres_[i] += masks.contains(s, i) ? weights_[s] : 0;
  }
  for (double& each : centres_) each /= total_;
}

void MaskRegression::set_error_factor(double trace_of_squared_hat) {
  const auto most = static_cast<double>(std::max(masks_, players_ + 1));
  const double free = most - trace_of_squared_hat;
  if (masks_ < kLeastMasks || !(free >= kLeastFree)) return;
  error_factor_ = free / most * free / (free - 2);
}

// The ridge is players more rows, sqrt(ridge) in one column each, of value 0.
bool MaskRegression::solve_by_players(const Coalitions& masks, double ridge, const Context& context) {
  const size_t extra = ridge > 0 ? players_ : 0;
  Matrix64 design(masks_ + extra, players_);
  std::vector<double> row_weights(masks_ + extra, 1.0);
  std::ranges::copy(weights_, row_weights.begin());
  for (size_t s = 0; s < masks_; s++) {
    for (size_t i = 0; i < players_; i++) design(s, i) = (masks.contains(s, i) ? 1 : 0) - centres_[i];
  }
  for (size_t i = 0; i < extra; i++) design(masks_ + i, i) = std::sqrt(ridge);
  auto fit = weighted_least_squares(design.view(), row_weights, context);
  if (!fit) return false;
  // I - ridge (X' W X + ridge)^-1 has the eigenvalues of the hat matrix, but for the 1 of the intercept. The solver's
  // last columns are sqrt(ridge) times that inverse.
  double squares = static_cast<double>(players_);
  if (extra > 0) {
    squares = 0;
    for (size_t i = 0; i < players_; i++) {
      const auto inverse = fit->solver.row(i).subspan(masks_);
      for (size_t j = 0; j < players_; j++) {
        const double entry = (i == j ? 1 : 0) - std::sqrt(ridge) * inverse[j];
        squares += entry * entry;
      }
    }
  }
  set_error_factor(1 + squares);
  own_.resize(masks_);
  for (size_t s = 0; s < masks_; s++) {
    const double own = 1 - fit->leverage[s] - weights_[s] / total_;
    own_[s] = own > kLeastOwnShare ? own : 0;
  }
  system_ = Matrix64(players_, masks_);
  for (size_t i = 0; i < players_; i++) std::copy_n(fit->solver.row(i).begin(), masks_, system_.row(i).begin());
  regressors_ = std::move(design);
  return true;
}

// K = A A' + ridge + c u u' with u = sqrt(weight / total): A' u = 0, so u u' changes nothing for values that are
// centred, and keeps K from being as small as the ridge along u. Below it the unit matrix, which becomes K^-1, and A',
// which becomes the solver.
bool MaskRegression::solve_by_masks(const Coalitions& masks, double ridge, const Context& context) {
  system_ = Matrix64(2 * masks_ + players_, masks_);
  std::vector<double> roots(masks_);
  std::ranges::transform(weights_, roots.begin(), [](double weight) { return std::sqrt(weight); });
  std::vector<double> with_centres(masks_);
  double squares = 0;
  for (const double centre : centres_) squares += centre * centre;
  parallel_blocks(context, masks_, kMasksPerBlock, [&](const Block& block) {
    for (size_t s = block.begin; s < block.end; s++) {
      for (size_t i = 0; i < players_; i++) with_centres[s] += masks.contains(s, i) ? centres_[i] : 0;
      system_(masks_ + s, s) = 1;
    }
  });
  double diagonal = 0;
  for (size_t s = 0; s < masks_; s++) {
    diagonal += weights_[s] * (static_cast<double>(shared_players(masks, s, s)) - 2 * with_centres[s] + squares);
  }
  diagonal = std::max(diagonal / static_cast<double>(masks_), ridge);
  parallel_blocks(context, masks_, kMasksPerBlock, [&](const Block& block) {
    for (size_t s = block.begin; s < block.end; s++) {
      for (size_t t = 0; t <= s; t++) {
        const double product =
            static_cast<double>(shared_players(masks, s, t)) - with_centres[s] - with_centres[t] + squares;
        system_(s, t) = roots[s] * roots[t] * (product + diagonal / total_);
      }
      system_(s, s) += ridge;
    }
  });
  const size_t first = 2 * masks_;
  parallel_blocks(context, players_, kMasksPerBlock, [&](const Block& block) {
    for (size_t i = block.begin; i < block.end; i++) {
      for (size_t s = 0; s < masks_; s++) {
        system_(first + i, s) = roots[s] * ((masks.contains(s, i) ? 1 : 0) - centres_[i]);
      }
    }
  });
  if (!factorise(system_.view(), context)) return false;
  divide(system_.view(), context);
  // H = I - ridge R, where R is K^-1 without its part along u.
  const double along = 1 / (ridge + diagonal);
  double trace = 0;
  double all_squares = -along * along;
  own_.resize(masks_);
  for (size_t s = 0; s < masks_; s++) {
    const auto inverse = system_.row(masks_ + s);
    all_squares += squared_norm(inverse);
    const double part = inverse[s] - along * weights_[s] / total_;
    trace += part;
    // Residuals are found as W^1/2 e = ridge R W^1/2 y.
    own_[s] = part > kLeastOwnShare * inverse[s] ? part * roots[s] : 0;
  }
  set_error_factor(static_cast<double>(masks_) - 2 * ridge * trace + ridge * ridge * all_squares);
  parallel_blocks(context, players_, kMasksPerBlock, [&](const Block& block) {
    for (size_t i = block.begin; i < block.end; i++) {
      const auto row = system_.row(first + i);
      for (size_t s = 0; s < masks_; s++) row[s] *= roots[s];
    }
  });
  // From here on the same rows take values, not their roots' multiples, to W^1/2 e / ridge.
  parallel_blocks(context, masks_, kMasksPerBlock, [&](const Block& block) {
    for (size_t t = block.begin; t < block.end; t++) {
      const auto row = system_.row(masks_ + t);
      for (size_t s = 0; s < masks_; s++) row[s] *= roots[s];
    }
  });
  return true;
}

MatrixView<const double> MaskRegression::solver() const {
  const MatrixView<const double> all = system_.view();
  return all.rows_between(all.rows() - players_, all.rows());
}

void MaskRegression::centre(std::span<double> values) const {
  assert(values.size() == masks_);
  const double first = values[0];
  double mean = 0;
  for (size_t s = 0; s < masks_; s++) {
    values[s] -= first;
    mean += weights_[s] * values[s];
  }
  mean /= total_;
  for (double& value : values) value -= mean;
}

void MaskRegression::coefficients(std::span<const double> centred, std::span<double> out) const {
  multiply(solver(), centred, out);
}

void MaskRegression::left_out(std::span<const double> centred, std::span<const double> coefficients,
                              std::span<double> out) const {
  if (regressors_.empty()) {
    multiply(system_.view().rows_between(masks_, 2 * masks_), centred, out);
  } else {
    multiply(regressors_.view().rows_between(0, masks_), coefficients, out);
    for (size_t s = 0; s < masks_; s++) out[s] = centred[s] - out[s];
  }
  // Where the fit goes through a mask, its residual says nothing about its error: it gets the common size of the
  // others.
  double squares = 0;
  double others = 0;
  for (size_t s = 1; s < masks_; s++) {
    if (own_[s] == 0) continue;
    out[s] /= own_[s];
    squares += out[s] * out[s];
    others++;
  }
  const double common = others > 0 ? std::sqrt(squares / others) : 0;
  for (size_t s = 1; s < masks_; s++) out[s] = own_[s] == 0 ? common : out[s];
}

void MaskRegression::errors(std::span<const double> centred, std::span<const double> coefficients,
                            std::span<float> out) const {
  if (!has_errors()) {
    std::ranges::fill(out, std::numeric_limits<float>::quiet_NaN());
    return;
  }
  std::vector<double> residuals(masks_);
  left_out(centred, coefficients, residuals);
  // The first mask is no draw.
  const auto draws = static_cast<double>(masks_ - 1);
  const std::array<Stratum, 1> strata = {
      {{.begin = 1, .end = masks_, .factor = draws / (draws - 1) * error_factor_, .centred = true}}};
  std::vector<double> variances(players_);
  stratified_variances(solver(), residuals, strata, variances);
  for (size_t i = 0; i < players_; i++) out[i] = static_cast<float>(std::sqrt(variances[i]));
}

}  // namespace assay
