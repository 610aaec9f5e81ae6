#include "assay/aggregate/aggregator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "assay/aggregate/aggregators.h"
#include "assay/core/error.h"
#include "assay/core/vector_target.h"
#include "assay/core/version.h"
#include "tests/aggregate/trial.h"
#include "tests/message.h"

namespace assay::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

Aggregate aggregated(const std::string& spec, MemberTrial& trial, const Context& context = {}) {
  return aggregate(parse_spec("aggregator", spec), trial.task(), context);
}

const std::vector<double>& measure(const Aggregate& made, const std::string& name) {
  for (const RowMeasure& each : made.explanations.combination.measures) {
    if (each.name == name) return each.values;
  }
  static const std::vector<double> none;
  ADD_FAILURE() << "no measure " << name;
  return none;
}

// (3, 4) and (0, -2) have unit norm as (0.6, 0.8) and (0, -1), mean (0.3, -0.1); base 1, output 5.
MemberTrial two_members() {
  MemberTrial trial = one_row({{3, 4}, {0, -2}});
  for (Explanations& member : trial.members) {
    member.base = {1};
    member.output = {5};
  }
  return trial;
}

TEST(Aggregate, IsRelativeByDefaultAndSaysSo) {
  MemberTrial trial = two_members();
  const Explanations made = aggregated("mean", trial).explanations;
  EXPECT_FLOAT_EQ(made.values(0, 0), 0.3F);
  EXPECT_FLOAT_EQ(made.values(0, 1), -0.1F);
  EXPECT_TRUE(made.combination.relative);
  EXPECT_THAT(made.notes, ElementsAre("relative, does not add up to the score"));
  EXPECT_THAT(made.base, ElementsAre(1));
  EXPECT_THAT(made.output, ElementsAre(5));
  EXPECT_TRUE(std::isnan(made.gap[0]));
  EXPECT_THAT(made.features, ElementsAre("p0", "p1"));
}

// 0.3 - 0.1 = 0.2 must become 5 - 1 = 4: times 20, (6, -2).
TEST(Aggregate, ScaledToTheOutputAddsUp) {
  MemberTrial trial = two_members();
  const Aggregate made = aggregated("mean:scale=output", trial);
  EXPECT_NEAR(made.explanations.values(0, 0), 6, 1e-5);
  EXPECT_NEAR(made.explanations.values(0, 1), -2, 1e-5);
  EXPECT_NEAR(made.explanations.gap[0], 0, 1e-5);
  EXPECT_FALSE(made.explanations.combination.relative);
  EXPECT_TRUE(made.explanations.notes.empty());
  EXPECT_NEAR(measure(made, "norm")[0], std::sqrt(40.0), 1e-5);
  EXPECT_NEAR(measure(made, "cosine")[0], 1, 1e-7);
}

// The same with 1 - 5 = -4: times -20, (-6, 2). Whoever asks for it is told.
TEST(Aggregate, ScaledToTheOtherSideSaysSo) {
  MemberTrial trial = two_members();
  for (Explanations& member : trial.members) {
    member.base = {5};
    member.output = {1};
  }
  const Aggregate made = aggregated("mean:scale=output", trial);
  EXPECT_NEAR(made.explanations.values(0, 0), -6, 1e-5);
  EXPECT_THAT(made.explanations.notes,
              ElementsAre("1 of 1 rows have all signs reversed: their values summed to the other side of 0 than output "
                          "- base"));
}

// (1, 0) and (0, -1): the mean sums to 0.
TEST(Aggregate, ThatSumsToZeroCannotBeScaled) {
  MemberTrial trial = one_row({{1, 0}, {0, -1}});
  for (Explanations& member : trial.members) {
    member.base = {1};
    member.output = {5};
  }
  const Aggregate made = aggregated("mean:scale=output", trial);
  EXPECT_TRUE(std::isnan(made.explanations.values(0, 0)));
  EXPECT_TRUE(std::isnan(made.explanations.gap[0]));
  ASSERT_EQ(made.undefined.size(), 1U);
  EXPECT_EQ(made.undefined[0].reason, "the values sum to 0, so that no scale makes them add up");
  EXPECT_EQ(made.undefined[0].rows, 1U);
}

TEST(Aggregate, WithoutOneOutputAndBaseCannotBeScaled) {
  for (const double other : {static_cast<double>(NAN), 1.5}) {
    MemberTrial trial = two_members();
    trial.members[0].base = {std::isnan(other) ? other : 1};
    trial.members[1].base = {other};
    const Aggregate made = aggregated("mean:scale=output", trial);
    EXPECT_TRUE(std::isnan(made.explanations.values(0, 0)));
    ASSERT_EQ(made.undefined.size(), 1U);
    EXPECT_EQ(made.undefined[0].reason, "the members say no output and base to scale to, or differ in them");
  }
  // One that knows them is enough.
  MemberTrial trial = two_members();
  trial.members[0].base = {NAN};
  EXPECT_TRUE(aggregated("mean:scale=output", trial).undefined.empty());
}

