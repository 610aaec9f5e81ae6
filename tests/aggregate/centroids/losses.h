// What centroids minimise, straight from the definition, and the points that must not do better.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "tests/aggregate/trial.h"

namespace assay::testing {

using Points = std::vector<std::vector<double>>;

struct LossOf {
  std::string distance = "l2";
  double p = 2;

  double between(std::span<const double> a, std::span<const double> b) const {
    double sum = 0;
    for (size_t k = 0; k < a.size(); k++) {
      sum += distance == "l1" ? std::abs(a[k] - b[k]) : (a[k] - b[k]) * (a[k] - b[k]);
    }
    return distance == "l1" ? sum : std::sqrt(sum);
  }
  double operator()(const Points& members, std::span<const double> g) const {
    double sum = 0;
    for (const auto& member : members) sum += std::pow(between(g, member), p);
    return sum;
  }
  // How much the loss can change when g is rounded to so many bits: the slope of D^p, at most p D^(p-1), times the way.
  double rounding(const Points& members, std::span<const double> g, int bits) const {
    const double way = std::ldexp(between(g, std::vector<double>(g.size(), 0.0)), -bits);
    double sum = 0;
    for (const auto& member : members) sum += p * std::pow(between(g, member) + way, p - 1) * way;
    return sum;
  }
};

inline std::vector<double> mean_by_definition(const Points& members) {
  std::vector<double> mean(members[0].size(), 0.0);
  for (const auto& member : members) {
    for (size_t k = 0; k < mean.size(); k++) mean[k] += member[k] / static_cast<double>(members.size());
  }
  return mean;
}

inline std::vector<double> median_by_definition(const Points& members) {
  std::vector<double> median;
  for (size_t k = 0; k < members[0].size(); k++) {
    std::vector<double> values;
    for (const auto& member : members) values.push_back(member[k]);
    std::sort(values.begin(), values.end());
    const size_t count = values.size();
    median.push_back((values[(count - 1) / 2] + values[count / 2]) / 2);
  }
  return median;
}

inline const std::vector<double>& measure_of(const Made& made, const std::string& name) {
  for (const RowMeasure& measure : made.combined.measures) {
    if (measure.name == name) return measure.values;
  }
  static const std::vector<double> none;
  ADD_FAILURE() << "no measure " << name;
  return none;
}

// Whether the row's loss is what it says, certified to `gap`, and not beaten: by the members, their mean and median, by
// random points between members, nor by random steps of all sizes from the result.
inline void expect_minimal(const Made& made, MemberTrial& trial, size_t row, const LossOf& loss, double gap = 1e-9) {
  const Points members = unit_rows(trial, row);
  const auto stored = made.values.row(row);
  const std::vector<double> found(stored.begin(), stored.end());
  const double least = measure_of(made, "loss")[row];
  const double bound = measure_of(made, "bound")[row];
  ASSERT_NEAR(loss(members, found), least, loss.rounding(members, found, 24) + 1e-12 * least) << "row " << row;
  ASSERT_LE(bound, least);
  ASSERT_GE(bound, least * (1 - gap)) << loss.distance << ", p = " << loss.p << ", row " << row;
  const auto hold_against = [&](const std::vector<double>& other, const char* what) {
    // But for rounding of float64: in the losses, and in the result itself where members are nearly equal.
    const double rounding = loss.rounding(members, found, 50) + 1e-12 * least;
    ASSERT_GE(loss(members, other), bound - rounding)
        << what << ", " << loss.distance << ", p = " << loss.p << ", " << members.size() << " members, row " << row;
  };
  for (const auto& member : members) hold_against(member, "a member");
  hold_against(mean_by_definition(members), "the mean");
  hold_against(median_by_definition(members), "the median");
  RandomStream draw(17, "centroid test", row);
  std::vector<double> other(found.size());
  for (size_t trials = 0; trials < 24; trials++) {
    const double size = std::exp(-12 * draw.uniform());
    for (size_t k = 0; k < other.size(); k++) other[k] = found[k] + size * draw.normal();
    hold_against(other, "a step away");
    const auto& a = members[draw.below(static_cast<uint32_t>(members.size()))];
    const double part = draw.uniform();
    for (size_t k = 0; k < other.size(); k++) other[k] = part * a[k] + (1 - part) * found[k];
    hold_against(other, "towards a member");
  }
}

// Result = sum of weights x members, weights on the simplex.
inline void expect_weights_give_values(const Made& made, MemberTrial& trial, size_t row) {
  const Points members = unit_rows(trial, row);
  const auto weights = made.combined.weights.row(row);
  ASSERT_EQ(weights.size(), members.size());
  double sum = 0;
  for (const float weight : weights) {
    ASSERT_GE(weight, 0);
    sum += weight;
  }
  ASSERT_NEAR(sum, 1, 1e-6);
  for (size_t k = 0; k < members[0].size(); k++) {
    double value = 0;
    for (size_t j = 0; j < members.size(); j++) value += weights[j] * members[j][k];
    ASSERT_NEAR(made.values(row, k), value, 3e-7) << "row " << row;
  }
}

struct MemberShape {
  size_t members;
  size_t players;
  size_t rows;
};

// Thousands of member sets of all kinds; few where they are large.
inline const std::vector<MemberShape>& member_shapes() {
  static const std::vector<MemberShape> shapes = {{1, 4, 20},  {2, 1, 30},  {2, 3, 60},  {3, 1, 60},   {3, 2, 200},
                                                  {4, 3, 200}, {5, 8, 150}, {7, 3, 120}, {12, 20, 30}, {6, 784, 4}};
  return shapes;
}

}  // namespace assay::testing
