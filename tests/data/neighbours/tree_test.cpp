#include "assay/data/neighbours/tree.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/random.h"
#include "assay/data/neighbours.h"

namespace assay {
namespace {

// Large tables take seconds to sort into a tree.
TEST(NeighbourTree, CancellationEndsItsBuild) {
  Dataset pool;
  pool.source = "pool";
  pool.x = Matrix(50'000, 4);
  for (size_t j = 0; j < 4; j++) {
    pool.feature_names.push_back(std::to_string(j));
    pool.groups.push_back({std::to_string(j), j, 1, ColumnKind::numeric});
  }
  for (size_t r = 0; r < pool.rows(); r++) {
    RandomStream draw(3, "a pool", r);
    for (float& cell : pool.x.row(r)) cell = static_cast<float>(draw.normal());
  }
  const std::atomic<bool> cancelled = true;
  Context context;
  context.cancelled = &cancelled;
  EXPECT_THROW(NeighbourIndex(pool, Norm::l2, Space::scaled, context), Error);
  std::vector<std::vector<size_t>> parts(1);
  for (size_t r = 0; r < pool.rows(); r++) parts[0].push_back(r);
  // Here nothing but the splits looks at it before the tree is made.
  EXPECT_THROW(NeighbourIndex::of_parts(pool, Norm::l2, Space::scaled, parts, context), Error);
}

}  // namespace
}  // namespace assay
