// Infidelity: how far attributions are from what the model does when the row is perturbed (Yeh, Hsieh, Suggala, Inouye,
// Ravikumar 2019),
//   E over I of (I . phi - (f(x) - f(x - I)))^2,
// the mean over `samples` draws of I, the same for all rows, with a standard error. 0 is perfect; the unit is that of
// the explained value, squared.
//
// perturbation = removal: a random set of players goes to the reference, its size uniform from 1 to d, so that I = x -
// reference there. With a background f(x - I) is the mean over its rows and I uses their mean.
// perturbation = noise: I is normal in every column, of standard deviation `scale` times the column's over the pool;
// categories, whose scale is 0, stay as they are.
//
// I . phi depends on what phi is. attributions = local: phi are slopes by column (gradient, smooth_grad), and I . phi
// is as printed. attributions = global, as of all other methods: phi_i is the effect of player i being present, so it
// stands for slope_i (x_i - reference_i). Then I . phi is the sum of phi over the removed players, or with noise the
// sum of phi_i I_i / (x_i - reference_i). A column that equals the reference has no effect and no known slope: its term
// is 0; if it has an attribution all the same, the row is undefined. attributions = auto: local for gradient and
// smooth_grad, else global. Slopes and noise belong to columns, so they are refused for players of several columns.
//
// normalise_scale: phi is first scaled by the factor that fits best, beta = sum (I . phi) drop / sum (I . phi)^2 over
// the draws (none for phi = 0); methods of different scale can then be compared. The standard error takes beta as
// given, which is right to first order, since the score is at its minimum in beta.
//
// All rows share the draws. Their part in the error of the mean over rows is the standard deviation over draws of (the
// mean over rows of that draw's squared gap) / sqrt(samples), with the beta of each row as given.
//
// A row is undefined if the noise is lost in the rounding of all its numbers.
// Deviation from the paper: it lists other perturbations (squares of an image, noise towards a baseline) and uses the
// factor beta in some comparisons; only perturbation = noise is exactly the paper's.
// Cost: samples + 1 evaluations; for removal samples + 1 game values for each reference row.
#include "assay/evaluate/infidelity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/core/parallel.h"
#include "assay/core/random.h"
#include "assay/core/statistics.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/subsets/draw_sums.h"
#include "assay/explain/games/play.h"
#include "assay/explain/games/value_function.h"

namespace assay {
namespace {

constexpr std::string_view kName = "infidelity";
constexpr std::string_view kNoNumberPerturbed = "the model's value is no number for some perturbation";
constexpr std::string_view kNoSlope = "a column that equals the reference has an attribution, but no slope";
constexpr std::string_view kNoiseLost = "the noise is lost in the rounding of the row's numbers";
// Pairs of numbers kept for rows at a time, and numbers of noise.
constexpr size_t kPairsPerBlock = size_t{1} << 20;
constexpr size_t kNoisePerBlock = size_t{1} << 22;

// Sets of players, one for each draw: the size uniform, then the set.
std::vector<std::vector<uint32_t>> draw_removals(size_t players, size_t samples, uint64_t seed) {
  std::vector<std::vector<uint32_t>> made(samples);
  for (size_t s = 0; s < samples; s++) {
    RandomStream random(seed, "infidelity removal", 0, static_cast<uint32_t>(s));
    made[s].resize(1 + random.below(static_cast<uint32_t>(players)));
    random.subset(static_cast<uint32_t>(players), made[s]);
  }
  return made;
}

// All players, then all but those of each removal.
Coalitions kept_by(size_t players, const std::vector<std::vector<uint32_t>>& removals) {
  Coalitions removed(players);
  removed.add(std::vector<uint64_t>(removed.words(), 0));
  for (const auto& removal : removals) {
    std::vector<uint64_t> bits(removed.words(), 0);
    for (const uint32_t player : removal) bits[player / 64] |= uint64_t{1} << player % 64;
    removed.add(bits);
  }
  Coalitions kept(players);
  for (size_t c = 0; c < removed.size(); c++) kept.add(removed.complement(c));
  return kept;
}

std::vector<double> mean_of_rows(MatrixView<const float> rows) {
  std::vector<double> means(rows.cols(), 0);
  for (size_t r = 0; r < rows.rows(); r++) {
    for (size_t c = 0; c < rows.cols(); c++) means[c] += rows(r, c);
  }
  for (double& mean : means) mean /= static_cast<double>(rows.rows());
  return means;
}

bool several_columns(const Players& players) {
  std::vector<bool> seen(players.size(), false);
  for (const uint32_t player : players.of_column) {
    if (seen[player]) return true;
    seen[player] = true;
  }
  return false;
}

// The slopes of a row by column; `reference` is empty where attributions are slopes already. False when some column has
// an effect, noise and no difference from the reference.
bool find_slopes(const EvaluateTask& task, size_t row, std::span<const double> reference, std::span<double> slopes) {
  const std::span<const float> phi = task.explanations.values.row(row);
  bool known = true;
  for (size_t c = 0; c < slopes.size(); c++) {
    const double effect = phi[task.subject.players->of_column[c]];
    const double way = reference.empty() ? 1 : task.subject.rows->x(row, c) - reference[c];
    known = known && (way != 0 || effect == 0 || task.subject.reference->scales[c] == 0);
    slopes[c] = way == 0 ? 0 : effect / way;
  }
  return known;
}

// 1 for each row that has a score, else 0.
std::vector<double> weights_of_defined(const Scores& scores, std::span<const size_t> rows) {
  std::vector<double> weights;
  for (const size_t row : rows) weights.push_back(std::isnan(scores.values[row]) ? 0 : 1);
  return weights;
}

void store(const InfidelityScore& found, size_t row, Scores& scores) {
  scores.values[row] = found.value;
  scores.standard_error[row] = found.standard_error;
}

class Infidelity final : public Criterion {
 public:
  struct Options {
    std::string perturbation = "removal";
    std::string attributions = "auto";
    double scale = 0.2;
    int64_t samples = 1000;
    bool normalise_scale = false;

