#include "assay/evaluate/subsets/subset_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "assay/evaluate/subsets/subset_correlation.h"
#include "tests/explain/toy_game.h"

namespace assay::testing {
namespace {

Matrix some_attributions(size_t rows, size_t players, uint64_t seed) {
  Matrix made(rows, players);
  RandomStream random(seed, "attributions to share");
  for (float& each : made.values()) each = static_cast<float>(random.normal());
  return made;
}

void expect_same_bits(const Matrix64& a, const Matrix64& b) {
  ASSERT_EQ(a.values().size(), b.values().size());
  EXPECT_EQ(0, std::memcmp(a.data(), b.data(), a.values().size_bytes()));
}

// With one reference row and with several, for games of both kinds and designs of all subsets and of some.
TEST(SubsetValues, GiveTheBitsThatPlayingGives) {
  constexpr size_t kRows = 13;
  constexpr size_t kPlayers = 9;
  for (const size_t references : {1, 3}) {
    for (const bool concurrent : {true, false}) {
      const ToyGame game({kPlayers, kRows, references, concurrent}, network_value(kPlayers, 4, 7));
      const std::vector<SubsetDesign> designs = {make_subsets(kPlayers, 4, 0, 60, "test", {}),
                                                 make_subsets(kPlayers, 2, 36, 1, "test", {})};
      const uint64_t each = references * (60 + 36);
      SubsetValues shared(size_t{1} << 20);
      for (uint64_t entry = 0; entry < 3; entry++) {
        shared.count_evaluations(entry == 0);
        Matrix phi = some_attributions(kRows, kPlayers, entry);
        // Rows that one explanation leaves out may be asked for by the next.
        for (float& value : phi.row(entry)) value = entry == 0 ? NAN : 0;
        const SubsetCorrelations alone = correlate_subsets(game, phi.view(), designs, {}, "");
        const uint64_t before = game.evaluations();
        const SubsetCorrelations found = correlate_subsets(game, phi.view(), designs, {}, "", &shared);
        expect_same_bits(found.correlation, alone.correlation);
        expect_same_bits(found.standard_error, alone.standard_error);
        EXPECT_EQ(found.design_error, alone.design_error);
        EXPECT_EQ(found.shared_error, alone.shared_error);
        EXPECT_TRUE(std::ranges::equal(found.state.values(), alone.state.values()));
        EXPECT_EQ(alone.evaluations, (kRows - 1) * each);
        EXPECT_EQ(found.evaluations, entry == 0 ? kRows * each : 0);
        EXPECT_EQ(game.evaluations() - before, entry == 0 ? kRows * each : 0);
      }
    }
  }
}

TEST(SubsetValues, AreNotHeldWhereThereIsNoRoom) {
  constexpr size_t kRows = 5;
  const ToyGame game({6, kRows, 2, true}, network_value(6, 4, 7));
  const std::vector<SubsetDesign> one = {make_subsets(6, 2, 15, 1, "test", {})};
  const std::vector<SubsetDesign> other = {make_subsets(6, 3, 20, 1, "test", {})};
  const Matrix phi = some_attributions(kRows, 6, 1);
  SubsetValues shared(kRows * 15 * sizeof(double));
  const auto cost = [&](const std::vector<SubsetDesign>& designs) {
    return correlate_subsets(game, phi.view(), designs, {}, "", &shared).evaluations;
  };
  EXPECT_EQ(cost(one), kRows * 2 * 15);
  EXPECT_EQ(cost(one), 0U);
  EXPECT_EQ(cost(other), kRows * 2 * 20);
  EXPECT_EQ(cost(other), kRows * 2 * 20) << "each explanation pays for itself";
  EXPECT_EQ(cost(one), 0U);
}

// An entry after an interruption needs the values again, but they were counted for the first.
TEST(SubsetValues, AreCountedOnlyWhereAsked) {
  const ToyGame game({6, 4, 1, true}, network_value(6, 4, 7));
  const std::vector<SubsetDesign> designs = {make_subsets(6, 2, 15, 1, "test", {})};
  SubsetValues shared(size_t{1} << 20);
  shared.count_evaluations(false);
  EXPECT_EQ(correlate_subsets(game, some_attributions(4, 6, 1).view(), designs, {}, "", &shared).evaluations, 0U);
  EXPECT_EQ(game.evaluations(), 4U * 15);
}

}  // namespace
}  // namespace assay::testing
