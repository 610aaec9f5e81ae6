#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "assay/core/random.h"
#include "assay/core/statistics.h"
#include "assay/evaluate/again/explain_again.h"
#include "assay/evaluate/common.h"
#include "tests/evaluate/trial.h"

namespace assay::testing {
namespace {

// A model whose randomised copies are linear models with known weights: layers 1 and 2 give these.
class Forgetful final : public Model, public Randomisable {
 public:
  Forgetful(std::vector<float> own, std::vector<std::vector<float>> others)
      : own_(linear(own)), others_(std::move(others)) {}

  static std::unique_ptr<EngineModel> linear(const std::vector<float>& weights) {
    const auto width = static_cast<int64_t>(weights.size());
    return EngineModel::from_onnx("linear", model({node("MatMul", {"x", "w"}, {"y"})}, {value("x", {-1, width})},
                                                  {value("y", {-1, 1})}, {floats("w", {width, 1}, weights)}));
  }
  const ModelInfo& info() const override { return own_->info(); }
  void predict(MatrixView<const float> rows, MatrixView<float> outputs, const Context& context) const override {
    own_->predict(rows, outputs, context);
  }
  const Differentiable* differentiable() const override { return own_->differentiable(); }
  const Randomisable* randomisable() const override { return this; }
  std::vector<std::string> layers() const override {
    std::vector<std::string> names;
    for (size_t l = 0; l < others_.size(); l++) names.push_back(fmt::format("layer{}", l + 1));
    return names;
  }
  std::unique_ptr<Model> randomised(size_t count, bool alone, uint64_t /*seed*/,
                                    const FeatureScale& scale) const override {
    seen_ = scale;
    return linear(others_[alone ? others_.size() - count : count - 1]);
  }

  const FeatureScale& seen() const { return seen_; }

