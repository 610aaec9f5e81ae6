// What holds of every complexity aggregator on every row, checked on random members of all kinds.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/common.h"
#include "assay/evaluate/complexity.h"
#include "tests/aggregate/trial.h"

namespace assay::testing {

inline double l1_of(std::span<const float> values) {
  double sum = 0;
  for (const float each : values) sum += std::abs(static_cast<double>(each));
  return sum;
}

// How many rows became strictly simpler than all of their members. Fails where a result is more complex than a member
// (plain <=), where it lies below the floor and is no member, where its measure is not its complexity, or where members
// are all zero and it is not.
inline size_t expect_simplest(const std::string& name, const std::string& options, double floor, MemberTrial& trial) {
  const Members members(trial.task(), true);
  const Made made = combined_by(name, options, trial);
  const RowMeasure& measure = made.combined.measures.front();
  EXPECT_EQ(measure.name, "complexity");
  size_t simpler = 0;
  for (size_t r = 0; r < members.rows(); r++) {
    const std::string where =
        fmt::format("{}{}, {} members of {} players, row {}", name, options, members.size(), members.players(), r);
    const auto values = made.values.row(r);
    const double found = complexity(values);
    double least = std::numeric_limits<double>::infinity();
    double norms = 0;
    size_t counted = 0;
    bool is_member = false;
    for (size_t j = 0; j < members.size(); j++) {
      if (members.zero(j, r)) continue;
      const auto member = members.of(j, r);
      least = std::min(least, complexity(member));
      norms += std::sqrt(std::inner_product(member.begin(), member.end(), member.begin(), 0.0));
      counted++;
      is_member = is_member || std::ranges::equal(member, values);
    }
    if (counted == 0) {
      EXPECT_EQ(l1_of(values), 0) << where;
      EXPECT_TRUE(std::isnan(measure.values[r])) << where;
      continue;
    }
    EXPECT_LE(found, least) << where;
    EXPECT_EQ(measure.values[r], found) << where;
    simpler += found < least ? 1 : 0;
    // Values are rounded to float32.
    EXPECT_TRUE(is_member || l1_of(values) >= floor * norms / static_cast<double>(counted) * (1 - 1e-6)) << where;
  }
  return simpler;
}

// Thousands of random sets of 1 to 8 members of 1 to 40 players, and some of 784.
inline void expect_simplest_always(const std::string& name, const std::string& options, double floor,
                                   size_t rows_each = 12, size_t large_rows = 8) {
  size_t simpler = 0;
  for (size_t members = 1; members <= 8; members++) {
    for (size_t players = 1; players <= 40; players += players < 6 ? 1 : 5) {
      MemberTrial trial = random_members(members, rows_each, players, 100 * members + players);
      simpler += expect_simplest(name, options, floor, trial);
    }
  }
  if (large_rows > 0) {
    MemberTrial large = random_members(6, large_rows, 784, 7);
    simpler += expect_simplest(name, options, floor, large);
  }
  // A floor as high as the norms leaves little room.
  EXPECT_GT(simpler, rows_each * (floor < 0.9 ? 20 : 1));
}

}  // namespace assay::testing
