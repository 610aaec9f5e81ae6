// The contract: every registered aggregator on every toy and fixture model, either refused beforehand with a reason or
// combined by the same rules. A new aggregator is held to all of this by its line in the table.
#include <gmock/gmock.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "assay/aggregate/aggregators.h"
#include "assay/data/table_io.h"
#include "assay/explain/rounding.h"
#include "tests/aggregate/trial.h"
#include "tests/message.h"
#include "tests/on_targets.h"

namespace assay::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr size_t kPoolRows = 10;

// Budgets fit for a test; an aggregator that is not listed runs with its defaults.
Spec quick(const AggregatorInfo& info) {
  static const std::map<std::string, std::string> budgets = {{"ava", ":k=3"}, {"pareto", ":points=60"}};
  const auto found = budgets.find(info.name);
  return parse_spec("aggregator", info.name + (found == budgets.end() ? "" : found->second));
}

struct Case {
  std::string name;
  MemberTrial trial;

  // Those that explain other rows take one member, all others take all.
  AggregateTask task(const AggregatorInfo& info) {
    AggregateTask made = trial.task();
    if (info.needs.members > 0) return made;
    made.members = made.members.first(1);
    made.pool_members = made.pool_members.first(1);
    return made;
  }
};

Explanations explained_by(const std::string& method, const Setting& setting) {
  return explain(parse_spec("method", method), setting.task(), {});
}

Case case_of(const std::string& name, Setting setting, Dataset data, Dataset pool) {
  const bool few = setting.players.size() <= 12;
  const std::string first = few ? "exact_shapley" : "occlusion";
  const std::vector<std::string> methods = {first, "shapley_sampling:permutations=4", "lime:samples=200"};
  Setting of_pool = setting_of(setting.model, pool.x, setting.reference.rows);
  of_pool.players = setting.players;
  Case made{name, {}};
  for (const std::string& method : methods) {
    made.trial.members.push_back(explained_by(method, setting));
    made.trial.pool_members.emplace_back(explained_by(method, of_pool).values);
  }
  made.trial.method = parse_spec("method", first);
  made.trial.pool_targets = of_pool.targets;
  made.trial.data = std::move(data);
  made.trial.pool = std::move(pool);
  made.trial.setting = std::move(setting);
  return made;
}

std::vector<size_t> from_to(size_t begin, size_t end) {
  std::vector<size_t> rows(end - begin);
  std::iota(rows.begin(), rows.end(), begin);
  return rows;
}

Case fixture(const std::string& name) {
  const std::string folder = std::string(ASSAY_SOURCE_DIR) + "/tests/fixtures/models/" + name;
  std::shared_ptr<EngineModel> model = EngineModel::load(folder + "/model.onnx");
  const Dataset all = model->features_of(read_table(folder + "/rows.csv"));
  Dataset rows = select_rows(all, from_to(0, 6));
  Setting setting = setting_of(model, rows.x, select_rows(all, {15}).x);
  setting.players = group_players(all);
  return case_of(name, std::move(setting), std::move(rows), select_rows(all, from_to(16 - kPoolRows, 16)));
}

// The rows a little larger and smaller.
Case numbers_case(const std::string& name, Setting setting) {
  Matrix near(5 * setting.rows.rows(), setting.rows.cols());
  for (size_t r = 0; r < near.rows(); r++) {
    const float factor = 1 + (static_cast<float>(r / setting.rows.rows()) - 2.5F) / 16;
    for (size_t c = 0; c < near.cols(); c++) near(r, c) = factor * setting.rows(r % setting.rows.rows(), c);
  }
  Dataset rows = dataset_of(setting.rows);
  return case_of(name, std::move(setting), std::move(rows), dataset_of(std::move(near)));
}

std::atomic<size_t> black_box_calls = 0;

Case black_box() {
  ModelInfo info;
  info.name = "a function";
  info.feature_names = {"a", "b", "c", "d"};
  info.output_names = {"y"};
  std::shared_ptr<const Model> model =
      model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> out) {
        black_box_calls++;
        for (size_t r = 0; r < rows.rows(); r++) out(r, 0) = std::sin(rows(r, 0)) * rows(r, 1) + rows(r, 3);
      });
  return numbers_case("black box", setting_of(model, matrix_of({{1, 2, 3, 4}, {0, -1, 2, 0.5F}, {2, 1, -1, 1}}),
                                              matrix_of({{0, 1, 1, 0}})));
}

