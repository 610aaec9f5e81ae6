#include "assay/explain/occlusion.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/explain/toy_game.h"

namespace assay::testing {
namespace {

bool has(uint64_t bits, size_t player) { return (bits >> player & 1) != 0; }

// v = 3 [1] - 2 [2] + 5 [1 and 3]: without 1 both the 3 and the 5 are lost, without 3 the 5 alone.
TEST(Occlusion, IsWhatEachPlayerAloneTakesAway) {
  const ToyGame game(
      3, [](uint64_t s) { return (has(s, 0) ? 3.0 : 0) - (has(s, 1) ? 2.0 : 0) + (has(s, 0) && has(s, 2) ? 5.0 : 0); });
  const Played found = play_toy(game, occlusion);
  EXPECT_EQ(found.values(0, 0), 8);
  EXPECT_EQ(found.values(0, 1), -2);
  EXPECT_EQ(found.values(0, 2), 5);
  EXPECT_EQ(found.out.evaluations, 4U);
  EXPECT_EQ(game.evaluations(), 4U);
  EXPECT_TRUE(found.out.background_error.empty());
}

// Player i adds (row + 1) (i + 1) + reference; more players than one word holds.
ToyGame wide_game() {
  return ToyGame({.players = 130, .rows = 21, .references = 3},
                 [](size_t row, size_t reference, std::span<const uint64_t> coalition) {
                   double sum = 0;
                   for (size_t i = 0; i < 130; i++) {
                     if (!has(coalition[i / 64], i % 64)) continue;
                     sum += static_cast<double>((row + 1) * (i + 1) + reference * reference);
                   }
                   return sum;
                 });
}

// References add 0, 1 and 4: mean 5/3, variance ((5/3)^2 + (2/3)^2 + (7/3)^2) / 2 = 13/3.
TEST(Occlusion, ABackgroundGivesTheMeanAndItsError) {
  const ToyGame game = wide_game();
  const Played found = play_toy(game, occlusion);
  for (size_t row = 0; row < 21; row++) {
    for (size_t i = 0; i < 130; i++) {
      EXPECT_FLOAT_EQ(found.values(row, i), static_cast<float>((row + 1) * (i + 1)) + 5.0F / 3);
      EXPECT_FLOAT_EQ(found.out.background_error(row, i), static_cast<float>(std::sqrt(13.0 / 3 / 3)));
    }
  }
  EXPECT_EQ(found.out.evaluations, 21U * 3 * 131);
}

TEST(Occlusion, BitsDoNotDependOnThreadsOrTheKindOfGame) { expect_one_answer(5, 20, 2, occlusion); }

}  // namespace
}  // namespace assay::testing
