#include "assay/evaluate/common.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/random.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {
namespace {

using Floats = std::vector<float>;
using Order = std::vector<uint32_t>;

double between(const std::string& name, const Floats& a, const Floats& b) {
  return distance_between(explanation_distance(name), a, b);
}

Floats random_row(size_t players, uint64_t row) {
  RandomStream stream(9, "evaluate common test", row);
  Floats values(players);
  for (float& v : values) v = static_cast<float>(stream.normal());
  return values;
}

TEST(EvaluateCommon, FindsZerosAndWhatIsNoNumber) {
  EXPECT_TRUE(all_finite(Floats{0, -1, 3e38F}));
  EXPECT_FALSE(all_finite(Floats{0, NAN}));
  EXPECT_FALSE(all_finite(Floats{-std::numeric_limits<float>::infinity(), 1}));
  EXPECT_TRUE(all_zero(Floats{0, -0.0F}));
  EXPECT_FALSE(all_zero(Floats{0, 1e-45F}));
}

TEST(EvaluateCommon, OrdersPlayersWithTiesByIndex) {
  EXPECT_EQ(strongest_first(Floats{1, -3, 2, 3, 0}), (Order{1, 3, 2, 0, 4}));
  EXPECT_EQ(largest_first(Floats{1, -3, 2, 3, 0, 3}), (Order{3, 5, 2, 0, 4, 1}));
  EXPECT_EQ(strongest_first(Floats{0, 0, 0}), (Order{0, 1, 2}));
  EXPECT_EQ(strongest_first(Floats{}), Order{});
}

// 10, 20, 20, 30: the equal ones share (2 + 3) / 2.
TEST(EvaluateCommon, EqualValuesShareTheirMeanRank) {
  using Ranks = std::vector<double>;
  EXPECT_EQ(ranks_of(Ranks{20, 10, 30, 20}), (Ranks{2.5, 1, 4, 2.5}));
  EXPECT_EQ(ranks_of(Ranks{5, 5, 5}), (Ranks{2, 2, 2}));
  EXPECT_EQ(ranks_of(Ranks{-1}), Ranks{1});
  EXPECT_EQ(ranks_of(Ranks{}), Ranks{});
}

// Differences 3, -4, 0.
TEST(EvaluateCommon, DistancesByHand) {
  const Floats a = {4, -2, 1};
  const Floats b = {1, 2, 1};
  EXPECT_EQ(between("l1", a, b), 7);
  EXPECT_EQ(between("l2", a, b), 5);
  EXPECT_EQ(between("l0", a, b), 2);
  // a . b = 4 - 4 + 1 = 1, norms sqrt 21 and sqrt 6.
  EXPECT_NEAR(between("cosine", a, b), 1 - 1 / std::sqrt(126.0), 1e-15);
  // Sizes 4, 2, 1 and 1, 2, 1: pair (0, 1) is turned, (0, 2) tied in b alone, (1, 2) alike: (1 + 1/2) / 3.
  EXPECT_DOUBLE_EQ(between("kendall", a, b), 0.5);
}

TEST(EvaluateCommon, DistancesAtTheirEnds) {
  EXPECT_EQ(between("cosine", {0, 0}, {0, 0}), 0);
  EXPECT_TRUE(std::isnan(between("cosine", {0, 0}, {1, 0})));
  EXPECT_DOUBLE_EQ(between("cosine", {1, 1}, {-2, -2}), 2);
  EXPECT_EQ(between("kendall", {3}, {-5}), 0);
  EXPECT_EQ(between("kendall", {1, 2, 3}, {3, 2, -1}), 1);
  EXPECT_EQ(between("kendall", {1, -1}, {2, 2}), 0);
  EXPECT_EQ(between("l0", {0.0F}, {-0.0F}), 0);
  EXPECT_THROW(explanation_distance("l3"), Error);
}

// Many players are sorted, few looked at pair by pair: the same pairs, by the definition.
TEST(EvaluateCommon, KendallOfManyPlayers) {
  for (const size_t players : {47U, 48U, 49U, 130U}) {
    RandomStream random(7, "kendall test", players);
    std::vector<float> a(players);
    std::vector<float> b(players);
    for (size_t i = 0; i < players; i++) {
      a[i] = static_cast<float>(random.below(15)) - 7;
      b[i] = static_cast<float>(random.below(40)) - 20;
    }
    double apart = 0;
    for (size_t i = 0; i < players; i++) {
      for (size_t j = 0; j < i; j++) {
        const float in_a = std::abs(a[i]) - std::abs(a[j]);
        const float in_b = std::abs(b[i]) - std::abs(b[j]);
        if (in_a * in_b < 0) apart += 1;
        if ((in_a == 0) != (in_b == 0)) apart += 0.5;
      }
    }
    const double pairs = static_cast<double>(players * (players - 1)) / 2;
    EXPECT_DOUBLE_EQ(distance_between(ExplanationDistance::kendall, a, b), apart / pairs) << players;
  }
}

TEST(EvaluateCommon, DistancesAreSymmetricAndZeroToThemselves) {
  for (uint64_t row = 0; row < 40; row++) {
    const Floats a = random_row(7, 3 * row);
    const Floats b = random_row(7, 3 * row + 1);
    const Floats c = random_row(7, 3 * row + 2);
    for (const std::string& name : explanation_distance_names()) {
      EXPECT_NEAR(between(name, a, a), 0, 1e-15) << name;
      EXPECT_EQ(between(name, a, b), between(name, b, a)) << name;
      EXPECT_GT(between(name, a, b), 0) << name;
      if (name == "cosine") continue;
      EXPECT_LE(between(name, a, c), between(name, a, b) + between(name, b, c) + 1e-12) << name;
    }
  }
}

TEST(EvaluateCommon, ScalesToUnitNorm) {
  Matrix rows = matrix_of({{3, -4}, {0, 0}, {0, 5}});
  EXPECT_EQ(scale_to_unit_norm(rows.view()), 1U);
  EXPECT_TRUE(same_bits(rows, matrix_of({{0.6F, -0.8F}, {0, 0}, {0, 1}})));
  const Matrix given = matrix_of({{3, -4}});
  EXPECT_TRUE(same_bits(prepared(given.view(), {.normalise = "raw"}), given));
  EXPECT_TRUE(same_bits(prepared(given.view(), {.normalise = "unit"}), matrix_of({{0.6F, -0.8F}})));
}

ModelInfo info_of(size_t features, std::vector<std::string> outputs, std::vector<std::string> classes) {
  ModelInfo info;
  info.name = "test";
  for (size_t c = 0; c < features; c++) info.feature_names.push_back(fmt::format("x{}", c));
  info.output_names = std::move(outputs);
  info.class_names = std::move(classes);
  info.unit = info.class_names.empty() ? OutputUnit::value : OutputUnit::margin;
  return info;
}

TEST(EvaluateCommon, PredictedClassesOfAllKindsOfModels) {
  const auto pass = [](MatrixView<const float> rows, MatrixView<float> outputs) {
    for (size_t r = 0; r < rows.rows(); r++) std::copy_n(rows.row(r).begin(), outputs.cols(), outputs.row(r).begin());
  };
  const Matrix rows = matrix_of({{1, 2, 3}, {3, 3, 1}, {-1, 0, 0}});
  const auto three = model_from_function(info_of(3, {"a", "b", "c"}, {"a", "b", "c"}), pass);
  EXPECT_EQ(predicted_classes(*three, rows.view(), {}), (Order{2, 0, 1}));
  const auto one = model_from_function(info_of(3, {"b"}, {"a", "b"}), pass);
  EXPECT_EQ(predicted_classes(*one, rows.view(), {}), (Order{1, 1, 0}));
  const auto value = model_from_function(info_of(3, {"y"}, {}), pass);
  EXPECT_EQ(predicted_classes(*value, rows.view(), {}), (Order{0, 0, 0}));
}

// Features so wide that a batch holds two rows; every row is filled and taken once, in whatever batch.
TEST(EvaluateCommon, BatchesEqualOneByOne) {
  constexpr size_t kWide = size_t{1} << 20;
  size_t largest = 0;
  const auto sum = model_from_function(info_of(kWide, {"y"}, {}), [&](auto rows, auto outputs) {
    largest = std::max(largest, rows.rows());
    for (size_t r = 0; r < rows.rows(); r++) outputs(r, 0) = rows(r, 0) + 10 * rows(r, kWide - 1);
  });
  std::vector<std::atomic<int>> taken(5);
  std::vector<float> found(5);
  predict_made_rows(
      *sum, 5,
      [](size_t i, std::span<float> row) {
        row.front() = static_cast<float>(i);
        row.back() = static_cast<float>(i * i);
      },
      [&](size_t i, std::span<const float> outputs) {
        taken[i]++;
        found[i] = outputs[0];
      },
      on_threads(3));
  EXPECT_LE(largest, 2U);
  for (size_t i = 0; i < 5; i++) {
    EXPECT_EQ(taken[i], 1);
    EXPECT_EQ(found[i], static_cast<float>(i + 10 * i * i));
  }
}

TEST(EvaluateCommon, NothingToPredictRunsNothing) {
  const auto never = model_from_function(info_of(2, {"y"}, {}), [](auto, auto) { FAIL(); });
  predict_made_rows(
      *never, 0, [](size_t, std::span<float>) { FAIL(); }, [](size_t, std::span<const float>) { FAIL(); }, {});
}

TEST(EvaluateCommon, WhatAModelThrowsReachesTheCaller) {
  const auto broken = model_from_function(info_of(1, {"y"}, {}), [](auto, auto) { throw std::runtime_error("no"); });
  const auto fill = [](size_t, std::span<float> row) { row[0] = 1; };
  const auto ignore = [](size_t, std::span<const float>) {};
  EXPECT_THROW(predict_made_rows(*broken, 3, fill, ignore, {}), std::runtime_error);
  const auto fine = model_from_function(info_of(1, {"y"}, {}), [](auto, auto outputs) { outputs(0, 0) = 1; });
  EXPECT_THROW(
      predict_made_rows(*fine, 1, [](size_t, std::span<float>) { throw std::logic_error("fill"); }, ignore, {}),
      std::logic_error);
  EXPECT_THROW(
      predict_made_rows(*fine, 1, fill, [](size_t, std::span<const float>) { throw std::logic_error("take"); }, {}),
      std::logic_error);
  const std::atomic<bool> stop = true;
  Context cancelled;
  cancelled.cancelled = &stop;
  EXPECT_THROW(predict_made_rows(*fine, 1, fill, ignore, cancelled), Error);
}

class Tasks : public Progress {
 public:
  void begin(std::string_view task, uint64_t total) noexcept override {
    names.emplace_back(task);
    expected += total;
  }
  void advance(uint64_t amount) noexcept override { done += amount; }
  void end() noexcept override { ended++; }