    void describe(OptionVisitor& visit) {
      visit.choice("perturbation", perturbation, "random players go to the reference, or all columns get normal noise",
                   {"removal", "noise"});
      visit.choice("attributions", attributions,
                   "local: slopes, as of gradients; global: effects, as of all other methods; auto: by the method",
                   {"auto", "local", "global"});
      visit.real("scale", scale, "deviation of the noise, over that of the column in the pool", "", 1e-6, 100);
      visit.integer("samples", samples, "perturbations, the same for all rows", "draws", 2, 100'000);
      visit.flag("normalise_scale", normalise_scale, "whether attributions are first scaled to fit best");
    }
  };

  explicit Infidelity(const Options& options) : options_(options) {}
  Needs needs(const Needs& by_default) const override {
    Needs made = by_default;
    // Slopes with noise look at no reference row. Whether `auto` finds slopes is known with the task: see refuses.
    if (options_.perturbation == "noise" && options_.attributions != "global") made.reference = false;
    return made;
  }

  std::optional<Refusal> refuses(const EvaluateTask& task) const override {
    const bool slopes = local(task);
    const bool noise = options_.perturbation == "noise";
    if ((!noise || !slopes) && (task.subject.reference == nullptr || task.subject.reference->rows.rows() == 0)) {
      return Refusal("needs a reference that stands for absent features", Need::reference);
    }
    if (task.subject.players != nullptr && (noise || slopes) && several_columns(*task.subject.players)) {
      return fmt::format("needs players of one column each for {}",
                         noise ? "noise" : "local attributions, which are slopes");
    }
    if (!noise) return {};
    if (task.subject.reference == nullptr || task.subject.reference->scales.empty())
      return Refusal("needs a pool for the scale of its noise", Need::pool);
    if (std::ranges::all_of(task.subject.reference->scales, [](float scale) { return scale == 0; })) {
      return "needs a column of numbers that vary over the pool for its noise";
    }
    return {};
  }

  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override {
    scores.standard_error.assign(task.rows(), NAN);
    if (options_.perturbation == "noise") {
      score_noise(task, scores, context);
    } else {
      score_removal(task, scores, context);
    }
    scores.notes.emplace_back(local(task) ? "attributions are taken as slopes (local)"
                                          : "attributions are taken as effects against the reference (global)");
  }

 private:
  bool local(const EvaluateTask& task) const {
    if (options_.attributions != "auto") return options_.attributions == "local";
    const std::string& method = task.method != nullptr ? task.method->name : task.explanations.provenance.method;
    return method == "gradient" || method == "smooth_grad";
  }

  void score_removal(const EvaluateTask& task, Scores& scores, const Context& context) const;
  void score_noise(const EvaluateTask& task, Scores& scores, const Context& context) const;

