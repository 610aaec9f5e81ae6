// Replicates: what attributions might be with another draw of the background's rows and of what the method samples.
//
// Marginal errors of values (Explanations::background_error, standard_error) cannot say how sure an order of features
// is: values that come from the same background rows move together. Replicates keep that. A replicate is the values
// plus joint deviations, with the same draw z for all rows and players:
//
//   background   its rows, in their order, make G = min(rows, 100) groups of nearly equal size, and the rows are
//                explained against each group alone: phi_g. Of a plain draw, the deviation is
//                  sum over g of z_g w_g (phi_g - mean) sqrt(G / (G - 1)),
//                with w_g the group's share of the rows. Of ordered strata, which neighbouring groups share, it is
//                  sum over i of z_i c_i (phi_i - 2 phi_i+1 + phi_i+2) / sqrt(6 G (G - 2)),
//                with c_i = 1 for groups of equal size (VectorMoments says why second differences). Both are multiplied
//                by sqrt(1 - n / N) for n rows that were drawn from N: what is meant is the value against all of them.
//   sampling     the method is run with 16 other seeds: phi_s. The deviation is sum over s of z_s (phi_s - mean) /
//                sqrt(15). It is independent of the background's.
//
// z are standard normal numbers that depend on the seed and the replicate alone.
//
// Cost: about as much again as the explanations (the groups together have the background's rows), and 16 times as much
// for a sampled method. Memory: 4 bytes for each replicate of each value.
#pragma once

#include <cstddef>

#include "assay/core/context.h"
#include "assay/core/options.h"
#include "assay/explain/explanations.h"
#include "assay/explain/subject.h"

namespace assay {

inline constexpr size_t kUsualReplicates = 1000;
// What replicates may take in memory: 256 MiB.
inline constexpr size_t kMostReplicateNumbers = size_t{1} << 26;

// Whether another seed could give other values. A sampled method that has few players plays every coalition; then
// nothing in it is sampled.
bool has_sampling_error(const Explanations& explanations);

// As many as usual, or as fit.
size_t usual_replicates(size_t rows, size_t players);

// An input error if so many replicates of rows x players do not fit. Call it before any work.
void check_replicates(size_t count, size_t rows, size_t players);

// explain() and `count` replicates, which are checked where there are any. There are none where nothing is drawn: a
// reference that is no draw, and a method that samples nothing. A note says so where a draw is too small to show its
// own error.
Explanations explain_with_replicates(const Spec& method, const Subject& subject, size_t count, const Context& context);

}  // namespace assay
