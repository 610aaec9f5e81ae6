#include "assay/explain/games/cholesky.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "assay/core/random.h"

namespace assay::testing {
namespace {

// A positive definite matrix of n rows, X X' + n / 10, with `below` more rows under it.
Matrix64 random_system(size_t n, size_t below, uint64_t seed) {
  RandomStream random(seed, "cholesky test");
  Matrix64 x(n, n + 3);
  for (double& value : x.values()) value = random.normal();
  Matrix64 made(n + below, n);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      for (size_t k = 0; k < x.cols(); k++) made(i, j) += x(i, k) * x(j, k);
    }
    made(i, i) += static_cast<double>(n) / 10;
  }
  for (size_t i = n; i < n + below; i++) {
    for (double& value : made.row(i)) value = random.normal();
  }
  return made;
}

// One panel, a part of one, several, and sizes that no vector divides.
class CholeskySizes : public ::testing::TestWithParam<size_t> {};

TEST_P(CholeskySizes, FactorTimesItsTransposeIsTheMatrix) {
  const size_t n = GetParam();
  const Matrix64 before = random_system(n, 0, n);
  Matrix64 a = before;
  ASSERT_TRUE(factorise(a.view(), {}));
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j <= i; j++) {
      double sum = 0;
      for (size_t k = 0; k <= j; k++) sum += a(i, k) * a(j, k);
      ASSERT_NEAR(sum, before(i, j), 1e-10 * static_cast<double>(n)) << i << ", " << j;
    }
  }
}

TEST_P(CholeskySizes, RowsBelowAreDividedByTheMatrix) {
  const size_t n = GetParam();
  const Matrix64 before = random_system(n, 7, n + 1);
  Matrix64 a = before;
  ASSERT_TRUE(factorise(a.view(), {}));
  divide(a.view(), {});
  for (size_t r = n; r < n + 7; r++) {
    for (size_t j = 0; j < n; j++) {
      double product = 0;
      for (size_t k = 0; k < n; k++) product += a(r, k) * before(k, j);
      ASSERT_NEAR(product, before(r, j), 1e-8) << r << ", " << j;
    }
  }
}

TEST_P(CholeskySizes, GivesTheSameBitsOnAnyNumberOfThreads) {
  const size_t n = GetParam();
  const Matrix64 before = random_system(n, 7, n);
  std::vector<Matrix64> found;
  for (const unsigned threads : {1U, 2U, 7U}) {
    Context context;
    context.threads = threads;
    found.push_back(before);
    ASSERT_TRUE(factorise(found.back().view(), context));
    divide(found.back().view(), context);
  }
  for (size_t i = n; i < n + 7; i++) {
    for (size_t j = 0; j < n; j++) {
      EXPECT_EQ(found[0](i, j), found[1](i, j));
      EXPECT_EQ(found[0](i, j), found[2](i, j));
    }
  }
}

TEST_P(CholeskySizes, RowsThatComeLaterAreSubstitutedAsThoseBelow) {
  const size_t n = GetParam();
  const size_t rows = 50;
  const Matrix64 before = random_system(n, rows, n + 3);
  Matrix64 a = before;
  ASSERT_TRUE(factorise(a.view(), {}));
  Matrix64 later(rows, n);
  for (size_t r = 0; r < rows; r++) std::ranges::copy(before.row(n + r), later.row(r).begin());
  substitute(a.view().rows_between(0, n), later.view(), {});
  for (size_t r = 0; r < rows; r++) {
    for (size_t j = 0; j < n; j++) EXPECT_NEAR(later(r, j), a(n + r, j), 1e-10) << r << ", " << j;
  }
}

// Rows that come later, alone or beside others (more of them than are taken at once).
TEST_P(CholeskySizes, AKeptFactorDividesRowsAsDivideDoes) {
  const size_t n = GetParam();
  const size_t rows = 50;
  const Matrix64 before = random_system(n, rows, n + 2);
  Matrix64 a = before;
  ASSERT_TRUE(factorise(a.view(), {}));
  const CholeskySolver solver(a.view().rows_between(0, n), {});
  divide(a.view(), {});
  Matrix64 together(rows, n);
  for (size_t r = 0; r < rows; r++) std::ranges::copy(before.row(n + r), together.row(r).begin());
  Matrix64 alone = together;
  solver.solve(together.view());
  for (size_t r = 0; r < rows; r++) {
    solver.solve(alone.view().rows_between(r, r + 1));
    for (size_t j = 0; j < n; j++) {
      EXPECT_NEAR(together(r, j), a(n + r, j), 1e-9) << r << ", " << j;
      EXPECT_EQ(together(r, j), alone(r, j)) << r << ", " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CholeskySizes, ::testing::Values(1, 2, 5, 63, 64, 65, 128, 130, 201));

TEST(Cholesky, SaysWhenAMatrixIsNotPositiveDefinite) {
  for (const size_t bad : {size_t{0}, size_t{70}, size_t{129}}) {
    Matrix64 a = random_system(130, 1, 3);
    a(bad, bad) = -1;
    EXPECT_FALSE(factorise(a.view(), {})) << bad;
  }
  Matrix64 a = random_system(10, 0, 3);
  a(4, 2) = std::nan("");
  EXPECT_FALSE(factorise(a.view(), {}));
}

}  // namespace
}  // namespace assay::testing
