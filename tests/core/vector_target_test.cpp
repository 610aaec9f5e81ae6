#include "assay/core/vector_target.h"

#include <gtest/gtest.h>

#include "tests/message.h"

namespace assay {
namespace {

TEST(VectorTarget, TheBestIsUsedUntilAnotherIsPinned) {
  const auto all = vector_targets();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(vector_target(), all.front());
  pin_vector_target(all.back());
  EXPECT_EQ(vector_target(), all.back());
  pin_vector_target(all.front());
  EXPECT_EQ(vector_target(), all.front());
}

TEST(VectorTarget, AnUnknownOneIsRefused) {
  const auto best = vector_targets().front();
  EXPECT_NE(message_of([] { pin_vector_target("ABACUS"); }).find("found 'ABACUS'"), std::string::npos);
  EXPECT_EQ(vector_target(), best);
}

}  // namespace
}  // namespace assay
