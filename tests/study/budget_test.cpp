#include "assay/study/budget.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "assay/core/random.h"
#include "tests/message.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;

TEST(StudyTime, WordsAreSeconds) {
  EXPECT_EQ(seconds_from("30s"), 30);
  EXPECT_EQ(seconds_from("2m"), 120);
  EXPECT_EQ(seconds_from("2min"), 120);
  EXPECT_EQ(seconds_from("1.5h"), 5400);
  EXPECT_EQ(seconds_from("90"), 90);
  EXPECT_EQ(seconds_from("none"), kNoTimeLimit);
  for (const char* word :
       {"", "s", "0", "0s", "-1", "-5m", "nan", "inf", "1d", "1 m", " 1", "5ss", "1e9h", "None", "auto"}) {
    EXPECT_EQ(
        sentence([&] { seconds_from(word); }),
        fmt::format("time: expected a time such as 30s, 2m or 1h, a number of seconds, or none, found '{}'", word));
  }
}

TEST(StudyTime, WordsAreReadBack) {
  EXPECT_EQ(seconds_word(60), "1m");
  EXPECT_EQ(seconds_word(90), "90s");
  EXPECT_EQ(seconds_word(7200), "2h");
  EXPECT_EQ(seconds_word(0.5), "0.5s");
  EXPECT_EQ(seconds_word(kNoTimeLimit), "none");
  for (const double seconds : {0.25, 2.0, 11.0, 60.0, 3600.0}) EXPECT_EQ(seconds_from(seconds_word(seconds)), seconds);
}

// Four methods of 1, 2, 4 and 8 ms a row, one aggregate of 1 ms, scoring 1 ms a row and entry, curves and variations 1
// ms each; 500 rows, no pool.
StudyCosts small_costs() {
  StudyCosts costs;
  for (const double each : {0.004, 0.001, 0.008, 0.002}) {
    costs.methods.push_back({.explaining = {0, each}, .other_seed = true});
  }
  costs.aggregates = {{.combining = {0, 0.001}}};
  costs.scoring = {0, 0.001};
  costs.curves = {0, 0.001};
  costs.varied = {0, 0.001};
  costs.rows = 500;
  return costs;
}

const BudgetFixed kFree = {.background = false};

TEST(StudyBudget, AddsUpWhatThePartsTake) {
  const StudyCosts costs = small_costs();
  // A row: methods 15 ms, once more 15 and scored 4 for variations; aggregate 1; five entries, scored and with
  // curves 2.
  const BudgetPlan full = full_plan(costs, {});
  EXPECT_NEAR(full.seconds, 500 * (0.015 + 0.019 + 0.001 + 0.010), 1e-9);
  BudgetPlan less = full;
  less.rows = 100;
  less.methods = {true, true, false, true};
  less.curves = less.variations = less.aggregates = false;
  EXPECT_NEAR(seconds_of(costs, less), 100 * (0.007 + 3 * 0.001), 1e-9);
}

TEST(StudyBudget, RowsOfThePoolCostWhatTheyTake) {
  StudyCosts costs = small_costs();
  costs.pool = 1000;
  costs.pool_drawn = 100;
  costs.pool_near = 700;
  costs.pool_farther = 900;
  EXPECT_NEAR(pool_rows_explained(costs, 500, false), 700, 1e-9);
  EXPECT_NEAR(pool_rows_explained(costs, 500, true), 900, 1e-9);
  // Of the other 900 a third is left by 500 rows, so its root by 250.
  EXPECT_NEAR(pool_rows_explained(costs, 250, false), 100 + 900 * (1 - std::sqrt(1.0 / 3)), 1e-9);
  EXPECT_NEAR(pool_rows_explained(costs, 0, true), 100, 1e-9);
  BudgetPlan full = full_plan(costs, {});
  EXPECT_NEAR(seconds_of_method(costs, full, 0), 0.004 * (500 + 500 + 900) + 0.001 * 500, 1e-9);
  EXPECT_NEAR(seconds_of_aggregate(costs, full, 0), 0.001 * (500 + 900), 1e-9);
  costs.aggregates[0].pool_free = true;
  EXPECT_NEAR(seconds_of_aggregate(costs, full, 0), 0.001 * 500, 1e-9);
  // Ten pool rows for a row: the 1,000 would be used up by 100 rows that share none.
  costs.aggregates[0].pool_of_row = 10;
  EXPECT_NEAR(seconds_of_aggregate(costs, full, 0), 0.001 * 100 * (1 - std::exp(-5)), 1e-9);
}

