// A study as a whole: what it says is what the stages say by themselves. tests/archive runs it into folders.
#include "assay/study/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "assay/aggregate/aggregators.h"
#include "assay/core/error.h"
#include "assay/explain/methods.h"
#include "assay/study/assess.h"
#include "assay/study/progress.h"
#include "assay/study/remembered_model.h"
#include "tests/evaluate/trial.h"
#include "tests/explain/tree_toys.h"
#include "tests/study/memory_store.h"
#include "tests/study/studied.h"

namespace assay {
namespace {

using testing::few;
using ::testing::HasSubstr;
using testing::MemoryStore;
using ::testing::StartsWith;
using testing::Studied;

ModelInfo two_columns(std::string name, std::string no_gradient = {}) {
  ModelInfo info;
  info.name = std::move(name);
  info.feature_names = {"a", "b"};
  info.output_names = {"y"};
  info.no_gradient = std::move(no_gradient);
  return info;
}

Study run_in(MemoryStore& store, const Studied& studied, const StudyOptions& options) {
  const Subject subject = studied.subject();
  StudyTimes times;
  return run_study(subject, plan_study(subject, options, {}), {}, store, times, {});
}

TEST(RunStudy, SaysWhatTheStagesSayByThemselves) {
  MemoryStore store;
  const Studied studied(testing::linear_toy());
  const Study study = run_in(store, studied, few());
  ASSERT_EQ(study.entries.size(), 6U);
  EXPECT_EQ(study.entries[1].name, "kernel_shap:samples=64");
  EXPECT_EQ(study.entries[1].stem, "kernel_shap-samples-64");
  EXPECT_EQ(study.criteria[0], "faithfulness:subset=1");

  const Spec method{"occlusion"};
  const Subject subject = studied.subject();
  const Explanations direct = explain(method, subject, {});
  EXPECT_TRUE(std::ranges::equal(direct.values.values(), study.entries[2].explanations.values.values()));
  PoolExplanations pool = pool_explanations_by(subject, method, 0);
  const EvaluateTask task{.explanations = direct, .subject = subject, .pool_explanations = &pool, .method = &method};
  for (size_t c = 0; c < study.criteria.size(); c++) {
    const Scores scores = evaluate(parse_spec("test", study.criteria[c]), task, {}, {});
    const Scores& found = study.entries[2].scores[c];
    ASSERT_EQ(scores.values.size(), found.values.size());
    for (size_t r = 0; r < scores.values.size(); r++) {
      EXPECT_TRUE(scores.values[r] == found.values[r] || (std::isnan(scores.values[r]) && std::isnan(found.values[r])));
    }
    EXPECT_EQ(scores.coverage, found.coverage);
  }
  // A linear model's occlusion is its Shapley value, and removing one feature loses just that: 1 wherever defined.
  EXPECT_NEAR(study.entries[2].scores[0].mean, 1, 1e-6);
}

TEST(RunStudy, AggregatesTheMethodsThatItStudies) {
  MemoryStore store;
  const Studied studied(testing::linear_toy());
  const Study study = run_in(store, studied, few());
  const StudyEntry& mean = study.entries[3];
  EXPECT_TRUE(mean.aggregate());
  EXPECT_EQ(mean.explanations.combination.members,
            (std::vector<std::string>{"gradient_x_input", "kernel_shap:samples=64", "occlusion"}));
  for (size_t r = 0; r < study.rows(); r++) {
    std::vector<double> sum(3, 0.0);
    for (size_t m = 0; m < 3; m++) {
      const auto values = study.entries[m].explanations.values.row(r);
      const double norm = std::sqrt(values[0] * values[0] + values[1] * values[1] + values[2] * values[2]);
      for (size_t p = 0; p < 3; p++) sum[p] += values[p] / norm / 3;
    }
    for (size_t p = 0; p < 3; p++) EXPECT_NEAR(mean.explanations.values.row(r)[p], sum[p], 1e-6);
  }
  EXPECT_FALSE(study.entries[5].explanations.combination.antecedents.empty());
}

TEST(RunStudy, RefusesPartsOfAnotherStudy) {
  MemoryStore store;
  const Studied studied(testing::linear_toy());
  run_in(store, studied, few());
  StudyOptions other = few();
  other.criteria.pop_back();
  try {
    run_in(store, studied, other);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), StartsWith("memory of gradient_x_input: expected 3 criteria"));
    EXPECT_THAT(error.what(), HasSubstr("found 4"));
  }
}

