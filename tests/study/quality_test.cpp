// The quality of models against closed forms and brute force over all pairs of rows.
#include "assay/study/quality.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/core/roc_area.h"

namespace assay {
namespace {

using Scored = std::vector<std::vector<double>>;

// A model whose outputs are the row itself.
std::unique_ptr<Model> repeats(OutputUnit unit, size_t outputs, size_t classes, MarginLink link = MarginLink::softmax) {
  ModelInfo info;
  info.name = "toy";
  info.unit = unit;
  info.margin_link = link;
  for (size_t i = 0; i < outputs; i++) {
    info.feature_names.push_back("f" + std::to_string(i));
    info.output_names.push_back("o" + std::to_string(i));
  }
  for (size_t c = 0; c < classes; c++) info.class_names.push_back(std::to_string(c));
  return model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> out) {
    for (size_t r = 0; r < rows.rows(); r++) std::ranges::copy(rows.row(r), out.row(r).begin());
  });
}

Dataset labelled(const std::vector<std::vector<float>>& rows, std::vector<float> labels) {
  Dataset data;
  data.x = Matrix(rows.size(), rows[0].size());
  for (size_t r = 0; r < rows.size(); r++) std::ranges::copy(rows[r], data.x.row(r).begin());
  data.labels = std::move(labels);
  return data;
}

ModelQuality quality_of(const Model& model, const Dataset& data, const Model* margins = nullptr) {
  return model_quality({.model = &model, .margins = margins, .rows = &data}, {});
}

double sigmoid(double z) { return 1 / (1 + std::exp(-z)); }

// Over all pairs of a row of the class and one of another.
double brute_auc(const std::vector<double>& scores, const std::vector<size_t>& labels, size_t positive) {
  double sum = 0;
  double pairs = 0;
  for (size_t i = 0; i < scores.size(); i++) {
    for (size_t j = 0; j < scores.size(); j++) {
      if (labels[i] != positive || labels[j] == positive) continue;
      sum += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
      pairs += 1;
    }
  }
  return sum / pairs;
}

// DeLong's variance of two classes by its definition: sample variances of the components of each side.
double brute_variance(const std::vector<double>& scores, const std::vector<size_t>& labels) {
  RunningMoments sides[2];
  for (size_t i = 0; i < scores.size(); i++) {
    double sum = 0;
    double others = 0;
    for (size_t j = 0; j < scores.size(); j++) {
      if (labels[i] == labels[j]) continue;
      const double ahead = labels[i] == 1 ? scores[i] - scores[j] : scores[j] - scores[i];
      sum += ahead > 0 ? 1 : ahead == 0 ? 0.5 : 0;
      others += 1;
    }
    sides[labels[i]].add(sum / others);
  }
  return sides[0].variance() / static_cast<double>(sides[0].count()) +
         sides[1].variance() / static_cast<double>(sides[1].count());
}

struct Drawn {
  Scored scores;
  std::vector<size_t> labels;
};

// Whole numbers, so that there are ties; a row's own class scores higher.
Drawn drawn(size_t rows, size_t classes, uint64_t seed) {
  Drawn made;
  made.scores.resize(classes);
  for (size_t i = 0; i < rows; i++) {
    RandomStream random(seed, "scores", i);
    made.labels.push_back(i < classes ? i : random.below(static_cast<uint32_t>(classes)));
    for (size_t c = 0; c < classes; c++) {
      made.scores[c].push_back(std::round(2 * random.normal() + (made.labels[i] == c ? 2 : 0)));
    }
  }
  return made;
}

TEST(Quality, WilsonsIntervalIsWilsons) {
  // 9 of 10 by hand: z^2 = 3.8415, centre (0.9 + 0.19207) / 1.38415 = 0.78898, reach
  // 1.95996 / 1.38415 x sqrt(0.009 + 0.0096037) = 0.19313.
  EXPECT_NEAR(wilson_interval(9, 10).low, 0.59585, 1e-5);
  EXPECT_NEAR(wilson_interval(9, 10).high, 0.98212, 1e-5);
  // All of n: n / (n + z^2).
  EXPECT_NEAR(wilson_interval(10, 10).low, 10 / 13.841459, 1e-7);
  EXPECT_EQ(wilson_interval(10, 10).high, 1);
  EXPECT_EQ(wilson_interval(0, 10).low, 0);
  EXPECT_TRUE(std::isnan(wilson_interval(0, 0).low));
}