// Nothing depends on anything: all attributions are 0.
Case constant() {
  auto graph = model({node("Gemm", {"x", "w", "b"}, {"y"})}, {value("x", {-1, 3})}, {value("y", {-1, 1})},
                     {floats("w", {3, 1}, {0, 0, 0}), floats("b", {1}, {0.5F})});
  return numbers_case("constant", setting_of(EngineModel::from_onnx("constant", std::move(graph)),
                                             matrix_of({{1, 2, 3}, {2, 0, 1}, {-1, 1, 4}}), matrix_of({{0, 0, 0}})));
}

Case one_feature() {
  auto graph = model({node("Gemm", {"x", "w", "b"}, {"y"})}, {value("x", {-1, 1})}, {value("y", {-1, 1})},
                     {floats("w", {1, 1}, {2}), floats("b", {1}, {0.5F})});
  return numbers_case("one feature", setting_of(EngineModel::from_onnx("one feature", std::move(graph)),
                                                matrix_of({{1}, {2}, {-1}}), matrix_of({{0}})));
}

std::vector<Case> made_cases() {
  std::vector<Case> all;
  for (const Toy& toy : all_toys()) all.push_back(numbers_case(toy.name, setting_of(toy)));
  for (const char* name : {"torch_mlp_script", "torch_cnn_script", "sklearn_mlp", "sklearn_mlp_binary",
                           "sklearn_forest", "xgboost_binary", "sklearn_columns"}) {
    all.push_back(fixture(name));
  }
  all.push_back(black_box());
  all.push_back(constant());
  all.push_back(one_feature());
  return all;
}

std::vector<Case>& cases() {
  static std::vector<Case> made = made_cases();
  return made;
}

// Of models that were read and made ready on this target, as another machine would.
std::vector<Case>& cases_on(const std::string& target) {
  static std::map<std::string, std::vector<Case>> made;
  if (!made.contains(target)) {
    const OnTarget on(target);
    made[target] = made_cases();
  }
  return made[target];
}

bool undefined_row(const Matrix& values, size_t row) { return std::isnan(values(row, 0)); }

// Weights of members are convex, and the values are the members so weighted.
void expect_weighted(const Explanations& made, const Members& members) {
  const Matrix& weights = made.combination.weights;
  for (size_t r = 0; r < made.rows(); r++) {
    if (undefined_row(made.values, r)) continue;
    // Where all members say nothing there is nothing to weigh.
    bool silent = members.size() > 0;
    for (size_t j = 0; j < members.size(); j++) silent = silent && members.zero(j, r);
    if (silent) continue;
    double sum = 0;
    for (const float weight : weights.row(r)) {
      EXPECT_GE(weight, 0);
      sum += weight;
    }
    EXPECT_NEAR(sum, 1, 1e-5);
    if (!made.combination.antecedents.empty()) continue;
    ASSERT_EQ(weights.cols(), members.size());
    for (size_t p = 0; p < made.players(); p++) {
      double expected = 0;
      for (size_t j = 0; j < members.size(); j++) expected += static_cast<double>(weights(r, j)) * members.of(j, r)[p];
      EXPECT_NEAR(made.values(r, p), expected, 1e-5);
    }
  }
}

void expect_whole(const AggregatorInfo& info, const Aggregate& out, const AggregateTask& task) {
  const Explanations& made = out.explanations;
  ASSERT_EQ(made.rows(), task.rows());
  EXPECT_EQ(made.features, task.members[0]->features);
  EXPECT_EQ(made.target, task.members[0]->target);
  EXPECT_EQ(made.base.size(), made.rows());
  EXPECT_EQ(made.output.size(), made.rows());
  EXPECT_EQ(made.gap.size(), made.rows());
  EXPECT_EQ(made.provenance.method, info.name);
  EXPECT_EQ(made.provenance.options.size(), info.options.size());
  EXPECT_EQ(made.combination.members.size(), task.members.size());
  if (made.combination.relative) {
    EXPECT_THAT(made.notes, Contains("relative, does not add up to the score"));
  }
  ASSERT_GE(made.combination.measures.size(), 2U);
  EXPECT_EQ(made.combination.measures[0].name, "norm");
  EXPECT_EQ(made.combination.measures[1].name, "cosine");
  std::set<std::string> names;
  for (const RowMeasure& measure : made.combination.measures) {
    EXPECT_TRUE(names.insert(measure.name).second) << measure.name;
    EXPECT_EQ(measure.values.size(), made.rows()) << measure.name;
  }
  size_t unknown = 0;
  for (size_t r = 0; r < made.rows(); r++) {
    const bool undefined = undefined_row(made.values, r);
    unknown += undefined ? 1 : 0;
    for (const float value : made.values.row(r)) EXPECT_EQ(std::isfinite(value), !undefined) << "a row is whole";
    const double cosine = made.combination.measures[1].values[r];
    EXPECT_FALSE(std::abs(cosine) > 1 + 1e-6) << cosine;
  }
  size_t reasons = 0;
  for (const Undefined& each : out.undefined) reasons += each.rows;
  EXPECT_EQ(reasons, unknown) << "every undefined row has one reason";
  const Members members(task, !find_aggregator(info.name).make(quick(info))->takes_raw_members());
  if (!made.combination.weights.empty()) expect_weighted(made, members);
  for (const ScoreTable& table : out.tables) {
    EXPECT_TRUE(table.labels.empty() || table.labels.size() == table.rows.size()) << table.name;
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size()) << table.name;
  }
  for (const std::string& note : made.notes) EXPECT_FALSE(note.empty());
}

