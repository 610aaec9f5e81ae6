#include "assay/explain/kernel_shap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "assay/core/error.h"
#include "assay/explain/common.h"
#include "assay/explain/games/paired_regression.h"
#include "assay/explain/games/play.h"
#include "assay/explain/games/shapley_fold.h"

namespace assay {
namespace {

// Entries of the matrix that takes pairs to values, at most: 256 MiB, and three times that while it is found.
constexpr uint64_t kMostEntries = uint64_t{1} << 25;

PairAllocation allocation_of(const std::string& sampling) {
  if (sampling == "kernel") return PairAllocation::kernel;
  return sampling == "leverage" ? PairAllocation::leverage : PairAllocation::balanced;
}

bool covers_all(size_t players, size_t samples) {
  return players <= kMostExactPlayers && samples >= size_t{1} << players;
}

size_t least_samples(size_t players) { return 2 * players + 2; }
size_t least_samples_for_errors(size_t players) { return 2 * PairedRegression::least_pairs_for_errors(players) + 2; }

// Of the rounds: one, or doubling ones while there is a tolerance to reach. Errors that rest on
// hardly more pairs than players are no ground for stopping: the first round has twice the least samples.
std::vector<size_t> budgets(size_t players, const KernelShap::Options& options) {
  std::vector<size_t> rounds = {static_cast<size_t>(options.samples)};
  const auto most = static_cast<size_t>(options.most_samples);
  if (options.tolerance > 0) {
    rounds.front() = std::max(rounds.front(), std::min(most, 2 * least_samples(players)));
  }
  while (options.tolerance > 0 && rounds.back() < most && !covers_all(players, rounds.back())) {
    rounds.push_back(std::min(2 * rounds.back(), most));
  }
  return rounds;
}

struct RowState {
  std::vector<double> sides;  // of each pair, summed over reference rows
  std::vector<double> scratch;
  VectorMoments over_references;
};

// One design for these rows.
void play_pairs(const Game& game, std::span<const size_t> rows, const PairedRegression& regression, Attributions& out,
                const Context& context) {
  const size_t players = game.players();
  const size_t references = game.references();
  play(
      game, rows, std::span(&regression.design().coalitions, 1), context, "Kernel SHAP",
      [&](size_t) {
        return RowState{std::vector<double>(regression.pairs()),
                        std::vector<double>(references > 1 ? regression.pairs() : 0), VectorMoments(players)};
      },
      [&](RowState& state, size_t, size_t, size_t, std::span<const float> values) {
        std::vector<double>& sides = references > 1 ? state.scratch : state.sides;
        std::vector<double> phi(players);
        const double total = regression.left_sides(values, sides);
        regression.fit(sides, total, phi);
        state.over_references.add(phi);
        for (size_t p = 0; p < state.scratch.size(); p++) state.sides[p] += sides[p];
      },
      [&](RowState& state, size_t row) {
        state.over_references.store(out.values.row(row),
                                    out.background_error.empty() ? std::span<float>() : out.background_error.row(row));
        std::vector<double> phi(players);
        std::vector<double> errors(players);
        for (size_t i = 0; i < players; i++) phi[i] = state.over_references.mean(i);
        if (references > 1) {
          for (double& side : state.sides) side /= static_cast<double>(references);
        }
        regression.standard_errors(state.sides, phi, errors);
        for (size_t i = 0; i < players; i++) out.standard_error(row, i) = static_cast<float>(errors[i]);
      });
  out.evaluations += regression.design().coalitions.size() * rows.size() * references;
}

void play_round(const Game& game, std::span<const size_t> rows, size_t samples, PairAllocation allocation,
                Attributions& out, const Context& context) {
  const size_t players = game.players();
  if (covers_all(players, samples)) {
    play_all_coalitions(game, rows, out, context);
    for (const size_t row : rows) std::ranges::fill(out.standard_error.row(row), 0.0F);
    return;
  }
  const auto regression =
      PairedRegression::make(make_pair_design(players, (samples - 2) / 2, allocation, context), context);
  if (!regression) {
    fail_input(
        fmt::format("kernel_shap: the {} samples drawn with this seed do not determine the values of {} players; {} "
                    "samples are the "
                    "least that can, {} nearly always do",
                    samples, players, least_samples(players), 2 * least_samples(players)));
  }
  if (!regression->has_errors()) {
    out.notes.push_back(fmt::format(
        "kernel_shap: {} samples of {} players are too few for standard errors, which are NaN; {} give them", samples,
        players, std::min(size_t{1} << std::min<size_t>(players, 62), least_samples_for_errors(players))));
  }
  play_pairs(game, rows, *regression, out, context);
}

// Whether a row is done: no error above the tolerance, and all of them known. More samples do not help where values
// are undefined themselves.
bool is_done(std::span<const float> values, std::span<const float> errors, double tolerance) {
  return std::ranges::any_of(values, [](float value) { return std::isnan(value); }) ||
         std::ranges::all_of(errors, [&](float error) { return error <= tolerance; });
}

}  // namespace

std::optional<std::string> kernel_shap_refuses(size_t players, const KernelShap::Options& options) {
  if (options.tolerance > 0 && options.most_samples < options.samples) {
    return fmt::format("has most_samples={}, which is below samples={}", options.most_samples, options.samples);
  }
  const auto rounds = budgets(players, options);
  if (covers_all(players, rounds.front())) return {};
  if (rounds.front() < least_samples(players)) {
    const size_t all = players < 16 ? size_t{1} << players : SIZE_MAX;
    return fmt::format("needs at least {} samples for {} players, and has {}", std::min(least_samples(players), all),
                       players, rounds.front());
  }
  if (!covers_all(players, rounds.back()) && uint64_t{rounds.back()} / 2 * players > kMostEntries) {
    return fmt::format("takes more than 1 GiB of memory for {} samples of {} players: take fewer, or group features",
                       rounds.back(), players);
  }
  return {};
}

std::optional<std::string> KernelShap::refuses(const ExplainTask& task) const {
  return kernel_shap_refuses(task.players.size(), options_);
}

void KernelShap::attribute(const ExplainTask& task, Attributions& out, const Context& context) const {
  kernel_shap(*make_game(task, context), options_, out, context);
}

void kernel_shap(const Game& game, const KernelShap::Options& options, Attributions& out, const Context& context) {
  const size_t players = game.players();
  if (const auto reason = kernel_shap_refuses(players, options)) fail_input(fmt::format("kernel_shap {}", *reason));
  out.standard_error = Matrix(game.rows(), players);
  if (game.references() > 1) out.background_error = Matrix(game.rows(), players);
  const auto rounds = budgets(players, options);
  const PairAllocation allocation = allocation_of(options.sampling);
  std::vector<size_t> pending = all_rows(game.rows());
  for (const size_t samples : rounds) {
    if (pending.empty()) break;
    play_round(game, pending, samples, allocation, out, context);
    if (covers_all(players, samples)) {
      out.notes.push_back(fmt::format(
          "kernel_shap: {} samples cover all {} coalitions of {} players, so the values of {} are exact", samples,
          size_t{1} << players, players,
          pending.size() == game.rows() ? "all rows" : fmt::format("{} of {} rows", pending.size(), game.rows())));
    }
    std::erase_if(pending, [&](size_t row) {
      return is_done(out.values.row(row), out.standard_error.row(row), options.tolerance);
    });
  }
  if (options.tolerance > 0 && !pending.empty()) {
    out.notes.push_back(fmt::format(
        "kernel_shap: {} of {} rows do not have all standard errors within the tolerance of {} after {} samples",
        pending.size(), game.rows(), options.tolerance, rounds.back()));
  }
}

MethodInfo kernel_shap_method() {
  return with_options<KernelShap>({.name = "kernel_shap",
                                   .title = "Shapley values by weighted least squares over sampled coalitions",
                                   .citation = "Lundberg and Lee (2017); Covert and Lee (2021)",
                                   .cost = "samples (default 2048), times the reference rows",
                                   .complete = true,
                                   .uses_reference = true,
                                   .sampled = true});
}

}  // namespace assay
