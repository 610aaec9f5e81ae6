#include "assay/data/text_codes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <thread>
#include <vector>

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TextCodes, NumbersTextsInTheOrderInWhichTheyCome) {
  TextCodes codes;
  EXPECT_EQ(codes.code(0, "red"), 0);
  EXPECT_EQ(codes.code(0, "blue"), 1);
  EXPECT_EQ(codes.code(0, "red"), 0);
  EXPECT_EQ(codes.code(1, "blue"), 0);  // columns know nothing of each other
  EXPECT_EQ(*codes.find(0, 1), "blue");
  EXPECT_THAT(codes.texts(0), ElementsAre("red", "blue"));
  EXPECT_THAT(codes.texts(2), IsEmpty());
}

TEST(TextCodes, KnowsNoTextOfOtherNumbers) {
  TextCodes codes;
  codes.code(0, "red");
  for (const float code : {-1.0F, 1.0F, NAN, INFINITY, -INFINITY}) EXPECT_EQ(codes.find(0, code), nullptr) << code;
  EXPECT_EQ(codes.find(7, 0), nullptr);
}

// A text that was found stays where it is while others are added.
TEST(TextCodes, MayBeUsedFromSeveralThreads) {
  TextCodes codes;
  codes.code(0, "first");
  const std::string* const first = codes.find(0, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; i++) {
        const float code = codes.code(0, std::to_string(i));
        EXPECT_EQ(*codes.find(0, code), std::to_string(i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(codes.texts(0).size(), 501);
  EXPECT_EQ(codes.find(0, 0), first);
  EXPECT_EQ(*first, "first");
}

}  // namespace
}  // namespace assay
