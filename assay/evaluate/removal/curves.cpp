#include "assay/evaluate/removal/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assay/evaluate/common.h"

namespace assay {
namespace {

// Removed after each step, or added: all of them but the ends, which need no further run of the model.
std::vector<Cut> inner_cuts(std::span<const size_t> counts, bool add) {
  std::vector<Cut> cuts;
  for (size_t j = 1; j + 1 < counts.size(); j++) cuts.push_back({0, counts[j], add});
  return cuts;
}

// The mean over the reference rows, ends included.
void mean_curve(const Removal& removal, size_t row, bool add, MatrixView<const double> inner, std::span<double> curve) {
  std::ranges::fill(curve, 0.0);
  for (size_t reference = 0; reference < inner.rows(); reference++) {
    const double at_row = removal.at_row(row);
    const double at_reference = removal.at_reference(row, reference);
    curve.front() += add ? at_reference : at_row;
    for (size_t j = 0; j < inner.cols(); j++) curve[j + 1] += inner(reference, j);
    curve.back() += add ? at_row : at_reference;
  }
  for (double& point : curve) point /= static_cast<double>(inner.rows());
}

size_t step_count(std::optional<int64_t> steps, size_t players) {
  return std::min(players, steps ? static_cast<size_t>(*steps) : kMostSteps);
}

}  // namespace

std::vector<size_t> step_counts(std::optional<int64_t> steps, size_t players) {
  const size_t count = step_count(steps, players);
  std::vector<size_t> counts(count + 1);
  for (size_t j = 0; j <= count; j++) {
    counts[j] = static_cast<size_t>(
        std::llround(static_cast<double>(j) * static_cast<double>(players) / static_cast<double>(count)));
  }
  return counts;
}

void note_steps(std::optional<int64_t> steps, size_t players, Scores& scores) {
  const size_t count = step_count(steps, players);
  if (steps && static_cast<size_t>(*steps) > players) {
    scores.notes.push_back(fmt::format("{} steps, one for each player, instead of {}", count, *steps));
  } else if (!steps && count < players) {
    scores.notes.push_back(fmt::format("{} steps of about {:.1f} players each", count,
                                       static_cast<double>(players) / static_cast<double>(count)));
  }
}

double area_under(std::span<const double> x, std::span<const double> y) {
  double area = 0;
  for (size_t j = 1; j < x.size(); j++) area += (x[j] - x[j - 1]) * (y[j] + y[j - 1]) / 2;
  return area;
}

void score_curves(const EvaluateTask& task, const CurveQuestion& question, const CurveOptions& options, Scores& scores,
                  const Context& context) {
  const size_t players = task.explanations.players();
  const std::vector<size_t> counts = step_counts(options.steps, players);
  const std::vector<Cut> cuts = inner_cuts(counts, question.add);
  std::vector<double> shares(counts.size());
  std::ranges::transform(counts, shares.begin(),
                         [&](size_t n) { return static_cast<double>(n) / static_cast<double>(players); });
  UndefinedCounts undefined;
  Removal removal(task, rows_with_order(task.explanations, undefined), ScoredClass::explained, ScoreUnit::probability,
                  context);
  const auto unwanted = [&](size_t row) { return question.predicted && !removal.explains_predicted(row); };
  if (!question.predicted) removal.note_unpredicted(scores);
  std::vector<double> curve(counts.size());
  std::vector<double> total(counts.size(), 0.0);
  size_t curves = 0;
  removal.run(
      cuts.size(),
      [&](size_t row) {
        const std::span<const float> values = task.explanations.values.row(row);
        return RowPlan{options.order == "value" ? largest_first(values) : strongest_first(values),
                       unwanted(row) ? std::vector<Cut>() : cuts};
      },
      [&](size_t row, std::span<const float> outputs) { return removal.score(row, outputs); },
      [&](size_t row, const RowPlan& /*plan*/, MatrixView<const double> inner) {
        if (unwanted(row)) {
          undefined.add(kNotPredicted);
          return;
        }
        mean_curve(removal, row, question.add, inner, curve);
        const bool numbers = std::ranges::all_of(curve, [](double p) { return std::isfinite(p); });
        const std::string_view reason = !numbers          ? kNoNumber
                                        : question.adjust ? question.adjust(removal, row, curve)
                                                          : std::string_view();
        if (!reason.empty()) {
          undefined.add(reason);
          return;
        }
        const double area = area_under(shares, curve);
        scores.values[row] = question.value ? question.value(area) : area;
        for (size_t j = 0; j < curve.size(); j++) total[j] += curve[j];
        curves++;
      },
      context, question.name);
  note_steps(options.steps, players, scores);
  const std::string_view unit = task.subject.model->info().class_names.empty() ? "value" : "probability";
  ScoreTable table{
      "mean curve",
      {question.add ? "share added" : "share removed", std::string(question.columns.empty() ? unit : question.columns)},
      {}};
  for (size_t j = 0; curves > 0 && j < total.size(); j++) {
    table.rows.push_back({shares[j], total[j] / static_cast<double>(curves)});
  }
  scores.tables.push_back(std::move(table));
  scores.evaluations = removal.evaluations();
  scores.undefined = undefined.take();
}

}  // namespace assay
