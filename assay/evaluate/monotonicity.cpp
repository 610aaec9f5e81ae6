// Monotonicity: whether the explained value never falls as players are added to the reference from the weakest to the
// strongest (Luss et al. 2019; Arya et al. 2019). With the players in that order and S_k its first k,
//   all:   1 when f(S_k) >= f(S_{k-1}) for all steps, else 0;
//   share: the share of the steps for which this holds.
//
// f(S) is the explained value with the players of S as in the row and all others as in the reference; with a background
// the mean over its rows. A step falls when it loses more than 2.5e-7 of the larger |f| of its two ends: less is the
// rounding of float32.
// Equal attributions are added by index. Undefined when all attributions are zero (there is no order), and when f does
// not change at all (every order would do).
// Deviation from the papers: they take the probability of the predicted class and skip the first step, from the
// reference to one player (first_step=false). Their implementations use both orders, by |phi| and by phi. A strong
// negative attribution should lower the value, but order=strength counts that as a fault: the criterion suits
// attributions that are mostly positive.
// Cost: d + 1 evaluations for each reference row.
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/core/parallel.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/criterion.h"
#include "assay/explain/games/value_function.h"

namespace assay {
namespace {

// Two units in the last place of float32.
constexpr double kFallRounding = 2.5e-7;
// Values that are kept at a time.
constexpr size_t kValuesPerBlock = size_t{1} << 20;
constexpr std::string_view kNoNumberOfCoalition = "the model's value is no number for some coalition";
constexpr std::string_view kFlat = "the model's value does not change as players are added";

// When each player is added, by increasing key, ties by index: 0 first.
std::vector<uint32_t> turns(std::span<const float> values, bool by_strength) {
  std::vector<float> keys(values.begin(), values.end());
  // Decreasing order of the negative is increasing order with the same ties.
  for (float& key : keys) key = by_strength ? -std::abs(key) : -key;
  const std::vector<uint32_t> order = largest_first(keys);
  std::vector<uint32_t> turn(values.size());
  for (size_t k = 0; k < order.size(); k++) turn[order[k]] = static_cast<uint32_t>(k);
  return turn;
}

// The share of steps values[k] -> values[k + 1] that do not fall, of at least two values; NaN when they are all the
// same up to rounding, or not all finite.
double share_not_falling(std::span<const double> values) {
  double largest = 0;
  for (const double v : values) {
    if (!std::isfinite(v)) return NAN;
    largest = std::max(largest, std::abs(v));
  }
  const auto [least, most] = std::ranges::minmax(values);
  if (most - least <= kFallRounding * largest) return NAN;
  size_t kept = 0;
  for (size_t k = 1; k < values.size(); k++) {
    const double rounding = kFallRounding * std::max(std::abs(values[k]), std::abs(values[k - 1]));
    kept += values[k] >= values[k - 1] - rounding ? 1 : 0;
  }
  return static_cast<double>(kept) / static_cast<double>(values.size() - 1);
}

struct MonotonicityOptions {
  std::string order = "strength";
  std::string form = "all";
  bool first_step = true;

  void describe(OptionVisitor& visit) {
    visit.choice("order", order,
                 "players are added by the size of their attributions or by the attributions, least first",
                 {"strength", "value"});
    visit.choice("form", form, "1 when no step falls, else 0; or the share of steps that do not fall",
                 {"all", "share"});
    visit.flag("first_step", first_step, "whether the step from the reference to the first player counts");
  }
};

std::optional<Refusal> refuses_monotonicity(const EvaluateTask& task, const MonotonicityOptions& options) {
  if (!options.first_step && task.explanations.players() < 2) {
    return "needs two players or more when the first step does not count, and there is 1";
  }
  return {};
}

void score_monotonicity(const EvaluateTask& task, const MonotonicityOptions& options, Scores& scores,
                        const Context& context) {
  const MatrixView<const float> x = task.subject.rows->x.view();
  const MatrixView<const float> references = task.subject.reference->rows.view();
  const std::vector<uint32_t>& player = task.subject.players->of_column;
  const size_t players = task.subject.players->size();
  const size_t first = options.first_step ? 0 : 1;
  const size_t points = players + 1 - first;
  const size_t each = references.rows();
  UndefinedCounts undefined;
  std::vector<size_t> rows;
  for (size_t r = 0; r < task.rows(); r++) {
    const std::span<const float> phi = task.explanations.values.row(r);
    if (!all_finite(phi)) {
      undefined.add(kNotFinite);
    } else if (all_zero(phi)) {
      undefined.add(kAllZero);
    } else {
      rows.push_back(r);
    }
  }
  const ValueFunction value(*task.subject.model, x, *task.subject.targets, context);
  const Context inner = context.quiet();
  ProgressScope progress(context, "monotonicity", rows.size());
  const size_t turn_rows = std::max<size_t>(1, kValuesPerBlock / (points * each));
  for (size_t begin = 0; begin < rows.size(); begin += turn_rows) {
    const size_t here = std::min(turn_rows, rows.size() - begin);
    std::vector<std::vector<uint32_t>> turn(here);
    for (size_t i = 0; i < here; i++) {
      turn[i] = turns(task.explanations.values.row(rows[begin + i]), options.order == "strength");
    }
    // Of each row: for each coalition of its walk the values against all reference rows.
    Matrix found(here, points * each);
    predict_made_rows(
        *task.subject.model, here * points * each,
        [&](size_t item, std::span<float> row) {
          const size_t i = item / (points * each);
          const size_t added = first + item / each % points;
          const std::span<const float> present = x.row(rows[begin + i]);
          const std::span<const float> absent = references.row(item % each);
          for (size_t c = 0; c < row.size(); c++) row[c] = turn[i][player[c]] < added ? present[c] : absent[c];
        },
        [&](size_t item, std::span<const float> outputs) {
          const size_t i = item / (points * each);
          value.apply(rows[begin + i], MatrixView<const float>(outputs.data(), 1, outputs.size()),
                      std::span(&found(i, item % (points * each)), 1));
        },
        inner);
    for (size_t i = 0; i < here; i++) {
      std::vector<double> means(points, 0);
      for (size_t v = 0; v < points * each; v++) means[v / each] += found(i, v);
      for (double& mean : means) mean /= static_cast<double>(each);
      const double share = share_not_falling(means);
      scores.values[rows[begin + i]] = options.form == "share" || std::isnan(share) ? share : share == 1 ? 1 : 0;
      if (!std::isnan(share)) continue;
      undefined.add(std::ranges::all_of(means, [](double v) { return std::isfinite(v); }) ? kFlat
                                                                                          : kNoNumberOfCoalition);
    }
    progress.advance(here);
  }
  scores.undefined = undefined.take();
  scores.evaluations += static_cast<uint64_t>(rows.size()) * points * each;
}

}  // namespace

CriterionInfo monotonicity_criterion() {
  return with_criterion_options<ScoredBy<score_monotonicity, refuses_monotonicity>>(
      {.name = "monotonicity",
       .title = "Whether the value never falls as players are added from the weakest to the strongest",
       .family = "faithfulness",
       .citation = "Luss et al. (2019); Arya et al. (2019)",
       .cost = "players + 1 evaluations for each reference row",
       .direction = Direction::higher,
       .range = "0 to 1",
       .needs = {.model = true, .reference = true},
       .reads_signs = true});
}

}  // namespace assay
