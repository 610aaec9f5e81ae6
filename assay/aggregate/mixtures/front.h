// The Pareto front of points with three criteria, and a search for weights whose mixtures are on it.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "assay/core/context.h"

namespace assay {

// The criteria of one mixture, or of an explanation that is compared with mixtures.
struct TradeOff {
  double faithfulness = 0;     // higher is better
  double avg_sensitivity = 0;  // lower is better
  double complexity = 0;       // lower is better

  // The criteria with signs such that lower is better; 0 for a criterion that is NaN.
  std::array<double, 3> losses() const;
  friend bool operator==(const TradeOff&, const TradeOff&) = default;
};

// For each of losses(), the largest difference that does not count. The default: rounding of numbers of size 1.
using Resolution = std::array<double, 3>;
inline constexpr Resolution kUnitResolution = {1e-7, 1e-7, 1e-7};

// Whether a is at least as good as b in all criteria and better in one.
bool dominates(const TradeOff& a, const TradeOff& b, const Resolution& resolution = kUnitResolution);

// The level of each point in each criterion, 0 for the best. To find levels, points are sorted by value; a new level
// begins where two neighbours differ by more than the resolution. So rounding never parts equal points, as a fixed grid
// might, and levels can be compared without cycles (a better than b better than c better than a).
using Levels = std::array<size_t, 3>;
std::vector<Levels> levels_of(std::span<const TradeOff> points, const Resolution& resolution = kUnitResolution);

// The front: indices of the points that no other point dominates, ascending. One point dominates another if none of its
// levels is higher and one is lower. Of points with the same levels only the first is listed. Cost: n log n.
std::vector<size_t> front_of(std::span<const TradeOff> points, const Resolution& resolution = kUnitResolution,
                             const Context& context = {});

// The index in `front` of the point nearest to the ideal point, which has the best value of each criterion on the
// front. Each criterion is divided by its range over the front. Of several equally near points, the first.
size_t knee_of(std::span<const TradeOff> points, std::span<const size_t> front,
               const Resolution& resolution = kUnitResolution);

// Tries about `points` weights. The first half are a lattice on the simplex, vertices included. The others come in
// rounds: from weights on the front so far, a step moves some weight from one member to another; steps get shorter each
// round. judge() gets each batch of new weights and appends its results to found and valid. Weights that are not valid
// are kept, but no steps start from them. All weights are exact in float32.
struct FrontSearch {
  std::vector<std::vector<double>> weights;
  std::vector<TradeOff> found;
  std::vector<bool> valid;
};
using Judge = std::function<void(std::span<const std::vector<double>> weights, std::vector<TradeOff>& found,
                                 std::vector<bool>& valid)>;
FrontSearch search_front(size_t members, size_t points, const Judge& judge,
                         const Resolution& resolution = kUnitResolution, const Context& context = {});

}  // namespace assay
