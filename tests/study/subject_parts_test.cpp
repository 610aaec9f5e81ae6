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

TEST(SubjectParts, TheOtherReferenceIsTheMeanOrABackground) {
  const Dataset pool = two_by_two({1, 2, 3, 4});
  const auto model = sum_model();
  const auto mean = [&] { return named_baseline("mean", &pool, *model, nullptr, {}); };
  const auto background = [&] { return given_background(pool, &pool, *model); };
  const Reference zero = named_baseline("zero", nullptr, *model, nullptr, {});
  for (Reference other : {background(), zero}) {
    other.scales = {5, 6};
    const auto beside = other_references(other, mean, background);
    ASSERT_EQ(beside.size(), 1U);
    EXPECT_THAT(beside[0].rows.values(), ElementsAre(2, 3));  // (1 + 3) / 2, (2 + 4) / 2
    EXPECT_EQ(beside[0].description, "mean of pool.csv");
    EXPECT_THAT(beside[0].scales, ElementsAre(5, 6));
  }
  const auto beside_mean = other_references(mean(), mean, background);
  ASSERT_EQ(beside_mean.size(), 1U);
  EXPECT_THAT(beside_mean[0].rows.values(), ElementsAre(1, 2, 3, 4));
}

TEST(SubjectParts, ThereIsNoOtherReferenceWhereItIsTheSame) {
  Dataset pool = two_by_two({1, 2, 3, 4});
  pool = select_rows(pool, {0});
  const auto model = sum_model();
  const auto mean = [&] { return named_baseline("mean", &pool, *model, nullptr, {}); };
  EXPECT_THAT(other_references(mean(), mean, [&] { return given_background(pool, &pool, *model); }), IsEmpty());
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
