#include "assay/explain/trees/leaf_tables.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

#include "assay/explain/paths/quadrature.h"

namespace assay {
namespace {

constexpr size_t kMostPlayers = 16;

// gain[a][b] = (a - 1)! b! / (a + b)! for a >= 1, the integral of t^(a-1) (1-t)^b; loss[a][b] = gain[b][a].
struct Weights {
  std::array<std::array<double, kMostPlayers + 1>, kMostPlayers + 1> gain = {};
  std::array<std::array<double, kMostPlayers + 1>, kMostPlayers + 1> loss = {};

  Weights() {
    for (size_t a = 1; a <= kMostPlayers; a++) {
      // gain[a][0] = 1 / a; gain[a][b] = gain[a][b - 1] * b / (a + b)
      double value = 1 / static_cast<double>(a);
      for (size_t b = 0; b <= kMostPlayers; b++) {
        if (b > 0) value *= static_cast<double>(b) / static_cast<double>(a + b);
        gain[a][b] = value;
        loss[b][a] = value;
      }
    }
  }
};

const Weights& weights() {
  static const Weights made;
  return made;
}

const Quadrature& exact_rule(size_t k) {
  static const std::vector<Quadrature> rules = [] {
    std::vector<Quadrature> made;
    for (size_t n = 0; n <= kMostPlayers; n++) {
      made.push_back(quadrature(QuadratureRule::gauss_legendre, std::max<size_t>((n + 1) / 2, 1)));
    }
    return made;
  }();
  return rules[k];
}

}  // namespace

void interventional_leaf_table(size_t k, std::span<const double> counts, double weight, LeafTableScratch& scratch,
                               std::span<double> values) {
  assert(k <= kMostPlayers && counts.size() == size_t{1} << k && values.size() == counts.size() * k);
  const size_t patterns = size_t{1} << k;
  const size_t width = k + 1;
  // A row of pattern q meets the reference rows whose pattern has all of N = ~q; of them A = ~u. So of each set N:
  // above[N][a] = rows of the patterns u with N in u and k - a players, by sums over supersets. Whole numbers, so
  // exact.
  scratch.sums.assign(patterns * (width + 3), 0.0);
  double* const above = scratch.sums.data();
  for (size_t u = 0; u < patterns; u++) above[u * width + k - static_cast<size_t>(std::popcount(u))] = counts[u];
  for (size_t bit = 1; bit < patterns; bit *= 2) {
    for (size_t n = 0; n < patterns; n++) {
      if ((n & bit) != 0) continue;
      double* to = above + n * width;
      const double* from = above + (n | bit) * width;
      for (size_t a = 0; a < width; a++) to[a] += from[a];
    }
  }
  // A player j outside N is in A against those of u without j: those above N less those above N and j.
  double* const gains = above + patterns * width;  // of N: of all u above N
  double* const less = gains + patterns;           // of N + j: of all u above it, as part of the gain for N
  double* const losses = less + patterns;
  const Weights& table = weights();
  for (size_t n = 0; n < patterns; n++) {
    const auto b = static_cast<size_t>(std::popcount(n));
    const double* rows_above = above + n * width;
    double gain = 0;
    double part = 0;
    double loss = 0;
    for (size_t a = 0; a + b <= k; a++) {
      gain += rows_above[a] * table.gain[a][b];
      if (b == 0) continue;
      part += rows_above[a] * table.gain[a][b - 1];
      loss += rows_above[a] * table.loss[a][b];
    }
    gains[n] = weight * gain;
    less[n] = weight * part;
    losses[n] = weight * loss;
  }
  for (size_t q = 0; q < patterns; q++) {
    const size_t n = patterns - 1 - q;
    double* to = values.data() + q * k;
    for (size_t j = 0; j < k; j++) {
      const size_t bit = size_t{1} << j;
      to[j] = (n & bit) != 0 ? -losses[n] : gains[n] - less[n | bit];
    }
  }
}

void interventional_leaf_row(size_t k, std::span<const uint16_t> patterns, std::span<const double> counts,
                             double weight, uint32_t q, std::span<double> values) {
  assert(k <= kMostPlayers && values.size() == k && patterns.size() == counts.size());
  const uint32_t n = ~q & ((1U << k) - 1);
  const auto b = static_cast<size_t>(std::popcount(n));
  // As in the table, of N and of N + j for the players j outside it. Whole numbers, so the order of sums is free.
  std::array<double, kMostPlayers + 1> above = {};
  std::array<std::array<double, kMostPlayers + 1>, kMostPlayers> above_with = {};
  bool any = false;
  for (size_t i = 0; i < patterns.size(); i++) {
    const uint32_t u = patterns[i];
    if ((u & n) != n) continue;
    any = true;
    const size_t a = k - static_cast<size_t>(std::popcount(u));
    above[a] += counts[i];
    for (uint32_t rest = u & q; rest != 0; rest &= rest - 1) above_with[std::countr_zero(rest)][a] += counts[i];
  }
  if (!any) {
    std::ranges::fill(values, 0.0);
    return;
  }
  const Weights& table = weights();
  double gain = 0;
  double loss = 0;
  for (size_t a = 0; a + b <= k; a++) {
    gain += above[a] * table.gain[a][b];
    if (b > 0) loss += above[a] * table.loss[a][b];
  }
  gain *= weight;
  loss *= weight;
  for (size_t j = 0; j < k; j++) {
    if ((n >> j & 1) != 0) {
      values[j] = -loss;
      continue;
    }
    double part = 0;
    for (size_t a = 0; a + b + 1 <= k; a++) part += above_with[j][a] * table.gain[a][b];
    values[j] = gain - weight * part;
  }
}

void path_leaf_table(std::span<const double> ratios, double weight, LeafTableScratch& scratch,
                     std::span<double> values) {
  const size_t k = ratios.size();
  assert(k <= kMostPlayers && values.size() == k << k);
  const size_t patterns = size_t{1} << k;
  const Quadrature& rule = exact_rule(k);
  const size_t points = rule.size();
  // products[q][p] = weight of point t times prod over i of (r_i + t (q_i - r_i))
  scratch.sums.resize((patterns + k) * points);
  double* const products = scratch.sums.data();
  double* const inverses = products + patterns * points;  // of r_j + t (1 - r_j), which is positive inside (0, 1)
  for (size_t p = 0; p < points; p++) products[p] = weight * rule.weights[p];
  for (size_t j = 0; j < k; j++) {
    const double r = ratios[j];
    const size_t half = size_t{1} << j;
    for (size_t p = 0; p < points; p++) {
      const double t = rule.points[p];
      inverses[j * points + p] = 1 / (r + t * (1 - r));
    }
    for (size_t q = 0; q < half; q++) {
      for (size_t p = 0; p < points; p++) {
        const double t = rule.points[p];
        const double product = products[q * points + p];
        products[(q | half) * points + p] = product * (r + t * (1 - r));
        products[q * points + p] = product * (r - t * r);
      }
    }
  }
  // Player j's factor is taken out of the product where it is on the leaf's side, which never has a factor of zero.
  for (size_t j = 0; j < k; j++) {
    const double r = ratios[j];
    const size_t bit = size_t{1} << j;
    const double* inverse = inverses + j * points;
    for (size_t q = 0; q < patterns; q++) {
      if ((q & bit) == 0) continue;
      double sum = 0;
      for (size_t p = 0; p < points; p++) sum += products[q * points + p] * inverse[p];
      values[q * k + j] = (1 - r) * sum;
      values[(q ^ bit) * k + j] = -r * sum;
    }
  }
}

void path_leaf_row(std::span<const double> ratios, double weight, uint32_t q, std::span<double> values) {
  const size_t k = ratios.size();
  assert(k <= kMostPlayers && values.size() == k);
  const Quadrature& rule = exact_rule(k);
  const size_t points = rule.size();
  using Points = std::array<double, (kMostPlayers + 1) / 2>;
  // Factors of the product on the leaf's side and on the other; the product of the first j factors of the row.
  std::array<Points, kMostPlayers> on;
  std::array<Points, kMostPlayers> own;
  std::array<Points, kMostPlayers + 1> product;
  for (size_t p = 0; p < points; p++) product[0][p] = weight * rule.weights[p];
  for (size_t j = 0; j < k; j++) {
    const double r = ratios[j];
    const bool set = (q >> j & 1) != 0;
    for (size_t p = 0; p < points; p++) {
      const double t = rule.points[p];
      on[j][p] = r + t * (1 - r);
      own[j][p] = set ? on[j][p] : r - t * r;
      product[j + 1][p] = product[j][p] * own[j][p];
    }
  }
  for (size_t j = 0; j < k; j++) {
    const double r = ratios[j];
    const bool set = (q >> j & 1) != 0;
    Points whole = product[k];
    if (!set) {
      // The product with player j on the leaf's side, multiplied in the order of the table.
      for (size_t p = 0; p < points; p++) whole[p] = product[j][p] * on[j][p];
      for (size_t i = j + 1; i < k; i++) {
        for (size_t p = 0; p < points; p++) whole[p] *= own[i][p];
      }
    }
    double sum = 0;
    for (size_t p = 0; p < points; p++) sum += whole[p] * (1 / on[j][p]);
    values[j] = set ? (1 - r) * sum : -r * sum;
  }
}

}  // namespace assay