  std::vector<std::string> names;
  uint64_t expected = 0;
  uint64_t done = 0;
  size_t ended = 0;
};

// A task without a name is part of somebody else's.
TEST(EvaluateCommon, ReportsProgressOfNamedTasksAlone) {
  const auto fine = model_from_function(info_of(1, {"y"}, {}), [](auto rows, auto outputs) {
    for (size_t r = 0; r < rows.rows(); r++) outputs(r, 0) = 0;
  });
  Tasks tasks;
  Context context;
  context.progress = &tasks;
  const auto fill = [](size_t, std::span<float> row) { row[0] = 1; };
  const auto ignore = [](size_t, std::span<const float>) {};
  predict_made_rows(*fine, 7, fill, ignore, context);
  EXPECT_TRUE(tasks.names.empty());
  EXPECT_EQ(tasks.done, 0U);
  predict_made_rows(*fine, 7, fill, ignore, context, "deleting");
  EXPECT_EQ(tasks.names, std::vector<std::string>{"deleting"});
  EXPECT_EQ(tasks.expected, 7U);
  EXPECT_EQ(tasks.done, 7U);
  EXPECT_EQ(tasks.ended, 1U);
}

TEST(EvaluateCommon, MasksAllColumnsOfAPlayer) {
  const Players players = players_of({0, 1, 0, 2}, 3);
  const Floats x = {1, 2, 3, 4};
  const Floats reference = {-1, -2, -3, -4};
  Floats row(4);
  mask_row(players, x, reference, std::vector<uint8_t>{1, 0, 0}, row);
  EXPECT_EQ(row, (Floats{1, -2, 3, -4}));
  mask_row(players, x, reference, std::vector<uint8_t>{0, 1, 1}, row);
  EXPECT_EQ(row, (Floats{-1, 2, -3, 4}));
}

}  // namespace
}  // namespace assay::testing
