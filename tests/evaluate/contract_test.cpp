// The contract: every registered criterion on every toy and fixture model, either refused beforehand with a reason or
// scored by the same rules. A new criterion is held to all of this by its line in the table.
#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "assay/data/table_io.h"
#include "assay/evaluate/criteria.h"
#include "assay/evaluate/rounding.h"
#include "tests/evaluate/trial.h"
#include "tests/message.h"
#include "tests/on_targets.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Budgets fit for a test; a criterion that is not listed runs with its defaults.
Spec quick(const CriterionInfo& criterion) {
  static const std::map<std::string, std::string> budgets = {{"roar", ":seeds=2:k=[0.3,0.9]"},
                                                             {"kar", ":seeds=2:k=[0.3,0.9]"}};
  const auto found = budgets.find(criterion.name);
  return parse_spec("criterion", criterion.name + (found == budgets.end() ? "" : found->second));
}

// Everything that a criterion may ask for, with a second opinion on the same rows.
struct Case {
  std::string name;
  Trial trial;
  Explanations second = {};

  EvaluateTask task() {
    trial.others = {&second};
    trial.other_names = {"second"};
    return trial.task();
  }
};

// Fits nothing: the model as it is.
Trainer same_model(const std::shared_ptr<const Model>& model) {
  return [model](const Dataset&, uint64_t, const Context&) {
    return model_from_function(
        model->info(), [model](MatrixView<const float> rows, MatrixView<float> out) { model->predict(rows, out, {}); });
  };
}

// What the model itself says of the rows.
void label(Dataset& data, const Model& model) {
  const ModelInfo& info = model.info();
  Matrix outputs(data.rows(), info.outputs());
  model.predict(data.x.view(), outputs.view(), {});
  data.label_name = "y";
  data.class_names = info.class_names;
  data.labels.clear();
  for (size_t r = 0; r < data.rows(); r++) {
    const bool classes = !info.class_names.empty();
    data.labels.push_back(classes ? static_cast<float>(predicted_class(info, outputs.row(r))) : outputs(r, 0));
  }
}

Case case_of(const std::string& name, Setting setting, Dataset data, Dataset pool) {
  const std::string method = setting.players.size() > 12 ? "occlusion" : "exact_shapley";
  label(data, *setting.model);
  label(pool, *setting.model);
  const Setting of_pool = [&] {
    Setting made = setting_of(setting.model, pool.x, setting.reference.rows);
    made.players = setting.players;
    return made;
  }();
  for (const FeatureGroup& group : data.groups) {
    const float scale = group.kind == ColumnKind::numeric ? 0.5F : 0.0F;
    setting.reference.scales.insert(setting.reference.scales.end(), group.count, scale);
  }
  Case made{name, explained_trial(setting, method)};
  made.second = explain(parse_spec("method", "occlusion"), setting.task(), {});
  made.trial.pool_explanations.emplace(explain(parse_spec("method", method), of_pool.task(), {}).values);
  made.trial.trainer = same_model(setting.model);
  made.trial.data = std::move(data);
  made.trial.pool = std::move(pool);
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
  return case_of(name, std::move(setting), std::move(rows), select_rows(all, from_to(6, 16)));
}

// The rows a little larger and smaller.
Dataset near(const Matrix& rows) {
  Matrix made(6 * rows.rows(), rows.cols());
  for (size_t r = 0; r < made.rows(); r++) {
    const float factor = 1 + (static_cast<float>(r / rows.rows()) - 2.5F) / 16;
    for (size_t c = 0; c < made.cols(); c++) made(r, c) = factor * rows(r % rows.rows(), c);
  }
  return dataset_of(std::move(made));
}

