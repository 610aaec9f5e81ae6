#include "assay/aggregate/errors.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace assay {
namespace {

// The variances of one member's row at unit norm.
void unit_variances(std::span<const float> values, std::span<const float> errors, std::span<double> variances) {
  std::ranges::fill(variances, 0.0);
  double squares = 0;
  for (const float each : values) squares += static_cast<double>(each) * each;
  if (squares == 0) return;
  const auto squared = [&](size_t p) { return static_cast<double>(errors[p]) * errors[p]; };
  double weighted = 0;  // sum of u_q^2 s_q^2
  for (size_t p = 0; p < values.size(); p++) weighted += values[p] * (values[p] / squares) * squared(p);
  for (size_t p = 0; p < values.size(); p++) {
    const double share = values[p] * (values[p] / squares);  // u_p^2
    const double own = (1 - share) * (1 - share) * squared(p);
    const double others = share * (weighted - share * squared(p));
    variances[p] = (own + others) / squares;
  }
}

// shared: whether one draw moves all members.
Matrix errors_of_sum(const AggregateTask& task, const Members& members, const Matrix& weights,
                     Matrix Explanations::* errors, bool shared) {
  const auto has_errors = [&](const Explanations* member) { return !(member->*errors).empty(); };
  if (std::ranges::none_of(task.members, has_errors)) return {};
  const size_t players = task.members[0]->players();
  Matrix out(weights.rows(), players);
  std::vector<double> sums(players);
  std::vector<double> variances(players);
  for (size_t r = 0; r < weights.rows(); r++) {
    std::ranges::fill(sums, 0.0);
    for (size_t j = 0; j < task.members.size(); j++) {
      const Explanations& member = *task.members[j];
      // What is taken for zero is not scaled, so its errors are not either.
      if (!has_errors(&member) || members.zero(j, r)) continue;
      unit_variances(member.values.row(r), (member.*errors).row(r), variances);
      const double weight = std::fabs(static_cast<double>(weights(r, j)));
      for (size_t p = 0; p < players; p++) {
        sums[p] += shared ? weight * std::sqrt(variances[p]) : weight * weight * variances[p];
      }
    }
    for (size_t p = 0; p < players; p++) out(r, p) = static_cast<float>(shared ? sums[p] : std::sqrt(sums[p]));
  }
  return out;
}

}  // namespace

bool has_sampled_members(const AggregateTask& task) {
  for (const Explanations* member : task.members) {
    if (!member->standard_error.empty() || !member->background_error.empty()) return true;
  }
  return false;
}

WeightedErrors weighted_errors(const AggregateTask& task, const Members& members, const Matrix& weights) {
  return {errors_of_sum(task, members, weights, &Explanations::standard_error, false),
          errors_of_sum(task, members, weights, &Explanations::background_error, true)};
}

}  // namespace assay
