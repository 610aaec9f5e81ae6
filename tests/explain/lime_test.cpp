#include "assay/explain/lime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "assay/core/random.h"
#include "tests/explain/run_method.h"
#include "tests/explain/toy_game.h"
#include "tests/message.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;

Played explained(const Game& game, const LimeOptions& options, unsigned threads = 1, uint64_t seed = 0) {
  const auto method = [&](const Game& played, Attributions& out, const Context& context) {
    lime(played, options, out, context);
  };
  return play_toy(game, method, threads, seed);
}

bool has(uint64_t bits, size_t player) { return (bits >> player & 1) != 0; }

// Solves a (rows of n + 1 numbers, the last being the right-hand side) by elimination with pivots.
std::vector<double> solved(std::vector<std::vector<double>> a) {
  const size_t n = a.size();
  for (size_t c = 0; c < n; c++) {
    size_t pivot = c;
    for (size_t r = c; r < n; r++) pivot = std::abs(a[r][c]) > std::abs(a[pivot][c]) ? r : pivot;
    std::swap(a[c], a[pivot]);
    for (size_t r = 0; r < n; r++) {
      if (r == c) continue;
      const double factor = a[r][c] / a[c][c];
      for (size_t k = c; k <= n; k++) a[r][k] -= factor * a[c][k];
    }
  }
  std::vector<double> x(n);
  for (size_t c = 0; c < n; c++) x[c] = a[c][n] / a[c][c];
  return x;
}

// The normal equations with an intercept, written out; each mask counts `times` times.
template <class Value>
std::vector<double> brute_force(size_t players, const std::vector<std::pair<uint64_t, double>>& masks, double width,
                                double ridge, const Value& value) {
  std::vector<std::vector<double>> a(players + 1, std::vector<double>(players + 2));
  for (const auto& [mask, times] : masks) {
    const auto absent = static_cast<double>(players - static_cast<size_t>(std::popcount(mask)));
    const double weight = times * std::exp(-absent / width / width);
    std::vector<double> z(players + 2, 1.0);
    for (size_t i = 0; i < players; i++) z[i] = has(mask, i) ? 1 : 0;
    z[players + 1] = value(mask);
    for (size_t i = 0; i <= players; i++) {
      for (size_t j = 0; j <= players + 1; j++) a[i][j] += weight * z[i] * z[j];
    }
  }
  for (size_t i = 0; i < players; i++) a[i][i] += ridge;
  std::vector<double> x = solved(a);
  x.pop_back();
  return x;
}

std::vector<std::pair<uint64_t, double>> all_masks(size_t players, double times = 1) {
  std::vector<std::pair<uint64_t, double>> made;
  for (uint64_t mask = 0; mask < uint64_t{1} << players; mask++) made.emplace_back(mask, times);
  return made;
}

// The masks that the method says it draws.
std::vector<std::pair<uint64_t, double>> drawn_masks(size_t players, size_t samples, uint64_t seed) {
  const uint64_t all = (uint64_t{1} << players) - 1;
  std::vector<std::pair<uint64_t, double>> made = {{all, 1}};
  for (uint32_t s = 1; s < samples; s++) made.emplace_back(RandomStream(seed, "lime", 0, s).bits64() & all, 1);
  return made;
}

// w_i (x_i - r_i) for each player: the linear model is the value itself.
TEST(Lime, AnAdditiveGameWithoutRidgeIsExact) {
  for (const int64_t samples : {int64_t{64}, int64_t{40}}) {  // all masks of 6 players, then a sample
    const ToyGame game(6, [](uint64_t s) {
      double sum = 10;
      for (size_t i = 0; i < 6; i++) sum += has(s, i) ? 1.5 * static_cast<double>(i) - 2 : 0;
      return sum;
    });
    const Played found = explained(game, {.samples = samples, .ridge = 0});
    for (size_t i = 0; i < 6; i++) EXPECT_NEAR(found.values(0, i), 1.5 * static_cast<double>(i) - 2, 1e-6);
    EXPECT_EQ(found.out.standard_error.empty(), samples == 64);
    for (const float error : found.out.standard_error.values()) EXPECT_NEAR(error, 0, 1e-6);
    EXPECT_EQ(found.out.evaluations, static_cast<uint64_t>(samples));
    EXPECT_EQ(game.evaluations(), static_cast<uint64_t>(samples));
  }
}

