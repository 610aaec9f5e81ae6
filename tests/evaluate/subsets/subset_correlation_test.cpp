#include "assay/evaluate/subsets/subset_correlation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "assay/core/random.h"
#include "assay/core/statistics.h"
#include "tests/explain/toy_game.h"

namespace assay::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(SubsetCorrelation, IsMinusPearsonWithWhatIsLeft) {
  RandomStream random(1, "test");
  for (const size_t count : {2, 3, 4, 5, 17, 1000}) {
    std::vector<double> sums(count);
    std::vector<double> values(count);
    for (size_t i = 0; i < count; i++) {
      sums[i] = 1000 + random.normal();
      values[i] = 0.3 * random.normal() - sums[i];
    }
    // The first number is where sums start from: an outlier there must not cost digits.
    values[0] += 1e4;
    EXPECT_NEAR(correlate_with_loss(sums, values, {}, kInfinity).correlation, -pearson(sums, values), 1e-10);
  }
}

// sums 0, 1, 2 and values 3, 1, 2: losses of 0, 2, 1 from 3. Both deviate by -1, 0, 1 and -1, 1, 0 from their means:
// products 1, squares 2 and 2, r = 1/2. Standardised by sqrt(2/3): u = (-a, 0, a), w = (-a, a, 0), a^2 = 3/2.
// Influences u w - (u^2 + w^2) / 4: 3/2 - 3/4 = 3/4; -3/8; -3/8. Their squares add up to (36 + 9 + 9) / 64 = 54/64.
// error^2 = (1 - 3/4) (54/64) / (3 * 2) for 3 of 4 subsets.
TEST(SubsetCorrelation, StandardErrorByHand) {
  const std::vector<double> sums = {0, 1, 2};
  const std::vector<double> values = {3, 1, 2};
  const SubsetCorrelation drawn = correlate_with_loss(sums, values, {}, 4);
  EXPECT_NEAR(drawn.correlation, 0.5, 1e-15);
  EXPECT_NEAR(drawn.standard_error, std::sqrt(0.25 * 54 / 64 / 6), 1e-15);
  EXPECT_EQ(correlate_with_loss(sums, values, {}, 3).standard_error, 0) << "all subsets are there";
}

TEST(SubsetCorrelation, SaysWhichSideDoesNotVary) {
  const std::vector<double> varied = {0, 1, 2};
  EXPECT_EQ(correlate_with_loss(std::vector<double>{5, 5, 5}, varied, {}, 3).state, SubsetState::attributions_flat);
  EXPECT_EQ(correlate_with_loss(varied, std::vector<double>{5, 5, 5}, {}, 3).state, SubsetState::values_flat);
  EXPECT_EQ(correlate_with_loss(varied, std::vector<double>{5, NAN, 5}, {}, 3).state, SubsetState::values_not_finite);
  EXPECT_EQ(correlate_with_loss(varied, std::vector<double>{5, INFINITY, 5}, {}, 3).state,
            SubsetState::values_not_finite);
  // Deviations: sqrt(2/3) of the sums, sqrt(2)/3 of the values.
  const std::vector<double> step = {5, 5, 6};
  EXPECT_EQ(correlate_with_loss(varied, step, {.values = 0.48}, 3).state, SubsetState::values_flat);
  EXPECT_EQ(correlate_with_loss(varied, step, {.values = 0.46}, 3).state, SubsetState::defined);
  EXPECT_EQ(correlate_with_loss(varied, step, {.sums = 0.82}, 3).state, SubsetState::attributions_flat);
  EXPECT_EQ(correlate_with_loss(varied, step, {.sums = 0.81}, 3).state, SubsetState::defined);
}

Matrix attributions(size_t rows, size_t players, uint64_t seed) {
  Matrix made(rows, players);
  RandomStream random(seed, "attributions");
  for (float& each : made.values()) each = static_cast<float>(random.normal());
  return made;
}

