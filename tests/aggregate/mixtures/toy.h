// Members with a pool, neighbours and a small model, for tests of mixtures.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/evaluate/common.h"
#include "assay/evaluate/criteria.h"
#include "tests/aggregate/trial.h"

namespace assay::testing {

// A regression, so that all rows are of one class: y = sum over p of (p + 1) x_p + x_0 x_1.
inline std::shared_ptr<const Model> toy_model(size_t columns) {
  ModelInfo info;
  info.name = "toy";
  for (size_t j = 0; j < columns; j++) info.feature_names.push_back(fmt::format("x{}", j));
  info.output_names = {"y"};
  return model_from_function(info, [](MatrixView<const float> in, MatrixView<float> out) {
    for (size_t i = 0; i < in.rows(); i++) {
      double y = in.cols() > 1 ? in(i, 0) * in(i, 1) : 0.0F;
      for (size_t p = 0; p < in.cols(); p++) y += static_cast<double>(p + 1) * in(i, p);
      out(i, 0) = static_cast<float>(y);
    }
  });
}

// of_rows[member] and of_pool[member]: attributions. The rows of the data have as many columns as there are players.
inline MemberTrial with_pool(std::vector<Matrix> of_rows, std::vector<Matrix> of_pool, Matrix rows, Matrix pool) {
  MemberTrial made;
  for (Matrix& values : of_rows) made.members.push_back(explanations_of(std::move(values)));
  for (Matrix& values : of_pool) made.pool_members.emplace_back(std::move(values));
  Matrix copy = rows;
  made.data = dataset_of(std::move(copy));
  const size_t columns = rows.cols();
  made.setting = setting_of(toy_model(columns), std::move(rows), Matrix(1, columns));
  made.pool = dataset_of(std::move(pool));
  return made;
}

// Random members of all kinds (random_members) at random rows and pool.
inline MemberTrial random_with_pool(size_t members, size_t rows, size_t pool, size_t players, uint64_t seed) {
  const auto values_of = [&](size_t count, uint64_t which) {
    MemberTrial made = random_members(members, count, players, which);
    std::vector<Matrix> values;
    for (Explanations& each : made.members) values.push_back(std::move(each.values));
    return values;
  };
  const auto data_of = [&](size_t count, uint64_t which) {
    Matrix made(count, players);
    RandomStream draw(which, "toy rows");
    for (float& each : made.values()) each = static_cast<float>(draw.normal());
    return made;
  };
  return with_pool(values_of(rows, 3 * seed + 1), values_of(pool, 3 * seed + 2), data_of(rows, 5 * seed + 1),
                   data_of(pool, 5 * seed + 2));
}

// The mixture of the rows, and of the pool, by these weights: as float32 numbers, by plain loops.
inline Matrix mixture_of(const std::vector<Matrix>& members, std::span<const double> weights) {
  Matrix made(members[0].rows(), members[0].cols());
  std::vector<Matrix> unit = members;
  for (Matrix& each : unit) scale_to_unit_norm(each.view());
  for (size_t r = 0; r < made.rows(); r++) {
    for (size_t p = 0; p < made.cols(); p++) {
      double sum = 0;
      for (size_t j = 0; j < unit.size(); j++) sum += weights[j] * unit[j](r, p);
      made(r, p) = static_cast<float>(sum);
    }
  }
  return made;
}

// The criterion's scores of the mixture by these weights. unit: of the mixture scaled to unit norm, where zero stays
// zero; the criterion itself would leave such rows out.
inline Scores score_of_mixture(MemberTrial& trial, const std::string& criterion, std::span<const double> weights,
                               const Context& context = {}, bool unit = false) {
  std::vector<Matrix> rows;
  std::vector<Matrix> pool;
  for (const Explanations& member : trial.members) rows.push_back(member.values);
  for (const PoolExplanations& member : trial.pool_members) {
    Matrix values(member.rows(), member.players());
    for (size_t r = 0; r < values.rows(); r++) std::ranges::copy(member.values().row(r), values.row(r).begin());
    pool.push_back(std::move(values));
  }
  Matrix mixed_rows = mixture_of(rows, weights);
  Matrix mixed_others = mixture_of(pool, weights);
  if (unit) {
    scale_to_unit_norm(mixed_rows.view());
    scale_to_unit_norm(mixed_others.view());
  }
  const Explanations mixed = explanations_of(std::move(mixed_rows));
  PoolExplanations mixed_pool(std::move(mixed_others));
  const AggregateTask task = trial.task();
  EvaluateTask scored{mixed};
  scored.subject.rows = task.subject.rows;
  scored.subject.model = task.subject.model;
  scored.subject.players = task.subject.players;
  scored.subject.targets = task.subject.targets;
  scored.subject.reference = task.subject.reference;
  scored.subject.pool = task.subject.pool;
  scored.pool_explanations = &mixed_pool;
  return evaluate(parse_spec("criterion", criterion), scored, {.draws = 0}, context);
}

inline std::vector<double> weights_at(size_t members, size_t j) {
  std::vector<double> made(members, 0.0);
  made[j] = 1;
  return made;
}

inline std::vector<double> weights_of_row(const Made& made, size_t row) {
  const auto weights = made.combined.weights.row(row);
  return {weights.begin(), weights.end()};
}

}  // namespace assay::testing
