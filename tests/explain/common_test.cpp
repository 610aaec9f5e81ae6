#include "assay/explain/common.h"

#include <gtest/gtest.h>

#include <vector>

#include "assay/core/random.h"

namespace assay {
namespace {

constexpr float kUntouched = -77;

// Rows and values of these strides; what lies between rows stays.
void expect_products(size_t rows, size_t columns, size_t rows_stride, size_t values_stride) {
  SCOPED_TRACE(testing::Message() << rows << " x " << columns << ", strides " << rows_stride << ", " << values_stride);
  RandomStream stream(2, "common test");
  std::vector<float> from(columns);
  std::vector<float> x(rows * rows_stride);
  std::vector<float> start(rows * values_stride);
  for (float& each : from) each = static_cast<float>(stream.normal());
  for (float& each : x) each = static_cast<float>(stream.normal());
  for (size_t i = 0; i < start.size(); i++) {
    start[i] = i % values_stride < columns ? static_cast<float>(stream.normal()) : kUntouched;
  }
  std::vector<float> values = start;
  multiply_rows_by_way(from, {x.data(), rows, columns, rows_stride}, {values.data(), rows, columns, values_stride});
  for (size_t i = 0; i < values.size(); i++) {
    const size_t r = i / values_stride;
    const size_t c = i % values_stride;
    ASSERT_EQ(values[i], c < columns ? start[i] * (x[r * rows_stride + c] - from[c]) : kUntouched);
  }
}

TEST(MultiplyRowsByWay, AnyShape) {
  for (const size_t columns : {1U, 3U, 14U, 16U, 128U, 129U}) {
    for (const size_t rows : {0U, 1U, 15U, 16U, 17U, 50U}) {
      expect_products(rows, columns, columns, columns);
      expect_products(rows, columns, columns + 3, columns);
      expect_products(rows, columns, columns, columns + 1);
    }
  }
}

}  // namespace
}  // namespace assay