class AggregatorsContract : public ::testing::TestWithParam<size_t> {
 protected:
  const AggregatorInfo& info() const { return aggregators()[GetParam()]; }
  Spec spec() const { return quick(info()); }
  std::vector<Case*> supported() const {
    std::vector<Case*> found;
    for (Case& each : cases()) {
      if (!aggregator_refusal(spec(), each.task(info()))) found.push_back(&each);
    }
    return found;
  }
};

TEST_P(AggregatorsContract, RefusesBeforehandWithAReason) {
  EXPECT_GE(supported().size(), 8U);
  for (Case& each : cases()) {
    const size_t before = black_box_calls;
    const auto reason = aggregator_refusal(spec(), each.task(info()));
    EXPECT_EQ(black_box_calls, before) << "no model is run";
    if (!reason) continue;
    EXPECT_THAT(reason->reason, StartsWith(info().name + " ")) << each.name;
    EXPECT_EQ(message_of([&] { aggregate(spec(), each.task(info()), {}); }), reason->reason);
  }
}

TEST_P(AggregatorsContract, ResultsAreWhole) {
  for (Case* each : supported()) {
    SCOPED_TRACE(each->name);
    const AggregateTask task = each->task(info());
    expect_whole(info(), aggregate(spec(), task, {}), task);
  }
}

TEST_P(AggregatorsContract, BitsDoNotDependOnThreads) {
  for (Case* each : supported()) {
    SCOPED_TRACE(each->name);
    const Aggregate one = aggregate(spec(), each->task(info()), on_threads(1, 5));
    for (const unsigned threads : {2U, 7U}) {
      const Aggregate other = aggregate(spec(), each->task(info()), on_threads(threads, 5));
      EXPECT_TRUE(same_bits(one.explanations.values, other.explanations.values)) << threads;
      EXPECT_TRUE(same_bits(one.explanations.combination.weights, other.explanations.combination.weights)) << threads;
      EXPECT_EQ(one.explanations.notes, other.explanations.notes);
      EXPECT_EQ(one.explanations.evaluations, other.explanations.evaluations);
    }
  }
}

// The same members on other vector instructions: rounding differs, and that is all.
TEST_P(AggregatorsContract, VectorTargetsAgree) {
  const std::vector<std::string>& targets = all_vector_targets();
  double most = 0;
  for (size_t c = 0; c < cases().size(); c++) {
    Case& first = cases_on(targets[0])[c];
    if (aggregator_refusal(spec(), first.task(info()))) continue;
    Explanations expected;
    {
      const OnTarget on(targets[0]);
      expected = aggregate(spec(), first.task(info()), on_threads(2, 5)).explanations;
    }
    for (size_t t = 1; t < targets.size(); t++) {
      SCOPED_TRACE(first.name + " on " + targets[t]);
      Case other = cases_on(targets[t])[c];
      other.trial.members = first.trial.members;
      other.trial.pool_members = first.trial.pool_members;
      const OnTarget on(targets[t]);
      RoundingCheck check;
      compare_explanations(expected, aggregate(spec(), other.task(info()), on_threads(2, 5)).explanations, check);
      EXPECT_TRUE(check.passed()) << check.difference();
      most = std::max(most, check.most());
    }
  }
  RecordProperty("most_of_a_tolerance", std::to_string(most));
}

Explanations only_row(const Explanations& of, size_t row) {
  Explanations made = of;
  made.values = Matrix(1, of.players());
  std::ranges::copy(of.values.row(row), made.values.row(0).begin());
  made.base = {of.base[row]};
  made.output = {of.output[row]};
  made.gap = {of.gap[row]};
  made.target = {of.target[row]};
  made.standard_error = {};
  return made;
}

