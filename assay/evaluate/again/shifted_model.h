// The model f'(x) = f(x - c) for a constant c.
//
// On rows shifted by c it gives what f gives on the unshifted rows, so explanations should be the same (Kindermans et
// al. 2019). It has derivatives, multipliers, an affine first layer and trees where f has them.
#pragma once

#include <memory>
#include <vector>

#include "assay/model/model.h"

namespace assay {

// `model` must outlive the result; c has one number for each feature.
std::unique_ptr<Model> shifted_model(const Model& model, std::vector<float> c);

}  // namespace assay
