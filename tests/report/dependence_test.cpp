// Partners of features: models whose interactions are known, and regressions by hand.
#include "assay/report/dependence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "assay/core/random.h"
#include "assay/core/statistics.h"

namespace assay {
namespace {

constexpr size_t kRows = 400;

struct Drawn {
  Matrix values = Matrix(kRows, 4);  // attributions
  std::vector<std::optional<RowColumn>> columns;

  Drawn() {
    for (size_t p = 0; p < 4; p++) {
      RowColumn column{.name = "x" + std::to_string(p)};
      for (size_t row = 0; row < kRows; row++) {
        RandomStream random(23, "dependence", p, static_cast<uint32_t>(row));
        column.values.push_back(2 * random.uniform() - 1);
      }
      columns.emplace_back(std::move(column));
    }
  }
  double x(size_t row, size_t p) const { return columns[p]->values[row]; }
  Dependence of(size_t player) const { return dependence_of(player, values, columns, 4); }
};

// f = x0 x1 + x2 + x3 with the reference 0: the Shapley values of x0 and x1 are x0 x1 / 2. In a bin of x0 the sign of
// the relation is that of x0, so bins must not cancel.
TEST(Dependence, FindsTheFactorOfAProduct) {
  Drawn drawn;
  for (size_t row = 0; row < kRows; row++) {
    drawn.values(row, 0) = static_cast<float>(drawn.x(row, 0) * drawn.x(row, 1) / 2);
    drawn.values(row, 1) = drawn.values(row, 0);
    drawn.values(row, 2) = static_cast<float>(drawn.x(row, 2));
    drawn.values(row, 3) = static_cast<float>(drawn.x(row, 3));
  }
  EXPECT_EQ(drawn.of(0).partner, size_t{1});
  EXPECT_GT(drawn.of(0).strength, 0.8);
  EXPECT_EQ(drawn.of(1).partner, size_t{0});
  // The straight line in x2 leaves nothing but rounding.
  EXPECT_EQ(drawn.of(2).partner, std::nullopt);
  EXPECT_EQ(drawn.of(2).strength, 0);
}

TEST(Dependence, FindsALevel) {
  Drawn drawn;
  RowColumn category{.name = "c", .kind = ColumnKind::categorical, .levels = {"a", "b", "c", "rare"}};
  for (size_t row = 0; row < kRows; row++) {
    category.values.push_back(row < 3 ? 3 : static_cast<double>(row % 3));
    // The slope is another in level b.
    drawn.values(row, 0) = static_cast<float>(drawn.x(row, 0) + (category.values.back() == 1 ? 3 : 0));
  }
  drawn.columns[2] = category;
  EXPECT_EQ(drawn.of(0).partner, size_t{2});
  EXPECT_NEAR(drawn.of(0).strength, 1, 1e-6);
  // A feature that is a category has a bin for each level.
  for (size_t row = 0; row < kRows; row++) {
    drawn.values(row, 2) = static_cast<float>(category.values[row] + drawn.x(row, 3));
  }
  EXPECT_EQ(drawn.of(2).partner, size_t{3});
  EXPECT_NEAR(drawn.of(2).strength, 1, 1e-6);
}

TEST(Dependence, LeavesOutWhatHasNoValues) {
  Drawn drawn;
  for (size_t row = 0; row < kRows; row++) {
    drawn.values(row, 0) = static_cast<float>(drawn.x(row, 0) * drawn.x(row, 1));
    if (row % 5 == 0) drawn.columns[1]->values[row] = NAN;
    if (row % 7 == 0) drawn.values(row, 0) = NAN;
  }
  EXPECT_EQ(drawn.of(0).partner, size_t{1});
  drawn.columns[1].reset();  // a group of several columns
  EXPECT_NE(drawn.of(0).partner, size_t{1});
  EXPECT_EQ(drawn.of(1).partner, std::nullopt);
}

// The attributions of an additive model are functions of the own value, with steps (trees) and curves. No feature goes
// along with them, be it close to the own value, skewed, a level, or a function of it.
TEST(Dependence, AdditiveModelsHaveNoPartners) {
  constexpr size_t kStudies = 150;
  size_t claims = 0;
  for (size_t study = 0; study < kStudies; study++) {
    Drawn drawn;
    RowColumn level{.name = "k", .kind = ColumnKind::categorical, .levels = {"u", "v", "w"}};
    for (size_t row = 0; row < kRows; row++) {
      RandomStream random(31, "additive", static_cast<uint32_t>(study), static_cast<uint32_t>(row));
      const double shared = random.normal();
      drawn.columns[0]->values[row] = shared + 0.5 * random.normal();
      drawn.columns[1]->values[row] = shared + 0.5 * random.normal();
      drawn.columns[3]->values[row] = drawn.x(row, 0) * drawn.x(row, 0);
      level.values.push_back(std::floor(3 * random.uniform()));
      const double step = std::floor(4 * drawn.x(row, 0)) / 4;
      drawn.values(row, 0) = static_cast<float>(step * step);
      drawn.values(row, 1) = static_cast<float>(std::sin(2 * drawn.x(row, 1)));
      drawn.values(row, 3) = static_cast<float>(std::exp(-drawn.x(row, 3)));
    }
    drawn.columns[2] = level;
    bool claimed = false;
    for (const size_t player : {0, 1, 3}) claimed = claimed || drawn.of(player).partner.has_value();
    claims += claimed ? 1 : 0;
  }
  EXPECT_LE(claims, kStudies / 20);
}

// Residuals of a straight line by least squares.
std::vector<double> residuals(const std::vector<double>& y, const std::vector<double>& x) {
  double mean_x = 0, mean_y = 0, products = 0, squares = 0;
  for (size_t i = 0; i < x.size(); i++) {
    mean_x += x[i] / static_cast<double>(x.size());
    mean_y += y[i] / static_cast<double>(x.size());
  }
  for (size_t i = 0; i < x.size(); i++) {
    products += (x[i] - mean_x) * (y[i] - mean_y);
    squares += (x[i] - mean_x) * (x[i] - mean_x);
  }
  std::vector<double> left;
  for (size_t i = 0; i < x.size(); i++) left.push_back(y[i] - mean_y - products / squares * (x[i] - mean_x));
  return left;
}

// The formula of the header, with bins made by sorting.
TEST(Dependence, StrengthByItsDefinition) {
  Drawn drawn;
  for (size_t row = 0; row < kRows; row++) {
    RandomStream random(29, "noise", 0, static_cast<uint32_t>(row));
    drawn.values(row, 0) =
        static_cast<float>(drawn.x(row, 0) * drawn.x(row, 3) + std::sin(drawn.x(row, 0)) + 0.3 * random.uniform());
  }
  std::vector<size_t> order(kRows);
  for (size_t i = 0; i < kRows; i++) order[i] = i;
  std::ranges::sort(order, {}, [&](size_t row) { return drawn.x(row, 0); });
  double expected = 0;
  for (size_t bin = 0; bin < 10; bin++) {
    std::vector<double> a;
    std::vector<double> x;
    std::vector<double> z;
    for (size_t i = bin * kRows / 10; i < (bin + 1) * kRows / 10; i++) {
      a.push_back(drawn.values(order[i], 0));
      x.push_back(drawn.x(order[i], 0));
      z.push_back(drawn.x(order[i], 3));
    }
    expected += std::fabs(pearson(residuals(a, x), residuals(z, x))) / 10;
  }
  const Dependence found = drawn.of(0);
  EXPECT_EQ(found.partner, size_t{3});
  EXPECT_NEAR(found.strength, expected, 1e-9);
}

}  // namespace
}  // namespace assay
