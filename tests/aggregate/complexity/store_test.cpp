#include "assay/aggregate/complexity/store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "assay/evaluate/complexity.h"
#include "tests/aggregate/trial.h"

namespace assay::testing {
namespace {

struct OneRow {
  Matrix64 values;
  std::vector<size_t> nonzero = {};

  explicit OneRow(const std::vector<std::vector<double>>& members) : values(members.size(), members[0].size()) {
    for (size_t j = 0; j < members.size(); j++) {
      std::ranges::copy(members[j], values.row(j).begin());
      if (std::ranges::any_of(members[j], [](double v) { return v != 0; })) nonzero.push_back(j);
    }
  }
  MemberRow row() const { return {0, values.view(), nonzero}; }
};

// l2 norms 1 and 5, the zero member is none: 0.1 x 3.
TEST(StoreSimplest, FloorIsAShareOfTheMeanNorm) {
  const OneRow one({{1, 0}, {0, 0}, {3, -4}});
  EXPECT_DOUBLE_EQ(norm_floor(one.row(), 0.1), 0.3);
  EXPECT_EQ(norm_floor(OneRow({{0, 0}}).row(), 0.1), 0);
}

TEST(StoreSimplest, StoresThePointWhereItIsNoMoreComplex) {
  const OneRow one({{1, 1}, {1, 0.5}});
  std::vector<float> out(2);
  const StoredSimplest stored = store_simplest(one.row(), std::vector<double>{2, 0.25}, out);
  EXPECT_FALSE(stored.member.has_value());
  EXPECT_EQ(out, (std::vector<float>{2, 0.25F}));
  EXPECT_EQ(stored.complexity, complexity(out));
}

// (1, 0.5) is simpler than (1, 1) and than the point (1, 0.6); a zero member is passed over though it has no entropy.
TEST(StoreSimplest, StoresTheSimplestMemberOtherwise) {
  const OneRow one({{0, 0}, {1, 1}, {1, 0.5}, {1, -0.5}});
  std::vector<float> out(2);
  for (const std::vector<double>& point : {std::vector<double>{1, 0.6}, {0, 0}, {1e-60, 0}}) {
    const StoredSimplest stored = store_simplest(one.row(), point, out);
    EXPECT_EQ(stored.member, 2U);
    EXPECT_EQ(out, (std::vector<float>{1, 0.5F}));
    EXPECT_EQ(stored.complexity, complexity(out));
  }
}

// A third of the member has its entropy; rounded to float32 it has a little more or less.
TEST(StoreSimplest, ComparesWhatIsStored) {
  size_t fell_back = 0;
  for (uint64_t number = 0; number < 2000; number++) {
    RandomStream draw(3, "store test", number);
    std::vector<float> member(5);
    for (float& each : member) each = static_cast<float>(draw.normal());
    const std::vector<double> wide(member.begin(), member.end());
    const OneRow one({wide});
    std::vector<double> scaled(5);
    for (size_t k = 0; k < 5; k++) scaled[k] = wide[k] / 3;  // the same entropy, but for rounding
    std::vector<float> out(5);
    const StoredSimplest stored = store_simplest(one.row(), scaled, out);
    ASSERT_LE(complexity(out), complexity(member));
    fell_back += stored.member ? 1 : 0;
  }
  EXPECT_GT(fell_back, 200U);
  EXPECT_LT(fell_back, 1800U);
}

}  // namespace
}  // namespace assay::testing