// One player: masks 0 and 1 of weights q = exp(-1 / width^2) and 1, each in place of 1024 of the 2048 draws. Around
// their weighted mean the sum of squares is s = 1024 q / (1 + q), so the coefficient is (v(1) - v(0)) s / (s + ridge).
// The default width is 0.75.
TEST(Lime, TheRidgeOfOnePlayerByHand) {
  const ToyGame game(1, [](uint64_t s) { return has(s, 0) ? 7.0 : 3.0; });
  for (const auto& [width, used] : {std::pair{0.0, 0.75}, std::pair{2.0, 2.0}}) {
    for (const double ridge : {0.0, 1.0, 1000.0}) {
      const double q = std::exp(-1 / used / used);
      const double squares = 1024 * q / (1 + q);
      const Played found = explained(game, {.width = width, .ridge = ridge});
      EXPECT_NEAR(found.values(0, 0), 4 * squares / (squares + ridge), 1e-6);
      EXPECT_EQ(found.out.evaluations, 2U);
    }
  }
}

double crooked(uint64_t s) {
  double value = static_cast<double>(std::popcount(s)) * 0.3;
  if (has(s, 0) && has(s, 3)) value += 2;
  if (has(s, 1) != has(s, 2)) value -= 1.25;
  return value + std::sin(static_cast<double>(s & 1023));
}

TEST(Lime, IsTheSolutionOfTheNormalEquations) {
  for (const size_t players : {size_t{3}, size_t{5}, size_t{9}}) {
    const ToyGame game(players, crooked);
    const double width = 0.75 * std::sqrt(static_cast<double>(players));
    for (const double ridge : {0.0, 1.0}) {
      const std::vector<double> all =
          brute_force(players, all_masks(players, 2048.0 / std::exp2(players)), width, ridge, crooked);
      const Played exact = explained(game, {.ridge = ridge});
      for (size_t i = 0; i < players; i++) EXPECT_NEAR(exact.values(0, i), all[i], 1e-5);
    }
  }
  const ToyGame game(9, crooked);
  const std::vector<double> some = brute_force(9, drawn_masks(9, 100, 17), 1.5, 0.5, crooked);
  const Played sampled = explained(game, {.samples = 100, .width = 1.5, .ridge = 0.5}, 1, 17);
  for (size_t i = 0; i < 9; i++) EXPECT_NEAR(sampled.values(0, i), some[i], 1e-5);
  EXPECT_EQ(sampled.out.standard_error.rows(), 1U);
}

