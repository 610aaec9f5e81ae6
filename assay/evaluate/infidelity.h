// Infidelity of one row from its draws, so that tests can call it; the criterion is in infidelity.cpp.
#pragma once

#include <cmath>
#include <span>

namespace assay {

struct InfidelityScore {
  double value = NAN;
  double standard_error = NAN;
};
// The mean of (expected - lost)^2 over the draws, and its standard error; NaN unless all are finite. squares, if not
// empty, receives the square of each draw; it may be `lost` itself.
InfidelityScore mean_squared_gap(std::span<const double> expected, std::span<const double> lost, bool normalise_scale,
                                 std::span<double> squares = {});

}  // namespace assay
