#include "assay/study/subject_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>

namespace assay::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Dataset two_by_two(std::initializer_list<float> values) {
  Dataset data;
  data.source = "pool.csv";
  data.x = Matrix(2, 2);
  std::ranges::copy(values, data.x.data());
  data.feature_names = {"a", "b"};
  data.groups = {{"a", 0, 1}, {"b", 1, 1}};
  return data;
}

std::unique_ptr<Model> sum_model() {
  ModelInfo info;
  info.name = "sum";
  info.feature_names = {"a", "b"};
  info.output_names = {"y"};
  info.unit = OutputUnit::value;
  return model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> out) {
    for (size_t i = 0; i < rows.rows(); i++) out(i, 0) = rows(i, 0) + rows(i, 1);
  });
}

TEST(SubjectParts, TheOtherBaselineIsZeroOrTheMean) {
  const Dataset pool = two_by_two({1, 2, 3, 4});
  const auto model = sum_model();
  Reference mean = named_baseline("mean", &pool, *model, nullptr, {});
  mean.scales = {5, 6};
  const auto others = other_baselines(mean, pool, *model, nullptr, {});
  ASSERT_EQ(others.size(), 1U);
  EXPECT_THAT(others[0].rows.values(), ElementsAre(0, 0));
  EXPECT_THAT(others[0].scales, ElementsAre(5, 6));

  const Reference zero = named_baseline("zero", &pool, *model, nullptr, {});
  const auto beside_zero = other_baselines(zero, pool, *model, nullptr, {});
  ASSERT_EQ(beside_zero.size(), 1U);
  EXPECT_THAT(beside_zero[0].rows.values(), ElementsAre(2, 3));  // (1 + 3) / 2, (2 + 4) / 2
}

TEST(SubjectParts, ThereIsNoOtherBaselineWhereItIsTheSame) {
  const Dataset centred = two_by_two({1, 2, -1, -2});
  const auto model = sum_model();
  const Reference mean = named_baseline("mean", &centred, *model, nullptr, {});
  EXPECT_THAT(other_baselines(mean, centred, *model, nullptr, {}), IsEmpty());
  const Reference zero = named_baseline("zero", &centred, *model, nullptr, {});
  EXPECT_THAT(other_baselines(zero, centred, *model, nullptr, {}), IsEmpty());
}

TEST(SubjectParts, HashesAreThoseOfValuesAndLabels) {
  // hashlib.sha256(struct.pack("<4f", 1, 2, 3, 4) + struct.pack("<2f", 0, 1)), and without the labels.
  Dataset data = two_by_two({1, 2, 3, 4});
  EXPECT_EQ(rows_hash(data), "ad73b9acd6e4a74b2f5bb5386658ce3bb146cd040a1867646ab3b973fb6632b1");
  data.labels = {0, 1};
  EXPECT_EQ(rows_hash(data), "ece22cee2117bf18ebebb33824449f31806430ef58b77d76e9d54e3c8845be8a");
}

}  // namespace
}  // namespace assay::testing
