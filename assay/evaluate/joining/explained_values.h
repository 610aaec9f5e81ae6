// The model's own values of what is explained: of the rows, and of what stands for absent features.
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

// What the model gives for each row of the reference.
Matrix reference_outputs(const Model& model, const Reference& reference, const Context& context);

// The mean of the row's explained value over those; `scratch` has an element for each.
double base_value(const ValueFunction& value, size_t row, const Matrix& outputs, std::span<float> scratch);

// That of each row.
std::vector<double> base_values(const Model& model, const Dataset& data, const Targets& targets,
                                const Reference& reference, const Context& context);

}  // namespace assay
