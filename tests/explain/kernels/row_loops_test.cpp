#include "assay/explain/kernels/row_loops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/core/vector_target.h"

namespace assay {
namespace {

// Runs the test once on each target and leaves the best one pinned.
class RowLoops : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { pin_vector_target(GetParam()); }
  void TearDown() override { pin_vector_target(all_targets().front()); }

 public:
  static std::vector<std::string> all_targets() {
    static const std::vector<std::string> all = vector_targets();
    return all;
  }
};

// Widths below, at and above those of vectors.
const std::vector<size_t> kWidths = {1, 2, 3, 7, 14, 16, 33, 47};
constexpr size_t kRows = 5;
constexpr float kUntouched = -77;

std::vector<float> numbers(size_t count, uint64_t seed) {
  std::vector<float> made(count);
  RandomStream stream(seed, "row loops");
  for (float& each : made) each = static_cast<float>(stream.normal());
  return made;
}

TEST_P(RowLoops, PointsLieOnThePath) {
  for (const size_t width : kWidths) {
    const auto from = numbers(width, 1);
    const auto to = numbers(width, 2);
    const auto at = numbers(kRows, 3);
    std::vector<float> points(kRows * width + 1, kUntouched);
    points_on_path(from.data(), to.data(), at.data(), kRows, width, points.data());
    for (size_t i = 0; i < kRows * width; i++) {
      const size_t c = i % width;
      EXPECT_NEAR(points[i], from[c] + static_cast<double>(at[i / width]) * (to[c] - from[c]), 1e-5);
    }
    EXPECT_EQ(points.back(), kUntouched);
  }
}

TEST_P(RowLoops, PointsLieAroundTheRow) {
  for (const size_t width : kWidths) {
    const auto centre = numbers(width, 1);
    const auto deviations = numbers(width, 2);
    const auto normals = numbers(kRows * width, 3);
    std::vector<float> points(kRows * width + 1, kUntouched);
    points_around(centre.data(), deviations.data(), normals.data(), kRows, width, points.data());
    for (size_t i = 0; i < kRows * width; i++) {
      const size_t c = i % width;
      EXPECT_NEAR(points[i], centre[c] + static_cast<double>(deviations[c]) * normals[i], 1e-5);
    }
    EXPECT_EQ(points.back(), kUntouched);
  }
}

TEST_P(RowLoops, ValuesAreMultipliedByTheWay) {
  for (const size_t width : kWidths) {
    const auto from = numbers(width, 1);
    const auto to = numbers(width, 2);
    const auto before = numbers(width + 1, 3);
    auto values = before;
    multiply_by_way(from.data(), to.data(), width, values.data());
    for (size_t c = 0; c < width; c++) EXPECT_FLOAT_EQ(values[c], before[c] * (to[c] - from[c]));
    EXPECT_EQ(values[width], before[width]);
  }
}

TEST_P(RowLoops, SumsAreInFloat64) {
  for (const size_t width : kWidths) {
    const auto values = numbers(kRows * width, 1);
    const std::vector<double> weights = {0.1, 0.2, 0.3, -0.4, 0.5};
    std::vector<double> sums(width, 2);
    add_weighted_rows(values.data(), weights.data(), kRows, width, sums.data());
    std::vector<double> origin(width, 0.25);
    std::vector<double> differences(width, 1);
    std::vector<double> squares(width, 3);
    add_moments(values.data(), origin.data(), kRows, width, differences.data(), squares.data());
    for (size_t c = 0; c < width; c++) {
      double sum = 2;
      double difference = 1;
      double square = 3;
      for (size_t k = 0; k < kRows; k++) {
        const double value = values[k * width + c];
        sum += weights[k] * value;
        difference += value - 0.25;
        square += (value - 0.25) * (value - 0.25);
      }
      EXPECT_NEAR(sums[c], sum, 1e-14);
      EXPECT_NEAR(differences[c], difference, 1e-14);
      EXPECT_NEAR(squares[c], square, 1e-13);
    }
  }
}

TEST_P(RowLoops, MomentsGiveMeansAndTheirErrors) {
  constexpr size_t kVectors = 5;
  for (const size_t width : kWidths) {
    const auto values = numbers(kVectors * width, 6);
    std::vector<double> origin(values.begin(), values.begin() + static_cast<ptrdiff_t>(width));
    std::vector<double> sums(width, 0);
    std::vector<double> squares(width, 0);
    std::vector<float> means(width + 1, kUntouched);
    std::vector<float> errors(width + 1, kUntouched);
    finish_moments(origin.data(), sums.data(), squares.data(), 1, width, means.data(), errors.data());
    for (size_t c = 0; c < width; c++) {
      EXPECT_EQ(means[c], values[c]);
      EXPECT_TRUE(std::isnan(errors[c]));
    }
    add_moments(values.data() + width, origin.data(), kVectors - 1, width, sums.data(), squares.data());
    finish_moments(origin.data(), sums.data(), squares.data(), kVectors, width, means.data(), errors.data());
    for (size_t c = 0; c < width; c++) {
      double mean = 0;
      for (size_t k = 0; k < kVectors; k++) mean += values[k * width + c] / static_cast<double>(kVectors);
      double square = 0;
      for (size_t k = 0; k < kVectors; k++) square += std::pow(values[k * width + c] - mean, 2);
      EXPECT_NEAR(means[c], mean, 1e-6);
      EXPECT_NEAR(errors[c], std::sqrt(square / (kVectors - 1) / kVectors), 1e-6);
    }
    EXPECT_EQ(means[width], kUntouched);
    EXPECT_EQ(errors[width], kUntouched);
    finish_moments(origin.data(), sums.data(), squares.data(), kVectors, width, means.data(), nullptr);
  }
}

TEST_P(RowLoops, WhatNeverChangesHasNoError) {
  const std::vector<double> origin = {0.1, -3};
  const std::vector<double> sums = {0, 0};
  const std::vector<double> rounded = {0, -1e-18};
  std::vector<float> means(2);
  std::vector<float> errors(2, kUntouched);
  finish_moments(origin.data(), sums.data(), rounded.data(), 7, 2, means.data(), errors.data());
  EXPECT_EQ(errors, std::vector<float>({0, 0}));
}

TEST_P(RowLoops, StepsOfAnOrderAreDifferencesOfItsValues) {
  const std::vector<uint32_t> order = {2, 0, 3, 1};
  const size_t players = order.size();
  for (const size_t rows : kWidths) {
    const auto ends = numbers(2 * rows, 7);
    const auto behind = numbers((players - 1) * rows, 8);
    std::vector<float> added(players * rows + 1, kUntouched);
    steps_of_order(ends.data(), order.data(), players, rows, behind.data(), false, added.data());
    const auto value = [&](size_t joined, size_t r) {
      if (joined == 0) return ends[r];
      return joined == players ? ends[rows + r] : behind[(joined - 1) * rows + r];
    };
    const auto once = added;
    steps_of_order(ends.data(), order.data(), players, rows, behind.data(), true, added.data());
    for (size_t j = 0; j < players; j++) {
      for (size_t r = 0; r < rows; r++) {
        EXPECT_EQ(once[order[j] * rows + r], value(j + 1, r) - value(j, r));
      }
    }
    EXPECT_EQ(added, once);  // the mean of a step and itself
    std::vector<float> zeros(players * rows, 0);
    steps_of_order(ends.data(), order.data(), players, rows, behind.data(), true, zeros.data());
    for (size_t i = 0; i < zeros.size(); i++) EXPECT_EQ(zeros[i], 0.5F * once[i]);
    EXPECT_EQ(added.back(), kUntouched);
  }
}

TEST_P(RowLoops, SumsOfRowsAreInOrder) {
  for (const size_t width : kWidths) {
    for (const size_t rows : {0U, 1U, 7U, 8U, 21U}) {
      auto values = numbers(rows * width, 4);
      // Sizes so different that another order would round otherwise.
      for (size_t i = 0; i < values.size(); i++) values[i] = std::ldexp(values[i], static_cast<int>(i * 7 % 80) - 40);
      std::vector<double> sums(rows + 1, kUntouched);
      sum_rows(values.data(), rows, width, sums.data());
      for (size_t k = 0; k < rows; k++) {
        double sum = 0;
        for (size_t c = 0; c < width; c++) sum += values[k * width + c];
        EXPECT_EQ(sums[k], sum) << rows << " rows, " << width << " columns";
      }
      EXPECT_EQ(sums.back(), kUntouched);
    }
  }
}

TEST_P(RowLoops, MeanSlopesAreDifferenceQuotients) {
  for (const float slope : {0.0F, 0.1F, 1.0F}) {
    for (const size_t width : kWidths) {
      auto from = numbers(width, 1);
      const auto to = numbers(width, 2);
      const auto weights = numbers(width, 3);
      if (width > 2) from[2] = to[2];
      std::vector<float> found(width + 1, kUntouched);
      weighted_mean_slopes(from.data(), to.data(), weights.data(), slope, width, found.data());
      const auto leaky = [&](double z) { return z > 0 ? z : slope * z; };
      for (size_t j = 0; j < width; j++) {
        const double difference = static_cast<double>(to[j]) - from[j];
        const double mean = difference == 0 ? (to[j] > 0 ? 1.0 : slope) : (leaky(to[j]) - leaky(from[j])) / difference;
        EXPECT_NEAR(found[j], weights[j] * mean, 1e-5) << from[j] << " to " << to[j];
      }
      EXPECT_EQ(found.back(), kUntouched);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RowLoops, ::testing::ValuesIn(RowLoops::all_targets()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace assay
