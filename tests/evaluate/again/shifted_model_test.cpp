#include "assay/evaluate/again/shifted_model.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "assay/model/trees/booster.h"
#include "tests/explain/run_method.h"

namespace assay::testing {
namespace {

// Halves and quarters: x + c - c is exactly x.
Matrix quarters(size_t rows, size_t columns, size_t step) {
  Matrix made(rows, columns);
  for (size_t i = 0; i < made.values().size(); i++) made.values()[i] = static_cast<float>(i * step % 17) / 4 - 2;
  return made;
}

void add(Matrix& rows, const std::vector<float>& c) {
  for (size_t r = 0; r < rows.rows(); r++) {
    for (size_t i = 0; i < c.size(); i++) rows(r, i) += c[i];
  }
}

TEST(ShiftedModel, IsTheModelAtTheRowsBeforeTheShift) {
  for (const std::string name : {"torch_mlp_script", "sklearn_mlp", "torch_cnn_script"}) {
    const Setting setting = fixture_setting(name);
    const Model& model = *setting.model;
    const size_t columns = model.info().features();
    std::vector<float> c(columns);
    for (size_t i = 0; i < columns; i++) c[i] = static_cast<float>(i % 5) - 1.5F;
    const auto shifted = shifted_model(model, c);
    EXPECT_EQ(shifted->info().class_names, model.info().class_names);
    EXPECT_EQ(shifted->randomisable(), nullptr);
    const Matrix rows = quarters(9, columns, 5);
    Matrix moved = rows;
    add(moved, c);
    Matrix outputs(9, model.info().outputs());
    Matrix again = outputs;
    model.predict(rows.view(), outputs.view(), {});
    shifted->predict(moved.view(), again.view(), {});
    EXPECT_TRUE(same_bits(outputs, again)) << name;

    const Matrix weights = quarters(9, model.info().outputs(), 3);
    Matrix slopes(9, columns);
    Matrix slopes_again(9, columns);
    Matrix none;
    model.differentiable()->gradient(rows.view(), weights.view(), slopes.view(), none.view(), {});
    shifted->differentiable()->gradient(moved.view(), weights.view(), slopes_again.view(), again.view(), {});
    EXPECT_TRUE(same_bits(slopes, slopes_again)) << name;
    EXPECT_TRUE(same_bits(outputs, again)) << name;

    for (const size_t references : {size_t{1}, size_t{9}}) {
      const Matrix base = quarters(references, columns, 7);
      Matrix moved_base = base;
      add(moved_base, c);
      model.rescalable()->multipliers(rows.view(), base.view(), weights.view(), DeepLiftRule::rescale, slopes.view(),
                                      {});
      shifted->rescalable()->multipliers(moved.view(), moved_base.view(), weights.view(), DeepLiftRule::rescale,
                                         slopes_again.view(), {});
      EXPECT_TRUE(same_bits(slopes, slopes_again)) << name;
    }
    EXPECT_EQ(shifted->rescalable()->refuses(DeepLiftRule::rescale), std::nullopt);
    EXPECT_EQ(shifted->affine_entry() == nullptr, model.affine_entry() == nullptr);
  }
}

// entry = x W + b - c W: predictions from entries are those of the rows.
TEST(ShiftedModel, HasTheAffineEntryWithAnotherBias) {
  const auto model = two_relus("m", {1, 2, -1, 0.5F}, {0.25F, -1}, {1, -2});
  const auto shifted = shifted_model(*model, {2, -4});
  const AffineEntry* entry = shifted->affine_entry();
  ASSERT_NE(entry, nullptr);
  // 0.25 - (2 * 1 + -4 * -1) and -1 - (2 * 2 + -4 * 0.5)
  EXPECT_EQ(entry->bias()[0], -5.75F);
  EXPECT_EQ(entry->bias()[1], -3);
  ASSERT_TRUE(entry->leaky_tail().has_value());
  const Matrix row = matrix_of({{3, -1.5F}});
  Matrix entries(1, 2);
  for (size_t j = 0; j < 2; j++) {
    entries(0, j) = entry->bias()[j] + row(0, 0) * entry->weights()(0, j) + row(0, 1) * entry->weights()(1, j);
  }
  Matrix from_entries(1, 1);
  Matrix outputs(1, 1);
  entry->predict_from(entries.view(), from_entries.view(), {});
  shifted->predict(row.view(), outputs.view(), {});
  EXPECT_EQ(from_entries(0, 0), outputs(0, 0));
}

TEST(ShiftedModel, ABlackBoxOnlyPredicts) {
  ModelInfo info;
  info.name = "f";
  info.feature_names = {"a"};
  info.output_names = {"y"};
  const auto model = model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> outputs) {
    for (size_t r = 0; r < rows.rows(); r++) outputs(r, 0) = rows(r, 0) * rows(r, 0);
  });
  const auto shifted = shifted_model(*model, {1});
  EXPECT_EQ(shifted->differentiable(), nullptr);
  EXPECT_EQ(shifted->rescalable(), nullptr);
  EXPECT_EQ(shifted->affine_entry(), nullptr);
  const Matrix row = matrix_of({{4}});
  Matrix outputs(1, 1);
  shifted->predict(row.view(), outputs.view(), {});
  EXPECT_EQ(outputs(0, 0), 9);
}

