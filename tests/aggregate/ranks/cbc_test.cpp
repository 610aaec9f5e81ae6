#include "assay/aggregate/ranks/cbc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/error.h"
#include "assay/core/parallel.h"
#include "tests/aggregate/ranks/contests.h"

namespace assay::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;
using Order = std::vector<uint32_t>;

constexpr double kNoLimit = 1e6;

Order all_in_order(size_t size) {
  Order made(size);
  std::iota(made.begin(), made.end(), 0U);
  return made;
}

// A folder to look for plugins in, until the end of the scope.
class PluginFolder {
 public:
  PluginFolder() {
    std::string pattern = (fs::temp_directory_path() / "assay-cbc-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
    if (const char* was = std::getenv("ASSAY_PLUGIN_DIR")) was_ = was;
    ::setenv("ASSAY_PLUGIN_DIR", path_.c_str(), 1);
  }
  ~PluginFolder() {
    if (was_) {
      ::setenv("ASSAY_PLUGIN_DIR", was_->c_str(), 1);
    } else {
      ::unsetenv("ASSAY_PLUGIN_DIR");
    }
    fs::remove_all(path_);
  }
  PluginFolder(const PluginFolder&) = delete;
  PluginFolder& operator=(const PluginFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  std::optional<std::string> was_;
};

TEST(Cbc, MissingPluginSaysHowToGetIt) {
  const PluginFolder folder;
  const CbcPlugin found = find_cbc();
  EXPECT_EQ(found.table, nullptr);
  EXPECT_THAT(found.missing, AllOf(HasSubstr("libassay_cbc.so is not in " + folder.path().string()),
                                   HasSubstr("coinor-libcbc-dev"), HasSubstr("ASSAY_PLUGIN_DIR")));
  std::ofstream(folder.path() / "libassay_cbc.so") << "text";
  EXPECT_THAT(find_cbc().missing, HasSubstr("it cannot be loaded: "));
}

TEST(Cbc, RefusesOtherTables) {
  AssayOrderPlugin plugin{7, "future", nullptr};
  EXPECT_THAT(order_plugin_fault(&plugin, "p.so"), HasSubstr("p.so is of version 7 instead of 1"));
  plugin.version = ASSAY_ORDER_PLUGIN_VERSION;
  EXPECT_THAT(order_plugin_fault(&plugin, "p.so"), HasSubstr("cannot order anything"));
  EXPECT_THAT(order_plugin_fault(nullptr, "p.so"), HasSubstr("empty"));
  plugin.order = [](const AssayOrderTask*, AssayOrderAnswer*, char*, size_t) { return 0; };
  EXPECT_EQ(order_plugin_fault(&plugin, "p.so"), "");
}

// A plugin's answers are checked, not believed.
TEST(Cbc, WrongAnswersAreErrors) {
  const Tournament tournament = noisy_tournament(5, 3, 1, 1);
  const Order start = all_in_order(5);
  AssayOrderPlugin plugin{ASSAY_ORDER_PLUGIN_VERSION, "false", nullptr};
  plugin.order = [](const AssayOrderTask*, AssayOrderAnswer* answer, char*, size_t) {
    std::fill_n(answer->order, 5, 0U);
    return 0;
  };
  EXPECT_THROW(order_by_cbc(plugin, tournament, start, 1, {}), Error);
  plugin.order = [](const AssayOrderTask* task, AssayOrderAnswer* answer, char*, size_t) {
    std::copy_n(task->start, task->size, answer->order);
    answer->bound = 1e9;
    return 0;
  };
  EXPECT_THROW(order_by_cbc(plugin, tournament, start, 1, {}), Error);
  plugin.order = [](const AssayOrderTask* task, AssayOrderAnswer* answer, char*, size_t) {
    std::copy_n(task->start, task->size, answer->order);
    answer->bound = std::numeric_limits<double>::quiet_NaN();
    return 0;
  };
  EXPECT_THROW(order_by_cbc(plugin, tournament, start, 1, {}), Error);
  plugin.order = [](const AssayOrderTask*, AssayOrderAnswer*, char* error, size_t size) {
    std::snprintf(error, size, "out of order");
    return 1;
  };
  try {
    order_by_cbc(plugin, tournament, start, 1, {});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("out of order"));
  }
}

class CbcOrders : public ::testing::Test {
 protected:
  void SetUp() override {
    const CbcPlugin found = find_cbc();
    if (found.table == nullptr) GTEST_SKIP() << "no CBC: " << found.missing;
    table_ = found.table;
  }
  BoundedOrder solved(const Tournament& tournament, double seconds = kNoLimit) const {
    return order_by_cbc(*table_, tournament, all_in_order(tournament.size()), seconds, {});
  }