// The sandwich written out for all coefficients and the intercept: with A = Z'WZ + ridge and scores w z e of the drawn
// masks, A^-1 (sum of squares of the scores around their mean) A^-1, times draws / (draws - 1), each residual e divided
// by 1 - its diagonal element of the hat matrix H. Then free / masks * free / (free - 2), free = masks - trace(H^2).
TEST(Lime, ErrorsAreTheSandwich) {
  const size_t players = 5;
  const double ridge = 2;
  const double width = 1.5;
  const auto masks = drawn_masks(players, 24, 8);
  std::vector<std::vector<double>> a(players + 1, std::vector<double>(players + 1));
  std::vector<double> rhs(players + 1);
  std::vector<std::vector<double>> rows;
  std::vector<double> weights;
  for (const auto& [mask, times] : masks) {
    std::vector<double> z(players + 1, 1.0);
    for (size_t i = 0; i < players; i++) z[i] = has(mask, i) ? 1 : 0;
    weights.push_back(std::exp(-(players - static_cast<double>(std::popcount(mask))) / width / width));
    for (size_t i = 0; i <= players; i++) {
      for (size_t j = 0; j <= players; j++) a[i][j] += weights.back() * z[i] * z[j];
      rhs[i] += weights.back() * z[i] * crooked(mask);
    }
    rows.push_back(z);
  }
  for (size_t i = 0; i < players; i++) a[i][i] += ridge;
  const auto solve = [&](const std::vector<double>& right) {
    auto system = a;
    for (size_t i = 0; i <= players; i++) system[i].push_back(right[i]);
    return solved(system);
  };
  const std::vector<double> beta = solve(rhs);
  double free = static_cast<double>(rows.size());
  for (size_t s = 0; s < rows.size(); s++) {
    const std::vector<double> turned = solve(rows[s]);
    for (size_t t = 0; t < rows.size(); t++) {
      double product = 0;
      for (size_t i = 0; i <= players; i++) product += turned[i] * rows[t][i];
      free -= weights[s] * weights[t] * product * product;
    }
  }
  const double factor = free / 24 * free / (free - 2);
  std::vector<std::vector<double>> scores;
  for (size_t s = 1; s < rows.size(); s++) {
    const std::vector<double> turned = solve(rows[s]);
    double residual = crooked(masks[s].first);
    double leverage = 0;
    for (size_t i = 0; i <= players; i++) {
      leverage += weights[s] * rows[s][i] * turned[i];
      residual -= rows[s][i] * beta[i];
    }
    ASSERT_LT(leverage, 0.8);
    scores.push_back(turned);
    for (double& each : scores.back()) each *= weights[s] * residual / (1 - leverage);
  }
  const Played found = explained(ToyGame(players, crooked), {.samples = 24, .width = width, .ridge = ridge}, 1, 8);
  for (size_t i = 0; i < players; i++) {
    EXPECT_NEAR(found.values(0, i), beta[i], 1e-5);
    double mean = 0;
    double squares = 0;
    for (const auto& score : scores) mean += score[i] / 23;
    for (const auto& score : scores) squares += (score[i] - mean) * (score[i] - mean);
    EXPECT_NEAR(found.out.standard_error(0, i), std::sqrt(factor * squares * 23 / 22), 1e-5);
  }
}

// The truth is what sampling aims at: every mask as often as it is expected among the draws, beside the one of all
// ones.
TEST(Lime, ErrorsCoverTheTruth) {
  const size_t players = 10;
  const ToyGame game(players, crooked);
  for (const size_t samples : {20, 40, 400}) {
    for (const double ridge : {0.0, 5.0}) {
      // With a ridge few draws shrink more or less than the mean of all, which is no sampling error of first order.
      if (ridge > 0 && samples < 400) continue;
      auto masks = all_masks(players, static_cast<double>(samples - 1) / 1024);
      masks.back().second += 1;
      const double width = 0.75 * std::sqrt(10.0);
      const std::vector<double> truth = brute_force(players, masks, width, ridge, crooked);
      size_t covered = 0;
      const uint64_t seeds = samples < 400 ? 200 : 60;
      for (uint64_t seed = 0; seed < seeds; seed++) {
        const Played found = explained(game, {.samples = static_cast<int64_t>(samples), .ridge = ridge}, 1, seed);
        for (size_t i = 0; i < players; i++) {
          covered += std::abs(found.values(0, i) - truth[i]) < 1.96F * found.out.standard_error(0, i) ? 1 : 0;
        }
      }
      const double share = static_cast<double>(covered) / static_cast<double>(seeds * players);
      EXPECT_GE(share, 0.92) << samples << " samples, ridge " << ridge;
      EXPECT_LE(share, 0.98) << samples << " samples, ridge " << ridge;
    }
  }
}

// v(S) of a network of 8 tanh units whose inputs are the players that are there.
ToyValue tanh_network(size_t players, uint64_t seed) {
  constexpr size_t kHidden = 8;
  RandomStream random(seed, "tanh network");
  std::vector<double> weights(kHidden * players);
  std::vector<double> out(kHidden);
  for (double& each : weights) each = 1.5 * random.normal() / std::sqrt(static_cast<double>(players));
  for (double& each : out) each = random.normal();
  return [=](size_t, size_t, std::span<const uint64_t> coalition) {
    double value = 0;
    for (size_t h = 0; h < kHidden; h++) {
      double sum = 0;
      for (size_t i = 0; i < players; i++) {
        if ((coalition[i / 64] >> i % 64 & 1) != 0) sum += weights[h * players + i];
      }
      value += out[h] * std::tanh(sum);
    }
    return value;
  };
}

