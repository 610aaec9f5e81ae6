#include "assay/explain/paths/quadrature.h"

#include <cassert>
#include <cmath>
#include <numbers>

namespace assay {
namespace {

// The roots of P_n take n^2 steps.
constexpr size_t kMostPanelPoints = 1024;

struct Legendre {
  double value;
  double slope;
};

// P_n and its derivative inside (-1, 1), by the recurrence (k + 1) P_k+1 = (2 k + 1) t P_k - k P_k-1.
Legendre legendre(size_t n, double t) {
  double before = 1;
  double value = t;
  for (size_t k = 1; k < n; k++) {
    const auto at = static_cast<double>(k);
    const double next = ((2 * at + 1) * t * value - at * before) / (at + 1);
    before = value;
    value = next;
  }
  return {value, static_cast<double>(n) * (before - t * value) / (1 - t * t)};
}

// On all of [0, 1].
Quadrature one_panel(size_t n) {
  Quadrature made;
  made.points.resize(n);
  made.weights.resize(n);
  const auto count = static_cast<double>(n);
  for (size_t k = 0; k < (n + 1) / 2; k++) {
    // Tricomi's first guess is so near that three steps reach the last digit; the middle root of odd n is 0 itself.
    double t = std::cos(std::numbers::pi * (static_cast<double>(k) + 0.75) / (count + 0.5));
    if (2 * k + 1 == n) t = 0;
    for (int step = 0; step < 5 && 2 * k + 1 != n; step++) {
      const Legendre at = legendre(n, t);
      t -= at.value / at.slope;
    }
    const Legendre at = legendre(n, t);
    const double weight = 1 / ((1 - t * t) * at.slope * at.slope);
    // The k-th largest root and its mirror.
    made.points[n - 1 - k] = (1 + t) / 2;
    made.points[k] = (1 - t) / 2;
    made.weights[k] = made.weights[n - 1 - k] = weight;
  }
  return made;
}

Quadrature gauss_legendre(size_t n) {
  const size_t panels = (n + kMostPanelPoints - 1) / kMostPanelPoints;
  if (panels == 1) return one_panel(n);
  Quadrature made;
  made.points.reserve(n);
  made.weights.reserve(n);
  const auto width = 1 / static_cast<double>(panels);
  Quadrature panel;
  for (size_t p = 0; p < panels; p++) {
    const size_t count = n / panels + (p < n % panels ? 1 : 0);
    if (panel.size() != count) panel = one_panel(count);
    for (size_t k = 0; k < count; k++) {
      made.points.push_back((static_cast<double>(p) + panel.points[k]) * width);
      made.weights.push_back(panel.weights[k] * width);
    }
  }
  return made;
}

}  // namespace

Quadrature quadrature(QuadratureRule rule, size_t points) {
  assert(points >= (rule == QuadratureRule::trapezoid ? 2U : 1U));
  if (rule == QuadratureRule::gauss_legendre) return gauss_legendre(points);
  Quadrature made;
  made.points.resize(points);
  const double pieces = static_cast<double>(points) - (rule == QuadratureRule::trapezoid ? 1 : 0);
  const double shift = rule == QuadratureRule::right ? 1 : rule == QuadratureRule::middle ? 0.5 : 0;
  for (size_t k = 0; k < points; k++) made.points[k] = (static_cast<double>(k) + shift) / pieces;
  made.weights.assign(points, 1 / pieces);
  if (rule == QuadratureRule::trapezoid) made.weights.front() = made.weights.back() = 0.5 / pieces;
  return made;
}

QuadratureRule quadrature_rule(std::string_view name) {
  if (name == "trapezoid") return QuadratureRule::trapezoid;
  if (name == "left") return QuadratureRule::left;
  if (name == "right") return QuadratureRule::right;
  if (name == "middle") return QuadratureRule::middle;
  assert(name == "gauss_legendre");
  return QuadratureRule::gauss_legendre;
}

}  // namespace assay
