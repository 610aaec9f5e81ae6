// Tables 2 to 4, on iris alone: the other sets are the user's files.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/core/error.h"
#include "assay/core/random.h"
#include "assay/data/datasets.h"
#include "assay/data/split.h"
#include "assay/model/engine_model.h"
#include "assay/model/train/recipe.h"
#include "assay/study/reproduce/bench.h"
#include "assay/study/reproduce/radii.h"
#include "assay/study/reproduce/runs.h"

namespace assay::testing {
namespace {

constexpr uint64_t kSeed = 5;

// Without the user's data sets, which other tests may want again.
class ReproduceIris : public ::testing::Test {
 protected:
  static constexpr std::array<const char*, 2> kPlaces = {"ASSAY_DATA", "XDG_CACHE_HOME"};
  void SetUp() override {
    for (const char* place : kPlaces) {
      const char* value = std::getenv(place);
      were_.push_back(value == nullptr ? std::nullopt : std::optional<std::string>(value));
      ::setenv(place, "/nonexistent/place", 1);
    }
  }
  void TearDown() override {
    for (size_t i = 0; i < kPlaces.size(); i++) {
      if (were_[i]) {
        ::setenv(kPlaces[i], were_[i]->c_str(), 1);
      } else {
        ::unsetenv(kPlaces[i]);
      }
    }
  }
  std::vector<std::optional<std::string>> were_;
  Context context_{.threads = 2, .seed = kSeed};
  static ReproduceOptions quick(PaperTable table) { return {.quick = true, .tables = {table}}; }
};

// The mean over runs of a cell of iris.
double ours(const Reproduction& made, PaperTable table, const std::string& row, const std::string& column) {
  const Cell* cell = made.results.find({"", std::string(table_name(table)), "iris", row, column});
  if (cell == nullptr) {
    ADD_FAILURE() << row << ", " << column;
    return NAN;
  }
  return summarise_runs(cell->values).mean;
}

// One run, by calls of the library alone.
struct DirectRun {
  explicit DirectRun(size_t run) {
    context.seed = RandomStream(kSeed, "reproduce", run).bits64();
    raw = load_dataset("iris");
    std::vector<float> labels;
    for (size_t i = 0; i < raw.rows(); i++) labels.push_back(raw.values(i, *raw.label));
    split = stratified_split(labels, 0.4, context.seed);
    const Table training = select_rows(raw, split.train);
    const Encoder encoder = Encoder::fit(training, {.scale = "standardise", .impute = "mean"});
    pool = encoder.apply(training);
    test = encoder.apply(select_rows(raw, split.test));
    Recipe recipe = table_recipe();
    recipe.mlp.hidden = {16};
    recipe.training.epochs = 200;
    recipe.training.batch = 16;
    model = EngineModel::from_onnx("iris", train_recipe(recipe, pool, &encoder, context).model);
    players = column_players(pool.feature_names);
    targets = freeze_targets(*model, test.x.view(), {.predicted = true}, context);
    pool_targets = freeze_targets(*model, pool.x.view(), {.predicted = true}, context);
    zero.rows = Matrix(1, 4);
    std::ranges::copy(encoder.zero_row(), zero.rows.row(0).begin());
    mean = named_baseline("mean", &pool, *model, &encoder, context);
  }

  Explanations explained(const std::string& method, const Reference& reference) const {
    return explain(parse_spec("test", method), {*model, test.x.view(), targets, reference, players}, context);
  }
  Matrix pool_values(const std::string& method) const {
    return explain(parse_spec("test", method), {*model, pool.x.view(), pool_targets, mean, players}, context).values;
  }
  Scores scored(const std::string& criterion, const Explanations& made, const Reference& reference,
                PoolExplanations* of_pool = nullptr) const {
    const EvaluateTask task{.explanations = made,
                            .subject = {.model = model.get(),
                                        .rows = &test,
                                        .players = &players,
                                        .targets = &targets,
                                        .reference = &reference,
                                        .pool = &pool},
                            .pool_explanations = of_pool};
    return evaluate(parse_spec("test", criterion), task, {}, context);
  }

