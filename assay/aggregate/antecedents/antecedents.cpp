#include "assay/aggregate/antecedents/antecedents.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

// The queries of one kind, and the pool rows that they may have.
struct Part {
  std::vector<size_t> pool_rows;
  std::vector<size_t> queries;
};

std::vector<Part> parts_of(const AntecedentSearch& search, size_t pool_rows, size_t queries) {
  const bool one = search.pool_kinds.empty();
  size_t kinds = 1;
  for (const uint32_t kind : search.pool_kinds) kinds = std::max<size_t>(kinds, kind + 1);
  for (const uint32_t kind : search.query_kinds) kinds = std::max<size_t>(kinds, kind + 1);
  std::vector<Part> parts(kinds);
  for (size_t q = 0; q < queries; q++) parts[one ? 0 : search.query_kinds[q]].queries.push_back(q);
  for (size_t z = 0; z < pool_rows; z++) {
    Part& part = parts[one ? 0 : search.pool_kinds[z]];
    if (!part.queries.empty()) part.pool_rows.push_back(z);  // nobody asks for the others
  }
  std::erase_if(parts, [](const Part& part) { return part.queries.empty() || part.pool_rows.empty(); });
  return parts;
}

// The antecedents among these neighbours, which come sorted.
void add_antecedents(std::span<const Neighbour> near, std::vector<Antecedent>& items) {
  const double nearest = near[0].distance;
  const size_t begin = items.size();
  double total = 0;
  for (const Neighbour& each : near) {
    if (nearest == 0 && each.distance > 0) break;
    const double inverse = nearest == 0 ? 1.0 : 1 / each.distance;
    items.push_back({each.row, inverse});
    total += inverse;
  }
  for (size_t i = begin; i < items.size(); i++) items[i].weight /= total;
}

}  // namespace

Antecedents find_antecedents(const Dataset& pool, MatrixView<const float> queries, const AntecedentSearch& search,
                             const Context& context) {
  const std::vector<Part> parts = parts_of(search, pool.rows(), queries.rows());
  std::vector<std::vector<size_t>> rows;
  for (const Part& part : parts) rows.push_back(part.pool_rows);
  const std::vector<NeighbourIndex> indices = NeighbourIndex::of_parts(pool, search.norm, search.space, rows, context);
  std::vector<Neighbours> found;
  std::vector<std::span<const Neighbour>> near(queries.rows());
  found.reserve(parts.size());  // `near` points into them
  for (size_t p = 0; p < parts.size(); p++) {
    const std::vector<size_t>& numbers = parts[p].queries;
    Matrix asked(numbers.size(), queries.cols());
    std::vector<size_t> excluded;
    for (size_t i = 0; i < numbers.size(); i++) {
      std::ranges::copy(queries.row(numbers[i]), asked.row(i).begin());
      if (!search.in_pool.empty()) excluded.push_back(search.in_pool[numbers[i]]);
    }
    found.push_back(indices[p].nearest(asked.view(), search.k, context, excluded));
    for (size_t i = 0; i < numbers.size(); i++) near[numbers[i]] = found.back().of(i);
  }
  Antecedents made;
  for (const auto& of_query : near) {
    if (!of_query.empty()) {
      add_antecedents(of_query, made.items);
      if (of_query.size() < search.k) made.few++;
      if (of_query[0].distance == 0) made.coincident++;
    }
    const size_t count = made.items.size() - made.first.back();
    made.reach.push_back(count == 0 ? NAN : of_query[count - 1].distance);
    made.widest = std::max(made.widest, count);
    made.first.push_back(made.items.size());
  }
  return made;
}

}  // namespace assay
