#include <gtest/gtest.h>

#include "tests/evaluate/removal/models.h"

namespace assay::testing {
namespace {

// value = x0 + 2 x1 + 4 x2 at (1, 1, 1), reference 0. By value of (3, -5, 1): 0, 2, 1, so the curve is 0, 1, 5, 7:
// area (0.5 + 3 + 6) / 3. By strength 1, 0, 2: 0, 2, 3, 7: (1 + 2.5 + 5) / 3.
TEST(InsertionAuc, IsTheAreaUnderTheCurve) {
  Trial trial = removal_trial(one_output({1, 2, 4}, OutputUnit::value), {{1, 1, 1}}, {{0, 0, 0}}, {{3, -5, 1}});
  const Scores found = scored("insertion_auc", "", trial);
  EXPECT_NEAR(found.values[0], 9.5 / 3, 1e-12);
  EXPECT_EQ(found.tables.at(0).columns[0], "share added");
  EXPECT_EQ(found.tables.at(0).rows.at(2), (std::vector<double>{2.0 / 3, 5}));
  EXPECT_NEAR(scored("insertion_auc", ":order=strength", trial).values[0], 8.5 / 3, 1e-12);
}

// Against plain loops, three classes, a background of two rows.
TEST(InsertionAuc, IsWhatPlainLoopsFind) {
  RandomStream random(41, "insertion_auc_test");
  const Linear linear = random_linear(random, 6, 3);
  const auto rows = random_rows(random, 15, 6);
  const auto reference = random_rows(random, 2, 6);
  const auto phi = random_rows(random, 15, 6);
  Trial made = removal_trial(linear_model(linear, OutputUnit::margin), rows, reference, phi, "1");
  const Scores found = scored("insertion_auc", ":steps=3", made);
  for (size_t r = 0; r < rows.size(); r++) {
    double area = 0;
    for (const auto& absent : reference) {
      std::vector<double> curve;
      for (const size_t m : {0, 2, 4, 6}) {
        const auto x = with_at_reference(rows[r], absent, rest_of(by_value(phi[r]), m));
        curve.push_back(plain_softmax(linear.margins(x))[1]);
      }
      area += (curve[0] / 2 + curve[1] + curve[2] + curve[3] / 2) / 3 / 2;
    }
    EXPECT_NEAR(found.values[r], area, 1e-6);
  }
}

// Shapley values of a logistic model of additive margins order players as well as can be: no other order of three
// players has a larger area (its margin is the largest possible after every step).
TEST(InsertionAuc, TheContributionsOfALinearMarginAreTheBestOrder) {
  RandomStream random(42, "insertion_auc_test");
  for (int trial = 0; trial < 20; trial++) {
    const Linear linear = random_linear(random, 3, 1);
    const auto rows = random_rows(random, 1, 3);
    std::vector<float> best(3);
    for (size_t i = 0; i < 3; i++) best[i] = static_cast<float>(linear.weights[0][i] * rows[0][i]);
    const auto area = [&](const std::vector<float>& phi) {
      Trial made = removal_trial(linear_model(linear, OutputUnit::margin), rows, {{0, 0, 0}}, {phi});
      return scored("insertion_auc", "", made).values[0];
    };
    const double most = area(best);
    std::vector<float> ranks = {1, 2, 3};
    do {
      EXPECT_LE(area(ranks), most + 1e-7);
    } while (std::next_permutation(ranks.begin(), ranks.end()));
  }
}

TEST(InsertionAuc, DegenerateRows) {
  Trial zero = removal_trial(one_output({1, 1}), {{1, 1}}, {{0, 0}}, {{0, 0}});
  EXPECT_EQ(scored("insertion_auc", "", zero).undefined.at(0).reason, "all attributions are 0");
  // One player: from p(reference) = 1/2 to p(x) = 1 / (1 + e^-2), a trapezoid.
  Trial single = removal_trial(one_output({2}), {{1}}, {{0}}, {{1}});
  EXPECT_NEAR(scored("insertion_auc", "", single).values[0], (0.5 + 1 / (1 + std::exp(-2.0))) / 2, 1e-12);
}

TEST(InsertionAuc, RowsOfAClassThatIsNotPredictedAreCounted) {
  Trial trial = one_unpredicted();
  EXPECT_TRUE(has_note(scored("insertion_auc", "", trial), kUnpredictedNote));
  Trial predicted = one_unpredicted("predicted");
  EXPECT_TRUE(scored("insertion_auc", "", predicted).notes.empty());
}

TEST(InsertionAuc, BitsDoNotDependOnThreads) {
  Trial trial = threaded_trial();
  expect_same_scores_on_threads("insertion_auc", ":order=strength", trial);
}

}  // namespace
}  // namespace assay::testing
