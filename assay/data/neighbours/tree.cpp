#include "assay/data/neighbours/tree.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <utility>

namespace assay {
namespace {

constexpr size_t kPairsOfSplit = 64;
constexpr size_t kRowsBetweenLooks = 10'000;  // a millisecond

class Splitter {
 public:
  Splitter(const NeighbourSpace& space, MatrixView<const float> coordinates, size_t rows, const Context& context)
      : space_(space), coordinates_(coordinates), context_(context), keys_(rows), differences_(coordinates.cols()) {}

  void split(std::span<uint32_t> rows) {
    if (rows.size() <= kBlockRows || coordinates_.cols() == 0) return;
    if (rows.size() >= kRowsBetweenLooks) context_.check_cancelled();
    // Halves are whole nodes wherever possible, so that the boxes of a node come from one part of the tree.
    size_t unit = kBlockRows;
    while (unit * kBlockRows < rows.size()) unit *= kBlockRows;
    const size_t units = (rows.size() + unit - 1) / unit;
    const size_t half = units / 2 * unit;

    const size_t c = widest(rows);
    const std::span keys = std::span(keys_).first(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) keys[i] = {coordinates_(rows[i], c), rows[i]};
    std::nth_element(keys.begin(), keys.begin() + half, keys.end());
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = keys[i].second;
    split(rows.first(half));
    split(rows.subspan(half));
  }

 private:
  // The coordinate with the largest mean difference over a fixed sample of pairs. Range would do worse: one outlier
  // would draw the splits to a coordinate in which all other rows are equal.
  size_t widest(std::span<const uint32_t> rows) {
    std::fill(differences_.begin(), differences_.end(), 0.0);
    const size_t half = rows.size() / 2;
    const size_t pairs = std::min(half, kPairsOfSplit);
    for (size_t i = 0; i < pairs; ++i) {
      const auto a = coordinates_.row(rows[i * half / pairs]);
      const auto b = coordinates_.row(rows[half + (i * half / pairs + i) % half]);
      for (size_t c = 0; c < a.size(); ++c) differences_[c] += space_.difference(c, a[c], b[c]);
    }
    return std::max_element(differences_.begin(), differences_.end()) - differences_.begin();
  }

