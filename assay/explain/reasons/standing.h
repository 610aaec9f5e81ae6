// The places of features in one row's list of reasons, with ties that share places.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace assay {

// strengths: how much each feature speaks in the direction; NaN: it does not. Features with at most `rounding` do not
// speak, and those that differ by at most `rounding` tie.
class Standing {
 public:
  Standing(size_t top, double rounding) : top_(top), rounding_(rounding) {}

  // Looks at other strengths, which must stay where they are. A row has few that speak, so this is a partial sort.
  void look_at(std::span<const double> strengths);

  // The chance of being among the first `top` if ties are broken at random; 0 for one that does not speak.
  double among(size_t feature) const;
  // The chance of standing at exactly this rank, from 1.
  double at_rank(size_t feature, size_t rank) const;
  // The first `top` that speak, strongest first; of equal ones, the first.
  std::vector<size_t> strongest() const;

 private:
  bool speaks(size_t feature) const { return strengths_[feature] > rounding_; }
  // How many speak that are stronger than this, and how many tie with it.
  std::pair<size_t, size_t> above_and_tied(double strength) const;

  size_t top_;
  double rounding_;
  std::span<const double> strengths_;
  std::vector<double> speaking_;  // strengths of those that speak; the first `top` are the largest, in order
  double last_ = 0;               // strength of the last that is among them
  size_t above_ = 0;              // that are surely among them
  size_t tied_ = 0;               // that tie with the last; 0: all that speak are among them
};

}  // namespace assay
