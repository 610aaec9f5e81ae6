// The correlation at the heart of faithfulness and its kin: over subsets S of the players, Pearson's correlation of
//   sum over i in S of phi_i   with   v(N) - v(N without S),
// v the explained value with the players of the coalition as in the row and all others as in the reference (the mean
// over a background). v(N) is the same for all subsets and drops out, so it is never asked for.
//
// Undefined where either side does not vary, and rounding is no variance:
// - attributions are float32: when the sums' standard deviation is at most 1e-6 sqrt(|S|) max |phi_i|, as it is for
//   attributions that differ in their last bits alone;
// - values: when their standard deviation is at most what the game says may be rounding (Game::rounding), times the
//   largest |v| that was seen. That is 2.5e-7 for values that are the model's outputs, and 4e-6 for the fast games,
//   which are within 3e-6 of them.
//
// Standard error, when n of M subsets were drawn: with u and w the two sides standardised and r their correlation, the
// influence of a subset on r is u w - r (u^2 + w^2) / 2 (its mean is 0), so
//   error^2 = (1 - n / M) sum of influence^2 / (n (n - 1)),
// the infinitesimal jackknife with the factor of sampling without replacement. Nothing is assumed of the shape of the
// two sides, unlike by (1 - r^2) / sqrt(n - 1), which is for normal ones.
// All rows share the subsets, so the error of a mean over rows that comes from them has the mean over rows of a
// subset's influence in that formula. It does not fall as rows are added. Cost: a game value for each subset, row and
// reference row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/evaluate/scores.h"
#include "assay/evaluate/subsets/subset_design.h"
#include "assay/explain/games/game.h"

namespace assay {

enum class SubsetState : uint8_t {
  defined,
  attributions_not_finite,
  attributions_all_zero,
  attributions_flat,
  values_not_finite,
  values_flat,
};
// As in UndefinedCounts; not for `defined`.
std::string_view subset_state_reason(SubsetState state);

// Standard deviations up to which a side does not vary.
struct SideRounding {
  double sums = 0;
  double values = 0;
};

// What the attributions of a row alone tell: `defined` where a correlation may exist.
SubsetState subset_attribution_state(std::span<const float> attributions);
// Of a row with these attributions. value_rounding: Game::rounding() times the largest |v| that was seen.
SideRounding subset_side_rounding(const SubsetDesign& design, std::span<const float> attributions,
                                  double value_rounding);

struct SubsetCorrelation {
  double correlation = NAN;
  double standard_error = NAN;  // 0 when all subsets are there
  SubsetState state = SubsetState::defined;
};

// Of sums of attributions with what the values lose: minus the correlation with `values`, those of what is left.
// population: how many subsets there are. influences: room for that of each subset, or none; written where the
// correlation is defined and subsets were drawn.
SubsetCorrelation correlate_with_loss(std::span<const double> sums, std::span<const double> values,
                                      const SideRounding& rounding, double population,
                                      std::span<double> influences = {});

struct SubsetCorrelations {
  // Rows x designs.
  Matrix64 correlation;
  Matrix64 standard_error;
  OwnedMatrix<SubsetState> state;
  // The error that comes from the subsets alone, which all rows share: of each design's mean over its defined rows, and
  // of the mean over rows of each row's mean over its defined designs. 0 when all subsets are there.
  std::vector<double> design_error;
  double shared_error = 0;
  uint64_t evaluations = 0;
};

// For each row of the game and each design. attributions: rows x players. Rows whose attributions settle that there is
// no correlation (not finite, all zero, all equal) are not played.
SubsetCorrelations correlate_subsets(const Game& game, MatrixView<const float> attributions,
                                     std::span<const SubsetDesign> designs, const Context& context,
                                     std::string_view task);

// Fills values, standard errors and the shared error (unless the design is whole), reasons and evaluations from one
// design.
void score_by_subsets(const Game& game, MatrixView<const float> attributions, const SubsetDesign& design,
                      Scores& scores, const Context& context, std::string_view task);

}  // namespace assay
