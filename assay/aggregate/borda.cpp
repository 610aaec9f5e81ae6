// Borda's count: each member gives each player points by its rank, and points are averaged (de Borda 1781).
//
//   score_i = mean over members of (d + 1 - r_i) / d
//
// where r_i is the player's rank with that member, 1 for the largest |phi|, tied players sharing the mean of their
// ranks. So scores are from 1/d to 1. A row whose members are all zero ranks nobody: its values are 0.
//
// Cost: a sort for each member. Assumes nothing of the members' scales; only the order within each counts.
// Deviation from the paper: its only aggregate of ranks is Kemeny-Young's. Borda's is cheap, and its order costs at
// most five times the least Kemeny-Young cost (Coppersmith, Fleischer, Rudra 2010).
#include <algorithm>
#include <numeric>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/common.h"
#include "assay/aggregate/ranks/votes.h"

namespace assay {
namespace {

// Adds 2 (d + 1 - rank) for each player, a whole number also where tied ranks are not.
void add_points(const Votes& votes, size_t member, std::vector<uint32_t>& order, std::vector<int64_t>& points) {
  const auto liking = [&](uint32_t player) { return votes.of(player)[member]; };
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) { return liking(a) > liking(b); });
  const size_t d = order.size();
  for (size_t begin = 0; begin < d;) {
    size_t end = begin + 1;
    while (end < d && liking(order[end]) == liking(order[begin])) end++;
    // Ranks begin + 1 to end have the mean (begin + 1 + end) / 2.
    for (size_t at = begin; at < end; at++) points[order[at]] += static_cast<int64_t>(2 * (d + 1) - (begin + 1 + end));
    begin = end;
  }
}

void combine_by_points(const AggregateTask& task, const RankOptions& options, const Members& members, Combined& out,
                       const Context& context) {
  each_row(members, out, context, "borda", [&](const MemberRow& row) -> std::string_view {
    const auto values = out.values.row(row.row);
    if (row.nonzero.empty()) {
      std::ranges::fill(values, 0.0F);
      return {};
    }
    const Votes votes(task, row.row, options.signed_values());
    std::vector<uint32_t> order(votes.players());
    std::iota(order.begin(), order.end(), 0U);
    std::vector<int64_t> points(votes.players(), 0);
    for (size_t v = 0; v < votes.members(); v++) add_points(votes, v, order, points);
    if (options.as_ranks()) {
      store_ranks(points, values);
      return {};
    }
    const double most = 2.0 * static_cast<double>(votes.members() * votes.players());
    for (size_t p = 0; p < values.size(); p++) values[p] = static_cast<float>(static_cast<double>(points[p]) / most);
    return {};
  });
}

}  // namespace

AggregatorInfo borda_aggregator() {
  return with_aggregator_options<CombinedBy<combine_by_points>>(
      {.name = "borda",
       .title = "Borda's count: the mean of the members' ranks",
       .family = "rank",
       .citation = "de Borda (1781)",
       .guarantee = "an order that all members share is kept",
       .cost = "a sort for each member",
       .without_signs = true});
}

}  // namespace assay
