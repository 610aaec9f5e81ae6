// Tables 2 to 4, on iris alone: the other sets are the user's files.
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
#include "assay/study/reproduce/paper_radii.h"
#include "assay/study/reproduce/protocol.h"
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
  ReproduceOptions quick_{.quick = true};
};

double ours(const Reproduction& made, const std::string& row, const std::string& column) {
  const auto found = std::ranges::find_if(
      made.replications, [&](const Replication& r) { return r.data == "iris" && r.row == row && r.column == column; });
  if (found == made.replications.end()) {
    ADD_FAILURE() << row << ", " << column;
    return NAN;
  }
  return found->ours;
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

// A small difference that is certain comes before a larger one that is not.
TEST(ReproducedRuns, ContradictionsSpeakFirst) {
  const std::vector<double> zeros = {0, 0, 0};
  const PairedRuns certain = compare_runs(zeros, std::vector<double>{0.1, 0.1, 0.1});
  const PairedRuns wide = compare_runs(zeros, std::vector<double>{-3, 1, 5});
  ASSERT_EQ(wide.above, Support::unclear);
  ASSERT_LT(wide.difference.mean, certain.difference.mean);
  EXPECT_TRUE(more_against(certain, wide));
  EXPECT_FALSE(more_against(wide, certain));
  const PairedRuns above = compare_runs(std::vector<double>{1, 1, 1}, zeros);
  EXPECT_TRUE(more_against(wide, above));
  EXPECT_FALSE(more_against(above, wide));
}

TEST(ReproducedRuns, SeveralClaimsHoldTogetherOnly) {
  using enum Support;
  EXPECT_EQ(all_of_them(std::vector{supported, supported}), supported);
  EXPECT_EQ(all_of_them(std::vector{supported, unclear}), unclear);
  EXPECT_EQ(all_of_them(std::vector{unclear, contradicted}), contradicted);
  EXPECT_EQ(all_of_them({}), unclear);
  EXPECT_EQ(opposite(supported), contradicted);
  EXPECT_EQ(opposite(contradicted), supported);
  EXPECT_EQ(opposite(unclear), unclear);
}

TEST(ReproducedRuns, FindingsByTheirEvidence) {
  using enum Support;
  const std::vector<Evidence> both = {{supported, "iris: 1"}, {supported, "adult: 2"}};
  EXPECT_EQ(make_finding("claim", both).status, FindingStatus::replicates);
  const std::vector<Evidence> half = {{supported, "iris: 1"}, {unclear, "adult: 2"}};
  const Finding open = make_finding("claim", half);
  EXPECT_EQ(open.status, FindingStatus::does_not_replicate);
  EXPECT_EQ(open.evidence, "Holds in 1 of 2 cases. iris: 1: holds; adult: 2: is not clear.");
  const std::vector<Evidence> against = {{contradicted, "iris: 1"}};
  EXPECT_EQ(make_finding("claim", against).status, FindingStatus::does_not_replicate);
  EXPECT_EQ(make_finding("claim", against).evidence, "iris: 1: does not hold.");
  EXPECT_EQ(make_finding("claim", {}).status, FindingStatus::cannot_be_tested);
  EXPECT_EQ(make_finding("claim", both).claim, "claim.");
  EXPECT_EQ(make_finding("claim.", both).claim, "claim.");
  std::vector<Finding> withheld = {make_finding("claim", both)};
  withhold_findings(withheld);
  EXPECT_EQ(withheld[0].status, FindingStatus::cannot_be_tested);
}

TEST(ReproducedRuns, CurvesThatRise) {
  const std::vector<double> low = {1, 1.1, 0.9};
  const std::vector<double> middle = {2, 2.1, 1.9};
  const std::vector<double> high = {3, 3.1, 2.9};
  using Points = std::vector<std::vector<double>>;
  EXPECT_EQ(rises_then_stays(Points{low, middle, high}), Support::supported);
  EXPECT_EQ(rises_then_stays(Points{low, high, middle, low}), Support::supported);  // it may fall afterwards
  EXPECT_EQ(rises_then_stays(Points{low, high, low, high}), Support::contradicted);
  EXPECT_EQ(rises_then_stays(Points{high, low, middle}), Support::contradicted);
  EXPECT_EQ(rises_then_stays(Points{low, low, high}), Support::unclear);
  EXPECT_EQ(rises_then_stays(Points{low}), Support::unclear);
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

TEST(ReproducedRuns, TableKeepsCellsInOrder) {
  RunTable table;
  for (const double run : {1.0, 2.0, 3.0}) {
    table.add({"SHAP", "b", 0.5, 0.1}, run, run / 4);
    table.add({"SHAP", "a", NAN, NAN, false}, 7);
    table.add({"AVA", "b"}, NAN, 0);
  }
  std::vector<Replication> out;
  table.append_to("iris", out);
  ASSERT_EQ(out.size(), 2U);  // one is for findings alone
  EXPECT_EQ(out[0].data + out[0].row + out[0].column, "irisSHAPb");
  EXPECT_EQ(out[0].paper, 0.5);
  EXPECT_EQ(out[0].paper_spread, 0.1);
  EXPECT_EQ(out[0].ours, 2);
  EXPECT_EQ(out[0].deviation, 1);
  EXPECT_EQ(out[0].runs, 3U);
  EXPECT_DOUBLE_EQ(out[0].coverage, 0.5);
  EXPECT_EQ(out[1].row, "AVA");
  EXPECT_EQ(out[1].runs, 0U);
  EXPECT_TRUE(std::isnan(out[1].ours));
  EXPECT_EQ(table.values("SHAP", "a").size(), 3U);
  EXPECT_TRUE(table.values("SHAP", "c").empty());
}

TEST(ReproducedRuns, RadiusOfFindingsNeedsCoverage) {
  RunTable table;
  table.add({"SHAP", sensitivity_column("avg", radius_words(0.2), false)}, 1, 0.4);
  table.add({"SHAP", sensitivity_column("avg", radius_words(2), false)}, 1, 0.6);
  EXPECT_EQ(sensitivity_column("max", "r = 2", true), "max sensitivity of D / rho, r = 2");
  EXPECT_EQ(judged_radius(table, "SHAP", 0.2), "r = auto");
  EXPECT_EQ(judged_radius(table, "SHAP", 2), "r = 2");
}

TEST_F(ReproduceIris, BenchIsTheSplitAsSaid) {
  Reproduction notes;
  const std::vector<BenchPlan> plans = bench_plans({}, notes);
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(notes.notes.size(), 4U);  // adult and three clinical sets
  const BenchSource source(plans[0], {}, context_);
  const auto bench = source.make(1, context_);
  const DirectRun direct(1);
  EXPECT_EQ(bench->subject.rows->rows(), 60U);
  EXPECT_EQ(bench->subject.pool->rows(), 90U);
  EXPECT_TRUE(std::ranges::equal(bench->subject.rows->x.values(), direct.test.x.values()));
  EXPECT_TRUE(std::ranges::equal(bench->subject.pool->x.values(), direct.pool.x.values()));
  EXPECT_EQ(bench->subject.targets.of_row, direct.targets.of_row);
  EXPECT_NEAR(bench->largest_class, 1.0 / 3, 1e-12);
  EXPECT_GT(bench->accuracy, 0.9);
  // Zero in raw units is as many deviations below the training mean as that is long.
  for (size_t j = 0; j < 4; j++) {
    RunningMoments moments;
    for (const size_t row : direct.split.train) moments.add(direct.raw.values(row, j));
    const double deviation = moments.standard_deviation() * std::sqrt(89.0 / 90);
    EXPECT_NEAR(bench->zero.rows(0, j), -moments.mean() / deviation, 1e-5) << j;
    EXPECT_NEAR(bench->mean.rows(0, j), 0, 1e-5) << j;
  }
  const auto other = source.make(0, context_);
  EXPECT_FALSE(std::ranges::equal(bench->subject.rows->x.values(), other->subject.rows->x.values()));
}

TEST_F(ReproduceIris, FaithfulnessIsThatOfDirectCalls) {
  const Reproduction made = reproduce_faithfulness(quick_, context_);
  double per_row = 0;
  double printed = 0;
  double gradient = 0;
  for (const size_t run : {0U, 1U}) {
    const DirectRun direct(run);
    per_row +=
        direct.scored("faithfulness:subset=2", direct.explained("kernel_shap", direct.zero), direct.zero).mean / 2;
    const Scores pooled = direct.scored("faithfulness:subset=2:form=pooled:runs=1",
                                        direct.explained("kernel_shap", direct.zero), direct.zero);
    printed -= pooled.values[0] / 2;
    gradient += direct.scored("faithfulness:subset=2", direct.explained("gradient", direct.mean), direct.mean).mean / 2;
  }
  EXPECT_NEAR(ours(made, "SHAP", "faithfulness per row, zero baseline, |S| = 2"), per_row, 1e-14);
  EXPECT_NEAR(ours(made, "SHAP", "faithfulness pooled, printed, zero baseline, |S| = 2"), printed, 1e-14);
  EXPECT_NEAR(ours(made, "Grad", "faithfulness per row, average baseline, |S| = 2"), gradient, 1e-14);
  const auto shap = std::ranges::find(made.replications, "SHAP", &Replication::row);
  EXPECT_DOUBLE_EQ(shap->paper, 0.67);
  ASSERT_EQ(made.notes.size(), 1U);
  EXPECT_EQ(made.notes[0], "adult (a sample) is left out: its files are not found");
  for (const Finding& finding : made.findings) EXPECT_EQ(finding.status, FindingStatus::cannot_be_tested);
}

TEST_F(ReproduceIris, SensitivityIsThatOfDirectCalls) {
  const Reproduction made = reproduce_sensitivity(quick_, context_);
  double most = 0;
  double divided = 0;
  for (const size_t run : {0U, 1U}) {
    const DirectRun direct(run);
    PoolExplanations of_pool(direct.pool_values("shapley_sampling"));
    const Explanations sampling = direct.explained("shapley_sampling", direct.mean);
    most += direct.scored("max_sensitivity:normalise=unit:radius=0.2", sampling, direct.mean, &of_pool).mean / 2;
    divided += direct
                   .scored("avg_sensitivity:normalise=unit:radius=auto:weighting=inverse_distance", sampling,
                           direct.mean, &of_pool)
                   .mean /
               2;
  }
  EXPECT_NEAR(ours(made, "SS", "max sensitivity, r = 0.2"), most, 1e-14);
  EXPECT_NEAR(ours(made, "SS", "avg sensitivity of D / rho, r = auto"), divided, 1e-14);
  const auto cell = std::ranges::find_if(
      made.replications, [](const Replication& r) { return r.row == "SS" && r.column == "max sensitivity, r = 0.2"; });
  EXPECT_DOUBLE_EQ(cell->paper, 0.477);
  EXPECT_LT(cell->coverage, 1);
}

TEST_F(ReproduceIris, AvaIsThatOfDirectCalls) {
  const Reproduction made = reproduce_ava(quick_, context_);
  double average = 0;
  double complexity = 0;
  double spread = 0;
  for (const size_t run : {0U, 1U}) {
    const DirectRun direct(run);
    const Spec method{"kernel_shap"};
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
    const Spec spec = parse_spec("test", "ava:k=10:class=query:method=kernel_shap");
    const Aggregate ava = aggregate(spec, task, direct.context);
    PoolExplanations of_pool = aggregate_of_pool(spec, task, ava);
    average +=
        direct.scored("avg_sensitivity:normalise=unit:radius=0.3", ava.explanations, direct.mean, &of_pool).mean / 2;
    const Scores entropy = direct.scored("complexity", ava.explanations, direct.mean);
    complexity += entropy.mean / 2;
    RunningMoments moments;
    for (const double value : entropy.values) moments.add(value);
    spread += moments.standard_deviation() / 2;
  }
  EXPECT_NEAR(ours(made, "AVA", "avg sensitivity, r = 0.3"), average, 1e-14);
  EXPECT_NEAR(ours(made, "AVA", "complexity"), complexity, 1e-14);
  EXPECT_NEAR(ours(made, "AVA", "deviation over rows of complexity"), spread, 1e-14);
}

TEST_F(ReproduceIris, SameBitsOnAnyThreads) {
  Context one = context_;
  one.threads = 1;
  for (const auto reproduce : {reproduce_faithfulness, reproduce_sensitivity, reproduce_ava}) {
    const Reproduction a = reproduce(quick_, one);
    const Reproduction b = reproduce(quick_, context_);
    ASSERT_EQ(a.replications.size(), b.replications.size());
    const auto bits = [](double value) { return std::bit_cast<uint64_t>(value); };
    for (size_t i = 0; i < a.replications.size(); i++) {
      const Replication& x = a.replications[i];
      const Replication& y = b.replications[i];
      EXPECT_EQ(bits(x.ours), bits(y.ours)) << x.row << ", " << x.column;
      EXPECT_EQ(bits(x.interval.low), bits(y.interval.low)) << x.row << ", " << x.column;
      EXPECT_EQ(bits(x.coverage), bits(y.coverage)) << x.row << ", " << x.column;
    }
    ASSERT_EQ(a.findings.size(), b.findings.size());
    for (size_t i = 0; i < a.findings.size(); i++) EXPECT_EQ(a.findings[i].evidence, b.findings[i].evidence);
  }
}

TEST_F(ReproduceIris, StopsWhenAsked) {
  const std::atomic<bool> cancelled = true;
  context_.cancelled = &cancelled;
  EXPECT_THROW(reproduce_ava(quick_, context_), Error);
}

}  // namespace
}  // namespace assay::testing