TEST(Quality, AreasAreThoseOverAllPairs) {
  for (uint64_t seed = 0; seed < 20; seed++) {
    const Drawn two = drawn(12 + seed, 2, seed);
    const AreaUnderCurve found = area_under_curve({two.scores[1]}, two.labels, 1);
    const double auc = brute_auc(two.scores[1], two.labels, 1);
    EXPECT_NEAR(found.auc, auc, 1e-12);
    EXPECT_EQ(found.classes, 1U);
    const double reach = 1.959963985 * std::sqrt(brute_variance(two.scores[1], two.labels)) / (auc * (1 - auc));
    const double centre = std::log(auc / (1 - auc));
    if (auc > 0 && auc < 1) {
      EXPECT_NEAR(found.interval.low, sigmoid(centre - reach), 1e-9);
      EXPECT_NEAR(found.interval.high, sigmoid(centre + reach), 1e-9);
    }
    const Drawn three = drawn(12 + seed, 3, seed);
    double sum = 0;
    for (size_t c = 0; c < 3; c++) sum += brute_auc(three.scores[c], three.labels, c);
    EXPECT_NEAR(area_under_curve(three.scores, three.labels, 0).auc, sum / 3, 1e-12);
  }
}

TEST(Quality, TwoClassesOneAgainstTheRestAreTwoClasses) {
  // Class 0 against the rest, by -score, is the same comparison: the mean of the two areas has the same interval.
  const Drawn two = drawn(30, 2, 5);
  std::vector<double> other;
  for (const double score : two.scores[1]) other.push_back(-score);
  const AreaUnderCurve single = area_under_curve({two.scores[1]}, two.labels, 1);
  const AreaUnderCurve both = area_under_curve({other, two.scores[1]}, two.labels, 0);
  EXPECT_EQ(both.classes, 2U);
  EXPECT_NEAR(both.auc, single.auc, 1e-12);
  EXPECT_NEAR(both.interval.low, single.interval.low, 1e-12);
  EXPECT_NEAR(both.interval.high, single.interval.high, 1e-12);
}

TEST(Quality, TheIntervalOfSeveralClassesIsAsWideAsABootstraps) {
  const Drawn rows = drawn(300, 3, 9);
  const AreaUnderCurve found = area_under_curve(rows.scores, rows.labels, 0);
  RunningMoments bootstrap;
  for (uint32_t draw = 0; draw < 400; draw++) {
    RandomStream random(3, "rows", 0, draw);
    Drawn again;
    again.scores.resize(3);
    for (size_t i = 0; i < 300; i++) {
      const uint32_t row = random.below(300);
      again.labels.push_back(rows.labels[row]);
      for (size_t c = 0; c < 3; c++) again.scores[c].push_back(rows.scores[c][row]);
    }
    bootstrap.add(area_under_curve(again.scores, again.labels, 0).auc);
  }
  const double width = found.interval.high - found.interval.low;
  EXPECT_NEAR(width / (2 * 1.96 * bootstrap.standard_deviation()), 1, 0.12);
}

TEST(Quality, APerfectOrderOfFewRowsIsNotCertain) {
  std::vector<double> scores;
  std::vector<size_t> labels;
  for (size_t i = 0; i < 30; i++) {
    scores.push_back(static_cast<double>(i));
    labels.push_back(i < 20 ? 0 : 1);
  }
  const AreaUnderCurve found = area_under_curve({scores}, labels, 1);
  EXPECT_EQ(found.auc, 1);
  EXPECT_EQ(found.interval.high, 1);
  // Newcombe: (1 - t)^2 = z^2 t (1 - t) / (10 x 20) (1 + 14 ((1 - t) / (2 - t) + t / (1 + t)))
  const double t = found.interval.low;
  EXPECT_NEAR((1 - t) * (1 - t), 3.841458821 * t * (1 - t) / 200 * (1 + 14 * ((1 - t) / (2 - t) + t / (1 + t))), 1e-9);
  EXPECT_NEAR(t, 0.85, 0.01);
  // A class with one row has no sample variance.
  labels.assign(30, 0);
  labels[29] = 1;
  EXPECT_LT(area_under_curve({scores}, labels, 1).interval.low, 0.6);
  labels[29] = 0;
  EXPECT_TRUE(std::isnan(area_under_curve({scores}, labels, 1).auc)) << "one class alone";
}

