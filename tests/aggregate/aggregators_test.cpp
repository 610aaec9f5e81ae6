#include "assay/aggregate/aggregators.h"

#include <gtest/gtest.h>

namespace assay::testing {
namespace {

TEST(Aggregators, AggregatesAreKnownByMembersOrByWhatMadeThem) {
  Explanations bare;
  EXPECT_FALSE(is_aggregate(bare));
  Explanations method;
  method.provenance.method = "kernel_shap";
  EXPECT_FALSE(is_aggregate(method));
  // One that explains its antecedents itself has no members.
  Explanations alone;
  alone.provenance.method = "ava";
  EXPECT_TRUE(is_aggregate(alone));
  EXPECT_EQ(aggregate_in_words(alone), "an aggregate");
  // Of a version that knows more of them.
  Explanations unknown;
  unknown.provenance.method = "borda_of_2030";
  unknown.combination.members = {"a\n", "lime", "gradient"};
  EXPECT_TRUE(is_aggregate(unknown));
  EXPECT_EQ(aggregate_in_words(unknown), "an aggregate of a\\x0a, lime and gradient");
}

}  // namespace
}  // namespace assay::testing
