#include "assay/data/neighbours.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "assay/core/error.h"
#include "assay/core/parallel.h"
#include "assay/data/neighbours/blocks.h"
#include "assay/data/neighbours/gap.h"
#include "assay/data/neighbours/lists.h"
#include "assay/data/neighbours/scan.h"
#include "assay/data/neighbours/space.h"
#include "assay/data/neighbours/stream.h"
#include "assay/data/neighbours/tree.h"

namespace assay {
namespace {

// Beyond this many coordinates boxes exclude hardly any block, and testing them costs more than it saves.
constexpr size_t kMostTreeCoordinates = 24;
// Queries of one task: enough to share a block read from memory, few enough that their lists stay in cache.
constexpr size_t kBatch = kBlockRows;

void check_pool_size(const Dataset& pool) {
  if (pool.rows() < std::numeric_limits<uint32_t>::max()) return;
  fail_input(pool_name(pool), "fewer than 4294967295 rows", fmt::format("{}", pool.rows()));
}

void check_radius(double radius) {
  if (!(radius >= 0)) fail_input("the radius of a neighbourhood", "0 or more", fmt::format("{}", radius));
}

constexpr std::string_view kQueries = "the queries of a neighbour search";

}  // namespace

struct NeighbourIndex::State {
  NeighbourSpace space;
  std::optional<NeighbourTree> tree;
  std::optional<NeighbourBlocks> blocks;

  // coordinates: of the whole pool. rows: those of it that are searched.
  State(NeighbourSpace mapped, MatrixView<const float> pool, MatrixView<const float> coordinates, Norm norm,
        std::vector<uint32_t> rows, const Context& context)
      : space(std::move(mapped)) {
    if (space.coordinates() <= kMostTreeCoordinates) {
      blocks.emplace(space, pool, coordinates, norm, tree_order(space, coordinates, std::move(rows), context));
      context.check_cancelled();
      tree.emplace(*blocks);
    } else {
      blocks.emplace(space, pool, coordinates, norm, rows);
    }
  }

  void check(MatrixView<const float> queries, std::span<const size_t> excluded) const {
    if (queries.cols() != space.columns()) {
      fail_input(kQueries, fmt::format("{} columns, as in the pool", space.columns()),
                 fmt::format("{}", queries.cols()));
    }
    if (excluded.empty()) return;
    if (excluded.size() != queries.rows()) {
      fail_input("the excluded rows of a neighbour search",
                 fmt::format("none, or one for each of the {} queries", queries.rows()),
                 fmt::format("{}", excluded.size()));
    }
    for (const size_t row : excluded) {
      if (row != kNoRow && row >= blocks->pool_rows()) {
        fail_input("the excluded rows of a neighbour search",
                   fmt::format("rows below {}, the size of the pool, or kNoRow", blocks->pool_rows()),
                   fmt::format("{}", row));
      }
    }
  }

  void check_numbers(MatrixView<const float> queries, std::span<const size_t> numbers) const {
    check(queries, {});
    for (const size_t number : numbers) {
      if (number < queries.rows()) continue;
      fail_input(kQueries, fmt::format("numbers below {}, of the rows there are", queries.rows()),
                 fmt::format("{}", number));
    }
  }

  // Maps the queries of these numbers, batch by batch: body(first of the batch, queries of the blocks).
  template <class Body>
  void each_batch(MatrixView<const float> queries, std::span<const size_t> numbers, const Context& context,
                  std::string_view task, const Body& body) const {
    check_numbers(queries, numbers);
    parallel_blocks(
        context, numbers.size(), kBatch,
        [&](const Block& batch) {
          Matrix values(batch.end - batch.begin, blocks->query_room());
          std::vector<BlockQuery> block_queries;
          for (size_t i = batch.begin; i < batch.end; ++i) {
            const Matrix mapped = space.map(kQueries, queries, numbers[i], numbers[i] + 1);
            block_queries.push_back(
                blocks->query(space, queries.row(numbers[i]), mapped.row(0), values.row(i - batch.begin).data()));
          }
          body(batch, std::span<const BlockQuery>(block_queries));
        },
        task);
  }

