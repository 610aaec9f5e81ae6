#include "assay/evaluate/again/shifted_model.h"

#include <gtest/gtest.h>

#include <memory>

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

}  // namespace
}  // namespace assay::testing
