// What aggregators share: the loop over rows, means, and the task of scoring a result.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/core/options.h"
#include "assay/evaluate/criterion.h"

namespace assay {

// The option of every aggregator whose members have unit norm and whose values could be scaled back.
struct ScaleOptions {
  std::string scale = "relative";

  void describe(OptionVisitor& visit) {
    visit.choice(
        "scale", scale,
        "values of members of unit norm, which do not add up to the score, or scaled to sum to it less the base",
        {"relative", "output"});
  }
  bool to_output() const { return scale == "output"; }
};

// The options of an aggregator that has no others.
struct ScaleAlone {
  ScaleOptions scale = {};

  void describe(OptionVisitor& visit) { scale.describe(visit); }
};

// One row of all members, in float64.
struct MemberRow {
  size_t row = 0;
  MatrixView<const double> values;       // members x players
  std::span<const size_t> nonzero = {};  // members that are not all zero here
};

// Runs body on every row whose members are all numbers, on all threads; the other rows stay NaN and are counted. The
// body fills its row of out.values (and of the other matrices) and returns an empty text, or the reason why the row is
// undefined: then its values are made NaN. Reasons are literals.
void each_row(const Members& members, Combined& out, const Context& context, std::string_view task,
              const std::function<std::string_view(const MemberRow&)>& body);

// Mean of the rows, in float64.
void mean_of(MatrixView<const double> rows, std::span<double> mean);
double l2_norm(std::span<const double> values);
// For vectors of equal size, added up in order. Inline, because searches spend their time in it.
inline double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (size_t k = 0; k < a.size(); k++) sum += a[k] * b[k];
  return sum;
}
// Rounds to float32.
void store_row(std::span<const double> values, std::span<float> out);
// Fills out.weights (rows x members) with the same weights in every row.
void share_weights(std::span<const double> weights, size_t rows, Combined& out);

// The task of scoring these explanations of the task's rows. pool_explanations may be null.
EvaluateTask evaluate_task(const AggregateTask& task, const Explanations& explanations,
                           PoolExplanations* pool_explanations);

}  // namespace assay
