// For draws that all rows share: the sum over rows of each draw's values, and from it the part of the error of a mean
// over rows that comes from the draws. More rows do not lower this part, because all rows share the same draws.
//
// Each sum runs over the rows in order, whatever blocks they come in, so its bits depend only on the rows. Memory: one
// float64 for each draw.
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

  // values: rows x draws; row r has weight weights[r]. Rows of weight 0 are skipped.
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

  size_t rows() const { return total_; }  // rows added so far, without those of weight 0

  // For rows whose scores are means over independent draws: the error of the mean score.
  double error_of_mean() const {
    if (total_ == 0) return 0;
    RunningMoments moments;
    for (const double sum : sums_) moments.add(sum / static_cast<double>(total_));
    return moments.standard_error();
  }
  // For values that are influences of draws on a score, of mean 0, drawn without replacement from a population: the
  // squared error of the mean over `rows` rows.
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
