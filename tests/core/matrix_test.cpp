#include "assay/core/matrix.h"

#include <gtest/gtest.h>

#include <utility>

namespace assay {
namespace {

TEST(Matrix, StartsAtZeroAndIsRowMajor) {
  Matrix m(2, 3);
  for (const float v : m.values()) EXPECT_EQ(v, 0);
  m(1, 2) = 5;
  EXPECT_EQ(m.data()[5], 5);
  EXPECT_EQ(m.row(1)[2], 5);
}

TEST(Matrix, AppendsRowsAndKeepsThem) {
  Matrix m(0, 2);
  for (int i = 0; i < 10000; ++i) {
    const auto row = m.append_row();
    row[0] = static_cast<float>(i);
    row[1] = static_cast<float>(-i);
  }
  m.shrink_to_fit();
  ASSERT_EQ(m.rows(), 10000u);
  for (size_t i = 0; i < m.rows(); ++i) ASSERT_EQ(m(i, 1), -static_cast<float>(i));
}

TEST(Matrix, CopiesAndMoves) {
  Matrix a(2, 2);
  a(0, 1) = 3;
  Matrix b = a;
  b(0, 1) = 4;
  EXPECT_EQ(a(0, 1), 3);
  const Matrix c = std::move(b);
  EXPECT_EQ(c(0, 1), 4);
  a = c;
  EXPECT_EQ(a(0, 1), 4);
}

TEST(Matrix, ImpossibleSizesAreRefusedBeforeMemoryIsTaken) {
  EXPECT_THROW(Matrix(SIZE_MAX / 2, 4), std::bad_alloc);
  EXPECT_THROW(Matrix(SIZE_MAX, SIZE_MAX), std::bad_alloc);
}

TEST(Matrix, NoColumnsOrNoRowsIsEmpty) {
  EXPECT_TRUE(Matrix(5, 0).empty());
  EXPECT_TRUE(Matrix(0, 5).empty());
  Matrix none(0, 0);
  none.shrink_to_fit();
  EXPECT_EQ(none.rows(), 0u);
}

TEST(MatrixView, SeesPartsWithoutCopying) {
  Matrix m(4, 3);
  const auto middle = m.view().rows_between(1, 3);
  EXPECT_EQ(middle.rows(), 2u);
  middle(0, 0) = 7;
  EXPECT_EQ(m(1, 0), 7);
  const MatrixView<float> column(m.data() + 2, 4, 1, 3);
  column(3, 0) = 9;
  EXPECT_EQ(m(3, 2), 9);
  const MatrixView<const float> fixed = column;
  EXPECT_EQ(fixed(3, 0), 9);
}

}  // namespace
}  // namespace assay
