#include "assay/aggregate/centroids/positive_solve.h"

#include <cmath>
#include <cstddef>

namespace assay {
namespace {

// Of the diagonal before elimination: what is left below this is rounding.
constexpr double kPivotRounding = 1e-15;

}  // namespace

void solve_positive(MatrixView<double> a, std::span<double> b) {
  const size_t n = a.rows();
  for (size_t j = 0; j < n; j++) {
    double pivot = a(j, j);
    for (size_t k = 0; k < j; k++) pivot -= a(j, k) * a(j, k);
    // 0 on the diagonal of the factor marks a direction that is left out.
    a(j, j) = pivot > kPivotRounding * a(j, j) ? std::sqrt(pivot) : 0;
    for (size_t i = j + 1; i < n; i++) {
      double rest = a(i, j);
      for (size_t k = 0; k < j; k++) rest -= a(i, k) * a(j, k);
      a(i, j) = a(j, j) > 0 ? rest / a(j, j) : 0;
    }
  }
  for (size_t j = 0; j < n; j++) {
    for (size_t k = 0; k < j; k++) b[j] -= a(j, k) * b[k];
    b[j] = a(j, j) > 0 ? b[j] / a(j, j) : 0;
  }
  for (size_t j = n; j-- > 0;) {
    for (size_t k = j + 1; k < n; k++) b[j] -= a(k, j) * b[k];
    b[j] = a(j, j) > 0 ? b[j] / a(j, j) : 0;
  }
}

}  // namespace assay