// One member is noise in row 2, where nothing is to be explained, and small in row 3, where something is.
Case with_noise() {
  Case made = fixture("sklearn_mlp_binary");
  for (Explanations& member : made.trial.members) member.base[2] = member.output[2];
  Explanations& noisy = made.trial.members[1];
  for (const size_t row : {size_t{2}, size_t{3}}) {
    const auto size = static_cast<float>(1e-8 * std::abs(noisy.output[row]));
    for (size_t p = 0; p < noisy.players(); p++) noisy.values(row, p) = p % 2 == 0 ? size : -size;
  }
  return made;
}

TEST_P(AggregatorsContract, ARowsResultIsItsOwn) {
  if (info().learns_weights) return;
  Case whole = with_noise();
  const Explanations all = aggregate(spec(), whole.task(info()), {}).explanations;
  for (const size_t row : {size_t{2}, size_t{3}, size_t{4}}) {
    Case part = with_noise();
    for (Explanations& member : part.trial.members) member = only_row(member, row);
    part.trial.data = select_rows(*part.trial.data, {row});
    part.trial.setting->targets = slice_targets(part.trial.setting->targets, row, row + 1);
    const Explanations alone = aggregate(spec(), part.task(info()), {}).explanations;
    for (size_t p = 0; p < all.players(); p++) EXPECT_EQ(alone.values(0, p), all.values(row, p)) << "row " << row;
  }
}

TEST_P(AggregatorsContract, WhatIsNeededIsAskedFor) {
  const AggregateNeeds& needs = info().needs;
  const auto expect_refused = [&](bool needed, const char* what, const auto& take) {
    if (!needed) return;
    Case each = fixture("torch_mlp_script");
    AggregateTask task = each.task(info());
    take(task);
    const auto reason = aggregator_refusal(spec(), task);
    ASSERT_TRUE(reason) << "without " << what;
    EXPECT_THAT(reason->reason, StartsWith(info().name + " needs "));
  };
  expect_refused(needs.model, "model", [](AggregateTask& task) { task.subject.model = nullptr; });
  expect_refused(needs.model, "rows", [](AggregateTask& task) { task.subject.rows = nullptr; });
  expect_refused(needs.reference, "reference", [](AggregateTask& task) { task.subject.reference = nullptr; });
  expect_refused(needs.pool, "pool", [](AggregateTask& task) { task.subject.pool = nullptr; });
  expect_refused(needs.pool_members, "its explanations", [](AggregateTask& task) { task.pool_members = {}; });
  expect_refused(needs.members > 0, "members", [](AggregateTask& task) { task.members = {}; });
}

// What is not needed is not looked at.
TEST_P(AggregatorsContract, NeedsNothingElse) {
  const AggregateNeeds& needs = info().needs;
  Case each = fixture("torch_mlp_script");
  AggregateTask task = each.task(info());
  if (!needs.pool) task.subject.pool = nullptr;
  if (!needs.pool_members) task.pool_members = {};
  if (!needs.reference) task.subject.reference = nullptr;
  if (!needs.model) task.subject.model = nullptr;
  EXPECT_EQ(aggregator_refusal(spec(), task), std::nullopt);
  expect_whole(info(), aggregate(spec(), task, {}), task);
}

TEST_P(AggregatorsContract, ARowThatIsNoNumbersIsUndefined) {
  if (info().needs.members == 0) return;  // explains other rows, and does not read the member's values
  Case each = fixture("torch_mlp_script");
  each.trial.members[1].values(2, 1) = NAN;
  each.trial.members[0].values(3, 0) = INFINITY;
  const AggregateTask task = each.task(info());
  const Aggregate out = aggregate(spec(), task, {});
  expect_whole(info(), out, task);
  EXPECT_TRUE(undefined_row(out.explanations.values, 2));
  EXPECT_TRUE(undefined_row(out.explanations.values, 3));
}

// The pool's aggregates, all needed at once; each needed alone must be the same.
PoolExplanations pool_of_single_rows(const Spec& spec, const AggregateTask& task) {
  const Aggregate made = aggregate(spec, task, {});
  PoolExplanations pool = aggregate_of_pool(spec, task, made);
  pool.need_all({});
  PoolExplanations single = aggregate_of_pool(spec, task, made);
  for (size_t r = single.rows(); r-- > 0;) single.need(std::vector<size_t>{r}, {});
  for (size_t r = 0; r < pool.rows(); r++) {
    for (size_t p = 0; p < pool.players(); p++) {
      EXPECT_EQ(std::bit_cast<uint32_t>(single.values()(r, p)), std::bit_cast<uint32_t>(pool.values()(r, p)))
          << "row " << r << ", player " << p << ": " << single.values()(r, p) << " and " << pool.values()(r, p);
    }
  }
  return pool;
}

