#include "assay/aggregate/mixtures/subset_moments.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/aggregate/mixtures/pair_grams.h"
#include "assay/evaluate/subsets/subset_correlation.h"
#include "assay/explain/games/game.h"
#include "assay/explain/games/play.h"

namespace assay {
namespace {

double largest_of(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

// Takes the mean off; the deviation.
double centre(std::span<double> values) {
  double mean = 0;
  // Less the first number, as the values may be far from 0.
  const double first = values[0];
  for (double& value : values) mean += value -= first;
  mean /= static_cast<double>(values.size());
  double squares = 0;
  for (double& value : values) {
    value -= mean;
    squares += value * value;
  }
  return std::sqrt(squares / static_cast<double>(values.size()));
}

double mean_product(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); i++) sum += a[i] * b[i];
  return sum / static_cast<double>(a.size());
}

// Whether the members of a row may have correlations at all.
bool members_vary(const Members& members, size_t row) {
  for (size_t j = 0; j < members.size(); j++) {
    if (subset_attribution_state(members.of(j, row)) != SubsetState::defined) return false;
  }
  return true;
}

}  // namespace

SubsetMoments subset_moments(const AggregateTask& task, const Members& members, const SubsetDesign& design,
                             std::span<const Matrix* const> others, const Context& context) {
  const size_t m = members.size();
  const size_t rows = members.rows();
  const ExplainTask explained = explain_task_of(task.subject);
  const std::unique_ptr<Game> game = make_game(explained, context);
  std::vector<uint8_t> vary(rows, 0);
  std::vector<size_t> played;
  for (size_t r = 0; r < rows; r++) {
    vary[r] = members_vary(members, r) ? 1 : 0;
    const bool other = std::ranges::any_of(
        others, [&](const Matrix* values) { return subset_attribution_state(values->row(r)) == SubsetState::defined; });
    if (vary[r] != 0 || other) played.push_back(r);
  }
  Matrix64 with_loss(rows, m);
  Matrix64 between(rows, packed_size(m));
  std::vector<uint8_t> defined(rows, 0);
  SubsetMoments made;
  made.others = Matrix64(rows, others.size());
  std::ranges::fill(made.others.values(), NAN);
  made.evaluations = static_cast<uint64_t>(played.size()) * game->references() * design.size();

  const auto finish = [&](std::span<double> values, size_t row) {
    const double value_rounding = game->rounding() * largest_of(values);
    std::vector<double> tables;
    Matrix64 sums(m, design.size());
    for (size_t k = 0; k < others.size(); k++) {
      const std::span<const float> phi = others[k]->row(row);
      if (subset_attribution_state(phi) != SubsetState::defined) continue;
      design.sum(phi, sums.row(0), tables);
      made.others(row, k) = correlate_with_loss(sums.row(0), values, subset_side_rounding(design, phi, value_rounding),
                                                static_cast<double>(design.size()))
                                .correlation;
    }
    if (vary[row] == 0) return;
    const double value_deviation = centre(values);
    if (!(value_deviation > value_rounding)) return;
    for (size_t j = 0; j < m; j++) {
      design.sum(members.of(j, row), sums.row(j), tables);
      if (!(centre(sums.row(j)) > subset_side_rounding(design, members.of(j, row), 0).sums)) return;
    }
    size_t at = 0;
    for (size_t j = 0; j < m; j++) {
      // What is lost is minus what is left.
      with_loss(row, j) = -mean_product(sums.row(j), values) / value_deviation;
      for (size_t k = j; k < m; k++) between(row, at++) = mean_product(sums.row(j), sums.row(k));
    }
    defined[row] = 1;
  };
  play(
      *game, played, std::span(&design.kept(), 1), context, "playing subsets",
      [&](size_t /*row*/) { return std::vector<double>(design.size(), 0.0); },
      [&](std::vector<double>& values, size_t /*row*/, size_t /*reference*/, size_t /*part*/,
          std::span<const float> found) {
        for (size_t s = 0; s < found.size(); s++) values[s] += found[s];
      },
      [&](std::vector<double>& values, size_t row) { finish(values, row); });

  for (size_t r = 0; r < rows; r++) {
    if (defined[r] != 0) made.rows.push_back(r);
  }
  made.with_loss = Matrix64(made.rows.size(), m);
  made.between = Matrix64(made.rows.size(), packed_size(m));
  for (size_t i = 0; i < made.rows.size(); i++) {
    std::ranges::copy(with_loss.row(made.rows[i]), made.with_loss.row(i).begin());
    std::ranges::copy(between.row(made.rows[i]), made.between.row(i).begin());
  }
  return made;
}

double mixture_faithfulness(const SubsetMoments& moments, size_t i, std::span<const double> weights,
                            std::span<const double> products, double rounding) {
  const double deviation = std::sqrt(std::max(0.0, packed_sum(moments.between.row(i), products)));
  if (!(deviation > rounding)) return NAN;
  double covariance = 0;
  for (size_t j = 0; j < weights.size(); j++) covariance += weights[j] * moments.with_loss(i, j);
  return std::clamp(covariance / deviation, -1.0, 1.0);
}

}  // namespace assay
