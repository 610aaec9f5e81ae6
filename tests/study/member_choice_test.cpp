#include "assay/study/member_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "assay/data/neighbours.h"
#include "assay/evaluate/criteria.h"
#include "assay/explain/methods.h"
#include "assay/study/plan.h"
#include "tests/study/studied.h"

namespace assay::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const Spec kTruth{"faithfulness"};
const std::vector<Spec> kTried = {{"gradient"}, {"occlusion"}, {"exact_shapley"}, {"gradient_x_input"}};

// Mean faithfulness on the whole pool, straight from the stages.
double on_the_pool(const Studied& studied, const Spec& method) {
  Subject rows = studied.subject();
  rows.rows = &studied.pool;
  rows.targets = &studied.pool_targets;
  const Explanations made = explain(method, rows, {});
  return evaluate(kTruth, {.explanations = made, .subject = rows}, {.draws = 0}, {}).mean;
}

// y = x1^2 + exp(x2) + |x3|: occlusion and Shapley values are the same, and are the truth; the gradient is not, and its
// product with the input is something else again.
TEST(MemberChoice, LeavesOutTheUnfaithfulAndTheSame) {
  const Studied studied(additive_toy(), 160, 40);
  const auto found = faithful_members(studied.subject(), kTried, kTruth, 0.05, {});
  ASSERT_FALSE(found.empty());
  const double first = on_the_pool(studied, kTried[0]);
  const double last = on_the_pool(studied, kTried[3]);
  ASSERT_LT(std::max(first, last), 0.9) << "both are far from 1, the faithfulness of the other two";
  ASSERT_NEAR(on_the_pool(studied, kTried[1]), 1, 1e-6);
  // One of the two that are the same; and the better of the others, since an aggregate needs two.
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(std::ranges::count(found, 1U) + std::ranges::count(found, 2U), 1);
  EXPECT_THAT(found, Contains(first > last ? 0U : 3U));
  EXPECT_TRUE(std::ranges::is_sorted(found));
}

TEST(MemberChoice, AWideMarginKeepsAllThatDiffer) {
  const Studied studied(additive_toy(), 6, 40);
  const auto found = faithful_members(studied.subject(), kTried, kTruth, 2, {});
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.size(), 3U);
  const std::vector<Spec> one = {{"occlusion"}};
  EXPECT_THAT(faithful_members(studied.subject(), one, kTruth, 0.05, {}), ElementsAre(0U));
}

TEST(MemberChoice, NeedsTenRowsOfThePoolThatAreNotStudied) {
  EXPECT_THAT(faithful_members(Studied(additive_toy(), 6, 10).subject(), kTried, kTruth, 0.05, {}), Not(IsEmpty()));
  EXPECT_THAT(faithful_members(Studied(additive_toy(), 6, 9).subject(), kTried, kTruth, 0.05, {}), IsEmpty());
  const Studied studied(additive_toy(), 2, 11);
  Subject subject = studied.subject();
  const std::vector<size_t> in_pool = {3, 7};
  subject.in_pool = in_pool;
  EXPECT_THAT(faithful_members(subject, kTried, kTruth, 0.05, {}), IsEmpty());
  subject.in_pool = {};
  subject.pool_targets = nullptr;
  EXPECT_THAT(faithful_members(subject, kTried, kTruth, 0.05, {}), IsEmpty());
  subject.pool = nullptr;
  EXPECT_THAT(faithful_members(subject, kTried, kTruth, 0.05, {}), IsEmpty());
}

