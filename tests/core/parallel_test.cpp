#include "assay/core/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/statistics.h"

namespace assay {
namespace {

Context with_threads(unsigned threads) {
  Context context;
  context.threads = threads;
  return context;
}

TEST(Parallel, VisitsEveryItemOnceInBlocksThatDoNotDependOnThreads) {
  for (const unsigned threads : {1u, 2u, 7u}) {
    std::vector<int> visits(1003);
    std::vector<Block> blocks(block_count(visits.size(), 100));
    parallel_blocks(with_threads(threads), visits.size(), 100, [&](const Block& block) {
      blocks[block.index] = block;
      for (size_t i = block.begin; i < block.end; ++i) ++visits[i];
    });
    for (const int v : visits) ASSERT_EQ(v, 1);
    ASSERT_EQ(blocks.size(), 11u);
    EXPECT_EQ(blocks[10].begin, 1000u);
    EXPECT_EQ(blocks[10].end, 1003u);
  }
}

TEST(Parallel, NothingToDoCallsNothing) {
  parallel_blocks({}, 0, 10, [](const Block&) { FAIL(); });
}

TEST(Parallel, ReduceGivesTheSameBitsOnAnyNumberOfThreads) {
  std::vector<double> values(100000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i)) * 1e6;
  const auto sum = [&](unsigned threads) {
    return parallel_reduce(
        with_threads(threads), values.size(), 999, 0.0,
        [&](const Block& b) {
          return std::accumulate(values.begin() + static_cast<ptrdiff_t>(b.begin),
                                 values.begin() + static_cast<ptrdiff_t>(b.end), 0.0);
        },
        [](double& total, double part) { total += part; });
  };
  EXPECT_EQ(sum(1), sum(2));
  EXPECT_EQ(sum(1), sum(7));
}

TEST(Parallel, TheExceptionOfTheLowestBlockReachesTheCaller) {
  for (const unsigned threads : {1u, 2u, 7u}) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      try {
        parallel_blocks(with_threads(threads), 50, 1, [](const Block& block) {
          if (block.index % 10 == 7) fail_input("block " + std::to_string(block.index));
        });
        FAIL() << "no exception";
      } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "block 7");
      }
    }
  }
}

TEST(Parallel, CancellationStopsTheLoop) {
  std::atomic<bool> cancelled{false};
  Context context = with_threads(2);
  context.cancelled = &cancelled;
  std::atomic<int> done{0};
  try {
    parallel_blocks(context, 100000, 1, [&](const Block&) {
      if (++done == 10) cancelled = true;
    });
    FAIL() << "not cancelled";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cancelled);
  }
  EXPECT_LT(done, 1000);
}

class CountingProgress : public Progress {
 public:
  void begin(std::string_view task, uint64_t total) noexcept override {
    log += std::string(task) + " " + std::to_string(total);
  }
  void advance(uint64_t amount) noexcept override { done += amount; }
  void end() noexcept override { log += " end"; }
  std::string log;
  uint64_t done = 0;
};

TEST(Parallel, ReportsProgressInItemsAndEndsItWhateverHappens) {
  CountingProgress progress;
  Context context = with_threads(7);
  context.progress = &progress;
  parallel_blocks(context, 1003, 10, [](const Block&) {}, "work");
  EXPECT_EQ(progress.done, 1003u);
  EXPECT_EQ(progress.log, "work 1003 end");
  EXPECT_THROW(parallel_blocks(context, 10, 1, [](const Block&) { fail_input("bad"); }, "again"), Error);
  EXPECT_EQ(progress.log, "work 1003 endagain 10 end");
}

TEST(Parallel, LoopsNest) {
  std::vector<std::atomic<int>> visits(400);
  parallel_blocks(with_threads(2), 20, 1, [&](const Block& outer) {
    parallel_blocks(with_threads(2), 20, 3, [&](const Block& inner) {
      for (size_t i = inner.begin; i < inner.end; ++i) ++visits[outer.index * 20 + i];
    });
  });
  for (const auto& v : visits) ASSERT_EQ(v, 1);
}

}  // namespace
}  // namespace assay
