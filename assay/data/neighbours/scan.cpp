#include "assay/data/neighbours/scan.h"

namespace assay {
namespace {

template <class List>
void scan_all(const NeighbourBlocks& blocks, std::span<const BlockQuery> queries, std::span<List> lists) {
  for (size_t block = 0; block < blocks.blocks(); ++block) {
    for (size_t i = 0; i < queries.size(); ++i) blocks.visit(block, queries[i], lists[i]);
  }
}

}  // namespace

void scan(const NeighbourBlocks& blocks, std::span<const BlockQuery> queries, std::span<NearestList> lists) {
  scan_all(blocks, queries, lists);
}

void scan(const NeighbourBlocks& blocks, std::span<const BlockQuery> queries, std::span<RadiusList> lists) {
  scan_all(blocks, queries, lists);
}

}  // namespace assay