TEST(RunStudy, ScoresEveryMethodAndAggregatorOnEveryToy) {
  std::vector<testing::Toy> toys = testing::all_toys();
  std::ranges::move(testing::tree_toys(), std::back_inserter(toys));
  for (const testing::Toy& toy : toys) {
    SCOPED_TRACE(toy.name);
    MemoryStore store;
    const Studied studied(toy);
    const Study study = run_in(store, studied, {});
    // Methods of trees are not even mentioned where there are none.
    const bool trees = toy.model->tree_scores() != nullptr;
    EXPECT_EQ(std::ranges::count(study.entries, "tree_shap", &StudyEntry::name), trees ? 1 : 0);
    EXPECT_EQ(study.entries.size() + static_cast<size_t>(std::ranges::count_if(
                                         study.left_out, [](const LeftOut& each) { return each.kind != "criterion"; })),
              methods().size() - (trees ? 0 : 2) + aggregators().size());
    for (const LeftOut& each : study.left_out) EXPECT_FALSE(each.reason.empty());
    for (const StudyEntry& entry : study.entries) {
      SCOPED_TRACE(entry.name);
      ASSERT_EQ(entry.scores.size(), study.criteria.size());
      for (const Scores& scores : entry.scores) {
        size_t undefined = 0;
        for (const Undefined& each : scores.undefined) undefined += each.rows;
        const auto missing =
            static_cast<size_t>(std::ranges::count_if(scores.values, [](double value) { return std::isnan(value); }));
        EXPECT_EQ(undefined, missing) << scores.criterion;
      }
    }
    EXPECT_EQ(assess(study).rankings.size(), study.criteria.size());
  }
}

TEST(RunStudy, DrawsCurvesThatPassThroughTheStudysOwnScores) {
  MemoryStore store;
  const Studied studied(testing::additive_toy(), 12, 80);
  const Study study = run_in(store, studied, few());
  for (const StudyEntry& entry : study.entries) {
    ASSERT_EQ(entry.curves.size(), 3U) << entry.name;
    for (const Curve& curve : entry.curves) {
      if (curve.along != "radius") continue;
      const size_t criterion = curve.criterion == "max_sensitivity" ? 1 : 2;
      const double own = entry.scores[criterion].mean;
      EXPECT_TRUE(std::ranges::any_of(curve.mean, [&](double mean) { return mean == own; })) << entry.name;
      EXPECT_TRUE(std::ranges::is_sorted(curve.x));
      EXPECT_TRUE(std::ranges::is_sorted(curve.coverage));
    }
    const Curve& subsets = entry.curves[2];
    EXPECT_EQ(subsets.x, (std::vector<double>{1, 2}));
    const double own = entry.scores[0].mean;
    if (!std::isnan(own)) {
      EXPECT_NEAR(subsets.mean[0], own, 1e-12) << entry.name;
    }
  }
}

TEST(RunStudy, VariesSeedsOfSampledMethodsAndBaselines) {
  MemoryStore store;
  const Studied studied(testing::additive_toy());
  const Study study = run_in(store, studied, few());
  EXPECT_EQ(study.entries[0].variations.size(), 1U);
  ASSERT_EQ(study.entries[1].variations.size(), 2U);
  EXPECT_EQ(study.entries[1].variations[0].what, "seed");
  EXPECT_EQ(study.entries[1].variations[1].what, "reference");
  EXPECT_EQ(study.entries[1].variations[1].value, "a quarter");
  // By hand: occlusion from a quarter.
  const Subject subject = studied.subject();
  const ExplainTask task = explain_task_of(with_reference(subject, studied.others[0]));
  const Explanations direct = explain({"occlusion"}, task, {});
  const Spec complexity{"complexity"};
  EvaluateTask scoring{direct};
  EXPECT_EQ(study.entries[2].variations[0].mean[1], evaluate(complexity, scoring, {}, {}).mean);
}

// faithfulness:subset=1 of 3 players asks for 3 subsets of each row; explaining and the curve come on top.
TEST(RunStudy, CountsValuesThatAllEntriesShareForTheFirst) {
  MemoryStore store;
  const Studied studied(testing::linear_toy());
  const Study study = run_in(store, studied, few());
  EXPECT_EQ(study.entries[0].scores[0].evaluations, study.rows() * 3);
  for (size_t e = 1; e < study.entries.size(); e++) {
    EXPECT_EQ(study.entries[e].scores[0].evaluations, 0U) << study.entries[e].name;
    EXPECT_LE(study.entries[e].evaluations, study.entries[e].explanations.evaluations) << study.entries[e].name;
  }
  // The curve is of subsets of one, whose values are known, and of two: 3 more.
  EXPECT_EQ(study.entries[0].evaluations, study.entries[0].explanations.evaluations + study.rows() * (3 + 3));
}

TEST(RunStudy, KnowsWhatTheModelGivesForTheReference) {
  MemoryStore store;
  const Studied studied(testing::linear_toy());
  const Study study = run_in(store, studied, few());
  const ReferenceFacts& facts = study.facts.reference_facts;
  EXPECT_EQ(facts.rows, 1U);
  EXPECT_NEAR(facts.value, study.entries[2].explanations.base[0], 1e-6);
  Matrix outputs(studied.pool.rows(), 1);
  studied.setting.model->predict(studied.pool.x.view(), outputs.view(), {});
  double sum = 0;
  for (const float output : outputs.values()) sum += output;
  EXPECT_NEAR(facts.pool_value, sum / static_cast<double>(studied.pool.rows()), 1e-6);
}