// How errors compare with the spread of values over seeds.
struct OverSeeds {
  double covered = 0;  // share of values whose interval holds the mean over seeds
  double ratio = 0;    // of the errors to the spread, by their mean squares
};

OverSeeds over_seeds(const Game& game, const LimeOptions& options, size_t seeds) {
  std::vector<Played> found;
  for (uint64_t seed = 0; seed < seeds; seed++) found.push_back(explained(game, options, 1, seed));
  const auto count = static_cast<double>(seeds);
  OverSeeds made;
  double errors = 0;
  double spread = 0;
  for (size_t i = 0; i < game.players(); i++) {
    double mean = 0;
    for (const Played& each : found) mean += each.values(0, i) / count;
    for (const Played& each : found) {
      // The mean has an error too, and is drawn to each value.
      const double square = std::pow(each.values(0, i) - mean, 2) * count / (count - 1);
      const double error = each.out.standard_error(0, i);
      made.covered += std::sqrt(square) <= 1.96 * error ? 1 / count / static_cast<double>(game.players()) : 0;
      errors += error * error;
      spread += square;
    }
  }
  made.ratio = std::sqrt(errors / spread);
  return made;
}

// Fewer masks than players, the default of more than 2,048 of them: values are what the masks and the ridge leave of
// the coefficients, and change with the masks.
TEST(Lime, ErrorsAreTheSpreadOverSeedsWithFewerSamplesThanPlayers) {
  const ToyGame game({.players = 300}, tanh_network(300, 1));
  for (const int64_t samples : {40, 100, 200}) {
    const OverSeeds found = over_seeds(game, {.samples = samples}, 24);
    EXPECT_GT(found.covered, 0.92) << samples;
    EXPECT_LT(found.covered, 0.97) << samples;
    EXPECT_NEAR(found.ratio, 1, 0.1) << samples;
  }
}

// As many masks as players, and somewhat more: where the ridge has the most to do.
TEST(Lime, ErrorsAreTheSpreadOverSeedsWithAboutAsManySamplesAsPlayers) {
  const ToyGame game({.players = 60}, tanh_network(60, 2));
  for (const double ridge : {0.0, 0.1, 1.0}) {
    for (const int64_t samples : {55, 60, 63, 66, 75, 90, 120}) {
      if (ridge == 0 && samples < 70) continue;
      const OverSeeds found = over_seeds(game, {.samples = samples, .ridge = ridge}, 60);
      EXPECT_GT(found.covered, 0.9) << samples << " samples, ridge " << ridge;
      EXPECT_LT(found.covered, 0.97) << samples << " samples, ridge " << ridge;
      // Without a ridge some draws hardly determine the coefficients, and both have a long tail.
      EXPECT_GT(found.ratio, 0.85) << samples << " samples, ridge " << ridge;
      EXPECT_LT(found.ratio, ridge == 0 ? 1.25 : 1.15) << samples << " samples, ridge " << ridge;
    }
  }
}

TEST(Lime, TooFewSamplesHaveNoErrors) {
  const ToyGame game(10, crooked);
  const Played few = explained(game, {.samples = 15, .ridge = 0}, 1, 3);
  for (const float value : few.values.values()) EXPECT_TRUE(std::isfinite(value));
  for (const float error : few.out.standard_error.values()) EXPECT_TRUE(std::isnan(error));
  EXPECT_EQ(few.out.notes.at(0),
            "lime: 15 samples of 10 players are too few for standard errors, which are NaN; 16 give them");
  const Played enough = explained(game, {.samples = 16, .ridge = 0}, 1, 3);
  EXPECT_TRUE(enough.out.notes.empty());
  for (const float error : enough.out.standard_error.values()) EXPECT_GT(error, 1e-3F);
}

