#include "assay/explain/lime.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/random.h"
#include "assay/explain/common.h"
#include "assay/explain/games/coalitions.h"
#include "assay/explain/games/least_squares.h"
#include "assay/explain/games/play.h"

namespace assay {
namespace {

// Elements of the design, at most: it is held twice in float64.
constexpr size_t kMostElements = size_t{1} << 27;
// Masks between two looks at whether to stop.
constexpr size_t kMasksPerCheck = 1024;
// Draws beyond the number of free coefficients that standard errors need, and what that comes to in samples: the mask
// of all ones and the intercept take two more.
constexpr double kLeastSpare = 4;
constexpr size_t kEnoughMore = 6;

bool enumerates(size_t players, int64_t samples) { return players < 24 && samples >= int64_t{1} << players; }

size_t mask_count(size_t players, int64_t samples) {
  return enumerates(players, samples) ? size_t{1} << players : static_cast<size_t>(samples);
}

// All masks in the order of their bits, or that of all ones and then draws.
Coalitions choose_masks(size_t players, int64_t samples, const Context& context) {
  if (enumerates(players, samples)) return Coalitions::range(players, 0, size_t{1} << players);
  Coalitions made(players);
  Coalitions empty(players);
  empty.add(std::vector<uint64_t>(made.words(), 0));
  const std::vector<uint64_t> all = empty.complement(0);
  made.add(all);
  std::vector<uint64_t> mask(made.words());
  for (size_t s = 1; s < static_cast<size_t>(samples); s++) {
    if (s % kMasksPerCheck == 0) context.check_cancelled();
    RandomStream stream(context.seed, "lime", 0, static_cast<uint32_t>(s));
    for (size_t w = 0; w < mask.size(); w++) mask[w] = stream.bits64() & all[w];
    made.add(mask);
  }
  return made;
}

// The regression that all rows share. Taking the weighted mean from each column of the masks leaves the intercept out
// of the normal equations; the ridge is players more rows, sqrt(ridge) in one column each, of value 0.
class MaskRegression {
 public:
  MaskRegression(const Coalitions& masks, const Lime::Options& options, const Context& context)
      : masks_(masks.size()), players_(masks.players()), weights_(masks.size()) {
    std::vector<double> centre(players_);
    const double width = options.width > 0 ? options.width : 0.75 * std::sqrt(static_cast<double>(players_));
    const size_t extra = options.ridge > 0 ? players_ : 0;
    regressors_ = Matrix64(masks_ + extra, players_);
    std::vector<double> row_weights(masks_ + extra, 1.0);
    // Enumerated masks stand for all the draws they save, or the ridge would weigh more the fewer masks there are.
    const double draws_each = static_cast<double>(options.samples) / static_cast<double>(masks_);
    for (size_t s = 0; s < masks_; s++) {
      if (s % kMasksPerCheck == 0) context.check_cancelled();
      size_t present = 0;
      for (size_t w = 0; w < masks.words(); w++) present += static_cast<size_t>(std::popcount(masks.word(s, w)));
      weights_[s] = draws_each * std::exp(-static_cast<double>(players_ - present) / (width * width));
      row_weights[s] = weights_[s];
      total_ += weights_[s];
      for (size_t i = 0; i < players_; i++) {
        regressors_(s, i) = masks.contains(s, i) ? 1 : 0;
        centre[i] += weights_[s] * regressors_(s, i);
      }
    }
    for (double& each : centre) each /= total_;
    for (size_t s = 0; s < masks_; s++) {
      for (size_t i = 0; i < players_; i++) regressors_(s, i) -= centre[i];
    }
    for (size_t i = 0; i < extra; i++) regressors_(masks_ + i, i) = std::sqrt(options.ridge);
    auto fit = weighted_least_squares(regressors_.view(), row_weights, context);
    if (!fit) {
      fail_input(fmt::format(
          "lime: {} masks with a kernel of width {:g} do not determine the coefficients of {} players without a ridge; "
          "more samples, a wider kernel or a ridge above 0 would",
          masks_, width, players_));
    }
    solver_ = std::move(fit->solver);
    std::vector<double> leverage = std::move(fit->leverage);
    // That of the intercept.
    for (size_t s = 0; s < masks_; s++) leverage[s] += weights_[s] / total_;
    // The mask of all ones is no draw.
    const auto draws = static_cast<double>(masks_ - 1);
    strata_ = {{.begin = 1, .end = masks_, .factor = draws / (draws - 1), .centred = true}};
    spare_ = draws - std::accumulate(leverage.begin() + 1, leverage.begin() + masks_, 0.0);
    scales_ = ResidualScales(std::span(leverage).subspan(1, masks_ - 1));
  }

