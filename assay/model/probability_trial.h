// Whether a graph that claims to give probabilities does so, seen on a few rows.
#pragma once

#include <string>
#include <vector>

#include "assay/core/context.h"
#include "assay/model/graph/row_runner.h"

namespace assay {

// True as well where it cannot be tried: inputs that are not float32, or a graph that takes too long.
bool gives_probabilities(const std::string& name, const RowRunner& predict, const std::vector<RowInput>& inputs,
                         size_t features, const Context& context);

}  // namespace assay
