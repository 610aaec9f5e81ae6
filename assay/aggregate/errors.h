// Standard errors of weighted sums of sampled members.
//
// With u = g / ||g|| the member of unit norm and s its standard errors, to first order
//   du_p = (dg_p - u_p sum over q of u_q dg_q) / ||g||,
// so for errors that are independent between players, and for fixed weights, a member has
//   var_p = ((1 - u_p^2)^2 s_p^2 + u_p^2 sum over q != p of u_q^2 s_q^2) / ||g||^2.
// Sampling is independent between members: the variance of the sum is the sum over j of w_j^2 var_jp. A background is
// not: all members were explained against the same rows, and its draw moves them together. Then the error is at most
// the sum over j of |w_j| sqrt(var_jp), and that is taken. Errors of one member's players are not quite independent
// (complete methods share out one sum), and weights that were chosen by looking at the members have errors of their
// own; both are left out.
#pragma once

#include "assay/aggregate/aggregator.h"
#include "assay/core/matrix.h"

namespace assay {

// Whether any member has standard errors, of sampling or of a background.
bool has_sampled_members(const AggregateTask& task);

// Rows x players, for weights of members of unit norm; a member that is zero has no error. Empty if no member has such
// errors.
struct WeightedErrors {
  Matrix sampling;
  Matrix background;
};
WeightedErrors weighted_errors(const AggregateTask& task, const Members& members, const Matrix& weights);

}  // namespace assay
