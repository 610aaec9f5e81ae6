// Explanations by hand, for tests of reasons.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "assay/explain/explanations.h"

namespace assay::testing {

// Of features a, b, c, ... from the base value 1; nothing in them is drawn, and they have no gap.
inline Explanations made_of(const std::vector<std::vector<float>>& rows, const std::vector<double>& output) {
  Explanations made;
  made.values = Matrix(rows.size(), rows.at(0).size());
  for (size_t r = 0; r < rows.size(); r++) std::ranges::copy(rows[r], made.values.row(r).begin());
  for (size_t j = 0; j < rows[0].size(); j++) made.features.emplace_back(1, static_cast<char>('a' + j));
  made.base.assign(rows.size(), 1);
  made.output = output;
  made.gap.assign(rows.size(), 0);
  made.provenance.method = "kernel_shap";
  made.provenance.reference = "mean of train.csv";
  made.provenance.draw = kNothingDrawn;
  return made;
}

}  // namespace assay::testing
