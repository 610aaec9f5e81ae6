// The one parallel loop: over fixed blocks whose bounds depend on the problem alone, never on the number of threads.
//
// Results are bitwise equal for any thread count as long as a block writes only its own output. parallel_reduce
// combines the results of blocks in block order. An exception in a block reaches the caller. If several blocks throw,
// it is the one of the lowest block, so that the message does not depend on scheduling either.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "assay/core/context.h"

namespace assay {

struct Block {
  size_t begin;  // first item
  size_t end;    // one past the last item
  size_t index;  // which block
};

size_t block_count(size_t items, size_t block_size);

// Runs body once per block of at most block_size items, on context.thread_count() threads. Checks for cancellation
// before each block and, given a task name, reports progress in items.
void parallel_blocks(const Context& context, size_t items, size_t block_size,
                     const std::function<void(const Block&)>& body, std::string_view task = {});

// body(block) -> Part for every block, then combine(total, part) in block order.
template <class Total, class Body, class Combine>
Total parallel_reduce(const Context& context, size_t items, size_t block_size, Total total, const Body& body,
                      const Combine& combine) {
  using Part = decltype(body(Block{}));
  std::vector<Part> parts(block_count(items, block_size));
  parallel_blocks(context, items, block_size, [&](const Block& block) { parts[block.index] = body(block); });
  for (auto& part : parts) combine(total, part);
  return total;
}

}  // namespace assay
