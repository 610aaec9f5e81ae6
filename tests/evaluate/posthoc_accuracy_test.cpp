#include <gtest/gtest.h>

#include "tests/evaluate/removal/models.h"

namespace assay::testing {
namespace {

// z = x0 - x1 - 0.5: at (2, 1) it is 0.5, class 1. With x0 alone 1.5: kept. With x1 alone -1.5: not.
// At (0, 1) it is -1.5, class 0; x0 alone gives -0.5: class 0, kept.
TEST(PosthocAccuracy, AsksWhetherTheStrongestPlayersKeepTheClass) {
  Trial trial = removal_trial(one_output({1, -1}, OutputUnit::margin, -0.5), {{2, 1}, {2, 1}, {0, 1}}, {{0, 0}},
                              {{3, 1}, {1, -3}, {1, 0}});
  const Scores found = scored("posthoc_accuracy", ":k=1", trial);
  EXPECT_EQ(found.values, (std::vector<double>{1, 0, 1}));
  EXPECT_NEAR(found.mean, 2.0 / 3, 1e-12);
  // All players: the row itself.
  EXPECT_EQ(scored("posthoc_accuracy", ":k=2", trial).values, (std::vector<double>{1, 1, 1}));
}

// z = x0 + x1 at (1, 1), class 1. With x0 alone against x1 = 0, -2 and -0.5: z = 1, -1 and 0.5: two of three.
TEST(PosthocAccuracy, ABackgroundGivesTheShareThatKeepsTheClass) {
  Trial trial = removal_trial(one_output({1, 1}), {{1, 1}}, {{5, 0}, {5, -2}, {5, -0.5F}}, {{2, 1}});
  EXPECT_NEAR(scored("posthoc_accuracy", ":k=1", trial).values[0], 2.0 / 3, 1e-12);
}

TEST(PosthocAccuracy, IsWhatPlainLoopsFind) {
  RandomStream random(61, "posthoc_test");
  const Linear linear = random_linear(random, 6, 3);
  const auto rows = random_rows(random, 40, 6);
  const auto reference = random_rows(random, 2, 6);
  const auto phi = random_rows(random, 40, 6);
  // An explained class of its own does not change what is predicted.
  Trial made = removal_trial(linear_model(linear, OutputUnit::probability), rows, reference, phi, "0");
  const Scores found = scored("posthoc_accuracy", ":k=3", made);
  const auto predicted = [&](const std::vector<double>& x) {
    const std::vector<double> z = linear.margins(x);
    return std::max_element(z.begin(), z.end()) - z.begin();
  };
  size_t lost = 0;
  for (size_t r = 0; r < rows.size(); r++) {
    double kept = 0;
    for (const auto& absent : reference) {
      const auto x = with_at_reference(rows[r], absent, rest_of(by_strength(phi[r]), 3));
      kept += predicted(x) == predicted({rows[r].begin(), rows[r].end()}) ? 0.5 : 0;
    }
    EXPECT_EQ(found.values[r], kept);
    lost += kept < 1 ? 1 : 0;
  }
  EXPECT_GT(lost, 5U);
}

TEST(PosthocAccuracy, DegenerateRowsAndRefusals) {
  Trial trial = removal_trial(one_output({1, 1}), {{1, 1}, {1, NAN}}, {{0, 0}}, {{0, 0}, {1, 0}});
  const Scores found = scored("posthoc_accuracy", "", trial);
  EXPECT_EQ(found.coverage, 0);
  EXPECT_EQ(found.undefined.size(), 2U);
  EXPECT_EQ(refusal_of("posthoc_accuracy", ":k=3", trial), "needs k of at most the 2 players, and k is 3");
  Trial regression = removal_trial(one_output({1}, OutputUnit::value), {{1}}, {{0}}, {{1}});
  EXPECT_EQ(refusal_of("posthoc_accuracy", "", regression),
            "needs classes, and the model gives values of a regression");
  // A constant model keeps its class whatever is kept.
  Trial constant = removal_trial(one_output({0, 0}, OutputUnit::margin, 1), {{1, 5}}, {{0, 0}}, {{1, 2}});
  EXPECT_EQ(scored("posthoc_accuracy", "", constant).values[0], 1);
}

// Softmax of (z, z + 1e-9) is 1/2 each in float32: the first is predicted. Margins say that it is the second.
TEST(PosthocAccuracy, ClassesComeFromMarginsWhereTheyAreKnown) {
  const Linear linear{{{0, 0}, {1e-9, -1e-9}}, {0, 0}};
  Trial trial = removal_trial(linear_model(linear, OutputUnit::probability), {{1, 0}}, {{0, 1}}, {{2, 1}}, "0");
  // S = player 0 as in the row, player 1 at its reference: z1 = 1e-9 - 1e-9 = 0, a tie, which is the first class.
  EXPECT_EQ(scored("posthoc_accuracy", ":k=1", trial).values[0], 1);
  const auto margins = linear_model(linear, OutputUnit::margin);
  EXPECT_EQ(scored_with_margins("posthoc_accuracy", ":k=1", trial, *margins).values[0], 0);
  // One margin of 0.25 is above its threshold of 0, though not above that of a probability.
  Trial one = removal_trial(one_output({0.25, 0}, OutputUnit::probability), {{1, 0}}, {{0, 0}}, {{2, 1}});
  const auto margin = one_output({0.25, 0});
  EXPECT_EQ(scored_with_margins("posthoc_accuracy", ":k=1", one, *margin).values[0], 1);
}

TEST(PosthocAccuracy, BitsDoNotDependOnThreads) {
  Trial trial = threaded_trial();
  expect_same_scores_on_threads("posthoc_accuracy", "", trial);
}

}  // namespace
}  // namespace assay::testing
