#include "assay/evaluate/faithfulness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/core/random.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/subsets/pooled_removal.h"
#include "assay/evaluate/subsets/subset_correlation.h"
#include "assay/evaluate/subsets/subset_design.h"

namespace assay {
namespace {

constexpr std::string_view kFaithfulness = "faithfulness";
// The paper: "in each run, we see at least 50 datapoints".
constexpr size_t kLeastPooledRows = 50;
// Of the pooled form's sides, whose values are the model's outputs.
constexpr double kMeanRounding = 1e-6;
constexpr double kValueRounding = 2.5e-7;

}  // namespace

size_t Faithfulness::subset_size(size_t players) const {
  return options_.subset ? static_cast<size_t>(*options_.subset) : std::max<size_t>(1, players / 4);
}

std::optional<std::string> Faithfulness::refuses(const EvaluateTask& task) const {
  const size_t players = task.explanations.players();
  if (players < 2) return fmt::format("needs two players or more, and there is {}", players);
  if (const size_t size = subset_size(players); size >= players) {
    return fmt::format("needs a subset smaller than the {} players, and subset is {}", players, size);
  }
  if (options_.form == "pooled" && task.rows() < kLeastPooledRows) {
    return fmt::format("needs {} rows or more for its pooled form, and there are {}", kLeastPooledRows, task.rows());
  }
  return {};
}

void Faithfulness::score(const EvaluateTask& task, Scores& scores, const Context& context) const {
  if (options_.form == "pooled") {
    score_pooled(task, scores, context);
    return;
  }
  const size_t players = task.explanations.players();
  const SubsetDesign design = make_subsets(players, subset_size(players), static_cast<size_t>(options_.budget),
                                           static_cast<size_t>(options_.samples), kFaithfulness, context);
  const ExplainTask explained = task.explain_task();
  const std::unique_ptr<Game> game = make_game(explained, context);
  score_by_subsets(*game, task.explanations.values.view(), design, scores, context, kFaithfulness);
  scores.notes.push_back(fmt::format("correlated over {}", design.description()));
}

void Faithfulness::score_pooled(const EvaluateTask& task, Scores& scores, const Context& context) const {
  const size_t size = subset_size(task.explanations.players());
  const auto runs = static_cast<size_t>(options_.runs);
  scores.values.assign(runs, NAN);
  const std::vector<size_t> rows = pooled_rows(task);
  scores.notes.push_back(fmt::format(
      "{} runs over {} rows, each with one random subset of {} of {} players; minus the paper's correlation with the "
      "modified rows' values, so that higher is better; the error is that of the subsets alone, not of the rows, which "
      "all runs share",
      runs, rows.size(), size, task.explanations.players()));
  UndefinedCounts undefined;
  if (rows.size() < kLeastPooledRows) {
    undefined.add(fmt::format("fewer than {} rows have attributions that are all numbers", kLeastPooledRows), runs);
    scores.undefined = undefined.take();
    return;
  }
  ScoreTable table{"pooled", {"run", "with_modified_value", "with_loss"}, {}};
  const auto largest = [](std::span<const double> values) {
    double most = 0;
    for (const double v : values) most = std::max(most, std::abs(v));
    return most;
  };
  const auto score_run = [&](size_t run, const PooledRun& found) {
    const std::span<const double> means = found.mean_attribution;
    const SideRounding rounding = {kMeanRounding * largest(means), kValueRounding * largest(found.modified)};
    const auto with = [&](std::span<const double> values) {
      return correlate_with_loss(means, values, rounding, static_cast<double>(means.size()));
    };
    const SubsetCorrelation with_modified = with(found.modified);
    scores.values[run] = with_modified.correlation;
    if (with_modified.state != SubsetState::defined) undefined.add(subset_state_reason(with_modified.state));
    // correlate_with_loss turns the sign: back to the paper's, and from what changes to what is lost.
    table.rows.push_back({static_cast<double>(run), -with_modified.correlation, with(found.difference).correlation});
  };
  scores.evaluations += remove_one_subset_each(task, rows, size, runs, "faithfulness pooled", context, score_run);
  scores.undefined = undefined.take();
  scores.tables.push_back(std::move(table));
}

std::vector<double> faithfulness_of(const Game& game, MatrixView<const float> attributions,
                                    std::span<const std::vector<uint32_t>> subsets, const Context& context) {
  const SubsetDesign design = listed_subsets(game.players(), subsets);
  const SubsetCorrelations found = correlate_subsets(game, attributions, std::span(&design, 1), context, kFaithfulness);
  const std::span<const double> values = found.correlation.values();
  return {values.begin(), values.end()};
}

CriterionInfo faithfulness_criterion() {
  return with_criterion_options<Faithfulness>(
      {.name = "faithfulness",
       .title = "Whether subsets of higher attribution cost the model more when they are removed",
       .family = "faithfulness",
       .citation = "Bhatt, Weller, Moura (2020)",
       .cost = "a coalition for each subset and reference row",
       .direction = Direction::higher,
       .range = "-1 to 1",
       .needs = {.model = true, .reference = true},
       .sampled = true});
}

}  // namespace assay
