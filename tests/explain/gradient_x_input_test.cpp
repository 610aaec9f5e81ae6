#include <gtest/gtest.h>

#include <cmath>

#include "tests/explain/run_method.h"

namespace assay::testing {
namespace {

constexpr std::string_view kMethod = "gradient_x_input";

TEST(GradientXInput, IsTheSlopeTimesTheValue) {
  size_t checked = 0;
  for (const Toy& toy : all_toys()) {
    if (toy.gradient.empty()) continue;
    SCOPED_TRACE(toy.name);
    const Result found = explained(kMethod, setting_of(toy));
    for (size_t r = 0; r < toy.rows.size(); r++) {
      for (size_t c = 0; c < toy.rows[r].size(); c++) {
        const double expected = toy.gradient[r][c] * toy.rows[r][c];
        EXPECT_NEAR(found.values(r, c), expected, 1e-6 * std::max(1.0, std::abs(expected)));
      }
    }
    EXPECT_EQ(found.out.evaluations, toy.rows.size());
    checked++;
  }
  EXPECT_GE(checked, 5U);
}

// f = min(x1, x2) is homogeneous of degree one, so the values sum to it (Euler).
TEST(GradientXInput, SumsToAHomogeneousOutput) {
  const Result found = explained(kMethod, setting_of(min_toy()));
  EXPECT_EQ(found.values(0, 0) + found.values(0, 1), 6);
  EXPECT_EQ(found.values(1, 0) + found.values(1, 1), 3);
}

// (2, -3, 0) at (1, 2, 3): columns 1 and 2 give 2 * 1 - 3 * 2. Summing before multiplying would give something else.
TEST(GradientXInput, ProductsAreFormedByColumn) {
  Setting setting = setting_of(linear_toy());
  setting.players = players_of({0, 0, 1}, 2);
  const Result found = explained(kMethod, setting);
  EXPECT_EQ(found.values(0, 0), -4);
  EXPECT_EQ(found.values(0, 1), 0);
}

TEST(GradientXInput, BitsDoNotDependOnThreadsOrPartition) {
  expect_same_bits_everywhere(kMethod, fixture_setting("torch_mlp_script", "predicted"));
}

}  // namespace
}  // namespace assay::testing
