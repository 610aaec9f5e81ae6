// Scores of single rows that come from several threads, with the reasons of those that are undefined; and the distance
// between an explanation and the one made again.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "assay/core/matrix.h"
#include "assay/evaluate/common.h"
#include "assay/evaluate/scores.h"

namespace assay {

// Different rows may be set from several threads at once; the reasons are counted in the order of the rows.
class RowReasons {
 public:
  explicit RowReasons(size_t rows) : reasons_(rows) {}

  // The first reason of a row stays. It must outlive this.
  void set(size_t row, std::string_view reason) {
    if (reasons_[row].empty()) reasons_[row] = reason;
  }
  bool has(size_t row) const { return !reasons_[row].empty(); }
  // Rows with a reason become NaN, and are counted.
  void store(Scores& scores) const;

 private:
  std::vector<std::string_view> reasons_;
};

// Notes the rows whose given explanations are not all numbers.
RowReasons given_reasons(MatrixView<const float> given);

// D of the given explanation of a row and the one made again; NaN with a reason where there is none.
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