TEST(StudyBudget, HalfOfTheBackgroundIsHalfOfTheWork) {
  StudyCosts costs = small_costs();
  costs.background = 100;
  costs.methods[1].uses_reference = false;
  BudgetPlan plan = full_plan(costs, {});
  plan.curves = plan.variations = plan.aggregates = false;
  plan.background = 50;
  EXPECT_NEAR(seconds_of(costs, plan), 500 * (0.001 + 0.014 / 2 + 4 * 0.001 / 2), 1e-9);
}

// The mean row, beside a background of 100.
TEST(StudyBudget, AnotherReferenceCostsWhatItsRowsTake) {
  StudyCosts costs = small_costs();
  costs.background = 100;
  costs.other_references = 1;
  costs.other_background = 1;
  costs.shared = {0, 0.002};
  costs.shared_curves = {0, 0.003};
  costs.methods[1].uses_reference = false;
  const BudgetPlan full = full_plan(costs, {});
  EXPECT_NEAR(seconds_of_method(costs, full, 0), 500 * (0.004 * (2 + 0.01) + 2 * 0.001), 1e-9);
  EXPECT_NEAR(seconds_of_method(costs, full, 1), 500 * (0.001 * (2 + 1) + 2 * 0.001), 1e-9);
  BudgetPlan without = full;
  without.variations = false;
  double methods = 0;
  for (size_t i = 0; i < 4; i++) methods += seconds_of_method(costs, full, i) - seconds_of_method(costs, without, i);
  EXPECT_NEAR(seconds_of(costs, full) - seconds_of(costs, without), methods + 500 * 0.002 * 0.01, 1e-9);
  BudgetPlan plain = without;
  plain.curves = false;
  EXPECT_NEAR(seconds_of(costs, without) - seconds_of(costs, plain), 500 * (5 * 0.001 + 0.003), 1e-9);
}

TEST(StudyBudget, FewerSamplesBeforeAMethodGoes) {
  StudyCosts costs = small_costs();
  costs.aggregates.clear();
  costs.methods[2].of_samples = {1, 0.5, 0.25};
  // 50 rows without curves and variations take 0.95 s, with half of the samples 0.75, with a quarter 0.65.
  const BudgetPlan half = plan_within(costs, {}, kFree, 0.8);
  EXPECT_EQ(half.kept(), 4U);
  EXPECT_EQ(half.fewer_samples, 1U);
  EXPECT_EQ(half.rows, 50U);
  EXPECT_EQ(plan_within(costs, {}, kFree, 0.7).fewer_samples, 2U);
  EXPECT_EQ(plan_within(costs, {}, kFree, 0.6).kept(), 3U);
  EXPECT_EQ(plan_within(costs, {}, {.methods = true}, 0.7).fewer_samples, 0U);
}

// 8 ms a row with 100 background rows: 0.4 s for 50 rows, a third of 1.2 s. With 10 background rows it would fit.
TEST(StudyBudget, AMethodThatOthersEstimateGoesBeforeTheBackground) {
  StudyCosts costs = small_costs();
  costs.background = 100;
  costs.aggregates.clear();
  EXPECT_EQ(plan_within(costs, {}, kFree, 1.1).kept(), 4U);
  EXPECT_LT(plan_within(costs, {}, kFree, 0.9).background, 100U);
  costs.methods[2].estimated = true;
  const BudgetPlan plan = plan_within(costs, {}, kFree, 1.1);
  EXPECT_THAT(plan.methods, ElementsAre(true, true, false, true));
  EXPECT_EQ(plan.background, 100U);
  costs.methods[2].named = true;
  EXPECT_EQ(plan_within(costs, {}, kFree, 1.1).kept(), 4U);
  // Alone it stays, whatever it takes.
  costs.methods = {{.explaining = {0, 20}, .estimated = true}};
  EXPECT_EQ(plan_within(costs, {}, kFree, 1).kept(), 1U);
}

TEST(StudyBudget, ChoosingMembersTakesTimeToo) {
  StudyCosts costs = small_costs();
  costs.pool = 1000;
  const BudgetPlan full = full_plan(costs, {});
  EXPECT_EQ(seconds_of_choosing(costs, full), 0);
  costs.chooses_members = true;
  costs.shared = {0.5, 0.01};
  EXPECT_NEAR(seconds_of_choosing(costs, full), 0.5 + 60 * (0.01 + 0.015), 1e-9);  // 60 rows
  BudgetPlan without = full;
  without.aggregates = false;
  EXPECT_EQ(seconds_of_choosing(costs, without), 0);
}

