#include "assay/aggregate/hull/problem.h"

#include <algorithm>
#include <cmath>

#include "assay/aggregate/complexity/segment.h"

namespace assay {
namespace {

// Sign vectors tried for a lower bound of the l1 norm.
constexpr size_t kSignVectors = 12;
// Columns this close to proportional, relative to their largest entry, are: float64 cannot tell their zeros apart.
constexpr double kProportional = 1e-14;

struct HullColumn {
  std::vector<double> direction = {};  // over members, divided by its entry of largest size
  double size = 0;
};

HullColumn column_of(const HullProblem& problem, size_t k) {
  HullColumn made;
  double largest = 0;
  for (size_t i = 0; i < problem.size(); i++) {
    if (std::abs(problem.values(i, k)) > std::abs(largest)) largest = problem.values(i, k);
  }
  for (size_t i = 0; i < problem.size(); i++) made.direction.push_back(problem.values(i, k) / largest);
  made.size = std::abs(largest);
  return made;
}

bool same_direction(const HullColumn& a, const HullColumn& b) {
  for (size_t i = 0; i < a.direction.size(); i++) {
    if (std::abs(a.direction[i] - b.direction[i]) > kProportional) return false;
  }
  return true;
}

void group_columns(HullProblem& problem) {
  const size_t columns = problem.values.cols();
  std::vector<HullColumn> all;
  for (size_t k = 0; k < columns; k++) all.push_back(column_of(problem, k));
  // Sorting brings proportional columns together, but for those whose first entries differ by rounding: they stay
  // apart, which costs time and nothing else.
  std::ranges::stable_sort(all, [](const HullColumn& a, const HullColumn& b) { return a.direction < b.direction; });
  std::vector<const HullColumn*> heads;
  for (const HullColumn& each : all) {
    if (heads.empty() || !same_direction(*heads.back(), each)) {
      heads.push_back(&each);
      problem.weight.push_back(0);
      problem.spread.push_back(0);
    }
    problem.weight.back() += each.size;
    problem.spread.back() += each.size * std::log(each.size);
  }
  problem.groups = Matrix64(problem.size(), heads.size());
  for (size_t g = 0; g < heads.size(); g++) {
    for (size_t i = 0; i < problem.size(); i++) problem.groups(i, g) = heads[g]->direction[i];
  }
}

}  // namespace

bool HullPoint::improves(double other_entropy, double other_length) {
  const bool simpler = other_entropy < entropy - kTiedEntropy;
  const bool longer = other_entropy <= entropy + kTiedEntropy && other_length > length * (1 + kLonger);
  entropy = std::min(entropy, other_entropy);
  if (simpler || longer) length = other_length;
  return simpler || longer;
}

HullPoint HullProblem::vertex(size_t i) const {
  HullPoint made;
  made.weights.assign(size(), 0.0);
  made.weights[i] = 1;
  made.entropy = entropy_of(values.row(i));
  made.length = std::sqrt(products(i, i));
  return made;
}

HullProblem hull_problem(const MemberRow& row, double floor) {
  HullProblem made;
  for (const size_t j : row.nonzero) {
    const bool seen = std::ranges::any_of(
        made.member, [&](size_t i) { return std::ranges::equal(row.values.row(i), row.values.row(j)); });
    if (!seen) made.member.push_back(j);
  }
  std::vector<size_t> columns;
  for (size_t k = 0; k < row.values.cols(); k++) {
    if (std::ranges::any_of(made.member, [&](size_t j) { return row.values(j, k) != 0; })) columns.push_back(k);
  }
  const size_t size = made.member.size();
  made.values = Matrix64(size, columns.size());
  made.products = Matrix64(size, size);
  for (size_t i = 0; i < size; i++) {
    for (size_t k = 0; k < columns.size(); k++) made.values(i, k) = row.values(made.member[i], columns[k]);
    for (size_t j = 0; j <= i; j++) {
      made.products(i, j) = made.products(j, i) = dot(made.values.row(i), made.values.row(j));
    }
  }
  group_columns(made);
  made.floor = floor;
  made.least_norm = least_l1_norm(made.values.view());
  return made;
}

double vertex_count(const HullProblem& problem) {
  const size_t all = problem.size() + problem.group_count();
  double count = 1;
  for (size_t i = 1; i < problem.size(); i++) {
    count *= static_cast<double>(all + 1 - i) / static_cast<double>(i);
  }
  return count;
}

double least_l1_norm(MatrixView<const double> points) {
  const size_t columns = points.cols();
  std::vector<double> weights(points.rows(), 1.0);
  std::vector<double> along(points.rows());
  std::vector<double> sign(columns);
  double best = 0;
  for (size_t round = 0; round < kSignVectors; round++) {
    std::ranges::fill(sign, 0.0);
    for (size_t i = 0; i < points.rows(); i++) {
      for (size_t k = 0; k < columns; k++) sign[k] += weights[i] * points(i, k);
    }
    for (double& each : sign) each = each > 0 ? 1.0 : each < 0 ? -1.0 : 0.0;
    for (size_t i = 0; i < points.rows(); i++) along[i] = dot(sign, points.row(i));
    const auto [least, most] = std::ranges::minmax(along);
    best = std::max(best, least);
    if (most <= 0) break;
    // The point that the signs fit worst gets a say in the next ones.
    for (size_t i = 0; i < points.rows(); i++) weights[i] *= std::exp(-(along[i] - least) / most);
  }
  return best;
}

}  // namespace assay
