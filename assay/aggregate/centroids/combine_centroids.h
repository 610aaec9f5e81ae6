// The loop over rows that all centroids share: values, weights where there are some, and the measures "loss" and
// "bound" of each row.
#pragma once

#include <functional>
#include <string>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/centroids/centroid_of.h"
#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/core/options.h"

namespace assay {

// D between a centroid and the members, and the power that it is raised to.
struct CentroidLoss {
  std::string distance = "l2";
  double p = 2;

  void describe(OptionVisitor& visit) {
    visit.choice("distance", distance, "D, between the centroid and a member", {"l2", "l1"});
    visit.real("p", p, "power of D that is summed over the members", "", 1, 100);
  }
};

// A note counts the rows whose loss is not certified to within a relative 1e-9 of the smallest. A row without a result
// has NaN as weights and measures.
void combine_centroids(const CentroidLoss& loss, const Members& members, Combined& out, const Context& context);

}  // namespace assay
