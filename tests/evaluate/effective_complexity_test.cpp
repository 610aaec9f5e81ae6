#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/evaluate/common.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {
namespace {

double one_score(const std::string& options, Trial& trial) {
  return scored("effective_complexity", options, trial).values.at(0);
}

// A regression of `features` columns as a function of the user.
std::shared_ptr<const Model> function_model(size_t features, const std::function<float(std::span<const float>)>& f) {
  ModelInfo info;
  info.name = "function";
  for (size_t c = 0; c < features; c++) info.feature_names.push_back(fmt::format("x{}", c));
  info.output_names = {"y"};
  return model_from_function(info, [f](MatrixView<const float> rows, MatrixView<float> outputs) {
    for (size_t r = 0; r < rows.rows(); r++) outputs(r, 0) = f(rows.row(r));
  });
}

// x = (3, 1, -2) against (1, 0, 1): the terms change by 8, e - 1 = 1.718 and 1, 10.718 together. Keeping the first
// leaves 2.718, (2.718 / 10.718)^2 = 0.0643 of the loss; keeping two leaves 1, 0.0087; all three nothing.
TEST(EffectiveComplexity, OfAnAdditiveModel) {
  Trial trial = trial_of(setting_of(additive_toy()), matrix_of({{8, -1.7F, 1}}));
  EXPECT_EQ(one_score("", trial), 1);
  EXPECT_EQ(one_score(":tolerance=0.05", trial), 2);
  EXPECT_EQ(one_score(":tolerance=0.005", trial), 3);
  EXPECT_EQ(one_score(":tolerance=0", trial), 3);
}

// The strongest first is now the last: 9.718^2 / 10.718^2 = 0.822 and 8^2 / 10.718^2 = 0.557 are left.
TEST(EffectiveComplexity, AWrongOrderNeedsMorePlayers) {
  Trial trial = trial_of(setting_of(additive_toy()), matrix_of({{0.1F, 0.2F, 0.3F}}));
  EXPECT_EQ(one_score("", trial), 3);
  EXPECT_EQ(one_score(":tolerance=0.6", trial), 2);
  EXPECT_EQ(one_score(":tolerance=0.9", trial), 1);
}

// Ties go by index: 8 first.
TEST(EffectiveComplexity, TiesGoByIndex) {
  Trial trial = trial_of(setting_of(additive_toy()), matrix_of({{1, 1, -1}}));
  EXPECT_EQ(one_score("", trial), 1);
}

// y = 2 a - 3 b + 0.5 at (1, 2): -3.5. References (0, 0) and (2, 2) give 0.5 and -1.5: losses 16 and 4, mean 10. With b
// kept: -5.5 and -1.5, losses 4 and 4: 0.4. The mean value alone (-3.5) would show no loss at all.
TEST(EffectiveComplexity, ABackgroundAveragesTheLoss) {
  Setting setting = setting_of(linear_toy().model, matrix_of({{1, 2, 3}}), matrix_of({{0, 0, 0}, {2, 2, 0}}));
  Trial trial = trial_of(std::move(setting), matrix_of({{2, -3, 0}}));
  EXPECT_EQ(one_score(":tolerance=0.3", trial), 2);
  EXPECT_EQ(one_score(":tolerance=0.41", trial), 1);
}

// Both columns that matter are one player.
TEST(EffectiveComplexity, GroupsOfColumnsAreKeptTogether) {
  Trial trial = trial_of(setting_of(linear_toy()), matrix_of({{1, 0}, {0, 1}}));
  trial.setting->players = players_of({0, 0, 1}, 2);
  const Scores found = scored("effective_complexity", ":tolerance=0", trial);
  EXPECT_EQ(found.values[0], 1);
  EXPECT_EQ(found.values[1], 2);
  EXPECT_GT(found.evaluations, 0U);
}

// XOR of (1, 1) is that of (0, 0): there is no change to explain. A model that gives no number between the two ends.
TEST(EffectiveComplexity, IsUndefinedWhereNothingChangesOrNothingIsKnown) {
  Trial same = trial_of(setting_of(xor_toy()), matrix_of({{1, 2}, {0, 0}, {NAN, 1}}));
  const Scores found = scored("effective_complexity", "", same);
  for (const double value : found.values) EXPECT_TRUE(std::isnan(value));
  ASSERT_EQ(found.undefined.size(), 3U);
  for (const Undefined& each : found.undefined) EXPECT_EQ(each.rows, 1U);

  const auto hole =
      function_model(2, [](std::span<const float> x) { return x[0] == 1 && x[1] == 0 ? NAN : x[0] + x[1]; });
  Trial broken = trial_of(setting_of(hole, matrix_of({{1, 1}}), matrix_of({{0, 0}})), matrix_of({{2, 1}}));
  const Scores unknown = scored("effective_complexity", "", broken);
  EXPECT_TRUE(std::isnan(unknown.values[0]));
  ASSERT_EQ(unknown.undefined.size(), 1U);
  EXPECT_EQ(unknown.undefined[0].reason, "the model gives no number for a row on the way");
}

// One player is always enough, and always needed.
TEST(EffectiveComplexity, OfOnePlayerIsOne) {
  const auto square = function_model(1, [](std::span<const float> x) { return x[0] * x[0]; });
  Trial trial = trial_of(setting_of(square, matrix_of({{3}}), matrix_of({{1}})), matrix_of({{1}}));
  EXPECT_EQ(one_score("", trial), 1);
  EXPECT_EQ(one_score(":form=count", trial), 1);
}

// Sizes above eps times the largest: 1e-5 x 4 = 4e-5.
TEST(EffectiveComplexity, CountsPlayersWithoutAModel) {
  Trial trial = bare_trial({{4, -1, 5e-5F, 3e-5F, 0}, {0, 0, 0, 0, 0}, {NAN, 1, 1, 1, 1}});
  const Scores found = scored("effective_complexity", ":form=count", trial);
  EXPECT_EQ(found.values[0], 3);
  EXPECT_TRUE(std::isnan(found.values[1]));
  EXPECT_TRUE(std::isnan(found.values[2]));
  EXPECT_EQ(found.evaluations, 0U);
  EXPECT_EQ(one_score(":form=count:eps=0", trial), 4);
  EXPECT_EQ(one_score(":form=count:eps=0.25", trial), 1);
}

TEST(EffectiveComplexity, TheLossNeedsModelAndReference) {
  const CriterionInfo& info = find_criterion("effective_complexity");
  EXPECT_TRUE(info.needs.model);
  EXPECT_TRUE(info.needs.reference);
  const Needs loss = info.make(parse_spec("criterion", "effective_complexity"))->needs(info.needs);
  EXPECT_TRUE(loss.model);
  EXPECT_TRUE(loss.reference);
  const Needs count = info.make(parse_spec("criterion", "effective_complexity:form=count"))->needs(info.needs);
  EXPECT_FALSE(count.model);
  EXPECT_FALSE(count.reference);
}

// More players than the first waves try, a function that is not monotone, a background: against every k in turn.
TEST(EffectiveComplexity, IsTheFirstKOfAll) {
  constexpr size_t kPlayers = 70;
  const auto wavy = [](std::span<const float> x) {
    double sum = 0;
    for (size_t c = 0; c < x.size(); c++) sum += std::sin(static_cast<double>(c + 1) * x[c]) * x[(c * 7) % x.size()];
    return static_cast<float>(sum);
  };
  RandomStream stream(8, "effective_complexity test");
  const auto random_matrix = [&](size_t rows) {
    Matrix made(rows, kPlayers);
    for (float& v : made.values()) v = static_cast<float>(stream.normal());
    return made;
  };
  const Matrix rows = random_matrix(12);
  const Matrix background = random_matrix(3);
  const Matrix values = random_matrix(12);
  Trial trial = trial_of(setting_of(function_model(kPlayers, wavy), rows, background), values);
  const Scores found = scored("effective_complexity", ":tolerance=0.2", trial);
  for (size_t r = 0; r < rows.rows(); r++) {
    const std::vector<uint32_t> order = strongest_first(values.row(r));
    const auto loss = [&](size_t k) {
      double sum = 0;
      for (size_t b = 0; b < background.rows(); b++) {
        std::vector<float> row(background.row(b).begin(), background.row(b).end());
        for (size_t i = 0; i < k; i++) row[order[i]] = rows(r, order[i]);
        sum += std::pow(static_cast<double>(wavy(rows.row(r))) - wavy(row), 2) / 3;
      }
      return sum;
    };
    size_t k = 1;
    while (loss(k) > 0.2 * loss(0)) k++;
    EXPECT_EQ(found.values[r], static_cast<double>(k)) << r;
  }
}

// Against an explained classification, and on any number of threads.
TEST(EffectiveComplexity, BitsDoNotDependOnThreads) {
  Trial trial = explained_trial(setting_of(product_toy()), "exact_shapley");
  expect_same_scores_on_threads("effective_complexity", "", trial);
}

}  // namespace
}  // namespace assay::testing
