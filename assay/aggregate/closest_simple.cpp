// A point near the mean that is no more complex than the simplest member.
//
//   minimise |phi - mean|_2 over phi with H(phi) <= h,   h = min over members that are not zero of H(g_j),
// H the entropy of |phi| / |phi|_1 (Bhatt, Weller, Moura 2020, Definition 4). The mean is that of all members, of unit
// l2 norm each. Where H(mean) <= h the mean itself is the answer. phi need not lie in the members' convex hull, so
// there are no weights.
//
// The problem is not convex. hull/nearest.h searches locally from several starts: a heuristic. Two guarantees hold on
// every row, for members of unit norm in float32 and the result as stored (scale=output then rounds once more):
//   complexity(result) <= complexity(member) for every member that is not zero;
//   |result - mean| <= |simplest member - mean|, with the nearest one if several members are the simplest.
// If rounding to float32 would break a guarantee, that member is the result. So it is if the mean is zero (below 1e-6
// of a member's norm): H does not depend on length, so ever shorter points would be ever nearer.
//
// Cost: some thousand logarithms and powers for each player; no model evaluation.
// Deviation from the paper: it names this goal, without an algorithm.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/common.h"
#include "assay/aggregate/hull/nearest.h"
#include "assay/evaluate/complexity.h"

namespace assay {
namespace {

// A mean shorter than this is what rounding left of members that cancel.
constexpr double kNoMean = 1e-6;
constexpr double kTieBreak = 1e-3;
// Shares of the simplest member's entropy that are left for rounding, tried in turn.
constexpr double kLeastMargin = 1e-8;
constexpr int kMargins = 6;  // each ten times the one before

class RowSearch {
 public:
  RowSearch(const MemberRow& row, std::span<float> out) : row_(row), out_(out), mean_(out.size()), best_(out.size()) {
    mean_of(row.values, mean_);
    for (const size_t j : row.nonzero) {
      store_row(row.values.row(j), out_);
      limit_ = std::min(limit_, complexity(out_));
    }
  }

  void run() {
    for (const size_t j : row_.nonzero) offer(row_.values.row(j));
    const double norm = l2_norm(mean_);
    if (norm > kNoMean && !offer(mean_)) search();
    std::ranges::copy(best_, out_.begin());
  }

  double distance() const { return distance_; }
  double bound() const { return bound_; }
  double found_complexity() const { return complexity(best_); }

 private:
  // Whether the point, rounded, is no more complex than the simplest member; kept where it is also the nearest.
  bool offer(std::span<const double> point) {
    store_row(point, out_);
    if (!(complexity(out_) <= limit_)) return false;
    double squares = 0;
    for (size_t k = 0; k < mean_.size(); k++) {
      const double apart = static_cast<double>(out_[k]) - mean_[k];
      squares += apart * apart;
    }
    if (std::sqrt(squares) < distance_) {
      distance_ = std::sqrt(squares);
      std::ranges::copy(out_, best_.begin());
    }
    return true;
  }

  void search() {
    const size_t players = mean_.size();
    std::vector<size_t> order(players);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return std::abs(mean_[a]) > std::abs(mean_[b]); });
    std::vector<double> sizes(players);
    for (size_t k = 0; k < players; k++) sizes[k] = std::abs(mean_[order[k]]);
    bound_ = distance_bound(sizes, limit_);
    // The simplest member with its sizes in the mean's order: as simple, and nearer.
    std::vector<double> start(players);
    for (size_t k = 0; k < players; k++) start[k] = std::abs(static_cast<double>(best_[k]));
    std::ranges::sort(start, std::greater<>());
    // Ties have no power that makes them simpler.
    for (size_t k = 0; k < players; k++) {
      start[k] *= 1 - kTieBreak * static_cast<double>(k) / static_cast<double>(players);
    }
    // Rounding to float32 moves entropy, rarely by more than this.
    double limit = limit_ * (1 - kLeastMargin);
    if (!sharpen(start, limit)) std::fill(start.begin() + 1, start.end(), 0.0);
    std::vector<double> nearest = nearest_simple(sizes, limit, start);
    std::vector<double> point(players);
    double margin = kLeastMargin;
    for (int tried = 0; tried < kMargins; tried++) {
      for (size_t k = 0; k < players; k++) point[order[k]] = std::copysign(nearest[k], mean_[order[k]]);
      if (offer(point)) return;
      // A little simpler than needed is better than the member.
      margin *= 10;
      limit = limit_ * (1 - margin);
      if (!sharpen(nearest, limit)) return;
    }
  }

  const MemberRow& row_;
  std::span<float> out_;
  std::vector<double> mean_;
  std::vector<float> best_;
  double limit_ = std::numeric_limits<double>::infinity();
  double distance_ = std::numeric_limits<double>::infinity();
  double bound_ = 0;
};

void combine_simply(const AggregateTask& /*task*/, const ScaleAlone& /*options*/, const Members& members, Combined& out,
                    const Context& context) {
  std::vector<double> complexities(members.rows(), NAN);
  std::vector<double> distances(members.rows(), NAN);
  std::vector<double> bounds(members.rows(), NAN);
  each_row(members, out, context, "closest_simple", [&](const MemberRow& row) -> std::string_view {
    if (row.nonzero.empty()) {
      std::ranges::fill(out.values.row(row.row), 0.0F);
      distances[row.row] = bounds[row.row] = 0;
      return {};
    }
    RowSearch search(row, out.values.row(row.row));
    search.run();
    complexities[row.row] = search.found_complexity();
    distances[row.row] = search.distance();
    bounds[row.row] = search.bound();
    return {};
  });
  out.measures.push_back({"complexity", std::move(complexities)});
  out.measures.push_back({"distance", std::move(distances)});
  out.measures.push_back({"bound", std::move(bounds)});
}

}  // namespace

AggregatorInfo closest_simple_aggregator() {
  return with_aggregator_options<CombinedBy<combine_simply>>(
      {.name = "closest_simple",
       .title = "Near the mean, yet no more complex than the simplest member",
       .family = "complexity",
       .citation = "Bhatt, Weller, Moura (2020), the wish; Assay, the algorithm",
       .guarantee =
           "no more complex than any member of unit norm that is not zero, and no farther from the mean than the "
           "simplest of them, in float32, before scaling",
       .cost = "some thousand logarithms for each player; no model evaluation"});
}

}  // namespace assay
