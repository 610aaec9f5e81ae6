#include "assay/study/verdict.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::testing {
namespace {

TEST(VerdictWords, OfNumbers) {
  EXPECT_EQ(mean_with_error(0.93123, 0.0123), "0.931 +- 0.012");
  EXPECT_EQ(mean_with_error(0.93123, 0.0123, 1), "0.93 +- 0.01");
  EXPECT_EQ(mean_with_error(123.456, 34.5), "123 +- 34");
  EXPECT_EQ(mean_with_error(-0.0004, 0.12), "0.00 +- 0.12");
  EXPECT_EQ(mean_with_error(12345.6, 0.5), "12,346 +- 0.5");
  EXPECT_EQ(mean_with_error(1.5e-9, 2e-10), "1.5e-09 +- 2e-10");
  EXPECT_EQ(mean_with_error(0.5, 0), "0.5");
  EXPECT_EQ(mean_with_error(2.82519, 2.26e-17), "2.825");
  EXPECT_EQ(mean_with_error(2.5, 3e-6), "2.5 +- 3e-06");
  EXPECT_EQ(mean_with_error(0.5, NAN), "0.5");
  EXPECT_EQ(mean_with_error(NAN, NAN), "-");
  EXPECT_EQ(mean_with_error(INFINITY, NAN), "inf");
  EXPECT_EQ(whole_percent(0.9999), "99 %");
  EXPECT_EQ(whole_percent(0.0001), "1 %");
  EXPECT_EQ(whole_percent(1), "100 %");
  EXPECT_EQ(whole_percent(0.616), "62 %");
}

}  // namespace
}  // namespace assay::testing
