#include "assay/core/rounding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay {
namespace {

TEST(Rounding, NumbersAgreeWithinTheTolerance) {
  EXPECT_TRUE(RoundingCheck::agree(1, 1.25, 0.25));
  EXPECT_FALSE(RoundingCheck::agree(1, 1.25, 0.2));
  EXPECT_TRUE(RoundingCheck::agree(NAN, NAN, 0));
  EXPECT_FALSE(RoundingCheck::agree(NAN, 1, 1e9)) << "undefined is not a number that is far off";
  EXPECT_FALSE(RoundingCheck::agree(1, NAN, 1e9));
  EXPECT_TRUE(RoundingCheck::agree(INFINITY, INFINITY, 0));
  EXPECT_FALSE(RoundingCheck::agree(INFINITY, -INFINITY, 1e9));
  EXPECT_FALSE(RoundingCheck::agree(INFINITY, 1, 1e9));
  // A scale that is no number makes no tolerance.
  EXPECT_FALSE(RoundingCheck::agree(1, 2, NAN));
}

TEST(Rounding, TheFirstDifferenceIsKept) {
  RoundingCheck check;
  EXPECT_TRUE(check.numbers("a", 2, 2.25, 0.5));
  EXPECT_EQ(check.most(), 0.5) << "0.25 of 0.5";
  EXPECT_TRUE(check.passed());
  EXPECT_FALSE(check.numbers("the gap of row 3", 2, 3, 0.5));
  EXPECT_FALSE(check.numbers("b", 2, 4, 0.5));
  EXPECT_EQ(check.difference(), "the gap of row 3: recorded 2, found 3, which may be 0.5 apart");
  RoundingCheck words;
  words.words("the unit", "margin", "margin");
  EXPECT_TRUE(words.passed());
  words.words("the unit", "margin", "value");
  EXPECT_EQ(words.difference(), "the unit: recorded 'margin', found 'value'");
}

TEST(Rounding, SentencesMayHaveNumbersThatArePrintedDifferently) {
  EXPECT_TRUE(
      same_sentence("a gap above 1e-3 in 3 rows, at most 0.00123", "a gap above 1e-3 in 3 rows, at most 0.00124"));
  EXPECT_FALSE(same_sentence("a gap above 1e-3 in 3 rows", "a gap above 1e-3 in 4 rows"));
  EXPECT_FALSE(same_sentence("radius 0.5", "radius 0.6"));
  EXPECT_FALSE(same_sentence("1000 rows", "1001 rows"));
  EXPECT_FALSE(same_sentence("radius 0.5", "radius 5e-1x"));
  EXPECT_TRUE(same_sentence("radius 0.5", "radius 5e-1"));
  EXPECT_FALSE(same_sentence("no number", "no number 1"));
  EXPECT_FALSE(same_sentence("3 rows", "3 columns"));
  EXPECT_TRUE(same_sentence("", ""));
}

}  // namespace
}  // namespace assay
