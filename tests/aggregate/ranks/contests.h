// Random tournaments, and Kendall's cost of rankings by its definition, for tests of what orders players.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "assay/aggregate/ranks/tournament.h"
#include "assay/core/random.h"
#include "assay/evaluate/common.h"
#include "tests/aggregate/trial.h"

namespace assay::testing {

// By `members` voters who see the order 0, 1, 2, .. through noise; noise = 1 is as far as all places span. Now and then
// a voter ties a pair.
inline Tournament noisy_tournament(size_t size, size_t members, double noise, uint64_t seed, double ties = 0) {
  Tournament made(size);
  std::vector<std::vector<double>> seen(members, std::vector<double>(size));
  for (size_t v = 0; v < members; v++) {
    RandomStream draw(seed, "noisy tournament", v);
    for (size_t i = 0; i < size; i++) {
      seen[v][i] = static_cast<double>(i) / static_cast<double>(size) + noise * draw.normal();
    }
  }
  RandomStream draw(seed, "noisy tournament, ties");
  for (size_t i = 0; i < size; i++) {
    for (size_t j = i + 1; j < size; j++) {
      int64_t margin = 0;
      for (size_t v = 0; v < members; v++) margin += draw.uniform() < ties ? 0 : seen[v][i] < seen[v][j] ? 1 : -1;
      made.set(i, j, margin);
    }
  }
  return made;
}

// What the sentence of the definition says, pair by pair: cost[i][j] is what all members charge for i before j.
inline std::vector<std::vector<double>> pair_costs(MemberTrial& trial, size_t row, bool signed_values = false) {
  const size_t players = trial.members[0].players();
  std::vector<std::vector<double>> cost(players, std::vector<double>(players, 0.0));
  for (const Explanations& member : trial.members) {
    for (size_t i = 0; i < players; i++) {
      for (size_t j = 0; j < players; j++) {
        const float a = signed_values ? member.values(row, i) : std::abs(member.values(row, i));
        const float b = signed_values ? member.values(row, j) : std::abs(member.values(row, j));
        cost[i][j] += a < b ? 1 : a == b ? 0.5 : 0;
      }
    }
  }
  return cost;
}

inline double cost_of_ranks(const std::vector<std::vector<double>>& cost, std::span<const float> ranks) {
  double sum = 0;
  for (size_t i = 0; i < ranks.size(); i++) {
    for (size_t j = 0; j < ranks.size(); j++) sum += ranks[i] < ranks[j] ? cost[i][j] : 0;
  }
  return sum;
}

// The least cost of all d! orders, by trying them.
inline double least_cost(const std::vector<std::vector<double>>& cost, std::vector<bool>& placed, double so_far = 0) {
  double least = std::numeric_limits<double>::infinity();
  for (size_t next = 0; next < cost.size(); next++) {
    if (placed[next]) continue;
    placed[next] = true;
    double with = so_far;
    for (size_t later = 0; later < cost.size(); later++) with += placed[later] ? 0 : cost[next][later];
    least = std::min(least, least_cost(cost, placed, with));
    placed[next] = false;
  }
  return std::isinf(least) ? so_far : least;
}

}  // namespace assay::testing
