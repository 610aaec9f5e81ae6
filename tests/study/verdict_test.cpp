#include "assay/study/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "assay/study/assess.h"
#include "tests/study/hand_study.h"

namespace assay::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Two entries of 40 rows, the first clearly better.
Study two_entries() {
  Study study = hand_study(40, {{"faithfulness", Direction::higher}});
  add_entry(study, "a", EntryKind::method, {around(0.9, 0.01, 40, 1)});
  add_entry(study, "b", EntryKind::method, {around(0.2, 0.01, 40, 2)});
  return study;
}

// A mean over few of the rows says over how many.
TEST(VerdictWords, SayOnHowManyRowsAMeanRests) {
  Study study = two_entries();
  EXPECT_THAT(assess(study).verdict[0], Not(HasSubstr("rows that have one")));
  Scores& scores = study.entries[0].scores[0];
  for (size_t r = 15; r < 40; r++) scores.values[r] = NAN;
  scores.coverage = 15.0 / 40;
  EXPECT_THAT(assess(study).verdict[0], HasSubstr(" on the 15 of 40 rows that have one"));
}

TEST(VerdictWords, ABackgroundThatIsTheWholePoolIsNotCalledSampled) {
  Study study = two_entries();
  study.facts.reference_facts.rows = 60;
  study.facts.pool_rows_available = 700;
  EXPECT_THAT(assess(study).verdict[0], HasSubstr("nothing but the background is sampled"));
  EXPECT_THAT(assess(study).warnings, Contains(HasSubstr("The background has 60 rows: ")));
  study.facts.pool_rows_available = 60;
  EXPECT_THAT(assess(study).verdict[0], HasSubstr("nothing in it is sampled"));
  EXPECT_THAT(assess(study).warnings, Contains(HasSubstr("The background is the whole pool of 60 rows: ")));
}

TEST(VerdictWords, RowsThatWereGivenAreNotTakenForThePool) {
  Study study = two_entries();
  study.facts.reference_facts.rows = 60;
  study.facts.pool_rows_available = 60;
  study.facts.inputs.push_back({"background", "mine.csv", std::string(64, 'a')});
  EXPECT_THAT(assess(study).warnings, Contains(HasSubstr("The background has the 60 rows that were given: ")));
  EXPECT_THAT(assess(study).warnings, Not(Contains(HasSubstr("the whole pool"))));
}

// The best of explanations that do not describe the model is not recommended either.
TEST(VerdictWords, WhereNothingDescribesTheModelNothingIsRecommended) {
  Study study = hand_study(40, {{"faithfulness", Direction::higher}, {"avg_sensitivity", Direction::lower}});
  add_entry(study, "a", EntryKind::method, {around(0.2, 0.01, 40, 1), around(1, 0.01, 40, 3)});
  add_entry(study, "b", EntryKind::method, {around(-0.1, 0.01, 40, 2), around(2, 0.01, 40, 4)});
  const Assessment found = assess(study);
  EXPECT_TRUE(found.advice.none_describes);
  EXPECT_FALSE(found.advice.overall || found.advice.faithfulness || found.advice.stability || found.advice.simplicity);
  EXPECT_TRUE(found.advice.drivers.empty());
  for (const EntryAdvice& entry : found.advice.entries) EXPECT_EQ(entry.faithful, Faithful::no);
  EXPECT_THAT(found.verdict, Contains(StartsWith("Nothing is recommended: none describes the model")));
  EXPECT_THAT(found.verdict, Not(Contains(StartsWith("Use "))));
}

TEST(VerdictWords, MarginsThatMoveTogetherAreWarnedOf) {
  Study moving = two_entries();
  moving.facts.reference_facts.common_share = 0.25;
  EXPECT_THAT(assess(moving).warnings,
              Contains(StartsWith("25 % of the variance of the explained margin is common to all classes")));
  for (const double share : {0.0, 0.09, static_cast<double>(NAN)}) {
    Study study = two_entries();
    study.facts.reference_facts.common_share = share;
    EXPECT_THAT(assess(study).warnings, Not(Contains(HasSubstr("common to all classes"))));
  }
}

TEST(VerdictWords, RowsThatAreRepeatedAreWarnedOf) {
  Study study = two_entries();
  study.facts.distinct_rows = 6;
  EXPECT_THAT(assess(study).warnings, Contains(StartsWith("Only 6 of the 40 rows are different: ")));
  study.facts.distinct_rows = 38;
  EXPECT_THAT(assess(study).warnings, Not(Contains(HasSubstr("are different"))));
}

TEST(VerdictWords, TwoFeaturesMakeFaithfulnessOneOrMinusOne) {
  Study study = two_entries();
  study.facts.features = {"a", "b"};
  EXPECT_THAT(assess(study).warnings, Contains(HasSubstr("With two features")));
  study.facts.features.emplace_back("c");
  EXPECT_THAT(assess(study).warnings, Not(Contains(HasSubstr("With two features"))));
}

TEST(VerdictWords, OfNumbers) {
  EXPECT_EQ(mean_with_error(0.93123, 0.0123), "0.931 +- 0.012");
  EXPECT_EQ(mean_with_error(0.93123, 0.0123, 1), "0.93 +- 0.01");
  EXPECT_EQ(mean_with_error(123.456, 34.5), "123 +- 34");
  EXPECT_EQ(mean_with_error(-0.0004, 0.12), "0.00 +- 0.12");
  EXPECT_EQ(mean_with_error(12345.6, 0.5), "12,346 +- 0.5");
  EXPECT_EQ(mean_with_error(1.5e-9, 2e-10), "1.5e-09 +- 2e-10");
  EXPECT_EQ(mean_with_error(0.5, 0), "0.5");
  EXPECT_EQ(mean_with_error(2.82519, 2.26e-17), "2.825");
  EXPECT_EQ(mean_with_error(2.5, 3e-6), "2.5 +- 3e-06");
  EXPECT_EQ(mean_with_error(0.5, NAN), "0.5");
  EXPECT_EQ(mean_with_error(NAN, NAN), "-");
  EXPECT_EQ(mean_with_error(INFINITY, NAN), "inf");
  EXPECT_EQ(whole_percent(0.9999), "99 %");
  EXPECT_EQ(whole_percent(0.0001), "1 %");
  EXPECT_EQ(whole_percent(1), "100 %");
  EXPECT_EQ(whole_percent(0.616), "62 %");
}

}  // namespace
}  // namespace assay::testing
