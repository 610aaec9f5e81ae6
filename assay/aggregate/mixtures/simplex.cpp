#include "assay/aggregate/mixtures/simplex.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

constexpr double kGrid = 16777216;  // 2^24
// Pivots and reduced costs this small, beside entries of size 1, are rounding.
constexpr double kTiny = 1e-13;
// Keeps the active set's systems regular where the quadratic is flat.
constexpr double kFaceRidge = 1e-12;

// Solves the square system in place by elimination with partial pivoting; false when it is singular.
bool solve_in_place(Matrix64& a, std::vector<double>& b) {
  const size_t n = b.size();
  for (size_t c = 0; c < n; c++) {
    size_t best = c;
    for (size_t r = c + 1; r < n; r++) best = std::abs(a(r, c)) > std::abs(a(best, c)) ? r : best;
    if (!(std::abs(a(best, c)) > 0)) return false;
    if (best != c) {
      std::ranges::swap_ranges(a.row(c), a.row(best));
      std::swap(b[c], b[best]);
    }
    for (size_t r = c + 1; r < n; r++) {
      const double factor = a(r, c) / a(c, c);
      if (factor == 0) continue;
      for (size_t k = c; k < n; k++) a(r, k) -= factor * a(c, k);
      b[r] -= factor * b[c];
    }
  }
  for (size_t r = n; r-- > 0;) {
    for (size_t k = r + 1; k < n; k++) b[r] -= a(r, k) * b[k];
    b[r] /= a(r, r);
  }
  return std::ranges::all_of(b, [](double v) { return std::isfinite(v); });
}

// The quadratic's minimum on the affine hull of the free weights; the others are 0.
bool face_minimum(std::span<const double> linear, MatrixView<const double> hessian, std::span<const size_t> free,
                  std::vector<double>& found) {
  const size_t n = free.size();
  double trace = 0;
  for (size_t j = 0; j < linear.size(); j++) trace += hessian(j, j);
  Matrix64 a(n + 1, n + 1);
  std::vector<double> b(n + 1, 1.0);
  for (size_t i = 0; i < n; i++) {
    const std::span<double> row = a.row(i);
    for (size_t k = 0; k < n; k++) row[k] = hessian(free[i], free[k]);
    row[i] += kFaceRidge * (trace > 0 ? trace : 1.0);
    row[n] = 1;
    a.row(n)[i] = 1;
    b[i] = -linear[free[i]];
  }
  if (!solve_in_place(a, b)) return false;
  found.assign(linear.size(), 0.0);
  for (size_t i = 0; i < n; i++) found[free[i]] = b[i];
  return true;
}

}  // namespace

std::vector<double> representable_weights(std::span<const double> weights) {
  std::vector<double> made(weights.size());
  double total = 0;
  size_t largest = 0;
  for (size_t j = 0; j < weights.size(); j++) {
    made[j] = std::round(std::clamp(weights[j], 0.0, 1.0) * kGrid);
    total += made[j];
    if (made[j] > made[largest]) largest = j;
  }
  // Whole numbers below 2^53: exact.
  made[largest] += kGrid - total;
  for (double& each : made) each /= kGrid;
  return made;
}

std::vector<double> vertex_weights(size_t members, size_t j) {
  std::vector<double> made(members, 0.0);
  made[j] = 1;
  return made;
}

