// Copeland's method: players score by how many others they beat (Copeland 1951).
//
//   score_i = (1 + wins + ties / 2) / d
//
// Player i beats j where more members rank i before j than j before i, by |phi|; a member that ties the two counts half
// for each. So scores are from 1/d to 1; only a player that beats all others has 1. A row whose members are all zero
// ranks nobody: its values are 0.
//
// Cost: d^2 / 2 comparisons for each member. Assumes nothing of the members' scales; only the order within each counts.
// Deviation from the paper: its only aggregate of ranks is Kemeny-Young's. Copeland's is cheap and, like
// Kemeny-Young's, puts a player that beats all others first.
#include <algorithm>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/common.h"
#include "assay/aggregate/ranks/votes.h"

namespace assay {
namespace {

void combine_by_wins(const AggregateTask& task, const RankOptions& options, const Members& members, Combined& out,
                     const Context& context) {
  each_row(members, out, context, "copeland", [&](const MemberRow& row) -> std::string_view {
    const auto values = out.values.row(row.row);
    if (row.nonzero.empty()) {
      std::ranges::fill(values, 0.0F);
      return {};
    }
    const Votes votes(task, row.row, options.signed_values());
    const size_t d = votes.players();
    // Twice 1 + wins + ties / 2: a whole number.
    std::vector<int64_t> points(d, 2);
    for (size_t i = 0; i < d; i++) {
      context.check_cancelled();
      for (size_t j = i + 1; j < d; j++) {
        const int64_t margin = votes.margin(i, j);
        points[i] += margin > 0 ? 2 : margin == 0 ? 1 : 0;
        points[j] += margin < 0 ? 2 : margin == 0 ? 1 : 0;
      }
    }
    if (options.as_ranks()) {
      store_ranks(points, values);
      return {};
    }
    for (size_t p = 0; p < d; p++) {
      values[p] = static_cast<float>(static_cast<double>(points[p]) / (2.0 * static_cast<double>(d)));
    }
    return {};
  });
}

}  // namespace

AggregatorInfo copeland_aggregator() {
  return with_aggregator_options<CombinedBy<combine_by_wins>>(
      {.name = "copeland",
       .title = "Copeland's method: how many others a player beats on most members' ranks",
       .family = "rank",
       .citation = "Copeland (1951)",
       .guarantee = "a player that beats every other is first; an order that all members share is kept",
       .cost = "d^2 / 2 comparisons for each member",
       .without_signs = true});
}

}  // namespace assay
