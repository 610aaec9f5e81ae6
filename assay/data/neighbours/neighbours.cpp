#include "assay/data/neighbours.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/parallel.h"
#include "assay/data/neighbours/blocks.h"
#include "assay/data/neighbours/lists.h"
#include "assay/data/neighbours/scan.h"
#include "assay/data/neighbours/space.h"
#include "assay/data/neighbours/tree.h"

namespace assay {
namespace {

// Beyond this many coordinates boxes exclude hardly any block, and testing them costs more than it saves.
constexpr size_t kMostTreeCoordinates = 24;
// Queries of one task: enough to share a block read from memory, few enough that their lists stay in cache.
constexpr size_t kBatch = 32;

}  // namespace

struct NeighbourIndex::State {
  NeighbourSpace space;
  std::optional<NeighbourTree> tree;
  std::optional<NeighbourBlocks> blocks;

  State(const Dataset& pool, Norm norm, Space kind) : space(pool, kind) {
    if (pool.rows() > std::numeric_limits<uint32_t>::max()) {
      fail_input(pool_name(pool), "at most 4294967295 rows", fmt::format("{}", pool.rows()));
    }
    const Matrix coordinates = space.map(pool_name(pool), pool.x.view(), 0, pool.rows());
    if (space.coordinates() <= kMostTreeCoordinates) {
      blocks.emplace(space, coordinates.view(), norm, tree_order(space, coordinates.view()));
      tree.emplace(*blocks);
    } else {
      std::vector<uint32_t> rows(pool.rows());
      std::iota(rows.begin(), rows.end(), 0u);
      blocks.emplace(space, coordinates.view(), norm, rows);
    }
  }

  void check(MatrixView<const float> queries, std::span<const size_t> excluded) const {
    if (queries.cols() != space.columns()) {
      fail_input("the queries of a neighbour search", fmt::format("{} columns, as in the pool", space.columns()),
                 fmt::format("{}", queries.cols()));
    }
    if (excluded.empty()) return;
    if (excluded.size() != queries.rows()) {
      fail_input("the excluded rows of a neighbour search",
                 fmt::format("none, or one for each of the {} queries", queries.rows()),
                 fmt::format("{}", excluded.size()));
    }
    for (const size_t row : excluded) {
      if (row != kNoRow && row >= blocks->rows()) {
        fail_input("the excluded rows of a neighbour search",
                   fmt::format("rows below {}, the size of the pool, or kNoRow", blocks->rows()),
                   fmt::format("{}", row));
      }
    }
  }

  // make(excluded row) -> an empty list; the lists of all queries come back filled and in order.
  template <class Make>
  Neighbours search(MatrixView<const float> queries, const Context& context, std::span<const size_t> excluded,
                    const Make& make) const {
    using List = decltype(make(kNoRow));
    check(queries, excluded);
    const size_t d = space.coordinates();
    std::vector<size_t> offsets(queries.rows() + 1, 0);
    std::vector<std::vector<Neighbour>> found(block_count(queries.rows(), kBatch));
    parallel_blocks(
        context, queries.rows(), kBatch,
        [&](const Block& batch) {
          const Matrix mapped = space.map("the queries of a neighbour search", queries, batch.begin, batch.end);
          Matrix values(mapped.rows(), d);
          std::vector<BlockQuery> block_queries;
          std::vector<List> lists;
          for (size_t i = 0; i < mapped.rows(); ++i) {
            block_queries.push_back(blocks->query(mapped.row(i), values.row(i).data()));
            lists.push_back(make(excluded.empty() ? kNoRow : excluded[batch.begin + i]));
          }
          if (!tree) scan(*blocks, block_queries, std::span(lists));
          size_t total = 0;
          for (size_t i = 0; i < lists.size(); ++i) {
            if (tree) tree->search(*blocks, block_queries[i], lists[i]);
            lists[i].sort();
            offsets[batch.begin + i + 1] = lists[i].items().size();
            total += lists[i].items().size();
          }
          found[batch.index].reserve(total);
          for (const List& list : lists) {
            found[batch.index].insert(found[batch.index].end(), list.items().begin(), list.items().end());
          }
        },
        "finding neighbours");
    std::inclusive_scan(offsets.begin(), offsets.end(), offsets.begin());
    std::vector<Neighbour> items;
    items.reserve(offsets.back());
    for (auto& batch : found) {
      items.insert(items.end(), batch.begin(), batch.end());
      std::vector<Neighbour>().swap(batch);  // a wide radius finds gigabytes: hold them once
    }
    return {std::move(offsets), std::move(items)};
  }
};

NeighbourIndex::NeighbourIndex(const Dataset& pool, Norm norm, Space space)
    : state_(std::make_unique<State>(pool, norm, space)) {}
NeighbourIndex::~NeighbourIndex() = default;
NeighbourIndex::NeighbourIndex(NeighbourIndex&&) noexcept = default;
NeighbourIndex& NeighbourIndex::operator=(NeighbourIndex&&) noexcept = default;

size_t NeighbourIndex::rows() const { return state_->blocks->rows(); }

Neighbours NeighbourIndex::nearest(MatrixView<const float> queries, size_t k, const Context& context,
                                   std::span<const size_t> excluded) const {
  if (k == 0) fail_input("the number of neighbours", "at least 1", "0");
  return state_->search(queries, context, excluded, [&](size_t row) { return NearestList(k, row); });
}

Neighbours NeighbourIndex::within(MatrixView<const float> queries, double radius, const Context& context,
                                  std::span<const size_t> excluded) const {
  if (!(radius >= 0)) fail_input("the radius of a neighbourhood", "0 or more", fmt::format("{}", radius));
  return state_->search(queries, context, excluded, [&](size_t row) { return RadiusList(radius, row); });
}

double NeighbourIndex::distance(std::span<const float> query, size_t row) const {
  const MatrixView<const float> queries(query.data(), 1, query.size());
  state_->check(queries, {});
  if (row >= rows()) {
    fail_input("the row of a distance", fmt::format("below {}, the size of the pool", rows()), fmt::format("{}", row));
  }
  const Matrix mapped = state_->space.map("the query of a distance", queries, 0, 1);
  std::vector<float> values(state_->space.coordinates());
  return state_->blocks->distance(state_->blocks->query(mapped.row(0), values.data()), row);
}

}  // namespace assay
