// Aggregates of a pool's rows, through the table of aggregators.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/explain/methods.h"
#include "tests/aggregate/mixtures/toy.h"
#include "tests/aggregate/trial.h"
#include "tests/message.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;

// One row and a pool of three, of two members. Pool row 0 is (3, 4) and (1, 0): of unit norm (0.6, 0.8) and (1, 0).
MemberTrial two_members() {
  MemberTrial trial = bare_members({{{1, 1}}, {{2, 0}}});
  trial.pool = dataset_of(matrix_of({{0, 0}, {1, 1}, {2, 2}}));
  trial.pool_members.emplace_back(matrix_of({{3, 4}, {0, 2}, {5, 0}}));
  trial.pool_members.emplace_back(matrix_of({{1, 0}, {0, 7}, {0, -2}}));
  trial.pool_given = true;
  return trial;
}

Aggregate aggregate_of(const std::string& spec, const AggregateTask& task, const Context& context = {}) {
  return aggregate(parse_spec("aggregator", spec), task, context);
}

std::vector<float> row_of(const PoolExplanations& pool, size_t row) {
  return {pool.values().row(row).begin(), pool.values().row(row).end()};
}

void expect_row(const PoolExplanations& pool, size_t row, const std::vector<float>& expected) {
  for (size_t p = 0; p < expected.size(); p++) EXPECT_NEAR(pool.values()(row, p), expected[p], 1e-6) << "row " << row;
}

TEST(PoolAggregate, IsTheSameAggregateOfThePoolsMembers) {
  MemberTrial trial = two_members();
  const AggregateTask task = trial.task();
  const Spec spec = parse_spec("aggregator", "convex:weights=[0.25,0.75]");
  PoolExplanations pool = aggregate_of_pool(spec, task, aggregate(spec, task, {}));
  EXPECT_EQ(pool.rows(), 3U);
  pool.need(std::vector<size_t>{2, 0}, {});
  EXPECT_EQ(pool.explained(), 2U);
  // 1/4 (0.6, 0.8) + 3/4 (1, 0) and 1/4 (1, 0) + 3/4 (0, -1)
  expect_row(pool, 0, {0.9F, 0.2F});
  expect_row(pool, 2, {0.25F, -0.75F});
  pool.need_all({});
  expect_row(pool, 1, {0, 1});
}

// Weights are those of the rows that were aggregated, not learnt again from the pool.
TEST(PoolAggregate, LearntWeightsAreKept) {
  MemberTrial trial = two_members();
  const AggregateTask task = trial.task();
  Aggregate made = aggregate_of("convex:weights=[0.5,0.5]", task);
  const float third = 1.0F / 3;
  made.explanations.combination.weights = matrix_of({{third, 1 - third}});
  PoolExplanations pool = aggregate_of_pool(parse_spec("aggregator", "convex_min:criterion=complexity"), task, made);
  pool.need_all({});
  // 1/3 (0.6, 0.8) + 2/3 (1, 0)
  expect_row(pool, 0, {2.6F / 3, 0.8F / 3});
  expect_row(pool, 1, {0, 1});
  expect_row(pool, 2, {third, third - 1});
}

// Those of each row alone are learnt for each row of the pool.
TEST(PoolAggregate, WeightsOfSingleRowsAreLearntForEachRow) {
  MemberTrial trial = two_members();
  const AggregateTask task = trial.task();
  const Spec spec = parse_spec("aggregator", "convex_min:criterion=complexity:per=row");
  PoolExplanations pool = aggregate_of_pool(spec, task, aggregate(spec, task, {}));
  pool.need_all({});
  MemberTrial of_pool = bare_members({{{3, 4}, {0, 2}, {5, 0}}, {{1, 0}, {0, 7}, {0, -2}}});
  const Aggregate expected = aggregate(spec, of_pool.task(), {});
  expect_row(pool, 0, {1, 0});  // the second member alone
  for (size_t r = 0; r < 3; r++) {
    const auto row = expected.explanations.values.row(r);
    EXPECT_EQ(row_of(pool, r), std::vector<float>(row.begin(), row.end())) << "row " << r;
  }
}

