// A study as a whole: what it says is what the stages say by themselves, and neither threads nor interruptions show.
#include "assay/study/run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <map>

#include "assay/aggregate/aggregators.h"
#include "assay/core/error.h"
#include "assay/core/random.h"
#include "assay/data/io/bytes.h"
#include "assay/evaluate/complexity.h"
#include "assay/explain/methods.h"
#include "assay/study/assess.h"
#include "assay/study/io/entry_json.h"
#include "assay/study/progress.h"
#include "assay/study/remembered_model.h"
#include "assay/study/tasks.h"
#include "tests/evaluate/trial.h"
#include "tests/explain/tree_toys.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Gone when the test ends.
class Folder {
 public:
  Folder() {
    static std::atomic<int> count = 0;
    path_ = fs::temp_directory_path() / fmt::format("assay-study-test-{}-{}", ::getpid(), count++);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

Matrix random_rows(size_t rows, size_t columns, uint64_t stream) {
  Matrix made(rows, columns);
  for (size_t r = 0; r < rows; r++) {
    RandomStream draw(7, "rows of a study", stream, r);
    for (float& each : made.row(r)) each = static_cast<float>(draw.uniform() * 4 - 2);
  }
  return made;
}

// Everything that a subject refers to.
struct Studied {
  testing::Setting setting;
  Dataset data;
  Dataset pool;
  Targets pool_targets;
  std::vector<Reference> others;

  explicit Studied(const testing::Toy& toy, size_t rows = 6, size_t pool_rows = 40) {
    const size_t columns = toy.rows[0].size();
    setting = testing::setting_of(toy.model, random_rows(rows, columns, 0), testing::matrix_of({toy.reference}));
    data = testing::dataset_of(random_rows(rows, columns, 0));
    pool = testing::dataset_of(random_rows(pool_rows, columns, 1));
    pool_targets = freeze_targets(*toy.model, pool.x.view(), {}, {});
    Reference other;
    other.rows = Matrix(1, columns);
    std::ranges::fill(other.rows.values(), 0.25F);
    other.description = "a quarter";
    others.push_back(std::move(other));
  }

  StudySubject subject() const {
    return {.model = *setting.model,
            .data = data,
            .pool = pool,
            .players = setting.players,
            .reference = setting.reference,
            .targets = setting.targets,
            .pool_targets = pool_targets,
            .others = others};
  }
};

StudyOptions few() {
  StudyOptions options;
  options.methods = {{"gradient_x_input"}, {"kernel_shap", {{"samples", "64"}}}, {"occlusion"}};
  options.aggregators = {{"mean"}, {"region_shrinking"}, {"ava", {{"k", "3"}}}};
  options.criteria = {{"faithfulness", {{"subset", "1"}}}, {"max_sensitivity"}, {"avg_sensitivity"}, {"complexity"}};
  return options;
}

struct Made {
  Study study;
  StudyTimes times;
};

Made run_in(const std::string& folder, const Studied& studied, const StudyOptions& options,
            const Context& context = {}) {
  const StudySubject subject = studied.subject();
  const StudyPlan plan = plan_study(subject, options, context);
  Made made;
  made.study = run_study(subject, plan, {}, StudyStore(folder), made.times, context);
  return made;
}

std::string file_text(const std::string& path) { return read_all(*open_bytes(path)); }

// Every file of the folder, by name.
std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& item : fs::recursive_directory_iterator(folder)) {
    if (item.is_regular_file()) files[fs::relative(item.path(), folder).string()] = file_text(item.path().string());
  }
  return files;
}

