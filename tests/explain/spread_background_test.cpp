#include "assay/explain/spread_background.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/core/statistics.h"
#include "assay/explain/explainer.h"
#include "assay/explain/players.h"
#include "tests/message.h"

namespace assay {
namespace {

using ::testing::ElementsAre;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Outputs are the first columns of the rows: margins of classes.
std::unique_ptr<Model> echo(size_t outputs = 2) {
  ModelInfo info;
  info.name = "m.onnx";
  info.feature_names = {"a", "b", "c", "d"};
  for (size_t j = 0; j < outputs; j++) info.output_names.push_back("o" + std::to_string(j));
  info.class_names = info.output_names;
  info.unit = OutputUnit::margin;
  return model_from_function(info, [outputs](MatrixView<const float> rows, MatrixView<float> out) {
    for (size_t i = 0; i < rows.rows(); i++) std::copy_n(rows.row(i).begin(), outputs, out.row(i).begin());
  });
}

// Column 0 is the margin of class 0, column 1 that of class 1, column 2 the row's number.
Dataset scored_pool(size_t rows) {
  Dataset pool;
  pool.source = "train.csv";
  pool.feature_names = {"a", "b", "c", "d"};
  for (size_t c = 0; c < 4; c++) pool.groups.push_back({pool.feature_names[c], c, 1});
  pool.x = Matrix(rows, 4);
  for (size_t i = 0; i < rows; i++) pool.x(i, 2) = static_cast<float>(i);
  return pool;
}

TEST(SpreadBackground, HasARowOfEachStratumOfScores) {
  Dataset pool = scored_pool(40);
  // Scores of class 1 are 0, 7, 14, ... modulo 40: each number below 40 once.
  for (size_t i = 0; i < 40; i++) pool.x(i, 1) = static_cast<float>(i * 7 % 40);
  const Targets targets = freeze_targets(*echo(), pool.x.view(), {false, 1}, {});
  const ScoredPool scored = score_pool(pool, *echo(), {});
  ASSERT_EQ(scored.rows.size(), 40U);
  std::set<std::vector<float>> seen;
  for (uint64_t seed = 0; seed < 20; seed++) {
    Context context;
    context.seed = seed;
    const Reference drawn = spread_background(pool, scored, targets, 8, *echo(), context);
    ASSERT_EQ(drawn.rows.rows(), 8U);
    std::vector<float> scores;
    for (size_t i = 0; i < 8; i++) {
      scores.push_back(drawn.rows(i, 1));
      EXPECT_EQ(static_cast<size_t>(drawn.rows(i, 1)) / 5, i) << "stratum " << i << ", seed " << seed;
      EXPECT_EQ(static_cast<size_t>(drawn.rows(i, 2)) * 7 % 40, static_cast<size_t>(drawn.rows(i, 1)));
    }
    seen.insert(scores);
    for (const unsigned threads : {1U, 3U}) {
      context.threads = threads;
      const Reference again = spread_background(pool, score_pool(pool, *echo(), context), targets, 8, *echo(), context);
      EXPECT_EQ(0, std::memcmp(again.rows.data(), drawn.rows.data(), 8 * 4 * sizeof(float)));
    }
    EXPECT_EQ(drawn.description, "8 rows of train.csv, spread over its scores");
    EXPECT_EQ(drawn.scales.size(), 4U);
    EXPECT_EQ(drawn.drawn_from, 40U);
  }
  EXPECT_GT(seen.size(), 15U) << "the seed decides";
}

// Of 60 rows, 40 are predicted to be class 0 and 20 class 1: of 6 rows 4 and 2, at the classes' own quantiles.
TEST(SpreadBackground, HasPredictedClassesInTheirShares) {
  Dataset pool = scored_pool(60);
  for (size_t i = 0; i < 60; i++) pool.x(i, i % 3 == 0 ? 1 : 0) = static_cast<float>(100 + i);
  const Targets targets = freeze_targets(*echo(), pool.x.view(), {true, 0}, {});
  const ScoredPool scored = score_pool(pool, *echo(), {});
  for (uint64_t seed = 0; seed < 20; seed++) {
    Context context;
    context.seed = seed;
    const Reference drawn = spread_background(pool, scored, targets, 6, *echo(), context);
    ASSERT_EQ(drawn.rows.rows(), 6U);
    for (size_t i = 0; i < 6; i++) {
      const auto row = static_cast<size_t>(drawn.rows(i, 2));
      EXPECT_EQ(row % 3 == 0, i >= 4);
      // Ten rows of a class are 15 consecutive rows of class 0, or 30 of class 1.
      EXPECT_EQ(i < 4 ? row / 15 : row / 30, i < 4 ? i : i - 4);
    }
  }
}

TEST(SpreadBackground, LeavesOutRowsWithoutANumberAndTakesAllOfFew) {
  Dataset pool = scored_pool(9);
  for (size_t i = 0; i < 9; i++) pool.x(i, 1) = i % 3 == 0 ? kNan : static_cast<float>(i);
  pool.x(8, 0) = std::numeric_limits<float>::infinity();
  const Targets targets = freeze_targets(*echo(), pool.x.view(), {false, 1}, {});
  const ScoredPool scored = score_pool(pool, *echo(), {});
  EXPECT_THAT(scored.rows, ElementsAre(1, 2, 4, 5, 7));
  EXPECT_EQ(scored.outputs.rows(), 5U);
  const Reference all = spread_background(pool, scored, targets, 100, *echo(), {});
  EXPECT_EQ(all.description, "5 rows of train.csv, spread over its scores");
  EXPECT_EQ(all.drawn_from, 9U) << "of the pool, four rows of which have no score";
  ASSERT_EQ(all.rows.rows(), 5U);
  for (size_t i = 0; i < 5; i++) EXPECT_EQ(all.rows(i, 2), static_cast<float>(scored.rows[i]));

  const Dataset few = scored_pool(3);  // all scores are equal: in the pool's order
  const Targets their = freeze_targets(*echo(), few.x.view(), {false, 1}, {});
  const Reference whole = spread_background(few, score_pool(few, *echo(), {}), their, 100, *echo(), {});
  EXPECT_EQ(whole.description, "all 3 rows of train.csv");
  EXPECT_FALSE(whole.strata) << "no draw";
  EXPECT_FALSE(whole.is_draw());
  EXPECT_EQ(0, std::memcmp(whole.rows.data(), few.x.data(), 3 * 4 * sizeof(float)));

  for (size_t i = 0; i < 9; i++) pool.x(i, 1) = kNan;
  EXPECT_EQ(sentence([&] { spread_background(pool, score_pool(pool, *echo(), {}), targets, 5, *echo(), {}); }),
            "train.csv: expected rows for which the model gives numbers, to be the background, found none");
}

// The errors that a method gives are those of drawing again: values that go with the score vary little from draw to
// draw, values that have nothing to do with it as in a plain draw.
TEST(SpreadBackground, ErrorsAreThoseOfDrawingAgain) {
  constexpr size_t kPool = 2000;
  constexpr size_t kDrawn = 40;
  constexpr size_t kDraws = 300;
  ModelInfo info;
  info.name = "m.onnx";
  info.feature_names = {"score", "noise", "number", "square"};
  info.output_names = {"o"};
  const std::unique_ptr<Model> model =
      model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> out) {
        for (size_t i = 0; i < rows.rows(); i++) out(i, 0) = 10 * rows(i, 0) + rows(i, 1) + rows(i, 3);
      });
  Dataset pool = scored_pool(kPool);
  RandomStream stream(3, "pool of a test");
  for (size_t i = 0; i < kPool; i++) {
    pool.x(i, 0) = static_cast<float>(stream.uniform());
    pool.x(i, 1) = static_cast<float>(stream.uniform());
    pool.x(i, 3) = pool.x(i, 0) * pool.x(i, 0);
  }
  const Targets targets = freeze_targets(*model, pool.x.view(), {false, 0}, {});
  const ScoredPool scored = score_pool(pool, *model, {});
  const Matrix row(1, 4);
  const Targets of_row = freeze_targets(*model, row.view(), {false, 0}, {});
  const Players players = column_players(pool.feature_names);
  std::vector<RunningMoments> values(4);
  std::vector<double> mean_square(4, 0.0);
  for (uint64_t seed = 0; seed < kDraws; seed++) {
    Context context;
    context.seed = seed;
    const Reference drawn = spread_background(pool, scored, targets, kDrawn, *model, context);
    EXPECT_TRUE(drawn.strata);
    const Explanations found =
        explain(parse_spec("method", "occlusion"), {*model, row.view(), of_row, drawn, players}, {});
    for (size_t p = 0; p < 4; p++) {
      values[p].add(found.values(0, p));
      const double error = found.background_error(0, p);
      mean_square[p] += error * error / kDraws;
    }
  }
  for (const size_t p : {0U, 1U, 3U}) {
    const double actual = values[p].standard_deviation();
    EXPECT_NEAR(std::sqrt(mean_square[p]) / actual, 1, 0.15) << pool.feature_names[p];
  }
  // A plain draw of 40 would have an error of 10 * sqrt(1 / 12 / 40) = 0.46 for the first.
  EXPECT_LT(std::sqrt(mean_square[0]), 0.1);
}

