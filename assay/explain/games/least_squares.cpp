#include "assay/explain/games/least_squares.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/explain/games/least_squares.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come before highway.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;

// Four accumulators, because one would wait for the last addition each time.
HWY_INLINE double dot(const double* x, const double* y, size_t count) {
  const Doubles d;
  const size_t lanes = hn::Lanes(d);
  auto sum0 = hn::Zero(d);
  auto sum1 = hn::Zero(d);
  auto sum2 = hn::Zero(d);
  auto sum3 = hn::Zero(d);
  size_t p = 0;
  for (; p + 4 * lanes <= count; p += 4 * lanes) {
    sum0 = hn::MulAdd(hn::LoadU(d, x + p), hn::LoadU(d, y + p), sum0);
    sum1 = hn::MulAdd(hn::LoadU(d, x + p + lanes), hn::LoadU(d, y + p + lanes), sum1);
    sum2 = hn::MulAdd(hn::LoadU(d, x + p + 2 * lanes), hn::LoadU(d, y + p + 2 * lanes), sum2);
    sum3 = hn::MulAdd(hn::LoadU(d, x + p + 3 * lanes), hn::LoadU(d, y + p + 3 * lanes), sum3);
  }
  double total = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
  for (; p < count; p++) total += x[p] * y[p];
  return total;
}

void multiply(const double* solver, size_t terms, size_t samples, const double* y, double* coefficients) {
  for (size_t i = 0; i < terms; i++) coefficients[i] = dot(solver + i * samples, y, samples);
}

HWY_INLINE void moments(const double* x, const double* y, size_t count, double& sum, double& squares) {
  const Doubles d;
  const size_t lanes = hn::Lanes(d);
  auto sum0 = hn::Zero(d);
  auto sum1 = hn::Zero(d);
  auto squares0 = hn::Zero(d);
  auto squares1 = hn::Zero(d);
  size_t p = 0;
  for (; p + 2 * lanes <= count; p += 2 * lanes) {
    const auto t0 = hn::Mul(hn::LoadU(d, x + p), hn::LoadU(d, y + p));
    const auto t1 = hn::Mul(hn::LoadU(d, x + p + lanes), hn::LoadU(d, y + p + lanes));
    sum0 = hn::Add(sum0, t0);
    sum1 = hn::Add(sum1, t1);
    squares0 = hn::MulAdd(t0, t0, squares0);
    squares1 = hn::MulAdd(t1, t1, squares1);
  }
  sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
  squares = hn::GetLane(hn::SumOfLanes(d, hn::Add(squares0, squares1)));
  for (; p < count; p++) {
    const double t = x[p] * y[p];
    sum += t;
    squares += t * t;
  }
}