// The error of sampled correlations, in units of their standard errors, must spread by 1, and rarely go beyond 3: over
// 40 seeds and 20 rows of which half have attributions close to the truth, so that r is near 1 for some and 0 for
// others.
TEST(SubsetCorrelation, StandardErrorsCoverTheExactValue) {
  constexpr size_t kRows = 20;
  constexpr size_t kPlayers = 10;
  const ToyValue value = network_value(kPlayers, 4, 7);
  const ToyGame game({kPlayers, kRows, 1, true}, value);
  Matrix phi = attributions(kRows, kPlayers, 2);
  for (size_t r = 0; r < kRows / 2; r++) {
    const uint64_t all = (uint64_t{1} << kPlayers) - 1;
    for (size_t p = 0; p < kPlayers; p++) {
      const uint64_t without = all & ~(uint64_t{1} << p);
      const double loss = value(r, 0, std::span(&all, 1)) - value(r, 0, std::span(&without, 1));
      phi(r, p) = static_cast<float>(loss + 0.1 * phi(r, p));
    }
  }
  // 252 subsets.
  const std::vector<SubsetDesign> whole = {make_subsets(kPlayers, 5, 252, 1, "test", {})};
  const SubsetCorrelations exact = correlate_subsets(game, phi.view(), whole, {}, "");
  for (const size_t samples : {60, 200}) {
    RunningMoments squares;
    size_t beyond = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
      Context context;
      context.seed = seed;
      const std::vector<SubsetDesign> part = {make_subsets(kPlayers, 5, 0, samples, "test", context)};
      const SubsetCorrelations drawn = correlate_subsets(game, phi.view(), part, context, "");
      for (size_t r = 0; r < kRows; r++) {
        const double z = (drawn.correlation(r, 0) - exact.correlation(r, 0)) / drawn.standard_error(r, 0);
        squares.add(z * z);
        beyond += std::abs(z) > 3 ? 1 : 0;
      }
    }
    EXPECT_GT(std::sqrt(squares.mean()), 0.85) << samples;
    EXPECT_LT(std::sqrt(squares.mean()), 1.2) << samples;
    EXPECT_LT(beyond, 20U) << samples << ": 2.5 % of 800";
  }
}

// Equal rows are wrong together: the error of their mean is that of each. A row whose sign is turned is wrong by as
// much the other way: the mean of the pair is always 0.
TEST(SubsetCorrelation, RowsShareTheErrorOfTheirSubsets) {
  const ToyValue value = network_value(8, 3, 5);
  const ToyGame game({8, 30, 1, true},
                     [&](size_t, size_t, std::span<const uint64_t> coalition) { return value(0, 0, coalition); });
  Matrix phi(30, 8);
  for (size_t r = 0; r < 30; r++) std::ranges::copy(attributions(1, 8, 3).row(0), phi.row(r).begin());
  std::ranges::fill(phi.row(4), 0.0F);
  // 50 of 70 subsets, and all 28.
  const std::vector<SubsetDesign> designs = {make_subsets(8, 4, 0, 50, "test", {}),
                                             make_subsets(8, 2, 28, 1, "test", {})};
  const SubsetCorrelations one = correlate_subsets(game, phi.view(), std::span(designs).first(1), {}, "");
  EXPECT_GT(one.shared_error, 0.001);
  EXPECT_NEAR(one.shared_error, one.standard_error(0, 0), 1e-12);
  EXPECT_NEAR(one.design_error.at(0), one.standard_error(0, 0), 1e-12);
  const SubsetCorrelations two = correlate_subsets(game, phi.view(), designs, {}, "");
  EXPECT_NEAR(two.shared_error, one.shared_error / 2, 1e-12) << "the mean of two sizes, of which one has no error";
  EXPECT_EQ(two.design_error.at(1), 0);
  for (size_t r = 5; r < 30; r += 2) {
    for (float& v : phi.row(r)) v = -v;
  }
  std::ranges::fill(phi.row(0), 0.0F);
  std::ranges::fill(phi.row(2), 0.0F);
  // Rows 1 and 3, then 13 turned and 12 straight ones: one straight row is left over of 27.
  const SubsetCorrelations turned = correlate_subsets(game, phi.view(), std::span(designs).first(1), {}, "");
  EXPECT_NEAR(turned.shared_error, one.shared_error / 27, 1e-12);
}

