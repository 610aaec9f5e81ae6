#include <gtest/gtest.h>

#include "assay/evaluate/removal/class_score.h"
#include "tests/evaluate/removal/models.h"

namespace assay::testing {
namespace {

// z = 2 x0 - x1 + 0.5 x2, x = (1, 2, 4): class 1. Reference (0, 1, 1).
//   text, k = 1: player 0 joins the reference, 2 (1 - 0) = 2; k = 2: and player 2, 0.5 (4 - 1): 3.5
//   printed, k = 1: all but player 0 join: -(2 - 1) + 1.5 = 0.5; k = 3: none does: 0
TEST(Addition, IsTheGainOverTheReference) {
  Trial trial = removal_trial(one_output({2, -1, 0.5}), {{1, 2, 4}}, {{0, 1, 1}}, {{2, -1, 1.5F}});
  EXPECT_DOUBLE_EQ(scored("addition", ":k=1", trial).values[0], 2);
  EXPECT_DOUBLE_EQ(scored("addition", ":k=2", trial).values[0], 3.5);
  EXPECT_DOUBLE_EQ(scored("addition", ":k=1:form=printed", trial).values[0], 0.5);
  EXPECT_DOUBLE_EQ(scored("addition", ":k=3:form=printed", trial).values[0], 0);
  EXPECT_EQ(scored("addition", ":form=printed", trial).direction, Direction::lower);
  EXPECT_EQ(refusal_of("addition", ":k=4", trial), "needs k of at most the 3 players, and k is 4");
}

// For a softmax, in plain doubles, over a background of three rows: the class of each row stays that of the row.
TEST(Addition, OfASoftmaxIsWhatProbabilitiesSay) {
  RandomStream random(21, "addition_test");
  const Linear linear = random_linear(random, 5, 3);
  const auto rows = random_rows(random, 20, 5);
  const auto reference = random_rows(random, 3, 5);
  const auto phi = random_rows(random, 20, 5);
  Trial made = removal_trial(linear_model(linear, OutputUnit::margin), rows, reference, phi);
  const Scores text = scored("addition", ":k=2", made);
  const Scores printed = scored("addition", ":k=2:form=printed", made);
  EXPECT_EQ(text.evaluations, 20U + 3 + 60);
  for (size_t r = 0; r < rows.size(); r++) {
    const std::vector<double> at_row = plain_softmax(linear.margins({rows[r].begin(), rows[r].end()}));
    const auto y = static_cast<size_t>(std::max_element(at_row.begin(), at_row.end()) - at_row.begin());
    const auto s = [&](const std::vector<double>& x) {
      const double p = plain_softmax(linear.margins(x))[y];
      return std::log(p / (1 - p));
    };
    const std::vector<size_t> order = by_strength(phi[r]);
    std::vector<double> gains;
    std::vector<double> printed_gains;
    for (const auto& absent : reference) {
      const double at_reference = s({absent.begin(), absent.end()});
      gains.push_back(s(with_at_reference(rows[r], absent, rest_of(order, 2))) - at_reference);
      printed_gains.push_back(s(with_at_reference(rows[r], absent, first_of(order, 2))) - at_reference);
    }
    EXPECT_NEAR(text.values[r], mean_of(gains), 1e-5);
    EXPECT_NEAR(printed.values[r], mean_of(printed_gains), 1e-5);
  }
}

// For one linear margin the two halves make the whole: deletion of S + addition of the rest; here addition of S and,
// printed, of the complement add up to z(x) - z(reference).
TEST(Addition, BothFormsOfALinearMarginAddUp) {
  RandomStream random(22, "addition_test");
  const Linear linear = random_linear(random, 6, 1);
  const auto rows = random_rows(random, 10, 6);
  const auto reference = random_rows(random, 1, 6);
  Trial made = removal_trial(linear_model(linear, OutputUnit::margin), rows, reference, random_rows(random, 10, 6));
  const Scores text = scored("addition", "", made);
  const Scores printed = scored("addition", ":form=printed", made);
  EXPECT_EQ(text.notes.at(0), "k = 1 of 6 players, a quarter");
  for (size_t r = 0; r < rows.size(); r++) {
    const double z = linear.margins({rows[r].begin(), rows[r].end()})[0];
    const double at_reference = linear.margins({reference[0].begin(), reference[0].end()})[0];
    EXPECT_NEAR(text.values[r] + printed.values[r], (z > 0 ? 1 : -1) * (z - at_reference), 1e-5);
  }
}

// p = 1 at the row itself does not matter; at the reference it does.
TEST(Addition, CertaintyMattersWhereItIsScored) {
  Trial at_row = removal_trial(one_output({100, 1}, OutputUnit::probability), {{2, 1}}, {{0, 0}}, {{0, 1}});
  EXPECT_NEAR(scored("addition", ":k=1", at_row).values[0], 1, 1e-5);
  Trial at_reference = removal_trial(one_output({100, 1}, OutputUnit::probability), {{0, 1}}, {{2, 0}}, {{1, 0}});
  const Scores found = scored("addition", ":k=1", at_reference);
  EXPECT_TRUE(std::isnan(found.values[0]));
  ASSERT_EQ(found.undefined.size(), 1U);
  EXPECT_EQ(found.undefined[0].reason, kCertain);
}

TEST(Addition, DegenerateRows) {
  Trial zero = removal_trial(one_output({1, 1}), {{1, 1}}, {{0, 0}}, {{0, 0}});
  EXPECT_EQ(scored("addition", "", zero).undefined.at(0).reason, "all attributions are 0");
  Trial constant = removal_trial(one_output({0, 0}, OutputUnit::margin, -0.7), {{1, 5}}, {{0, 0}}, {{1, 2}});
  EXPECT_EQ(scored("addition", "", constant).values[0], 0);
  Trial single = removal_trial(one_output({3}, OutputUnit::value), {{2}}, {{1}}, {{5}});
  EXPECT_DOUBLE_EQ(scored("addition", "", single).values[0], 3);
}

// Softmax of (150 x0, 0): p is 1 in float32 with player 0 as in the row, and its margin 150.
TEST(Addition, MarginsSpeakWhereProbabilitiesAreRounded) {
  const Linear linear{{{150, 0}, {0, 0}}, {0, 0}};
  Trial trial = removal_trial(linear_model(linear, OutputUnit::probability), {{1, 1}}, {{0, 0}}, {{1, 0}});
  EXPECT_EQ(scored("addition", ":k=1", trial).coverage, 0);
  const auto margins = linear_model(linear, OutputUnit::margin);
  EXPECT_DOUBLE_EQ(scored_with_margins("addition", ":k=1", trial, *margins).values[0], 150);
}

TEST(Addition, BitsDoNotDependOnThreads) {
  Trial trial = threaded_trial();
  expect_same_scores_on_threads("addition", "", trial);
}

}  // namespace
}  // namespace assay::testing
