// Sensitivity over data neighbourhoods: the mean or the largest of D(g(x), g(z)), or of D(g(x), g(z)) / rho(x, z), over
// z in N_r(x).
//
// Every pair is computed in float64. Sums run over the neighbours in the order of the index's places, in eight lanes
// that are added up last; so the bits depend neither on threads nor on the vector target.
//
// Cost: two passes through the pairs of one class, of which the first looks only for rows of the pool that nobody has
// needed yet; memory for the pool and its explanations once more, whatever the number of pairs. About 4 ns on one core
// for a pair of rows with 14 players.
#pragma once

#include "assay/core/context.h"
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/neighbourhoods/kernels.h"
#include "assay/evaluate/neighbourhoods/neighbourhoods.h"
#include "assay/evaluate/scores.h"

namespace assay {

inline constexpr std::string_view kNoNeighbour = "no neighbour of its class within the radius";
inline constexpr std::string_view kNoComparable = "no neighbour whose attributions can be compared";

// Fills values, undefined, notes and evaluations. A neighbour with attributions that are not all finite, or whose
// distance is undefined (cosine with one zero vector), is left out, and a note counts them.
void score_sensitivity(const EvaluateTask& task, const NeighbourhoodOptions& options, Fold fold, Scores& scores,
                       const Context& context);
// The same over neighbourhoods that are already known, for several explanations of the same rows. All neighbours must
// be explained; the evaluations that found the neighbourhoods are not counted.
void score_in_neighbourhoods(const EvaluateTask& task, const Neighbourhoods& neighbourhoods,
                             const NeighbourhoodOptions& options, Fold fold, Scores& scores, const Context& context);

}  // namespace assay