TEST(PlanStudy, RefusesWhatIsNamedAndLeavesOutWhatIsNot) {
  // An And of thresholds has no gradient.
  auto black_box = model_from_function(two_columns("box", "it is a box"),
                                       [](MatrixView<const float> rows, MatrixView<float> outputs) {
                                         for (size_t r = 0; r < rows.rows(); r++)
                                           outputs.row(r)[0] = rows.row(r)[0] > 0 ? rows.row(r)[1] : 0;
                                       });
  testing::Toy toy = testing::product_toy();
  toy.model = std::move(black_box);
  const Studied studied(toy);
  const StudyPlan plan = plan_study(studied.subject(), {}, {});
  const auto left_out = [&](const std::string& name) {
    return std::ranges::find(plan.left_out, name, &LeftOut::name) != plan.left_out.end();
  };
  for (const char* name : {"gradient", "deeplift", "integrated_gradients", "smooth_grad"}) EXPECT_TRUE(left_out(name));
  for (const char* name : {"kernel_shap", "occlusion", "mean", "ava"}) EXPECT_FALSE(left_out(name));
  StudyOptions named;
  named.methods = {{"gradient"}};
  try {
    plan_study(studied.subject(), named, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("gradient"));
  }
  EXPECT_GT(plan.evaluations, 0U);
}

TEST(PlanStudy, RefusesTheSameThingTwiceAndUnknownMembers) {
  const Studied studied(testing::linear_toy());
  StudyOptions options = few();
  options.methods.push_back({"occlusion"});
  EXPECT_THROW(plan_study(studied.subject(), options, {}), Error);
  options = few();
  options.criteria.push_back({"complexity"});
  EXPECT_THROW(plan_study(studied.subject(), options, {}), Error);
  options = few();
  options.members = {"lime"};
  EXPECT_THROW(plan_study(studied.subject(), options, {}), Error);
}

TEST(RememberedModel, PredictsItsRowsOnceAndOthersAsTheyAre) {
  size_t calls = 0;
  const auto model =
      model_from_function(two_columns("sum"), [&](MatrixView<const float> rows, MatrixView<float> outputs) {
        calls++;
        for (size_t r = 0; r < rows.rows(); r++) outputs.row(r)[0] = rows.row(r)[0] + 10 * rows.row(r)[1];
      });
  const Matrix rows = testing::matrix_of({{1, 2}, {3, 4}, {5, 6}});
  const Matrix pool = testing::matrix_of({{7, 8}, {9, 1}});
  const RememberedModel remembered(*model, rows.view(), pool.view());
  const auto predicted = [&](MatrixView<const float> some) {
    Matrix out(some.rows(), 1);
    remembered.predict(some, out.view(), {});
    return std::vector<float>(out.values().begin(), out.values().end());
  };
  EXPECT_EQ(predicted(rows.view()), (std::vector<float>{21, 43, 65}));
  EXPECT_EQ(predicted(rows.view().rows_between(1, 3)), (std::vector<float>{43, 65}));
  EXPECT_EQ(calls, 1U);
  EXPECT_EQ(predicted(pool.view().rows_between(1, 2)), (std::vector<float>{19}));
  EXPECT_EQ(predicted(pool.view()), (std::vector<float>{87, 19}));
  EXPECT_EQ(calls, 2U);
  EXPECT_EQ(predicted(testing::matrix_of({{1, 2}}).view()), (std::vector<float>{21}));
  EXPECT_EQ(calls, 3U);
}

// Never backwards, never beyond the end, and all of it at the end.
TEST(StudyProgress, MovesForwardThroughStepsAndTasks) {
  class Recorder final : public Progress {
   public:
    void begin(std::string_view, uint64_t total) noexcept override { whole = total; }
    void advance(uint64_t amount) noexcept override { at += amount; }
    void end() noexcept override { ended = true; }
    uint64_t whole = 0;
    uint64_t at = 0;
    bool ended = false;
  };
  Recorder seen;
  {
    StudyProgress progress(&seen, 4);
    progress.step("a", 1);
    progress.begin("task", 10);
    progress.advance(10);
    EXPECT_EQ(seen.at, seen.whole / 8);  // half of a quarter
    progress.end();
    progress.begin("task", 2);
    progress.advance(2);
    EXPECT_EQ(seen.at, seen.whole * 3 / 16);
    progress.end();
    progress.step("b", 3);
    EXPECT_EQ(seen.at, seen.whole / 4);
    progress.begin("endless", 1);
    for (int i = 0; i < 100; i++) progress.advance(5);
    EXPECT_LE(seen.at, seen.whole);
  }
  EXPECT_TRUE(seen.ended);
}

}  // namespace
}  // namespace assay
