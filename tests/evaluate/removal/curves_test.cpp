#include "assay/evaluate/removal/curves.h"

#include <gtest/gtest.h>

#include "assay/evaluate/removal/proportion.h"
#include "assay/evaluate/removal/removal.h"
#include "tests/evaluate/removal/models.h"

namespace assay::testing {
namespace {

TEST(Curves, StepsAreAPlayerEachUntilThereAreMoreThanAHundred) {
  EXPECT_EQ(step_counts({}, 3), (std::vector<size_t>{0, 1, 2, 3}));
  EXPECT_EQ(step_counts({}, 784).size(), 101U);
  EXPECT_EQ(step_counts({}, 784).back(), 784U);
  // 7 / 3 = 2.33 and 14 / 3 = 4.67
  EXPECT_EQ(step_counts(3, 7), (std::vector<size_t>{0, 2, 5, 7}));
  EXPECT_EQ(step_counts(9, 2), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(step_counts(1, 5), (std::vector<size_t>{0, 5}));
}

// (1 + 0.5) / 2 * 0.25 + (0.5 + 0) / 2 * 0.75
TEST(Curves, AreaIsByTrapezoids) {
  EXPECT_DOUBLE_EQ(area_under(std::vector<double>{0, 0.25, 1}, std::vector<double>{1, 0.5, 0}), 0.1875 + 0.1875);
}

// y = x against y = 1 - x: two triangles of base 1 and height 0.5, 0.25 each.
TEST(Curves, TheAreaBetweenLinesThatCrossIsThatOfTheTriangles) {
  const std::vector<double> ends = {0, 1};
  EXPECT_DOUBLE_EQ(area_between({ends, std::vector<double>{0, 1}}, {ends, std::vector<double>{1, 0}}), 0.5);
  EXPECT_EQ(area_between({ends, std::vector<double>{0, 1}}, {ends, std::vector<double>{0, 1}}), 0);
  // A tent of height 1 at 0.5 over a line at 0: 0.5. Knots differ.
  const std::vector<double> tent = {0, 0.5, 1};
  EXPECT_DOUBLE_EQ(area_between({tent, std::vector<double>{0, 1, 0}}, {ends, std::vector<double>{0, 0}}), 0.5);
}

// Against a fine sum of heights.
TEST(Curves, TheAreaBetweenLinesIsTheirIntegral) {
  RandomStream random(2, "curves_test");
  for (int trial = 0; trial < 20; trial++) {
    std::vector<std::vector<double>> x(2);
    std::vector<std::vector<double>> y(2);
    for (int line = 0; line < 2; line++) {
      x[line] = {0, 1};
      for (int j = 0; j < 4; j++) x[line].push_back(random.uniform());
      std::sort(x[line].begin(), x[line].end());
      for (size_t j = 0; j < x[line].size(); j++) y[line].push_back(random.normal());
    }
    const auto height = [&](int line, double at) {
      size_t j = 1;
      while (x[line][j] < at) j++;
      const double share = (at - x[line][j - 1]) / (x[line][j] - x[line][j - 1]);
      return (1 - share) * y[line][j - 1] + share * y[line][j];
    };
    double sum = 0;
    const int parts = 100'000;
    for (int i = 0; i < parts; i++)
      sum += std::abs(height(0, (i + 0.5) / parts) - height(1, (i + 0.5) / parts)) / parts;
    EXPECT_NEAR(area_between({x[0], y[0]}, {x[1], y[1]}), sum, 1e-6);
  }
}

TEST(Removal, RowsWithoutAnOrderAreCounted) {
  const Explanations made = explanations_of(matrix_of({{0, 0}, {1, 0}, {NAN, 1}, {0, -2}, {INFINITY, 0}}));
  UndefinedCounts undefined;
  EXPECT_EQ(rows_with_order(made, undefined), (std::vector<size_t>{1, 3}));
  const std::vector<Undefined> counts = undefined.take();
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts[0].reason, "all attributions are 0");
  EXPECT_EQ(counts[0].rows, 1U);
  EXPECT_EQ(counts[1].rows, 2U);
}

// value = sum of 10^i x_i, so that its digits say which columns are as in the row (1) and at the reference (2 or 3).
// Players: 0 = columns 0 and 2, 1 = column 1, 2 = column 3; order 2, 0, 1.
TEST(Removal, CutsAreStretchesOfTheOrder) {
  Trial trial = removal_trial(one_output({1, 10, 100, 1000}, OutputUnit::value), {{1, 1, 1, 1}},
                              {{2, 2, 2, 2}, {3, 3, 3, 3}}, {{1, 2, 3}});
  trial.setting->players = players_of({0, 1, 0, 2}, 3);
  const EvaluateTask task = trial.task();
  Removal removal(task, {0}, ScoredClass::explained, ScoreUnit::probability, {});
  EXPECT_EQ(removal.at_row(0), 1111);
  EXPECT_EQ(removal.at_reference(0, 1), 3333);
  const std::vector<std::vector<double>> expected = {{1111, 2222}, {2111, 1222}, {2212, 1121}, {1212, 2121}};
  size_t rows = 0;
  removal.run(
      8,
      [](size_t) {
        RowPlan plan{{2, 0, 1}, {}};
        for (const auto& [begin, end] : std::vector<std::pair<size_t, size_t>>{{0, 0}, {0, 1}, {0, 2}, {1, 2}}) {
          plan.cuts.push_back({begin, end, false});
          plan.cuts.push_back({begin, end, true});
        }
        return plan;
      },
      [&](size_t row, std::span<const float> outputs) { return removal.score(row, outputs); },
      [&](size_t row, const RowPlan&, MatrixView<const double> values) {
        EXPECT_EQ(row, 0U);
        rows++;
        for (size_t c = 0; c < 4; c++) {
          EXPECT_EQ(values(0, 2 * c), expected[c][0]);
          EXPECT_EQ(values(0, 2 * c + 1), expected[c][1]);
          // 3 instead of 2: twice as far from 1.
          EXPECT_EQ(values(1, 2 * c) - 1111, 2 * (expected[c][0] - 1111));
        }
      },
      {}, "test");
  EXPECT_EQ(rows, 1U);
  EXPECT_EQ(removal.evaluations(), 1U + 2 + 2 * 8);
}

}  // namespace
}  // namespace assay::testing
