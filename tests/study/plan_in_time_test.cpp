// What plan_study chooses under a time limit, and that recorded choices are taken as they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "assay/model/model.h"
#include "assay/study/plan.h"
#include "tests/message.h"
#include "tests/study/studied.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;

// The toy as a function that takes this long for a row.
Toy slow_toy(std::chrono::microseconds row) {
  Toy toy = product_toy();
  ModelInfo info;
  info.name = "slow";
  info.feature_names = toy.model->info().feature_names;
  info.output_names = {"value"};
  info.unit = OutputUnit::value;
  toy.model = model_from_function(info, [row](MatrixView<const float> rows, MatrixView<float> outputs) {
    std::this_thread::sleep_for(row * rows.rows());
    for (size_t r = 0; r < rows.rows(); r++) outputs.row(r)[0] = rows.row(r)[0] * rows.row(r)[1];
  });
  return toy;
}

StudyOptions in_time(double seconds) {
  StudyOptions options;
  options.seconds = seconds;
  options.rows_named = false;
  return options;
}

std::vector<std::string> names_of(const StudyPlan& plan) {
  std::vector<std::string> names;
  for (const PlannedEntry& entry : plan.entries) names.push_back(entry.name);
  return names;
}

TEST(PlanInTime, WithoutALimitNothingIsChosen) {
  const Studied studied(product_toy());
  const StudyPlan plan = plan_study(studied.subject(), {}, {});
  // But for the members of aggregates, which depend on the pool and on no clock.
  ASSERT_EQ(plan.choices.made.size(), 1U);
  EXPECT_NE(plan.choices.find(kMembersChoice), nullptr);
  EXPECT_FALSE(plan.open_again);
  EXPECT_THAT(plan.given_up, IsEmpty());
  EXPECT_GT(plan.seconds, 0);
  EXPECT_EQ(plan.seconds, plan.full_seconds);
}

TEST(PlanInTime, WhatFitsIsTheSamePlanAndIsRecorded) {
  const Studied studied(product_toy());
  const StudyPlan all = plan_study(studied.subject(), {}, {});
  const StudyPlan plan = plan_study(studied.subject(), in_time(3600), {});
  EXPECT_EQ(names_of(plan), names_of(all));
  EXPECT_EQ(plan.left_out.size(), all.left_out.size());
  EXPECT_EQ(*plan.choices.find("time"), "1h");
  EXPECT_EQ(*plan.choices.find("sample"), "6");
  EXPECT_EQ(*plan.choices.find("curves"), "all");
  EXPECT_THAT(*plan.choices.find("methods"), HasSubstr("kernel_shap"));
  EXPECT_FALSE(plan.open_again);
}

// Which parts go depends on what the clock showed during the trials, so this asks only that something does, and that
// the record then decides alone. Which parts go at which costs is tested in budget_test.cpp, without a clock.
TEST(PlanInTime, WhatASlowModelGivesUpIsPinnedByTheRecord) {
  const Studied studied(slow_toy(std::chrono::microseconds(200)), 60, 20);
  const StudyPlan plan = plan_study(studied.subject(), in_time(1), {});
  EXPECT_THAT(plan.given_up, Not(IsEmpty()));
  EXPECT_LT(plan.seconds, plan.full_seconds);
  EXPECT_EQ(plan.open_again, std::stoul(*plan.choices.find("sample")) < 60);

  // What an hour would have allowed does not matter any more, nor what a microsecond would have.
  for (const double seconds : {3600.0, 1e-6}) {
    StudyOptions again = in_time(seconds);
    again.seconds_named = true;
    again.choices = plan.choices;
    const StudyPlan same = plan_study(studied.subject(), again, {}, {}, &plan);
    EXPECT_EQ(names_of(same), names_of(plan));
    // Members of aggregates are chosen last, once the rows are those of the study.
    for (const auto& [name, value] : plan.choices.made) {
      ASSERT_NE(same.choices.find(name), nullptr);
      EXPECT_EQ(*same.choices.find(name), value);
    }
    const bool aggregates = !plan.choices.is("aggregators", "none");
    EXPECT_EQ(same.choices.find(kMembersChoice) != nullptr, aggregates);
    const bool chosen_now = aggregates && plan.choices.find(kMembersChoice) == nullptr;
    EXPECT_EQ(same.choices.made.size(), plan.choices.made.size() + (chosen_now ? 1 : 0));
    EXPECT_EQ(same.options.curves, plan.options.curves);
    EXPECT_EQ(same.options.variations, plan.options.variations);
    EXPECT_EQ(same.seconds, plan.seconds);
    EXPECT_FALSE(same.open_again);
    ASSERT_EQ(same.left_out.size(), plan.left_out.size());
    for (size_t i = 0; i < plan.left_out.size(); i++) EXPECT_EQ(same.left_out[i].reason, plan.left_out[i].reason);
  }
}

