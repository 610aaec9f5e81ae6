#include "assay/explain/kernel_shap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "assay/core/error.h"
#include "assay/explain/common.h"
#include "assay/explain/games/pair_estimator.h"
#include "assay/explain/games/play.h"
#include "assay/explain/games/shapley_fold.h"
#include "assay/explain/games/varying_players.h"

namespace assay {
namespace {

// Entries of the matrix that takes pairs to values, at most: 256 MiB, and three times that while it is found.
constexpr uint64_t kMostEntries = uint64_t{1} << 25;

// Beyond these interactions are left out.
constexpr size_t kMostSamplesForInteractions = 2 * PairEstimator::kMostPairs + 2;

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
std::vector<size_t> budgets(size_t players, const KernelShapOptions& options) {
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

struct PairsState {
  Matrix64 sides = {};         // of each row and pair, the mean over reference rows
  std::vector<double> totals;  // v(all) - v(none) of each row, likewise
  std::vector<double> scratch;
  std::vector<VectorMoments> over_references;  // with a background: the spread of each row's values over it
};

// One design for these rows.
void play_pairs(const Game& game, std::span<const size_t> rows, const PairEstimator& estimator, Attributions& out,
                const Context& context) {
  const PairedRegression& additive = estimator.additive();
  const size_t players = game.players();
  const size_t references = game.references();
  const auto count = static_cast<double>(references);
  play_together(
      game, rows, PairEstimator::kTogether, std::span(&additive.design().coalitions, 1), context, "Kernel SHAP",
      [&](std::span<const size_t> here) {
        PairsState made;
        made.sides = Matrix64(here.size(), additive.pairs());
        made.totals.resize(here.size());
        if (references > 1) {
          made.scratch.resize(additive.pairs());
          made.over_references.assign(here.size(), VectorMoments(players, game.strata()));
        }
        return made;
      },
      [&](PairsState& state, std::span<const size_t> here, size_t, size_t, MatrixView<const float> values) {
        if (references == 1) {
          for (size_t r = 0; r < here.size(); r++) {
            state.totals[r] = additive.left_sides(values.row(r), state.sides.row(r));
          }
          return;
        }
        std::vector<double> phi(players);
        for (size_t r = 0; r < here.size(); r++) {
          const double total = additive.left_sides(values.row(r), state.scratch);
          state.totals[r] += total / count;
          const auto means = state.sides.row(r);
          for (size_t p = 0; p < means.size(); p++) means[p] += state.scratch[p] / count;
          // The additive regression tells how values change from one reference row to another; which one fits best is
          // for their mean.
          additive.fit(state.scratch, total, phi);
          state.over_references[r].add(phi);
        }
      },
      [&](PairsState& state, std::span<const size_t> here) {
        Matrix64 values(here.size(), players);
        Matrix64 errors(here.size(), players);
        estimator.estimate(state.sides.view(), state.totals, values.view(), errors.view());
        const auto narrow = [](double value) { return static_cast<float>(value); };
        for (size_t r = 0; r < here.size(); r++) {
          std::ranges::transform(values.row(r), out.values.row(here[r]).begin(), narrow);
          std::ranges::transform(errors.row(r), out.standard_error.row(here[r]).begin(), narrow);
          if (references == 1) continue;
          const auto background = out.background_error.row(here[r]);
          for (size_t i = 0; i < players; i++) background[i] = narrow(state.over_references[r].standard_error(i));
        }
      });
  out.evaluations += additive.design().coalitions.size() * rows.size() * references;
}

bool leaves_out_interactions(size_t samples, const KernelShapOptions& options) {
  return options.interactions && samples > kMostSamplesForInteractions;
}

std::optional<PairEstimator> make_estimator(size_t players, size_t samples, const KernelShapOptions& options,
                                            const Context& context) {
  return PairEstimator::make(make_pair_design(players, (samples - 2) / 2, allocation_of(options.sampling), context),
                             options.interactions, context);
}

// The same, kept for other calls; empty if the pairs do not determine the values of all players.
std::shared_ptr<const std::optional<PairEstimator>> estimator_of(Kept* kept, size_t players, size_t samples,
                                                                 const KernelShapOptions& options,
                                                                 const Context& context) {
  return kept_or_made<std::optional<PairEstimator>>(
      kept, fmt::format("kernel_shap of {} players and {} samples", players, samples), [&] {
        return std::make_shared<std::optional<PairEstimator>>(make_estimator(players, samples, options, context));
      });
}

// `given` is the estimator of so many players and samples, or null.
void play_round(const Game& game, std::span<const size_t> rows, size_t samples, const KernelShapOptions& options,
                const PairEstimator* given, Attributions& out, const Context& context) {
  const size_t players = game.players();
  if (covers_all(players, samples)) {
    play_all_coalitions(game, rows, out, context);
    for (const size_t row : rows) std::ranges::fill(out.standard_error.row(row), 0.0F);
    return;
  }
  std::optional<PairEstimator> made;
  if (given == nullptr) {
    made = make_estimator(players, samples, options, context);
    if (!made) {
      fail_input(
          fmt::format("kernel_shap: the {} samples drawn with this seed do not determine the values of {} players; {} "
                      "samples are the "
                      "least that can, {} nearly always do",
                      samples, players, least_samples(players), 2 * least_samples(players)));
    }
  }
  const PairEstimator& estimator = given == nullptr ? *made : *given;
  if (!estimator.additive().has_errors()) {
    out.notes.push_back(fmt::format(
        "kernel_shap: {} samples of {} players are too few for standard errors, which are NaN; {} give them", samples,
        players, std::min(size_t{1} << std::min<size_t>(players, 62), least_samples_for_errors(players))));
  }
  if (leaves_out_interactions(samples, options)) {
    out.notes.push_back(
        fmt::format("kernel_shap: {} samples are too many to fit interactions, which that round left out", samples));
  }
  play_pairs(game, rows, estimator, out, context);
}

// Whether a row is done: no error above the tolerance, and all of them known. More samples do not help where values
// are undefined themselves.
bool is_done(std::span<const float> values, std::span<const float> errors, double tolerance) {
  return std::ranges::any_of(values, [](float value) { return std::isnan(value); }) ||
         std::ranges::all_of(errors, [&](float error) { return error <= tolerance; });
}

// What rows had before a round that may be worse than the one before: it has more samples and no interactions.
class PreviousRound {
 public:
  PreviousRound(std::span<const size_t> rows, const Attributions& out) : rows_(rows.begin(), rows.end()) {
    for (const size_t row : rows_) {
      values_.emplace_back(out.values.row(row).begin(), out.values.row(row).end());
      errors_.emplace_back(out.standard_error.row(row).begin(), out.standard_error.row(row).end());
    }
  }
  // Gives rows back what they had where their largest error was not larger.
  void restore_better(Attributions& out) const {
    for (size_t i = 0; i < rows_.size(); i++) {
      const auto errors = out.standard_error.row(rows_[i]);
      if (!(std::ranges::max(errors_[i]) <= std::ranges::max(errors))) continue;
      std::ranges::copy(values_[i], out.values.row(rows_[i]).begin());
      std::ranges::copy(errors_[i], errors.begin());
    }
  }

 private:
  std::vector<size_t> rows_;
  std::vector<std::vector<float>> values_;
  std::vector<std::vector<float>> errors_;
};

// Samples of the first round. More than interactions can be fitted to would do without them and be less accurate, often
// by far: with a tolerance rounds may go beyond, where that lowers errors.
size_t first_samples(size_t players, const KernelShapOptions& options) {
  const auto samples = static_cast<size_t>(options.samples);
  const bool capped = options.tolerance == 0 && leaves_out_interactions(samples, options);
  return capped && !covers_all(players, samples) ? kMostSamplesForInteractions : samples;
}

// All rounds; `given` is the estimator of the first one, or null.
void play_rounds(const Game& game, const KernelShapOptions& options, const PairEstimator* given, Attributions& out,
                 const Context& context) {
  const size_t players = game.players();
  out.standard_error = Matrix(game.rows(), players);
  if (game.references() > 1) out.background_error = Matrix(game.rows(), players);
  auto rounds = budgets(players, options);
  if (options.tolerance == 0) rounds.front() = first_samples(players, options);
  if (rounds.front() < static_cast<size_t>(options.samples)) {
    out.notes.push_back(
        fmt::format("kernel_shap: interactions are fitted to at most {} samples, so {} of {} were taken; "
                    "interactions=false takes all",
                    kMostSamplesForInteractions, rounds.front(), options.samples));
  }
  std::vector<size_t> pending = all_rows(game.rows());
  for (const size_t samples : rounds) {
    if (pending.empty()) break;
    const bool first = samples == rounds.front();
    const bool may_be_worse = !first && leaves_out_interactions(samples, options);
    const PreviousRound before(may_be_worse ? std::span<const size_t>(pending) : std::span<const size_t>(), out);
    play_round(game, pending, samples, options, first ? given : nullptr, out, context);
    before.restore_better(out);
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

// Rows of groups with the same number of players, which share a design; rows of designs that do not determine all
// values are left to the others.
void play_groups(const ExplainTask& task, std::vector<VaryingPlayers>& groups, const KernelShapOptions& options,
                 std::vector<size_t>& others, Attributions& out, const Context& context) {
  std::ranges::stable_sort(groups, {}, [](const VaryingPlayers& group) { return group.players.size(); });
  for (size_t first = 0; first < groups.size();) {
    const size_t players = groups[first].players.size();
    size_t last = first;
    while (last < groups.size() && groups[last].players.size() == players) last++;
    const auto same = std::span(groups).subspan(first, last - first);
    first = last;
    const size_t samples = first_samples(players, options);
    const bool in_full = covers_all(players, samples);
    std::shared_ptr<const std::optional<PairEstimator>> estimator;
    if (!in_full) estimator = estimator_of(task.designs, players, samples, options, context);
    if (!in_full && !*estimator) {
      for (const VaryingPlayers& group : same) others.insert(others.end(), group.rows.begin(), group.rows.end());
      continue;
    }
    attribute_groups(task, same, out, context, [&](const Game& game, Attributions& found, const Context& here) {
      play_rounds(game, options, estimator != nullptr ? &**estimator : nullptr, found, here);
      if (in_full) found.notes.clear();  // one note speaks for all of them
    });
  }
}

std::optional<Refusal> refuses_kernel(const ExplainTask& task, const KernelShapOptions& options) {
  return kernel_shap_refuses(task.players.size(), options);
}

// Not with a tolerance: rounds then depend on the values.
std::optional<uint64_t> kernel_evaluations(const ExplainTask& task, const KernelShapOptions& options) {
  if (options.tolerance > 0) return {};
  const size_t players = task.players.size();
  const bool all_in_full = covers_all(players, static_cast<size_t>(options.samples));
  uint64_t sum = 0;
  for (const VaryingPlayers& group : group_by_varying_players(task)) {
    const size_t varying = all_in_full ? players : group.players.size();
    if (varying == 0) continue;
    const size_t samples = first_samples(varying, options);
    sum += (covers_all(varying, samples) ? uint64_t{1} << varying : uint64_t{samples}) * group.rows.size();
  }
  return sum * task.reference.rows.rows();
}

// The estimator of the first round of all players; null if it needs none, or none can be kept.
std::shared_ptr<const std::optional<PairEstimator>> kept_estimator(const ExplainTask& task,
                                                                   const KernelShapOptions& options,
                                                                   const Context& context) {
  if (task.designs == nullptr || options.tolerance > 0) return {};
  const size_t players = task.players.size();
  const size_t samples = first_samples(players, options);
  if (covers_all(players, samples)) return {};
  return estimator_of(task.designs, players, samples, options, context);
}

void prepare_kernel(const ExplainTask& task, const KernelShapOptions& options, const Context& context) {
  kept_estimator(task, options, context);
}

void attribute_by_kernel(const ExplainTask& task, const KernelShapOptions& options, Attributions& out,
                         const Context& context) {
  const size_t players = task.players.size();
  out.standard_error = Matrix(task.rows.rows(), players);
  if (task.reference.rows.rows() > 1) out.background_error = Matrix(task.rows.rows(), players);
  VaryingPlayers rest;
  std::vector<VaryingPlayers> alone;
  size_t exact = 0;
  for (VaryingPlayers& group : group_by_varying_players(task)) {
    const size_t varying = group.players.size();
    const bool in_full = covers_all(varying, static_cast<size_t>(options.samples));
    // Rounds of a tolerance count the rows that do not reach it: those are played together.
    const bool together = options.tolerance > 0 && !in_full;
    if (varying == players || together || covers_all(players, static_cast<size_t>(options.samples))) {
      rest.rows.insert(rest.rows.end(), group.rows.begin(), group.rows.end());
      continue;
    }
    if (in_full) exact += group.rows.size();
    // Of a row that is the reference itself all values are 0.
    if (varying > 0) alone.push_back(std::move(group));
  }
  play_groups(task, alone, options, rest.rows, out, context);
  if (exact > 0) {
    out.notes.push_back(
        fmt::format("kernel_shap: {} of {} rows differ from the reference in so few players that {} samples cover all "
                    "coalitions of those; their values are exact",
                    exact, task.rows.rows(), options.samples));
  }
  if (rest.rows.empty()) return;
  const auto estimator = kept_estimator(task, options, context);
  const auto play_rest = [&](const Game& game, Attributions& found, const Context& here) {
    play_rounds(game, options, estimator != nullptr && *estimator ? &**estimator : nullptr, found, here);
  };
  if (rest.rows.size() == task.rows.rows()) {
    play_rest(*make_game(task, context), out, context);
  } else {
    std::ranges::sort(rest.rows);
    rest.players.resize(players);
    std::iota(rest.players.begin(), rest.players.end(), uint32_t{0});
    attribute_groups(task, std::span(&rest, 1), out, context, play_rest);
  }
}

}  // namespace

std::optional<Refusal> kernel_shap_refuses(size_t players, const KernelShapOptions& options) {
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

void kernel_shap(const Game& game, const KernelShapOptions& options, Attributions& out, const Context& context) {
  const size_t players = game.players();
  if (const auto reason = kernel_shap_refuses(players, options))
    fail_input(fmt::format("kernel_shap {}", reason->reason));
  play_rounds(game, options, nullptr, out, context);
}

MethodInfo kernel_shap_method() {
  return with_options<AttributedBy<attribute_by_kernel, refuses_kernel, kernel_evaluations, prepare_kernel>>(
      {.name = "kernel_shap",
       .title = "Shapley values by weighted least squares over sampled coalitions",
       .citation = "Lundberg and Lee (2017); Covert and Lee (2021)",
       .cost = "samples (default 2048), times the reference rows",
       .complete = true,
       .uses_reference = true,
       .sampled = true,
       .samples = {"samples", 128, 4},
       .of_paper = true,
       .shapley = true});
}

}  // namespace assay