TEST(Lime, ABackgroundGivesTheMeanAndItsError) {
  const auto value = [](size_t row, size_t reference, std::span<const uint64_t> coalition) {
    return crooked(coalition[0]) * static_cast<double>(reference + 1) + static_cast<double>(row) * has(coalition[0], 1);
  };
  const ToyGame all({.players = 6, .rows = 2, .references = 3}, value);
  const Played found = explained(all, {.samples = 50});
  for (size_t row = 0; row < 2; row++) {
    std::vector<Played> single;
    for (size_t b = 0; b < 3; b++) {
      const ToyGame one({.players = 6},
                        [&](size_t, size_t, std::span<const uint64_t> coalition) { return value(row, b, coalition); });
      single.push_back(explained(one, {.samples = 50}));
    }
    const ToyGame mean_game({.players = 6}, [&](size_t, size_t, std::span<const uint64_t> coalition) {
      return (value(row, 0, coalition) + value(row, 1, coalition) + value(row, 2, coalition)) / 3;
    });
    const Played mean_first = explained(mean_game, {.samples = 50});
    for (size_t i = 0; i < 6; i++) {
      double mean = 0;
      double squares = 0;
      for (const Played& each : single) mean += each.values(0, i) / 3;
      for (const Played& each : single) squares += std::pow(each.values(0, i) - mean, 2);
      EXPECT_NEAR(found.values(row, i), mean, 1e-5);
      EXPECT_NEAR(found.values(row, i), mean_first.values(0, i), 1e-5);
      EXPECT_NEAR(found.out.background_error(row, i), std::sqrt(squares / 6), 1e-5);
      EXPECT_NEAR(found.out.standard_error(row, i), mean_first.out.standard_error(0, i), 1e-5);
    }
  }
  EXPECT_EQ(found.out.evaluations, 2U * 3 * 50);
}

// Noise of 1e-17 would be scaled to unit length by whoever compares directions.
TEST(Lime, AConstantValueIsExactlyZero) {
  for (const double value : {0.15234375, 0.1, -7e5, 1e-30}) {
    // One unit in the last place more or less is rounding of the model's.
    for (const double last : {0.0, 1.1e-7}) {
      const ToyGame game({.players = 9, .references = 2}, [&](size_t, size_t, std::span<const uint64_t> coalition) {
        return value * (1 + last * static_cast<double>(std::popcount(coalition[0]) % 2));
      });
      for (const int64_t samples : {64, 512}) {
        const Played found = explained(game, {.samples = samples});
        for (const float each : found.values.values()) EXPECT_EQ(each, 0) << value << ", " << samples << " samples";
        for (const float each : found.out.standard_error.values()) EXPECT_EQ(each, 0);
        for (const float each : found.out.background_error.values()) EXPECT_EQ(each, 0);
      }
    }
  }
}

// With all masks it can be seen who changes nothing. The others' coefficients are not touched by it.
TEST(Lime, PlayersThatChangeNothingAreExactlyZero) {
  const ToyGame game(7, [](uint64_t s) { return 0.1 + (has(s, 2) ? 0.7 : 0) + (has(s, 2) && has(s, 5) ? 0.3 : 0); });
  const Played found = explained(game, {});
  for (const size_t i : {0, 1, 3, 4, 6}) EXPECT_EQ(found.values(0, i), 0) << i;
  EXPECT_GT(found.values(0, 2), 0.7F);
  EXPECT_GT(found.values(0, 5), 0.1F);
}

TEST(Lime, ValuesThatAreNoNumbersAreNotTakenForTheSame) {
  const ToyGame game(3, [](uint64_t s) { return s == 4 ? NAN : 1.0; });
  const Played found = explained(game, {});
  for (const float each : found.values.values()) EXPECT_TRUE(std::isnan(each));
}

