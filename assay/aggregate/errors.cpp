#include "assay/aggregate/errors.h"

#include <cmath>
#include <span>
#include <vector>

namespace assay {
namespace {

// Adds w^2 times the variances of one member's row.
void add_variances(std::span<const float> values, std::span<const double> squared_errors, double weight,
                   std::span<double> variances) {
  double squares = 0;
  for (const float each : values) squares += static_cast<double>(each) * each;
  if (squares == 0 || weight == 0) return;
  double weighted = 0;  // sum of u_q^2 s_q^2
  for (size_t p = 0; p < values.size(); p++) weighted += values[p] * (values[p] / squares) * squared_errors[p];
  for (size_t p = 0; p < values.size(); p++) {
    const double share = values[p] * (values[p] / squares);  // u_p^2
    const double own = (1 - share) * (1 - share) * squared_errors[p];
    const double others = share * (weighted - share * squared_errors[p]);
    variances[p] += weight * weight * (own + others) / squares;
  }
}

}  // namespace

bool has_sampled_members(const AggregateTask& task) {
  for (const Explanations* member : task.members) {
    if (!member->standard_error.empty() || !member->background_error.empty()) return true;
  }
  return false;
}

Matrix weighted_errors(const AggregateTask& task, const Members& members, const Matrix& weights) {
  const size_t rows = weights.rows();
  const size_t players = task.members[0]->players();
  Matrix out(rows, players);
  std::vector<double> variances(players);
  std::vector<double> squared(players);
  for (size_t r = 0; r < rows; r++) {
    variances.assign(players, 0);
    for (size_t j = 0; j < task.members.size(); j++) {
      const Explanations& member = *task.members[j];
      // What is taken for zero is not scaled, so its errors are not either.
      if (members.zero(j, r)) continue;
      squared.assign(players, 0);
      for (const Matrix* errors : {&member.standard_error, &member.background_error}) {
        if (errors->empty()) continue;
        for (size_t p = 0; p < players; p++) squared[p] += std::pow(static_cast<double>((*errors)(r, p)), 2);
      }
      add_variances(member.values.row(r), squared, weights(r, j), variances);
    }
    const std::span<float> errors = out.row(r);
    for (size_t p = 0; p < errors.size(); p++) errors[p] = static_cast<float>(std::sqrt(variances[p]));
  }
  return out;
}

}  // namespace assay
