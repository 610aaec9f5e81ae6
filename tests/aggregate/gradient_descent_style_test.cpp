#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/aggregate/complexity/guarantee.h"
#include "tests/aggregate/trial.h"

namespace assay::testing {
namespace {

const std::string kName = "gradient_descent_style";

// The paper's example: both members have entropy 0, their mean (-1/2, 1/2) the most there is, ln 2.
TEST(GradientDescentStyle, OfThePapersExampleHasEntropyZero) {
  MemberTrial trial = one_row({{-1, 0}, {0, 1}});
  for (const std::string options : {"", ":step=fixed"}) {
    const Made made = combined_by(kName, options, trial);
    EXPECT_EQ(complexity(made.values.row(0)), 0);
    EXPECT_EQ(made.values(0, 0), -1);
    EXPECT_EQ(made.values(0, 1), 0);
  }
}

// (0.6, 0.8) and (-0.6, 0.8) have the mean (0, 0.8): a walk sets the first player to 0 and reaches it.
TEST(GradientDescentStyle, ReachesASimplerMean) {
  MemberTrial trial = one_row({{3, 4}, {-3, 4}});
  for (const std::string options : {"", ":step=fixed", ":step=fixed:size=1000"}) {
    const Made made = combined_by(kName, options, trial);
    EXPECT_EQ(made.values(0, 0), 0) << options;
    EXPECT_FLOAT_EQ(made.values(0, 1), 0.8F) << options;
    EXPECT_TRUE(made.combined.weights.empty());
  }
}

// Unit members a = (1, 2, 2) / 3 and b = (-2, 2, 1) / 3; mean (-1/6, 2/3, 1/2). All walks in order of the players:
// a to mean: the first to 0 (2/3, 2/3; norm 4/3, ln 2 = 0.6931, from 1.0549), the others to (2/3, 1/2): the third
// falls,
//   p = (4/7, 3/7), H = 0.6829. The first on to -1/6: no.
// b to mean: the first to -1/6: sizes 1/6, 2/3, 1/3 (p = 1/7, 4/7, 2/7): H = 0.9557 from 1.0549; the third to 1/2:
// rises. mean to a: the first to 0, H = 0.6829; the third to 2/3: rises. The second is at its target. mean to b: H of
// the mean: sizes 1/6, 2/3, 1/2 (p = 1/8, 1/2, 3/8) 0.9743; the first to -2/3: rises; the third to 1/3:
//   0.9557.
TEST(GradientDescentStyle, TakesTheSimplestEndOfAllWalks) {
  MemberTrial trial = one_row({{1, 2, 2}, {-2, 2, 1}});
  const Made made = combined_by(kName, "", trial);
  EXPECT_EQ(made.values(0, 0), 0);
  EXPECT_FLOAT_EQ(made.values(0, 1), 2.0F / 3);
  EXPECT_FLOAT_EQ(made.values(0, 2), 0.5F);
  const double expected = -4.0 / 7 * std::log(4.0 / 7) - 3.0 / 7 * std::log(3.0 / 7);
  EXPECT_NEAR(made.combined.measures[0].values[0], expected, 1e-7);
}

// (2, -1) / sqrt 5, (2, 1) / sqrt 5 and (1, 0): walks from the first two reach their mean (0.93, 0), with entropy 0,
// but the third member has that too.
TEST(GradientDescentStyle, PrefersAMemberThatIsAsSimple) {
  MemberTrial trial = one_row({{2, -1}, {2, 1}, {1, 0}});
  const Made made = combined_by(kName, "", trial);
  EXPECT_EQ(made.values(0, 0), 1);
  EXPECT_EQ(made.values(0, 1), 0);
}

TEST(GradientDescentStyle, IsNeverMoreComplexThanAMember) {
  expect_simplest_always(kName, "", 0.05, 24);
  expect_simplest_always(kName, ":floor=0", 0);
  expect_simplest_always(kName, ":floor=1", 1);
  expect_simplest_always(kName, ":step=fixed", 0.05, 6, 2);
  expect_simplest_always(kName, ":step=fixed:size=5:floor=0.5", 0.5);
}

// One member is its own mean, and stays as it is, to the last bit.
TEST(GradientDescentStyle, LeavesASingleMemberAsItIs) {
  MemberTrial trial = random_members(1, 100, 7, 3);
  const Members members(trial.task(), true);
  const Made made = combined_by(kName, "", trial);
  for (size_t r = 0; r < 100; r++) EXPECT_TRUE(std::ranges::equal(made.values.row(r), members.of(0, r))) << r;
}

// Walks of members that are zero would end at the origin, and they would pull the mean towards it: (3, 4) / 5 and (-3,
// 4) / 5 as if there were no other.
TEST(GradientDescentStyle, ZeroMembersTakeNoPart) {
  MemberTrial trial = one_row({{0, 0}, {3, 4}, {0, 0}, {-3, 4}});
  const Made made = combined_by(kName, "", trial);
  EXPECT_EQ(made.values(0, 0), 0);
  EXPECT_FLOAT_EQ(made.values(0, 1), 0.8F);
}

// The finer the steps, the less halving them changes.
TEST(GradientDescentStyle, FixedStepsConverge) {
  MemberTrial trial = random_members(5, 200, 12, 21);
  const auto mean_complexity = [&](const std::string& options) {
    const Made made = combined_by(kName, options, trial);
    double sum = 0;
    size_t counted = 0;
    for (const double each : made.combined.measures[0].values) {
      if (std::isnan(each)) continue;
      sum += each;
      counted++;
    }
    return sum / static_cast<double>(counted);
  };
  const double finest = mean_complexity(":step=fixed:size=0.005");
  const double fine = mean_complexity(":step=fixed:size=0.01");
  const double coarse = mean_complexity(":step=fixed:size=1");
  EXPECT_LT(std::abs(fine - finest), 0.005);
  EXPECT_LT(std::abs(fine - finest), std::abs(coarse - finest));
}

TEST(GradientDescentStyle, SizesOutsideTheirRangeAreRefused) {
  for (const std::string options : {":size=0", ":floor=1.5", ":floor=-0.1", ":step=long"}) {
    EXPECT_ANY_THROW(make_aggregator(kName + options)) << options;
  }
}

TEST(GradientDescentStyle, BitsDoNotDependOnThreads) {
  MemberTrial trial = random_members(6, 150, 30, 8);
  expect_same_aggregate_on_threads(kName, "", trial);
  expect_same_aggregate_on_threads(kName, ":step=fixed", trial);
}

}  // namespace
}  // namespace assay::testing