TEST(Quality, CalibrationByHand) {
  // Two bins of ten. Below: 0.1 each, one came true: |1 - 1| = 0. Above: 0.8 each, five came true: |8 - 5| = 3.
  // 3 / 20 = 0.15. By chance: (sqrt(2 / pi x 0.9) + sqrt(2 / pi x 1.6)) / 20.
  std::vector<double> probabilities(20, 0.8);
  std::vector<bool> came_true(20, false);
  for (size_t i = 0; i < 20; i += 2) probabilities[i] = 0.1;
  came_true[4] = true;
  for (size_t i = 1; i < 10; i += 2) came_true[i] = true;
  const Calibration found = calibration_of(probabilities, came_true);
  EXPECT_EQ(found.bins, 2U);
  EXPECT_NEAR(found.error, 0.15, 1e-12);
  const double scale = std::sqrt(2 / std::numbers::pi);
  EXPECT_NEAR(found.chance, scale * (std::sqrt(0.9) + std::sqrt(1.6)) / 20, 1e-12);
  EXPECT_EQ(calibration_of(std::vector<double>(9, 0.5), std::vector<bool>(9, true)).bins, 1U);
  EXPECT_EQ(calibration_of(std::vector<double>(1000, 0.5), std::vector<bool>(1000, true)).bins, 10U);
}

TEST(Quality, ChanceIsTheErrorOfACalibratedModel) {
  RunningMoments errors;
  double chance = 0;
  for (uint32_t draw = 0; draw < 300; draw++) {
    RandomStream random(1, "calibrated", 0, draw);
    std::vector<double> probabilities;
    std::vector<bool> came_true;
    for (size_t i = 0; i < 200; i++) {
      probabilities.push_back(random.uniform());
      came_true.push_back(random.uniform() < probabilities.back());
    }
    const Calibration found = calibration_of(probabilities, came_true);
    errors.add(found.error - found.chance);
    chance = found.chance;
  }
  EXPECT_NEAR(errors.mean(), 0, 4 * errors.standard_error() + 0.02 * chance);
}

TEST(Quality, ClassesByHand) {
  // Margins of three classes; the last row has no label. Row 0: right. Row 1: wrong. Row 2: right by far.
  const Dataset data = labelled({{0, std::log(2.0F), 0}, {1, 0, 0}, {0, 0, 800}, {9, 0, 0}}, {1, 2, 2, kMissing});
  const auto model = repeats(OutputUnit::margin, 3, 3);
  const ModelQuality found = quality_of(*model, data);
  EXPECT_EQ(found.labelled, 3U);
  EXPECT_EQ(found.classes, 3U);
  EXPECT_NEAR(found.accuracy, 2.0 / 3, 1e-12);
  EXPECT_NEAR(found.majority, 2.0 / 3, 1e-12);
  // P(label): 2 / 4, 1 / (e + 2), 1.
  EXPECT_NEAR(found.log_loss, (std::log(2.0) + std::log(std::numbers::e + 2)) / 3, 1e-7);
  EXPECT_EQ(found.auc_classes, 2U) << "no row is of class 0";
  // One bin of the predicted classes: said 0.5 + e / (e + 2) + 1, came true 2.
  EXPECT_NEAR(found.calibration_error, std::fabs(0.5 + std::numbers::e / (std::numbers::e + 2) + 1 - 2) / 3, 1e-7);
  EXPECT_TRUE(std::isnan(found.rmse));
}

