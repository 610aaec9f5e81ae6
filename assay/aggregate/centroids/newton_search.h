// How far to go along a step of Newton's method. The step is halved until the loss falls by a fair part of what the
// slope promises (Armijo 1966). It is doubled where powers above 2 make the whole step too short.
//
// Cost: one loss per length tried, mostly one or two in all.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace assay {

// The most steps of Newton's method, and how much distances are smoothed at first, relative to the largest.
inline constexpr size_t kNewtonSteps = 500;
inline constexpr double kFirstSmoothing = 0.1;

struct NewtonSearch {
  std::span<const double> from = {};
  std::span<const double> step = {};
  double before = 0;  // the loss at `from`
  double slope = 0;   // its derivative along `step`
  double p = 2;       // the power of the distances that the loss sums
};

// The length to take, as a multiple of the step; 0 when no length lowers the loss, or the slope is not negative.
// moved: scratch of the step's size.
double search_along(const NewtonSearch& search, std::span<double> moved,
                    const std::function<double(std::span<const double>)>& loss);

}  // namespace assay