// A radius that was chosen for the rows is that of the pool too: neither chosen again, nor by what is needed at a time.
TEST(PoolAggregate, KeepsTheRadiusThatWasChosen) {
  MemberTrial trial = random_with_pool(3, 12, 40, 5, 7);
  trial.pool_targets = trial.setting->targets;
  trial.pool_targets->of_row.assign(40, trial.setting->targets.of_row[0]);
  const AggregateTask task = trial.task();
  const Spec spec = parse_spec("aggregator", "convex_min:per=row:radius=auto");
  const Aggregate made = aggregate(spec, task, {});
  ASSERT_EQ(made.tables.back().name, "radius");
  const Spec given =
      parse_spec("aggregator", fmt::format("convex_min:per=row:radius={}", made.tables.back().rows[0][0]));
  PoolExplanations whole = aggregate_of_pool(spec, task, made);
  whole.need_all({});
  PoolExplanations single = aggregate_of_pool(spec, task, made);
  PoolExplanations expected = aggregate_of_pool(given, task, aggregate(given, task, {}));
  expected.need_all({});
  for (size_t r = 0; r < 40; r++) {
    single.need(std::vector<size_t>{r}, {});
    ASSERT_TRUE(std::isfinite(whole.values()(r, 0)) || std::isnan(expected.values()(r, 0)));
    if (std::isnan(whole.values()(r, 0))) continue;
    EXPECT_EQ(row_of(single, r), row_of(whole, r)) << "row " << r;
    EXPECT_EQ(row_of(expected, r), row_of(whole, r)) << "row " << r;
  }
}

// y = x0 + 10 x1, reference (1, 1): pool row (5, 2) has output 25 and base 11, members (1, 1) and (3, 4) of unit norm
// (0.70711, 0.70711) and (0.6, 0.8), whose mean sums to 1.40711; scaled to sum to 14.
TEST(PoolAggregate, ScalesToTheOutputOfPoolRows) {
  ModelInfo info;
  info.name = "line";
  info.feature_names = {"a", "b"};
  info.output_names = {"y"};
  MemberTrial trial = bare_members({{{1, 1}}, {{2, 0}}});
  for (Explanations& member : trial.members) {
    member.base = {11};
    member.output = {0};
  }
  trial.data = dataset_of(matrix_of({{0, 0}}));
  trial.pool = dataset_of(matrix_of({{0, 0}, {5, 2}}));
  const std::shared_ptr<const Model> line =
      model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> out) {
        for (size_t i = 0; i < rows.rows(); i++) out(i, 0) = rows(i, 0) + 10 * rows(i, 1);
      });
  trial.setting = setting_of(line, matrix_of({{0, 0}}), matrix_of({{1, 1}}));
  trial.pool_targets = freeze_targets(*line, trial.pool->x.view(), {}, {});
  trial.pool_members.emplace_back(matrix_of({{1, 1}, {1, 1}}));
  trial.pool_members.emplace_back(matrix_of({{1, 0}, {3, 4}}));
  trial.pool_given = true;
  AggregateTask task = trial.task();
  const Spec spec = parse_spec("aggregator", "convex:weights=[0.5,0.5]:scale=output");
  const Aggregate made = aggregate(spec, task, {});
  PoolExplanations pool = aggregate_of_pool(spec, task, made);
  pool.need(std::vector<size_t>{1}, {});
  const double half = std::sqrt(0.5) / 2;
  const double factor = 14 / (2 * half + 0.7);
  expect_row(pool, 1, {static_cast<float>(factor * (half + 0.3)), static_cast<float>(factor * (half + 0.4))});
  // Methods without a base cannot be scaled, of the pool no more than of the rows.
  for (Explanations& member : trial.members) member.base = {NAN};
  PoolExplanations baseless = aggregate_of_pool(spec, task, made);
  baseless.need(std::vector<size_t>{1}, {});
  EXPECT_TRUE(std::isnan(baseless.values()(1, 0)));

  task.subject.reference = nullptr;
  EXPECT_THAT(message_of([&] { aggregate_of_pool(spec, task, made); }), HasSubstr("for scale=output"));
}