TEST_P(AggregatorsContract, PoolRowsAreCombinedAlike) {
  for (Case* each : supported()) {
    SCOPED_TRACE(each->name);
    pool_of_single_rows(spec(), each->task(info()));
  }
  Case each = fixture("torch_mlp_script");
  const PoolExplanations pool = pool_of_single_rows(spec(), each.task(info()));
  ASSERT_EQ(pool.rows(), kPoolRows);
  for (size_t r = 0; r < kPoolRows; r++) EXPECT_TRUE(std::isfinite(pool.values()(r, 0)));
  if (info().learns_weights || info().needs.members == 0) return;
  // The same as aggregating the pool's explanations themselves.
  MemberTrial direct;
  for (const PoolExplanations& member : each.trial.pool_members) {
    Matrix values(kPoolRows, member.players());
    for (size_t r = 0; r < kPoolRows; r++) std::ranges::copy(member.values().row(r), values.row(r).begin());
    direct.members.push_back(explanations_of(std::move(values)));
  }
  const Matrix expected = aggregate(spec(), direct.task(), {}).explanations.values;
  for (size_t r = 0; r < kPoolRows; r++) {
    for (size_t p = 0; p < expected.cols(); p++) EXPECT_EQ(pool.values()(r, p), expected(r, p));
  }
}

TEST_P(AggregatorsContract, UnknownOptionsAreRefused) {
  Case each = fixture("torch_mlp_script");
  EXPECT_THAT(sentence([&] { aggregate(parse_spec("a", info().name + ":colour=red"), each.task(info()), {}); }),
              HasSubstr("colour"));
}

INSTANTIATE_TEST_SUITE_P(Aggregators, AggregatorsContract, ::testing::Range<size_t>(0, aggregators().size()),
                         [](const auto& each) { return aggregators()[each.param].name; });

// The radius is the one chosen for the rows that were aggregated, whichever rows of the pool are needed together.
TEST(Aggregators, PoolRowsWithWeightsOfTheirOwnAreCombinedAlike) {
  for (const char* options : {"convex_min:per=row", "convex_min:per=row:criterion=max_sensitivity:radius=auto",
                              "convex_min:per=row:criterion=complexity"}) {
    size_t mixed = 0;
    for (Case& each : cases()) {
      SCOPED_TRACE(each.name + " " + options);
      const PoolExplanations pool =
          pool_of_single_rows(parse_spec("aggregator", options), each.task(find_aggregator("convex_min")));
      for (size_t r = 0; r < pool.rows(); r++) mixed += std::isfinite(pool.values()(r, 0)) ? 1 : 0;
    }
    EXPECT_GT(mixed, 60U) << options;
  }
}

TEST(Aggregators, AreAllDescribed) {
  std::set<std::string> names;
  for (const AggregatorInfo& each : aggregators()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_FALSE(each.title.empty()) << each.name;
    EXPECT_FALSE(each.family.empty()) << each.name;
    EXPECT_FALSE(each.citation.empty()) << each.name;
    EXPECT_FALSE(each.cost.empty()) << each.name;
    EXPECT_EQ(&find_aggregator(each.name), &each);
  }
  EXPECT_THAT(sentence([] { find_aggregator("region_shrink"); }), HasSubstr("did you mean 'region_shrinking'"));
}

// The paper's promise, on every row of every model.
TEST(Aggregators, OfTheComplexityFamilyAreNeverMoreComplexThanAMember) {
  size_t rows = 0;
  for (const char* name :
       {"gradient_descent_style", "region_shrinking", "shrink_then_descend", "minimum_complexity", "closest_simple"}) {
    for (Case& each : cases()) {
      SCOPED_TRACE(each.name);
      const AggregateTask task = each.task(find_aggregator(name));
      const Explanations made = aggregate({name}, task, {}).explanations;
      const Members members(task, true);
      for (size_t r = 0; r < made.rows(); r++) {
        double simplest = INFINITY;
        for (size_t j = 0; j < members.size(); j++) {
          if (!members.zero(j, r)) simplest = std::min(simplest, complexity(members.of(j, r)));
        }
        if (std::isinf(simplest)) continue;
        EXPECT_LE(complexity(made.values.row(r)), simplest) << name << ", row " << r;
        rows++;
      }
    }
  }
  EXPECT_GT(rows, 200U);
}

}  // namespace
}  // namespace assay::testing
