// A sample of complementary pairs of coalitions (S, N \ S) for Kernel SHAP, stratified by size, without replacement.
//
// Sizes k and d - k make a stratum of C(d, k) pairs (half as many for k = d / 2, where both halves of a pair have the
// same size). The Shapley kernel gives a stratum the mass sum over its sizes of (d - 1) / (k (d - k)). The pairs that
// are drawn share this mass equally, so that sampled sums are unbiased, and strata taken whole have their true weights.
//
// How many pairs a stratum gets is in proportion to, for each of its sizes k,
//   kernel    1 / (k (d - k)): as the regression weighs it, what SHAP and Captum do;
//   leverage  1: leverage scores of the regression add up to the same for each size (Musco and Witter 2025);
//   balanced  1 / sqrt(k (d - k)), between the two. The influence of a pair is its weight, mass / count, times the
//             length of its centred regressor, sqrt(k (d - k) / d). So if residuals have the same spread at all sizes,
//             this is Neyman's allocation, the one of least variance.
// A stratum whose share covers it is taken whole, and the others share the rest. Each gets at least two pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/core/context.h"
#include "assay/explain/games/coalitions.h"

namespace assay {

enum class PairAllocation { kernel, leverage, balanced };

struct PairStratum {
  size_t size = 0;   // the smaller of the two sizes
  size_t begin = 0;  // its pairs are begin .. end - 1
  size_t end = 0;
  double population = 0;  // how many pairs there are to draw from; may be larger than any integer type
  double mass = 0;        // of the Shapley kernel

  double weight() const { return mass / static_cast<double>(end - begin); }  // of each pair
  bool whole() const { return static_cast<double>(end - begin) >= population; }
};

struct PairDesign {
  // In this order: the empty coalition, all players, the smaller coalition of every pair, the larger one of every pair.
  Coalitions coalitions;
  std::vector<PairStratum> strata;  // by size; all sizes are there

  size_t pairs() const { return (coalitions.size() - 2) / 2; }
};

// Draws `pairs` pairs by the context's seed. There must be at least two players. `pairs` is at least `players`, and
// less than the number of all pairs, 2^(players - 1) - 1.
PairDesign make_pair_design(size_t players, size_t pairs, PairAllocation allocation, const Context& context);

// The strata of sizes 1 .. players / 2, with the number of pairs that each gets.
std::vector<PairStratum> allocate_pairs(size_t players, size_t pairs, PairAllocation allocation);

}  // namespace assay
