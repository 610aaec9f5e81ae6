// The simplest explanation in the convex hull of the members, certified where that is affordable.
//
//   minimise H(phi) over phi = sum over i of lambda_i g_i,  lambda >= 0 summing to 1,  |phi|_1 >= floor,
// H the entropy of |phi| / |phi|_1 (Bhatt, Weller, Moura 2020, Definition 4), g_i the members of unit l2 norm that are
// not zero, floor a share of their mean l2 norm (which is 1). Members are always admitted, even below the floor. Of
// points of equal entropy, up to rounding, the longest that was looked at is the result.
//
// H is quasi-concave on every cell of the arrangement of {lambda_i = 0} and {phi_k = 0}, so the minimum is at one of
// its vertices, or where one of its lines meets the floor: hull/enumerate.h looks at all of them when C(m + d, m - 1)
// is at most `vertices`. Otherwise a descent along the lines (hull/enumerate.h), then branch and bound (hull/bound.h)
// with a similar effort, give the simplest point found and a proven lower bound, which may be equal.
//
// Guarantee: complexity(result) <= complexity(member) for every nonzero member of unit norm, both in float32
// (scale=output then rounds once more). "bound" is at most the entropy of every point of the hull above the floor, in
// float64. "certified" is 1 if the result reaches it: then the result is the minimum, rounded.
// Cost: for m members and d players up to C(m + d, m - 2) lines of O(d log d) each; no model evaluation.
// Deviation from the paper: it has no global minimum, only the heuristic of its Algorithm 2. It has no floor either.
// The floor is under the l1 norm, which is linear within a cell, so that the minimum stays exact; as |phi|_1 >=
// |phi|_2, it admits all points that the same floor under the l2 norm would.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/common.h"
#include "assay/aggregate/complexity/options.h"
#include "assay/aggregate/complexity/store.h"
#include "assay/aggregate/hull/bound.h"
#include "assay/aggregate/hull/enumerate.h"
#include "assay/aggregate/hull/problem.h"

namespace assay {
namespace {

// A coordinate that cancels to less than this share of its parts is one of those that vanish at the vertex: members
// are float32, so nothing real is that small.
constexpr double kVanished = 1e-12;
// Below this share of the members' norm a point that should be the origin is rounding noise.
constexpr double kLeastFloor = 1e-6;
// Cutting one simplex of n points costs about as much as looking at n d / kVerticesPerCut vertices of the arrangement.
constexpr double kVerticesPerCut = 2;
constexpr double kFewestCuts = 64;
// Each cut keeps the point it makes: a quarter of a gigabyte for a row, whatever the option says.
constexpr double kMostNumbers = 0x1p25;
constexpr size_t kEdgesPerMember = 4;

struct Lowest {
  HullPoint point = {};
  double bound = 0;
  bool certified = false;
};

Lowest lowest_in(const HullProblem& problem, double vertices, const Context& context) {
  Lowest made{problem.vertex(0)};
  for (size_t i = 1; i < problem.size(); i++) {
    HullPoint other = problem.vertex(i);
    if (other.entropy < made.point.entropy) made.point = std::move(other);
  }
  made.certified = true;
  if (problem.size() == 1) return made;
  const bool affordable = vertex_count(problem) <= vertices;
  // Also before enumerating, if not so long: vertices above a low start are dropped unseen.
  lower_by_descent(problem, (affordable ? 1 : kEdgesPerMember) * problem.size(), made.point, context);
  if (affordable) {
    lower_by_enumeration(problem, made.point, context);
    return made;
  }
  const auto entries = static_cast<double>(problem.size() * problem.values.cols());
  const double kept = kMostNumbers / static_cast<double>(problem.size() + problem.values.cols());
  const double cuts = std::max(kFewestCuts, std::min(kept, kVerticesPerCut * vertices / entries));
  made.bound = lower_by_bounding(problem, static_cast<size_t>(cuts), made.point, context);
  made.certified = made.bound >= made.point.entropy;
  return made;
}

void write_point(const MemberRow& row, const HullProblem& problem, const HullPoint& point, std::span<double> out) {
  for (size_t k = 0; k < out.size(); k++) {
    double sum = 0;
    double parts = 0;
    for (size_t i = 0; i < problem.size(); i++) {
      const double part = point.weights[i] * row.values(problem.member[i], k);
      sum += part;
      parts += std::abs(part);
    }
    out[k] = std::abs(sum) <= kVanished * parts ? 0 : sum;
  }
}

struct MinimumComplexityOptions {
  FloorOption floor = {};
  int64_t vertices = 2'000'000;
  ScaleOptions scale = {};