// The first column of the pool is the number of the row, that of the reference -1: the model sees which rows are used.
TEST(MemberChoice, NeverLooksAtStudiedRows) {
  ModelInfo info;
  info.name = "watched";
  info.feature_names = {"row", "a", "b"};
  info.output_names = {"y"};
  auto seen = std::make_shared<std::set<float>>();
  auto lock = std::make_shared<std::mutex>();
  Toy toy;
  toy.model = model_from_function(info, [seen, lock](MatrixView<const float> rows, MatrixView<float> outputs) {
    const std::scoped_lock held(*lock);
    for (size_t r = 0; r < rows.rows(); r++) {
      seen->insert(rows(r, 0));
      outputs(r, 0) = 0.01F * rows(r, 0) + rows(r, 1) * rows(r, 2);
    }
  });
  toy.rows = {{0, 0, 0}};
  toy.reference = {-1, 0.5F, 0.25F};
  Studied studied(toy, 4, 200);
  for (size_t r = 0; r < 200; r++) studied.pool.x.row(r)[0] = static_cast<float>(r);
  Subject subject = studied.subject();
  const std::vector<size_t> in_pool = {1, 5, kNoRow, 150};
  subject.in_pool = in_pool;
  seen->clear();
  const std::vector<Spec> tried = {{"occlusion"}, {"exact_shapley"}};
  ASSERT_THAT(faithful_members(subject, tried, kTruth, 0.05, {}), Not(IsEmpty()));
  for (const size_t row : {1U, 5U, 150U}) EXPECT_FALSE(seen->contains(static_cast<float>(row)));
  seen->erase(-1);
  EXPECT_EQ(seen->size(), 10U) << "the least number of rows, for few are studied";
  EXPECT_LT(*seen->begin(), 20) << "spread over the whole pool";
  EXPECT_GT(*seen->rbegin(), 180);
}

// Methods that all say the same leave nothing to aggregate, whether the study is planned or replayed.
TEST(MemberChoice, OfOneMemberIsPlannedAsItIsReplayed) {
  const Studied studied(additive_toy(), 6, 40);
  StudyOptions options;
  options.methods = {{"exact_shapley"}, {"kernel_shap"}, {"occlusion"}};
  options.criteria = {kTruth};
  const StudyPlan plan = plan_study(studied.subject(), options, {});
  ASSERT_EQ(*plan.choices.find(kMembersChoice), "exact_shapley");
  EXPECT_THAT(plan.notes, Contains(HasSubstr("no aggregates: ")));
  options.choices = plan.choices;
  const StudyPlan again = plan_study(studied.subject(), options, {});
  const auto names = [](const StudyPlan& of) {
    std::vector<std::string> found;
    for (const PlannedEntry& entry : of.entries) found.push_back(entry.name);
    return found;
  };
  EXPECT_EQ(names(plan), names(again));
  EXPECT_THAT(names(plan), Not(Contains("mean")));
  EXPECT_EQ(plan.members, again.members);
  EXPECT_EQ(plan.notes, again.notes);
}

TEST(MemberChoice, AMethodOfThisVeryNameIsMeant) {
  const Studied studied(additive_toy(), 6, 40);
  StudyOptions options;
  options.methods = {{"occlusion"}, {"lime"}, {"lime", {{"samples", "18"}}}, {"kernel_shap", {{"samples", "64"}}}};
  options.criteria = {kTruth};
  options.choices.made = {{std::string(kMembersChoice), "occlusion,lime"}};
  EXPECT_THAT(plan_study(studied.subject(), options, {}).members, ElementsAre(0U, 1U));
  options.choices.made = {{std::string(kMembersChoice), "occlusion,kernel_shap"}};
  EXPECT_THAT(plan_study(studied.subject(), options, {}).members, ElementsAre(0U, 3U)) << "the only one of the method";
}

TEST(MemberChoice, IsWhatAPlanUsesUnlessToldOtherwise) {
  const Studied studied(additive_toy(), 6, 40);
  const Subject subject = studied.subject();
  StudyOptions options;
  options.methods = kTried;
  options.criteria = {kTruth};
  options.aggregators = {{"mean"}};
  const auto chosen = faithful_members(subject, kTried, kTruth, 0.05, {});
  StudyPlan plan = plan_study(subject, options, {});
  EXPECT_EQ(plan.members, chosen);
  EXPECT_THAT(plan.notes, Contains(HasSubstr("the most faithful methods on rows of the pool that are not studied")));
  options.members = {"gradient", "occlusion"};
  EXPECT_THAT(plan_study(subject, options, {}).members, ElementsAre(0U, 1U));
  options.members = {};
  options.paper_members = true;
  std::vector<size_t> of_paper;
  for (size_t m = 0; m < kTried.size(); m++) {
    if (find_method(kTried[m].name).of_paper) of_paper.push_back(m);
  }
  if (of_paper.size() < 3) of_paper = {0, 1, 2, 3};
  EXPECT_EQ(plan_study(subject, options, {}).members, of_paper);
  // Without faithfulness there is nothing to choose by.
  options.paper_members = false;
  options.criteria = {{"complexity"}};
  EXPECT_EQ(plan_study(subject, options, {}).members, of_paper);
}

}  // namespace
}  // namespace assay::testing
