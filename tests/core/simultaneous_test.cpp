#include "assay/core/simultaneous.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "assay/core/random.h"

namespace assay {
namespace {

using Columns = std::vector<std::vector<double>>;

SimultaneousDifferences differences_of(const Columns& columns, const SimultaneousOptions& options = {},
                                       uint64_t seed = 0, unsigned threads = 1) {
  const std::vector<std::span<const double>> views(columns.begin(), columns.end());
  Context context;
  context.threads = threads;
  context.seed = seed;
  return simultaneous_differences(views, options, {}, context);
}

// Mean, squared error without the shared part, and number of defined differences, from a list of rows.
struct Direct {
  double mean = NAN;
  double error = NAN;
  size_t rows = 0;
};
Direct direct(const std::vector<double>& a, const std::vector<double>& b, const std::vector<size_t>& rows,
              double floor) {
  std::vector<double> apart;
  for (const size_t r : rows) {
    if (std::isfinite(a[r]) && std::isfinite(b[r])) apart.push_back(a[r] - b[r]);
  }
  Direct made{.rows = apart.size()};
  if (apart.empty()) return made;
  const auto n = static_cast<double>(apart.size());
  made.mean = 0;
  for (const double d : apart) made.mean += d / n;
  double squares = 0;
  for (const double d : apart) squares += (d - made.mean) * (d - made.mean);
  const double variance = apart.size() > 1 ? squares / (n - 1) : 0;
  made.error = std::sqrt((variance + floor * floor) / n);
  return made;
}

size_t most_common_rows(const Columns& columns) {
  size_t most = 0;
  for (size_t i = 0; i < columns.size(); ++i) {
    for (size_t j = i + 1; j < columns.size(); ++j) {
      size_t common = 0;
      for (size_t r = 0; r < columns[i].size(); ++r) common += std::isfinite(columns[i][r] - columns[j][r]) ? 1 : 0;
      most = std::max(most, common);
    }
  }
  return most;
}

// Pairs with fewer common rows have no interval: 5, or as many as the pair with the most, but two at least.
size_t least_rows(const Columns& columns) { return std::clamp<size_t>(most_common_rows(columns), 2, 5); }

// The formulas of the header, word by word, with the same draws.
double direct_critical(const Columns& columns, const SimultaneousOptions& options, uint64_t seed) {
  const size_t rows = columns[0].size();
  std::vector<size_t> all(rows);
  for (size_t r = 0; r < rows; ++r) all[r] = r;
  std::vector<double> largest;
  for (size_t draw = 0; draw < options.draws; ++draw) {
    RandomStream stream(seed, "simultaneous", draw);
    std::vector<size_t> again;
    for (size_t r = 0; r < rows; ++r) again.push_back(stream.below(static_cast<uint32_t>(rows)));
    double most = 0;
    for (size_t i = 0; i < columns.size(); ++i) {
      for (size_t j = i + 1; j < columns.size(); ++j) {
        const Direct sample = direct(columns[i], columns[j], all, options.floor);
        const Direct resample = direct(columns[i], columns[j], again, options.floor);
        if (sample.rows < least_rows(columns) || resample.rows < 1) continue;
        most = std::max(most, std::fabs(resample.mean - sample.mean) / resample.error);
      }
    }
    largest.push_back(most);
  }
  const size_t common = most_common_rows(columns);
  if (common < 2) return NAN;
  const auto pairs = static_cast<double>(columns.size() * (columns.size() - 1) / 2);
  const double bonferroni =
      student_t_quantile(1 - (1 - options.confidence) / 2 / pairs, static_cast<double>(common - 1));
  return std::min(quantile(largest, options.confidence), bonferroni);
}

Columns random_columns(size_t count, size_t rows, uint64_t seed, uint32_t one_missing_in = 0) {
  Columns made(count, std::vector<double>(rows));
  RandomStream random(seed, "columns");
  for (size_t r = 0; r < rows; ++r) {
    const double shared = random.normal();
    for (size_t c = 0; c < count; ++c) {
      made[c][r] = 0.3 * shared + (0.02 + 0.1 * static_cast<double>(c)) * random.normal();
      if (one_missing_in > 0 && random.below(one_missing_in) == 0) made[c][r] = NAN;
    }
  }
  return made;
}

RC_GTEST_PROP(Simultaneous, IsTheFormulaOfItsHeader, (uint64_t seed)) {
  RandomStream random(seed, "case");
  const size_t rows = 2 + random.below(25);
  const Columns columns = random_columns(2 + random.below(3), rows, seed, random.below(2) == 0 ? 0 : 4);
  const SimultaneousOptions options{.floor = 0.01 + 0.1 * random.uniform(), .confidence = 0.9, .draws = 60};
  const SimultaneousDifferences found = differences_of(columns, options, seed);
  std::vector<size_t> all(rows);
  for (size_t r = 0; r < rows; ++r) all[r] = r;
  bool some = false;
  const size_t least = least_rows(columns);
  const double critical = direct_critical(columns, options, seed);
  for (size_t i = 0; i < columns.size(); ++i) {
    for (size_t j = 0; j < columns.size(); ++j) {
      if (i == j) continue;
      const Direct expected = direct(columns[i], columns[j], all, options.floor);
      const auto got = found.between(i, j);
      RC_ASSERT(got.rows == expected.rows);
      RC_ASSERT((expected.rows == 0 ? std::isnan(got.mean) : std::fabs(got.mean - expected.mean) < 1e-12));
      some = some || expected.rows >= least;
      if (expected.rows < least) {
        RC_ASSERT((std::isnan(got.interval.low) && std::isnan(got.interval.high)));
        continue;
      }
      RC_ASSERT(std::fabs(got.error - expected.error) < 1e-9 * expected.error);
      RC_ASSERT(std::fabs(got.interval.low - (expected.mean - critical * expected.error)) < 1e-9);
      RC_ASSERT(std::fabs(got.interval.high - (expected.mean + critical * expected.error)) < 1e-9);
    }
  }
  RC_ASSERT((some ? std::fabs(found.critical() - critical) < 1e-9 * critical + 1e-12 : std::isnan(found.critical())));
}

// Two rows with differences 0 and 0.3: half of the resamples take one row twice. Their mean is 0.15 off and their
// deviation 0, so c = 0.15 / (floor / sqrt 2); the other half is not off at all.
TEST(Simultaneous, OfTwoRowsByHand) {
  const SimultaneousDifferences found = differences_of({{0.5, 0.8}, {0.5, 0.5}}, {.floor = 0.1});
  EXPECT_NEAR(found.critical(), 0.15 / (0.1 / std::sqrt(2.0)), 1e-9);
  const auto apart = found.between(0, 1);
  EXPECT_NEAR(apart.mean, 0.15, 1e-12);
  EXPECT_EQ(apart.rows, 2U);
  EXPECT_NEAR(apart.error, std::sqrt((0.045 + 0.01) / 2), 1e-12);
  EXPECT_NEAR(apart.interval.high - apart.interval.low, 2 * found.critical() * apart.error, 1e-12);
}

// One pair and many rows: the mean of a resample is normal about the mean. With differences of +-s and a floor f the
// critical value is 1.96 s / sqrt(s^2 + f^2).
TEST(Simultaneous, OfOnePairIsTheNormalQuantile) {
  std::vector<double> up(2000);
  for (size_t r = 0; r < up.size(); ++r) up[r] = r % 2 == 0 ? 0.3 : -0.3;
  const std::vector<double> zero(up.size(), 0);
  const double found = differences_of({up, zero}, {.floor = 0.4, .draws = 4000}).critical();
  EXPECT_NEAR(found, 1.959964 * 0.3 / 0.5, 0.05);
  // Three pairs of independent columns: the largest of three has a wider quantile, at most Bonferroni's 2.394.
  const double three = differences_of(random_columns(3, 2000, 3), {.floor = 1e-3, .draws = 4000}).critical();
  EXPECT_GT(three, 2.05);
  EXPECT_LT(three, 2.394 + 0.1);
}

TEST(Simultaneous, TurnedRoundIsTheMirror) {
  const SimultaneousDifferences found = differences_of(random_columns(4, 30, 8), {});
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < 4; ++j) {
      EXPECT_EQ(found.between(i, j).mean, -found.between(j, i).mean);
      EXPECT_EQ(found.between(i, j).interval.low, -found.between(j, i).interval.high);
      EXPECT_EQ(found.between(i, j).error, found.between(j, i).error);
    }
    EXPECT_EQ(found.between(i, i).interval.high, 0);
  }
  EXPECT_EQ(found.columns(), 4U);
}