  const NeighbourSpace& space_;
  MatrixView<const float> coordinates_;
  const Context& context_;
  std::vector<std::pair<float, uint32_t>> keys_;
  std::vector<double> differences_;
};

}  // namespace

std::vector<uint32_t> tree_order(const NeighbourSpace& space, MatrixView<const float> coordinates,
                                 std::vector<uint32_t> rows, const Context& context) {
  Splitter(space, coordinates, rows.size(), context).split(rows);
  return rows;
}

NeighbourTree::NeighbourTree(const NeighbourBlocks& blocks) {
  const size_t d = blocks.layout().coordinates();
  // What the boxes of a level are drawn around: blocks first, then the nodes of the level below.
  size_t below = blocks.blocks();
  while (below > 1) {
    Level level;
    level.boxes = below;
    const size_t nodes = (below + kBlockRows - 1) / kBlockRows;
    level.bounds = AlignedFloats(nodes * d * 2 * kBlockRows);
    level.lowest_rows.assign(nodes, std::numeric_limits<uint32_t>::max());
    for (size_t slot = 0; slot < nodes * kBlockRows; ++slot) {
      const size_t box = std::min(slot, below - 1);  // slots beyond the last box repeat it
      const size_t node = slot / kBlockRows;
      const size_t lowest = levels_.empty() ? blocks.lowest_row(box) : levels_.back().lowest_rows[box];
      level.lowest_rows[node] = std::min(level.lowest_rows[node], static_cast<uint32_t>(lowest));
      float* bounds = level.bounds.data() + node * d * 2 * kBlockRows + slot % kBlockRows;
      for (size_t c = 0; c < d; ++c) {
        const float* lower = levels_.empty() ? blocks.values(box) + c * kBlockRows
                                             : levels_.back().bounds.data() + (box * d + c) * 2 * kBlockRows;
        const float* upper = levels_.empty() ? lower : lower + kBlockRows;
        bounds[2 * c * kBlockRows] = *std::min_element(lower, lower + kBlockRows);
        bounds[(2 * c + 1) * kBlockRows] = *std::max_element(upper, upper + kBlockRows);
      }
    }
    levels_.push_back(std::move(level));
    below = nodes;
  }
}

template <class List>
void NeighbourTree::visit(const NeighbourBlocks& blocks, const BlockQuery& query, size_t level, size_t node,
                          List& list) const {
  const BlockLayout& layout = blocks.layout();
  const Level& at = levels_[level];
  const float* bounds = at.bounds.data() + node * layout.coordinates() * 2 * kBlockRows;
  const auto ceiling = [&] { return estimate_ceiling(layout, query, list.limit(at.lowest_rows[node])); };
  const size_t first = node * kBlockRows;
  float estimates[kBlockRows];
  uint32_t under = boxes_under(layout, bounds, query, ceiling(), estimates);
  if (at.boxes - first < kBlockRows) under &= (uint32_t{1} << (at.boxes - first)) - 1;

  const auto enter = [&](size_t box) {
    if (level == 0) {
      blocks.visit(first + box, query, list);
    } else {
      visit(blocks, query, level - 1, first + box, list);
    }
  };
  if constexpr (!List::kShrinks) {
    for (; under != 0; under &= under - 1) enter(std::countr_zero(under));
    return;
  }
  struct Entry {
    float estimate;
    int box;
  };
  Entry entries[kBlockRows];
  size_t count = 0;
  for (; under != 0; under &= under - 1) {
    const int box = std::countr_zero(under);
    size_t place = count++;
    for (; place > 0 && entries[place - 1].estimate > estimates[box]; --place) entries[place] = entries[place - 1];
    entries[place] = {estimates[box], box};
  }
  for (size_t i = 0; i < count; ++i) {
    if (entries[i].estimate > ceiling()) return;
    enter(entries[i].box);
  }
}

void NeighbourTree::search(const NeighbourBlocks& blocks, const BlockQuery& query, NearestList& list) const {
  if (!levels_.empty()) return visit(blocks, query, levels_.size() - 1, 0, list);
  if (blocks.blocks() > 0) blocks.visit(0, query, list);
}

void NeighbourTree::search(const NeighbourBlocks& blocks, const BlockQuery& query, RadiusList& list) const {
  if (!levels_.empty()) return visit(blocks, query, levels_.size() - 1, 0, list);
  if (blocks.blocks() > 0) blocks.visit(0, query, list);
}

void NeighbourTree::each_block(const NeighbourBlocks& blocks, std::span<const BlockQuery> queries, uint32_t active,
                               const float* ceilings, size_t level, size_t node,
                               const std::function<void(size_t, uint32_t)>& enter) const {
  const BlockLayout& layout = blocks.layout();
  const Level& at = levels_[level];
  const float* bounds = at.bounds.data() + node * layout.coordinates() * 2 * kBlockRows;
  const size_t first = node * kBlockRows;
  float estimates[kBlockRows];
  uint32_t entering[kBlockRows] = {};  // queries by box
  for (; active != 0; active &= active - 1) {
    const int query = std::countr_zero(active);
    uint32_t under = boxes_under(layout, bounds, queries[query], ceilings[query], estimates);
    for (; under != 0; under &= under - 1) entering[std::countr_zero(under)] |= uint32_t{1} << query;
  }
  const size_t boxes = std::min(at.boxes - first, kBlockRows);
  for (size_t box = 0; box < boxes; ++box) {
    if (entering[box] == 0) continue;
    if (level == 0) {
      enter(first + box, entering[box]);
    } else {
      each_block(blocks, queries, entering[box], ceilings, level - 1, first + box, enter);
    }
  }
}

void NeighbourTree::each_block(const NeighbourBlocks& blocks, std::span<const BlockQuery> queries, double limit,
                               const std::function<void(size_t, uint32_t)>& enter) const {
  if (queries.empty()) return;
  const uint32_t all = ~uint32_t{0} >> (kBlockRows - queries.size());
  float ceilings[kBlockRows];
  for (size_t i = 0; i < queries.size(); ++i) ceilings[i] = estimate_ceiling(blocks.layout(), queries[i], limit);
  if (!levels_.empty()) return each_block(blocks, queries, all, ceilings, levels_.size() - 1, 0, enter);
  if (blocks.blocks() > 0) enter(0, all);
}

}  // namespace assay
