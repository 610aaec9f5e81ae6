// The antecedents of rows: their nearest rows of a pool, with inverse-distance weights
//   weight_z = rho(x, z)^-1 / sum over the antecedents z' of rho(x, z')^-1.
// Where some are at distance 0 the limit holds: those alone are antecedents, all of the same weight.
//
// Ties of distance are broken by row. Cost: that of the neighbour search (data/neighbours.h).
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
  std::vector<size_t> first = {0};  // those of query q are items first[q] .. first[q + 1] - 1, the nearest first
  std::vector<Antecedent> items = {};
  std::vector<double> reach = {};  // of each query, the distance of its last antecedent; NaN where it has none
  size_t widest = 0;               // the most that a query has
  size_t few = 0;                  // queries with fewer than k rows to choose from, and at least one
  size_t coincident = 0;           // queries with antecedents at distance 0

  size_t queries() const { return first.size() - 1; }
  std::span<const Antecedent> of(size_t query) const {
    return std::span(items).subspan(first[query], first[query + 1] - first[query]);
  }
};

Antecedents find_antecedents(const Dataset& pool, MatrixView<const float> queries, const AntecedentSearch& search,
                             const Context& context);

}  // namespace assay
