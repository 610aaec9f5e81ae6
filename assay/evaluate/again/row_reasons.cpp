#include "assay/evaluate/again/row_reasons.h"

#include <cmath>

#include "assay/evaluate/again/explain_again.h"

namespace assay {

void RowReasons::store(Scores& scores) const {
  UndefinedCounts counts;
  for (size_t r = 0; r < reasons_.size(); r++) {
    if (reasons_[r].empty()) continue;
    scores.values[r] = NAN;
    if (!scores.standard_error.empty()) scores.standard_error[r] = NAN;
    counts.add(reasons_[r]);
  }
  scores.undefined = counts.take();
}

RowReasons given_reasons(MatrixView<const float> given) {
  RowReasons reasons(given.rows());
  for (size_t r = 0; r < given.rows(); r++) {
    if (!all_finite(given.row(r))) reasons.set(r, kNotFinite);
  }
  return reasons;
}

Comparison::Comparison(MatrixView<const float> given, const ComparisonOptions& options)
    : distance_(explanation_distance(options.distance)),
      unit_(options.normalise == "unit"),
      given_(prepared(given, options)) {}

double Comparison::operator()(size_t row, std::span<const float> again, RowReasons& reasons) const {
  if (!all_finite(again)) {
    reasons.set(row, kAgainNotFinite);
    return NAN;
  }
  std::vector<float> scaled;
  if (unit_) {
    scaled.assign(again.begin(), again.end());
    scale_to_unit_norm(MatrixView<float>(scaled.data(), 1, scaled.size()));
    again = scaled;
  }
  const double found = distance_between(distance_, given_.row(row), again);
  if (std::isnan(found)) reasons.set(row, "one of the two explanations is all 0, which has no direction");
  return found;
}

}  // namespace assay
