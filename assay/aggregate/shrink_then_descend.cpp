#include "assay/aggregate/shrink_then_descend.h"

#include "assay/aggregate/complexity/shrink.h"
#include "assay/aggregate/complexity/store.h"
#include "assay/aggregate/complexity/walk.h"

namespace assay {

void ShrinkThenDescend::combine(const AggregateTask& /*task*/, const Members& members, Combined& out,
                                const Context& context) const {
  each_simplest_row(members, out, context, "shrinking regions and walking", [&](const MemberRow& row) {
    const double floor = norm_floor(row, options_.floor.floor);
    MeanWalks walks(row, floor, options_.walk, context);
    for (const ShrunkPoint& point : shrink_region(row, options_.shrink, floor, context)) walks.both_ways(point.values);
    return store_simplest(row, walks.simplest().values, out.values.row(row.row));
  });
}

AggregatorInfo shrink_then_descend_aggregator() {
  return with_aggregator_options<ShrinkThenDescend>(
      {.name = "shrink_then_descend",
       .title = "Region shrinking, then walks between its points and the mean of the members",
       .family = "complexity",
       .citation = "Bhatt, Weller, Moura (2020)",
       .guarantee = "no more complex than any member of unit norm that is not zero, in float32, before scaling",
       .cost = "that of region shrinking and 2 keep walks"});
}

}  // namespace assay
