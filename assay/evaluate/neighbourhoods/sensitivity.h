// Sensitivity over data neighbourhoods: the mean or the largest of D(g(x), g(z)), or of D(g(x), g(z)) / rho(x, z), over
// z in N_r(x).
//
// Every pair is computed in float64. Sums run over the neighbours in the order of the index, in eight lanes that are
// added up at the end. So the bits depend neither on threads nor on the vector target.
//
// Cost: two passes over the pairs of each class; the first only finds rows of the pool that are not explained yet.
// Memory: another copy of the pool and its explanations, whatever the number of pairs. Time: about 4 ns on one core for
// a pair of rows with 14 players.
#pragma once

#include <string_view>
#include <utility>

#include "assay/core/context.h"
#include "assay/evaluate/criterion.h"
#include "assay/evaluate/neighbourhoods/kernels.h"
#include "assay/evaluate/neighbourhoods/neighbourhoods.h"
#include "assay/evaluate/scores.h"

namespace assay {

inline constexpr std::string_view kNoNeighbour = "no neighbour of its class within the radius";
inline constexpr std::string_view kNoComparable = "no neighbour whose attributions can be compared";

// Fills values, undefined, notes and evaluations. A neighbour is left out if its attributions are not all finite, or if
// its distance is undefined (cosine with one zero vector); a note counts such neighbours.
void score_sensitivity(const EvaluateTask& task, const NeighbourhoodOptions& options, Fold fold, Scores& scores,
                       const Context& context);
// The same over neighbourhoods that are already known, for several explanations of the same rows. All neighbours must
// be explained; the evaluations that found the neighbourhoods are not counted.
void score_in_neighbourhoods(const EvaluateTask& task, const Neighbourhoods& neighbourhoods,
                             const NeighbourhoodOptions& options, Fold fold, Scores& scores, const Context& context);

// The criterion with this fold.
template <Fold fold>
class NeighbourSensitivity final : public Criterion {
 public:
  using Options = NeighbourhoodOptions;

  explicit NeighbourSensitivity(Options options) : options_(std::move(options)) {}
  void score(const EvaluateTask& task, Scores& scores, const Context& context) const override {
    score_sensitivity(task, options_, fold, scores, context);
  }

 private:
  Options options_;
};

}  // namespace assay
