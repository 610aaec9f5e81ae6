// From a model's outputs to the explained value: one output, or the paper's information form
// v_x(S) = sum over classes y of P(y | x) ln P(y | x_S), natural logarithm.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/explain/target.h"
#include "assay/model/model.h"

namespace assay {

class ValueFunction {
 public:
  // Runs the model on the rows, but only for the information form.
  ValueFunction(const Model& model, MatrixView<const float> rows, const Targets& targets, const Context& context);

  // values[i] = the explained value of row `row` for outputs.row(i), which may be the outputs of any features. A
  // probability of 0 makes the information form NaN.
  void apply(size_t row, MatrixView<const float> outputs, std::span<float> values) const;
  // values[i] = the value of row begin + i for outputs.row(i).
  void apply_to_rows(size_t begin, MatrixView<const float> outputs, std::span<double> values) const;
  // Nothing for the information form.
  std::optional<OutputTerm> term(size_t row) const;

 private:
  const Targets* targets_;
  OutputUnit unit_;
  Matrix64 probabilities_;  // rows x classes, for the information form
};

}  // namespace assay
