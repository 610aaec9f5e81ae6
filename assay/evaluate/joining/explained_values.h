// The explained values that the model gives: for rows, and for the reference.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/data/dataset.h"
#include "assay/explain/games/value_function.h"
#include "assay/explain/reference.h"
#include "assay/explain/target.h"
#include "assay/model/model.h"

namespace assay {

// The explained value of each row.
std::vector<double> explained_values(const Model& model, const Dataset& data, const Targets& targets,
                                     const Context& context);

// The model's outputs for each row of the reference.
Matrix reference_outputs(const Model& model, const Reference& reference, const Context& context);

// The mean of the row's explained value over these reference outputs. `scratch` has an element for each reference row.
double base_value(const ValueFunction& value, size_t row, const Matrix& outputs, std::span<float> scratch);

// The base value of each row.
std::vector<double> base_values(const Model& model, const Dataset& data, const Targets& targets,
                                const Reference& reference, const Context& context);

}  // namespace assay