// An offset leaves what float32 still tells: effects of 1 beside 1e6, where its steps are 1/16.
TEST(SubsetCorrelation, SeesEffectsBesideALargeOffset) {
  const auto value_of = [](double effect) {
    return [effect](uint64_t mask) {
      return 1e6 + effect * (static_cast<double>(mask & 1) + 2 * static_cast<double>(mask >> 1 & 1));
    };
  };
  const Matrix phi = [] {
    Matrix made(1, 3);
    made(0, 0) = 1;
    made(0, 1) = 2;
    return made;
  }();
  const std::vector<SubsetDesign> design = {make_subsets(3, 1, 3, 1, "test", {})};
  const SubsetCorrelations large = correlate_subsets(ToyGame(3, value_of(1)), phi.view(), design, {}, "");
  EXPECT_NEAR(large.correlation(0, 0), 1, 1e-9);
  const SubsetCorrelations small = correlate_subsets(ToyGame(3, value_of(0.1)), phi.view(), design, {}, "");
  EXPECT_EQ(small.state(0, 0), SubsetState::values_flat);
}

TEST(SubsetCorrelation, DoesNotPlayRowsWithoutAnAnswer) {
  const ToyGame game({4, 5, 2, true}, network_value(4, 3, 1));
  Matrix phi = attributions(5, 4, 1);
  std::ranges::fill(phi.row(1), 0.0F);
  phi(2, 3) = NAN;
  // Equal but for the last bit.
  std::ranges::fill(phi.row(3), 1.0F / 3);
  phi(3, 0) = std::nextafter(phi(3, 1), 1.0F);
  const std::vector<SubsetDesign> design = {make_subsets(4, 2, 6, 1, "test", {}), make_subsets(4, 1, 6, 1, "test", {})};
  const SubsetCorrelations found = correlate_subsets(game, phi.view(), design, {}, "");
  EXPECT_EQ(found.state(0, 0), SubsetState::defined);
  EXPECT_EQ(found.state(1, 1), SubsetState::attributions_all_zero);
  EXPECT_EQ(found.state(2, 0), SubsetState::attributions_not_finite);
  EXPECT_EQ(found.state(3, 0), SubsetState::attributions_flat);
  EXPECT_TRUE(std::isnan(found.correlation(3, 0)));
  // Two rows, two reference rows, 6 + 4 subsets.
  EXPECT_EQ(found.evaluations, 2U * 2 * 10);
  EXPECT_EQ(game.evaluations(), 2U * 2 * 10);
}

// The mean over reference rows, from games of both kinds.
TEST(SubsetCorrelation, AveragesValuesOverTheBackgroundFirst) {
  const ToyValue value = network_value(6, 3, 9);
  const Matrix phi = attributions(7, 6, 4);
  const std::vector<SubsetDesign> designs = {make_subsets(6, 2, 15, 1, "test", {}),
                                             make_subsets(6, 4, 15, 1, "test", {})};
  const ToyGame several({6, 7, 3, true}, value);
  const ToyGame black_box({6, 7, 3, false}, value);
  const ToyGame averaged({6, 7, 1, true}, [&](size_t row, size_t, std::span<const uint64_t> coalition) {
    return (value(row, 0, coalition) + value(row, 1, coalition) + value(row, 2, coalition)) / 3;
  });
  const SubsetCorrelations expected = correlate_subsets(averaged, phi.view(), designs, {}, "");
  for (const ToyGame* game : {&several, &black_box}) {
    const SubsetCorrelations found = correlate_subsets(*game, phi.view(), designs, {}, "");
    for (size_t i = 0; i < 14; i++) {
      EXPECT_NEAR(found.correlation.values()[i], expected.correlation.values()[i], 1e-5);
    }
  }
}

}  // namespace
}  // namespace assay::testing