TEST(StudyBudget, WhatFitsIsKeptWhole) {
  const StudyCosts costs = small_costs();
  const BudgetPlan plan = plan_within(costs, {}, kFree, 22.5);
  EXPECT_EQ(plan.rows, 500U);
  EXPECT_EQ(plan.kept(), 4U);
  EXPECT_TRUE(plan.curves && plan.variations && plan.aggregates);
}

// 45 ms a row in all; 26 without variations, 21 without curves.
TEST(StudyBudget, GivesUpRowsThenVariationsThenCurvesThenMore) {
  const StudyCosts costs = small_costs();
  const BudgetPlan fewer = plan_within(costs, {}, kFree, 20);
  EXPECT_EQ(fewer.rows, 440U);
  EXPECT_TRUE(fewer.variations && fewer.curves);
  const BudgetPlan without = plan_within(costs, {}, kFree, 6);
  EXPECT_EQ(without.rows, 200U);
  EXPECT_FALSE(without.variations);
  EXPECT_TRUE(without.curves);
  const BudgetPlan plain = plan_within(costs, {}, kFree, 2.3);
  EXPECT_EQ(plain.rows, 100U);
  EXPECT_FALSE(plain.curves);
  EXPECT_EQ(plain.kept(), 4U);
  // 0.4 s are a third of the time for 50 rows of the dearest: it goes, and what it leaves is for the rest.
  const BudgetPlan cheap = plan_within(costs, {}, kFree, 1.1);
  EXPECT_THAT(cheap.methods, ElementsAre(true, true, false, true));
  EXPECT_EQ(cheap.rows, 90U);
  const BudgetPlan last = plan_within(costs, {}, kFree, 0.001);
  EXPECT_THAT(last.methods, ElementsAre(false, true, false, false));
  EXPECT_EQ(last.rows, kFewestRows);
  EXPECT_FALSE(last.aggregates);
}

TEST(StudyBudget, AMethodThatCannotEndInTimeTakesNothingFromTheOthers) {
  StudyCosts costs = small_costs();
  costs.methods.push_back({.explaining = {0, 20}, .other_seed = true});  // a forest with 20 columns
  const BudgetPlan plan = plan_within(costs, {}, kFree, 60);
  EXPECT_THAT(plan.methods, ElementsAre(true, true, true, true, false));
  EXPECT_EQ(plan.rows, 500U);
  EXPECT_TRUE(plan.curves && plan.variations && plan.aggregates);
}

TEST(StudyBudget, NeitherDoesAnAggregate) {
  StudyCosts costs = small_costs();
  costs.aggregates.push_back({.combining = {0, 5}});
  const BudgetPlan plan = plan_within(costs, {}, kFree, 60);
  EXPECT_THAT(plan.combined, ElementsAre(true, false));
  EXPECT_EQ(plan.rows, 500U);
  EXPECT_EQ(plan.kept(), 4U);
  EXPECT_TRUE(plan.curves && plan.variations && plan.aggregates);
  EXPECT_THAT(plan_within(costs, {}, {.aggregates = true}, 60).combined, ElementsAre(true, true));
}

TEST(StudyBudget, WhatTheUserNamedIsKept) {
  StudyCosts costs = small_costs();
  const BudgetPlan rows = plan_within(costs, {}, {.rows = true}, 0.001);
  EXPECT_EQ(rows.rows, 500U);
  EXPECT_EQ(rows.kept(), 1U);
  const BudgetPlan methods = plan_within(costs, {}, {.methods = true, .aggregates = true}, 0.001);
  EXPECT_EQ(methods.kept(), 4U);
  EXPECT_TRUE(methods.aggregates);
  EXPECT_EQ(methods.rows, kFewestRows);
  costs.methods[2].named = true;
  const BudgetPlan member = plan_within(costs, {}, kFree, 0.001);
  EXPECT_THAT(member.methods, ElementsAre(false, false, true, false));
}

// Whether no part of `a` is smaller than that of `b`.
bool no_less(const BudgetPlan& a, const BudgetPlan& b) {
  return a.rows >= b.rows && a.background >= b.background && a.aggregates >= b.aggregates && a.curves >= b.curves &&
         a.variations >= b.variations;
}

