// Which of several things are best when there is more than one criterion, and where to look for better weights.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "assay/core/context.h"

namespace assay {

// Criteria of one mixture, or of anything that is placed beside them.
struct TradeOff {
  double faithfulness = 0;     // higher is better
  double avg_sensitivity = 0;  // lower is better
  double complexity = 0;       // lower is better

  // All lower is better. A criterion that is NaN does not count: 0.
  std::array<double, 3> losses() const;
  friend bool operator==(const TradeOff&, const TradeOff&) = default;
};

// Differences up to this do not count, for each of losses(): what float32 and roots of sums that cancel leave of a
// number of size 1.
using Resolution = std::array<double, 3>;
inline constexpr Resolution kUnitResolution = {1e-7, 1e-7, 1e-7};

// Whether a is at least as good as b in everything and better in something.
bool dominates(const TradeOff& a, const TradeOff& b, const Resolution& resolution = kUnitResolution);

// By point and criterion the number of levels below it. Points are on one level where each, in order of value, is no
// farther from the next than the resolution: whatever cell borders a grid would have, rounding does not decide between
// equals, and "no higher in any and lower in one" has no circles.
using Levels = std::array<size_t, 3>;
std::vector<Levels> levels_of(std::span<const TradeOff> points, const Resolution& resolution = kUnitResolution);

// Those than which no other is on no higher a level in all criteria and on a lower one in some, ascending; of several
// on the same levels, the first. n log n for n points.
std::vector<size_t> front_of(std::span<const TradeOff> points, const Resolution& resolution = kUnitResolution,
                             const Context& context = {});

// The place in `front` that is nearest to the ideal point, which has the best of each criterion on the front, after
// each criterion is scaled to its range over the front; the first of several.
size_t knee_of(std::span<const TradeOff> points, std::span<const size_t> front,
               const Resolution& resolution = kUnitResolution);

// About so many weights: vertices and a lattice with about half of them, then in rounds of shorter steps, from one
// member to another, around those that are on the front so far. judge() sees each batch of new weights and appends what
// it finds; weights that it makes NaN in all criteria are kept but never built upon. The weights are what float32
// holds.
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