TEST(RunStudy, SaysWhatTheStagesSayByThemselves) {
  const Folder folder;
  const Studied studied(testing::linear_toy());
  const Study study = run_in(folder.path(), studied, few()).study;
  ASSERT_EQ(study.entries.size(), 6U);
  EXPECT_EQ(study.entries[1].name, "kernel_shap:samples=64");
  EXPECT_EQ(study.entries[1].stem, "kernel_shap-samples-64");
  EXPECT_EQ(study.criteria[0], "faithfulness:subset=1");

  const Spec method{"occlusion"};
  const StudySubject subject = studied.subject();
  const Explanations direct = explain(method, explain_task_of(subject), {});
  EXPECT_TRUE(std::ranges::equal(direct.values.values(), study.entries[2].explanations.values.values()));
  PoolExplanations pool = pool_explanations_by(subject, method, 0);
  const EvaluateTask task = evaluate_task_of(subject, direct, subject.reference, &method, &pool);
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
  const Folder folder;
  const Studied studied(testing::linear_toy());
  const Study study = run_in(folder.path(), studied, few()).study;
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

TEST(RunStudy, GivesTheSameFilesOnAnyNumberOfThreads) {
  const Studied studied(testing::additive_toy());
  std::vector<std::map<std::string, std::string>> files;
  for (const unsigned threads : {1U, 2U, 7U}) {
    const Folder folder;
    Context context;
    context.threads = threads;
    run_in(folder.path(), studied, few(), context);
    files.push_back(files_of(folder.path()));
  }
  EXPECT_EQ(files[0].size(), 6U * 2 + 3);  // explanations and scores of all, the pool of methods
  EXPECT_EQ(files[0], files[1]);
  EXPECT_EQ(files[0], files[2]);
}

// Cancels after so many looks at whether it is cancelled: some moment within the work.
TEST(RunStudy, GoesOnToTheSameFilesWhereverItWasStopped) {
  const Studied studied(testing::product_toy());
  const Folder whole;
  run_in(whole.path(), studied, few());
  const auto expected = files_of(whole.path());

  class StopLater final : public Progress {
   public:
    StopLater(std::atomic<bool>& stop, int steps) : stop_(stop), left_(steps) {}
    void begin(std::string_view, uint64_t) noexcept override {}
    void rename(std::string_view) noexcept override {
      if (--left_ <= 0) stop_ = true;
    }
    void advance(uint64_t) noexcept override {}
    void end() noexcept override {}

   private:
    std::atomic<bool>& stop_;
    int left_;
  };
  size_t stopped = 0;
  for (int steps = 1; steps <= 6; steps++) {
    const Folder folder;
    std::atomic<bool> stop = false;
    StopLater progress(stop, steps);
    Context context;
    context.progress = &progress;
    context.cancelled = &stop;
    try {
      run_in(folder.path(), studied, few(), context);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::cancelled);
      stopped++;
    }
    EXPECT_LT(files_of(folder.path()).size(), expected.size());
    const Made resumed = run_in(folder.path(), studied, few());
    EXPECT_EQ(files_of(folder.path()), expected) << "stopped in step " << steps;
    // What was there was not made again: it has no time.
    const auto old =
        std::ranges::count_if(resumed.times.entries, [](const EntryTimes& t) { return std::isnan(t.scoring); });
    EXPECT_EQ(old, steps - 1);
  }
  EXPECT_EQ(stopped, 6U);
}

// Another machine rounds differently. Its attributions are made anew, and what follows from attributions is made from
// the recorded ones, so that it can be held against what was recorded.
TEST(RunStudy, ChecksEachPartFromTheRecordedOnesThatItFollowsFrom) {
  const Studied studied(testing::linear_toy());
  const Folder recorded;
  run_in(recorded.path(), studied, few());
  const auto before = files_of(recorded.path());
  const std::string path = recorded.path() + "/explanations/occlusion.npz";
  const Explanations made = read_explanations(path, {});
  const auto checked = [&](float amount, const std::string& into) {
    Explanations other = made;
    other.values(0, 0) += amount;
    write_explanations(other, path, {});
    const StudySubject subject = studied.subject();
    const StudyStore from(recorded.path());
    StudyTimes times;
    return run_study(subject, plan_study(subject, few(), {}), {}, StudyStore(into), times, {}, &from);
  };

  const Folder near;
  const float amount = 1e-5F * std::abs(made.values(0, 0));  // the tolerance is 1e-5 of this and of more
  const Study study = checked(amount, near.path());
  auto files = files_of(near.path());
  EXPECT_EQ(files["explanations/occlusion.npz"], before.at("explanations/occlusion.npz"));
  EXPECT_EQ(files["pool/occlusion.npz"], before.at("pool/occlusion.npz"));
  EXPECT_EQ(files["scores/kernel_shap-samples-64.json"], before.at("scores/kernel_shap-samples-64.json"));
  const Explanations& used = study.entries[2].explanations;
  EXPECT_NE(used.values(0, 0), made.values(0, 0));
  const StudyEntry scored = entry_from_json("occlusion", files["scores/occlusion.json"]);
  EXPECT_EQ(scored.scores[3].values[0], complexity(used.values.row(0))) << "of the recorded attributions";
  EXPECT_NE(scored.scores[3].values[0], complexity(made.values.row(0)));
  EXPECT_NE(files["explanations/mean.npz"], before.at("explanations/mean.npz")) << "of the recorded members";
  EXPECT_EQ(study.entries[2].scores[3].values[0], complexity(made.values.row(0))) << "the study is the recorded one";

  // What is not the same but for rounding is not made anything from.
  const Folder far;
  checked(1, far.path());
  EXPECT_EQ(files_of(far.path()), before);
}