TEST(Simultaneous, WithoutAPairOfTwoRowsThereIsNoInterval) {
  const SimultaneousDifferences apart = differences_of({{1, NAN, 3}, {NAN, 2, 3}}, {});
  EXPECT_TRUE(std::isnan(apart.critical()));
  EXPECT_EQ(apart.between(0, 1).rows, 1U);
  EXPECT_EQ(apart.between(0, 1).mean, 0);
  EXPECT_TRUE(std::isnan(apart.between(0, 1).interval.low));
  EXPECT_TRUE(std::isnan(differences_of({{1, 2, 3}}, {}).critical()));
  EXPECT_TRUE(std::isnan(differences_of({}, {}).critical()));
  EXPECT_TRUE(std::isnan(differences_of({{}, {}}, {}).between(0, 1).mean));
  // Infinity is no score either.
  EXPECT_EQ(differences_of({{1, 2, INFINITY, 4}, {1, 3, 1, 1}}, {}).between(0, 1).rows, 3U);
}

// A twin that differs in one row by a thousandth: every third resample misses that row and has no spread at all.
TEST(Simultaneous, ATwinDoesNotDecideTheCriticalValue) {
  Columns columns = random_columns(3, 60, 5);
  const double before = differences_of(columns, {.floor = 0.05}).critical();
  columns.push_back(columns[0]);
  EXPECT_EQ(differences_of(columns, {.floor = 0.05}).between(0, 3).mean, 0);
  columns[3][7] += 1e-3;
  const double after = differences_of(columns, {.floor = 0.05}).critical();
  EXPECT_LT(after, before * 1.25);
  EXPECT_GE(after, before * 0.99) << "more pairs cannot make the largest smaller";
  EXPECT_EQ(differences_of(columns, {.floor = 1e-9}).critical(), student_t_quantile(1 - 0.025 / 6, 59))
      << "without the floor the twin decides, as far as Bonferroni's value lets it";
}