// The rows are the model's probabilities; as margins of an unknown link they only rank.
TEST(Quality, MarginsThatAreNoLogitsHaveTheModelsOwnProbabilities) {
  const Dataset data = labelled({{0.5F, 0.25F, 0.25F}, {0.125F, 0.5F, 0.375F}}, {0, 2});
  const auto margins = repeats(OutputUnit::margin, 3, 3, MarginLink::unknown);
  const auto own = repeats(OutputUnit::probability, 3, 3);
  const ModelQuality without = quality_of(*margins, data);
  EXPECT_EQ(without.accuracy, 0.5);
  EXPECT_TRUE(std::isnan(without.log_loss) && std::isnan(without.calibration_error));
  const ModelQuality found = model_quality({.model = margins.get(), .probabilities = own.get(), .rows = &data}, {});
  EXPECT_EQ(found.auc, without.auc);
  EXPECT_NEAR(found.log_loss, -(std::log(0.5) + std::log(0.375)) / 2, 1e-7);
  EXPECT_NEAR(found.calibration_error, std::fabs(0.5 + 0.5 - 1) / 2, 1e-7);
}

TEST(Quality, AllUnitsSayTheSame) {
  std::vector<std::vector<float>> margins;
  std::vector<std::vector<float>> probabilities;
  std::vector<float> labels;
  for (size_t i = 0; i < 40; i++) {
    RandomStream random(4, "margins", i);
    const double z = 3 * random.normal();
    margins.push_back({static_cast<float>(z)});
    probabilities.push_back({static_cast<float>(sigmoid(static_cast<float>(z)))});
    labels.push_back(random.uniform() < sigmoid(z) ? 1 : 0);
  }
  const ModelQuality by_margin = quality_of(*repeats(OutputUnit::margin, 1, 2), labelled(margins, labels));
  const ModelQuality by_odds = quality_of(*repeats(OutputUnit::log_odds, 1, 2), labelled(margins, labels));
  const ModelQuality by_share = quality_of(*repeats(OutputUnit::probability, 1, 2), labelled(probabilities, labels));
  for (const ModelQuality& other : {by_odds, by_share}) {
    EXPECT_EQ(other.accuracy, by_margin.accuracy);
    EXPECT_NEAR(other.auc, by_margin.auc, 1e-12);
    EXPECT_NEAR(other.log_loss, by_margin.log_loss, 1e-5);
    EXPECT_NEAR(other.calibration_error, by_margin.calibration_error, 1e-5);
  }
  // Two outputs: logits of both classes, and probabilities of both.
  std::vector<std::vector<float>> both;
  for (const auto& each : margins) both.push_back({1, each[0] + 1});
  EXPECT_NEAR(quality_of(*repeats(OutputUnit::margin, 2, 2), labelled(both, labels)).log_loss, by_margin.log_loss,
              1e-6);
  both.clear();
  for (const auto& each : probabilities) both.push_back({1 - each[0], each[0]});
  EXPECT_NEAR(quality_of(*repeats(OutputUnit::probability, 2, 2), labelled(both, labels)).auc, by_margin.auc, 1e-12);
}

TEST(Quality, MarginsKeepWhatProbabilitiesLose) {
  // The model predicts probabilities that float32 rounds to 1 and 0; its margins know more.
  const Dataset data = labelled({{40}, {50}, {-200}, {-150}}, {0, 1, 0, 1});
  ModelInfo info;
  info.name = "saturated";
  info.unit = OutputUnit::probability;
  info.feature_names = {"z"};
  info.class_names = {"0", "1"};
  info.output_names = {"1"};
  const auto model = model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> out) {
    for (size_t r = 0; r < rows.rows(); r++) out(r, 0) = static_cast<float>(sigmoid(rows(r, 0)));
  });
  const auto margins = repeats(OutputUnit::margin, 1, 2);
  const ModelQuality found = quality_of(*model, data, margins.get());
  EXPECT_NEAR(found.log_loss, (40 + 0 + 0 + 150) / 4.0, 1e-5);
  EXPECT_NEAR(found.auc, 0.75, 1e-12) << "50 is above both, -150 above -200";
  const ModelQuality rounded = quality_of(*model, data);
  EXPECT_NEAR(rounded.auc, (0.5 + 1 + 0 + 0.5) / 4, 1e-12);
  EXPECT_NEAR(rounded.log_loss, 2 * 23 * std::log(2.0) / 4, 1e-3) << "no less than 2^-23";
}

