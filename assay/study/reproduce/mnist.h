// Table 1 of the paper (Bhatt, Weller, Moura 2020): complexity of explanations of MNIST images, and of aggregates meant
// to lower it.
//
// Each run has its own seed. It samples training images, trains the paper's network on them, and explains test images
// that no other run has, by the paper's six methods against a black image. Each pixel is a feature. Members are scaled
// to unit norm. The complexity of each member and aggregate is averaged over the images of a run. "Best" is the member
// of least mean complexity in a run. complexity=positive sets negative attributions of members to 0 first.
//
// Cost: nearly all is Kernel SHAP, which needs thousands of predictions for each image; training comes next.
// Deviation from the paper: it shows one image of one network; these are means over many images and networks.
#pragma once

#include <vector>

#include "assay/core/context.h"
#include "assay/study/reproduce/reproduction.h"

namespace assay {

// Runs all these variants on the same explanations. Adds a note if the images are not found.
void reproduce_mnist(const ReproduceOptions& options, const std::vector<Variant>& variants, Reproduction& out,
                     const Context& context);

}  // namespace assay
