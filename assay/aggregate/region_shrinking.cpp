#include "assay/aggregate/region_shrinking.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "assay/aggregate/complexity/shrink.h"
#include "assay/aggregate/complexity/store.h"

namespace assay {

void RegionShrinking::combine(const AggregateTask& /*task*/, const Members& members, Combined& out,
                              const Context& context) const {
  out.weights = Matrix(members.rows(), members.size());
  for (size_t r = 0; r < members.rows(); r++) {
    if (!members.finite(r)) std::ranges::fill(out.weights.row(r), std::numeric_limits<float>::quiet_NaN());
  }
  each_simplest_row(members, out, context, "shrinking regions", [&](const MemberRow& row) {
    const double floor = norm_floor(row, options_.floor.floor);
    const std::vector<ShrunkPoint> found = shrink_region(row, options_.shrink, floor, context);
    const StoredSimplest stored = store_simplest(row, found.front().values, out.values.row(row.row));
    const auto weights = out.weights.row(row.row);
    store_row(found.front().weights, weights);
    if (stored.member) {
      std::ranges::fill(weights, 0.0F);
      weights[*stored.member] = 1;
    }
    return stored;
  });
}

AggregatorInfo region_shrinking_aggregator() {
  return with_aggregator_options<RegionShrinking>(
      {.name = "region_shrinking",
       .title = "Simplest points of the segments between members, again and again, in their convex hull",
       .family = "complexity",
       .citation = "Bhatt, Weller, Moura (2020)",
       .guarantee = "no more complex than any member of unit norm that is not zero, in float32, before scaling",
       .cost = "keep^2 / 2 segments a round"});
}

}  // namespace assay