// Norm of (0.3, -0.1): sqrt 0.1. With weights 3/4 and 1/4: (0.45, 0.35), whose cosine to the mean is
// (0.135 - 0.035) / (sqrt 0.325 sqrt 0.1) = 0.1 / sqrt 0.0325.
TEST(Aggregate, HasNormAndCosineToTheMean) {
  MemberTrial trial = two_members();
  const Aggregate mean = aggregated("mean", trial);
  EXPECT_NEAR(measure(mean, "norm")[0], std::sqrt(0.1), 1e-7);
  EXPECT_NEAR(measure(mean, "cosine")[0], 1, 1e-7);
  const Aggregate convex = aggregated("convex:weights=[0.75,0.25]", trial);
  EXPECT_NEAR(measure(convex, "norm")[0], std::sqrt(0.325), 1e-7);
  EXPECT_NEAR(measure(convex, "cosine")[0], 0.1 / std::sqrt(0.0325), 1e-6);
  EXPECT_EQ(convex.explanations.combination.measures[0].name, "norm");
  EXPECT_EQ(convex.explanations.combination.measures[1].name, "cosine");
}

// Opposite members: a mean of zero has norm 0 and no direction.
TEST(Aggregate, OfNormZeroHasNoCosine) {
  MemberTrial trial = one_row({{3, 4}, {-3, -4}});
  const Aggregate made = aggregated("mean", trial);
  EXPECT_EQ(measure(made, "norm")[0], 0);
  EXPECT_TRUE(std::isnan(measure(made, "cosine")[0]));
}

TEST(Aggregate, CountsZeroMembers) {
  MemberTrial trial = bare_members({{{1, 0}, {0, 0}, {0, 0}}, {{0, 1}, {0, 1}, {1, 0}}});
  trial.members[0].provenance.method = "lime";
  const Aggregate made = aggregated("mean", trial);
  EXPECT_THAT(made.explanations.notes, Contains("2 of 3 rows of lime are all zero"));
  EXPECT_EQ(made.explanations.notes.size(), 2U);
  EXPECT_FLOAT_EQ(made.explanations.values(1, 1), 0.5F);
}

TEST(Aggregate, SaysWhatItIsMadeOf) {
  MemberTrial trial = two_members();
  trial.members[0].provenance.method = "lime";
  trial.members[1].provenance.method = "occlusion";
  for (Explanations& member : trial.members) {
    member.provenance.unit = "margin";
    member.provenance.model = "a.onnx";
    member.provenance.options = {{"samples", "10"}};
    member.provenance.reference = member.provenance.method;
  }
  Context context;
  context.seed = 77;
  const Explanations made = aggregated("convex:weights=[0.75,0.25]", trial, context).explanations;
  EXPECT_THAT(made.combination.members, ElementsAre("lime", "occlusion"));
  ASSERT_EQ(made.combination.weights.cols(), 2U);
  EXPECT_EQ(made.combination.weights(0, 0), 0.75F);
  EXPECT_EQ(made.provenance.method, "convex");
  EXPECT_THAT(made.provenance.options, ElementsAre(Pair("weights", "[0.75,0.25]"), Pair("scale", "relative")));
  EXPECT_EQ(made.provenance.seed, 77U);
  EXPECT_EQ(made.provenance.unit, "margin");
  EXPECT_EQ(made.provenance.model, "a.onnx");
  EXPECT_EQ(made.provenance.reference, "");  // they differ
  EXPECT_EQ(made.provenance.version, kVersion);
  EXPECT_EQ(made.provenance.vector_target, vector_target());
}

TEST(Aggregate, MembersThatDoNotFitAreAnInputError) {
  MemberTrial trial = two_members();
  trial.members[1].features[0] = "age";
  EXPECT_EQ(sentence([&] { aggregated("mean", trial); }),
            "member 2: expected 'p0' as player 1, as in 'member 1', found 'age'");
}

TEST(Aggregate, RefusesWithTheAggregatorsReason) {
  MemberTrial trial = two_members();
  const Spec spec = parse_spec("aggregator", "convex:weights=[0.5,0.25,0.25]");
  const std::string reason = "convex needs a weight for each member: expected 2, found 3";
  EXPECT_EQ(aggregator_refusal(spec, trial.task()), reason);
  try {
    aggregate(spec, trial.task(), {});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_EQ(error.what(), reason);
  }
  EXPECT_EQ(aggregator_refusal(parse_spec("aggregator", "convex"), trial.task()), std::nullopt);
}

TEST(Aggregate, NeedsAMember) {
  MemberTrial trial = two_members();
  trial.members.clear();
  EXPECT_EQ(aggregator_refusal(parse_spec("aggregator", "mean"), trial.task()),
            "mean needs at least 1 member, and there are 0");
}

TEST(Aggregate, UnknownNamesAreAnInputError) {
  MemberTrial trial = two_members();
  EXPECT_THAT(sentence([&] { aggregated("geometric_medain", trial); }), HasSubstr("did you mean 'geometric_median'?"));
  EXPECT_THAT(sentence([&] { aggregated("mean:wieght=1", trial); }), HasSubstr("mean has no option 'wieght'"));
}

TEST(Aggregate, RowsThatAreNoNumbersAreCountedAndTheRestIsNot) {
  MemberTrial trial = bare_members({{{1, 0}, {NAN, 1}}, {{0, 1}, {1, 1}}});
  const Aggregate made = aggregated("median", trial);
  ASSERT_EQ(made.undefined.size(), 1U);
  EXPECT_EQ(made.undefined[0].rows, 1U);
  EXPECT_TRUE(std::isnan(made.explanations.values(1, 0)));
  EXPECT_TRUE(std::isnan(measure(made, "norm")[1]));
  EXPECT_FLOAT_EQ(made.explanations.values(0, 0), 0.5F);
}

}  // namespace
}  // namespace assay::testing
