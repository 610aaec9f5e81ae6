#include "assay/explain/games/varying_players.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <vector>

#include "assay/core/random.h"
#include "tests/explain/run_method.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr size_t kFeatures = 13;

// A network of the first `features` of 13 features; the others are 1.
std::shared_ptr<const Model> network(size_t features) {
  RandomStream random(3, "varying network");
  std::vector<float> first(kFeatures * 8);
  std::vector<float> last(8);
  std::vector<float> bias(8);
  for (float& weight : first) weight = static_cast<float>(random.normal()) / 4;
  for (float& weight : last) weight = static_cast<float>(random.normal());
  for (size_t i = features * 8; i < first.size(); i++) bias[i % 8] += first[i];
  first.resize(features * 8);
  const auto width = static_cast<int64_t>(features);
  auto graph =
      model({node("Gemm", {"x", "w", "b"}, {"z"}), node("Tanh", {"z"}, {"h"}), node("MatMul", {"h", "v"}, {"y"})},
            {value("x", {-1, width})}, {value("y", {-1, 1})},
            {floats("w", {width, 8}, first), floats("b", {8}, bias), floats("v", {8, 1}, last)});
  return EngineModel::from_onnx("network", std::move(graph));
}

// Row r differs from the reference, all ones, in its first `varying[r]` features.
Setting network_setting(const std::vector<size_t>& varying) {
  RandomStream random(4, "varying rows");
  Matrix rows(varying.size(), kFeatures);
  Matrix reference(1, kFeatures);
  std::ranges::fill(reference.values(), 1.0F);
  std::ranges::fill(rows.values(), 1.0F);
  for (size_t r = 0; r < varying.size(); r++) {
    for (size_t c = 0; c < varying[r]; c++) rows(r, c) = static_cast<float>(random.normal());
  }
  return setting_of(network(kFeatures), std::move(rows), std::move(reference));
}

TEST(VaryingPlayers, GroupsRowsByTheBitsOfTheirCells) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Setting setting = network_setting({0, 0, 0, 0});
  Matrix& rows = setting.rows;
  Matrix& reference = setting.reference.rows;
  reference(0, 4) = nan;
  reference(0, 5) = 0;
  for (size_t r = 0; r < 4; r++) {
    rows(r, 4) = nan;
    rows(r, 5) = 0;
  }
  rows(1, 2) = 7;
  rows(2, 5) = -0.0F;
  rows(3, 2) = 8;
  const auto groups = group_by_varying_players(setting.task());
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_THAT(groups[0].players, IsEmpty());
  EXPECT_THAT(groups[0].rows, ElementsAre(0));
  EXPECT_THAT(groups[1].players, ElementsAre(5));
  EXPECT_THAT(groups[1].rows, ElementsAre(2));
  EXPECT_THAT(groups[2].players, ElementsAre(2));
  EXPECT_THAT(groups[2].rows, ElementsAre(1, 3));
}

// 13 features, 8,192 coalitions: 600 samples cover those of nine players. Rows of more have a sample of theirs.
TEST(VaryingPlayers, KernelShapIsExactWhereTheSamplesCoverThem) {
  const Setting setting = network_setting({13, 9, 3, 0, 9, 12, 1});
  const Result exact = explained("exact_shapley", setting);
  const Result found = explained("kernel_shap:samples=600", setting);
  for (size_t r = 0; r < 7; r++) {
    const bool in_full = r != 0 && r != 5;
    for (size_t c = 0; c < kFeatures; c++) {
      const double error = found.out.standard_error(r, c);
      EXPECT_NEAR(found.values(r, c), exact.values(r, c), in_full ? 1e-6 : 5 * error) << r << ", " << c;
      // Row 5 is the reference in its last feature.
      EXPECT_EQ(error == 0, in_full || (r == 5 && c == 12)) << r << ", " << c;
    }
  }
  EXPECT_EQ(found.out.evaluations, 2U * 600 + 2 * 512 + 8 + 2);
  EXPECT_THAT(found.out.notes, ElementsAre("kernel_shap: 5 of 7 rows differ from the reference in so few players that "
                                           "600 samples cover all coalitions of those; their values are exact"));
}

// As if the model had no other features.
TEST(VaryingPlayers, SmallSamplesAreDrawnBetweenThemAlone) {
  const Setting setting = network_setting({13, 8, 8, 13});
  const Result found = explained("kernel_shap:samples=100", setting);
  EXPECT_EQ(found.out.evaluations, 4U * 100);
  Matrix rows(2, 8);
  Matrix reference(1, 8);
  std::ranges::fill(reference.values(), 1.0F);
  for (size_t r = 0; r < 2; r++) std::copy_n(setting.rows.row(1 + r).begin(), 8, rows.row(r).begin());
  const Setting smaller = setting_of(network(8), std::move(rows), std::move(reference));
  const Result alone = explained("kernel_shap:samples=100", smaller);
  for (size_t r = 0; r < 2; r++) {
    for (size_t c = 0; c < 8; c++) {
      EXPECT_NEAR(found.values(1 + r, c), alone.values(r, c), 1e-5);
      EXPECT_NEAR(found.out.standard_error(1 + r, c), alone.out.standard_error(r, c), 1e-5);
    }
    for (size_t c = 8; c < kFeatures; c++) {
      EXPECT_EQ(found.values(1 + r, c), 0);
      EXPECT_EQ(found.out.standard_error(1 + r, c), 0);
    }
  }
}

// Orders of eight players take 7 evaluations each, whatever the model has beside them.
TEST(VaryingPlayers, OrdersAreOfThemAlone) {
  const Setting setting = network_setting({13, 8, 0, 1});
  const Result found = explained("shapley_sampling:permutations=400", setting);
  const Result exact = explained("exact_shapley", setting);
  EXPECT_EQ(found.out.evaluations, (400U * 12 + 2) + (400 * 7 + 2) + 2);
  for (size_t r = 0; r < 4; r++) {
    for (size_t c = 0; c < kFeatures; c++) {
      EXPECT_NEAR(found.values(r, c), exact.values(r, c), 5 * found.out.standard_error(r, c) + 1e-6) << r << ", " << c;
    }
    for (size_t c = std::array<size_t, 4>{13, 8, 0, 1}[r]; c < kFeatures; c++) {
      EXPECT_EQ(found.values(r, c), 0);
      EXPECT_EQ(found.out.standard_error(r, c), 0);
    }
  }
}

TEST(VaryingPlayers, GiveTheSameBitsHoweverTheRowsCome) {
  expect_same_bits_everywhere("kernel_shap:samples=600", network_setting({13, 9, 3, 0, 9, 12, 1}));
  expect_same_bits_everywhere("kernel_shap:samples=100", network_setting({13, 9, 3, 0, 9, 12, 1}));
  expect_same_bits_everywhere("shapley_sampling:permutations=8", network_setting({13, 9, 3, 0, 9, 12, 1}));
}

}  // namespace
}  // namespace assay::testing