TEST(RunStudy, RefusesPartsOfAnotherStudy) {
  const Folder folder;
  const Studied studied(testing::linear_toy());
  run_in(folder.path(), studied, few());
  StudyOptions other = few();
  other.criteria.pop_back();
  try {
    run_in(folder.path(), studied, other);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("expected 3 criteria"));
    EXPECT_THAT(error.what(), HasSubstr("found 4"));
  }
}

TEST(RunStudy, ScoresEveryMethodAndAggregatorOnEveryToy) {
  std::vector<testing::Toy> toys = testing::all_toys();
  std::ranges::move(testing::tree_toys(), std::back_inserter(toys));
  for (const testing::Toy& toy : toys) {
    SCOPED_TRACE(toy.name);
    const Folder folder;
    const Studied studied(toy);
    const Study study = run_in(folder.path(), studied, {}).study;
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
  const Folder folder;
  const Studied studied(testing::additive_toy(), 12, 80);
  const Study study = run_in(folder.path(), studied, few()).study;
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
    if (!std::isnan(own)) EXPECT_NEAR(subsets.mean[0], own, 1e-12) << entry.name;
  }
}

TEST(RunStudy, VariesSeedsOfSampledMethodsAndBaselines) {
  const Folder folder;
  const Studied studied(testing::additive_toy());
  const Study study = run_in(folder.path(), studied, few()).study;
  EXPECT_EQ(study.entries[0].variations.size(), 1U);
  ASSERT_EQ(study.entries[1].variations.size(), 2U);
  EXPECT_EQ(study.entries[1].variations[0].what, "seed");
  EXPECT_EQ(study.entries[1].variations[1].value, "a quarter");
  // By hand: occlusion from a quarter.
  const StudySubject subject = studied.subject();
  const ExplainTask task{subject.model, subject.data.x.view(), subject.targets, studied.others[0], subject.players};
  const Explanations direct = explain({"occlusion"}, task, {});
  const Spec complexity{"complexity"};
  EvaluateTask scoring{direct};
  EXPECT_EQ(study.entries[2].variations[0].mean[1], evaluate(complexity, scoring, {}, {}).mean);
}

TEST(PlanStudy, RefusesWhatIsNamedAndLeavesOutWhatIsNot) {
  // An And of thresholds has no gradient.
  auto black_box = model_from_function(
      {.name = "box", .feature_names = {"a", "b"}, .output_names = {"y"}, .no_gradient = "it is a box"},
      [](MatrixView<const float> rows, MatrixView<float> outputs) {
        for (size_t r = 0; r < rows.rows(); r++) outputs.row(r)[0] = rows.row(r)[0] > 0 ? rows.row(r)[1] : 0;
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
  const auto model = model_from_function({.name = "sum", .feature_names = {"a", "b"}, .output_names = {"y"}},
                                         [&](MatrixView<const float> rows, MatrixView<float> outputs) {
                                           calls++;
                                           for (size_t r = 0; r < rows.rows(); r++)
                                             outputs.row(r)[0] = rows.row(r)[0] + 10 * rows.row(r)[1];
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
