#include <gtest/gtest.h>

#include "tests/evaluate/removal/models.h"

namespace assay::testing {
namespace {

// value = x0 + 2 x1 + 4 x2 at (1, 1, 1), reference 0. By value of (3, -5, 1): 0, 2, 1. The curve is 7, 6, 2, 0 at
// shares 0, 1/3, 2/3, 1: area (6.5 + 4 + 1) / 3. By strength: 1, 0, 2: 7, 5, 4, 0: (6 + 4.5 + 2) / 3.
TEST(DeletionAuc, IsTheAreaUnderTheCurve) {
  Trial trial = removal_trial(one_output({1, 2, 4}, OutputUnit::value), {{1, 1, 1}}, {{0, 0, 0}}, {{3, -5, 1}});
  const Scores found = scored("deletion_auc", "", trial);
  EXPECT_NEAR(found.values[0], 11.5 / 3, 1e-12);
  EXPECT_EQ(found.evaluations, 1U + 1 + 2);
  ASSERT_EQ(found.tables.size(), 1U);
  EXPECT_EQ(found.tables[0].columns, (std::vector<std::string>{"share removed", "value"}));
  ASSERT_EQ(found.tables[0].rows.size(), 4U);
  EXPECT_EQ(found.tables[0].rows[1], (std::vector<double>{1.0 / 3, 6}));
  EXPECT_EQ(found.tables[0].rows[3], (std::vector<double>{1, 0}));
  EXPECT_NEAR(scored("deletion_auc", ":order=strength", trial).values[0], 12.5 / 3, 1e-12);
  // Two steps: after 2 of 3 players (1.5 rounded up), 7, 2, 0: 4.5 * 2/3 + 1 / 3.
  EXPECT_NEAR(scored("deletion_auc", ":steps=2", trial).values[0], 4.5 * 2 / 3 + 1.0 / 3, 1e-12);
  EXPECT_EQ(scored("deletion_auc", ":steps=5", trial).notes.at(0), "3 steps, one for each player, instead of 5");
}

// The explained class of a binary model is the positive one, also where the other is predicted: z = x0 - 3 at 1, and
// the only player takes p(1) from 1 / (1 + e^2) to 1 / (1 + e^3).
TEST(DeletionAuc, IsOfTheExplainedClass) {
  Trial trial = removal_trial(one_output({1}, OutputUnit::margin, -3), {{1}}, {{0}}, {{1}});
  const double expected = (1 / (1 + std::exp(2.0)) + 1 / (1 + std::exp(3.0))) / 2;
  EXPECT_NEAR(scored("deletion_auc", "", trial).values[0], expected, 1e-12);
}

// Against plain loops: four classes, groups of columns, a background of three rows.
TEST(DeletionAuc, IsWhatPlainLoopsFind) {
  RandomStream random(31, "deletion_auc_test");
  const std::vector<uint32_t> of_column = {0, 1, 2, 2, 3, 0, 4};
  const Linear linear = random_linear(random, 7, 4);
  const auto rows = random_rows(random, 15, 7);
  const auto reference = random_rows(random, 3, 7);
  const auto phi = random_rows(random, 15, 5);
  Trial made = removal_trial(linear_model(linear, OutputUnit::probability), rows, reference, phi, "2");
  made.setting->players = players_of(of_column, 5);
  const Scores found = scored("deletion_auc", "", made);
  std::vector<double> mean_curve(6, 0.0);
  for (size_t r = 0; r < rows.size(); r++) {
    double area = 0;
    for (const auto& absent : reference) {
      std::vector<double> curve;
      for (size_t m = 0; m <= 5; m++) {
        const auto x = with_at_reference(rows[r], absent, first_of(by_value(phi[r]), m), of_column);
        curve.push_back(plain_softmax(linear.margins(x))[2]);
        mean_curve[m] += curve.back() / 45;
      }
      for (size_t m = 0; m < 5; m++) area += (curve[m] + curve[m + 1]) / 2 / 5 / 3;
    }
    EXPECT_NEAR(found.values[r], area, 1e-6);
  }
  for (size_t m = 0; m <= 5; m++) EXPECT_NEAR(found.tables[0].rows[m][1], mean_curve[m], 1e-6);
}

TEST(DeletionAuc, DegenerateRows) {
  Trial trial = removal_trial(one_output({1, 1}), {{1, 1}, {1, 1}, {NAN, 1}}, {{0, 0}}, {{0, 0}, {1, NAN}, {1, 2}});
  const Scores found = scored("deletion_auc", "", trial);
  EXPECT_EQ(found.coverage, 0);
  EXPECT_EQ(found.undefined.size(), 3U);
  EXPECT_TRUE(found.tables[0].rows.empty());
  // A constant model: its probability whatever is gone.
  Trial constant = removal_trial(one_output({0, 0}), {{1, 5}}, {{0, 0}}, {{1, 2}});
  EXPECT_DOUBLE_EQ(scored("deletion_auc", "", constant).values[0], 0.5);
}

// 250 players: 100 steps of two or three players.
TEST(DeletionAuc, WideRowsTakeAHundredSteps) {
  Trial trial =
      removal_trial(one_output(std::vector<double>(250, 0.01), OutputUnit::value), {std::vector<float>(250, 1.0F)},
                    {std::vector<float>(250, 0.0F)}, {std::vector<float>(250, 1.0F)});
  const Scores found = scored("deletion_auc", "", trial);
  EXPECT_EQ(found.evaluations, 1U + 1 + 99);
  EXPECT_EQ(found.notes.at(0), "100 steps of about 2.5 players each");
  // A straight line from 2.5 to 0.
  EXPECT_NEAR(found.values[0], 1.25, 1e-6);
}

TEST(DeletionAuc, RowsOfAClassThatIsNotPredictedAreCounted) {
  Trial trial = one_unpredicted();
  EXPECT_TRUE(has_note(scored("deletion_auc", "", trial), kUnpredictedNote));
  Trial predicted = one_unpredicted("predicted");
  EXPECT_TRUE(scored("deletion_auc", "", predicted).notes.empty());
}

// z = 100 x0: p(1) = e^-200 at -2, which float32 rounds to 0, and 1/2 at the reference. One step: their mean.
TEST(DeletionAuc, MarginsSpeakWhereProbabilitiesAreRounded) {
  Trial trial = removal_trial(one_output({100}, OutputUnit::probability), {{-2}}, {{-1}}, {{1}}, "1");
  EXPECT_EQ(scored("deletion_auc", "", trial).values[0], (0 + static_cast<double>(std::exp(-100.0F))) / 2);
  const auto margins = one_output({100});
  const double found = scored_with_margins("deletion_auc", "", trial, *margins).values[0];
  EXPECT_NEAR(found / ((std::exp(-200.0) + std::exp(-100.0)) / 2), 1, 1e-12);
}

TEST(DeletionAuc, BitsDoNotDependOnThreads) {
  Trial trial = threaded_trial();
  expect_same_scores_on_threads("deletion_auc", "", trial);
}

}  // namespace
}  // namespace assay::testing
