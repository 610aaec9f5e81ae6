// AVA of antecedents whose explanations are scaled to unit norm first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "assay/aggregate/common.h"
#include "tests/aggregate/trial.h"

namespace assay::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// y = 3 x0 + 4 x1, reference 0. Antecedents (1, 1) and (-2, 0) of (0, 0): distances 1 and 2, weights 2/3 and 1/3. Their
// explanations are (3, 4) and (-6, 0), at unit norm (0.6, 0.8) and (-1, 0).
TEST(Ava, AntecedentsOfUnitNorm) {
  ModelInfo info;
  info.name = "plane";
  info.feature_names = {"x0", "x1"};
  info.output_names = {"y"};
  info.unit = OutputUnit::value;
  const std::shared_ptr<const Model> plane =
      model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> out) {
        for (size_t i = 0; i < rows.rows(); i++) out(i, 0) = 3 * rows(i, 0) + 4 * rows(i, 1);
      });
  MemberTrial trial;
  trial.data = dataset_of(matrix_of({{0, 0}}));
  trial.pool = dataset_of(matrix_of({{1, 1}, {-2, 0}, {90, 90}}));
  trial.setting = setting_of(plane, matrix_of({{0, 0}}), Matrix(1, 2), "auto");
  trial.pool_targets = freeze_targets(*plane, trial.pool->x.view(), {}, {});
  const Made raw = combined_by("ava", ":k=2:space=raw", trial);
  EXPECT_NEAR(raw.values(0, 0), 0, 1e-6);
  EXPECT_NEAR(raw.values(0, 1), 2.0 / 3 * 4, 1e-6);
  EXPECT_EQ(raw.combined.base[0], 0);
  const Made unit = combined_by("ava", ":k=2:space=raw:norm=unit", trial);
  EXPECT_NEAR(unit.values(0, 0), 2.0 / 3 * 0.6 - 1.0 / 3, 1e-6);
  EXPECT_NEAR(unit.values(0, 1), 2.0 / 3 * 0.8, 1e-6);
  EXPECT_TRUE(std::isnan(unit.combined.base[0]));
  EXPECT_THAT(unit.combined.notes, Contains(HasSubstr("unit norm")));
}

}  // namespace
}  // namespace assay::testing
