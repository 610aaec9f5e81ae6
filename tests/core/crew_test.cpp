#include "assay/core/crew.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <system_error>
#include <vector>

#include "assay/core/parallel.h"

namespace assay {
namespace {

using testing::HasSubstr;

// Starts this many threads and refuses the next, as a limit on processes does.
Crew::Start at_most(size_t threads, std::atomic<size_t>* refused = nullptr) {
  return [left = threads, refused](std::function<void()> work) mutable {
    if (left == 0) {
      if (refused != nullptr) ++*refused;
      throw std::system_error(EAGAIN, std::generic_category());
    }
    left--;
    return std::thread(std::move(work));
  };
}

std::vector<int> visits(Crew& crew, unsigned threads, size_t count) {
  std::vector<int> seen(count);
  crew.run(threads, count, [&](size_t i) { seen[i]++; });
  return seen;
}

TEST(Crew, RunsEveryItemOnce) {
  Crew crew;
  for (const unsigned threads : {0u, 1u, 2u, 7u, 100u}) {
    for (const size_t count : {0u, 1u, 2u, 5u, 1000u}) {
      EXPECT_EQ(visits(crew, threads, count), std::vector<int>(count, 1)) << threads << " threads";
    }
  }
  EXPECT_EQ(crew.shortage().wanted, 0u);
  EXPECT_EQ(crew.note(), "");
}

TEST(Crew, GoesOnWithTheThreadsThatTheSystemStarts) {
  for (const unsigned started : {0u, 1u, 3u}) {
    Crew crew(at_most(started));
    for (int repeat = 0; repeat < 50; repeat++) EXPECT_EQ(visits(crew, 8, 500), std::vector<int>(500, 1));
    EXPECT_EQ(crew.shortage().wanted, 8u);
    EXPECT_EQ(crew.shortage().had, started + 1);
    EXPECT_THAT(crew.note(), HasSubstr(std::to_string(started + 1) + " worked where 8 were wanted"));
  }
}

TEST(Crew, AskingForFewerThreadsIsNoShortage) {
  Crew crew(at_most(1));
  EXPECT_EQ(visits(crew, 2, 500), std::vector<int>(500, 1));
  EXPECT_EQ(crew.shortage().wanted, 0u);
}

TEST(Crew, DoesNotAskForThreadsAgainAtOnce) {
  std::atomic<size_t> refused = 0;
  Crew crew(at_most(0, &refused));
  for (int repeat = 0; repeat < 100; repeat++) visits(crew, 4, 10);
  EXPECT_LT(refused, 50u);  // one a second
}

TEST(Crew, UsesNoMoreThreadsThanALoopAsksFor) {
  Crew crew;
  visits(crew, 8, 1000);
  for (int repeat = 0; repeat < 20; repeat++) {
    std::atomic<int> now = 0;
    std::atomic<int> most = 0;
    crew.run(3, 200, [&](size_t) {
      const int here = ++now;
      for (int before = most; before < here && !most.compare_exchange_weak(before, here);) {
      }
      std::this_thread::yield();
      --now;
    });
    EXPECT_LE(most, 3);
  }
}

TEST(Crew, LoopsInsideOfLoopsFinishHoweverFewThreadsThereAre) {
  for (const unsigned started : {0u, 1u, 3u}) {
    Crew crew(at_most(started));
    std::vector<std::atomic<int>> seen(20 * 20 * 5);
    crew.run(4, 20, [&](size_t i) {
      crew.run(4, 20, [&](size_t j) { crew.run(4, 5, [&](size_t k) { ++seen[(i * 20 + j) * 5 + k]; }); });
    });
    for (const auto& each : seen) ASSERT_EQ(each, 1);
  }
}

TEST(Crew, ServesSeveralCallersAtOnce) {
  Crew crew;
  std::vector<std::vector<int>> seen(6);
  std::vector<std::thread> callers;
  for (auto& each : seen) {
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 50; repeat++) each = visits(crew, 3, 200);
    });
  }
  for (auto& caller : callers) caller.join();
  for (const auto& each : seen) EXPECT_EQ(each, std::vector<int>(200, 1));
}

// Threads do not come along into a forked process: whoever waits for them there never ends.
TEST(Crew, AForkedProcessHasOneOfItsOwn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer allows no threads in a process that was forked from one with threads";
#endif
  Context context;
  context.threads = 4;
  std::atomic<size_t> items = 0;
  const auto count = [&](const Block& block) { items += block.end - block.begin; };
  parallel_blocks(context, 1000, 10, count);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    items = 0;
    parallel_blocks(context, 1000, 10, count);
    ::_exit(items == 1000 ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(items, 1000u);
}

}  // namespace
}  // namespace assay