  Context context;
  Table raw;
  RowSplit split;
  Dataset pool;
  Dataset test;
  std::unique_ptr<EngineModel> model;
  Players players;
  Targets targets;
  Targets pool_targets;
  Reference zero;
  Reference mean;
};

// With one degree of freedom the distribution is Cauchy's: t = tan(pi (p - 1/2)). With two: t = a sqrt(2 / (1 - a^2)),
// a = 2 p - 1.
TEST(ReproducedRuns, StudentsQuantiles) {
  EXPECT_NEAR(student_t_quantile(0.975, 1), std::tan(std::numbers::pi * 0.475), 1e-8);
  EXPECT_NEAR(student_t_quantile(0.975, 2), 0.95 * std::sqrt(2 / (1 - 0.95 * 0.95)), 1e-9);
  EXPECT_NEAR(student_t_quantile(0.975, 9), 2.2621571628, 1e-9);  // from tables
  EXPECT_NEAR(student_t_quantile(0.5, 3), 0, 1e-9);
}

// 1, 2, 3: mean 2, deviation sqrt((1 + 0 + 1) / 2) = 1, error 1 / sqrt 3, t(0.975; 2) = 4.302652730.
TEST(ReproducedRuns, SummaryByHand) {
  const RunSummary made = summarise_runs(std::vector<double>{1, NAN, 2, 3});
  EXPECT_EQ(made.runs, 3U);
  EXPECT_DOUBLE_EQ(made.mean, 2);
  EXPECT_DOUBLE_EQ(made.deviation, 1);
  EXPECT_NEAR(made.interval.low, 2 - 4.302652730 / std::sqrt(3.0), 1e-8);
  EXPECT_NEAR(made.interval.high, 2 + 4.302652730 / std::sqrt(3.0), 1e-8);
  const RunSummary single = summarise_runs(std::vector<double>{4});
  EXPECT_DOUBLE_EQ(single.mean, 4);
  EXPECT_TRUE(std::isnan(single.deviation) && std::isnan(single.interval.low) && std::isnan(single.interval.high));
  EXPECT_TRUE(std::isnan(summarise_runs({}).mean));
}

// Differences 3, 4, 5: 4 +- 4.3027 / sqrt 3 = 4 +- 2.48, all above 0. Differences 1, 2, 3: 2 +- 2.48 holds 0.
TEST(ReproducedRuns, ComparedWithinRuns) {
  const std::vector<double> base = {10, 20, 30};
  EXPECT_EQ(compare_runs(std::vector<double>{13, 24, 35}, base).above, Support::supported);
  EXPECT_EQ(compare_runs(base, std::vector<double>{13, 24, 35}).above, Support::contradicted);
  EXPECT_EQ(compare_runs(std::vector<double>{11, 22, 33}, base).above, Support::unclear);
  EXPECT_EQ(compare_runs(base, base).above, Support::unclear);
  // A tenth of the first: 0.4 +- 0.248.
  const std::vector<double> zeros = {0, 0, 0};
  EXPECT_EQ(compare_runs(std::vector<double>{0.3, 0.4, 0.5}, zeros).above, Support::supported);
  EXPECT_EQ(compare_runs(zeros, std::vector<double>{0.3, 0.4, 0.5}).above, Support::contradicted);
  EXPECT_EQ(compare_runs(std::vector<double>{1}, std::vector<double>{0}).above, Support::unclear);
  const PairedRuns partly = compare_runs(std::vector<double>{13, NAN, 24, 35}, std::vector<double>{10, 1, 20, 30});
  EXPECT_EQ(partly.difference.runs, 3U);
  EXPECT_EQ(partly.above, Support::supported);
}

// A contradiction comes before what is not clear, and that before what holds; of two that hold, the nearer to 0.
TEST(ReproducedRuns, ContradictionsSpeakFirst) {
  const std::vector<double> zeros = {0, 0, 0};
  const PairedRuns certain = compare_runs(zeros, std::vector<double>{0.1, 0.1, 0.1});
  const PairedRuns wide = compare_runs(zeros, std::vector<double>{-3, 1, 5});
  ASSERT_EQ(wide.above, Support::unclear);
  EXPECT_TRUE(more_against(certain, wide));
  EXPECT_FALSE(more_against(wide, certain));
  const PairedRuns near = compare_runs(std::vector<double>{0.3, 0.4, 0.5}, zeros);
  const PairedRuns far = compare_runs(std::vector<double>{3, 3.1, 2.9}, zeros);
  EXPECT_TRUE(more_against(wide, near));
  EXPECT_TRUE(more_against(near, far));
  EXPECT_FALSE(more_against(far, near));
}

TEST(ReproducedRuns, MeansOfSeriesRunByRun) {
  const std::vector<double> a = {1, 2, NAN};
  const std::vector<double> b = {3, 6, 1};
  const std::vector<double> made = mean_of_series(std::vector<std::span<const double>>{a, b});
  ASSERT_EQ(made.size(), 3U);
  EXPECT_EQ(made[0], 2);
  EXPECT_EQ(made[1], 4);
  EXPECT_TRUE(std::isnan(made[2]));
}

// 0.7, 0.8, 0.9: mean 0.8, deviation 0.1. With a test row for every four training rows the variance of the mean is
// 0.01 (1/3 + 1/4) in place of 0.01 / 3, and t(0.975; 2) = 4.302652730.
TEST(ReproducedRuns, IntervalOfSplitsThatShareRows) {
  const Interval found = resplit_interval(std::vector<double>{0.7, 0.8, 0.9}, 0.25);
  EXPECT_NEAR(found.low, 0.8 - 4.302652730 * 0.1 * std::sqrt(1.0 / 3 + 0.25), 1e-8);
  EXPECT_EQ(found.high, 1);  // an area is at most that
}

TEST(Results, KeepCellsInOrder) {
  Results results;
  for (const double run : {1.0, 2.0, 3.0}) {
    results.add({"", "ava", "iris", "SHAP", "b"}, run, run / 4);
    results.add({"", "ava", "iris", "SHAP", "a"}, 7);
    results.add({"norm=raw", "ava", "iris", "SHAP", "a"}, NAN);
  }
  ASSERT_EQ(results.cells().size(), 3U);
  EXPECT_EQ(results.cells()[0].values, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(results.cells()[0].coverages, (std::vector<double>{0.25, 0.5, 0.75}));
  EXPECT_EQ(results.find({"", "ava", "iris", "SHAP", "a"}), &results.cells()[1]);
  EXPECT_EQ(results.find({"", "ava", "iris", "AVA", "a"}), nullptr);
}

// Read off the paper.
TEST(PaperNumbers, AreThoseOfItsTables) {
  const auto value = [](const CellKey& key) { return paper_cell(key).value; };
  EXPECT_DOUBLE_EQ(value({"", "faithfulness", "adult", "SHAP", "zero, |S| = 2"}), 0.62);
  EXPECT_DOUBLE_EQ(value({"", "faithfulness", "iris", "DL", "average, |S| = 2"}), 0.48);
  EXPECT_DOUBLE_EQ(value({"", "faithfulness", "cinc2012", "DL", "zero, 10 of 17"}), 0.84);
  EXPECT_DOUBLE_EQ(value({"", "faithfulness", "cinc2019", "Grad", "average, 15 of 17"}), 0.63);
  EXPECT_DOUBLE_EQ(value({"", "sensitivity", "adult", "SS", "max at r"}), 0.191);
  EXPECT_DOUBLE_EQ(value({"", "sensitivity", "iris", "DL", "avg at r"}), 0.82);
  EXPECT_DOUBLE_EQ(value({"", "sensitivity", "cinc2012", "SHAP", "max at r"}), 0.006);
  EXPECT_DOUBLE_EQ(value({"", "ava", "adult", "AVA", "avg at r"}), 0.07);
  EXPECT_DOUBLE_EQ(value({"", "ava", "iris", "SHAP", "max at r"}), 1.2);
  EXPECT_DOUBLE_EQ(value({"", "ava", "cinc2012", "AVA", "complexity"}), 2.61);
  EXPECT_DOUBLE_EQ(paper_cell({"", "ava", "iris", "SHAP", "complexity"}).spread, 0.36);
  EXPECT_DOUBLE_EQ(value({"", "mnist", "mnist", "Region-Shrinking", "complexity"}), 3.208);
  EXPECT_DOUBLE_EQ(value({"", "networks", "adult (a sample)", "network", "accuracy"}), 0.82);
  for (const CellKey& none :
       {CellKey{"", "faithfulness", "adult", "SHAP", "zero, one"},
        CellKey{"", "sensitivity", "adult", "SHAP", "max at 1x"}, CellKey{"", "ava", "adult", "SHAP", "avg at 1x"},
        CellKey{"", "mnist", "mnist", "SHAP", "complexity"},
        CellKey{"", "sensitivity", "adult", "neighbourhoods", "radius of ten neighbours"}}) {
    EXPECT_TRUE(std::isnan(value(none))) << none.row << ", " << none.column;
  }
  EXPECT_EQ(paper_radius(PaperTable::sensitivity, "adult"), 2);
  EXPECT_EQ(paper_radius(PaperTable::sensitivity, "iris"), 0.2);
  EXPECT_EQ(paper_radius(PaperTable::ava, "cinc2012"), 10);
}

TEST_F(ReproduceIris, BenchIsTheSplitAsSaid) {
  std::vector<std::string> notes;
  const std::vector<BenchPlan> plans = bench_plans({}, notes);
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(notes.size(), 5U);  // adult and four clinical sets
  const BenchSource source(plans[0], {}, context_);
  const auto trained = source.train(1, "standardise", context_);
  const auto bench = make_bench(*trained, {}, PaperTable::sensitivity, 100, trained->context(context_));
  const DirectRun direct(1);
  EXPECT_EQ(bench->subject.rows->rows(), 60U);
  EXPECT_EQ(bench->subject.pool->rows(), 90U);
  EXPECT_TRUE(std::ranges::equal(bench->subject.rows->x.values(), direct.test.x.values()));
  EXPECT_TRUE(std::ranges::equal(bench->subject.pool->x.values(), direct.pool.x.values()));
  EXPECT_EQ(bench->subject.targets.of_row, direct.targets.of_row);
  EXPECT_NEAR(trained->largest_class, 1.0 / 3, 1e-12);
  EXPECT_GT(trained->accuracy, 0.9);
  EXPECT_GT(trained->auc, 0.95);
  // Zero in raw units is as many deviations below the training mean as that is long.
  for (size_t j = 0; j < 4; j++) {
    RunningMoments moments;
    for (const size_t row : direct.split.train) moments.add(direct.raw.values(row, j));
    const double deviation = moments.standard_deviation() * std::sqrt(89.0 / 90);
    EXPECT_NEAR(bench->zero.rows(0, j), -moments.mean() / deviation, 1e-5) << j;
    EXPECT_NEAR(bench->mean.rows(0, j), 0, 1e-5) << j;
  }
  const auto other = source.train(0, "standardise", context_);
  EXPECT_FALSE(std::ranges::equal(trained->test.x.values(), other->test.x.values()));
  const auto raw = source.train(1, "none", context_);
  EXPECT_EQ(raw->training.x(0, 0), direct.raw.values(direct.split.train[0], 0));
}

TEST_F(ReproduceIris, SetupsChangeWhatTheySay) {
  std::vector<std::string> notes;
  const BenchSource source(bench_plans({}, notes)[0], {}, context_);
  const auto trained = source.train(0, "standardise", context_);
  const auto bench_of = [&](const std::string& change, PaperTable table) {
    const auto setup = options_from<assay::Setup>(parse_spec("test", "setup:" + change));
    return make_bench(*trained, setup, table, 100, trained->context(context_));
  };
  EXPECT_EQ(bench_of("pool_rows=30", PaperTable::ava)->subject.pool->rows(), 30U);
  EXPECT_EQ(bench_of("value=probability", PaperTable::ava)->subject.model->info().unit, OutputUnit::probability);
  EXPECT_EQ(bench_of("value=margin", PaperTable::ava)->subject.model->info().unit, OutputUnit::margin);
  EXPECT_TRUE(bench_of("game=information", PaperTable::ava)->subject.targets.information);
  EXPECT_FALSE(bench_of("game=information", PaperTable::sensitivity)->subject.targets.information);
  const auto bench = bench_of("norm=raw", PaperTable::faithfulness);
  assay::Setup setup;
  EXPECT_EQ(&bench->explained_against(setup, &bench->zero), &bench->zero);
  EXPECT_EQ(&bench->explained_against(setup, nullptr), &bench->mean);
  setup.explain_baseline = "average";
  EXPECT_EQ(&bench->explained_against(setup, &bench->zero), &bench->mean);
  setup.explain_baseline = "zero";
  EXPECT_EQ(&bench->explained_against(setup, nullptr), &bench->zero);
  EXPECT_FALSE(assay::Setup().unit_norm(PaperTable::sensitivity));
  EXPECT_TRUE(assay::Setup().unit_norm(PaperTable::ava));
}

constexpr const char* kShapMethod = "kernel_shap:sampling=kernel:interactions=false";

TEST_F(ReproduceIris, FaithfulnessIsThatOfDirectCalls) {
  const Reproduction made = reproduce(quick(PaperTable::faithfulness), context_);
  ReproduceOptions by_definition = quick(PaperTable::faithfulness);
  by_definition.setup.form = "definition";
  const Reproduction other = reproduce(by_definition, context_);
  double per_row = 0;
  double printed = 0;
  for (const size_t run : {0U, 1U}) {
    const DirectRun direct(run);
    const Explanations shap = direct.explained(kShapMethod, direct.zero);
    const Scores pooled = direct.scored("faithfulness:subset=2:form=pooled:runs=10", shap, direct.zero);
    printed -= pooled.mean / 2;
    per_row += direct.scored("faithfulness:subset=2", direct.explained("gradient", direct.mean), direct.mean).mean / 2;
  }
  EXPECT_NEAR(ours(made, PaperTable::faithfulness, "SHAP", "zero, |S| = 2"), printed, 1e-14);
  EXPECT_NEAR(ours(other, PaperTable::faithfulness, "Grad", "average, |S| = 2"), per_row, 1e-14);
  EXPECT_EQ(made.notes, (std::vector<std::string>{"adult (a sample) is left out: its files are not found"}));
}

TEST_F(ReproduceIris, SensitivityIsThatOfDirectCalls) {
  const Reproduction made = reproduce(quick(PaperTable::sensitivity), context_);
  double most = 0;
  double average = 0;
  for (const size_t run : {0U, 1U}) {
    const DirectRun direct(run);
    const std::string method = "shapley_sampling:antithetic=false";
    PoolExplanations of_pool(direct.pool_values(method));
    const Explanations sampling = direct.explained(method, direct.mean);
    const std::string options = ":normalise=raw:space=raw:radius=";
    most += direct.scored("max_sensitivity" + options + "0.2", sampling, direct.mean, &of_pool).mean / 2;
    average += direct.scored("avg_sensitivity" + options + "auto", sampling, direct.mean, &of_pool).mean / 2;
  }
  EXPECT_NEAR(ours(made, PaperTable::sensitivity, "SS", "max at r"), most, 1e-14);
  EXPECT_NEAR(ours(made, PaperTable::sensitivity, "SS", "avg at 1x"), average, 1e-14);
  EXPECT_LT(made.results.find({"", "sensitivity", "iris", "SS", "max at r"})->coverages[0], 1);
  // The best weights are never worse than the best method, nor better than their own bound.
  const auto open = [&](const char* row) { return ours(made, PaperTable::sensitivity, row, "avg at 1x, unit norm"); };
  EXPECT_LE(open("convex weights"), open("best single method") + 1e-12);
  EXPECT_GE(open("convex weights"), open("certified bound of all weights"));
}

TEST_F(ReproduceIris, AvaIsThatOfDirectCalls) {
  const Reproduction made = reproduce(quick(PaperTable::ava), context_);
  double average = 0;
  double complexity = 0;
  double spread = 0;
  for (const size_t run : {0U, 1U}) {
    const DirectRun direct(run);
    const Spec method = parse_spec("test", kShapMethod);
    const AggregateTask task{.members = {},
                             .subject = {.model = direct.model.get(),
                                         .rows = &direct.test,
                                         .players = &direct.players,
                                         .targets = &direct.targets,
                                         .reference = &direct.mean,
                                         .pool = &direct.pool,
                                         .pool_targets = &direct.pool_targets},
                             .method = &method,
                             .method_seed = direct.context.seed};
    const Spec spec = parse_spec("test", fmt::format("ava:k=10:class=query:space=raw:method=[{}]", kShapMethod));
    const Aggregate ava = aggregate(spec, task, direct.context);
    PoolExplanations of_pool = aggregate_of_pool(spec, task, ava);
    average +=
        direct.scored("avg_sensitivity:normalise=unit:space=raw:radius=0.3", ava.explanations, direct.mean, &of_pool)
            .mean /
        2;
    const Scores entropy = direct.scored("complexity", ava.explanations, direct.mean);
    complexity += entropy.mean / 2;
    RunningMoments moments;
    for (const double value : entropy.values) moments.add(value);
    spread += moments.standard_deviation() / 2;
  }
  EXPECT_NEAR(ours(made, PaperTable::ava, "AVA", "avg at r"), average, 1e-14);
  EXPECT_NEAR(ours(made, PaperTable::ava, "AVA", "complexity"), complexity, 1e-14);
  EXPECT_NEAR(ours(made, PaperTable::ava, "AVA", "complexity, deviation over rows"), spread, 1e-14);
}

TEST_F(ReproduceIris, SameBitsOnAnyThreads) {
  ReproduceOptions all{
      .quick = true, .tables = {PaperTable::faithfulness, PaperTable::sensitivity, PaperTable::ava}, .variants = true};
  Context one = context_;
  one.threads = 1;
  const Reproduction a = reproduce(all, one);
  const Reproduction b = reproduce(all, context_);
  ASSERT_EQ(a.results.cells().size(), b.results.cells().size());
  const auto bits = [](double value) { return std::bit_cast<uint64_t>(value); };
  for (size_t i = 0; i < a.results.cells().size(); i++) {
    const Cell& x = a.results.cells()[i];
    const Cell& y = b.results.cells()[i];
    ASSERT_EQ(x.key, y.key);
    ASSERT_EQ(x.values.size(), y.values.size());
    for (size_t run = 0; run < x.values.size(); run++) {
      EXPECT_EQ(bits(x.values[run]), bits(y.values[run])) << x.key.variant << ", " << x.key.row << ", " << x.key.column;
    }
  }
  // Every variant of these tables was run, and changed some number.
  for (const Variant& variant : setup_variants()) {
    for (const PaperTable table : variant.tables) {
      if (variant.name.empty() || table == PaperTable::mnist) continue;
      size_t cells = 0;
      size_t changed = 0;
      for (const Cell& cell : a.results.cells()) {
        if (cell.key.variant != variant.name || cell.key.table != table_name(table)) continue;
        CellKey key = cell.key;
        key.variant.clear();
        const Cell* primary = a.results.find(key);
        if (primary == nullptr) continue;
        cells++;
        changed += primary->values != cell.values ? 1 : 0;
      }
      EXPECT_GT(cells, 0U) << variant.name;
      // Iris has three classes, of which only the predicted one is asked for, and a pool of 90 rows.
      const bool same = variant.name == "target=auto" || variant.name == "pool_rows=5000" ||
                        variant.name == "pool_rows=500" || variant.name == "pool_rows=100";
      EXPECT_TRUE(same || changed > 0) << variant.name;
    }
  }
}

TEST_F(ReproduceIris, StopsWhenAsked) {
  const std::atomic<bool> cancelled = true;
  context_.cancelled = &cancelled;
  EXPECT_THROW(reproduce(quick(PaperTable::ava), context_), Error);
}

}  // namespace
}  // namespace assay::testing
