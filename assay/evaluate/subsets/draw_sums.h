// What each draw that all rows share adds up to over the rows: from it the error of a mean over rows that comes from
// the draws alone. However many rows there are, they are wrong together where their draws are.
//
// Each sum goes over the rows in order, whatever blocks they come in, so its bits depend on the rows alone. One float64
// is kept for each draw.
#pragma once

#include <cassert>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/core/parallel.h"
#include "assay/core/statistics.h"

namespace assay {

class DrawSums {
 public:
  explicit DrawSums(size_t draws) : sums_(draws, 0) {}

  // values: a row for each weight, a number for each draw. Rows of weight 0 are not looked at.
  void add(MatrixView<const double> values, std::span<const double> weights, const Context& context) {
    assert(values.cols() == sums_.size() && weights.size() <= values.rows());
    const Context inner = context.quiet();
    parallel_blocks(inner, sums_.size(), 4096, [&](const Block& block) {
      for (size_t r = 0; r < weights.size(); r++) {
        if (weights[r] == 0) continue;
        const double* row = values.row(r).data();
        for (size_t d = block.begin; d < block.end; d++) sums_[d] += weights[r] * row[d];
      }
    });
    for (const double weight : weights) total_ += weight == 0 ? 0 : 1;
  }

  size_t rows() const { return total_; }  // of a weight other than 0

  // The rows' values are means over the draws, which are independent: the error of their mean over rows.
  double error_of_mean() const {
    if (total_ == 0) return 0;
    RunningMoments moments;
    for (const double sum : sums_) moments.add(sum / static_cast<double>(total_));
    return moments.standard_error();
  }
  // What was added are influences, of mean 0, of draws without replacement out of a population: the squared error of
  // the mean over `rows` rows.
  double squared_error_of_influences(double population, size_t rows) const {
    const auto n = static_cast<double>(sums_.size());
    if (rows == 0 || n >= population) return 0;
    double squares = 0;
    for (const double sum : sums_) squares += sum * sum;
    return (1 - n / population) * squares / n / (n - 1) / static_cast<double>(rows) / static_cast<double>(rows);
  }

 private:
  std::vector<double> sums_;
  size_t total_ = 0;
};

}  // namespace assay
