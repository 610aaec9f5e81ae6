// Integrated gradients of a network with one hidden layer of (leaky) ReLUs, in closed form.
//
// Along the straight path from r to x every z_j = sum over i of W_ij x_i + b_j is linear in the position. So the mean
// slope of leaky(z_j) over the path is m_j = (leaky(z_j(x)) - leaky(z_j(r))) / (z_j(x) - z_j(r)), or its slope there if
// both are equal. With output = bias + sum over j of v_j leaky(z_j), the path integral is
//   phi_i = (x_i - r_i) sum over j of W_ij v_j m_j,
// without quadrature error. For such networks this is also DeepLift's Rescale rule (Ancona et al. 2018).
// Cost: two products with the first layer for each row and reference row.
#pragma once

#include "assay/core/context.h"
#include "assay/explain/explainer.h"
#include "assay/model/model.h"

namespace assay {

// Fills values, evaluations and, with a background, background_error. The entry must have a leaky tail.
void integrate_leaky_paths(const AffineEntry& entry, const ExplainTask& task, Attributions& out,
                           const Context& context);

}  // namespace assay
