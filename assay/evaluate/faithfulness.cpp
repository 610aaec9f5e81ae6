// Faithfulness: whether attributions say how much the explained value loses without the players (Bhatt, Weller, Moura
// 2020, Definition on faithfulness): Pearson's correlation, over subsets S of one size, of
//   sum over i in S of phi_i   with   f(x) - f(x with S at the reference),
// with f the explained value for the target of x. With a background f(x with S at the reference) is the mean over its
// rows, taken before correlating.
//
// A subset has half of the players unless `subset` says otherwise. On models whose true attributions are known, subsets
// of a quarter ranked methods as the truth does with Kendall's tau 0.58, half of the players with 0.97
// (docs/ground-truth.md): what players do together shows only if enough of them are removed together. Subsets of one
// ask what occlusion answers, so nothing could be more faithful than occlusion.
//
// If there are at most `budget` subsets of that size, all are used, without sampling error. Otherwise `samples`
// distinct random ones, at least 50, the same for all rows, with a standard error for each row (with fewer, errors
// would be too small). The error of the mean over rows includes that of the shared subsets. If a side is constant, the
// score is undefined (subsets/subset_correlation.h).
//
// form = pooled is the paper's own experiment: in each of `runs` runs every row loses a random subset of its own; over
// the rows, the mean attribution in the subset is correlated with the value of the modified row. If an explanation is
// faithful, removing high attributions lowers that value, so this correlation is negative. A run's score is minus the
// correlation. For each run a table gives the correlation as printed, and the one with f(x) - f(modified x). The error
// over runs only shows the effect of the subsets: all runs have the same rows.
// Deviation from the paper: its tables are means of the pooled form, all positive, without a word on the sign. The
// pooled form mixes rows of different f(x): even a perfect explanation of a linear model of independent features scores
// about 0 (with the difference instead: 1). So the definition, per_row, is the default.
// Cost: a game value for each subset and reference row; pooled: `runs` evaluations for each reference row, and one.
#include "assay/evaluate/faithfulness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/criterion.h"
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

class Faithfulness final : public Criterion {
 public:
  struct Options {
    std::optional<int64_t> subset = {};
    int64_t budget = 4096;
    int64_t samples = 1000;
    std::string form = "per_row";
    int64_t runs = 10;

    void describe(OptionVisitor& visit) {
      visit.integer_or("subset", subset, "auto", "players that are removed together; auto: half of them", "players", 1,
                       1'000'000);
      visit.integer("budget", budget, "all subsets are taken when there are at most so many", "subsets", 0, 1'000'000);
      visit.integer("samples", samples, "random subsets beyond the budget", "subsets", 50, 100'000);
      visit.choice("form", form, "over subsets of each row, or over rows with one random subset each",
                   {"per_row", "pooled"});
      visit.integer("runs", runs, "of the pooled form, each with subsets of its own", "runs", 1, 10'000);
    }
  };

  explicit Faithfulness(const Options& options) : options_(options) {}
  std::optional<Refusal> refuses(const EvaluateTask& task) const override {
    if (auto reason = refuses_one_player(task)) return reason;
    const size_t players = task.explanations.players();
    if (const size_t size = subset_size(players); size >= players) {
      return fmt::format("needs a subset smaller than the {} players, and subset is {}", players, size);
    }
    if (options_.form == "pooled" && task.rows() < kLeastPooledRows) {
      return fmt::format("needs {} rows or more for its pooled form, and there are {}", kLeastPooledRows, task.rows());
    }
    return {};
  }

  bool scores_rows() const override { return options_.form != "pooled"; }
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override {
    if (options_.form == "pooled") {
      score_pooled(task, scores, context);
      return;
    }
    const size_t players = task.explanations.players();
    const SubsetDesign design = make_subsets(players, subset_size(players), static_cast<size_t>(options_.budget),
                                             static_cast<size_t>(options_.samples), kFaithfulness, context);
    const ExplainTask explained = explain_task_of(task.subject);
    const std::unique_ptr<Game> game = make_game(explained, context);
    score_by_subsets(*game, task.explanations.values.view(), design, scores, context, kFaithfulness,
                     task.subset_values);
    scores.notes.push_back(fmt::format("correlated over {}", design.description()));
  }

 private:
  size_t subset_size(size_t players) const {
    return options_.subset ? static_cast<size_t>(*options_.subset) : half_of(players);
  }
  void score_pooled(const EvaluateTask& task, Scores& scores, const Context& context) const;

  Options options_;
};

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

}  // namespace

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
       .reads_signs = true,
       .sampled = true,
       .role = CriterionRole::faithfulness,
       .of_paper = true,
       .shares_values = true});
}

}  // namespace assay
