// Why rows are undefined, noted from several threads; and the distance between an explanation and the one made again.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "assay/core/matrix.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/scores.h"

namespace assay {

// Different rows may be set from several threads at once. Reasons are counted in the order of the rows.
class RowReasons {
 public:
  explicit RowReasons(size_t rows) : reasons_(rows) {}

  // Only the first reason of a row is kept. The text must outlive this object.
  void set(size_t row, std::string_view reason) {
    if (reasons_[row].empty()) reasons_[row] = reason;
  }
  bool has(size_t row) const { return !reasons_[row].empty(); }
  // Sets the scores of rows with a reason to NaN, and counts the reasons.
  void store(Scores& scores) const;

 private:
  std::vector<std::string_view> reasons_;
};

// Reasons for the rows whose given explanations are not all numbers.
RowReasons given_reasons(MatrixView<const float> given);

// The distance D between the given explanation of a row and the one made again. If undefined: NaN, and a reason is set.
class Comparison {
 public:
  Comparison(MatrixView<const float> given, const ComparisonOptions& options);

  double operator()(size_t row, std::span<const float> again, RowReasons& reasons) const;

 private:
  ExplanationDistance distance_;
  bool unit_;
  Matrix given_;
};

}  // namespace assay
