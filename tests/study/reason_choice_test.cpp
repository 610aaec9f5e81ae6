#include "assay/study/reason_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/explain/toys.h"
#include "tests/message.h"
#include "tests/study/hand_study.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;

struct Kind {
  std::string name;
  std::vector<float> values;  // of the only row
  bool complete = true;
  Faithful faithful = Faithful::yes;
  EntryKind kind = EntryKind::method;
};

struct Judged {
  Study study;
  Advice advice;
};

Judged judged(const std::vector<Kind>& entries, size_t recommended) {
  Judged made;
  for (const Kind& each : entries) {
    StudyEntry& entry = add_entry(made.study, each.name, each.kind, {});
    entry.explanations.values = matrix_of({each.values});
    made.advice.entries.push_back(
        {.alias_of = made.advice.entries.size(), .faithful = each.faithful, .complete = each.complete});
  }
  if (recommended < entries.size()) made.advice.overall = Recommendation{.entry = recommended};
  return made;
}

TEST(ReasonChoice, IsTheRecommendedMethodIfItAddsUp) {
  const Judged made = judged({{"lime", {1, 0}}, {"exact_shapley", {0, 1}}}, 1);
  const ReasonChoice choice = choose_for_reasons(made.study, made.advice, "");
  EXPECT_EQ(choice.entry, 1U);
  EXPECT_EQ(choice.why, "reasons are by exact_shapley, which the study recommends");
  EXPECT_EQ(choose_for_reasons(made.study, made.advice, "lime").entry, 0U);
}

// Unit vectors: (1, 0) is recommended. (3, 1) is 0.32 from it, (1, 1) is 0.77; (9, 1) is nearer but not faithful, and
// (8, 1) does not add up.
TEST(ReasonChoice, IsElseTheNearestFaithfulMethodThatDoes) {
  const Judged made = judged({{"far", {1, 1}},
                              {"recommended", {5, 0}, false},
                              {"near", {3, 1}},
                              {"unfaithful", {9, 1}, true, Faithful::no},
                              {"relative", {8, 1}, false},
                              {"mean", {7, 0}, true, Faithful::yes, EntryKind::aggregate}},
                             1);
  const ReasonChoice choice = choose_for_reasons(made.study, made.advice, "");
  EXPECT_EQ(choice.entry, 2U);
  EXPECT_EQ(choice.why,
            "reasons are by near, the nearest faithful method that adds up: recommended, which the study recommends, "
            "does not add up to the prediction");
  Judged aggregate = made;
  aggregate.advice.overall->entry = 5;
  EXPECT_EQ(choose_for_reasons(aggregate.study, aggregate.advice, "").why,
            "reasons are by near, the nearest faithful method that adds up: mean, which the study recommends, is an "
            "aggregate");
  // Agreement counts those that are faithful and add up, once each.
  std::vector<float> firsts;
  for (const Explanations* each : faithful_methods(made.study, made.advice)) firsts.push_back(each->values(0, 0));
  EXPECT_THAT(firsts, ElementsAre(1, 3));
  Judged alias = made;
  alias.advice.entries[2].alias_of = 0;
  EXPECT_EQ(faithful_methods(alias.study, alias.advice).size(), 1U);
}

TEST(ReasonChoice, WithoutOneThatAddsUpIsTheRecommendedItself) {
  const Judged made = judged({{"occlusion", {1, 0}, false}}, 0);
  EXPECT_EQ(choose_for_reasons(made.study, made.advice, "").why,
            "reasons are by occlusion, which the study recommends and which does not add up to the prediction");
}

TEST(ReasonChoice, Refuses) {
  const Judged made = judged({{"lime", {1, 0}}, {"mean", {1, 0}, true, Faithful::yes, EntryKind::aggregate}}, 9);
  const auto refused = [](const Judged& from, const std::string& name) {
    return sentence([&] { choose_for_reasons(from.study, from.advice, name); });
  };
  EXPECT_EQ(refused(made, ""), "explanation: the study recommends none, so that one of its methods must be named");
  EXPECT_EQ(refused(made, "mean"),
            "explanation: expected a method, found the aggregate 'mean', which cannot be made again with another "
            "background");
  EXPECT_EQ(refused(made, "limee"), "explanation: expected lime, found 'limee' (did you mean 'lime'?)");
  const Judged only = judged({{"mean", {1, 0}, true, Faithful::yes, EntryKind::aggregate}}, 0);
  EXPECT_EQ(refused(only, ""),
            "explanation: the study recommends 'mean', an aggregate, and has no faithful method that adds up, so that "
            "one of its methods must be named");
}

}  // namespace
}  // namespace assay::testing
