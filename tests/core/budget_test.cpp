#include "assay/core/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "assay/core/error.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

template <class Body>
std::string message_of(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "no error";
}

TEST(Spending, TakesUpToTheBudgetAndNotMore) {
  Context context;
  context.budget = {.bytes = 100, .steps = 1000};
  Spending account(context, "m.onnx: node 'a' (MatMul)");
  account.take_bytes(60);
  account.take_bytes(40);
  EXPECT_EQ(account.bytes(), 100U);
  EXPECT_EQ(account.bytes_left(), 0U);
  EXPECT_EQ(message_of([&] { account.take_bytes(1); }),
            "m.onnx: node 'a' (MatMul): it takes 101 bytes of memory; at most 100 bytes are allowed");
  // What was refused is not taken.
  context.budget.bytes = (1 << 20) + 1;
  EXPECT_EQ(message_of([&] { Spending(context, "x").take_bytes((1 << 20) + 2); }),
            "x: it takes 1048578 bytes of memory; at most 1048577 are allowed");
  context.budget.bytes = 100;
  EXPECT_EQ(account.bytes(), 100U);
  account.take_steps(1000);
  account.at("m.onnx: node 'b' (Conv)");
  EXPECT_EQ(message_of([&] { account.take_steps(7); }),
            "m.onnx: node 'b' (Conv): it takes 1007 steps of computation; at most 1000 are allowed");
  EXPECT_EQ(account.steps(), 1000U);
}

TEST(Spending, MemoryComesBackAndStepsDoNot) {
  Context context;
  context.budget = {.bytes = 10, .steps = 10};
  Spending account(context, "x");
  account.take_bytes(10);
  account.give_back_bytes(4);
  account.take_bytes(4);
  // More than was taken leaves nothing behind, not a debt of the job's.
  account.give_back_bytes(50);
  EXPECT_EQ(account.bytes(), 0U);
}

TEST(Spending, SumsDoNotWrapAround) {
  Context context;
  Spending account(context, "x");
  account.take_bytes(1);
  account.take_steps(1);
  constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();
  EXPECT_THAT(message_of([&] { account.take_bytes(kAll); }), HasSubstr("16 EiB of memory; at most 1 GiB"));
  EXPECT_THAT(message_of([&] { account.take_steps(kAll); }),
              HasSubstr("1.845e+10 billion steps of computation; at most 34.36 billion are allowed"));
}

TEST(Spending, StopsWhenTheCallerAsks) {
  std::atomic<bool> cancelled = false;
  Context context;
  context.cancelled = &cancelled;
  Spending account(context, "x");
  Interruptible loop(context, 4);
  account.take_bytes(1);
  for (int i = 0; i < 3; i++) loop.turn();
  cancelled = true;
  const auto kind_of = [](const auto& body) {
    try {
      body();
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::internal;
  };
  EXPECT_EQ(kind_of([&] { account.take_bytes(0); }), ErrorKind::cancelled);
  EXPECT_EQ(kind_of([&] { account.take_steps(0); }), ErrorKind::cancelled);
  EXPECT_EQ(kind_of([&] { loop.turn(); }), ErrorKind::cancelled);
}

TEST(BytesInWords, RoundsToATenth) {
  EXPECT_EQ(bytes_in_words(0), "0 bytes");
  EXPECT_EQ(bytes_in_words(1), "1 byte");
  EXPECT_EQ(bytes_in_words(1023), "1023 bytes");
  EXPECT_EQ(bytes_in_words(1024), "1 KiB");
  EXPECT_EQ(bytes_in_words(1536), "1.5 KiB");
  EXPECT_EQ(bytes_in_words((uint64_t{1} << 20) - 1), "1 MiB");
  EXPECT_EQ(bytes_in_words(uint64_t{1} << 30), "1 GiB");
  EXPECT_EQ(bytes_in_words(uint64_t{86'000} * 172'000 * 4), "55.1 GiB");
}

}  // namespace
}  // namespace assay