TEST(SpreadBackground, AWordAsksForIt) {
  Dataset pool = scored_pool(40);
  for (size_t i = 0; i < 40; i++) pool.x(i, 1) = static_cast<float>(i * 7 % 40);
  Context context;
  context.seed = 5;
  const TargetChoice choice{false, 1};
  const Targets targets = freeze_targets(*echo(), pool.x.view(), choice, {});
  const Reference drawn = spread_background(pool, score_pool(pool, *echo(), context), targets, 7, *echo(), context);
  const auto said = said_spread_background("spread:7", &pool, *echo(), choice, context);
  ASSERT_TRUE(said);
  ASSERT_EQ(said->rows.rows(), 7U);
  EXPECT_EQ(said->description, drawn.description);
  EXPECT_EQ(0, std::memcmp(said->rows.data(), drawn.rows.data(), drawn.rows.values().size_bytes()));
  EXPECT_FALSE(said_spread_background("pool:7", &pool, *echo(), choice, context));
  EXPECT_FALSE(said_spread_background("", nullptr, *echo(), {}, context));
  EXPECT_EQ(
      sentence([&] { said_spread_background("spread:7", &pool, *echo(), {}, context); }),
      "background spread:7: expected one class or output for all rows, or the predicted class, so that the pool's "
      "rows have a score, found targets that differ from row to row");
}

TEST(SpreadBackground, AtMostSoManyRowsOfAPoolAreScored) {
  const Dataset pool = scored_pool(kMostScoredRows + 1000);
  const ScoredPool scored = score_pool(pool, *echo(3), {});
  ASSERT_EQ(scored.rows.size(), kMostScoredRows);
  for (size_t i = 0; i < scored.rows.size(); i++) {
    ASSERT_EQ(scored.outputs(i, 2), static_cast<float>(scored.rows[i]));
  }
}

}  // namespace
}  // namespace assay