  void describe(OptionVisitor& visit) {
    floor.describe(visit);
    visit.integer("vertices", vertices, "vertices of a row's arrangement up to which all are looked at", "", 1,
                  1'000'000'000'000);
    scale.describe(visit);
  }
};

void combine_lowest(const AggregateTask& /*task*/, const MinimumComplexityOptions& options, const Members& members,
                    Combined& out, const Context& context) {
  const size_t rows = members.rows();
  out.weights = Matrix(rows, members.size());
  std::ranges::fill(out.weights.values(), std::numeric_limits<float>::quiet_NaN());
  std::vector<double> complexities(rows, NAN);
  std::vector<double> bounds(rows, NAN);
  std::vector<double> certified(rows, NAN);
  each_row(members, out, context, "minimum_complexity", [&](const MemberRow& row) -> std::string_view {
    const auto weights = out.weights.row(row.row);
    std::ranges::fill(weights, 0.0F);
    certified[row.row] = 1;
    if (row.nonzero.empty()) {
      std::ranges::fill(out.values.row(row.row), 0.0F);
      return {};
    }
    const HullProblem problem = hull_problem(row, norm_floor(row, std::max(options.floor.floor, kLeastFloor)));
    const Lowest found = lowest_in(problem, static_cast<double>(options.vertices), context);
    std::vector<double> point(row.values.cols());
    write_point(row, problem, found.point, point);
    const StoredSimplest stored = store_simplest(row, point, out.values.row(row.row));
    if (stored.member) {
      weights[*stored.member] = 1;
    } else {
      for (size_t i = 0; i < problem.size(); i++)
        weights[problem.member[i]] = static_cast<float>(found.point.weights[i]);
    }
    complexities[row.row] = stored.complexity;
    // The float64 minimum: rounding may have raised the complexity of what is stored above it, or lowered it.
    const double bound = found.certified ? std::max(0.0, found.point.entropy) : found.bound;
    bounds[row.row] = std::min(bound, stored.complexity);
    certified[row.row] = found.certified ? 1 : 0;
    return {};
  });
  size_t finite = 0;
  for (size_t r = 0; r < rows; r++) finite += members.finite(r) ? 1 : 0;
  const auto proven = static_cast<size_t>(std::ranges::count(certified, 1));
  if (proven < finite) {
    out.notes.push_back(
        fmt::format("certified on {} of {} rows; on the others the bound says how much simpler a point "
                    "of the hull could be at most",
                    proven, finite));
  }
  out.measures.push_back({"complexity", std::move(complexities)});
  out.measures.push_back({"bound", std::move(bounds)});
  out.measures.push_back({"certified", std::move(certified)});
}

}  // namespace

AggregatorInfo minimum_complexity_aggregator() {
  return with_aggregator_options<CombinedBy<combine_lowest>>(
      {.name = "minimum_complexity",
       .title = "The simplest explanation in the members' convex hull, certified where affordable",
       .family = "complexity",
       .citation = "Bhatt, Weller, Moura (2020)",
       .guarantee = "no more complex than any member of unit norm that is not zero, in float32, before scaling; where "
                    "certified, up to rounding, than any point of their convex hull",
       .cost = "C(m + d, m - 1) vertices, up to the option; no model evaluation"});
}

}  // namespace assay