void stratified_variances(const double* solver, size_t terms, size_t samples, const double* residuals,
                          const Stratum* strata, size_t stratum_count, double* variances) {
  for (size_t i = 0; i < terms; i++) {
    double variance = 0;
    for (size_t k = 0; k < stratum_count; k++) {
      const Stratum& stratum = strata[k];
      const size_t count = stratum.end - stratum.begin;
      double sum = 0;
      double squares = 0;
      moments(solver + i * samples + stratum.begin, residuals + stratum.begin, count, sum, squares);
      if (stratum.centred) squares -= sum * sum / static_cast<double>(count);
      // Rounding may leave less than nothing; NaN stays NaN.
      if (squares < 0) squares = 0;
      variance += stratum.factor * squares;
    }
    variances[i] = variance;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace assay
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <Eigen/Core>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "assay/core/parallel.h"
#include "assay/explain/games/cholesky.h"

namespace assay {
namespace {

HWY_EXPORT(multiply);
HWY_EXPORT(stratified_variances);

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// A pivot this small beside the largest is rounding, not information: designs of coalitions hold 0, 1 and small
// fractions, and their weights are within a factor of the number of players.
constexpr double kSmallestPivot = 1e-11;
// Rows of X' W X that are found together.
constexpr size_t kPanel = 64;
// Samples that are added up between two looks at whether to stop.
constexpr Eigen::Index kSamplesPerCheck = 2048;
constexpr size_t kSamplesPerBlock = 256;
// Of a residual's variance the share 1 - leverage is its own. Where it is less than this the residual says too little.
constexpr double kOwnShare = 0.2;

// The lower half of X' W X.
RowMajor weighted_squares(const Eigen::Map<const RowMajor>& x, const Eigen::Map<const Eigen::VectorXd>& w,
                          const Context& context) {
  RowMajor squares = RowMajor::Zero(x.cols(), x.cols());
  parallel_blocks(context, static_cast<size_t>(x.cols()), kPanel, [&](const Block& block) {
    const auto begin = static_cast<Eigen::Index>(block.begin);
    const auto end = static_cast<Eigen::Index>(block.end);
    for (Eigen::Index from = 0; from < x.rows(); from += kSamplesPerCheck) {
      context.check_cancelled();
      const Eigen::Index count = std::min(kSamplesPerCheck, x.rows() - from);
      const RowMajor left = x.block(from, begin, count, end - begin).transpose() * w.segment(from, count).asDiagonal();
      squares.block(begin, 0, end - begin, end).noalias() += left * x.block(from, 0, count, end);
    }
  });
  return squares;
}

// Whether Cholesky's L, in the lower half of the first rows, has no pivot that is no more than rounding.
bool determines_all(MatrixView<const double> factor) {
  double largest = 0;
  double smallest = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < factor.cols(); i++) {
    const double pivot = factor(i, i) * factor(i, i);
    largest = std::max(largest, pivot);
    smallest = std::min(smallest, pivot);
  }
  return smallest > kSmallestPivot * largest;
}

}  // namespace

std::optional<SharedFit> weighted_least_squares(MatrixView<const double> regressors, std::span<const double> weights,
                                                const Context& context) {
  assert(regressors.stride() == regressors.cols() && weights.size() == regressors.rows());
  const auto samples = static_cast<Eigen::Index>(regressors.rows());
  const auto terms = static_cast<Eigen::Index>(regressors.cols());
  if (samples < terms) return {};
  const Eigen::Map<const RowMajor> x(regressors.data(), samples, terms);
  const Eigen::Map<const Eigen::VectorXd> w(weights.data(), samples);

  // X' W X, and below it the samples as W X: divided by it they are the solver's columns.
  Matrix64 system(regressors.cols() + regressors.rows(), regressors.cols());
  Eigen::Map<RowMajor>(system.data(), terms, terms) = weighted_squares(x, w, context);
  Eigen::Map<RowMajor>(system.row(regressors.cols()).data(), samples, terms) = w.asDiagonal() * x;
  if (!factorise(system.view(), context) || !determines_all(system.view())) return {};
  divide(system.view(), context);
  std::optional<SharedFit> fit(std::in_place);
  fit->solver = Matrix64(regressors.cols(), regressors.rows());
  fit->leverage.resize(regressors.rows());
  parallel_blocks(context, regressors.rows(), kSamplesPerBlock, [&](const Block& block) {
    for (size_t p = block.begin; p < block.end; p++) {
      const auto column = system.row(regressors.cols() + p);
      double leverage = 0;
      for (size_t i = 0; i < column.size(); i++) {
        fit->solver(i, p) = column[i];
        leverage += column[i] * regressors(p, i);
      }
      fit->leverage[p] = leverage;
    }
  });
  return fit;
}

void multiply(MatrixView<const double> solver, std::span<const double> y, std::span<double> coefficients) {
  assert(solver.stride() == solver.cols() && y.size() == solver.cols() && coefficients.size() == solver.rows());
  HWY_DYNAMIC_DISPATCH(multiply)(solver.data(), solver.rows(), solver.cols(), y.data(), coefficients.data());
}

void multiply(const Matrix64& solver, std::span<const double> y, std::span<double> coefficients) {
  multiply(solver.view(), y, coefficients);
}

ResidualScales::ResidualScales(std::span<const double> leverage) {
  factors_.reserve(leverage.size());
  for (const double each : leverage) {
    const double own = 1 - each;
    factors_.push_back(own < kOwnShare ? 0 : 1 / own);
    free_ += own;
    all_own_ = all_own_ && own >= kOwnShare;
  }
}

void ResidualScales::restore(std::span<double> residuals) const {
  assert(factors_.size() == residuals.size());
  if (all_own_) {
    for (size_t p = 0; p < residuals.size(); p++) residuals[p] *= factors_[p];
    return;
  }
  double squares = 0;
  for (const double residual : residuals) squares += residual * residual;
  const double common = std::sqrt(squares / free_);
  for (size_t p = 0; p < residuals.size(); p++) {
    residuals[p] = factors_[p] == 0 ? std::copysign(common, residuals[p]) : residuals[p] * factors_[p];
  }
}

void stratified_variances(MatrixView<const double> solver, std::span<const double> residuals,
                          std::span<const Stratum> strata, std::span<double> variances) {
  assert(solver.stride() == solver.cols() && residuals.size() == solver.cols() && variances.size() == solver.rows());
  HWY_DYNAMIC_DISPATCH(stratified_variances)
  (solver.data(), solver.rows(), solver.cols(), residuals.data(), strata.data(), strata.size(), variances.data());
}

void stratified_variances(const Matrix64& solver, std::span<const double> residuals, std::span<const Stratum> strata,
                          std::span<double> variances) {
  stratified_variances(solver.view(), residuals, strata, variances);
}

}  // namespace assay
#endif
