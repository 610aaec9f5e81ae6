// What an AggregateTask refers to, kept together, for tests of aggregators.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/aggregators.h"
#include "assay/core/random.h"
#include "assay/evaluate/complexity.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {

// Only what a test sets is there.
struct MemberTrial {
  std::vector<Explanations> members;
  std::optional<Dataset> data = {};
  std::optional<Setting> setting = {};  // model, targets, players, reference
  std::optional<Dataset> pool = {};
  std::optional<Targets> pool_targets = {};
  std::vector<PoolExplanations> pool_members = {};
  bool pool_given = false;
  std::vector<size_t> in_pool = {};
  std::optional<Spec> method = {};
  std::vector<const Explanations*> member_views = {};
  std::vector<PoolExplanations*> pool_views = {};

  AggregateTask task() {
    member_views.clear();
    for (const Explanations& member : members) member_views.push_back(&member);
    pool_views.clear();
    for (PoolExplanations& member : pool_members) pool_views.push_back(&member);
    AggregateTask made{member_views};
    if (data) made.subject.rows = &*data;
    if (setting) {
      made.subject.model = setting->model.get();
      made.subject.players = &setting->players;
      made.subject.targets = &setting->targets;
      made.subject.reference = &setting->reference;
    }
    if (pool) made.subject.pool = &*pool;
    if (pool_targets) made.subject.pool_targets = &*pool_targets;
    made.pool_members = pool_views;
    made.pool_given = pool_given;
    made.subject.in_pool = in_pool;
    if (method) made.method = &*method;
    return made;
  }
};

// values[member][row]: attributions alone.
inline MemberTrial bare_members(const std::vector<std::vector<std::vector<float>>>& values) {
  MemberTrial made;
  for (const auto& member : values) made.members.push_back(explanations_of(matrix_of(member)));
  return made;
}

// One row of several members.
inline MemberTrial one_row(const std::vector<std::vector<float>>& members) {
  MemberTrial made;
  for (const auto& member : members) made.members.push_back(explanations_of(matrix_of({member})));
  return made;
}

// Random members of many rows, of all the kinds that go wrong, in turn by row: dense normal, sparse, heavy-tailed, with
// ties, with a zero member, with opposite, proportional or equal members.
inline MemberTrial random_members(size_t members, size_t rows, size_t players, uint64_t seed) {
  std::vector<Matrix> values(members, Matrix(rows, players));
  for (size_t r = 0; r < rows; r++) {
    RandomStream draw(seed, "random members", r);
    const uint32_t kind = draw.below(8);
    for (size_t j = 0; j < members; j++) {
      const auto row = values[j].row(r);
      for (float& each : row) {
        each = static_cast<float>(draw.normal());
        if (kind == 1 && draw.uniform() < 0.6) each = 0;
        if (kind == 2) each = static_cast<float>(std::exp(3 * draw.normal())) * (draw.uniform() < 0.5 ? -1.0F : 1.0F);
        if (kind == 3) each = std::round(each);
      }
      const float factor = j == 0 ? 1 : static_cast<float>(draw.normal());
      for (size_t p = 0; p < players; p++) {
        if (kind == 4 && j == r % members) row[p] = 0;
        if (kind == 5 && j > 0 && j % 2 == 1) row[p] = -values[j - 1](r, p);
        if (kind == 6) row[p] = factor * values[0](r, p);
        if (kind == 7) row[p] = values[0](r, p);
      }
    }
  }
  MemberTrial made;
  for (Matrix& each : values) made.members.push_back(explanations_of(std::move(each)));
  return made;
}

// As users write it: "kemeny_young:solver=search".
inline std::unique_ptr<Aggregator> make_aggregator(std::string_view text) {
  const Spec spec = parse_spec("aggregator", text);
  return find_aggregator(spec.name).make(spec);
}

// The aggregator alone: without what aggregate() checks beforehand and adds to its result.
struct Made {
  Matrix values;
  Combined combined;
};
inline Made combined_by(const std::string& name, const std::string& options, MemberTrial& trial,
                        const Context& context = {}) {
  const AggregateTask task = trial.task();
  const std::unique_ptr<Aggregator> aggregator = make_aggregator(name + options);
  EXPECT_EQ(aggregator->refuses(task), std::nullopt);
  const Members members(task, !aggregator->takes_raw_members());
  Made made;
  const size_t players = task.members.empty() ? task.subject.players->size() : task.members[0]->players();
  made.values = Matrix(task.rows(), players);
  std::fill(made.values.values().begin(), made.values.values().end(), NAN);
  made.combined.values = made.values.view();
  aggregator->combine(task, members, made.combined, context);
  return made;
}

// The members as aggregators see them: row `row` of each, of unit norm.
inline std::vector<std::vector<double>> unit_rows(MemberTrial& trial, size_t row) {
  const Members members(trial.task(), true);
  std::vector<std::vector<double>> made;
  for (size_t j = 0; j < members.size(); j++) {
    const auto values = members.of(j, row);
    made.emplace_back(values.begin(), values.end());
  }
  return made;
}

inline void expect_same_aggregate_on_threads(const std::string& name, const std::string& options, MemberTrial& trial) {
  const Made one = combined_by(name, options, trial, on_threads(1, 5));
  for (const unsigned threads : {2U, 7U}) {
    const Made other = combined_by(name, options, trial, on_threads(threads, 5));
    EXPECT_TRUE(same_bits(one.values, other.values)) << name << options << " on " << threads << " threads";
    EXPECT_TRUE(same_bits(one.combined.weights, other.combined.weights)) << name << options;
    EXPECT_EQ(one.combined.antecedents, other.combined.antecedents);
    EXPECT_EQ(one.combined.notes, other.combined.notes);
  }
}

}  // namespace assay::testing
