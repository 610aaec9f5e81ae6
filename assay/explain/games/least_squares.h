// Weighted least squares for one design and many right-hand sides: the coefficients of one explained row are a fixed
// matrix times its values.
//
//   beta = argmin sum_p w_p (y_p - x_p . beta)^2 = Q y,   Q = (X' W X)^-1 X' W.
//
// In float64, by Cholesky's factorisation of X' W X (games/cholesky.h). There is no ridge: a design that does not
// determine all coefficients has no solution here. (For a ridge, add rows sqrt(ridge) e_j of weight 1 and value 0.)
//
// Cost: samples x terms^2 once, on all threads, samples x terms for each right-hand side; memory: twice the design.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"

namespace assay {

// If 1 - leverage of a sample is at most this, the fit goes through the sample, and its residual is only rounding.
inline constexpr double kLeastOwnShare = 1e-9;

inline double squared_norm(std::span<const double> row) {
  double sum = 0;
  for (const double value : row) sum += value * value;
  return sum;
}

struct SharedFit {
  Matrix64 solver;               // Q: terms x samples
  std::vector<double> leverage;  // of each sample, 0 to 1: the diagonal of X Q
};

// Nothing when the regressors (samples x terms) do not determine the coefficients. Weights are not negative.
std::optional<SharedFit> weighted_least_squares(MatrixView<const double> regressors, std::span<const double> weights,
                                                const Context& context);

// coefficients[i] = sum_p solver[i][p] y[p]. Rows of the solver follow each other without a gap.
void multiply(MatrixView<const double> solver, std::span<const double> y, std::span<double> coefficients);
void multiply(const Matrix64& solver, std::span<const double> y, std::span<double> coefficients);

// Corrects residuals for their leverage h: a fit's residuals are smaller than the errors they stand for. Each is
// divided by 1 - h (the "HC3" of MacKinnon and White 1985). Where 1 - h is below 0.2, the fit nearly goes through the
// sample, and its residual says nothing about its error: it is replaced by sqrt(sum of e^2 / sum of (1 - h)) over all
// residuals.
class ResidualScales {
 public:
  ResidualScales() = default;
  explicit ResidualScales(std::span<const double> leverage);
  void restore(std::span<double> residuals) const;

 private:
  std::vector<double> factors_;  // 1 / (1 - h); 0 for those of the common size
  double free_ = 0;              // sum of 1 - h
  bool all_own_ = true;
};

// Samples begin .. end - 1 are one stratum. It adds factor * sum_p (t_p - mean of t)^2 to a variance, or factor * sum_p
// t_p^2 if it is not centred.
struct Stratum {
  size_t begin = 0;
  size_t end = 0;
  double factor = 1;
  bool centred = true;
};

// variances[i] = sum over strata of factor * sum over their p of (t_p - mean)^2, with t_p = solver[i][p] residuals[p];
// the mean is that of the stratum, or 0 where it is not centred.
void stratified_variances(MatrixView<const double> solver, std::span<const double> residuals,
                          std::span<const Stratum> strata, std::span<double> variances);
void stratified_variances(const Matrix64& solver, std::span<const double> residuals, std::span<const Stratum> strata,
                          std::span<double> variances);

}  // namespace assay
