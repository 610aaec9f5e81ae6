// Adds up the explanations of a row's antecedents, each times the antecedent's weight, in float64.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/antecedents/antecedents.h"
#include "assay/core/context.h"
#include "assay/core/matrix.h"

namespace assay {

// Explanations of antecedents; places[i] is the row of antecedent i in these matrices. Unknown parts are empty.
struct Valuations {
  std::vector<size_t> places = {};
  MatrixView<const float> values = {};
  MatrixView<const float> error = {};  // standard errors
  std::span<const double> base = {};
  std::span<const double> output = {};
};

// Fills out.antecedents and out.weights (rows x columns), and adds the measure "reach": the distance of the farthest.
void list_antecedents(const Antecedents& antecedents, size_t columns, Combined& out);

// Fills values, base, output and, where `found` has errors, standard_error = sum of weight_z error_z: errors may depend
// on each other, and this is the largest that the error of the sum can be. A row is undefined if it has no antecedent,
// or one whose values are not all numbers: its values stay NaN, and its weights become NaN.
void add_up_antecedents(const Antecedents& antecedents, const Valuations& found, Combined& out, const Context& context);

}  // namespace assay
