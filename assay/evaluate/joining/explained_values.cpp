#include "assay/evaluate/joining/explained_values.h"

#include <algorithm>

#include "assay/model/predict_rows.h"

namespace assay {

std::vector<double> explained_values(const Model& model, const Dataset& data, const Targets& targets,
                                     const Context& context) {
  const ValueFunction value(model, data.x.view(), targets, context);
  std::vector<double> values(data.rows());
  predict_rows(
      model, data.x.view(),
      [&](size_t begin, MatrixView<const float> outputs) {
        value.apply_to_rows(begin, outputs, std::span(values).subspan(begin, outputs.rows()));
      },
      context);
  return values;
}

Matrix reference_outputs(const Model& model, const Reference& reference, const Context& context) {
  Matrix outputs(reference.rows.rows(), model.info().outputs());
  predict_rows(
      model, reference.rows.view(),
      [&](size_t begin, MatrixView<const float> part) {
        for (size_t i = 0; i < part.rows(); i++) std::ranges::copy(part.row(i), outputs.row(begin + i).begin());
      },
      context);
  return outputs;
}

double base_value(const ValueFunction& value, size_t row, const Matrix& outputs, std::span<float> scratch) {
  value.apply(row, outputs.view(), scratch);
  double sum = 0;
  for (const float each : scratch) sum += each;
  return sum / static_cast<double>(scratch.size());
}

std::vector<double> base_values(const Model& model, const Dataset& data, const Targets& targets,
                                const Reference& reference, const Context& context) {
  const Matrix outputs = reference_outputs(model, reference, context);
  const ValueFunction value(model, data.x.view(), targets, context);
  std::vector<float> scratch(outputs.rows());
  std::vector<double> bases;
  for (size_t r = 0; r < data.rows(); r++) bases.push_back(base_value(value, r, outputs, scratch));
  return bases;
}

}  // namespace assay