// Correlations over two points are 1 or -1. Columns that are -1 in a row or two decide nothing about one that is -1 in
// most rows.
TEST(Simultaneous, RareRowsDoNotHideACommonDifference) {
  constexpr size_t kRows = 40;
  Columns columns(8, std::vector<double>(kRows, 1));
  for (size_t c = 1; c < 7; ++c) columns[c][3 * c] = -1;
  for (size_t r = 0; r < 30; ++r) columns[7][r] = -1;  // mean -0.5
  const SimultaneousDifferences found = differences_of(columns, {.floor = 0.05});
  EXPECT_LE(found.critical(), student_t_quantile(1 - 0.025 / 28, kRows - 1));
  EXPECT_GT(found.between(0, 7).interval.low, 0.5);
  EXPECT_LT(found.between(0, 1).interval.low, 0) << "one row of forty is no evidence";
}

TEST(Simultaneous, SharedErrorWidensTheIntervals) {
  const Columns columns = random_columns(3, 40, 6);
  const std::vector<std::span<const double>> views(columns.begin(), columns.end());
  const SimultaneousDifferences without = differences_of(columns, {});
  const SimultaneousDifferences with =
      simultaneous_differences(views, {}, [](size_t i, size_t j) { return i == 0 && j == 2 ? 0.2 : 0.0; }, {});
  EXPECT_EQ(with.critical(), without.critical());
  EXPECT_EQ(with.between(0, 1).error, without.between(0, 1).error);
  EXPECT_NEAR(with.between(2, 0).error, std::hypot(without.between(0, 2).error, 0.2), 1e-15);
}

TEST(Simultaneous, HasTheSameBitsOnAnyNumberOfThreads) {
  const Columns columns = random_columns(6, 50, 9, 7);
  const SimultaneousDifferences one = differences_of(columns, {}, 4, 1);
  const SimultaneousDifferences three = differences_of(columns, {}, 4, 3);
  EXPECT_EQ(one.critical(), three.critical());
  EXPECT_NE(one.critical(), differences_of(columns, {}, 5, 1).critical()) << "another seed draws other rows";
  for (size_t i = 0; i < 6; ++i) {
    for (size_t j = i + 1; j < 6; ++j) {
      const auto a = one.between(i, j);
      const auto b = three.between(i, j);
      EXPECT_EQ(std::memcmp(&a.interval, &b.interval, sizeof(a.interval)), 0);
    }
  }
}

}  // namespace
}  // namespace assay