 private:
  mutable FeatureScale seen_;
  std::unique_ptr<EngineModel> own_;
  std::vector<std::vector<float>> others_;
};

Trial forgetful_trial(std::vector<float> own, std::vector<std::vector<float>> others) {
  const size_t width = own.size();
  auto model = std::make_shared<Forgetful>(std::move(own), std::move(others));
  return explained_trial(setting_of(model, Matrix(1, width), Matrix(1, width)), "gradient");
}

// All rows see the same random networks. Of rows that are all alike the mean moves as each of them does.
TEST(Randomisation, TheMeanOverRowsHasTheErrorOfItsDraws) {
  Setting setting = fixture_setting("torch_mlp_script");
  for (size_t r = 1; r < setting.rows.rows(); r++) std::ranges::copy(setting.rows.row(0), setting.rows.row(r).begin());
  Trial trial = explained_trial(setting_of(setting.model, setting.rows, setting.reference.rows), "gradient");
  const Scores scores = scored("randomisation", ":draws=4", trial);
  EXPECT_GT(scores.shared_error, 0);
  EXPECT_NEAR(scores.shared_error, scores.standard_error.at(0), 1e-9);
  EXPECT_NEAR(scores.mean_error, scores.shared_error, 1e-9) << "equal rows have no spread of their own";
}

// |phi| = (1, 2, 3, 4), ranks 1 2 3 4. Layer 1: (4, 3, 2, 1), correlation -1. Layer 2: sizes (1, 2, 4, 3), ranks
// 1 2 4 3: 1 - 6 (1 + 1) / (4 * 15) = 0.8. Mean -0.1.
TEST(Randomisation, IsTheMeanRankCorrelationOverLayers) {
  Trial trial = forgetful_trial({1, -2, 3, 4}, {{4, 3, 2, 1}, {1, 2, -4, 3}});
  const Scores scores = scored("randomisation", "", trial);
  EXPECT_NEAR(scores.values[0], -0.1, 1e-12);
  ASSERT_EQ(scores.tables.size(), 1U);
  ASSERT_EQ(scores.tables[0].rows.size(), 2U);
  EXPECT_NEAR(scores.tables[0].rows[0][0], -1, 1e-12);
  EXPECT_NEAR(scores.tables[0].rows[1][0], 0.8, 1e-12);
  EXPECT_EQ(scores.tables[0].labels.size(), 2U);
  EXPECT_EQ(scores.tables[0].rows[1][2], 1);
  EXPECT_NEAR(scores.standard_error.at(0), 0, 1e-12) << "all draws are alike";
  const Scores once = scored("randomisation", ":draws=1", trial);
  EXPECT_TRUE(once.standard_error.empty());
  EXPECT_TRUE(std::isnan(once.mean_error)) << "one draw does not tell how far others would be";
  // With signs: ranks 2 1 3 4 beside 4 3 2 1: 1 - 6 (4 + 4 + 1 + 9) / 60 = -0.8; beside 2 3 1 4: 1 - 6 * 8 / 60 = 0.2.
  EXPECT_NEAR(scored("randomisation", ":sign=signed", trial).values[0], (-0.8 + 0.2) / 2, 1e-12);
  // Each alone: this model gives its copies the other way round.
  const Scores alone = scored("randomisation", ":order=independent", trial);
  EXPECT_NEAR(alone.tables[0].rows[0][0], 0.8, 1e-12);
  EXPECT_NEAR(alone.tables[0].rows[1][0], -1, 1e-12);
}

// (1, -2, 2) . (2, 1, 2) = 4 over 3 * 3 with signs, 8 over 9 without.
TEST(Randomisation, CosineByHand) {
  Trial trial = forgetful_trial({1, -2, 2}, {{2, 1, 2}});
  EXPECT_NEAR(scored("randomisation", ":similarity=cosine", trial).values[0], 8.0 / 9, 1e-12);
  EXPECT_NEAR(scored("randomisation", ":similarity=cosine:sign=signed", trial).values[0], 4.0 / 9, 1e-12);
}

TEST(Randomisation, SimilaritiesThatDoNotExist) {
  const auto similarity_to = [](const std::vector<float>& other, const std::string& options) {
    Trial trial = forgetful_trial({1, 2, 3}, {other});
    return scored("randomisation", options, trial).values[0];
  };
  const std::vector<float> flat = {2, -2, 2};
  EXPECT_TRUE(std::isnan(similarity_to(flat, "")));
  EXPECT_FALSE(std::isnan(similarity_to(flat, ":sign=signed")));
  EXPECT_FALSE(std::isnan(similarity_to(flat, ":similarity=cosine")));
  EXPECT_TRUE(std::isnan(similarity_to({0, 0, 0}, ":similarity=cosine")));
  EXPECT_DOUBLE_EQ(similarity_to({1, 2, 3}, ""), 1);
}

// A layer after which nothing is ranked is left out; when all are, the row has no score.
TEST(Randomisation, LayersWithoutARankingAreLeftOut) {
  Trial trial = forgetful_trial({1, 2, 3}, {{0, 0, 0}, {3, 2, 1}});
  const Scores scores = scored("randomisation", "", trial);
  EXPECT_NEAR(scores.values[0], -1, 1e-12);
  EXPECT_EQ(scores.tables[0].rows[0][2], 0);
  ASSERT_EQ(scores.notes.size(), 3U);
  EXPECT_EQ(scores.notes[0],
            "no pool tells the scale of the features: a layer that reads them is drawn as for features of mean 0 and "
            "deviation 1");
  EXPECT_EQ(scores.notes[1], "5 explanations of randomised models rank nothing and are left out of their rows' means");
  EXPECT_EQ(scores.notes[2],
            "after layer layer1 the explanations of 1 of 1 rows rank nothing: the means are of few rows");
  Trial none = forgetful_trial({1, 2, 3}, {{0, 0, 0}, {1, 1, 1}});
  const Scores undefined = scored("randomisation", "", none);
  EXPECT_TRUE(std::isnan(undefined.values[0]));
  EXPECT_EQ(undefined.undefined.size(), 1U);
}

// x times (6, 3, 2) is flat at (1, 2, 3), and is not at (1, 1, 1): a half is not the most of them; two of three are.
TEST(Randomisation, LayersLostForMostRowsAreNamed) {
  const auto notes = [](const Matrix& rows) {
    auto model = std::make_shared<Forgetful>(std::vector<float>{1, 2, 3}, std::vector<std::vector<float>>{{6, 3, 2}});
    Trial trial = explained_trial(setting_of(model, rows, Matrix(1, 3)), "gradient_x_input");
    trial.pool = dataset_of(rows);
    return scored("randomisation", "", trial).notes;
  };
  EXPECT_EQ(notes(matrix_of({{1, 2, 3}, {1, 1, 1}})).size(), 1U);
  EXPECT_EQ(notes(matrix_of({{1, 2, 3}, {1, 1, 1}, {2, 4, 6}})).at(1),
            "after layer layer1 the explanations of 2 of 3 rows rank nothing: the means are of few rows");
}

TEST(Randomisation, UndefinedRows) {
  Setting setting = fixture_setting("sklearn_mlp");
  Trial trial = explained_trial(std::move(setting), "gradient");
  const auto fill = [&](size_t row, float v) { std::ranges::fill(trial.explanations.values.row(row), v); };
  fill(0, std::numeric_limits<float>::quiet_NaN());
  fill(1, 0);
  fill(2, 0.5F);
  const Scores scores = scored("randomisation", "", trial);
  for (size_t r = 0; r < 3; r++) EXPECT_TRUE(std::isnan(scores.values[r]));
  EXPECT_TRUE(std::isfinite(scores.values[3]));
  EXPECT_EQ(scores.undefined.size(), 3U);
  Trial one = forgetful_trial({1}, {{2}});
  EXPECT_TRUE(std::isnan(scored("randomisation", "", one).values[0]));
}

// An explanation that does not look at the model at all scores 1, one of a model that is random anyway is near 0.
TEST(Randomisation, TellsTheInputFromTheModel) {
  auto graph = model({node("MatMul", {"x", "w"}, {"y"})}, {value("x", {-1, 40})}, {value("y", {-1, 1})},
                     {floats("w", {40, 1}, std::vector<float>(40, 1.0F))});
  const std::shared_ptr<const Model> linear = EngineModel::from_onnx("linear", std::move(graph));
  Matrix rows(1, 40);
  for (size_t i = 0; i < 40; i++) rows(0, i) = static_cast<float>(std::exp(0.5 * static_cast<double>(i)));
  // x times the gradient is all x here: the sizes of x decide the ranks, whatever the weights.
  Trial input = explained_trial(setting_of(linear, rows, Matrix(1, 40)), "gradient_x_input");
  EXPECT_GT(scored("randomisation", "", input).values[0], 0.9);
  // The gradient is new weights alone: uncorrelated with 1, 2, ..., 40 up to 1 / sqrt(39 * 50 draws).
  Trial model_alone = explained_trial(setting_of(linear, rows, Matrix(1, 40)), "gradient");
  for (size_t i = 0; i < 40; i++) model_alone.explanations.values(0, i) = static_cast<float>(i + 1);
  const Scores scores = scored("randomisation", ":draws=50", model_alone);
  EXPECT_NEAR(scores.values[0], 0, 4 / std::sqrt(39.0 * 50));
  EXPECT_NEAR(scores.standard_error[0], 1 / std::sqrt(39.0 * 50), 0.4 / std::sqrt(39.0 * 50));
}

// By brute force: randomise, explain, correlate.
TEST(Randomisation, AgreesWithItsParts) {
  for (const std::string name : {"torch_cnn_script", "sklearn_mlp"}) {
    Trial trial = explained_trial(fixture_setting(name), "gradient");
    const Scores scores = scored("randomisation", ":draws=2", trial, on_threads(2, 3));
    const Randomisable& model = *trial.setting->model->randomisable();
    const size_t layers = model.layers().size();
    ASSERT_EQ(scores.tables.at(0).rows.size(), layers);
    std::vector<double> sums(trial.explanations.rows(), 0);
    for (uint32_t draw = 0; draw < 2; draw++) {
      const uint64_t seed = RandomStream(3, "randomisation", 0, draw).bits64();
      for (size_t l = 1; l <= layers; l++) {
        const auto randomised = model.randomised(l, false, seed, {});
        const Setting& s = *trial.setting;
        const Explanations found =
            explain(*trial.method, {*randomised, s.rows.view(), s.targets, s.reference, s.players}, {});
        for (size_t r = 0; r < sums.size(); r++) {
          std::vector<double> a;
          std::vector<double> b;
          for (size_t p = 0; p < found.values.cols(); p++) {
            a.push_back(std::abs(trial.explanations.values(r, p)));
            b.push_back(std::abs(found.values(r, p)));
          }
          sums[r] += pearson(ranks_of(a), ranks_of(b));
        }
      }
    }
    for (size_t r = 0; r < sums.size(); r++) {
      EXPECT_NEAR(scores.values[r], sums[r] / static_cast<double>(2 * layers), 1e-12) << name;
    }
    EXPECT_LT(scores.mean, 0.99);
  }
}

// Columns 1, 3, 5 (deviation 2), a category, and one that is missing once: 2, 4 (deviation sqrt 2).
TEST(Randomisation, TheScaleOfTheFeaturesIsThePools) {
  Trial trial = forgetful_trial({1, 2, 3}, {{3, 1, 2}});
  const auto& model = dynamic_cast<const Forgetful&>(*trial.setting->model);
  scored("randomisation", "", trial);
  EXPECT_TRUE(model.seen().mean.empty() && model.seen().deviation.empty());
  trial.setting->reference.scales = {5, 0, 7};
  trial.setting->reference.rows = matrix_of({{1, 2, 3}, {3, 2, 5}});
  EXPECT_TRUE(scored("randomisation", "", trial).notes.empty());
  EXPECT_EQ(model.seen().mean, std::vector<float>({2, 2, 4}));
  EXPECT_EQ(model.seen().deviation, std::vector<float>({5, 0, 7}));
  trial.pool = dataset_of(matrix_of({{1, 0, 2}, {3, 1, NAN}, {5, 2, 4}}));
  trial.pool->groups[1].kind = ColumnKind::categorical;
  EXPECT_TRUE(scored("randomisation", "", trial).notes.empty());
  EXPECT_EQ(model.seen().mean, std::vector<float>({3, 0, 3}));
  EXPECT_EQ(model.seen().deviation, std::vector<float>({2, 0, std::sqrt(2.0F)}));
}

// Features around 200,000, whose scale the weights have taken over. Weights of unit size saturate the sigmoids, so that
// no gradient is left; at the features' scale there is one.
TEST(Randomisation, FreshWeightsDoNotSaturateOnRawFeatures) {
  auto graph = model(
      {node("Gemm", {"x", "w", "b"}, {"first"}), node("Sigmoid", {"first"}, {"h"}), node("MatMul", {"h", "v"}, {"y"})},
      {value("x", {-1, 2})}, {value("y", {-1, 1})},
      {floats("w", {2, 2}, {1e-5F, 2e-5F, -1e-5F, 3e-5F}), floats("b", {2}, {0, -10}), floats("v", {2, 1}, {1, 2})});
  Matrix rows(20, 2);
  RandomStream stream(3, "randomisation test");
  for (float& v : rows.values()) v = static_cast<float>(200'000 + 100'000 * stream.normal());
  Trial trial = explained_trial(
      setting_of(EngineModel::from_onnx("raw", std::move(graph)), rows, matrix_of({{200'000, 200'000}})), "gradient");
  const Scores saturated = scored("randomisation", ":similarity=cosine", trial);
  EXPECT_LT(saturated.tables.at(0).rows.at(1).at(2), 10);
  EXPECT_NE(saturated.notes.back().find("after layer first the explanations of"), std::string::npos);
  trial.pool = dataset_of(rows);
  const Scores found = scored("randomisation", ":similarity=cosine", trial);
  EXPECT_EQ(found.tables.at(0).rows.at(1).at(2), 20);
  EXPECT_EQ(found.coverage, 1);
  EXPECT_TRUE(found.notes.empty());
}

TEST(Randomisation, RefusesModelsWithoutLayers) {
  Trial forest = explained_trial(fixture_setting("sklearn_forest"), "occlusion");
  EXPECT_TRUE(refusal_of("randomisation", "", forest).starts_with("needs a network"));
}

TEST(Randomisation, BitsDoNotDependOnThreads) {
  Trial trial = explained_trial(fixture_setting("torch_cnn_script"), "shapley_sampling:permutations=2");
  expect_same_scores_on_threads("randomisation", ":draws=2:similarity=cosine", trial);
}

}  // namespace
}  // namespace assay::testing
