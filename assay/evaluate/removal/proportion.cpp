#include "assay/evaluate/removal/proportion.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "assay/evaluate/common.h"
#include "assay/evaluate/removal/curves.h"
#include "assay/evaluate/removal/removal.h"

namespace assay {
namespace {

size_t positive_players(std::span<const float> values) {
  return static_cast<size_t>(std::ranges::count_if(values, [](float v) { return v > 0; }));
}

// The y of a line at x. Two points of one x: the later one.
double height(const Line& line, double x) {
  const auto after = std::ranges::upper_bound(line.x, x);
  if (after == line.x.end()) return line.y.back();
  const auto j = static_cast<size_t>(after - line.x.begin());
  if (j == 0) return line.y.front();
  const double share = (x - line.x[j - 1]) / (line.x[j] - line.x[j - 1]);
  return line.y[j - 1] + share * (line.y[j] - line.y[j - 1]);
}

// Shares of the positive attribution that the first counts[j] players make up, the strongest first or the weakest.
std::vector<double> shares_of(std::span<const float> values, std::span<const uint32_t> order,
                              std::span<const size_t> counts, bool weakest_first) {
  const size_t positive = counts.back();
  std::vector<double> shares;
  double sum = 0;
  size_t next = 0;
  for (const size_t count : counts) {
    for (; next < count; next++) sum += values[order[weakest_first ? positive - 1 - next : next]];
    shares.push_back(sum);
  }
  for (double& share : shares) share /= sum;
  return shares;
}

// Ordering needs the strongest first alone.
RowPlan plan_of(std::span<const float> values, const ProportionOptions& options, bool add) {
  RowPlan plan{largest_first(values), {}};
  const size_t positive = positive_players(values);
  const std::vector<size_t> counts = step_counts(options.steps, positive);
  for (const size_t m : counts) plan.cuts.push_back({0, m, add});
  if (options.form == "proportionality") {
    for (const size_t m : counts) plan.cuts.push_back({positive - m, positive, add});
  }
  return plan;
}

// Bounded so that what is worse than the reference, or better than the row, counts no further.
double ordering(double at_row, double at_reference, std::span<const double> made, bool add) {
  double sum = 0;
  for (const double s : made) sum += add ? std::min(s, at_row) : std::max(s - at_reference, 0.0);
  return sum / static_cast<double>(made.size());
}

}  // namespace

double area_between(const Line& a, const Line& b) {
  std::vector<double> knots(a.x.begin(), a.x.end());
  knots.insert(knots.end(), b.x.begin(), b.x.end());
  std::ranges::sort(knots);
  double area = 0;
  double before = height(a, knots[0]) - height(b, knots[0]);
  for (size_t j = 1; j < knots.size(); j++) {
    const double here = height(a, knots[j]) - height(b, knots[j]);
    const double width = knots[j] - knots[j - 1];
    const bool crosses = (before < 0) != (here < 0) && before != here;
    const double sizes = std::abs(before) + std::abs(here);
    // Where the lines cross, two triangles: their common tip divides the width as their heights are.
    area += crosses ? width * (before * before + here * here) / (2 * sizes) : width * sizes / 2;
    before = here;
  }
  return area;
}

void score_proportion(const EvaluateTask& task, const ProportionQuestion& question, const ProportionOptions& options,
                      Scores& scores, const Context& context) {
  const bool proportional = options.form == "proportionality";
  const ScoreUnit unit = options.score == "probability" ? ScoreUnit::probability : ScoreUnit::log_odds;
  const Matrix& values = task.explanations.values;
  UndefinedCounts undefined;
  std::vector<size_t> rows;
  size_t most_positive = 1;
  for (const size_t row : rows_with_order(task.explanations, undefined)) {
    const size_t positive = positive_players(values.row(row));
    if (positive == 0) {
      undefined.add(kNonePositive);
      continue;
    }
    most_positive = std::max(most_positive, positive);
    rows.push_back(row);
  }
  Removal removal(task, std::move(rows), ScoredClass::explained, unit, context);
  const size_t points = step_counts(options.steps, most_positive).size();
  removal.run(
      proportional ? 2 * points : points, [&](size_t row) { return plan_of(values.row(row), options, question.add); },
      [&](size_t row, std::span<const float> outputs) { return removal.score(row, outputs); },
      [&](size_t row, const RowPlan& plan, MatrixView<const double> made) {
        const size_t here = proportional ? made.cols() / 2 : made.cols();
        std::vector<double> first_shares;
        std::vector<double> last_shares;
        if (proportional) {
          const std::vector<size_t> counts = step_counts(options.steps, positive_players(values.row(row)));
          first_shares = shares_of(values.row(row), plan.order, counts, false);
          last_shares = shares_of(values.row(row), plan.order, counts, true);
        }
        const double at_row = removal.at_row(row);
        std::vector<double> curve(made.cols());
        double at_reference = 0;
        const auto is_score = [&](double s) {
          if (!std::isfinite(s)) undefined.add(why_undefined(s));
          return std::isfinite(s);
        };
        if (!is_score(at_row)) return;
        for (size_t reference = 0; reference < made.rows(); reference++) {
          const double here_at_reference = removal.at_reference(row, reference);
          if (!is_score(here_at_reference)) return;
          at_reference += here_at_reference / static_cast<double>(made.rows());
          for (size_t j = 0; j < curve.size(); j++) {
            if (!is_score(made(reference, j))) return;
            curve[j] += made(reference, j) / static_cast<double>(made.rows());
          }
        }
        const std::span<const double> all = curve;
        scores.values[row] = proportional
                                 ? area_between({first_shares, all.first(here)}, {last_shares, all.subspan(here)})
                                 : ordering(at_row, at_reference, all, question.add);
      },
      context, question.name);
  removal.note_unpredicted(scores);
  if (!options.steps) note_steps(options.steps, most_positive, scores);
  scores.evaluations = removal.evaluations();
  scores.undefined = undefined.take();
}

}  // namespace assay
