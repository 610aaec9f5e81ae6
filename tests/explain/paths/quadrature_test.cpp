#include "assay/explain/paths/quadrature.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace assay {
namespace {

using Rule = QuadratureRule;

double integral_of_power(const Quadrature& rule, double power) {
  double sum = 0;
  for (size_t k = 0; k < rule.size(); k++) sum += rule.weights[k] * std::pow(rule.points[k], power);
  return sum;
}

// Abramowitz and Stegun, table 25.4, for [-1, 1].
TEST(Quadrature, GaussLegendreIsThePublishedTable) {
  struct Known {
    size_t count;
    std::vector<double> nodes;  // not negative, descending
    std::vector<double> weights;
  };
  const std::vector<Known> table = {
      {1, {0}, {2}},
      {2, {0.577350269189626}, {1}},
      {3, {0.774596669241483, 0}, {0.555555555555556, 0.888888888888889}},
      {4, {0.861136311594053, 0.339981043584856}, {0.347854845137454, 0.652145154862546}},
      {5, {0.906179845938664, 0.538469310105683, 0}, {0.236926885056189, 0.478628670499366, 0.568888888888889}},
      {8,
       {0.960289856497536, 0.796666477413627, 0.525532409916329, 0.183434642495650},
       {0.101228536290376, 0.222381034453374, 0.313706645877887, 0.362683783378362}}};
  for (const Known& known : table) {
    const Quadrature rule = quadrature(Rule::gauss_legendre, known.count);
    ASSERT_EQ(rule.size(), known.count);
    for (size_t k = 0; k < known.nodes.size(); k++) {
      const size_t mirror = known.count - 1 - k;
      EXPECT_NEAR(rule.points[mirror], (1 + known.nodes[k]) / 2, 1e-15);
      EXPECT_NEAR(rule.points[k], (1 - known.nodes[k]) / 2, 1e-15);
      EXPECT_NEAR(rule.weights[k], known.weights[k] / 2, 1e-15);
      EXPECT_EQ(rule.weights[k], rule.weights[mirror]);
    }
  }
}

TEST(Quadrature, GaussLegendreIsExactUpToDegree2nMinus1) {
  for (const size_t n : {size_t{1}, size_t{2}, size_t{3}, size_t{7}, size_t{32}, size_t{101}, size_t{1024}}) {
    const Quadrature rule = quadrature(Rule::gauss_legendre, n);
    for (size_t degree = 0; degree < 2 * n; degree += degree < 8 ? 1 : n / 2) {
      const auto power = static_cast<double>(degree);
      EXPECT_NEAR(integral_of_power(rule, power) * (power + 1), 1, 1e-12) << n << " points, degree " << degree;
    }
    EXPECT_TRUE(std::is_sorted(rule.points.begin(), rule.points.end()));
    EXPECT_GT(rule.points.front(), 0);
    EXPECT_LT(rule.points.back(), 1);
  }
  // Not beyond: the error for x^4 of two points is 1/180.
  EXPECT_NEAR(0.2 - integral_of_power(quadrature(Rule::gauss_legendre, 2), 4), 1.0 / 180, 1e-15);
}

// Panels: 2,050 points are three of 684, 683 and 683; each is the rule of its own size on its third. So many points
// that roots of one polynomial would take minutes.
TEST(Quadrature, GaussLegendreOfManyPointsIsComposite) {
  const Quadrature rule = quadrature(Rule::gauss_legendre, 2050);
  ASSERT_EQ(rule.size(), 2050U);
  const Quadrature first = quadrature(Rule::gauss_legendre, 684);
  const Quadrature other = quadrature(Rule::gauss_legendre, 683);
  for (size_t k = 0; k < 683; k++) {
    EXPECT_NEAR(rule.points[k], first.points[k] / 3, 1e-15);
    EXPECT_NEAR(rule.weights[k], first.weights[k] / 3, 1e-15);
    EXPECT_NEAR(rule.points[684 + k], (1 + other.points[k]) / 3, 1e-15);
    EXPECT_NEAR(rule.points[1367 + k], (2 + other.points[k]) / 3, 1e-15);
  }
  for (const size_t n : {size_t{1025}, size_t{2050}, size_t{1'000'000}}) {
    const Quadrature made = quadrature(Rule::gauss_legendre, n);
    ASSERT_EQ(made.size(), n);
    EXPECT_NEAR(std::accumulate(made.weights.begin(), made.weights.end(), 0.0), 1, 1e-11);
    EXPECT_TRUE(std::is_sorted(made.points.begin(), made.points.end()));
    EXPECT_GT(made.points.front(), 0);
    EXPECT_LT(made.points.back(), 1);
    for (const double power : {1.0, 2.0, 9.0, 100.0})
      EXPECT_NEAR(integral_of_power(made, power) * (power + 1), 1, 1e-11);
  }
}

TEST(Quadrature, WeightsSumToOne) {
  for (const Rule rule : {Rule::gauss_legendre, Rule::trapezoid, Rule::left, Rule::right, Rule::middle}) {
    for (const size_t n : {size_t{2}, size_t{5}, size_t{50}, size_t{1000}}) {
      const Quadrature made = quadrature(rule, n);
      EXPECT_NEAR(std::accumulate(made.weights.begin(), made.weights.end(), 0.0), 1, 1e-13);
      EXPECT_EQ(made.size(), n);
    }
  }
}

// The integral of x^2 is 1/3. For n pieces of width h the sums are known: left 1/3 - h/2 + h^2/6, right with + h/2,
// middle 1/3 - h^2/12, trapezoid 1/3 + h^2/6.
TEST(Quadrature, RiemannRulesHaveTheirErrors) {
  const double h = 0.25;
  EXPECT_NEAR(integral_of_power(quadrature(Rule::left, 4), 2), 1.0 / 3 - h / 2 + h * h / 6, 1e-15);
  EXPECT_NEAR(integral_of_power(quadrature(Rule::right, 4), 2), 1.0 / 3 + h / 2 + h * h / 6, 1e-15);
  EXPECT_NEAR(integral_of_power(quadrature(Rule::middle, 4), 2), 1.0 / 3 - h * h / 12, 1e-15);
  EXPECT_NEAR(integral_of_power(quadrature(Rule::trapezoid, 5), 2), 1.0 / 3 + h * h / 6, 1e-15);
}

TEST(Quadrature, NamesAreThoseOfTheOptions) {
  EXPECT_EQ(quadrature_rule("gauss_legendre"), Rule::gauss_legendre);
  EXPECT_EQ(quadrature_rule("trapezoid"), Rule::trapezoid);
  EXPECT_EQ(quadrature_rule("left"), Rule::left);
  EXPECT_EQ(quadrature_rule("right"), Rule::right);
  EXPECT_EQ(quadrature_rule("middle"), Rule::middle);
}

}  // namespace
}  // namespace assay
