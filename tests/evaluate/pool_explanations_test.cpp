#include "assay/evaluate/pool_explanations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "tests/explain/toys.h"

namespace assay::testing {
namespace {

using Rows = std::vector<size_t>;

// Row r is explained as (r, -r); every call is noted.
struct Maker {
  std::vector<Rows> calls = {};
  bool fails = false;

  PoolExplanations::Make make() {
    return [this](std::span<const size_t> rows, const Context& /*context*/) {
      calls.emplace_back(rows.begin(), rows.end());
      if (fails) throw std::runtime_error("cannot");
      Matrix made(rows.size(), 2);
      for (size_t i = 0; i < rows.size(); i++) {
        made(i, 0) = static_cast<float>(rows[i]);
        made(i, 1) = -static_cast<float>(rows[i]);
      }
      return made;
    };
  }
};

TEST(PoolExplanations, GivenOnesAreThere) {
  PoolExplanations given(matrix_of({{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(given.rows(), 3U);
  EXPECT_EQ(given.players(), 2U);
  given.need_all({});
  given.need(Rows{2, 0, 2}, {});
  EXPECT_EQ(given.explained(), 0U);
  EXPECT_EQ(given.values()(1, 1), 4);
}

TEST(PoolExplanations, EachRowIsMadeOnceAndInOrder) {
  Maker maker;
  PoolExplanations made(6, 2, maker.make());
  EXPECT_EQ(made.rows(), 6U);
  EXPECT_EQ(made.players(), 2U);
  made.need(Rows{4, 1, 4}, {});
  EXPECT_EQ(maker.calls, (std::vector<Rows>{{1, 4}}));
  EXPECT_EQ(made.values()(4, 0), 4);
  EXPECT_EQ(made.values()(1, 1), -1);
  made.need(Rows{1, 4}, {});
  made.need(Rows{}, {});
  EXPECT_EQ(maker.calls.size(), 1U);
  made.need(Rows{5, 4}, {});
  EXPECT_EQ(maker.calls.back(), Rows{5});
  made.need_all({});
  EXPECT_EQ(maker.calls.back(), (Rows{0, 2, 3}));
  EXPECT_EQ(made.explained(), 6U);
  for (size_t r = 0; r < 6; r++) EXPECT_EQ(made.values()(r, 0), static_cast<float>(r));
  made.need_all({});
  EXPECT_EQ(maker.calls.size(), 3U);
}

// What failed was not made: it is tried again, and nothing is counted.
TEST(PoolExplanations, AFailureLeavesNothingBehind) {
  Maker maker{.fails = true};
  PoolExplanations made(4, 2, maker.make());
  EXPECT_THROW(made.need(Rows{1, 3}, {}), std::runtime_error);
  EXPECT_EQ(made.explained(), 0U);
  maker.fails = false;
  made.need(Rows{3}, {});
  EXPECT_EQ(maker.calls.back(), Rows{3});
  EXPECT_EQ(made.explained(), 1U);
  EXPECT_EQ(made.values()(3, 0), 3);
}

}  // namespace
}  // namespace assay::testing
