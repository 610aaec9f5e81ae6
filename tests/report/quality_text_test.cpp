#include "assay/report/quality_text.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

StudyFacts facts_of(ModelQuality quality) {
  StudyFacts facts;
  facts.quality = std::move(quality);
  return facts;
}

TEST(QualityText, HasTheDigitsThatIntervalsAllow) {
  ModelQuality few;
  few.labelled = 30;
  few.classes = 3;
  few.accuracy = 28.0 / 30;
  few.accuracy_interval = {0.786786, 0.981507};
  few.majority = 1.0 / 3;
  few.auc = 0.991234;
  few.auc_interval = {0.951, 0.9991};
  few.log_loss = 0.21234;
  few.calibration_error = 0.0412;
  few.calibration_chance = 0.0523;
  EXPECT_EQ(quality_sentence(facts_of(few)),
            "accuracy 0.93 (95 % 0.79 to 0.98; always the largest class: 0.33), AUC 0.991 (95 % 0.951 to 0.999), "
            "log-loss 0.21, calibration error 0.04 (by chance 0.05) on 30 rows");
  ModelQuality many = few;
  many.labelled = 16281;
  many.accuracy = 0.853214;
  many.accuracy_interval = {0.847701, 0.858561};
  many.majority = 0.763774;
  EXPECT_EQ(quality_sentence(facts_of(many)).substr(0, 77),
            "accuracy 0.853 (95 % 0.848 to 0.859; always the largest class: 0.764), AUC 0.");
}

TEST(QualityText, NumbersHaveTheirOwnUnit) {
  ModelQuality quality;
  quality.labelled = 100;
  quality.rmse = 31234.5;
  quality.rmse_interval = {28123, 34000};
  quality.mean_rmse = 92345.6;
  quality.r2 = 0.8856;
  quality.r2_interval = {0.79, 0.934};
  EXPECT_EQ(quality_sentence(facts_of(quality)),
            "RMSE 31200 (always the mean: 92300), R2 0.89 (95 % 0.79 to 0.93) on 100 rows");
}

TEST(QualityText, InWords) {
  ModelQuality quality;
  quality.labelled = 200;
  quality.accuracy = 0.765;
  quality.accuracy_interval = {0.7016, 0.8184};
  quality.majority = 0.7;
  EXPECT_EQ(quality_in_words(facts_of(quality)),
            "predicts 77 % of 200 rows right (95 % interval: 70 % to 82 %), where always naming the largest class "
            "would get 70 %");
  StudyFacts known = facts_of(quality);
  known.quality.in_pool = known.rows = 200;
  EXPECT_TRUE(
      quality_in_words(known).ends_with("70 %, all in the pool: on rows that it was not trained on it may be worse"));
  ModelQuality number;
  number.labelled = 100;
  number.rmse = 31234.5;
  number.rmse_interval = {28123, 34000};
  number.mean_rmse = 92345.6;
  number.r2 = 0.8856;
  EXPECT_EQ(
      quality_in_words(facts_of(number)),
      "is off by 31200 on 100 rows (root of the mean square), where always saying the mean would be off by 92300; "
      "it explains 89 % of the spread");
  number.r2 = -0.1;  // worse than the mean
  EXPECT_TRUE(quality_in_words(facts_of(number)).ends_with("92300"));
  EXPECT_EQ(quality_in_words(facts_of({})), "");
}

TEST(QualityText, IsEmptyWithoutLabels) { EXPECT_EQ(quality_sentence(facts_of({})), ""); }

}  // namespace
}  // namespace assay