  Options options_;
};

void Infidelity::score_removal(const EvaluateTask& task, Scores& scores, const Context& context) const {
  const size_t players = task.subject.players->size();
  const auto samples = static_cast<size_t>(options_.samples);
  const std::vector<std::vector<uint32_t>> removals = draw_removals(players, samples, context.seed);
  const std::vector<Coalitions> design = {kept_by(players, removals)};
  const std::vector<double> reference = mean_of_rows(task.subject.reference->rows.view());
  const bool slopes = local(task);
  std::vector<size_t> rows;
  UndefinedCounts undefined;
  for (size_t r = 0; r < task.rows(); r++) {
    if (all_finite(task.explanations.values.row(r))) {
      rows.push_back(r);
    } else {
      undefined.add(kNotFinite);
    }
  }
  const ExplainTask explained = explain_task_of(task.subject);
  const std::unique_ptr<Game> game = make_game(explained, context);
  const size_t turn_rows = std::clamp<size_t>(kPairsPerBlock / samples, 1, std::max<size_t>(rows.size(), 1));
  Matrix64 lost(turn_rows, samples);
  std::vector<size_t> place(task.rows(), 0);  // of a row in its turn
  for (size_t i = 0; i < rows.size(); i++) place[rows[i]] = i % turn_rows;
  DrawSums shared(samples);
  const Context inner = context.quiet();
  const bool one_turn = turn_rows == rows.size();
  ProgressScope progress(one_turn ? inner : context, kName, rows.size());
  for (size_t begin = 0; begin < rows.size(); begin += turn_rows) {
    const std::span<const size_t> turn = std::span(rows).subspan(begin, std::min(turn_rows, rows.size() - begin));
    play(
        *game, turn, design, one_turn ? context : inner, kName,
        [&](size_t /*row*/) { return std::vector<double>(samples + 1); },
        [](std::vector<double>& sums, size_t /*row*/, size_t /*reference*/, size_t /*part*/,
           std::span<const float> found) {
          for (size_t i = 0; i < found.size(); i++) sums[i] += found[i];
        },
        [&](std::vector<double>& sums, size_t row) {
          const std::span<const float> phi = task.explanations.values.row(row);
          std::vector<double> effect(phi.begin(), phi.end());
          for (size_t c = 0; slopes && c < reference.size(); c++) {
            effect[task.subject.players->of_column[c]] *= task.subject.rows->x(row, c) - reference[c];
          }
          std::vector<double> expected(samples, 0);
          const std::span<double> here = lost.row(place[row]);
          for (size_t s = 0; s < samples; s++) {
            for (const uint32_t player : removals[s]) expected[s] += effect[player];
            here[s] = (sums[0] - sums[s + 1]) / static_cast<double>(game->references());
          }
          store(mean_squared_gap(expected, here, options_.normalise_scale, here), row, scores);
        });
    shared.add(lost.view(), weights_of_defined(scores, turn), inner);
    progress.advance(turn.size());
  }
  scores.shared_error = shared.error_of_mean();
  for (const size_t row : rows) {
    if (std::isnan(scores.values[row])) undefined.add(kNoNumberPerturbed);
  }
  scores.undefined = undefined.take();
  scores.evaluations += static_cast<uint64_t>(rows.size()) * game->references() * (samples + 1);
}

void Infidelity::score_noise(const EvaluateTask& task, Scores& scores, const Context& context) const {
  const MatrixView<const float> x = task.subject.rows->x.view();
  const auto samples = static_cast<size_t>(options_.samples);
  const size_t columns = x.cols();
  const std::vector<double> reference =
      local(task) ? std::vector<double>() : mean_of_rows(task.subject.reference->rows.view());

  std::vector<size_t> rows;
  UndefinedCounts undefined;
  std::vector<double> scratch(columns);
  for (size_t r = 0; r < task.rows(); r++) {
    if (!all_finite(task.explanations.values.row(r))) {
      undefined.add(kNotFinite);
    } else if (!find_slopes(task, r, reference, scratch)) {
      undefined.add(kNoSlope);
    } else {
      rows.push_back(r);
    }
  }

  const ValueFunction value(*task.subject.model, x, *task.subject.targets, context);
  const size_t turn_rows = std::clamp<size_t>(kPairsPerBlock / (samples + 1), 1, std::max<size_t>(rows.size(), 1));
  const size_t turn_draws = std::clamp<size_t>(kNoisePerBlock / columns, 1, samples);
  Matrix noise(turn_draws, columns);
  std::vector<double> slopes(turn_rows * columns);
  Matrix64 expected(turn_rows, samples);
  Matrix64 lost(turn_rows, samples);
  OwnedMatrix<uint8_t> moved(turn_rows, samples);  // whether the draw changed the row
  DrawSums shared(samples);
  std::vector<double> whole(turn_rows);
  const Context inner = context.quiet();
  ProgressScope progress(context, kName, rows.size());
  const auto value_of = [&](size_t row, std::span<const float> outputs) {
    float found = 0;
    value.apply(row, MatrixView<const float>(outputs.data(), 1, outputs.size()), std::span(&found, 1));
    return static_cast<double>(found);
  };
  for (size_t begin = 0; begin < rows.size(); begin += turn_rows) {
    const size_t here = std::min(turn_rows, rows.size() - begin);
    for (size_t i = 0; i < here; i++) {
      find_slopes(task, rows[begin + i], reference, std::span(slopes).subspan(i * columns, columns));
    }
    predict_made_rows(
        *task.subject.model, here,
        [&](size_t i, std::span<float> row) { std::ranges::copy(x.row(rows[begin + i]), row.begin()); },
        [&](size_t i, std::span<const float> outputs) { whole[i] = value_of(rows[begin + i], outputs); }, inner);
    for (size_t first = 0; first < samples; first += turn_draws) {
      const size_t draws = std::min(turn_draws, samples - first);
      // Where all draws fit they are made once.
      if (begin == 0 || turn_draws < samples) {
        parallel_blocks(inner, draws, 64, [&](const Block& block) {
          for (size_t s = block.begin; s < block.end; s++) {
            RandomStream random(context.seed, "infidelity noise", 0, static_cast<uint32_t>(first + s));
            for (size_t c = 0; c < columns; c++) {
              noise(s, c) = static_cast<float>(options_.scale * task.subject.reference->scales[c] * random.normal());
            }
          }
        });
      }
      predict_made_rows(
          *task.subject.model, here * draws,
          [&](size_t item, std::span<float> row) {
            const size_t i = item / draws;
            const size_t s = item % draws;
            const std::span<const float> from = x.row(rows[begin + i]);
            double sum = 0;
            bool changed = false;
            for (size_t c = 0; c < columns; c++) {
              row[c] = from[c] - noise(s, c);
              // What was really taken away, after rounding: large numbers do not see small noise.
              sum += slopes[i * columns + c] * (static_cast<double>(from[c]) - row[c]);
              changed = changed || row[c] != from[c];
            }
            moved(i, first + s) = changed ? 1 : 0;
            expected(i, first + s) = sum;
          },
          [&](size_t item, std::span<const float> outputs) {
            const size_t i = item / draws;
            lost(i, first + item % draws) = whole[i] - value_of(rows[begin + i], outputs);
          },
          inner);
    }
    for (size_t i = 0; i < here; i++) {
      if (std::ranges::all_of(moved.row(i), [](uint8_t m) { return m == 0; })) {
        undefined.add(kNoiseLost);
        continue;
      }
      const InfidelityScore found =
          mean_squared_gap(expected.row(i), lost.row(i), options_.normalise_scale, lost.row(i));
      store(found, rows[begin + i], scores);
      if (std::isnan(found.value)) undefined.add(kNoNumberPerturbed);
    }
    shared.add(lost.view(), weights_of_defined(scores, std::span(rows).subspan(begin, here)), inner);
    progress.advance(here);
  }
  scores.shared_error = shared.error_of_mean();
  scores.undefined = undefined.take();
  scores.evaluations += static_cast<uint64_t>(rows.size()) * (samples + 1);
}

}  // namespace

InfidelityScore mean_squared_gap(std::span<const double> expected, std::span<const double> lost, bool normalise_scale,
                                 std::span<double> squared) {
  double beta = 1;
  if (normalise_scale) {
    double products = 0;
    double squares = 0;
    for (size_t s = 0; s < expected.size(); s++) {
      products += expected[s] * lost[s];
      squares += expected[s] * expected[s];
    }
    if (squares > 0) beta = products / squares;
  }
  RunningMoments gaps;
  for (size_t s = 0; s < expected.size(); s++) {
    const double gap = beta * expected[s] - lost[s];
    if (!std::isfinite(gap)) return {};
    gaps.add(gap * gap);
    if (!squared.empty()) squared[s] = gap * gap;
  }
  return {gaps.mean(), gaps.standard_error()};
}

CriterionInfo infidelity_criterion() {
  return with_criterion_options<Infidelity>(
      {.name = "infidelity",
       .title = "Squared gap between what attributions expect of a perturbation and what the model does",
       .family = "faithfulness",
       .citation = "Yeh, Hsieh, Suggala, Inouye, Ravikumar (2019)",
       .cost = "`samples` + 1 coalitions for each reference row, or noisy rows (default 1000)",
       .direction = Direction::lower,
       .range = "0 or more",
       .needs = {.model = true, .reference = true},
       .reads_signs = true,
       .sampled = true,
       .scale_dependent = &always_has_scale});
}

}  // namespace assay
