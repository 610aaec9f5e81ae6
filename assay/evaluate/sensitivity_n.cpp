// Sensitivity-n: faithfulness at every subset size (Ancona, Ceolini, Oztireli, Gross 2018). For n = 1 .. d - 1 the
// Pearson correlation, over subsets S of n players, of
//   sum over i in S of phi_i   with   f(x) - f(x with S at the reference),
// and a row's score is the mean over the sizes where it is defined. A method that has the paper's property
// "sensitivity-n" at all n scores 1.
//
// Wide rows use `sizes` sizes, evenly spread from 1 to d - 1. All subsets of a size are used if they are within
// `budget`, otherwise `samples` distinct random ones, the same for all rows. A row's standard error is that of the mean
// over sizes, whose subsets are drawn independently. The error of the mean over rows includes that of the shared
// subsets. The table "by size" has the mean over rows, its standard error, the rows where it is defined, and the
// subsets taken. Deviation from the paper: it stops at about 80 % of the features and draws 100 subsets of each size;
// here all sizes count, and few subsets are enumerated. A side that does not vary makes that size undefined (see
// subsets/subset_correlation.h).
// Cost: a game value for each subset of all sizes and reference row.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/evaluate/criterion.h"
#include "assay/evaluate/subsets/subset_correlation.h"
#include "assay/evaluate/subsets/subset_design.h"

namespace assay {
namespace {

// Mean over the defined sizes of a row, and its standard error.
void score_row(const SubsetCorrelations& found, size_t row, Scores& scores) {
  double sum = 0;
  double squares = 0;
  size_t defined = 0;
  for (size_t s = 0; s < found.state.cols(); s++) {
    if (found.state(row, s) != SubsetState::defined) continue;
    sum += found.correlation(row, s);
    squares += found.standard_error(row, s) * found.standard_error(row, s);
    defined++;
  }
  if (defined == 0) return;
  scores.values[row] = sum / static_cast<double>(defined);
  if (!scores.standard_error.empty()) scores.standard_error[row] = std::sqrt(squares) / static_cast<double>(defined);
}

// At most `most` sizes from 1 to players - 1, both among them (1 alone for most = 1), ascending. players >= 2.
std::vector<size_t> spread_sizes(size_t players, size_t most) {
  const size_t last = players - 1;
  const size_t count = std::min(last, most);
  std::vector<size_t> sizes;
  for (size_t i = 0; i < count; i++) {
    // Rounded to the nearest: steps are at least 1, so no size comes twice.
    sizes.push_back(count == 1 ? 1 : 1 + (i * (last - 1) + (count - 1) / 2) / (count - 1));
  }
  return sizes;
}

struct SensitivityNOptions {
  int64_t sizes = 32;
  int64_t budget = 1000;
  int64_t samples = 100;

  void describe(OptionVisitor& visit) {
    visit.integer("sizes", sizes, "of subsets, at most so many, evenly spread from 1 to all players but one", "sizes",
                  1, 256);
    visit.integer("budget", budget, "all subsets of a size are taken when there are at most so many", "subsets", 0,
                  1'000'000);
    visit.integer("samples", samples, "random subsets of each size beyond the budget", "subsets", 50, 100'000);
  }
};

void score_sensitivity_n(const EvaluateTask& task, const SensitivityNOptions& options, Scores& scores,
                         const Context& context) {
  const size_t players = task.explanations.players();
  const std::vector<size_t> sizes = spread_sizes(players, static_cast<size_t>(options.sizes));
  std::vector<SubsetDesign> designs;
  for (const size_t size : sizes) {
    designs.push_back(make_subsets(players, size, static_cast<size_t>(options.budget),
                                   static_cast<size_t>(options.samples), "sensitivity_n", context));
  }
  const ExplainTask explained = explain_task_of(task.subject);
  const std::unique_ptr<Game> game = make_game(explained, context);
  const SubsetCorrelations found =
      correlate_subsets(*game, task.explanations.values.view(), designs, context, "sensitivity_n", task.subset_values);

  const bool sampled = !std::ranges::all_of(designs, &SubsetDesign::whole);
  if (sampled) scores.standard_error.assign(task.rows(), NAN);
  UndefinedCounts undefined;
  for (size_t row = 0; row < task.rows(); row++) {
    score_row(found, row, scores);
    if (std::isnan(scores.values[row])) undefined.add(subset_state_reason(found.state(row, 0)));
  }
  scores.undefined = undefined.take();
  scores.shared_error = found.shared_error;
  ScoreTable table{"by size", {"size", "mean", "stderr", "rows", "subsets"}, {}};
  for (size_t s = 0; s < sizes.size(); s++) {
    RunningMoments moments;
    for (size_t row = 0; row < task.rows(); row++) {
      if (found.state(row, s) == SubsetState::defined) moments.add(found.correlation(row, s));
    }
    const double error = std::hypot(moments.standard_error(), found.design_error[s]);
    table.rows.push_back({static_cast<double>(sizes[s]), moments.mean(), error, static_cast<double>(moments.count()),
                          static_cast<double>(designs[s].size())});
  }
  scores.tables.push_back(std::move(table));
  scores.notes.push_back(
      fmt::format("the mean over {} subset sizes from 1 to {} of {} players, {}", sizes.size(), sizes.back(), players,
                  sampled ? fmt::format("with at most {} random subsets where there are more than {}", options.samples,
                                        std::max(options.budget, options.samples))
                          : "with all subsets of each"));
  scores.evaluations += found.evaluations;
}

}  // namespace

CriterionInfo sensitivity_n_criterion() {
  return with_criterion_options<ScoredBy<score_sensitivity_n, refuses_one_player>>(
      {.name = "sensitivity_n",
       .title = "Faithfulness at every subset size: mean over sizes",
       .family = "faithfulness",
       .citation = "Ancona, Ceolini, Oztireli, Gross (2018)",
       .cost = "a coalition for each subset of each size and reference row",
       .direction = Direction::higher,
       .range = "-1 to 1",
       .needs = {.model = true, .reference = true},
       .reads_signs = true,
       .sampled = true,
       .by_subset_size = true,
       .shares_values = true});
}

}  // namespace assay
