// How far mixtures of m members differ between neighbouring rows, from one m x m matrix for each pair of rows.
//
// For a row x and a neighbour z, the Gram matrix of the members' differences is G_jk = (g_j(x) - g_j(z)).(g_k(x) -
// g_k(z)). For all weights w, || sum over j of w_j (g_j(x) - g_j(z)) ||^2 = w' G w, so explanations are read once,
// however many weights are tried. G is computed from differences, not from products of whole rows, so close rows lose
// no digits.
//
// Pairs are those of the sensitivity criteria: a row and a neighbour of its class within the radius. Rows and
// neighbours where a member is not all numbers are left out. All members have unit norm, those of the pool too.
//
// Cost: m (m + 1) / 2 inner products over the players for each pair, in float64. The matrices are kept if they fit into
// `most_bytes`; otherwise each pass makes them again. The order of a row's pairs does not depend on threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/aggregate/aggregator.h"
#include "assay/aggregate/members.h"
#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/evaluate/neighbourhoods/neighbourhoods.h"
#include "assay/evaluate/pool_explanations.h"
#include "assay/evaluate/scores.h"

namespace assay {

// The name of the table that holds the radius of an aggregate's neighbourhoods: one number.
inline constexpr std::string_view kRadiusTable = "radius";

// The options of neighbourhoods, as the sensitivity criteria have them; D is l2.
struct MixtureNeighbourOptions : RadiusOptions {
  // The same options for the criteria. normalise: "raw" or "unit".
  NeighbourhoodOptions criterion_options(const std::string& normalise) const;
};

// The size of a packed symmetric matrix: its upper triangle, row by row.
inline size_t packed_size(size_t members) { return members * (members + 1) / 2; }
// q with w' G w = sum over i of q_i G_i, for packed G.
std::vector<double> packed_products(std::span<const double> weights);
double packed_sum(std::span<const double> gram, std::span<const double> products);

// Some or all pairs of one row.
struct PairSpan {
  size_t count = 0;
  const double* grams = nullptr;     // packed, one after another
  const double* factors = nullptr;   // by pair: 1, or 1 / rho
  const uint32_t* others = nullptr;  // by pair: the neighbour, as its row in pool_grams()
};

class PairGrams {
 public:
  static constexpr size_t kMostBytes = size_t{1} << 30;

  // Predicts classes, finds neighbours, and explains them by every member's method where that is not done yet.
  PairGrams(const AggregateTask& task, const Members& members, const MixtureNeighbourOptions& options,
            const Context& context, size_t most_bytes = kMostBytes);

  size_t members() const { return members_->size(); }
  // Rows with at least one neighbour, ascending, and how many each has.
  std::span<const size_t> rows() const { return rows_; }
  std::span<const uint64_t> counts() const { return counts_; }
  uint64_t pairs() const { return pairs_; }
  bool kept() const { return kept_; }
  bool weighted() const { return weighted_; }  // whether factors are other than 1
  const Neighbourhoods& neighbourhoods() const { return neighbourhoods_; }
  // Rows that the model predicted.
  uint64_t evaluations() const { return neighbourhoods_.evaluations() + evaluations_; }
  // kRadiusTable.
  ScoreTable radius_table() const { return {std::string(kRadiusTable), {"radius"}, {{neighbourhoods_.radius()}}}; }
  // "neighbourhoods: radius 0.3; 97 of 100 rows have neighbours, ..."
  std::string description(size_t all_rows) const;

  // Calls see(i, pairs) with the pairs of rows()[i], for every i. All pairs of a row come in one call if `whole` or if
  // the matrices are kept; else in several calls, one after the other. Different rows may come from several threads.
  using See = std::function<void(size_t i, const PairSpan& pairs)>;
  void each_pair(bool whole, const See& see, const Context& context) const;

  // Packed Gram matrices of the members themselves, one for each of rows(), and one for each neighbour.
  Matrix64 row_grams() const;
  Matrix64 pool_grams() const;

  // Mixtures of the members' explanations of the pool. NaN for rows that are nobody's neighbour, or where a member is
  // not all numbers.
  PoolExplanations mixed_pool(std::span<const double> weights) const;

 private:
  friend class PairCollector;
  struct KeptRow {
    std::vector<double> grams;
    std::vector<double> factors;
    std::vector<uint32_t> others;
  };
  void stream_pairs(bool whole, const See& see, const Context& context) const;
  std::vector<std::vector<uint32_t>> comparable_places() const;
  PoolOutputs::Values explained_neighbours(const Context& context);

  const AggregateTask* task_;
  const Members* members_;
  bool weighted_;
  Neighbourhoods neighbourhoods_;
  std::vector<size_t> rows_;
  std::vector<uint64_t> counts_;
  std::vector<size_t> slot_of_row_;     // by row: its index in rows_
  std::vector<uint32_t> slot_of_pool_;  // by row of the pool: its index in pool_rows_, or kNoSlot
  std::vector<size_t> pool_rows_;       // neighbours, ascending
  std::vector<Matrix> pool_values_;     // by member: neighbours x players, rows of unit norm
  uint64_t evaluations_ = 0;            // for the outputs and bases of neighbours
  uint64_t pairs_ = 0;
  bool kept_ = false;
  std::vector<KeptRow> kept_rows_;
};

}  // namespace assay
