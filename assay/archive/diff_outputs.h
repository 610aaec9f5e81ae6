// What changed between two studies in what the model says and in what drives it. Unlike many scores, this can be said
// even if the studies explain other units or targets.
//
//   predictions  rows whose predicted class changed, and the mean of |output after - output before|, for the same rows
//   drivers      a player's share of a row is |attribution| / sum over players of |attribution|, which has no unit. Its
//                mean over rows ranks the players. Changes are tested by Student's paired t over the same rows, else by
//                Welch's t, Holm-adjusted over the players (Holm 1979)
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "assay/explain/explanations.h"
#include "assay/study/assess.h"

namespace assay {

struct PredictionChanges {
  size_t rows = 0;           // that both explain; 0: the rows are not the same, and nothing else is known
  bool classes = false;      // whether the predicted class of each row is known in both
  size_t other_class = 0;    // rows whose predicted class changed
  size_t same_target = 0;    // rows whose output is of the same target, if both have one unit
  double mean_change = NAN;  // of their outputs: mean of |after - before|
  double mean_size = NAN;    // mean of |before|, to compare it with
};

struct DriverChange {
  std::string player;
  double before = NAN;  // mean share, 0 to 1; NaN if the study does not have the player
  double after = NAN;
  size_t rank_before = 0;  // among all players of the study, from 1: the largest mean share; 0 if it does not have it
  size_t rank_after = 0;
  EntryComparison test = {};  // of after against before
  double adjusted_p = NAN;
};

struct DriverChanges {
  std::string explanation = {};  // whose attributions are compared; empty: there are none to compare
  // All players of both studies: those of the first, the largest first, then those that only the second has.
  std::vector<DriverChange> players = {};
  bool same_players = true;
  bool tested = true;  // false: each study drew its own background rows, and no p-value is known
};

// Explanations of the same rows, in the same order.
PredictionChanges prediction_changes(const Explanations& before, const Explanations& after);

// same_rows: whether row i of both is the same row.
DriverChanges driver_changes(const std::string& explanation, const Explanations& before, const Explanations& after,
                             bool same_rows);

}  // namespace assay
