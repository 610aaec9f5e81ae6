#include "assay/explain/lime.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/explain/common.h"
#include "assay/explain/games/coalitions.h"
#include "assay/explain/games/mask_regression.h"
#include "assay/explain/games/play.h"
#include "assay/explain/games/varying_players.h"

namespace assay {
namespace {

// Of float64 that a regression keeps, at most: 1 GiB, and up to three times that while it is found.
constexpr double kMostNumbers = double{1 << 27};
// Masks between two looks at whether to stop.
constexpr size_t kMasksPerCheck = 1024;

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

double width_of(size_t players, const LimeOptions& options) {
  return options.width > 0 ? options.width : 0.75 * std::sqrt(static_cast<double>(players));
}

// Enumerated masks stand for all the draws they save, or the ridge would weigh more the fewer masks there are.
MaskRegression make_regression(const Coalitions& masks, const LimeOptions& options, const Context& context) {
  const double draws = static_cast<double>(options.samples) / static_cast<double>(masks.size());
  return {masks, {.width = width_of(masks.players(), options), .ridge = options.ridge, .draws = draws}, context};
}

// The largest difference between two values of a row that may be rounding; nothing is where a value is no number.
double rounding_of(const Game& game, std::span<const float> values) {
  double largest = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) return -1;
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  return game.rounding() * largest;
}

bool all_the_same(std::span<const float> values, double rounding) {
  const auto [least, most] = std::ranges::minmax(values);
  return static_cast<double>(most) - static_cast<double>(least) <= rounding;
}

// Whether no value changes when the player joins; values of all masks, in the order of their bits.
bool changes_nothing(std::span<const float> values, size_t player, double rounding) {
  const size_t bit = size_t{1} << player;
  for (size_t mask = 0; mask < values.size(); mask++) {
    if ((mask & bit) != 0) continue;
    const double change = static_cast<double>(values[mask | bit]) - static_cast<double>(values[mask]);
    if (!(std::abs(change) <= rounding)) return false;
  }
  return true;
}

// Coefficients of one row and reference row, exactly 0 where it can be seen that nothing changes the value; `centred`
// gets the values as the regression takes them.
void fit_values(const Game& game, const MaskRegression& regression, bool enumerated, std::span<const float> found,
                std::span<double> centred, std::span<double> coefficients) {
  const double rounding = rounding_of(game, found);
  if (all_the_same(found, rounding)) {
    std::ranges::fill(centred, 0.0);
    std::ranges::fill(coefficients, 0.0);
    return;
  }
  std::ranges::copy(found, centred.begin());
  regression.centre(centred);
  regression.coefficients(centred, coefficients);
  if (!enumerated) return;
  for (size_t i = 0; i < coefficients.size(); i++) {
    if (changes_nothing(found, i, rounding)) coefficients[i] = 0;
  }
}

// Players whose cells are those of all reference rows change nothing. Their coefficients are 0 however the draws fell.
void clear_players_that_do_not_vary(const ExplainTask& task, Attributions& out) {
  for (const VaryingPlayers& group : group_by_varying_players(task)) {
    if (group.players.size() == task.players.size()) continue;
    std::vector<uint32_t> same;
    for (uint32_t i = 0; i < task.players.size(); i++) {
      if (!std::ranges::binary_search(group.players, i)) same.push_back(i);
    }
    for (const size_t row : group.rows) {
      for (const uint32_t i : same) {
        out.values(row, i) = 0;
        if (!out.standard_error.empty()) out.standard_error(row, i) = 0;
        if (!out.background_error.empty()) out.background_error(row, i) = 0;
      }
    }
  }
}

struct RowState {
  std::vector<double> values;  // as the regression takes them, the mean over the reference rows
  VectorMoments coefficients;
};

std::optional<Refusal> refuses_lime(const ExplainTask& task, const LimeOptions& options) {
  const size_t players = task.players.size();
  const size_t masks = mask_count(players, options.samples);
  if (options.ridge == 0 && masks <= players) {
    return fmt::format("needs at least {} samples for {} players without a ridge, and has {}", players + 1, players,
                       masks);
  }
  const double numbers = MaskRegression::size(masks, players);
  if (numbers <= kMostNumbers) return {};
  return fmt::format(
      "would keep {:.0f} numbers in memory for {} masks of {} players, and keeps at most {:.0f}: take "
      "fewer samples, or group features",
      numbers, masks, players, kMostNumbers);
}

std::optional<uint64_t> lime_evaluations(const ExplainTask& task, const LimeOptions& options) {
  return task.rows.rows() * task.reference.rows.rows() * mask_count(task.players.size(), options.samples);
}

// The masks of all rows and the regression on them.
struct LimeDesign {
  LimeDesign(size_t players, const LimeOptions& options, const Context& context)
      : masks{choose_masks(players, options.samples, context)},
        regression(make_regression(masks[0], options, context)) {}

  std::vector<Coalitions> masks;  // one
  MaskRegression regression;
};

std::shared_ptr<const LimeDesign> lime_design(size_t players, const LimeOptions& options, Kept* designs,
                                              const Context& context) {
  return kept_or_made<LimeDesign>(designs, fmt::format("lime of {} players", players),
                                  [&] { return std::make_shared<LimeDesign>(players, options, context); });
}

void prepare_lime(const ExplainTask& task, const LimeOptions& options, const Context& context) {
  lime_design(task.players.size(), options, task.designs, context);
}

void attribute_by_lime(const ExplainTask& task, const LimeOptions& options, Attributions& out, const Context& context) {
  lime(*make_game(task, context), options, out, context, task.designs);
  clear_players_that_do_not_vary(task, out);
}

}  // namespace

void lime(const Game& game, const LimeOptions& options, Attributions& out, const Context& context, Kept* designs) {
  const size_t players = game.players();
  const size_t references = game.references();
  const auto shared = lime_design(players, options, designs, context);
  const std::vector<Coalitions>& design = shared->masks;
  const MaskRegression& regression = shared->regression;
  const bool sampled = !design[0].is_range();
  if (sampled) out.standard_error = Matrix(game.rows(), players);
  if (sampled && !regression.has_errors()) {
    out.notes.push_back(
        fmt::format("lime: {} samples of {} players are too few for standard errors, which are NaN; {} give them",
                    regression.masks(), players, MaskRegression::enough_for_errors(players)));
  }
  if (references > 1) out.background_error = Matrix(game.rows(), players);
  play(
      game, all_rows(game.rows()), design, context, "lime",
      [&](size_t /*row*/) {
        return RowState{std::vector<double>(regression.masks()), VectorMoments(players, game.strata())};
      },
      [&](RowState& state, size_t /*row*/, size_t /*reference*/, size_t /*part*/, std::span<const float> found) {
        std::vector<double> coefficients(players);
        std::vector<double> centred(found.size());
        fit_values(game, regression, !sampled, found, centred, coefficients);
        for (size_t s = 0; s < found.size(); s++) state.values[s] += centred[s] / static_cast<double>(references);
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
  return with_options<AttributedBy<attribute_by_lime, refuses_lime, lime_evaluations, prepare_lime>>(
      {.name = "lime",
       .title = "Coefficients of a linear model fitted to the output near the row",
       .citation = "Ribeiro, Singh, Guestrin (2016)",
       .cost = "`samples` evaluations for each reference row (default 2048)",
       .uses_reference = true,
       .sampled = true,
       .samples = {"samples", 128, 4}});
}

}  // namespace assay
