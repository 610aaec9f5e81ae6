#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/random.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/density/kernel_density.h"
#include "assay/evaluate/density/surprise.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {
namespace {

Matrix random_values(size_t rows, size_t players, uint64_t seed) {
  RandomStream stream(seed, "conviction test");
  Matrix made(rows, players);
  for (float& v : made.values()) v = static_cast<float>(stream.normal());
  return made;
}

// The kernel of one reference row, straight from its formula, every coordinate varying.
double kernel(const Matrix& reference, std::span<const float> x, size_t i) {
  const size_t rows = reference.rows();
  const size_t width = reference.cols();
  const double h = std::pow(static_cast<double>(rows), -1.0 / (static_cast<double>(width) + 4));
  double squares = 0;
  for (size_t c = 0; c < width; c++) {
    double mean = 0;
    for (size_t k = 0; k < rows; k++) mean += reference(k, c) / static_cast<double>(rows);
    double variance = 0;
    for (size_t k = 0; k < rows; k++) variance += std::pow(reference(k, c) - mean, 2) / static_cast<double>(rows - 1);
    squares += std::pow(static_cast<double>(x[c]) - reference(i, c), 2) / variance / (h * h);
  }
  return std::exp(-squares / 2);
}

// The mean over all of them, or all but one.
double density(const Matrix& reference, std::span<const float> x, std::optional<size_t> leave_out) {
  double sum = 0;
  double count = 0;
  for (size_t i = 0; i < reference.rows(); i++) {
    if (leave_out == i) continue;
    sum += kernel(reference, x, i);
    count++;
  }
  return sum / count;
}

// Three explanations 0, 1 and 3 of one player. Others are 1 and 3 away from 0, 1 and 2 from 1, 2 and 3 from 3: 1 is the
// most typical, 3 the least. Of the two others, 1, 2 and 0 are at most as typical: P = 3/6, 5/6, 1/6.
TEST(Conviction, OfThreeRows) {
  Trial trial = bare_trial({{0}, {1}, {3}});
  const Scores found = scored("conviction", "", trial);
  const double expected = (std::log(2.0) + std::log(1.2) + std::log(6.0)) / 3;
  EXPECT_NEAR(found.values[0], expected / std::log(2.0), 1e-12);
  EXPECT_NEAR(found.values[1], expected / std::log(1.2), 1e-12);
  EXPECT_NEAR(found.values[2], expected / std::log(6.0), 1e-12);
  ASSERT_EQ(found.tables.size(), 1U);
  EXPECT_NEAR(found.tables[0].rows[0][0], expected / std::log(2.0), 1e-12);
  // The plain share counts the row itself: P = 2/3, 1, 1/3, and the most typical is infinitely so.
  const Scores plain = scored("conviction", ":share=plain", trial);
  const double mean = (std::log(1.5) + std::log(3.0)) / 3;
  EXPECT_NEAR(plain.values[0], mean / std::log(1.5), 1e-12);
  EXPECT_EQ(plain.values[1], std::numeric_limits<double>::infinity());
  EXPECT_NEAR(plain.values[2], mean / std::log(3.0), 1e-12);
}

// The same three as the pool: a row at 1 is more typical than all of them (its nearest is at distance 0), one at 100
// less than all: P = 3.5/4 and 0.5/4; plain 1 and 0.
TEST(Conviction, ThePoolIsTheReferenceWhereThereIsOne) {
  Trial trial = bare_trial({{1}, {100}});
  trial.pool_explanations = PoolExplanations(matrix_of({{0}, {1}, {3}}));
  const Scores found = scored("conviction", "", trial);
  const double expected = (std::log(2.0) + std::log(1.2) + std::log(6.0)) / 3;
  EXPECT_NEAR(found.values[0], expected / std::log(4 / 3.5), 1e-12);
  EXPECT_NEAR(found.values[1], expected / std::log(8.0), 1e-12);
  const Scores plain = scored("conviction", ":share=plain", trial);
  EXPECT_EQ(plain.values[0], std::numeric_limits<double>::infinity());
  EXPECT_EQ(plain.values[1], 0);
}

TEST(Conviction, IsUndefinedWhereTheReferenceSaysNothing) {
  Trial one = bare_trial({{1, 2}});
  EXPECT_EQ(scored("conviction", "", one).undefined.at(0).reason, kTooFewReferences);
  Trial same = bare_trial({{1, 2}, {1, 2}, {1, 2}, {NAN, 2}});
  const Scores found = scored("conviction", "", same);
  ASSERT_EQ(found.undefined.size(), 2U);
  EXPECT_EQ(found.undefined[0].reason, kSameReferences);
  EXPECT_EQ(found.undefined[0].rows, 3U);
  EXPECT_EQ(found.undefined[1].reason, kNotFinite);
  // Two rows are as far from each other as the other way round: plain P is 1 for both, 0 / 0.
  Trial two = bare_trial({{0}, {1}});
  EXPECT_EQ(scored("conviction", ":share=plain", two).undefined.at(0).reason, kNoSurprise);
  EXPECT_NEAR(scored("conviction", "", two).values[0], 1, 1e-12);
}

// A player that never varies, and rows that are no numbers, change nothing.
TEST(Conviction, WhatDoesNotVaryPlaysNoPart) {
  Trial plain = bare_trial({{0}, {1}, {3}});
  Trial wide = bare_trial({{0, 5}, {1, 5}, {3, 5}, {NAN, 5}});
  const Scores expected = scored("conviction", "", plain);
  const Scores found = scored("conviction", "", wide);
  for (size_t r = 0; r < 3; r++) EXPECT_EQ(found.values[r], expected.values[r]);
}

TEST(Conviction, EqualsTheDoubleLoop) {
  for (const bool with_pool : {false, true}) {
    const Matrix reference = random_values(30, 3, 1);
    const Matrix values = with_pool ? random_values(12, 3, 2) : reference;
    Trial trial{explanations_of(values)};
    if (with_pool) trial.pool_explanations = PoolExplanations(reference);
    const Scores found = scored("conviction", ":share=plain", trial);
    const auto surprise = [&](double at) {
      double count = 0;
      for (size_t z = 0; z < 30; z++) count += density(reference, reference.row(z), z) <= at ? 1 : 0;
      return -std::log(count / 30);
    };
    double expected = 0;
    for (size_t z = 0; z < 30; z++) expected += surprise(density(reference, reference.row(z), z)) / 30;
    for (size_t r = 0; r < values.rows(); r++) {
      const double at = density(reference, values.row(r), with_pool ? std::nullopt : std::optional(r));
      if (std::isinf(found.values[r])) {
        EXPECT_EQ(std::abs(surprise(at)), 0);
      } else {
        EXPECT_NEAR(found.values[r], expected / surprise(at), 1e-9);
      }
    }
  }
}

// Hundreds of players: the densities themselves underflow, their logarithms do not.
TEST(Conviction, LogDensitiesDoNotUnderflow) {
  const Matrix values = random_values(20, 500, 3);
  const KernelDensity wide(values.view(), std::vector<size_t>{0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(wide.coordinates(), 500U);
  EXPECT_TRUE(std::isfinite(wide.log_density(values.row(15))));
  EXPECT_LT(wide.log_density(values.row(15)), -100);
  EXPECT_GT(wide.log_density(values.row(3)), wide.log_density(values.row(3), std::vector<size_t>{3}));
  // Against the formula where it does not underflow.
  const Matrix small = random_values(9, 2, 4);
  const KernelDensity narrow(small.view(), std::vector<size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8});
  const std::vector<float> x = {0.3F, -1};
  EXPECT_NEAR(std::exp(narrow.log_density(x)), density(small, x, {}), 1e-12);
  EXPECT_NEAR(std::exp(narrow.log_density(small.row(4), std::vector<size_t>{4})), density(small, small.row(4), 4),
              1e-12);
}

// Equal explanations are equally typical, whatever the order that their kernels are summed in.
TEST(Conviction, EqualExplanationsScoreTheSame) {
  Matrix values = random_values(60, 4, 5);
  for (size_t r = 30; r < 60; r++) std::ranges::copy(values.row(r - 30), values.row(r).begin());
  Trial trial{explanations_of(values)};
  const Scores found = scored("conviction", "", trial);
  for (size_t r = 0; r < 30; r++) EXPECT_EQ(found.values[r], found.values[r + 30]);
}

// Scaling a player changes nothing, nor does its place.
TEST(Conviction, ScalesAndOrderOfPlayersPlayNoPart) {
  const Matrix values = random_values(40, 3, 6);
  Matrix changed(40, 3);
  for (size_t r = 0; r < 40; r++) {
    changed(r, 0) = values(r, 2) * -64;
    changed(r, 1) = values(r, 0) * 0.25F;
    changed(r, 2) = values(r, 1);
  }
  Trial before{explanations_of(values)};
  Trial after{explanations_of(changed)};
  const Scores expected = scored("conviction", "", before);
  const Scores found = scored("conviction", "", after);
  for (size_t r = 0; r < 40; r++) EXPECT_NEAR(found.values[r], expected.values[r], 1e-9 * expected.values[r]);
}

// An explanation far from all others is the least convincing; every score is positive and finite.
TEST(Conviction, AnOutlierIsTheLeastConvincing) {
  Matrix values = random_values(50, 3, 7);
  for (float& v : values.row(20)) v = 30;
  Trial trial{explanations_of(values)};
  const Scores found = scored("conviction", "", trial);
  for (size_t r = 0; r < 50; r++) {
    EXPECT_GT(found.values[r], 0);
    EXPECT_TRUE(std::isfinite(found.values[r]));
    if (r == 20) continue;
    EXPECT_GT(found.values[r], found.values[20]);
  }
}

// Only the drawn rows of the pool are explained; the score of a row does not depend on other rows.
TEST(Conviction, ExplainsOnlyTheReferencesItDraws) {
  const Matrix pool = random_values(200, 3, 8);
  size_t explained = 0;
  const auto make = [&](std::span<const size_t> rows, const Context& /*context*/) {
    Matrix made(rows.size(), 3);
    for (size_t i = 0; i < rows.size(); i++) std::ranges::copy(pool.row(rows[i]), made.row(i).begin());
    explained += rows.size();
    return made;
  };
  Trial trial{explanations_of(random_values(10, 3, 9))};
  trial.pool_explanations = PoolExplanations(200, 3, make);
  const Scores all = scored("conviction", ":references=50", trial);
  EXPECT_EQ(explained, 50U);
  EXPECT_EQ(all.notes.at(0), "held against the explanations of 50 of the 200 pool rows");
  Matrix one(1, 3);
  std::ranges::copy(trial.explanations.values.row(4), one.row(0).begin());
  trial.explanations = explanations_of(one);
  EXPECT_EQ(scored("conviction", ":references=50", trial).values[0], all.values[4]);
}

// Explanations 0, 1 and 3 of the pool. A row with the inputs of the second is that row: it is typical of the others as
// the second is, P = 5/6, and no more; beside it one of other inputs and the same explanation, P = 3.5/4.
TEST(Conviction, ARowOfThePoolIsNotItsOwnReference) {
  Trial trial = bare_trial({{1}, {1}});
  trial.data = dataset_of(matrix_of({{20, -0.0F}, {21, 0}}));
  trial.pool = dataset_of(matrix_of({{10, 0}, {20, 0}, {30, 0}}));
  trial.pool_explanations = PoolExplanations(matrix_of({{0}, {1}, {3}}));
  const double expected = (std::log(2.0) + std::log(1.2) + std::log(6.0)) / 3;
  const Scores found = scored("conviction", "", trial);
  EXPECT_NEAR(found.values[0], expected / std::log(1.2), 1e-12);
  EXPECT_NEAR(found.values[1], expected / std::log(4 / 3.5), 1e-12);
  EXPECT_EQ(
      found.notes.at(1),
      "1 of the rows are among those that they are held against; each is held against those of other inputs alone");
}

// Inputs with many copies, each explained anew as by a sampled method; as pool of other rows, and as their own pool.
TEST(Conviction, EqualsTheDoubleLoopWithCopies) {
  const Matrix reference = random_values(30, 2, 11);
  Matrix inputs(30, 2);
  for (size_t r = 0; r < 30; r++) inputs(r, 0) = r % 12 == 0 ? NAN : static_cast<float>(r % 12);
  for (const bool own_pool : {true, false}) {
    const Matrix values = own_pool ? reference : random_values(14, 2, 12);
    Matrix rows(values.rows(), 2);
    for (size_t r = 0; r < rows.rows(); r++)
      rows(r, 0) = own_pool ? inputs(r, 0) : r == 0 ? NAN : static_cast<float>(r);
    Trial trial{explanations_of(values)};
    trial.data = dataset_of(rows);
    trial.pool = dataset_of(inputs);
    trial.pool_explanations = PoolExplanations(reference);
    const auto copies = [&](float x) {
      std::vector<bool> made;
      for (size_t z = 0; z < 30; z++) made.push_back(inputs(z, 0) == x || (std::isnan(x) && std::isnan(inputs(z, 0))));
      return made;
    };
    const auto without = [&](std::span<const float> at, const std::vector<bool>& self) {
      double sum = 0;
      double count = 0;
      for (size_t z = 0; z < 30; z++) {
        if (self[z]) continue;
        sum += kernel(reference, at, z);
        count++;
      }
      return sum / count;
    };
    std::vector<double> of_reference;
    for (size_t z = 0; z < 30; z++) of_reference.push_back(without(reference.row(z), copies(inputs(z, 0))));
    const auto surprise = [&](double at, const std::vector<bool>& self, bool smoothed) {
      double at_most = 0;
      double own = 0;
      for (size_t z = 0; z < 30; z++) {
        own += self[z] ? 1 : 0;
        at_most += !self[z] && of_reference[z] <= at * (1 + 1e-9) ? 1 : 0;
      }
      return -std::log(smoothed ? (at_most + 0.5) / (30 - own + 1) : (at_most + own) / 30);
    };
    for (const bool smoothed : {true, false}) {
      const Scores found = scored("conviction", smoothed ? "" : ":share=plain", trial);
      double expected = 0;
      for (size_t z = 0; z < 30; z++) expected += surprise(of_reference[z], copies(inputs(z, 0)), smoothed) / 30;
      for (size_t r = 0; r < rows.rows(); r++) {
        const std::vector<bool> self = copies(rows(r, 0));
        const double here = surprise(without(values.row(r), self), self, smoothed);
        if (here == 0) {
          EXPECT_TRUE(std::isinf(found.values[r]));
        } else {
          EXPECT_NEAR(found.values[r], expected / here, 1e-9 * expected / here) << own_pool << smoothed << r;
        }
      }
    }
    if (!own_pool) continue;
    // The same with the rows as their own reference.
    const Scores with_pool = scored("conviction", "", trial);
    trial.pool_explanations.reset();
    EXPECT_EQ(scored("conviction", "", trial).values, with_pool.values);
  }
}

TEST(Conviction, OfCopiesAloneIsUndefined) {
  Trial trial = bare_trial({{1}, {2}});
  trial.data = dataset_of(matrix_of({{4}, {5}}));
  trial.pool = dataset_of(matrix_of({{4}, {4}, {4}}));
  trial.pool_explanations = PoolExplanations(matrix_of({{0}, {1}, {3}}));
  const Scores found = scored("conviction", "", trial);
  EXPECT_TRUE(std::isnan(found.values[0]) && std::isnan(found.values[1]));
  EXPECT_EQ(found.undefined.at(0).reason, kSameInputs);
  EXPECT_EQ(found.undefined.at(0).rows, 2U);
}

// Stops what it reports on after the first blocks.
struct Stopping final : Progress {
  void begin(std::string_view task, uint64_t total) noexcept override {
    tasks.emplace_back(task);
    totals.push_back(total);
  }
  void advance(uint64_t /*amount*/) noexcept override {
    if (stop) cancelled = true;
  }
  void end() noexcept override {}

  std::vector<std::string> tasks;
  std::vector<uint64_t> totals;
  bool stop = false;
  std::atomic<bool> cancelled = false;
};

TEST(Conviction, ReportsAndStopsWhileReferencesAreCompared) {
  Trial trial{explanations_of(random_values(100, 3, 13))};
  trial.pool_explanations = PoolExplanations(random_values(300, 3, 14));
  Stopping progress;
  Context context;
  context.progress = &progress;
  context.cancelled = &progress.cancelled;
  scored("conviction", "", trial, context);
  EXPECT_EQ(progress.tasks, std::vector<std::string>({"conviction: references", "conviction"}));
  EXPECT_EQ(progress.totals, std::vector<uint64_t>({300, 100}));
  progress.tasks.clear();
  progress.stop = true;
  EXPECT_THROW(scored("conviction", "", trial, context), Error);
  EXPECT_EQ(progress.tasks, std::vector<std::string>({"conviction: references"}));
}

TEST(Conviction, BitsDoNotDependOnThreads) {
  Trial trial{explanations_of(random_values(150, 4, 10))};
  expect_same_scores_on_threads("conviction", "", trial);
  expect_same_scores_on_threads("conviction", ":references=40", trial);
}

}  // namespace
}  // namespace assay::testing
