#include "assay/study/trends.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/explain/run_method.h"
#include "tests/study/studied.h"

namespace assay::testing {
namespace {

using Pairs = std::vector<std::pair<double, double>>;

double pearson(const Pairs& pairs) {
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (const auto& [a, b] : pairs) n++, x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
  return (n * xy - x * y) / std::sqrt((n * xx - x * x) * (n * yy - y * y));
}

// How many are below, and half of those that are equal.
Pairs ranked(const Pairs& pairs) {
  Pairs made;
  for (const auto& [a, b] : pairs) {
    double x = 0, y = 0;
    for (const auto& [other_a, other_b] : pairs) {
      x += other_a < a ? 1 : other_a == a ? 0.5 : 0;
      y += other_b < b ? 1 : other_b == b ? 0.5 : 0;
    }
    made.emplace_back(x, y);
  }
  return made;
}

// Attributions 2 x1, -3 x2 and 0 of the linear toy: the first rises with its value, the second falls, the third has no
// spread.
TEST(Trends, AreCorrelationsOfValueAndAttribution) {
  const Studied studied(linear_toy(), 8);
  Explanations made = explain({"occlusion"}, studied.subject(), {});
  std::vector<double> found = value_trends(studied.subject(), made);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_NEAR(found[0], 1, 1e-6);
  EXPECT_NEAR(found[1], -1, 1e-6);
  EXPECT_TRUE(std::isnan(found[2]));
  // Any numbers, by the formulas of Pearson and Spearman; a row without a number is left out.
  const auto number = [&](size_t r) { return 2 * studied.data.x.row(r)[0] + 0.2F * static_cast<float>((r * r) % 5); };
  for (size_t r = 0; r < 8; r++) made.values.row(r)[0] = number(r);
  made.values.row(3)[0] = NAN;
  std::vector<std::pair<double, double>> pairs;
  for (size_t r = 0; r < 8; r++) {
    if (r != 3) pairs.emplace_back(studied.data.x.row(r)[0], made.values.row(r)[0]);
  }
  found = value_trends(studied.subject(), made);
  EXPECT_NEAR(found[0], std::min(pearson(pairs), pearson(ranked(pairs))), 1e-9);
  // Three rows that have both tell nothing, however well they agree.
  for (const size_t r : {0U, 1U, 2U, 4U}) made.values.row(r)[0] = NAN;
  EXPECT_TRUE(std::isnan(value_trends(studied.subject(), made)[0]));
  // Nor do numbers whose interval reaches 0.
  for (size_t r = 0; r < 8; r++) made.values.row(r)[1] = static_cast<float>((r * r) % 5);
  EXPECT_TRUE(std::isnan(value_trends(studied.subject(), made)[1]));
}

// Few rows far off must not speak for all others: here Pearson's correlation is positive, Spearman's negative.
TEST(Trends, AFewRowsFarOffGiveNone) {
  const Studied studied(linear_toy(), 40);
  Explanations made = explain({"occlusion"}, studied.subject(), {});
  std::vector<double> values(40);
  for (size_t r = 0; r < 40; r++) values[r] = studied.data.x.row(r)[0];
  const double largest = *std::ranges::max_element(values);
  Pairs pairs;
  for (size_t r = 0; r < 40; r++) {
    made.values.row(r)[0] = static_cast<float>(values[r] == largest ? 1000 : -values[r]);
    pairs.emplace_back(values[r], made.values.row(r)[0]);
  }
  ASSERT_LT(pearson(ranked(pairs)), -0.5);
  ASSERT_GT(pearson(pairs), 0);
  EXPECT_TRUE(std::isnan(value_trends(studied.subject(), made)[0]));
}

// The slope of a value that grows by less and less falls as the value rises: the correlation would say "lowers".
TEST(Trends, SlopesHaveNone) {
  const Studied studied(linear_toy(), 8);
  Explanations made = explain({"occlusion"}, studied.subject(), {});
  made.provenance.method = "gradient";
  for (const double trend : value_trends(studied.subject(), made)) EXPECT_TRUE(std::isnan(trend));
  made.provenance.method = "mean";
  made.combination.members = {"occlusion", "lime"};
  EXPECT_NEAR(value_trends(studied.subject(), made)[0], 1, 1e-6);
  made.combination.members = {"occlusion", "smooth_grad:samples=10"};
  EXPECT_TRUE(std::isnan(value_trends(studied.subject(), made)[0]));
}

TEST(Trends, NeedOneOrderedColumnAndOneTarget) {
  Studied studied(linear_toy(), 8);
  const Explanations made = explain({"occlusion"}, studied.subject(), {});
  studied.data.groups[0].kind = ColumnKind::categorical;
  EXPECT_TRUE(std::isnan(value_trends(studied.subject(), made)[0])) << "the order of categories means nothing";
  EXPECT_NEAR(value_trends(studied.subject(), made)[1], -1, 1e-6);
  studied.data.groups[0].kind = ColumnKind::numeric;

  studied.setting.players = players_of({0, 0, 1}, 2);
  Explanations joint = made;
  joint.values = Matrix(8, 2);
  for (size_t r = 0; r < 8; r++) {
    joint.values.row(r)[0] = studied.data.x.row(r)[0];
    joint.values.row(r)[1] = studied.data.x.row(r)[2];
  }
  const std::vector<double> found = value_trends(studied.subject(), joint);
  EXPECT_TRUE(std::isnan(found[0])) << "two columns have no one value";
  EXPECT_NEAR(found[1], 1, 1e-6);

  joint.target.assign(8, 0);
  EXPECT_NEAR(value_trends(studied.subject(), joint)[1], 1, 1e-6);
  joint.target[5] = 1;
  EXPECT_TRUE(std::isnan(value_trends(studied.subject(), joint)[1])) << "rows of different classes";
}

}  // namespace
}  // namespace assay::testing