// y = x0 + 2 x1 + x0 x1, reference (0, 2) of value 4, as pool row 0 is; pool row 1 is 8. The first member is noise in
// both, but row 1 has something to explain.
TEST(PoolAggregate, NoiseOfPoolRowsIsZero) {
  MemberTrial trial = with_pool({matrix_of({{1, 1}}), matrix_of({{2, 0}})},
                                {matrix_of({{2e-7F, -2e-7F}, {2e-7F, -2e-7F}}), matrix_of({{0, 2}, {0, 2}})},
                                matrix_of({{0, 0}}), matrix_of({{4, 0}, {8, 0}}));
  trial.setting->reference.rows = matrix_of({{0, 2}});
  trial.pool_targets = freeze_targets(*trial.setting->model, trial.pool->x.view(), {}, {});
  for (Explanations& member : trial.members) {
    member.base = {4};
    member.output = {0};
  }
  const AggregateTask task = trial.task();
  const Spec spec = parse_spec("aggregator", "convex:weights=[0.5,0.5]");
  PoolExplanations pool = aggregate_of_pool(spec, task, aggregate(spec, task, {}));
  pool.need_all({});
  const auto half = static_cast<float>(std::sqrt(0.5) / 2);
  expect_row(pool, 0, {0, 0.5F});
  expect_row(pool, 1, {half, 0.5F - half});
  // Members without a base are not held to any, in the pool no more than in the rows.
  for (Explanations& member : trial.members) member.base = {NAN};
  PoolExplanations baseless = aggregate_of_pool(spec, task, aggregate(spec, task, {}));
  baseless.need_all({});
  expect_row(baseless, 0, {half, 0.5F - half});
}

TEST(PoolAggregate, RefusesWhereThePoolIsNotExplained) {
  MemberTrial trial = two_members();
  trial.pool_members.clear();
  const AggregateTask task = trial.task();
  const Spec spec = parse_spec("aggregator", "convex:weights=[0.5,0.5]");
  const Aggregate made = aggregate(spec, task, {});
  EXPECT_THAT(message_of([&] { aggregate_of_pool(spec, task, made); }),
              HasSubstr("convex of the pool's rows needs explanations of those rows by every member"));
  EXPECT_THAT(message_of([&] { aggregate_of_pool(Spec{"ava"}, task, made); }),
              HasSubstr("what is explained of its rows"));
}

TEST(PoolAggregate, AvaOfAPoolRowIsMadeOfOtherRows) {
  Setting setting = fixture_setting("sklearn_mlp");
  MemberTrial trial;
  trial.pool = dataset_of(setting.rows);
  trial.pool_targets = setting.targets;
  trial.data = dataset_of(setting.rows);
  trial.members.push_back(explain(Spec{"exact_shapley"}, setting.task(), {}));
  trial.setting = std::move(setting);
  trial.method = Spec{"exact_shapley"};
  // Explanations of the pool as evaluation has them, which AVA has no use for.
  trial.pool_members.emplace_back(trial.pool->rows(), trial.members[0].players(),
                                  [](std::span<const size_t> rows, const Context&) {
                                    ADD_FAILURE() << "explained for nothing";
                                    return Matrix(rows.size(), 1);
                                  });
  for (size_t r = 0; r < trial.pool->rows(); r++) trial.in_pool.push_back(r);
  const Spec spec = parse_spec("aggregator", "ava:k=3");
  const AggregateTask task = trial.task();
  const Aggregate expected = aggregate(spec, task, {});
  const std::vector<int64_t>& antecedents = expected.explanations.combination.antecedents;
  for (size_t r = 0; r < trial.pool->rows(); r++) {
    for (size_t i = 0; i < 3; i++) EXPECT_NE(antecedents[3 * r + i], static_cast<int64_t>(r));
  }
  PoolExplanations pool = aggregate_of_pool(spec, task, expected);
  pool.need(std::vector<size_t>{4}, {});
  pool.need_all({});
  for (size_t r = 0; r < trial.pool->rows(); r++) {
    const auto row = expected.explanations.values.row(r);
    EXPECT_EQ(row_of(pool, r), std::vector<float>(row.begin(), row.end())) << "row " << r;
  }
}

}  // namespace
}  // namespace assay::testing
