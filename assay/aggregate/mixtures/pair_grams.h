// What mixtures of members do between neighbours, in m x m matrices.
//
// For a row x and a neighbour z the members' differences have the Gram matrix G_jk = (g_j(x) - g_j(z)).(g_k(x) -
// g_k(z)) and || sum over j of w_j (g_j(x) - g_j(z)) ||^2 = w' G w for all weights w: the explanations are read once,
// however many weights are tried. G comes from differences, not from products of whole rows, so that close rows lose
// nothing.
//
// Pairs are those of the sensitivity criteria: neighbours of the row's class within the radius; a row, or a neighbour,
// with a member that is not all numbers takes no part. All members have unit norm, those of the pool too.
//
// Cost: m (m + 1) / 2 products of as many numbers as there are players for each pair, in float64. Matrices are kept
// while they fit into `most_bytes` and otherwise made again in each pass. The order of a row's pairs is that of the
// index, whatever the threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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

// The table of an aggregate that says which radius its neighbourhoods have: one number.
inline constexpr std::string_view kRadiusTable = "radius";

// The options of neighbourhoods, as the sensitivity criteria have them; D is l2.
struct MixtureNeighbourOptions {
  std::string rho = "linf";
  std::string space = "scaled";
  std::optional<double> radius = {};
  std::string weighting = "uniform";

  void describe(OptionVisitor& visit) {
    visit.choice("rho", rho, "norm of the distance between rows", {"linf", "l1", "l2"});
    visit.choice("space", space,
                 "columns scaled by their deviation on the pool with categorical mismatch 1, or as they are",
                 {"scaled", "raw"});
    visit.real_or("radius", radius, "auto",
                  "of the neighbourhood, in units of the space; auto gives the median row ten neighbours and lies "
                  "between distances",
                  "", 0, 1e38);
    visit.choice("weighting", weighting, "distances of explanations as they are, or each divided by rho",
                 {"uniform", "inverse_distance"});
  }
  // As the criteria take them; normalise: raw or unit.
  NeighbourhoodOptions criterion_options(const std::string& normalise) const;
};

// A symmetric matrix as its rows from the diagonal on.
inline size_t packed_size(size_t members) { return members * (members + 1) / 2; }
// q with w' G w = sum over i of q_i G_i, for packed G.
std::vector<double> packed_products(std::span<const double> weights);
double packed_sum(std::span<const double> gram, std::span<const double> products);

// Some or all pairs of one row.
struct PairSpan {
  size_t count = 0;
  const double* grams = nullptr;     // packed, one after another
  const double* factors = nullptr;   // 1, or 1 / rho
  const uint32_t* others = nullptr;  // which of the neighbours, as pool_grams() counts them
};

class PairGrams {
 public:
  static constexpr size_t kMostBytes = size_t{1} << 30;

  // Predicts classes, finds neighbours and has them explained by every member.
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
  // "radius 0.3 (...), 97 of 100 rows have neighbours, ..."
  std::string description(size_t all_rows) const;

  // see(i, pairs) for every row i of rows(): in one call when `whole` or when the matrices are kept, else in several
  // that come one after the other. From several threads at once for different rows.
  using See = std::function<void(size_t i, const PairSpan& pairs)>;
  void each_pair(bool whole, const See& see, const Context& context) const;

  // Packed Gram matrices of the members themselves, for each of rows() and for each neighbour.
  Matrix64 row_grams() const;
  Matrix64 pool_grams() const;

  // The mixture of the pool's members: NaN where a member is not all numbers and where a row is nobody's neighbour.
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
  std::vector<size_t> slot_of_row_;     // in rows_
  std::vector<uint32_t> slot_of_pool_;  // in pool_rows_, kNoSlot where none
  std::vector<size_t> pool_rows_;       // neighbours, ascending
  std::vector<Matrix> pool_values_;     // of each member, a row for each neighbour, of unit norm
  uint64_t evaluations_ = 0;            // to know outputs and bases of neighbours
  uint64_t pairs_ = 0;
  bool kept_ = false;
  std::vector<KeptRow> kept_rows_;
};

}  // namespace assay