Case numbers_case(const std::string& name, Setting setting) {
  Dataset rows = dataset_of(setting.rows);
  Dataset pool = near(setting.rows);
  return case_of(name, std::move(setting), std::move(rows), std::move(pool));
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
  for (const char* name :
       {"torch_mlp_script", "torch_cnn_script", "torch_cnn1d_script", "sklearn_mlp", "sklearn_mlp_binary",
        "sklearn_logistic_binary", "sklearn_forest", "lightgbm_three", "xgboost_binary", "sklearn_columns"}) {
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

// Of models and explanations that were made on this target, as another machine would.
std::vector<Case>& cases_on(const std::string& target) {
  static std::map<std::string, std::vector<Case>> made;
  if (!made.contains(target)) {
    const OnTarget on(target);
    made[target] = made_cases();
  }
  return made[target];
}

bool same_bits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

size_t defined(const Scores& scores) {
  return static_cast<size_t>(std::ranges::count_if(scores.values, [](double v) { return !std::isnan(v); }));
}

// Ranges of words that a program can read; others are for people.
void expect_in_range(const CriterionInfo& info, const Scores& scores) {
  constexpr double kRounding = 1e-6;
  const bool correlation = info.range == "-1 to 1";
  const bool share = info.range == "0 to 1";
  const double least = correlation ? -1 : share || info.range == "0 or more" ? 0 : -INFINITY;
  const double most = correlation || share ? 1 : INFINITY;
  for (const double value : scores.values) {
    if (std::isnan(value)) continue;
    EXPECT_GE(value, least - kRounding);
    EXPECT_LE(value, most + kRounding);
  }
}

void expect_whole(const CriterionInfo& info, const Scores& scores, size_t rows) {
  EXPECT_EQ(scores.criterion, info.name);
  EXPECT_EQ(scores.direction, info.direction);
  EXPECT_EQ(scores.options.size(), info.options.size());
  if (scores.of_rows) {
    EXPECT_EQ(scores.values.size(), rows);
  }
  ASSERT_FALSE(scores.values.empty());
  const size_t known = defined(scores);
  EXPECT_DOUBLE_EQ(scores.coverage, static_cast<double>(known) / static_cast<double>(scores.values.size()));
  size_t reasons = 0;
  for (const Undefined& each : scores.undefined) {
    EXPECT_FALSE(each.reason.empty());
    EXPECT_GT(each.rows, 0U);
    reasons += each.rows;
  }
  EXPECT_EQ(reasons, scores.values.size() - known) << "every undefined value has one reason";
  EXPECT_EQ(std::isnan(scores.mean), known == 0);
  if (!scores.standard_error.empty()) {
    EXPECT_TRUE(info.sampled);
    ASSERT_EQ(scores.standard_error.size(), scores.values.size());
    for (const double error : scores.standard_error) EXPECT_FALSE(error < 0);
  }
  for (const ScoreTable& table : scores.tables) {
    EXPECT_FALSE(table.name.empty());
    EXPECT_TRUE(table.labels.empty() || table.labels.size() == table.rows.size()) << table.name;
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size()) << table.name;
  }
  for (const std::string& note : scores.notes) EXPECT_FALSE(note.empty());
  expect_in_range(info, scores);
}

Scores run(const Spec& spec, const EvaluateTask& task, const Context& context = {}) {
  return evaluate(spec, task, {.draws = 20}, context);
}

class CriteriaContract : public ::testing::TestWithParam<size_t> {
 protected:
  const CriterionInfo& criterion() const { return criteria()[GetParam()]; }
  Spec spec() const { return quick(criterion()); }
  std::vector<Case*> supported() const {
    std::vector<Case*> found;
    for (Case& each : cases()) {
      if (!criterion_refusal(spec(), each.task())) found.push_back(&each);
    }
    return found;
  }
};

TEST_P(CriteriaContract, RefusesBeforehandWithAReason) {
  EXPECT_GE(supported().size(), 8U);
  for (Case& each : cases()) {
    const size_t before = black_box_calls;
    const auto reason = criterion_refusal(spec(), each.task());
    EXPECT_EQ(black_box_calls, before) << "no model is run";
    if (!reason) continue;
    EXPECT_THAT(reason->reason, StartsWith(criterion().name + " ")) << each.name;
    EXPECT_EQ(message_of([&] { run(spec(), each.task()); }), reason->reason);
  }
}

TEST_P(CriteriaContract, ScoresAreWhole) {
  for (Case* each : supported()) {
    SCOPED_TRACE(each->name);
    expect_whole(criterion(), run(spec(), each->task()), each->task().rows());
  }
}

TEST_P(CriteriaContract, BitsDoNotDependOnThreads) {
  for (Case* each : supported()) {
    SCOPED_TRACE(each->name);
    const Scores one = run(spec(), each->task(), on_threads(1, 5));
    for (const unsigned threads : {2U, 7U}) {
      const Scores other = run(spec(), each->task(), on_threads(threads, 5));
      EXPECT_TRUE(same_bits(one.values, other.values)) << threads;
      EXPECT_TRUE(same_bits(one.standard_error, other.standard_error)) << threads;
      EXPECT_EQ(one.notes, other.notes);
      EXPECT_EQ(one.evaluations, other.evaluations);
    }
  }
}

// The same attributions on other vector instructions: rounding differs, and that is all. Criteria that explain again
// score what the target itself explains.
TEST_P(CriteriaContract, VectorTargetsAgree) {
  const std::vector<std::string>& targets = all_vector_targets();
  double most = 0;
  for (size_t c = 0; c < cases().size(); c++) {
    Case& first = cases_on(targets[0])[c];
    if (criterion_refusal(spec(), first.task())) continue;
    Scores expected;
    {
      const OnTarget on(targets[0]);
      expected = run(spec(), first.task(), on_threads(2, 5));
    }
    for (size_t t = 1; t < targets.size(); t++) {
      SCOPED_TRACE(first.name + " on " + targets[t]);
      Case other = cases_on(targets[t])[c];
      if (!criterion().needs.explainer) {
        other.trial.explanations = first.trial.explanations;
        other.trial.pool_explanations = first.trial.pool_explanations;
        other.second = first.second;
      }
      const OnTarget on(targets[t]);
      RoundingCheck check;
      compare_scores(expected, run(spec(), other.task(), on_threads(2, 5)), score_scales(first.trial.explanations),
                     check);
      EXPECT_TRUE(check.passed()) << check.difference();
      most = std::max(most, check.most());
    }
  }
  RecordProperty("most_of_a_tolerance", std::to_string(most));
}

// Those that look at other rows by their definition, or choose a radius for all.
const std::set<std::string>& of_all_rows() {
  static const std::set<std::string> names = {
      "separability", "conviction", "conditional_conviction", "max_sensitivity", "avg_sensitivity", "roar", "kar"};
  return names;
}

TEST_P(CriteriaContract, ARowsScoreIsItsOwn) {
  if (of_all_rows().contains(criterion().name)) return;
  for (const char* name : {"torch_mlp_script", "sklearn_mlp_binary"}) {
    Case whole = fixture(name);
    if (criterion_refusal(spec(), whole.task())) continue;
    const Scores all = run(spec(), whole.task());
    Case part = fixture(name);
    const size_t row = 4;
    const auto keep = [&](Explanations& of) {
      Matrix values(1, of.players());
      std::ranges::copy(of.values.row(row), values.row(0).begin());
      of.values = std::move(values);
      of.base = {of.base[row]};
      of.output = {of.output[row]};
      of.gap = {of.gap[row]};
      of.target = {of.target[row]};
    };
    keep(part.trial.explanations);
    keep(part.second);
    part.trial.data = select_rows(*part.trial.data, {row});
    part.trial.setting->targets = slice_targets(part.trial.setting->targets, row, row + 1);
    const Scores alone = run(spec(), part.task());
    ASSERT_EQ(alone.values.size(), 1U);
    EXPECT_TRUE(same_bits(std::span(all.values).subspan(row, 1), alone.values))
        << name << ": " << all.values[row] << " among others, " << alone.values[0] << " alone";
  }
}

// Without what it needs a criterion is refused; without its method a file is undefined, not refused.
TEST_P(CriteriaContract, WhatIsNeededIsAskedFor) {
  const Needs& needs = criterion().needs;
  const auto expect_refused = [&](bool needed, const char* what, const auto& take) {
    if (!needed) return;
    Case each = fixture("torch_mlp_script");
    EvaluateTask task = each.task();
    take(task);
    const auto reason = criterion_refusal(spec(), task);
    ASSERT_TRUE(reason) << "without " << what;
    EXPECT_THAT(reason->reason, StartsWith(criterion().name + " needs "));
  };
  expect_refused(needs.model, "model", [](EvaluateTask& task) { task.subject.model = nullptr; });
  expect_refused(needs.model, "rows", [](EvaluateTask& task) { task.subject.rows = nullptr; });
  expect_refused(needs.reference, "reference", [](EvaluateTask& task) { task.subject.reference = nullptr; });
  expect_refused(needs.pool, "pool", [](EvaluateTask& task) { task.subject.pool = nullptr; });
  expect_refused(needs.pool_explanations, "its explanations",
                 [](EvaluateTask& task) { task.pool_explanations = nullptr; });
  expect_refused(needs.trainer, "trainer", [](EvaluateTask& task) { task.subject.trainer = {}; });
  expect_refused(needs.others, "others", [](EvaluateTask& task) { task.others = {}; });
  if (!needs.explainer) return;
  Case each = fixture("torch_mlp_script");
  each.trial.method.reset();
  const Scores scores = run(spec(), each.task());
  EXPECT_EQ(defined(scores), 0U);
  expect_whole(criterion(), scores, each.task().rows());
}

// What is not needed is not looked at.
TEST_P(CriteriaContract, NeedsNothingElse) {
  const Needs& needs = criterion().needs;
  Case each = fixture("torch_mlp_script");
  EvaluateTask task = each.task();
  if (!needs.pool) task.subject.pool = nullptr;
  if (!needs.pool_explanations) task.pool_explanations = nullptr;
  if (!needs.trainer) task.subject.trainer = {};
  if (!needs.others) task.others = {};
  if (!needs.explainer) task.method = nullptr;
  Dataset unlabelled = *task.subject.rows;
  unlabelled.labels.clear();
  if (!needs.labels) task.subject.rows = &unlabelled;
  EXPECT_EQ(criterion_refusal(spec(), task), std::nullopt);
  expect_whole(criterion(), run(spec(), task), task.rows());
}

TEST_P(CriteriaContract, ARowThatIsNoNumbersIsUndefined) {
  Case each = fixture("torch_mlp_script");
  each.trial.explanations.values(2, 1) = NAN;
  each.trial.explanations.values(3, 0) = INFINITY;
  const Scores scores = run(spec(), each.task());
  expect_whole(criterion(), scores, each.task().rows());
  // A criterion that explains afresh need not read the given ones.
  if (!scores.of_rows || criterion().needs.explainer) return;
  EXPECT_TRUE(std::isnan(scores.values[2]));
  EXPECT_TRUE(std::isnan(scores.values[3]));
}

TEST_P(CriteriaContract, UnknownOptionsAreRefused) {
  Case each = fixture("torch_mlp_script");
  EXPECT_THAT(sentence([&] { run(parse_spec("c", criterion().name + ":colour=red"), each.task()); }),
              HasSubstr("colour"));
}

INSTANTIATE_TEST_SUITE_P(Criteria, CriteriaContract, ::testing::Range<size_t>(0, criteria().size()),
                         [](const auto& each) { return criteria()[each.param].name; });

TEST(Criteria, AreAllDescribed) {
  std::set<std::string> names;
  for (const CriterionInfo& each : criteria()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_FALSE(each.title.empty()) << each.name;
    EXPECT_FALSE(each.family.empty()) << each.name;
    EXPECT_FALSE(each.citation.empty()) << each.name;
    EXPECT_FALSE(each.cost.empty()) << each.name;
    EXPECT_FALSE(each.range.empty()) << each.name;
    EXPECT_EQ(&find_criterion(each.name), &each);
  }
  EXPECT_THAT(sentence([] { find_criterion("complexty"); }), HasSubstr("did you mean 'complexity'"));
}

}  // namespace
}  // namespace assay::testing
