// The correlation behind faithfulness and similar criteria: over subsets S of the players, Pearson's correlation of
//   sum over i in S of phi_i   with   v(N) - v(N without S),
// where v(S) is the explained value with the players of S as in the row and all others as in the reference (the mean
// over a background). v(N) is the same for all subsets and does not change the correlation, so it is not computed.
//
// Undefined where either side is constant up to rounding:
// - sums: when their standard deviation is at most 1e-6 sqrt(|S|) max |phi_i|, as it is for float32 attributions that
//   differ in their last bits only;
// - values: when their standard deviation is at most Game::rounding() times the largest |v| that was seen. That is
//   2.5e-7 for values that are the model's outputs, and 4e-6 for the fast games, which are within 3e-6 of these.
//
// Standard error, if n of M subsets were drawn. With u and w the two standardised sides and r their correlation, the
// influence of a subset on r is u w - r (u^2 + w^2) / 2, which has mean 0. Then
//   error^2 = (1 - n / M) sum of influence^2 / (n (n - 1)),
// the infinitesimal jackknife with the factor for sampling without replacement. Unlike (1 - r^2) / sqrt(n - 1), it does
// not assume that the two sides are normal.
// All rows share the subsets. So the error of a mean over rows that comes from the subsets is the same formula with the
// mean over rows of a subset's influence. It does not fall as rows are added.
// Cost: a game value for each subset, row and reference row.
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
#include "assay/evaluate/subsets/subset_values.h"
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
// The reason for UndefinedCounts; not for `defined`.
std::string_view subset_state_reason(SubsetState state);

// A side counts as constant if its standard deviation is at most this.
struct SideRounding {
  double sums = 0;
  double values = 0;
};

// The state as far as the attributions of a row decide it: `defined` where a correlation may exist.
SubsetState subset_attribution_state(std::span<const float> attributions);
// The limits for a row with these attributions. value_rounding: Game::rounding() times the largest |v| that was seen.
SideRounding subset_side_rounding(const SubsetDesign& design, std::span<const float> attributions,
                                  double value_rounding);

struct SubsetCorrelation {
  double correlation = NAN;
  double standard_error = NAN;  // 0 when all subsets are there
  SubsetState state = SubsetState::defined;
};

// The correlation of the sums of attributions with what the value loses: minus their correlation with `values`, the
// values that are left after removal. population: how many subsets there are in all. influences, if not empty, receives
// the influence of each subset where the correlation is defined and subsets were drawn.
SubsetCorrelation correlate_with_loss(std::span<const double> sums, std::span<const double> values,
                                      const SideRounding& rounding, double population,
                                      std::span<double> influences = {});

struct SubsetCorrelations {
  // Rows x designs.
  Matrix64 correlation;
  Matrix64 standard_error;
  OwnedMatrix<SubsetState> state;
  // The error that comes from drawing subsets, which all rows share; 0 if all subsets are there. design_error: by
  // design, the error of its mean over its defined rows. shared_error: that of the mean over rows, where the score of a
  // row is the mean over its defined designs.
  std::vector<double> design_error;
  double shared_error = 0;
  uint64_t evaluations = 0;
};

// The correlations for each row of the game and each design. attributions: rows x players. The game is not played for
// rows whose attributions rule out a correlation (not finite, all zero, all equal). shared_values: of this game, or
// null. If they have room, values come from there, and all rows are played once; every bit is the same.
SubsetCorrelations correlate_subsets(const Game& game, MatrixView<const float> attributions,
                                     std::span<const SubsetDesign> designs, const Context& context,
                                     std::string_view task, SubsetValues* shared_values = nullptr);

// Fills values, standard errors and the shared error (unless the design is whole), reasons and evaluations from one
// design.
void score_by_subsets(const Game& game, MatrixView<const float> attributions, const SubsetDesign& design,
                      Scores& scores, const Context& context, std::string_view task,
                      SubsetValues* shared_values = nullptr);

}  // namespace assay
