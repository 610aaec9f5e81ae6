#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "assay/core/random.h"
#include "assay/evaluate/common.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {
namespace {

// A regression: all rows are of one class, and nothing is predicted.
Trial regression(const std::vector<std::vector<float>>& rows, const std::vector<std::vector<float>>& explanations,
                 const std::vector<std::vector<float>>& pool, const std::vector<std::vector<float>>& of_pool) {
  ModelInfo info;
  info.name = "flat";
  for (size_t j = 0; j < rows[0].size(); j++) info.feature_names.push_back(fmt::format("x{}", j));
  info.output_names = {"y"};
  std::shared_ptr<const Model> model = model_from_function(info, [](MatrixView<const float> in, MatrixView<float> out) {
    for (size_t i = 0; i < in.rows(); i++) out(i, 0) = 0;
  });
  Trial made =
      trial_of(setting_of(std::move(model), matrix_of(rows), Matrix(1, rows[0].size())), matrix_of(explanations));
  made.pool = dataset_of(matrix_of(pool));
  made.pool_explanations.emplace(matrix_of(of_pool));
  return made;
}

// The row 0 is explained by (0, 0); neighbours at 1, 2 and 4 by (3, 4), (0, 1) and (6, 8): 5, 1 and 10 away. The copy
// of the row, (100, 0), and its own place in the pool do not count.
Trial on_a_line() {
  return regression({{0}}, {{0, 0}}, {{0}, {1}, {-2}, {4}, {0}}, {{0, 0}, {3, 4}, {0, 1}, {6, 8}, {100, 0}});
}

double score_of(const std::string& options, Trial trial) {
  return scored("avg_sensitivity", options + ":normalise=raw", trial).values.at(0);
}

TEST(AvgSensitivity, WorkedByHand) {
  EXPECT_EQ(score_of(":space=raw:radius=1", on_a_line()), 5);
  EXPECT_EQ(score_of(":space=raw:radius=2", on_a_line()), 3);                     // (5 + 1) / 2
  EXPECT_EQ(score_of(":space=raw:radius=4", on_a_line()), 16.0 / 3);              // (5 + 1 + 10) / 3
  EXPECT_EQ(score_of(":space=raw:radius=4:distance=l1", on_a_line()), 22.0 / 3);  // (7 + 1 + 14) / 3
  EXPECT_EQ(score_of(":space=raw:radius=4:distance=l0", on_a_line()), 5.0 / 3);   // (2 + 1 + 2) / 3
  // (5 / 1 + 1 / 2 + 10 / 4) / 3
  EXPECT_EQ(score_of(":space=raw:radius=4:weighting=inverse_distance", on_a_line()), 8.0 / 3);
}

// The pool's numbers 0, 1, -2, 4, 0 have mean 0.6 and deviation sqrt(21 / 5 - 0.36) = 1.9596: the neighbours are at
// 0.510, 1.021 and 2.041.
TEST(AvgSensitivity, ScaledSpaceMeasuresInDeviations) {
  EXPECT_EQ(score_of(":radius=0.52", on_a_line()), 5);
  EXPECT_EQ(score_of(":radius=1.03", on_a_line()), 3);
  EXPECT_TRUE(std::isnan(score_of(":radius=0.5", on_a_line())));
  const double deviation = std::sqrt(21.0 / 5 - 0.36);
  EXPECT_NEAR(score_of(":radius=3:weighting=inverse_distance", on_a_line()), 8.0 / 3 * deviation, 1e-6);
}

// Fewer than ten neighbours: the radius reaches the farthest, and 0.01 % beyond.
TEST(AvgSensitivity, AutomaticRadius) {
  Trial trial = on_a_line();
  const Scores scores = scored("avg_sensitivity", ":space=raw:normalise=raw", trial);
  EXPECT_EQ(scores.values.at(0), 16.0 / 3);
  EXPECT_EQ(scores.evaluations, 0U);
  EXPECT_EQ(scores.notes.at(0),
            "neighbourhoods: radius 4.0004 (chosen: between distances, just above the median over the rows of the "
            "distance to the tenth nearest row of the class, the farthest where there are fewer) under linf in raw "
            "space, explanations raw; 1 of 1 rows have neighbours, 3 on average");
}

TEST(AvgSensitivity, CopiesOfTheRowAreNoNeighbours) {
  const Trial trial = regression({{1, 2}}, {{1, 1}}, {{1, 2}, {1, 2}}, {{5, 5}, {1, 1}});
  EXPECT_TRUE(std::isnan(score_of(":space=raw:radius=10", trial)));
  EXPECT_TRUE(std::isnan(score_of("", trial)));
}

TEST(AvgSensitivity, ZeroWhereExplanationsAgree) {
  EXPECT_EQ(score_of(":space=raw:radius=9", regression({{1}}, {{2, 3}}, {{2}, {3}}, {{2, 3}, {2, 3}})), 0);
}

// The definition, in words that share nothing with the code: among rows of the pool at most `radius` away, and not at
// distance 0, the mean and the largest of the distances between unit vectors. Rows and pool rows of zeros count
// nowhere.
TEST(AvgSensitivity, ComparesUnitVectorsUnlessToldOtherwise) {
  RandomStream random(5, "unit vectors");
  const auto drawn = [&](size_t rows, size_t columns) {
    std::vector<std::vector<float>> made(rows, std::vector<float>(columns));
    for (auto& row : made) {
      const auto size = static_cast<float>(random.below(4));  // 0: a vector without direction
      for (float& v : row) v = size * static_cast<float>(random.normal());
    }
    return made;
  };
  const auto rows = drawn(20, 2);
  const auto values = drawn(20, 3);
  const auto pool = drawn(60, 2);
  const auto of_pool = drawn(60, 3);
  const auto unit = [](const std::vector<float>& v) {
    const double norm = std::hypot(v[0], v[1], v[2]);
    return std::vector<double>{v[0] / norm, v[1] / norm, v[2] / norm};
  };
  Trial trial = regression(rows, values, pool, of_pool);
  const Scores mean = scored("avg_sensitivity", ":space=raw:radius=1.5", trial);
  const Scores most = scored("max_sensitivity", ":space=raw:radius=1.5", trial);
  size_t undirected = 0;
  size_t scored_rows = 0;
  for (size_t i = 0; i < 20; i++) {
    double sum = 0;
    double largest = 0;
    size_t count = 0;
    for (size_t z = 0; z < 60; z++) {
      const float away = std::max(std::fabs(rows[i][0] - pool[z][0]), std::fabs(rows[i][1] - pool[z][1]));
      if (away == 0 || away > 1.5F || std::hypot(of_pool[z][0], of_pool[z][1], of_pool[z][2]) == 0) continue;
      const auto a = unit(values[i]);
      const auto b = unit(of_pool[z]);
      const double apart = std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
      sum += apart;
      largest = std::max(largest, apart);
      count++;
    }
    const bool zero = std::hypot(values[i][0], values[i][1], values[i][2]) == 0;
    undirected += zero;
    if (zero || count == 0) {
      EXPECT_TRUE(std::isnan(mean.values[i]) && std::isnan(most.values[i])) << i;
    } else {
      scored_rows++;
      EXPECT_NEAR(mean.values[i], sum / static_cast<double>(count), 1e-6) << i;
      EXPECT_NEAR(most.values[i], largest, 1e-6) << i;
      EXPECT_LE(most.values[i], 2 + 1e-6);
    }
  }
  EXPECT_GT(undirected, 1U);
  EXPECT_GT(scored_rows, 5U);
  size_t said = 0;
  for (const Undefined& each : mean.undefined) {
    if (each.reason == kAllZero) said = each.rows;
  }
  EXPECT_EQ(said, undirected);
}

// The mean is at most the largest, and both grow in proportion to the explanations if these are taken as they are.
TEST(AvgSensitivity, PropertiesOfRandomRows) {
  RandomStream random(3, "avg_sensitivity_test");
  const auto random_rows = [&](size_t rows, size_t columns) {
    std::vector<std::vector<float>> made(rows, std::vector<float>(columns));
    for (auto& row : made) {
      for (float& v : row) v = static_cast<float>(random.normal());
    }
    return made;
  };
  const auto rows = random_rows(50, 3);
  auto values = random_rows(50, 6);
  const auto pool = random_rows(400, 3);
  auto of_pool = random_rows(400, 6);
  Trial trial = regression(rows, values, pool, of_pool);
  for (auto* all : {&values, &of_pool}) {
    for (auto& row : *all) {
      for (float& v : row) v *= 4;
    }
  }
  Trial larger = regression(rows, values, pool, of_pool);
  for (const std::string options :
       {":normalise=raw:radius=1", ":normalise=raw:radius=1:weighting=inverse_distance", ":normalise=raw"}) {
    const Scores mean = scored("avg_sensitivity", options, trial);
    const Scores most = scored("max_sensitivity", options, trial);
    const Scores larger_mean = scored("avg_sensitivity", options, larger);
    EXPECT_EQ(mean.coverage, most.coverage);
    EXPECT_GT(mean.coverage, 0.5);
    for (size_t i = 0; i < mean.values.size(); i++) {
      if (std::isnan(mean.values[i])) continue;
      EXPECT_GT(mean.values[i], 0);
      EXPECT_LE(mean.values[i], most.values[i] * (1 + 1e-12));
      EXPECT_DOUBLE_EQ(larger_mean.values[i], 4 * mean.values[i]);
    }
    expect_same_scores_on_threads("avg_sensitivity", options, trial);
  }
  // Unit norm takes the factor away.
  const Scores one = scored("avg_sensitivity", ":radius=1", trial);
  const Scores four = scored("avg_sensitivity", ":radius=1", larger);
  EXPECT_NEAR(one.mean, four.mean, 1e-6);
  expect_same_scores_on_threads("avg_sensitivity", ":radius=1", trial);
}

}  // namespace
}  // namespace assay::testing