TEST(StudyBudget, FitsOrIsTheLeastAndMoreTimeNeverMeansLess) {
  for (uint32_t trial = 0; trial < 300; trial++) {
    RandomStream draw(11, "costs of a study", 0, trial);
    const auto any = [&](double most) { return most * std::pow(draw.uniform(), 4); };
    StudyCosts costs;
    const size_t methods = 1 + static_cast<size_t>(draw.uniform() * 12);
    for (size_t i = 0; i < methods; i++) {
      const double share = draw.uniform() < 0.5 ? 1 : 0.5 + 0.5 * draw.uniform();
      costs.methods.push_back({.explaining = {any(0.2), any(2)},
                               .uses_reference = draw.uniform() < 0.7,
                               .other_seed = draw.uniform() < 0.5,
                               .of_samples = {1, share, share * share}});
    }
    for (size_t i = 0; i < 5; i++) costs.aggregates.push_back({.combining = {any(0.1), any(0.1)}});
    costs.preparing = any(1);
    costs.shared = {any(0.1), any(0.1)};
    costs.shared_curves = {any(0.1), any(0.1)};
    costs.other_references = 1;
    costs.other_background = 1;
    costs.chooses_members = draw.uniform() < 0.5;
    costs.scoring = {any(0.1), any(0.1)};
    costs.curves = {any(0.1), any(0.1)};
    costs.varied = {any(0.1), any(0.1)};
    costs.explained_again = 1;
    costs.rows = 5 + static_cast<size_t>(draw.uniform() * 600);
    costs.background = draw.uniform() < 0.5 ? 1 : 100;
    costs.pool = 2000;
    costs.pool_drawn = static_cast<size_t>(draw.uniform() * 500);
    costs.pool_near = costs.pool_drawn + static_cast<size_t>(draw.uniform() * 500);
    costs.pool_farther = costs.pool_near + static_cast<size_t>(draw.uniform() * 500);
    const BudgetPlan least = plan_within(costs, {}, kFree, 0);
    EXPECT_EQ(least.kept(), 1U);
    BudgetPlan before = least;
    for (double seconds = 0.01; seconds < 1e5; seconds *= 1.3) {
      const BudgetPlan plan = plan_within(costs, {}, kFree, seconds);
      EXPECT_NEAR(plan.seconds, seconds_of(costs, plan), 1e-9 * plan.seconds);
      const bool is_least = plan.kept() == 1 && plan.rows == least.rows && plan.methods == least.methods &&
                            plan.background == least.background;
      const double in_all = plan.seconds + seconds_of_choosing(costs, plan);
      EXPECT_TRUE(in_all <= seconds || is_least) << seconds << " s, trial " << trial;
      for (size_t i = 0; i < methods; i++) {
        EXPECT_TRUE(plan.combined != before.combined || plan.methods[i] >= before.methods[i]) << seconds;
      }
      const bool others = plan.methods != before.methods || plan.combined != before.combined;
      EXPECT_TRUE(others || no_less(plan, before)) << seconds << " s, trial " << trial;
      for (size_t i = 0; i < 5; i++) EXPECT_GE(plan.combined[i], before.combined[i]);
      EXPECT_EQ(plan_within(costs, {}, kFree, seconds).methods, plan.methods);
      before = plan;
    }
    EXPECT_EQ(plan_within(costs, {}, kFree, kNoTimeLimit).seconds, full_plan(costs, {}).seconds);
  }
}

TEST(StudyBudget, ASlowModelHasASmallerBackground) {
  EXPECT_EQ(background_for(1e-6, 10, 100, 60), 100U);  // 10,400 coalitions of 100 rows: 1 s
  EXPECT_EQ(background_for(1e-4, 10, 100, 60), 50U);   // 104 s, 52 s
  EXPECT_EQ(background_for(1e-4, 784, 100, 60), 10U);  // 41,360 coalitions: 414 s, 207 s, 103 s, 41 s
  EXPECT_EQ(background_for(1e-3, 10, 100, 60), 10U);
  EXPECT_EQ(background_for(1e-3, 10, 100, 6000), 100U);
  EXPECT_EQ(background_for(1, 10, 7, 60), 7U);
  EXPECT_EQ(background_for(1, 10, 30, 60), 10U);
}

}  // namespace
}  // namespace assay::testing