// y = x1 + ... + x12. A player whose cells are those of the reference has the coefficient 0, however the masks fell.
TEST(Lime, PlayersThatDoNotVaryAreExactlyZero) {
  auto graph = model({node("Gemm", {"x", "w", "b"}, {"y"})}, {value("x", {-1, 12})}, {value("y", {-1, 1})},
                     {floats("w", {12, 1}, std::vector<float>(12, 1.0F)), floats("b", {1}, {0.1F})});
  Matrix rows(2, 12);
  for (size_t i = 0; i < 12; i++) {
    rows(0, i) = i % 3 == 0 ? 5.0F : static_cast<float>(i);
    rows(1, i) = 5;
  }
  const Setting setting = setting_of(EngineModel::from_onnx("sum", std::move(graph)), std::move(rows),
                                     matrix_of({std::vector<float>(12, 5.0F)}));
  const Result found = explained("lime:samples=100", setting);
  for (size_t i = 0; i < 12; i++) {
    EXPECT_EQ(found.values(0, i) == 0, i % 3 == 0 || i == 5) << i;
    EXPECT_EQ(found.values(1, i), 0) << i;
    EXPECT_EQ(found.out.standard_error(1, i), 0) << i;
    if (i % 3 == 0) {
      EXPECT_EQ(found.out.standard_error(0, i), 0) << i;
    }
  }
}

// What it would keep is said with the numbers it comes from: (2 x 2048 + 70000) x 2048.
TEST(Lime, RefusesWhatDoesNotFitIntoMemory) {
  const auto refusal = [](size_t players, int64_t samples) {
    auto graph = model(
        {node("Gemm", {"x", "w", "b"}, {"y"})}, {value("x", {-1, static_cast<int64_t>(players)})},
        {value("y", {-1, 1})},
        {floats("w", {static_cast<int64_t>(players), 1}, std::vector<float>(players, 1.0F)), floats("b", {1}, {0.0F})});
    const Setting setting =
        setting_of(EngineModel::from_onnx("sum", std::move(graph)), Matrix(1, players), Matrix(1, players));
    return refusal_of(fmt::format("lime:samples={}", samples), setting);
  };
  EXPECT_EQ(refusal(30'000, 2048), std::nullopt);
  EXPECT_EQ(refusal(70'000, 2048),
            "would keep 151748608 numbers in memory for 2048 masks of 70000 players, and keeps at most 134217728: take "
            "fewer samples, or group features");
}

TEST(Lime, ManyPlayersAreMoreThanAWord) {
  const ToyGame game({.players = 70}, [](size_t, size_t, std::span<const uint64_t> coalition) {
    return (has(coalition[1], 5) ? 4.0 : 0) - (has(coalition[0], 0) ? 1.0 : 0);
  });
  const Played found = explained(game, {.samples = 300, .ridge = 0});
  for (size_t i = 0; i < 70; i++) EXPECT_NEAR(found.values(0, i), i == 69 ? 4 : i == 0 ? -1 : 0, 1e-5);
}

TEST(Lime, BitsDoNotDependOnThreadsOrTheKindOfGame) {
  for (const int64_t samples : {99, 256}) {
    expect_one_answer(8, 10, 2, [&](const Game& game, Attributions& out, const Context& context) {
      lime(game, {.samples = samples}, out, context);
    });
  }
}

TEST(Lime, RefusesWhatItCannotDetermine) {
  const ToyGame game(10, crooked);
  EXPECT_THAT(sentence([&] { explained(game, {.samples = 8, .ridge = 0}); }),
              HasSubstr("8 masks with a kernel of width 2.37171 do not determine the coefficients of 10 players"));
  EXPECT_EQ(game.evaluations(), 0U);
  // A kernel so narrow that only the row itself counts.
  EXPECT_THAT(sentence([&] { explained(game, {.width = 0.01, .ridge = 0}); }), HasSubstr("a wider kernel"));
  const Played shrunk = explained(game, {.samples = 8});
  for (const float each : shrunk.values.values()) EXPECT_TRUE(std::isfinite(each));
}

}  // namespace
}  // namespace assay::testing
