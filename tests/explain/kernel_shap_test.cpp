#include "assay/explain/kernel_shap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <numeric>

#include "assay/explain/exact_shapley.h"
#include "assay/explain/games/paired_regression.h"
#include "tests/explain/toy_game.h"
#include "tests/message.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

auto with(const KernelShapOptions& options) {
  return [=](const Game& game, Attributions& out, const Context& context) { kernel_shap(game, options, out, context); };
}

ToyGame network(size_t players, size_t rows, size_t references = 1) {
  return {{.players = players, .rows = rows, .references = references}, network_value(players, 6, 2)};
}

Context seeded(uint64_t seed) {
  Context made;
  made.seed = seed;
  return made;
}

double sum_of(std::span<const float> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

// The regression against what it stands for: the plain kernel-weighted objective over all sampled coalitions, one by
// one. At its minimum under sum phi = D the derivative by each phi_i is the same (Lagrange's multiplier).
TEST(KernelShap, MinimisesTheWeightedSquaresOverAllCoalitions) {
  const size_t players = 9;
  const auto table = random_table(players, 3);
  for (const std::string sampling : {"kernel", "leverage", "balanced"}) {
    const auto allocation = sampling == "kernel"     ? PairAllocation::kernel
                            : sampling == "leverage" ? PairAllocation::leverage
                                                     : PairAllocation::balanced;
    const auto regression = PairedRegression::make(make_pair_design(players, 60, allocation, seeded(5)), {});
    ASSERT_TRUE(regression);
    const PairDesign& design = regression->design();
    std::vector<float> values;
    for (size_t c = 0; c < design.coalitions.size(); c++) {
      values.push_back(static_cast<float>(table[design.coalitions.word(c, 0)]));
    }
    std::vector<double> sides(60);
    std::vector<double> phi(players);
    const double total = regression->left_sides(values, sides);
    regression->fit(sides, total, phi);
    EXPECT_DOUBLE_EQ(total, table.back() - table.front());
    EXPECT_NEAR(std::accumulate(phi.begin(), phi.end(), 0.0), total, 1e-13);
    std::vector<double> derivative(players);
    for (const PairStratum& stratum : design.strata) {
      for (size_t p = stratum.begin; p < stratum.end; p++) {
        for (const size_t c : {2 + p, 2 + 60 + p}) {
          const uint64_t mask = design.coalitions.word(c, 0);
          double residual = table[mask] - table[0];
          for (size_t i = 0; i < players; i++) residual -= (mask >> i & 1) != 0 ? phi[i] : 0;
          for (size_t i = 0; i < players; i++) {
            if ((mask >> i & 1) != 0) derivative[i] += stratum.weight() * residual;
          }
        }
      }
    }
    for (const double by_player : derivative) EXPECT_NEAR(by_player, derivative[0], 1e-11) << sampling;
    // And through the method itself.
    const Played played = play_toy(ToyGame(players, table_value(table)),
                                   with({.samples = 122, .sampling = sampling, .interactions = false}), 1, 5);
    expect_near(played.values.row(0), phi);
    EXPECT_EQ(played.out.evaluations, 122U);
    EXPECT_THAT(played.out.notes, IsEmpty());
  }
}

// The sandwich as the header writes it, with Q and the leverages found by fitting one unit at a time.
TEST(KernelShap, StandardErrorsAreTheSandwichOverStrata) {
  const size_t players = 9;
  const size_t pairs = 70;
  const auto regression =
      PairedRegression::make(make_pair_design(players, pairs, PairAllocation::balanced, seeded(5)), {});
  ASSERT_TRUE(regression);
  const PairDesign& design = regression->design();
  std::vector<double> sides(pairs);
  RandomStream random(1, "sides");
  for (double& side : sides) side = random.normal();
  std::vector<double> phi(players);
  regression->fit(sides, 3, phi);
  std::vector<double> variances(players);
  for (const PairStratum& stratum : design.strata) {
    if (stratum.whole()) continue;
    const auto count = static_cast<double>(stratum.end - stratum.begin);
    std::vector<std::vector<double>> terms(players);
    for (size_t p = stratum.begin; p < stratum.end; p++) {
      std::vector<double> unit(pairs);
      unit[p] = 1;
      std::vector<double> column(players);
      regression->fit(unit, 0, column);
      double residual = sides[p];
      double leverage = 0;
      for (size_t i = 0; i < players; i++) {
        const double regressor = (design.coalitions.contains(2 + p, i) ? 1 : 0) - static_cast<double>(stratum.size) / 9;
        residual -= (phi[i] - 3.0 / 9) * regressor;
        leverage += column[i] * regressor;
      }
      for (size_t i = 0; i < players; i++) terms[i].push_back(column[i] * residual / (1 - leverage));
    }
    for (size_t i = 0; i < players; i++) {
      const double mean = std::accumulate(terms[i].begin(), terms[i].end(), 0.0) / count;
      double squares = 0;
      for (const double term : terms[i]) squares += (term - mean) * (term - mean);
      variances[i] += (1 - count / stratum.population) * count / (count - 1) * squares;
    }
  }
  std::vector<double> errors(players);
  regression->standard_errors(sides, phi, errors);
  for (size_t i = 0; i < players; i++) EXPECT_NEAR(errors[i], std::sqrt(variances[i]), 1e-12);
}

// Without residuals there is no error, whatever the sample.
RC_GTEST_PROP(KernelShapProperty, AdditiveGamesAreExactAtAnyBudget, ()) {
  const auto players = *rc::gen::inRange<size_t>(6, 80);
  const auto samples = *rc::gen::inRange<int64_t>(4 * static_cast<int64_t>(players) + 2, 700);
  std::vector<double> own(players);
  for (size_t i = 0; i < players; i++) own[i] = static_cast<double>(*rc::gen::inRange(-64, 65)) / 8;
  const ToyGame game({.players = players}, [&](size_t, size_t, std::span<const uint64_t> coalition) {
    double sum = 3;
    for (size_t i = 0; i < players; i++) sum += (coalition[i / 64] >> i % 64 & 1) != 0 ? own[i] : 0;
    return sum;
  });
  const auto sampling = *rc::gen::element<std::string>("kernel", "leverage", "balanced");
  const Played played =
      play_toy(game, with({.samples = samples, .sampling = sampling}), 1, *rc::gen::arbitrary<uint64_t>());
  expect_near(played.values.row(0), own);
  for (const float error : played.out.standard_error.values()) RC_ASSERT(error < 1e-6F);
  RC_ASSERT(played.out.evaluations <= static_cast<uint64_t>(samples));
}

// Of these 16 pairs one is all that tells of a player, so that no additive fit to the others foretells it.
TEST(KernelShap, AnAdditiveGameIsExactWhereAPlayerHangsOnOnePair) {
  const std::vector<double> own = {-8, -8, -8, -8, -8, -8, -8, -7.875};
  const ToyGame game(8, [&](uint64_t mask) {
    double sum = 3;
    for (size_t i = 0; i < 8; i++) sum += (mask >> i & 1) != 0 ? own[i] : 0;
    return sum;
  });
  const PairedRegression additive =
      *PairedRegression::make(make_pair_design(8, 16, PairAllocation::balanced, seeded(4)), {});
  std::vector<size_t> pairs(16);
  std::iota(pairs.begin(), pairs.end(), size_t{0});
  const Matrix64 left_out = additive.left_out(pairs);
  EXPECT_TRUE(std::ranges::any_of(left_out.values(), [](double value) { return std::isnan(value); }));
  const Played played = play_toy(game, with({.samples = 34, .sampling = "balanced"}), 1, 4);
  expect_near(played.values.row(0), own);
}

RC_GTEST_PROP(KernelShapProperty, EfficiencyAndLinearityHoldForOneDesign, ()) {
  const auto players = *rc::gen::inRange<size_t>(6, 11);
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  const auto a = random_table(players, seed);
  const auto b = random_table(players, seed + 1);
  const auto values = [&](const MaskValue& value) {
    return play_toy(ToyGame(players, value), with({.samples = 50, .interactions = false}), 1, seed).values;
  };
  const Matrix of_a = values([&](uint64_t mask) { return a[mask]; });
  const Matrix of_b = values([&](uint64_t mask) { return b[mask]; });
  const Matrix of_both = values([&](uint64_t mask) { return 2 * a[mask] - b[mask]; });
  RC_ASSERT(std::abs(sum_of(of_a.row(0)) - (a.back() - a.front())) < 1e-5);
  for (size_t i = 0; i < players; i++) RC_ASSERT(std::abs(of_both(0, i) - (2 * of_a(0, i) - of_b(0, i))) < 1e-4F);
}

TEST(KernelShap, ABudgetThatCoversAllCoalitionsIsExact) {
  for (const size_t players : {1, 2, 3, 7, 11}) {
    const ToyGame game = network(players, 3);
    const Played exact = play_toy(game, exact_shapley);
    for (const int64_t samples : {int64_t{2048}, int64_t{1} << players}) {
      const Played played = play_toy(game, with({.samples = samples}));
      EXPECT_TRUE(equal_bits(played.values, exact.values));
      EXPECT_EQ(played.out.evaluations, 3U << players);
      for (const float error : played.out.standard_error.values()) EXPECT_EQ(error, 0);
      ASSERT_EQ(played.out.notes.size(), 1U);
    }
  }
  const Played played = play_toy(network(4, 2), with({.samples = 16}));
  EXPECT_THAT(played.out.notes,
              ElementsAre("kernel_shap: 16 samples cover all 16 coalitions of 4 players, so the values "
                          "of all rows are exact"));
}

// All pairs but one: the regression itself, not the fall-back, is within a hair of the exact values.
TEST(KernelShap, AlmostAllPairsAreAlmostExact) {
  const ToyGame game = network(11, 3);
  const Played exact = play_toy(game, exact_shapley);
  const Played played = play_toy(game, with({.samples = 2047}));
  EXPECT_THAT(played.out.notes, IsEmpty());
  EXPECT_EQ(played.out.evaluations, 3U * 2046);
  for (size_t row = 0; row < 3; row++) {
    for (size_t i = 0; i < 11; i++) EXPECT_NEAR(played.values(row, i), exact.values(row, i), 1e-3);
  }
}

TEST(KernelShap, ConvergesToTheExactValues) {
  const size_t rows = 12;
  const ToyGame game = network(10, rows);
  const Played exact = play_toy(game, exact_shapley);
  for (const std::string sampling : {"kernel", "leverage", "balanced"}) {
    double before = 1e9;
    for (const int64_t samples : {30, 120, 480, 960}) {
      const Played played = play_toy(game, with({.samples = samples, .sampling = sampling}));
      double squares = 0;
      for (size_t v = 0; v < played.values.values().size(); v++) {
        squares += std::pow(played.values.values()[v] - exact.values.values()[v], 2);
      }
      // Four times the samples: a fourth of the mean squared error, or less where few are left out.
      EXPECT_LT(squares, 0.5 * before) << sampling << ", " << samples << " samples";
      before = squares;
    }
  }
}

class KernelShapOfMany : public ::testing::TestWithParam<bool> {};

// More players than a word holds, with closed forms: what three players make together is shared by them.
TEST_P(KernelShapOfMany, PlayersHaveTheirClosedForm) {
  const size_t players = 150;
  const ToyGame game({.players = players, .rows = 2}, [](size_t row, size_t, std::span<const uint64_t> coalition) {
    const auto has = [&](size_t i) { return (coalition[i / 64] >> i % 64 & 1) != 0; };
    double value = has(149) ? 2 : 0;
    for (size_t i = 0; i < 50; i++) value += has(i) && has(50 + i) && has(99 - i) ? 1.0 + static_cast<double>(row) : 0;
    return value;
  });
  const Played played = play_toy(game, with({.interactions = GetParam()}));
  EXPECT_EQ(played.out.evaluations, 2U * 2048);
  size_t covered = 0;
  for (size_t row = 0; row < 2; row++) {
    for (size_t i = 0; i < players; i++) {
      const double expected = i == 149 ? 2 : i < 100 ? (i < 50 ? 1.0 : 2.0) * (1.0 + static_cast<double>(row)) / 3 : 0;
      const double error = played.out.standard_error(row, i);
      EXPECT_GT(error, 0);
      EXPECT_LT(error, 0.6);
      EXPECT_NEAR(played.values(row, i), expected, 5 * error);
      covered += std::abs(played.values(row, i) - expected) < 1.96 * error ? 1 : 0;
    }
    EXPECT_NEAR(sum_of(played.values.row(row)), 2 + 50 * (1.0 + static_cast<double>(row)), 1e-3);
  }
  // With interactions all players have about the same error, though a third of them take part in nothing here: of the
  // others fewer are covered.
  EXPECT_GT(covered, (GetParam() ? 0.85 : 0.9) * 300);
}

INSTANTIATE_TEST_SUITE_P(Interactions, KernelShapOfMany, ::testing::Bool());

// phi is linear in the game: over a background it is that of the mean game, and so is its sampling error. The
// background's error is that of the mean of the additive regression's values against each row alone.
TEST(KernelShap, ABackgroundIsAveragedWithBothErrors) {
  const size_t players = 8;
  const size_t references = 5;
  const auto value = network_value(players, 6, 2);
  const KernelShapOptions options{.samples = 80};
  const KernelShapOptions additive{.samples = 80, .interactions = false};
  const Played played = play_toy(network(players, 2, references), with(options));
  EXPECT_EQ(played.out.evaluations, 2U * 80 * references);
  for (size_t row = 0; row < 2; row++) {
    const Played of_mean = play_toy(ToyGame(players,
                                            [&](uint64_t mask) {
                                              double sum = 0;
                                              for (size_t r = 0; r < references; r++) sum += value(row, r, {&mask, 1});
                                              return sum / static_cast<double>(references);
                                            }),
                                    with(options));
    std::vector<Matrix> alone;
    for (size_t r = 0; r < references; r++) {
      alone.push_back(
          play_toy(ToyGame(players, [&](uint64_t mask) { return value(row, r, {&mask, 1}); }), with(additive)).values);
    }
    for (size_t i = 0; i < players; i++) {
      EXPECT_NEAR(played.values(row, i), of_mean.values(0, i), 1e-5);
      EXPECT_NEAR(played.out.standard_error(row, i), of_mean.out.standard_error(0, i), 1e-5);
      double mean = 0;
      double squares = 0;
      for (const Matrix& one : alone) mean += one(0, i) / static_cast<double>(references);
      for (const Matrix& one : alone) squares += std::pow(one(0, i) - mean, 2);
      EXPECT_NEAR(played.out.background_error(row, i), std::sqrt(squares / 4 / 5), 1e-5);
    }
  }
}

// More samples without interactions would be less accurate.
TEST(KernelShap, TakesNoMoreSamplesThanInteractionsAreFittedTo) {
  const ToyGame game = network(15, 1);
  const Played found = play_toy(game, with({.samples = 9000}), 2);
  EXPECT_EQ(found.out.evaluations, 8194U);
  EXPECT_THAT(found.out.notes, ElementsAre("kernel_shap: interactions are fitted to at most 8194 samples, so 8194 of "
                                           "9000 were taken; interactions=false takes all"));
  EXPECT_TRUE(equal_bits(found.values, play_toy(game, with({.samples = 8194})).values));
  const Played all = play_toy(game, with({.samples = 9000, .interactions = false}));
  EXPECT_EQ(all.out.evaluations, 9000U);
  EXPECT_THAT(all.out.notes, IsEmpty());
}

// A round that is too large for interactions has more samples and yet larger errors here: values stay as they were.
TEST(KernelShap, ALargerRoundWithoutInteractionsReplacesNothingBetter) {
  const ToyGame game(15, [](uint64_t mask) {
    const auto sign = [&](size_t i) { return (mask >> i & 1) != 0 ? 1.0 : -1.0; };
    return sign(0) * sign(1) * sign(2) + sign(3) - 2 * sign(4) * sign(5) * sign(14);
  });
  const Played before = play_toy(game, with({.samples = 8000}), 2);
  const Played after = play_toy(game, with({.samples = 16000, .interactions = false}), 2);
  ASSERT_LT(std::ranges::max(before.out.standard_error.row(0)), std::ranges::max(after.out.standard_error.row(0)));
  const Played found = play_toy(game, with({.samples = 8000, .tolerance = 1e-12, .most_samples = 16000}), 2);
  EXPECT_EQ(found.out.evaluations, 8000U + 16000);
  EXPECT_TRUE(equal_bits(found.values, before.values));
  EXPECT_TRUE(equal_bits(found.out.standard_error, before.out.standard_error));
}

TEST(KernelShap, SamplesUntilTheToleranceIsReached) {
  const size_t rows = 12;
  const ToyValue value = network_value(12, 6, 2);
  // Rows of very different sizes: the small ones stop early.
  const ToyGame game({.players = 12, .rows = rows}, [&](size_t row, size_t, std::span<const uint64_t> coalition) {
    return value(row, 0, coalition) * std::pow(2, -static_cast<double>(row));
  });
  const KernelShapOptions options{.samples = 60, .tolerance = 0.003, .most_samples = 400};
  const Played played = play_toy(game, with(options), 2);
  EXPECT_EQ(played.out.evaluations, game.evaluations());
  // Rounds of 60, 120, 240 and 400 samples: what each row ends with is what its round gives without a tolerance.
  std::vector<Played> rounds;
  for (const int64_t samples : {60, 120, 240, 400}) rounds.push_back(play_toy(game, with({.samples = samples})));
  const auto worst = [](const Played& of, size_t row) {
    return *std::ranges::max_element(of.out.standard_error.row(row));
  };
  size_t unreached = 0;
  uint64_t evaluations = 0;
  std::array<size_t, 4> ended = {};
  for (size_t row = 0; row < rows; row++) {
    size_t round = 0;
    evaluations += 60;
    while (round < 3 && worst(rounds[round], row) > 0.003F) evaluations += std::array{120U, 240U, 400U}[round++];
    ended[round]++;
    unreached += worst(rounds[round], row) > 0.003F ? 1 : 0;
    for (size_t i = 0; i < 12; i++) EXPECT_EQ(played.values(row, i), rounds[round].values(row, i)) << "row " << row;
  }
  EXPECT_EQ(played.out.evaluations, evaluations);
  EXPECT_GT(ended[0], 0U);
  EXPECT_GT(unreached, 0U);
  EXPECT_LT(unreached, rows);
  ASSERT_EQ(played.out.notes.size(), 1U);
  EXPECT_EQ(played.out.notes[0],
            "kernel_shap: " + std::to_string(unreached) +
                " of 12 rows do not have all standard errors within the tolerance of 0.003 after 400 samples");
  // With room for all 4,096 coalitions the last round is exact.
  const Played enough = play_toy(game, with({.samples = 600, .tolerance = 1e-9, .most_samples = 5000}));
  ASSERT_EQ(enough.out.notes.size(), 1U);
  EXPECT_THAT(enough.out.notes[0], HasSubstr("cover all 4096 coalitions"));
  EXPECT_TRUE(equal_bits(enough.values, play_toy(game, exact_shapley).values));
}

TEST(KernelShap, GivesTheSameBitsHoweverItIsRun) {
  expect_one_answer(9, 20, 1, with({.samples = 100}));
  expect_one_answer(7, 20, 3, with({.samples = 60, .sampling = "leverage"}));
  expect_one_answer(7, 20, 2, with({.samples = 30, .tolerance = 0.3, .most_samples = 200}));
}

TEST(KernelShap, UndefinedValuesStayUndefinedAndEndTheSearch) {
  const ToyGame game(12, [](uint64_t mask) { return mask == 1 ? std::nan("") : 1.0; });
  const Played played = play_toy(game, with({.samples = 200, .tolerance = 0.1}));
  for (const float value : played.values.values()) EXPECT_TRUE(std::isnan(value));
  EXPECT_EQ(played.out.evaluations, 200U);
}

// Errors of fits that go through nearly all their pairs would be 0: there are none, and that is said.
TEST(KernelShap, TooFewSamplesHaveNoErrors) {
  const ToyGame game = network(10, 2);
  for (const int64_t samples : {26, 28, 29}) {
    const Played few = play_toy(game, with({.samples = samples}), 1, 1);
    for (const float value : few.values.values()) EXPECT_TRUE(std::isfinite(value));
    for (const float error : few.out.standard_error.values()) EXPECT_TRUE(std::isnan(error));
    EXPECT_THAT(few.out.notes,
                ElementsAre("kernel_shap: " + std::to_string(samples) +
                            " samples of 10 players are too few for standard errors, which are NaN; 30 give them"));
  }
  const Played enough = play_toy(game, with({.samples = 30}), 1, 1);
  EXPECT_THAT(enough.out.notes, IsEmpty());
  for (const float error : enough.out.standard_error.values()) EXPECT_GT(error, 1e-4F);
  // Of 4 players there are 7 pairs: never 8.
  const Played four = play_toy(network(4, 1), with({.samples = 15}), 1, 1);
  EXPECT_TRUE(std::isnan(four.out.standard_error(0, 0)));
  EXPECT_THAT(four.out.notes, ElementsAre(HasSubstr("NaN; 16 give them")));
}

// The first round is not below 2 (2 d + 2) = 44; where most_samples leaves no errors, the row is not done.
TEST(KernelShap, DoesNotStopAtErrorsItCannotKnow) {
  const ToyGame game = network(10, 6);
  const Played exact = play_toy(game, exact_shapley);
  const Played found = play_toy(game, with({.samples = 22, .tolerance = 0.05}));
  EXPECT_EQ(found.out.evaluations, game.evaluations() - 6 * 1024);
  EXPECT_GE(found.out.evaluations, 6U * 44);
  for (size_t v = 0; v < found.values.values().size(); v++) {
    EXPECT_LE(found.out.standard_error.values()[v], 0.05F);
    EXPECT_NEAR(found.values.values()[v], exact.values.values()[v], 4 * 0.05);
  }
  const Played starved = play_toy(network(10, 6), with({.samples = 22, .tolerance = 0.05, .most_samples = 26}), 1, 1);
  EXPECT_EQ(starved.out.evaluations, 6U * 26);
  EXPECT_THAT(starved.out.notes, ElementsAre(HasSubstr("too few for standard errors"), HasSubstr("6 of 6 rows")));
}

TEST(KernelShap, RefusesTooFewSamples) {
  EXPECT_EQ(kernel_shap_refuses(14, {.samples = 30}), std::nullopt);
  EXPECT_EQ(kernel_shap_refuses(14, {.samples = 29}).value_or(""),
            "needs at least 30 samples for 14 players, and has 29");
  EXPECT_EQ(kernel_shap_refuses(2, {.samples = 4}), std::nullopt);
  EXPECT_EQ(kernel_shap_refuses(2, {.samples = 3}).value_or(""), "needs at least 4 samples for 2 players, and has 3");
  EXPECT_EQ(kernel_shap_refuses(784, {}), std::nullopt);
  EXPECT_EQ(kernel_shap_refuses(784, {.tolerance = 0.1}), std::nullopt);
  EXPECT_EQ(kernel_shap_refuses(784, {.samples = 1 << 20}).value_or(""),
            "takes more than 1 GiB of memory for 1048576 samples of 784 players: take fewer, or group features");
  EXPECT_EQ(sentence([] { play_toy(network(14, 1), with({.samples = 3})); }),
            "kernel_shap needs at least 30 samples for 14 players, and has 3");
}

// No ridge and no guess where the sample does not determine the values.
TEST(KernelShap, RefusesADesignThatDoesNotDetermineAllValues) {
  size_t refused = 0;
  for (uint64_t seed = 0; seed < 200; seed++) {
    try {
      const Played played = play_toy(network(6, 1), with({.samples = 14}), 1, seed);
      for (const float value : played.values.values()) EXPECT_LT(std::abs(value), 1e3);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      EXPECT_STREQ(
          error.what(),
          "kernel_shap: the 14 samples drawn with this seed do not determine the values of 6 players; 14 samples "
          "are the least that can, 28 nearly always do");
      refused++;
    }
  }
  EXPECT_GT(refused, 0U);
  EXPECT_LT(refused, 150U);
}

}  // namespace
}  // namespace assay::testing
