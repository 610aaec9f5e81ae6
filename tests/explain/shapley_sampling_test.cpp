#include "assay/explain/shapley_sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "assay/explain/exact_shapley.h"
#include "tests/explain/run_method.h"
#include "tests/explain/toy_game.h"
#include "tests/message.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

auto with(const ShapleySamplingOptions& options) {
  return [=](const Game& game, Attributions& out, const Context& context) {
    shapley_sampling(game, options, out, context);
  };
}

double sum_of(std::span<const float> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

// The empty and the full coalition once, d - 1 others for each order.
TEST(ShapleySampling, EvaluatesEachCoalitionOfAnOrder) {
  std::vector<uint64_t> seen;
  const ToyGame game({.players = 5, .rows = 1, .references = 1, .concurrent = false},
                     [&](size_t, size_t, std::span<const uint64_t> coalition) {
                       seen.push_back(coalition[0]);
                       return 0.0;
                     });
  const Played played = play_toy(game, with({.permutations = 6}));
  EXPECT_EQ(played.out.evaluations, 2U + 6 * 4);
  ASSERT_EQ(seen.size(), 26U);
  EXPECT_EQ(seen[0], 0U);
  EXPECT_EQ(seen[1], 31U);
  for (size_t k = 0; k < 6; k++) {
    for (size_t j = 0; j < 4; j++) {
      const uint64_t here = seen[2 + 4 * k + j];
      EXPECT_EQ(std::popcount(here), static_cast<int>(j) + 1);
      if (j > 0) {
        const uint64_t before = seen[2 + 4 * k + j - 1];
        EXPECT_EQ(here & before, before);
      }
      // The first j + 1 players of a reverse order are those that come last in the order itself.
      if (k % 2 == 1) {
        EXPECT_EQ(here, 31U & ~seen[2 + 4 * (k - 1) + 3 - j]);
      }
    }
  }
}

// A pair of orders sees i join S and what remains of N; interactions of two players then average to their halves.
RC_GTEST_PROP(ShapleySamplingProperty, OnePairIsExactForGamesOfPairs, ()) {
  const auto players = *rc::gen::inRange<size_t>(1, 12);
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  RandomStream random(seed, "pairs");
  std::vector<double> weights(players * players);
  for (double& weight : weights) weight = static_cast<double>(random.below(33)) / 4 - 4;
  std::vector<double> expected(players);
  for (size_t i = 0; i < players; i++) {
    expected[i] = weights[i * players + i];
    for (size_t j = 0; j < i; j++) {
      expected[i] += weights[i * players + j] / 2;
      expected[j] += weights[i * players + j] / 2;
    }
  }
  const ToyGame game(players, [&](uint64_t mask) {
    double sum = 1;
    for (size_t i = 0; i < players; i++) {
      for (size_t j = 0; j <= i; j++) sum += (mask >> i & mask >> j & 1) != 0 ? weights[i * players + j] : 0;
    }
    return sum;
  });
  const Played played = play_toy(game, with({.permutations = 2}), 1, seed);
  expect_near(played.values.row(0), expected);
  for (const float error : played.out.standard_error.values()) RC_ASSERT(std::isnan(error));
  const Played more = play_toy(game, with({.permutations = 6}), 1, seed);
  for (const float error : more.out.standard_error.values()) RC_ASSERT(error < 1e-6F);
}

RC_GTEST_PROP(ShapleySamplingProperty, EfficiencyLinearityAndDummiesHold, ()) {
  const auto players = *rc::gen::inRange<size_t>(2, 11);
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  const auto antithetic = *rc::gen::arbitrary<bool>();
  const auto dummy = *rc::gen::inRange<size_t>(0, players);
  const auto a = random_table(players, seed);
  const auto b = random_table(players, seed + 1);
  const auto values = [&](const MaskValue& value) {
    return play_toy(ToyGame(players, value), with({.permutations = 4, .antithetic = antithetic}), 1, seed).values;
  };
  const Matrix of_a = values([&](uint64_t mask) { return a[mask]; });
  const Matrix of_b = values([&](uint64_t mask) { return b[mask]; });
  const Matrix of_both = values([&](uint64_t mask) { return 2 * a[mask] - b[mask]; });
  const Matrix with_dummy =
      values([&](uint64_t mask) { return a[mask & ~(uint64_t{1} << dummy)] + ((mask >> dummy & 1) != 0 ? 1.5 : 0); });
  RC_ASSERT(std::abs(sum_of(of_a.row(0)) - (a.back() - a.front())) < 1e-5);
  RC_ASSERT(std::abs(with_dummy(0, dummy) - 1.5F) < 1e-6F);
  for (size_t i = 0; i < players; i++) RC_ASSERT(std::abs(of_both(0, i) - (2 * of_a(0, i) - of_b(0, i))) < 1e-4F);
}

// Four orders of three players of the glove game, values and errors from the orders themselves.
TEST(ShapleySampling, ValuesAndErrorsAreMeanAndSpreadOverUnits) {
  const auto value = [](uint64_t mask) { return (mask & 1) != 0 && mask > 1 ? 6.0 : 0.0; };
  for (const bool antithetic : {true, false}) {
    std::vector<uint64_t> seen;
    const ToyGame game({.players = 3, .rows = 1, .references = 1, .concurrent = false},
                       [&](size_t, size_t, std::span<const uint64_t> coalition) {
                         seen.push_back(coalition[0]);
                         return value(coalition[0]);
                       });
    const Played played = play_toy(game, with({.permutations = 6, .antithetic = antithetic}), 1, 4);
    EXPECT_THAT(played.out.notes, IsEmpty());
    const size_t in_unit = antithetic ? 2 : 1;
    const size_t units = 6 / in_unit;
    for (size_t i = 0; i < 3; i++) {
      std::vector<double> added(units);
      for (size_t k = 0; k < 6; k++) {
        const std::array<uint64_t, 4> along = {0, seen[2 + 2 * k], seen[3 + 2 * k], 7};
        for (size_t j = 0; j < 3; j++) {
          if ((along[j] ^ along[j + 1]) != uint64_t{1} << i) continue;
          added[k / in_unit] += (value(along[j + 1]) - value(along[j])) / static_cast<double>(in_unit);
        }
      }
      const double mean = std::accumulate(added.begin(), added.end(), 0.0) / static_cast<double>(units);
      double squares = 0;
      for (const double one : added) squares += (one - mean) * (one - mean);
      EXPECT_NEAR(played.values(0, i), mean, 1e-6);
      EXPECT_NEAR(played.out.standard_error(0, i),
                  std::sqrt(squares / static_cast<double>(units - 1) / static_cast<double>(units)), 1e-6);
    }
  }
}

TEST(ShapleySampling, ConvergesToTheExactValues) {
  const ToyGame game({.players = 8, .rows = 10}, network_value(8, 6, 2));
  const Played exact = play_toy(game, exact_shapley);
  for (const bool antithetic : {true, false}) {
    double before = 1e9;
    for (const int64_t permutations : {4, 32, 256, 2048}) {
      const Played played = play_toy(game, with({.permutations = permutations, .antithetic = antithetic}));
      double squares = 0;
      for (size_t v = 0; v < played.values.values().size(); v++) {
        squares += std::pow(played.values.values()[v] - exact.values.values()[v], 2);
      }
      EXPECT_LT(squares, 0.4 * before) << permutations;  // an eighth on average
      before = squares;
    }
  }
}

TEST(ShapleySampling, ManyPlayers) {
  const size_t players = 784;
  const ToyGame game({.players = players}, [](size_t, size_t, std::span<const uint64_t> coalition) {
    double sum = 0;
    for (size_t w = 0; w < coalition.size(); w++) {
      sum += static_cast<double>(w + 1) * static_cast<double>(std::popcount(coalition[w]));
    }
    return sum;
  });
  const Played played = play_toy(game, with({.permutations = 4}));
  EXPECT_EQ(played.out.evaluations, 2U + 4 * 783);
  for (size_t i = 0; i < players; i++) EXPECT_NEAR(played.values(0, i), static_cast<double>(i / 64 + 1), 1e-5);
}

TEST(ShapleySampling, ABackgroundIsAveragedWithBothErrors) {
  // Against reference row r player i adds (i + 1) r, and both together r more: with one pair of orders no sampling
  // error is known, over r = 1, 3 the mean is 2 (i + 1) + 1, and its error is that of 1, 3, which is 1, times (i + 1) +
  // 1/2.
  const ToyGame game({.players = 2, .rows = 1, .references = 2},
                     [](size_t, size_t reference, std::span<const uint64_t> coalition) {
                       const double r = reference == 0 ? 1 : 3;
                       return r * std::array<double, 4>{0, 1, 2, 4}[coalition[0]];
                     });
  const Played played = play_toy(game, with({.permutations = 2}));
  expect_near(played.values.row(0), {3, 5});
  expect_near(played.out.background_error.row(0), {1.5, 2.5});
  EXPECT_TRUE(std::isnan(played.out.standard_error(0, 0)));
  EXPECT_THAT(played.out.notes,
              ElementsAre("shapley_sampling: one pair of permutations has no standard error; take 4 or more"));
  // The sampling error is that of the mean game.
  const auto value = network_value(6, 6, 2);
  const Played both = play_toy(ToyGame({.players = 6, .rows = 1, .references = 3}, value), with({.permutations = 8}));
  const ToyGame mean(6, [&](uint64_t mask) {
    return (value(0, 0, {&mask, 1}) + value(0, 1, {&mask, 1}) + value(0, 2, {&mask, 1})) / 3;
  });
  const Played of_mean = play_toy(mean, with({.permutations = 8}));
  for (size_t i = 0; i < 6; i++) {
    EXPECT_NEAR(both.values(0, i), of_mean.values(0, i), 1e-5);
    EXPECT_NEAR(both.out.standard_error(0, i), of_mean.out.standard_error(0, i), 1e-5);
  }
}

TEST(ShapleySampling, OnePermutationHasNoError) {
  const ToyGame game({.players = 4}, network_value(4, 3, 1));
  const Played played = play_toy(game, with({.permutations = 1, .antithetic = false}));
  EXPECT_TRUE(std::isnan(played.out.standard_error(0, 2)));
  EXPECT_THAT(played.out.notes, ElementsAre("shapley_sampling: one permutation has no standard error; take 2 or more"));
}

TEST(ShapleySampling, GivesTheSameBitsHoweverItIsRun) {
  expect_one_answer(9, 20, 1, with({.permutations = 6}));
  expect_one_answer(5, 20, 3, with({.permutations = 5, .antithetic = false}));
}

TEST(ShapleySampling, RefusesAnOddNumberOfPairs) {
  EXPECT_EQ(
      sentence([] { make_method("shapley_sampling:permutations=25"); }),
      "shapley_sampling, option permutations: expected an even number, for antithetic pairs (or antithetic=false), "
      "found 25");
  EXPECT_EQ(sentence([] { make_method("shapley_sampling:permutations=25:antithetic=false"); }), "no error");
}

// Of rows that differ from the reference in all players, in some, in one and in none.
TEST(ShapleySampling, KnowsItsEvaluationsBeforehand) {
  const Toy toy = linear_toy();
  const Setting setting =
      setting_of(toy.model, matrix_of({{1, 2, 3}, {0, 2, 3}, {0, 1, 4}, {0, 1, -1}}), matrix_of({toy.reference}));
  const Result found = explained("shapley_sampling:permutations=8", setting);
  EXPECT_EQ(found.out.evaluations, (2U + 8 * 2) + (2 + 8) + 2);
  EXPECT_EQ(shapley_sampling_evaluations(setting.task(), {.permutations = 8}), found.out.evaluations);
}

}  // namespace
}  // namespace assay::testing
