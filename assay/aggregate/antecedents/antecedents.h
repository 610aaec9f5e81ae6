// The antecedents of rows: their nearest rows of a pool, with inverse-distance weights
//   weight_z = rho(x, z)^-1 / sum over the antecedents z' of rho(x, z')^-1.
// If some rows are at distance 0, only those are antecedents, with equal weights (the limit).
//
// Of rows at the same distance, the lower row number comes first. Cost: the neighbour search (data/neighbours.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/core/context.h"
#include "assay/core/matrix.h"
#include "assay/data/dataset.h"
#include "assay/data/neighbours.h"

namespace assay {

struct AntecedentSearch {
  size_t k = 10;
  Norm norm = Norm::linf;
  Space space = Space::scaled;
  // Only pool rows of a query's own kind are its antecedents. Empty: all are of one kind.
  std::span<const uint32_t> pool_kinds = {};
  std::span<const uint32_t> query_kinds = {};
  std::span<const size_t> in_pool = {};  // as in Subject
};

struct Antecedent {
  size_t row = 0;  // of the pool
  double weight = 0;
};

struct Antecedents {
  std::vector<size_t> first = {0};  // query q has items first[q] .. first[q + 1] - 1, the nearest first
  std::vector<Antecedent> items = {};
  std::vector<double> reach = {};  // by query: the distance of its last antecedent; NaN where it has none
  size_t widest = 0;               // the largest number of antecedents of a query
  size_t few = 0;                  // queries with at least one row to choose from, but fewer than k
  size_t coincident = 0;           // queries with antecedents at distance 0

  size_t queries() const { return first.size() - 1; }
  std::span<const Antecedent> of(size_t query) const {
    return std::span(items).subspan(first[query], first[query + 1] - first[query]);
  }
};

Antecedents find_antecedents(const Dataset& pool, MatrixView<const float> queries, const AntecedentSearch& search,
                             const Context& context);

}  // namespace assay
