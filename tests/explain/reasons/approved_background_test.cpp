#include "assay/explain/reasons/approved_background.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/message.h"

namespace assay {
namespace {

// The margin of class 1 is the first column.
std::unique_ptr<Model> one_margin(std::vector<std::string> classes) {
  ModelInfo info;
  info.name = "m.onnx";
  info.feature_names = {"a", "b"};
  info.output_names = {"o"};
  info.class_names = std::move(classes);
  info.unit = info.class_names.empty() ? OutputUnit::value : OutputUnit::margin;
  return model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> out) {
    for (size_t i = 0; i < rows.rows(); i++) out(i, 0) = rows(i, 0);
  });
}

// Every third row has a positive margin.
Dataset some_pool(size_t rows) {
  Dataset pool;
  pool.source = "train.csv";
  pool.feature_names = {"a", "b"};
  pool.groups = {{"a", 0, 1}, {"b", 1, 1}};
  pool.x = Matrix(rows, 2);
  for (size_t i = 0; i < rows; i++) {
    pool.x(i, 0) = (i % 3 == 0 ? 1.0F : -1.0F) * static_cast<float>(i + 1);
    pool.x(i, 1) = static_cast<float>(i);
  }
  return pool;
}

TEST(ApprovedBackground, HasTheRowsThatTheModelDecidesInTheWantedWay) {
  const auto model = one_margin({"bad", "good"});
  const Dataset pool = some_pool(30);
  const TargetChoice good{false, 1};
  const Reference against = approved_background(pool, *model, good, ReasonDirection::against, {});
  ASSERT_EQ(against.rows.rows(), 10U);
  for (size_t i = 0; i < 10; i++) EXPECT_EQ(against.rows(i, 1), static_cast<float>(3 * i));
  EXPECT_EQ(against.description, "all 10 rows of train.csv that are predicted to be good");
  EXPECT_FALSE(against.is_draw());
  const Reference favour = approved_background(pool, *model, good, ReasonDirection::favour, {});
  EXPECT_EQ(favour.rows.rows(), 20U);
  EXPECT_EQ(favour.description, "all 20 rows of train.csv that are predicted to be other than good");
  // Reasons against "bad" compare with rows that are predicted to be bad.
  EXPECT_EQ(approved_background(pool, *model, {false, 0}, ReasonDirection::against, {}).rows.rows(), 20U);
}

TEST(ApprovedBackground, OfManyRowsSomeAreDrawn) {
  const auto model = one_margin({"bad", "good"});
  const Reference drawn = approved_background(some_pool(4000), *model, {false, 1}, ReasonDirection::against, {});
  EXPECT_EQ(drawn.rows.rows(), kMostReasonRows);
  EXPECT_EQ(drawn.drawn_from, 1334U);
  EXPECT_TRUE(drawn.strata);
  const Reference whole = reasons_background(some_pool(1000), *model, {false, 1}, {});
  EXPECT_EQ(whole.description, "all 1000 rows of train.csv");
  EXPECT_FALSE(whole.is_draw());
  const Reference spread = reasons_background(some_pool(1001), *model, {false, 1}, {});
  EXPECT_EQ(spread.rows.rows(), kMostReasonRows);
  EXPECT_EQ(spread.drawn_from, 1001U);
}

// A third of the pool is approved; of 300 rows that it was drawn from, so are about 100.
TEST(ApprovedBackground, OfASampleOfThePoolItIsADraw) {
  const auto model = one_margin({"bad", "good"});
  const Reference all = approved_background(some_pool(30), *model, {false, 1}, ReasonDirection::against, {});
  EXPECT_EQ(all.rows.rows(), 10U);
  EXPECT_FALSE(all.is_draw());
  const Reference drawn = approved_background(some_pool(30), *model, {false, 1}, ReasonDirection::against, {}, 300);
  EXPECT_EQ(drawn.rows.rows(), 10U);
  EXPECT_EQ(drawn.drawn_from, 100U);
  EXPECT_EQ(drawn.description, "10 rows of a sample of train.csv that are predicted to be good");
}

TEST(ApprovedBackground, RefusesWhatHasNoApprovedRows) {
  const Dataset pool = some_pool(30);
  const auto refused = [&](const Model& model, const TargetChoice& choice, const Dataset& rows) {
    return sentence([&] { approved_background(rows, model, choice, ReasonDirection::against, {}); });
  };
  EXPECT_EQ(refused(*one_margin({}), {false, 0}, pool),
            "background approved: expected a classifier, whose predicted classes say which rows are approved, found "
            "m.onnx, a regression");
  EXPECT_EQ(refused(*one_margin({"bad", "good"}), {true, 0}, pool),
            "background approved: expected one class that is explained for all rows, found each row's own predicted "
            "class");
  Dataset low = some_pool(30);
  for (size_t i = 0; i < 30; i++) low.x(i, 0) = -1;
  EXPECT_EQ(refused(*one_margin({"bad", "good"}), {false, 1}, low),
            "background approved: expected rows of train.csv that are predicted to be good, found none");
}

}  // namespace
}  // namespace assay