// Thresholds that are values of the data, as boosters have for whole numbers: x + c - c is not always x, and the trees
// of the shifted model must go the way of its predictions all the same.
TEST(ShiftedModel, ItsTreesDecideAsItPredicts) {
  Booster booster;
  booster.producer = "a test";
  booster.features = 2;
  TreeSource& source = booster.source;
  const auto add_stump = [&](TreeMode mode, int64_t feature, double threshold) {
    const size_t at = source.nodes.size();
    source.roots.push_back(at);
    source.nodes.resize(at + 3);
    source.nodes[at].mode = mode;
    source.nodes[at].feature = feature;
    source.nodes[at].threshold = threshold;
    source.nodes[at].missing_goes_true = at % 2 == 0;
    source.nodes[at].true_child = at + 1;
    source.nodes[at].false_child = at + 2;
    for (size_t child = 1; child <= 2; child++) {
      source.nodes[at + child].first_weight = source.weights.size();
      source.nodes[at + child].weight_count = 1;
      // Sums of different leaves differ, and are exact.
      source.weights.push_back({0, child == 1 ? 0 : std::ldexp(1.0, static_cast<int>(source.roots.size()))});
    }
  };
  constexpr std::array kModes = {TreeMode::less, TreeMode::less_equal, TreeMode::greater, TreeMode::greater_equal};
  for (int i = 0; i < 20; i++) add_stump(kModes[static_cast<size_t>(i) % 4], i % 2, 3 * i);
  const auto model = EngineModel::from_onnx("m", booster_graph("m", booster));
  for (const float shift : {0.1F, 0.37F, -1.3F, 2.7F}) {
    const auto shifted = shifted_model(*model, {shift, -shift});
    ASSERT_NE(shifted->tree_scores(), nullptr);
    const TreeEnsemble& trees = shifted->tree_scores()->trees();
    Matrix rows(61, 2);
    for (size_t i = 0; i < 60; i++) {
      rows(i, 0) = static_cast<float>(i) + shift;
      rows(i, 1) = static_cast<float>(i) - shift;
    }
    rows(60, 0) = rows(60, 1) = std::numeric_limits<float>::quiet_NaN();
    Matrix outputs(61, 1);
    shifted->predict(rows.view(), outputs.view(), {});
    std::vector<std::byte> scratch(trees.scratch_count() * TreeEnsemble::kScratchSize);
    trees.for_rows(rows.values().data(), rows.rows(), 2, scratch.data(),
                   [&](size_t row, std::span<double> scores, const uint8_t*) {
                     EXPECT_EQ(static_cast<float>(scores[0]), outputs(row, 0)) << "row " << row << ", shift " << shift;
                   });
  }
}

}  // namespace
}  // namespace assay::testing
