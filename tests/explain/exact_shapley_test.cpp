#include "assay/explain/exact_shapley.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <numeric>

#include "assay/explain/games/shapley_fold.h"
#include "tests/explain/run_method.h"
#include "tests/explain/toy_game.h"

namespace assay::testing {
namespace {

std::vector<float> exact(size_t players, const MaskValue& value) {
  const Played played = play_toy(ToyGame(players, value), exact_shapley);
  EXPECT_TRUE(played.out.standard_error.empty());
  EXPECT_TRUE(played.out.background_error.empty());
  EXPECT_EQ(played.out.evaluations, uint64_t{1} << players);
  return {played.values.values().begin(), played.values.values().end()};
}

bool has(uint64_t mask, size_t player) { return (mask >> player & 1) != 0; }

// Sizes on both sides of the columns (2^6) and of one part (2^14) of the fold.
class ExactShapleySizes : public ::testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Players, ExactShapleySizes, ::testing::Values(1, 2, 3, 5, 6, 7, 9, 13, 14, 15, 17));

TEST_P(ExactShapleySizes, AdditiveGamesGiveEachPlayerItsOwn) {
  const size_t players = GetParam();
  std::vector<double> own(players);
  for (size_t i = 0; i < players; i++) own[i] = 1.25 * static_cast<double>(i) - 3;
  const auto values = exact(players, [&](uint64_t mask) {
    double sum = 7;
    for (size_t i = 0; i < players; i++) sum += has(mask, i) ? own[i] : 0;
    return sum;
  });
  expect_near(values, own);
}

// Littlechild and Owen (1973): a runway of length c_j serves all who need at least it, so each stretch c_j - c_(j-1) is
// shared by the players j, j + 1, ...
TEST_P(ExactShapleySizes, TheAirportGameSharesEachStretchAmongThoseWhoNeedIt) {
  const size_t players = GetParam();
  const auto cost = [](size_t i) { return static_cast<double>(1 + i * i); };
  std::vector<double> expected(players);
  double share = 0;
  for (size_t i = 0; i < players; i++) {
    share += (cost(i) - (i > 0 ? cost(i - 1) : 0)) / static_cast<double>(players - i);
    expected[i] = share;
  }
  // The largest need is that of the highest player; a large constant must not cost digits.
  const auto value = [&](uint64_t mask) {
    return (1 << 20) + (mask == 0 ? 0 : cost(static_cast<size_t>(std::bit_width(mask) - 1)));
  };
  expect_near(exact(players, value), expected);
}

// All of a set of t players are needed: 1 / t for each of them, nothing for others.
TEST_P(ExactShapleySizes, UnanimityIsSharedEvenly) {
  const size_t players = GetParam();
  const uint64_t needed = 0x15155 & ((uint64_t{1} << players) - 1);
  std::vector<double> expected(players);
  for (size_t i = 0; i < players; i++) expected[i] = has(needed, i) ? 1.0 / std::popcount(needed) : 0;
  expect_near(exact(players, [&](uint64_t mask) { return (mask & needed) == needed ? 1 : 0; }), expected);
}

// All players are alike, so each gets v(N) / d: 1 / d for an odd number of players, 0 for an even one.
TEST_P(ExactShapleySizes, ParityIsSharedEvenly) {
  const size_t players = GetParam();
  const std::vector<double> expected(players, players % 2 == 1 ? 1 / static_cast<double>(players) : 0);
  expect_near(exact(players, [](uint64_t mask) { return std::popcount(mask) % 2; }), expected);
}

TEST(ExactShapley, TheGloveGame) {
  // Player 0 has a left glove, 1 and 2 have right ones; a pair is worth 1. Player 0 makes the pair in 4 of 6 orders
  // (all but those it opens), players 1 and 2 in one each (0 1 2 and 0 2 1).
  const auto value = [](uint64_t mask) { return has(mask, 0) && (has(mask, 1) || has(mask, 2)) ? 1 : 0; };
  expect_near(exact(3, value), {4.0 / 6, 1.0 / 6, 1.0 / 6});
}

TEST(ExactShapley, AWeightedVote) {
  // Weights 4, 3, 2, 1 and 6 to win. Winning: {0,1}, {0,2}, {1,2,3} and those that hold one of these. Swings of 0: at
  // {1}, {2}, {1,3}, {2,3}, {1,2}: sizes 1, 1, 2, 2, 2, so (2 * 2 + 3 * 2) / 24 = 10/24. Of 1: {0}, {0,3}, {2,3}: (2 +
  // 2 + 2) / 24. 2 the same. Of 3: {1,2}: 2 / 24.
  const auto value = [](uint64_t mask) {
    return 4 * has(mask, 0) + 3 * has(mask, 1) + 2 * has(mask, 2) + has(mask, 3) >= 6 ? 1 : 0;
  };
  expect_near(exact(4, value), {10.0 / 24, 6.0 / 24, 6.0 / 24, 2.0 / 24});
}

RC_GTEST_PROP(ExactShapleyProperty, IsTheMeanOverAllOrders, ()) {
  const auto players = *rc::gen::inRange<size_t>(1, 8);
  const auto value = table_value(random_table(players, *rc::gen::arbitrary<uint64_t>()));
  expect_near(exact(players, value), brute_force_shapley(players, value));
}

RC_GTEST_PROP(ExactShapleyProperty, Efficiency, ()) {
  const auto players = *rc::gen::inRange<size_t>(1, 11);
  const auto table = random_table(players, *rc::gen::arbitrary<uint64_t>());
  const ShapleyFold fold(players);
  const std::vector<float> values(table.begin(), table.end());
  ShapleyFold::Sums sums;
  fold.add(sums, 0, values);
  std::vector<double> phi(players);
  fold.shapley_values(sums, phi);
  const double sum = std::accumulate(phi.begin(), phi.end(), 0.0);
  RC_ASSERT(std::abs(sum - (table.back() - table.front())) < 1e-13);
}

RC_GTEST_PROP(ExactShapleyProperty, DummiesGetWhatTheyAddEverywhere, ()) {
  const auto players = *rc::gen::inRange<size_t>(2, 11);
  const auto dummy = *rc::gen::inRange<size_t>(0, players);
  const auto table = random_table(players, *rc::gen::arbitrary<uint64_t>());
  const auto values = exact(
      players, [&](uint64_t mask) { return table[mask & ~(uint64_t{1} << dummy)] + (has(mask, dummy) ? 2.5 : 0); });
  RC_ASSERT(std::abs(values[dummy] - 2.5F) < 1e-6F);
}

RC_GTEST_PROP(ExactShapleyProperty, PlayersThatAddTheSameGetTheSame, ()) {
  const auto players = *rc::gen::inRange<size_t>(2, 11);
  const auto twin = *rc::gen::inRange<size_t>(1, players);
  const auto table = random_table(players, *rc::gen::arbitrary<uint64_t>());
  // Only how many of players 0 and `twin` are there matters.
  const auto values = exact(players, [&](uint64_t mask) {
    const uint64_t others = mask & ~uint64_t{1} & ~(uint64_t{1} << twin);
    if (has(mask, 0) && has(mask, twin)) return table[mask];
    return table[others | (has(mask, 0) || has(mask, twin) ? 1 : 0)];
  });
  RC_ASSERT(std::abs(values[0] - values[twin]) < 1e-5F);
}

RC_GTEST_PROP(ExactShapleyProperty, Linearity, ()) {
  const auto players = *rc::gen::inRange<size_t>(1, 11);
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  const auto a = random_table(players, seed);
  const auto b = random_table(players, seed + 1);
  const auto of_a = exact(players, [&](uint64_t mask) { return a[mask]; });
  const auto of_b = exact(players, [&](uint64_t mask) { return b[mask]; });
  const auto of_both = exact(players, [&](uint64_t mask) { return 2 * a[mask] - b[mask]; });
  for (size_t i = 0; i < players; i++) RC_ASSERT(std::abs(of_both[i] - (2 * of_a[i] - of_b[i])) < 2e-5F);
}

TEST(ExactShapley, ABackgroundIsAveragedWithItsError) {
  // Player i adds (i + 1) * r against reference row r = 0, 1, 2, so the mean is i + 1. Variance of 0, 1, 2 is 1, its
  // error sqrt(1 / 3).
  const ToyGame game({.players = 16, .rows = 2, .references = 3},
                     [](size_t row, size_t reference, std::span<const uint64_t> coalition) {
                       double sum = 10;
                       for (size_t i = 0; i < 16; i++) {
                         if (has(coalition[0], i)) sum += static_cast<double>((row + 1) * (i + 1) * reference);
                       }
                       return sum;
                     });
  const Played played = play_toy(game, exact_shapley);
  for (size_t row = 0; row < 2; row++) {
    for (size_t i = 0; i < 16; i++) {
      const auto times = static_cast<double>((row + 1) * (i + 1));
      EXPECT_NEAR(played.values(row, i), times, 1e-6 * times);
      EXPECT_NEAR(played.out.background_error(row, i), times * std::sqrt(1.0 / 3), 1e-6 * times);
    }
  }
  EXPECT_EQ(played.out.evaluations, 2 * 3 * 65536);
}

TEST(ExactShapley, GivesTheSameBitsHoweverItIsRun) {
  expect_one_answer(5, 20, 2, exact_shapley);
  expect_one_answer(8, 19, 1, exact_shapley);
}

TEST(ExactShapley, AnUndefinedValueMakesUndefinedAttributions) {
  const auto values = exact(7, [](uint64_t mask) { return mask == 77 ? std::nan("") : 1.0; });
  for (const float value : values) EXPECT_TRUE(std::isnan(value));
}

TEST(ExactShapley, APlayerThatTakesNoPartGetsNothingAtAll) {
  // Thirds and sevenths, so that sums round.
  const auto values = exact(9, [](uint64_t mask) {
    double value = 0.1;
    for (size_t i = 0; i < 9; i++) value += (mask >> i & 1) != 0 && i != 4 ? 1.0 / (3.0 + static_cast<double>(i)) : 0;
    return static_cast<double>(static_cast<float>(value * value * value / 7));
  });
  EXPECT_EQ(values[4], 0);
  for (size_t i = 0; i < 9; i++) EXPECT_EQ(values[i] != 0, i != 4);
}

TEST(ExactShapley, RefusesMorePlayersThanItCanEnumerate) {
  const auto reason = [](size_t columns) {
    ModelInfo info;
    info.name = "sum.onnx";
    info.feature_names.assign(columns, "x");
    info.output_names = {"y"};
    const auto model = model_from_function(std::move(info), [](MatrixView<const float>, MatrixView<float>) {});
    const Matrix rows(1, columns);
    const Reference reference{.rows = Matrix(1, columns), .description = "zero"};
    const Targets targets;
    const Players players = column_players(model->info().feature_names);
    return make_method("exact_shapley")->refuses({*model, rows.view(), targets, reference, players});
  };
  EXPECT_EQ(reason(24), std::nullopt);
  EXPECT_EQ(reason(25).value_or(""),
            "needs all 2^d coalitions of d players, at most 24 players, and there are 25: group features, or use "
            "kernel_shap");
}

}  // namespace
}  // namespace assay::testing
