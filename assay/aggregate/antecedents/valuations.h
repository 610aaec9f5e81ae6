// The sum of what antecedents are explained by, each times its weight, in float64.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/antecedents/antecedents.h"
#include "assay/core/context.h"
#include "assay/core/matrix.h"

namespace assay {

// What antecedents are explained by: row places[i] of each is that of antecedent i. Empty where it is not known.
struct Valuations {
  std::vector<size_t> places = {};
  MatrixView<const float> values = {};
  MatrixView<const float> error = {};  // standard errors
  std::span<const double> base = {};
  std::span<const double> output = {};
};

// Antecedents and weights, in so many columns, and the measure "reach": the distance of the farthest.
void list_antecedents(const Antecedents& antecedents, size_t columns, Combined& out);

// Fills values, base, output and, where there are errors, standard_error: sum weight_z error_z, the most it can be for
// errors that are not independent. A row without antecedents, or with one whose values are not all numbers, is
// undefined: it keeps its NaN, and its weights become NaN.
void add_up_antecedents(const Antecedents& antecedents, const Valuations& found, Combined& out, const Context& context);

}  // namespace assay
