#include <gtest/gtest.h>

#include "assay/evaluate/removal/class_score.h"
#include "tests/evaluate/removal/models.h"

namespace assay::testing {
namespace {

// z = 2 x0 - x1 + 0.5 x2: at (1, 2, 4) it is 2, class 1. Strongest of (2, -1, 1.5) is player 0, then 2.
//   k = 1: z falls by 2 (1 - 0) = 2;  k = 2: by 2 + 0.5 (4 - 1) = 3.5;  k = 3: 3.5 - (2 - 1) = 2.5.
// At (-1, 2, 4) z is -2, class 0, whose log-odds are -z. phi = (-1, 0.5, 0.25): k = 1 puts x0 to 0, z rises by 2, and
// -z falls by 2.
TEST(Deletion, IsTheLossOfLogOdds) {
  Trial trial =
      removal_trial(one_output({2, -1, 0.5}), {{1, 2, 4}, {-1, 2, 4}}, {{0, 1, 1}}, {{2, -1, 1.5F}, {-1, 0.5F, 0.25F}});
  const Scores one = scored("deletion", ":k=1", trial);
  EXPECT_DOUBLE_EQ(one.values[0], 2);
  EXPECT_DOUBLE_EQ(one.values[1], 2);
  EXPECT_EQ(one.evaluations, 2U + 1 + 2);
  EXPECT_TRUE(one.notes.empty());
  EXPECT_DOUBLE_EQ(scored("deletion", ":k=2", trial).values[0], 3.5);
  EXPECT_DOUBLE_EQ(scored("deletion", ":k=3", trial).values[0], 2.5);
}

// The property: for a linear margin, deletion is the sum over the k strongest of w_i (x_i - r_i), in the
// direction of the predicted class; mean over a background of three rows.
TEST(Deletion, OfALinearMarginIsItsClosedForm) {
  RandomStream random(11, "deletion_test");
  for (int trial = 0; trial < 40; trial++) {
    const size_t d = 1 + random.below(7);
    const size_t k = 1 + random.below(static_cast<uint32_t>(d));
    const Linear linear = random_linear(random, d, 1);
    const auto rows = random_rows(random, 5, d);
    const auto reference = random_rows(random, 3, d);
    std::vector<std::vector<float>> phi = rows;
    for (size_t r = 0; r < rows.size(); r++) {
      for (size_t i = 0; i < d; i++) phi[r][i] = static_cast<float>(linear.weights[0][i] * rows[r][i]);
    }
    Trial made = removal_trial(linear_model(linear, OutputUnit::margin), rows, reference, phi);
    const Scores found = scored("deletion", fmt::format(":k={}", k), made);
    for (size_t r = 0; r < rows.size(); r++) {
      const double sign = linear.margins({rows[r].begin(), rows[r].end()})[0] > 0 ? 1 : -1;
      double expected = 0;
      for (const auto& absent : reference) {
        for (const size_t i : first_of(by_strength(phi[r]), k)) {
          expected += sign * linear.weights[0][i] * (rows[r][i] - absent[i]) / 3;
        }
      }
      EXPECT_NEAR(found.values[r], expected, 1e-5);
    }
  }
}

// Softmax of four classes, in plain doubles: ln p_y - ln(1 - p_y) before and after.
TEST(Deletion, OfASoftmaxIsWhatProbabilitiesSay) {
  RandomStream random(12, "deletion_test");
  for (const OutputUnit unit : {OutputUnit::margin, OutputUnit::probability}) {
    const Linear linear = random_linear(random, 6, 4);
    const auto rows = random_rows(random, 20, 6);
    const auto reference = random_rows(random, 2, 6);
    const auto phi = random_rows(random, 20, 6);
    Trial made = removal_trial(linear_model(linear, unit), rows, reference, phi);
    const Scores found = scored("deletion", ":k=3", made);
    for (size_t r = 0; r < rows.size(); r++) {
      const std::vector<double> at_row = plain_softmax(linear.margins({rows[r].begin(), rows[r].end()}));
      const auto y = static_cast<size_t>(std::max_element(at_row.begin(), at_row.end()) - at_row.begin());
      const auto s = [&](const std::vector<double>& p) { return std::log(p[y] / (1 - p[y])); };
      std::vector<double> losses;
      for (const auto& absent : reference) {
        const auto without = with_at_reference(rows[r], absent, first_of(by_strength(phi[r]), 3));
        losses.push_back(s(at_row) - s(plain_softmax(linear.margins(without))));
      }
      EXPECT_NEAR(found.values[r], mean_of(losses), 1e-5);
    }
  }
}

// z = 200 is p = 1 in float32: a model of probabilities cannot say how much is lost, one of margins can.
TEST(Deletion, CertaintyIsUndefinedFromProbabilitiesAlone) {
  const std::vector<std::vector<float>> rows = {{2, 0}, {0.02F, 0}};
  Trial sure = removal_trial(one_output({100, 1}, OutputUnit::probability), rows, {{0, 0}}, {{1, 0}, {1, 0}});
  const Scores found = scored("deletion", ":k=1", sure);
  EXPECT_TRUE(std::isnan(found.values[0]));
  // From p = 1 / (1 + e^-2) to 1/2: 2.
  EXPECT_NEAR(found.values[1], 2, 1e-5);
  ASSERT_EQ(found.undefined.size(), 1U);
  EXPECT_EQ(found.undefined[0].reason, kCertain);
  EXPECT_EQ(found.coverage, 0.5);
  Trial margins = removal_trial(one_output({100, 1}), rows, {{0, 0}}, {{1, 0}, {1, 0}});
  EXPECT_DOUBLE_EQ(scored("deletion", ":k=1", margins).values[0], 200);
}

TEST(Deletion, DegenerateRows) {
  Trial trial = removal_trial(one_output({1, 1}), {{1, 1}, {1, 1}, {NAN, 1}}, {{0, 0}}, {{0, 0}, {NAN, 1}, {1, 2}});
  const Scores found = scored("deletion", "", trial);
  EXPECT_EQ(found.coverage, 0);
  ASSERT_EQ(found.undefined.size(), 3U);
  // A constant model loses nothing, whatever is removed.
  Trial constant = removal_trial(one_output({0, 0}, OutputUnit::margin, 0.7), {{1, 5}}, {{0, 0}}, {{1, 2}});
  EXPECT_EQ(scored("deletion", "", constant).values[0], 0);
  // One player: auto is 1, and everything is removed.
  Trial single = removal_trial(one_output({3}), {{2}}, {{1}}, {{-0.1F}});
  EXPECT_DOUBLE_EQ(scored("deletion", "", single).values[0], 3);
}

// d = 9: a quarter is 2. Players 0, 1 and 2 are of one strength, so that the cut goes through them: 0 and 1 are taken.
TEST(Deletion, ChoicesAndTiesAreSaid) {
  Trial trial = removal_trial(one_output({1, 2, 4, 0, 0, 0, 0, 0, 0}), {std::vector<float>(9, 1.0F)},
                              {std::vector<float>(9, 0.0F)}, {{1, -1, 1, 0, 0, 0, 0, 0, 0}});
  const Scores found = scored("deletion", "", trial);
  EXPECT_DOUBLE_EQ(found.values[0], 3);
  ASSERT_EQ(found.notes.size(), 2U);
  EXPECT_EQ(found.notes[0], "k = 2 of 9 players, a quarter");
  EXPECT_EQ(found.notes[1],
            "1 of 1 rows have players of equal strength at the cut; the earlier ones count as stronger");
  EXPECT_EQ(scored("deletion", ":k=3", trial).notes.size(), 0U);
  EXPECT_EQ(refusal_of("deletion", ":k=10", trial), "needs k of at most the 9 players, and k is 10");
  EXPECT_EQ(refusal_of("deletion", ":k=9", trial), "");
}

// Margins (x0, 2 x0, 0) at 1: class 1 is predicted, 0 explained. s = 2 - ln(e^1 + e^0), and 0 - ln 2 without x0.
TEST(Deletion, ScoresThePredictedClassWhicheverIsExplained) {
  const Linear linear{{{1, 0}, {2, 0}, {0, 0}}, {0, 0, 0}};
  Trial trial = removal_trial(linear_model(linear, OutputUnit::margin), {{1, 1}}, {{0, 0}}, {{1, 0}}, "0");
  const Scores found = scored("deletion", ":k=1", trial);
  EXPECT_NEAR(found.values[0], 2 - std::log(std::exp(1.0) + 1) + std::log(2.0), 1e-12);
  ASSERT_EQ(found.notes.size(), 1U);
  EXPECT_EQ(found.notes[0], "1 of 1 rows are explained for another class than the predicted one, which is scored");
}

// Two margins (x0, 2 x1): at (1, 1) class 1 is predicted, and player 1 decides; class 0 is explained, whose strongest
// player is 0. Both margins are functions of their own, so that is worth a note; two probabilities are not.
TEST(Deletion, TwoMarginsAreExplainedApart) {
  const Linear linear{{{1, 0}, {0, 2}}, {0, 0}};
  const std::string note = "1 of 1 rows are explained for another class than the predicted one, which is scored";
  Trial trial = removal_trial(linear_model(linear, OutputUnit::margin), {{1, 1}}, {{0, 0}}, {{1, 0}}, "0");
  const Scores found = scored("deletion", ":k=1", trial);
  // s = 2 - 1 at the row, 2 - 0 without player 0.
  EXPECT_DOUBLE_EQ(found.values[0], -1);
  EXPECT_TRUE(has_note(found, note));
  for (const OutputUnit unit : {OutputUnit::probability, OutputUnit::log_odds}) {
    Trial other = removal_trial(linear_model(linear, unit), {{1, 1}}, {{0, 0}}, {{1, 0}}, "0");
    EXPECT_FALSE(has_note(scored("deletion", ":k=1", other), note));
  }
}

// Softmax of (150 x0, 0): p is 1 in float32 at the row, and its margin 150.
TEST(Deletion, MarginsSpeakWhereProbabilitiesAreRounded) {
  const Linear linear{{{150, 0}, {0, 0}}, {0, 0}};
  Trial trial =
      removal_trial(linear_model(linear, OutputUnit::probability), {{1, 1}, {0.5F, 2}}, {{0, 0}}, {{1, 0}, {1, 0}});
  EXPECT_EQ(scored("deletion", ":k=1", trial).coverage, 0);
  const auto margins = linear_model(linear, OutputUnit::margin);
  const Scores found = scored_with_margins("deletion", ":k=1", trial, *margins);
  EXPECT_EQ(found.coverage, 1);
  EXPECT_DOUBLE_EQ(found.values[0], 150);
  EXPECT_DOUBLE_EQ(found.values[1], 75);
}

// Players 0 = columns 0 and 2, 1 = column 1: the group goes as a whole, 1 + 4 = 5. A regression: the value.
TEST(Deletion, GroupsGoTogether) {
  Trial trial = removal_trial(one_output({1, 2, 4}, OutputUnit::value), {{1, 1, 1}}, {{0, 0, 0}}, {{3, 2}});
  trial.setting->players = players_of({0, 1, 0}, 2);
  EXPECT_DOUBLE_EQ(scored("deletion", ":k=1", trial).values[0], 5);
}

// Rows so wide that they are done in several blocks: player r is the strongest of row r, and worth r + 1.
TEST(Deletion, WideRowsAreDoneInBlocks) {
  const size_t players = 200'000;
  std::vector<double> weights(players, 0.0);
  std::vector<std::vector<float>> phi(12, std::vector<float>(players, 0.5F));
  for (size_t r = 0; r < phi.size(); r++) {
    weights[r] = static_cast<double>(r + 1);
    phi[r][r] = -1;
  }
  Trial trial = removal_trial(one_output(weights, OutputUnit::value),
                              std::vector<std::vector<float>>(12, std::vector<float>(players, 1.0F)),
                              {std::vector<float>(players, 0.0F)}, phi);
  const Scores found = scored("deletion", ":k=1", trial);
  for (size_t r = 0; r < phi.size(); r++) EXPECT_DOUBLE_EQ(found.values[r], static_cast<double>(r + 1));
}

TEST(Deletion, BitsDoNotDependOnThreads) {
  Trial trial = threaded_trial();
  expect_same_scores_on_threads("deletion", "", trial);
}

}  // namespace
}  // namespace assay::testing