  // make(excluded row) -> an empty list; the lists of all queries come back filled and in order.
  template <class Make>
  Neighbours search(MatrixView<const float> queries, const Context& context, std::span<const size_t> excluded,
                    const Make& make) const {
    using List = decltype(make(kNoRow));
    check(queries, excluded);
    std::vector<size_t> offsets(queries.rows() + 1, 0);
    std::vector<std::vector<Neighbour>> found(block_count(queries.rows(), kBatch));
    parallel_blocks(
        context, queries.rows(), kBatch,
        [&](const Block& batch) {
          const Matrix mapped = space.map(kQueries, queries, batch.begin, batch.end);
          Matrix values(mapped.rows(), blocks->query_room());
          std::vector<BlockQuery> block_queries;
          std::vector<List> lists;
          for (size_t i = 0; i < mapped.rows(); ++i) {
            block_queries.push_back(
                blocks->query(space, queries.row(batch.begin + i), mapped.row(i), values.row(i).data()));
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

NeighbourIndex::NeighbourIndex(std::unique_ptr<State> state) : state_(std::move(state)) {}

NeighbourIndex::NeighbourIndex(const Dataset& pool, Norm norm, Space space, const Context& context) {
  check_pool_size(pool);
  NeighbourSpace mapped(pool, space);
  context.check_cancelled();
  const Matrix coordinates = mapped.map(pool_name(pool), pool.x.view(), 0, pool.rows());
  context.check_cancelled();
  std::vector<uint32_t> rows(pool.rows());
  std::iota(rows.begin(), rows.end(), 0u);
  state_ =
      std::make_unique<State>(std::move(mapped), pool.x.view(), coordinates.view(), norm, std::move(rows), context);
}

std::vector<NeighbourIndex> NeighbourIndex::of_parts(const Dataset& pool, Norm norm, Space space,
                                                     std::span<const std::vector<size_t>> parts,
                                                     const Context& context) {
  check_pool_size(pool);
  const NeighbourSpace mapped(pool, space);
  const Matrix coordinates = mapped.map(pool_name(pool), pool.x.view(), 0, pool.rows());
  std::vector<NeighbourIndex> made;
  for (const std::vector<size_t>& part : parts) {
    std::vector<uint32_t> rows;
    rows.reserve(part.size());
    for (const size_t row : part) {
      if (row >= pool.rows()) {
        fail_input("the rows of a part of the pool", fmt::format("rows below {}, the size of the pool", pool.rows()),
                   fmt::format("{}", row));
      }
      rows.push_back(static_cast<uint32_t>(row));
    }
    made.push_back(NeighbourIndex(
        std::make_unique<State>(mapped, pool.x.view(), coordinates.view(), norm, std::move(rows), context)));
  }
  return made;
}

NeighbourIndex::~NeighbourIndex() = default;
NeighbourIndex::NeighbourIndex(NeighbourIndex&&) noexcept = default;
NeighbourIndex& NeighbourIndex::operator=(NeighbourIndex&&) noexcept = default;

size_t NeighbourIndex::rows() const { return state_->blocks->rows(); }

std::span<const uint32_t> NeighbourIndex::places() const { return state_->blocks->places(); }

Neighbours NeighbourIndex::nearest(MatrixView<const float> queries, size_t k, const Context& context,
                                   std::span<const size_t> excluded) const {
  if (k == 0) fail_input("the number of neighbours", "at least 1", "0");
  return state_->search(queries, context, excluded, [&](size_t row) { return NearestList(k, row); });
}

Neighbours NeighbourIndex::within(MatrixView<const float> queries, double radius, const Context& context,
                                  std::span<const size_t> excluded) const {
  check_radius(radius);
  return state_->search(queries, context, excluded, [&](size_t row) { return RadiusList(radius, row); });
}

void NeighbourIndex::stream(MatrixView<const float> queries, std::span<const size_t> numbers, double radius,
                            bool distances, const MakeVisitor& make, const Context& context,
                            std::string_view task) const {
  check_radius(radius);
  const NeighbourTree* tree = state_->tree ? &*state_->tree : nullptr;
  state_->each_batch(queries, numbers, context, task, [&](const Block& batch, std::span<const BlockQuery> mapped) {
    const auto visitor = make(numbers.subspan(batch.begin, batch.end - batch.begin));
    stream_batch(*state_->blocks, tree, mapped, radius, distances, *visitor);
    visitor->finish();
  });
}

std::vector<double> NeighbourIndex::reach(MatrixView<const float> queries, std::span<const size_t> numbers, size_t k,
                                          const Context& context) const {
  if (k == 0) fail_input("the number of neighbours", "at least 1", "0");
  std::vector<double> found(numbers.size(), std::numeric_limits<double>::quiet_NaN());
  state_->each_batch(queries, numbers, context, "finding neighbours",
                     [&](const Block& batch, std::span<const BlockQuery> mapped) {
                       std::vector<NearestList> lists(mapped.size(), NearestList(k, kNoRow, false));
                       if (!state_->tree) scan(*state_->blocks, mapped, std::span(lists));
                       for (size_t i = 0; i < lists.size(); ++i) {
                         if (state_->tree) state_->tree->search(*state_->blocks, mapped[i], lists[i]);
                         lists[i].sort();
                         if (!lists[i].items().empty()) found[batch.begin + i] = lists[i].items().back().distance;
                       }
                     });
  return found;
}

DistanceGap NeighbourIndex::gap(MatrixView<const float> queries, std::span<const size_t> numbers, double distance,
                                DistanceGap known, const Context& context) const {
  check_radius(distance);
  const NeighbourTree* tree = state_->tree ? &*state_->tree : nullptr;
  std::vector<DistanceGap> found(block_count(numbers.size(), kBatch), known);
  state_->each_batch(queries, numbers, context, "finding neighbours",
                     [&](const Block& batch, std::span<const BlockQuery> mapped) {
                       found[batch.index] = narrowed_gap(*state_->blocks, tree, mapped, distance, known);
                     });
  for (const DistanceGap& gap : found) {
    known.below = std::max(known.below, gap.below);
    known.above = std::min(known.above, gap.above);
  }
  return known;
}

double NeighbourIndex::distance(std::span<const float> query, size_t row) const {
  const MatrixView<const float> queries(query.data(), 1, query.size());
  state_->check(queries, {});
  const NeighbourBlocks& blocks = *state_->blocks;
  if (row >= blocks.pool_rows()) {
    fail_input("the row of a distance", fmt::format("below {}, the size of the pool", blocks.pool_rows()),
               fmt::format("{}", row));
  }
  if (!blocks.holds(row)) {
    fail_input("the row of a distance", "one of the part of the pool that is searched", fmt::format("{}", row));
  }
  const Matrix mapped = state_->space.map("the query of a distance", queries, 0, 1);
  std::vector<float> values(blocks.query_room());
  return blocks.distance(blocks.query(state_->space, query, mapped.row(0), values.data()), row);
}

}  // namespace assay