  size_t masks() const { return masks_; }
  // Whether there are enough more draws than coefficients, as the ridge leaves them free, for standard errors.
  bool has_errors() const { return spare_ >= kLeastSpare; }
  // Length of the values that it takes: those of the masks, then zeros.
  size_t length() const { return solver_.cols(); }

  void coefficients(std::span<const double> values, std::span<double> out) const { multiply(solver_, values, out); }

  // Standard errors of coefficients, which are those of these values.
  void errors(std::span<const double> values, std::span<const double> coefficients, std::span<float> out) const {
    if (!has_errors()) {
      std::ranges::fill(out, std::numeric_limits<float>::quiet_NaN());
      return;
    }
    double mean = 0;
    for (size_t s = 0; s < masks_; s++) mean += weights_[s] * values[s];
    mean /= total_;
    std::vector<double> residuals(length());
    multiply(regressors_, coefficients, residuals);
    for (size_t s = 0; s < masks_; s++) residuals[s] = values[s] - mean - residuals[s];
    scales_.restore(std::span(residuals).subspan(1, masks_ - 1));
    std::vector<double> variances(players_);
    stratified_variances(solver_, residuals, strata_, variances);
    for (size_t i = 0; i < players_; i++) out[i] = static_cast<float>(std::sqrt(variances[i]));
  }

 private:
  size_t masks_;
  size_t players_;
  std::vector<double> weights_;
  double total_ = 0;
  Matrix64 regressors_;
  Matrix64 solver_;
  ResidualScales scales_;  // of the draws
  std::vector<Stratum> strata_;
  double spare_ = 0;
};

struct RowState {
  std::vector<double> values;  // summed over the reference rows
  VectorMoments coefficients;
};

}  // namespace

std::optional<std::string> Lime::refuses(const ExplainTask& task) const {
  const size_t players = task.players.size();
  const size_t masks = mask_count(players, options_.samples);
  if (options_.ridge == 0 && masks <= players) {
    return fmt::format("needs at least {} samples for {} players without a ridge, and has {}", players + 1, players,
                       masks);
  }
  if (masks + players <= kMostElements / std::max<size_t>(players, 1)) return {};
  return fmt::format("keeps masks x players in memory, at most {}; {} masks of {} players are more", kMostElements,
                     masks, players);
}

void Lime::attribute(const ExplainTask& task, Attributions& out, const Context& context) const {
  lime(*make_game(task, context), options_, out, context);
}

void lime(const Game& game, const Lime::Options& options, Attributions& out, const Context& context) {
  const size_t players = game.players();
  const size_t references = game.references();
  const std::vector<Coalitions> design = {choose_masks(players, options.samples, context)};
  const MaskRegression regression(design[0], options, context);
  const bool sampled = !design[0].is_range();
  if (sampled) out.standard_error = Matrix(game.rows(), players);
  if (sampled && !regression.has_errors()) {
    out.notes.push_back(fmt::format(
        "lime: {} samples of {} players are too few for standard errors, which are NaN; {} more than players give them",
        regression.masks(), players, kEnoughMore));
  }
  if (references > 1) out.background_error = Matrix(game.rows(), players);
  play(
      game, all_rows(game.rows()), design, context, "lime",
      [&](size_t /*row*/) { return RowState{std::vector<double>(regression.length()), VectorMoments(players)}; },
      [&](RowState& state, size_t /*row*/, size_t /*reference*/, size_t /*part*/, std::span<const float> found) {
        std::vector<double> coefficients(players);
        if (references == 1) {
          std::copy(found.begin(), found.end(), state.values.begin());
          regression.coefficients(state.values, coefficients);
        } else {
          std::vector<double> values(regression.length());
          std::copy(found.begin(), found.end(), values.begin());
          regression.coefficients(values, coefficients);
          for (size_t s = 0; s < found.size(); s++) state.values[s] += values[s] / static_cast<double>(references);
        }
        state.coefficients.add(coefficients);
      },
      [&](const RowState& state, size_t row) {
        state.coefficients.store(out.values.row(row),
                                 references > 1 ? out.background_error.row(row) : std::span<float>());
        if (!sampled) return;
        std::vector<double> means(players);
        for (size_t i = 0; i < players; i++) means[i] = state.coefficients.mean(i);
        regression.errors(state.values, means, out.standard_error.row(row));
      });
  out.evaluations += game.rows() * references * regression.masks();
}

MethodInfo lime_method() {
  return with_options<Lime>({.name = "lime",
                             .title = "Coefficients of a linear model fitted to the output near the row",
                             .citation = "Ribeiro, Singh, Guestrin (2016)",
                             .cost = "`samples` evaluations for each reference row (default 2048)",
                             .uses_reference = true,
                             .sampled = true});
}

}  // namespace assay
