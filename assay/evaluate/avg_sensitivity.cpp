// Average sensitivity (Bhatt, Weller, Moura 2020, Definition 2 with uniform P): how far the explanation of a row is, on
// average, from those of its neighbours,
//   mu_A(x) = 1 / |N_r(x)| * sum over z in N_r(x) of D(g(x), g(z)),
//   N_r(x) = rows z of the pool with 0 < rho(x, z) <= r and the same predicted class.
// weighting=inverse_distance is the form of the paper's appendix, the mean of D / rho.
//
// Explanations are compared at unit norm, ||g|| = 1, unless normalise=raw: D is then between 0 and 2, and explanations
// of different size can be compared.
//
// Undefined where N_r(x) is empty, or where all attributions are 0, which have no direction; the share of rows with a
// neighbourhood is the coverage. Distances D and rho and the sum are in float64; the order of the sum depends only on
// the pool. Cost: a prediction of each row and of each row of the pool; an explanation of every row of the pool that is
// a neighbour; then a few ns for each pair of rows. Deviation from the paper: its definition compares raw values
// (normalise=raw). An average of unit vectors is shorter than they are, so by raw values every aggregate looks more
// stable than its members. rho is measured in columns scaled on the pool unless space=raw, and the radius is found from
// the data unless it is given; rows at distance 0, x itself among them, are no neighbours. The paper says its tables
// use D / rho, but the sizes of its numbers suggest D, which is the default here.
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/neighbourhoods/sensitivity.h"

namespace assay {

CriterionInfo avg_sensitivity_criterion() {
  return with_criterion_options<NeighbourSensitivity<Fold::mean>>(
      {.name = "avg_sensitivity",
       .title = "Mean change of the explanation among neighbours of the row's class",
       .family = "sensitivity",
       .citation = "Bhatt, Weller, Moura (2020)",
       .cost = "one, and one for each row of the pool; explanations of neighbours",
       .direction = Direction::lower,
       .range = "0 or more",
       .needs = {.model = true, .pool = true, .pool_explanations = true},
       .reads_signs = true,
       .role = CriterionRole::stability,
       .of_paper = true,
       .scale_dependent = &distance_has_scale});
}

}  // namespace assay