TEST(Quality, ScoresWithoutALinkHaveNoLogLoss) {
  const auto plain = repeats(OutputUnit::margin, 1, 2);
  ModelInfo info = plain->info();
  info.margin_link = MarginLink::unknown;
  const auto votes = model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> out) {
    for (size_t r = 0; r < rows.rows(); r++) out(r, 0) = rows(r, 0);
  });
  const ModelQuality found = quality_of(*votes, labelled({{-1}, {2}, {3}}, {0, 0, 1}));
  EXPECT_EQ(found.auc, 1);
  EXPECT_NEAR(found.accuracy, 2.0 / 3, 1e-12);
  EXPECT_TRUE(std::isnan(found.log_loss));
  EXPECT_TRUE(std::isnan(found.calibration_error));
}

TEST(Quality, NumbersByHand) {
  // Squared errors 0.01 + 0.01 + 0.04 + 0.04 = 0.1 of 5: R2 = 0.98, RMSE = sqrt(0.025).
  const Dataset data = labelled({{1.1F}, {1.9F}, {3.2F}, {3.8F}, {7}}, {1, 2, 3, 4, kMissing});
  const ModelQuality found = quality_of(*repeats(OutputUnit::value, 1, 0), data);
  EXPECT_EQ(found.labelled, 4U);
  EXPECT_NEAR(found.r2, 0.98, 1e-6);
  EXPECT_NEAR(found.rmse, std::sqrt(0.025), 1e-6);
  EXPECT_NEAR(found.mean_rmse, std::sqrt(1.25), 1e-12);
  // Draws of rows have errors between those of the best row, 0.1, and of the worst, 0.2.
  EXPECT_GE(found.rmse_interval.low, 0.1 - 1e-6);
  EXPECT_LE(found.rmse_interval.high, 0.2 + 1e-6);
  EXPECT_LT(found.r2_interval.low, 0.98);
  EXPECT_GT(found.r2_interval.high, 0.98);
  EXPECT_TRUE(std::isnan(found.accuracy));
  // Labels that are all equal have no R2.
  const ModelQuality flat = quality_of(*repeats(OutputUnit::value, 1, 0), labelled({{1}, {2}}, {1, 1}));
  EXPECT_TRUE(std::isnan(flat.r2) && std::isnan(flat.r2_interval.low));
  EXPECT_NEAR(flat.rmse, std::sqrt(0.5), 1e-12);
}

TEST(Quality, TheIntervalOfR2HasItsCoverage) {
  // y = x + noise of variance 1/4: the best predictor's R2 is 0.8.
  size_t covered = 0;
  constexpr size_t kTrials = 60;
  for (size_t trial = 0; trial < kTrials; trial++) {
    std::vector<std::vector<float>> rows;
    std::vector<float> labels;
    for (size_t i = 0; i < 100; i++) {
      RandomStream random(8, "regression", i, static_cast<uint32_t>(trial));
      const double x = random.normal();
      rows.push_back({static_cast<float>(x)});
      labels.push_back(static_cast<float>(x + 0.5 * random.normal()));
    }
    const ModelQuality found = quality_of(*repeats(OutputUnit::value, 1, 0), labelled(rows, labels));
    covered += found.r2_interval.low <= 0.8 && 0.8 <= found.r2_interval.high ? 1 : 0;
  }
  EXPECT_GE(covered, kTrials * 85 / 100);
  EXPECT_LT(covered, kTrials);
}

TEST(Quality, WithoutLabelsNothingIsKnown) {
  Dataset data = labelled({{1}, {2}}, {});
  const ModelQuality found = quality_of(*repeats(OutputUnit::margin, 1, 2), data);
  EXPECT_EQ(found.labelled, 0U);
  EXPECT_TRUE(std::isnan(found.accuracy));
  data.labels = {kMissing, kMissing};
  EXPECT_EQ(quality_of(*repeats(OutputUnit::margin, 1, 2), data).labelled, 0U);
}

}  // namespace
}  // namespace assay