TEST(PlanInTime, RecordedChoicesDecide) {
  const Studied studied(product_toy());
  StudyOptions options = in_time(60);
  options.choices.made = {{"time", "1m"},
                          {"methods", "occlusion,lime"},
                          {"aggregators", "none"},
                          {"curves", "none"},
                          {"variations", "none"}};
  const StudyPlan plan = plan_study(studied.subject(), options, {});
  EXPECT_THAT(names_of(plan), ::testing::UnorderedElementsAre("occlusion", "lime"));
  EXPECT_FALSE(plan.options.curves || plan.options.variations);
  EXPECT_EQ(plan.seconds, 0);
  const auto left_out = std::ranges::find(plan.left_out, "kernel_shap", &LeftOut::name);
  ASSERT_NE(left_out, plan.left_out.end());
  EXPECT_THAT(left_out->reason,
              MatchesRegex("kernel_shap takes [0-9]+ evaluations of the model for a row, more time than "
                           "is allowed: allow more, or name it among the methods, to have it"));
  options.choices.made = {{"time", "1m"}, {"aggregators", "mean,borda"}};
  const StudyPlan some = plan_study(studied.subject(), options, {});
  EXPECT_THAT(names_of(some), ::testing::IsSupersetOf({"mean", "borda", "kernel_shap"}));
  EXPECT_THAT(names_of(some), Not(::testing::Contains("median")));
  const auto median = std::ranges::find(some.left_out, "median", &LeftOut::name);
  ASSERT_NE(median, some.left_out.end());
  EXPECT_THAT(median->reason, HasSubstr("median takes more time than is allowed"));
  options.choices.made = {{"members", "occlusion,lime,kernel_shap"}};
  options.seconds = kNoTimeLimit;
  const StudyPlan members = plan_study(studied.subject(), options, {});
  EXPECT_EQ(members.members.size(), 3U);
}

TEST(PlanInTime, ALimitThatIsTooSmallIsOneSentenceIfTheUserSaidIt) {
  const Studied studied(slow_toy(std::chrono::microseconds(1000)), 30, 20);
  StudyOptions options = in_time(0.01);
  options.methods = {{"kernel_shap"}};
  EXPECT_GT(plan_study(studied.subject(), options, {}).seconds, 0.01);
  options.seconds_named = true;
  EXPECT_THAT(sentence([&] { plan_study(studied.subject(), options, {}); }),
              MatchesRegex("time: expected at least about [0-9]+ s for kernel_shap on 10 rows, found 0.01s"));
}

TEST(PlanInTime, ASmallerBackgroundIsAskedForBeforeASlowModelIsTried) {
  Studied studied(slow_toy(std::chrono::microseconds(1000)), 20, 100);
  studied.setting.reference.rows = studied.pool.x;
  StudyOptions options = in_time(60);
  options.background_named = false;
  const StudyPlan plan = plan_study(studied.subject(), options, {});
  EXPECT_TRUE(plan.open_again);
  EXPECT_EQ(plan.choices.made, (std::vector<std::pair<std::string, std::string>>{{"background", "10"}}));
}

}  // namespace
}  // namespace assay::testing
