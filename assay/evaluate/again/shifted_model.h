// A model whose inputs are shifted by a constant that it takes back itself: f'(x) = f(x - c).
//
// The same function of the data as f is of the data before the shift, so that an explanation should not tell the two
// apart (Kindermans et al. 2019). It has derivatives, multipliers, an affine first layer and trees where f has them.
#pragma once

#include <memory>
#include <vector>

#include "assay/model/model.h"

namespace assay {

// `model` must outlive the result; c has one number for each feature.
std::unique_ptr<Model> shifted_model(const Model& model, std::vector<float> c);

}  // namespace assay