MatrixGame solve_matrix_game(MatrixView<const double> rows) {
  const size_t m = rows.cols();
  const size_t n = rows.rows();
  double least = rows(0, 0);
  double most = rows(0, 0);
  for (size_t k = 0; k < n; k++) {
    for (const double value : rows.row(k)) {
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  // With B = 1 + (most - A) / range, from 1 to 2, the mix that makes the largest entry of y' B least is the linear
  // programme max sum y, sum over k of y_k B_kj <= 1, y >= 0, which starts at y = 0.
  const double range = most > least ? most - least : 1.0;
  Matrix64 table(m + 1, n + m + 1);
  for (size_t j = 0; j < m; j++) {
    const std::span<double> row = table.row(j);
    for (size_t k = 0; k < n; k++) row[k] = 1 + (most - rows(k, j)) / range;
    row[n + j] = 1;
    row[n + m] = 1;
  }
  for (size_t k = 0; k < n; k++) table(m, k) = -1;
  std::vector<size_t> basis(m);
  for (size_t j = 0; j < m; j++) basis[j] = n + j;
  // Bland's rule ends by itself; the limit is for rounding that makes it turn in circles.
  for (size_t step = 0; step < 50 * (n + m); step++) {
    size_t enter = 0;
    while (enter < n + m && !(table(m, enter) < -kTiny)) enter++;
    if (enter == n + m) break;
    size_t leave = m;
    for (size_t j = 0; j < m; j++) {
      if (!(table(j, enter) > kTiny)) continue;
      if (leave == m) {
        leave = j;
        continue;
      }
      const double here = table(j, n + m) * table(leave, enter);
      const double there = table(leave, n + m) * table(j, enter);
      if (here < there || (here == there && basis[j] < basis[leave])) leave = j;
    }
    if (leave == m) break;
    const double pivot = table(leave, enter);
    for (double& each : table.row(leave)) each /= pivot;
    for (size_t r = 0; r <= m; r++) {
      const double factor = table(r, enter);
      if (r == leave || factor == 0) continue;
      for (size_t c = 0; c < n + m + 1; c++) table(r, c) -= factor * table(leave, c);
    }
    basis[leave] = enter;
  }
  MatrixGame made{std::vector<double>(m, 0.0), std::vector<double>(n, 0.0), 0};
  double mix_total = 0;
  double weight_total = 0;
  for (size_t j = 0; j < m; j++) {
    if (basis[j] < n) mix_total += made.mix[basis[j]] = std::max(0.0, table(j, n + m));
    weight_total += made.weights[j] = std::max(0.0, table(m, n + j));
  }
  if (!(mix_total > 0)) mix_total = made.mix[0] = 1;
  for (double& each : made.mix) each /= mix_total;
  for (double& each : made.weights) {
    each = weight_total > 0 ? each / weight_total : 1 / static_cast<double>(m);
  }
  for (size_t j = 0; j < m; j++) {
    double value = 0;
    for (size_t k = 0; k < n; k++) value += made.mix[k] * rows(k, j);
    made.bound = j == 0 ? value : std::min(made.bound, value);
  }
  return made;
}

std::vector<double> minimise_on_simplex(std::span<const double> at, std::span<const double> gradient,
                                        MatrixView<const double> hessian) {
  const size_t m = at.size();
  // In v itself: linear . v + v' H v / 2.
  std::vector<double> linear(gradient.begin(), gradient.end());
  double size = 0;
  for (size_t j = 0; j < m; j++) {
    for (size_t k = 0; k < m; k++) linear[j] -= hessian(j, k) * at[k];
    size = std::max({size, std::abs(gradient[j]), std::abs(linear[j])});
  }
  std::vector<double> v(at.begin(), at.end());
  std::vector<size_t> free;
  for (size_t j = 0; j < m; j++) {
    if (v[j] > 0) free.push_back(j);
  }
  std::vector<double> wanted;
  std::vector<double> slope(m);
  for (size_t step = 0; step < 20 * m + 20; step++) {
    if (!face_minimum(linear, hessian, free, wanted)) return v;
    // As far as the first weight that would be negative.
    double share = 1;
    size_t blocking = m;
    for (const size_t j : free) {
      if (wanted[j] >= 0) continue;
      const double reach = v[j] / (v[j] - wanted[j]);
      if (reach < share || blocking == m) {
        share = std::min(share, reach);
        blocking = j;
      }
    }
    for (const size_t j : free) v[j] = std::max(0.0, v[j] + share * (wanted[j] - v[j]));
    if (blocking != m) {
      v[blocking] = 0;
      if (free.size() == 1) return v;
      std::erase(free, blocking);
      continue;
    }
    double level = 0;
    for (size_t j = 0; j < m; j++) {
      slope[j] = linear[j];
      for (size_t k = 0; k < m; k++) slope[j] += hessian(j, k) * v[k];
    }
    for (const size_t j : free) level += slope[j] / static_cast<double>(free.size());
    size_t enter = m;
    for (size_t j = 0; j < m; j++) {
      if (std::ranges::find(free, j) != free.end() || !(slope[j] < level - 1e-12 * size)) continue;
      if (enter == m || slope[j] < slope[enter]) enter = j;
    }
    if (enter == m) break;
    free.push_back(enter);
  }
  double total = 0;
  for (const double each : v) total += each;
  for (double& each : v) each /= total;
  return v;
}

}  // namespace assay
