#include "assay/report/plan_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/report/small_report.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

StudyFacts facts() {
  StudyFacts made;
  made.title = "toy\non rows";
  made.data = "four.csv";
  made.rows_available = 4;
  made.pool = "2 of the 1,000 rows of pool.csv, in the classes' shares";
  made.pool_rows_available = 1000;
  made.players = "feature groups";
  return made;
}

StudyPlan plan() {
  StudyPlan made;
  made.entries = {{{"lime", {}}, "lime:samples=9", "lime", EntryKind::method, 1200, 0.25},
                  {{"gradient", {}}, "gradient", "gradient", EntryKind::method, 4, 1234567},
                  {{"mean", {}}, "mean", "mean", EntryKind::aggregate, 0, 0}};
  made.criteria = {{"faithfulness", {{"subset", "2"}}}};
  made.members = {0, 1};
  made.left_out = {{"method", "deeplift", "deeplift needs\ngradients"}};
  made.notes = {"a note"};
  made.evaluations = 123456;
  made.seconds = 12;
  return made;
}

TEST(PlanText, SaysWhatWillBeDone) {
  OwnedSubject subject = hostile_subject();
  subject.reference.description = "mean of pool.csv";
  EXPECT_EQ(plan_text(plan(), facts(), subject.get(), 1),
            "study of toy\\x0aon rows\n"
            "rows: 4 rows of four.csv; pool: 2 of the 1,000 rows of pool.csv, in the classes' shares\n"
            "explained: the probability of yes; 3 players (feature groups)\n"
            "reference: mean of pool.csv\n"
            "2 methods: lime:samples=9, gradient\n"
            "1 aggregate: mean\n"
            "  of lime and gradient\n"
            "1 criterion: faithfulness:subset=2\n"
            "left out: deeplift needs\\x0agradients\n"
            "note: a note\n"
            "finished before: 1 part of 3\n"
            "about 123,456 model evaluations, 12 s\n"
            "\n");
}

TEST(PlanText, SaysWhatTheModelGivesForTheReference) {
  OwnedSubject subject = hostile_subject();
  subject.reference.description = "100 rows of pool.csv";
  StudyFacts some = facts();
  some.reference_facts = {.rows = 100, .value = 0.28, .pool_value = 0.29};
  EXPECT_THAT(plan_text(plan(), some, subject.get()),
              HasSubstr("\nreference: 100 rows of pool.csv; the model gives 0.28 for them on average, 0.29 for the "
                        "pool\n"));
  some.reference_facts = {
      .rows = 1, .value = -2.63, .pool_value = -0.91, .probability = 0.067, .pool_probability = 0.286};
  EXPECT_THAT(plan_text(plan(), some, subject.get()),
              HasSubstr("; the model gives -2.63 (probability 0.067) for it, -0.91 (probability 0.286) for the pool on "
                        "average\n"));
}

TEST(PlanText, IsSummedUpInAFewLines) {
  OwnedSubject subject = hostile_subject();
  subject.reference.description = "mean\nrow";
  EXPECT_EQ(plan_summary(plan(), facts(), subject.get(), 1, {.notes = "--all prints them"}),
            "study of toy\\x0aon rows\n"
            "rows: 4 rows of four.csv; pool: 2 of the 1,000 rows of pool.csv, in the classes' shares\n"
            "reference: mean\\x0arow\n"
            "2 methods, 1 aggregate, 1 criterion: 12 s; finished before: 1 part; 1 note: --all prints them\n"
            "\n");
}

TEST(PlanText, SaysWhatWasLeftOutForTimeInTheWordsOfItsCaller) {
  OwnedSubject subject = hostile_subject();
  StudyPlan limited = plan();
  limited.options.seconds = 60;
  limited.given_up = {"1 method", "300 rows", "curves"};
  limited.full_seconds = 5000;
  const PlanWords words{.time = "--time", .fuller = "assay study x --time=4h", .pinned = "assay study x --sample=200"};
  EXPECT_THAT(
      plan_text(limited, facts(), subject.get(), 0, words),
      HasSubstr("\nleft out for time: 1 method, 300 rows and curves; all of it takes about 1.4 h: assay study x "
                "--time=4h\n"
                "the same study, whatever the clock says: assay study x --sample=200\n"
                "about 123,456 model evaluations, about 12 s of the minute that --time allows\n\n"));
  limited.options.seconds = 8;
  limited.given_up.clear();
  EXPECT_THAT(plan_text(limited, facts(), subject.get(), 0, {.time = "time"}),
              HasSubstr("note: a note\nabout 123,456 model evaluations, about 12 s, more than the 8 s that time "
                        "allows\n\n"));
  EXPECT_THAT(plan_text(limited, facts(), subject.get()), HasSubstr("about 123,456 model evaluations, 12 s\n\n"));
  limited.seconds = 0;
  EXPECT_THAT(plan_text(limited, facts(), subject.get()),
              HasSubstr("\nplanned before: what was chosen then is kept\n\n"));
}

TEST(PlanText, TimesToTypeAreEnoughForTwiceTheEstimate) {
  EXPECT_EQ(fuller_time(20), "1m");
  EXPECT_EQ(fuller_time(31), "2m");
  EXPECT_EQ(fuller_time(900), "30m");
  EXPECT_EQ(fuller_time(14400), "8h");
  EXPECT_EQ(fuller_time(14401), "none");
}

TEST(PlanText, LeavesOutWhatThereIsNot) {
  OwnedSubject subject = hostile_subject();
  subject.targets.predicted = true;
  StudyPlan small = plan();
  small.entries.pop_back();
  small.members.clear();
  small.criteria.push_back({"complexity", {}});
  const std::string text = plan_text(small, facts(), subject.get());
  EXPECT_THAT(text, HasSubstr("the probability of the predicted class;"));
  EXPECT_THAT(text, HasSubstr("2 criteria: faithfulness:subset=2, complexity\n"));
  EXPECT_THAT(text, Not(HasSubstr("aggregate")));
  EXPECT_THAT(text, Not(HasSubstr("finished before")));
}

TEST(PlanText, CostsAreATable) {
  EXPECT_EQ(plan_costs(plan()),
            "                model evaluations    seconds\n"
            "lime:samples=9              1,200       0.25\n"
            "gradient                        4  1,234,567\n"
            "mean                            0          0\n");
}

}  // namespace
}  // namespace assay::testing
