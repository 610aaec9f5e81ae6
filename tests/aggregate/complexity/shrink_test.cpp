#include "assay/aggregate/complexity/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "assay/aggregate/complexity/segment.h"
#include "assay/aggregate/complexity/store.h"
#include "tests/aggregate/trial.h"

namespace assay::testing {
namespace {

using Values = std::vector<double>;

struct Row {
  Matrix64 values;
  std::vector<size_t> nonzero = {};
  MemberRow view() const { return {0, values.view(), nonzero}; }
};

Row row_of(MemberTrial& trial, size_t row) {
  const auto members = unit_rows(trial, row);
  Row made{Matrix64(members.size(), members[0].size())};
  for (size_t j = 0; j < members.size(); j++) {
    std::ranges::copy(members[j], made.values.row(j).begin());
    if (l1_norm(members[j]) > 0) made.nonzero.push_back(j);
  }
  return made;
}

// Algorithm 2 without a thought for time: every pair in every round, every minimum in full.
// by_rounding: set where rounding decides which points are kept, so that vector targets may keep different ones.
std::vector<double> shrink_plainly(const Row& row, const ShrinkOptions& options, double floor, bool& by_rounding) {
  using Point = std::pair<double, Values>;
  const auto add = [&](std::vector<Point>& points, const Values& values) {
    for (const Point& other : points) {
      double apart = 0;
      for (size_t k = 0; k < values.size(); k++) apart = std::max(apart, std::abs(values[k] - other.second[k]));
      by_rounding |= apart > 1e-14 && apart < 1e-9;
      if (apart <= 1e-12) return;
    }
    points.emplace_back(entropy_of(values), values);
  };
  // Of equal entropy the longer goes first.
  const auto better = [](const Point& a, const Point& b) {
    if (std::abs(a.first - b.first) > 1e-12) return a.first < b.first;
    return l2_norm(a.second) > l2_norm(b.second) * (1 + 1e-6);
  };
  const auto in_order = [&](const std::vector<Point>& points) {
    std::vector<Point> sorted;
    for (const Point& point : points) {
      sorted.insert(std::ranges::find_if(sorted, [&](const Point& other) { return better(point, other); }), point);
    }
    return sorted;
  };
  std::vector<Point> now;
  for (const size_t j : row.nonzero) add(now, {row.values.row(j).begin(), row.values.row(j).end()});
  SegmentScratch scratch;
  for (int64_t round = 0; round < options.rounds; round++) {
    const bool pairs = options.candidates == "pairs";
    if (pairs && now.size() < 2) break;
    std::vector<Point> next = pairs ? std::vector<Point>() : now;
    for (size_t i = 0; i < now.size(); i++) {
      for (size_t j = i + 1; j < now.size(); j++) {
        Values point(row.values.cols());
        // Opposite points are equally simple: rounding decides which of them a pair leaves.
        by_rounding |= pairs && std::abs(now[i].first - now[j].first) < 1e-9;
        const double t = segment_minimum(now[i].second, now[j].second, floor, scratch).t;
        point_at(now[i].second, now[j].second, t, point);
        add(next, point);
      }
    }
    next = in_order(next);
    const auto keep = static_cast<size_t>(options.keep);
    by_rounding |= next.size() > keep && std::abs(next[keep - 1].first - next[keep].first) < 1e-9;
    next.resize(std::min(next.size(), keep));
    now = next;
  }
  std::vector<double> entropies;
  for (const Point& point : now) entropies.push_back(point.first);
  return entropies;
}

TEST(Shrink, FindsWhatThePlainAlgorithmFinds) {
  size_t inside = 0;
  size_t lists = 0;
  for (size_t members = 1; members <= 6; members++) {
    for (const size_t players : {1U, 2U, 3U, 7U, 20U}) {
      MemberTrial trial = random_members(members, 16, players, members + 10 * players);
      for (size_t r = 0; r < 16; r++) {
        const Row row = row_of(trial, r);
        if (row.nonzero.empty()) continue;
        const ShrinkOptions options{
            .rounds = 4, .keep = 4 + static_cast<int64_t>(r % 6), .candidates = r % 3 == 0 ? "pairs" : "all"};
        const double floor = norm_floor(row.view(), r % 2 == 0 ? 0.05 : 0.4);
        bool by_rounding = false;
        const auto expected = shrink_plainly(row, options, floor, by_rounding);
        const auto found = shrink_region(row.view(), options, floor, {});
        ASSERT_NEAR(found.front().entropy, expected.front(), 1e-9) << members << ", " << players << ", " << r;
        inside += found.front().weights[row.nonzero[0]] > 0 && found.front().weights[row.nonzero[0]] < 1 ? 1 : 0;
        // Of few players, segments have several points of entropy 0, and which of them is found is chance.
        if (players < 7 || by_rounding) continue;
        lists++;
        ASSERT_EQ(found.size(), expected.size()) << members << ", " << players << ", " << r;
        for (size_t i = 0; i < found.size(); i++) ASSERT_NEAR(found[i].entropy, expected[i], 1e-9) << r;
      }
    }
  }
  EXPECT_GT(inside, 50U);
  EXPECT_GT(lists, 90U);  // of 192
}

TEST(Shrink, PointsAreWeightedSumsOfTheMembersAndDistinct) {
  for (const size_t players : {3U, 12U, 100U}) {
    MemberTrial trial = random_members(5, 40, players, players);
    for (size_t r = 0; r < 40; r++) {
      const Row row = row_of(trial, r);
      if (row.nonzero.empty()) continue;
      const auto found = shrink_region(row.view(), {}, norm_floor(row.view(), 0.05), {});
      for (size_t i = 0; i < found.size(); i++) {
        double sum = 0;
        Values same(players, 0.0);
        for (size_t j = 0; j < 5; j++) {
          ASSERT_GE(found[i].weights[j], 0);
          sum += found[i].weights[j];
          for (size_t k = 0; k < players; k++) same[k] += found[i].weights[j] * row.values(j, k);
        }
        ASSERT_NEAR(sum, 1, 1e-13);
        for (size_t k = 0; k < players; k++) ASSERT_NEAR(found[i].values[k], same[k], 1e-13) << r;
        ASSERT_EQ(found[i].entropy, entropy_of(found[i].values));
        for (size_t other = 0; other < i; other++) ASSERT_NE(found[i].values, found[other].values);
      }
    }
  }
}

TEST(Shrink, MoreRoundsNeverMakeItMoreComplex) {
  MemberTrial trial = random_members(6, 40, 15, 9);
  size_t simpler = 0;
  for (size_t r = 0; r < 40; r++) {
    const Row row = row_of(trial, r);
    double before = std::numeric_limits<double>::infinity();
    for (const size_t j : row.nonzero) before = std::min(before, entropy_of(row.values.row(j)));
    for (int64_t rounds = 1; rounds <= 8; rounds++) {
      const auto found = shrink_region(row.view(), {.rounds = rounds, .keep = 5}, norm_floor(row.view(), 0.05), {});
      ASSERT_LE(found.front().entropy, before);
      simpler += rounds > 1 && found.front().entropy < before - 1e-9 ? 1 : 0;
      before = found.front().entropy;
    }
  }
  EXPECT_GT(simpler, 10U);
}

TEST(Shrink, EndsAtOnceWhenCancelled) {
  const std::atomic<bool> cancelled = true;
  Context context;
  context.cancelled = &cancelled;
  MemberTrial trial = random_members(3, 1, 4, 1);
  const Row row = row_of(trial, 0);
  EXPECT_ANY_THROW(shrink_region(row.view(), {}, 0, context));
}

}  // namespace
}  // namespace assay::testing