  const AssayOrderPlugin* table_ = nullptr;
};

TEST_F(CbcOrders, AgreeWithAllSubsets) {
  for (uint64_t seed = 0; seed < 500; seed++) {
    const size_t size = 1 + seed % 12;
    const Tournament tournament = noisy_tournament(size, 2 + seed % 6, seed % 3 == 0 ? 0.3 : 3, seed, 0.2);
    const BoundedOrder found = solved(tournament);
    EXPECT_EQ(found.upsets, upsets(tournament, found.order));
    EXPECT_EQ(found.upsets, upsets(tournament, best_order(tournament, {}))) << seed;
    EXPECT_EQ(found.bound, found.upsets);
  }
  for (uint64_t seed = 0; seed < 12; seed++) {
    const Tournament tournament = noisy_tournament(14 + seed % 7, 3 + seed % 4, 3, seed);
    const BoundedOrder found = solved(tournament);
    EXPECT_EQ(found.upsets, upsets(tournament, best_order(tournament, {}))) << seed;
    EXPECT_EQ(found.bound, found.upsets);
  }
}

// Large margins, as groups of tied players have.
TEST_F(CbcOrders, AgreeWithAllSubsetsOnLargeMargins) {
  for (uint64_t seed = 0; seed < 100; seed++) {
    Tournament tournament(4 + seed % 8);
    RandomStream draw(seed, "large margins");
    for (size_t i = 0; i < tournament.size(); i++) {
      for (size_t j = i + 1; j < tournament.size(); j++) {
        tournament.set(i, j, static_cast<int64_t>(std::lround(draw.normal() * std::exp(5 * draw.uniform()) * 10)));
      }
    }
    const BoundedOrder found = solved(tournament);
    EXPECT_EQ(found.upsets, upsets(tournament, best_order(tournament, {}))) << seed;
    EXPECT_EQ(found.bound, found.upsets);
  }
}

TEST_F(CbcOrders, OfManyPlayersAreBetweenBoundAndSearch) {
  for (const size_t size : {40U, 60U}) {
    for (const size_t members : {6U, 7U}) {
      for (const double noise : {0.3, 2.0}) {
        const Tournament tournament = noisy_tournament(size, members, noise, size + members);
        const BoundedOrder found = solved(tournament);
        const int64_t bound = triangle_bound(tournament);
        EXPECT_EQ(found.bound, found.upsets);
        EXPECT_GE(found.upsets, bound);
        const Order good = good_order(tournament, bound, RandomStream(1, "cbc test"), {});
        EXPECT_LE(found.upsets, upsets(tournament, good));
        EXPECT_EQ(order_by_cbc(*table_, tournament, good, kNoLimit, {}).upsets, found.upsets);
      }
    }
  }
}

// A fence of three: each of 0, 1, 2 beats its own of 3, 4, 5 and is beaten by the other two, by 20; and 0 beats 1 by 1.
// The circles 0 3 1 4, 0 3 2 5 and 1 4 2 5 have no pair that is in all of them, so two upsets of 20 are needed, and the
// order 4 5 0 3 1 2 has only those: 1 and 2 are behind 4 and 5. The circles are longer than triangles, and the linear
// relaxation, which looks at no others, ends below: it takes branching.
Tournament fence() {
  Tournament made(6);
  for (size_t i = 0; i < 3; i++) {
    for (size_t j = 0; j < 3; j++) made.set(i, 3 + j, i == j ? 20 : -20);
  }
  made.set(0, 1, 1);
  return made;
}

TEST_F(CbcOrders, BranchWhereTheRelaxationIsNotEnough) {
  const Tournament tournament = fence();
  EXPECT_LE(triangle_bound(tournament), 2);
  EXPECT_EQ(upsets(tournament, Order{4, 5, 0, 3, 1, 2}), 40);
  EXPECT_EQ(upsets(tournament, best_order(tournament, {})), 40);
  const BoundedOrder found = solved(tournament);
  EXPECT_EQ(found.upsets, 40);
  EXPECT_EQ(found.bound, 40);
}

TEST_F(CbcOrders, PrintNothing) {
  const Tournament tournament = fence();
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  solved(tournament);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(CbcOrders, AreTheSameOnSeveralThreads) {
  std::vector<Order> alone;
  for (uint64_t seed = 0; seed < 16; seed++) alone.push_back(solved(noisy_tournament(32, 6, 10, seed)).order);
  std::vector<Order> together(alone.size());
  parallel_blocks({.threads = 7}, alone.size(), 1, [&](const Block& block) {
    together[block.begin] = solved(noisy_tournament(32, 6, 10, block.begin)).order;
  });
  EXPECT_EQ(alone, together);
}

// However short the time, the answer is an order with a bound that holds.
TEST_F(CbcOrders, OutOfTimeStillHaveABound) {
  const Tournament tournament = noisy_tournament(60, 7, 10, 3);
  const int64_t best = solved(tournament).upsets;
  for (const double seconds : {0.0, 1e-4, 1e-3, 1e-2, 0.05}) {
    const BoundedOrder found = solved(tournament, seconds);
    EXPECT_LE(found.bound, best);
    EXPECT_GE(found.upsets, best);
    EXPECT_EQ(found.upsets, upsets(tournament, found.order));
  }
  EXPECT_LT(solved(tournament, 0).bound, best);
}

TEST_F(CbcOrders, StopWhenAsked) {
  const std::atomic<bool> cancelled = true;
  const Context context{.cancelled = &cancelled};
  const Tournament hard = noisy_tournament(200, 6, 10, 1);
  EXPECT_THROW(order_by_cbc(*table_, hard, all_in_order(200), kNoLimit, context), Error);
}

}  // namespace
}  // namespace assay::testing
