#include "assay/aggregate/gradient_descent_style.h"

#include "assay/aggregate/complexity/store.h"
#include "assay/aggregate/complexity/walk.h"

namespace assay {

void GradientDescentStyle::combine(const AggregateTask& /*task*/, const Members& members, Combined& out,
                                   const Context& context) const {
  each_simplest_row(members, out, context, "walking to simpler explanations", [&](const MemberRow& row) {
    MeanWalks walks(row, norm_floor(row, options_.floor.floor), options_.walk, context);
    for (const size_t j : row.nonzero) walks.both_ways(row.values.row(j));
    return store_simplest(row, walks.simplest().values, out.values.row(row.row));
  });
}

AggregatorInfo gradient_descent_style_aggregator() {
  return with_aggregator_options<GradientDescentStyle>(
      {.name = "gradient_descent_style",
       .title = "Walks between the members and their mean, coordinate by coordinate, while entropy falls",
       .family = "complexity",
       .citation = "Bhatt, Weller, Moura (2020)",
       .guarantee = "no more complex than any member of unit norm that is not zero, in float32, before scaling",
       .cost = "2m walks of a few passes over the players"});
}

}  // namespace assay
