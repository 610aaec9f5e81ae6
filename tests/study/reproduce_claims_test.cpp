// What numbers mean for the paper's claims, worked by hand; and that the declared set-up says everything that is run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "assay/aggregate/aggregators.h"
#include "assay/explain/methods.h"
#include "assay/study/reproduce/claims.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;

// Table 1 with three runs. Best less Gradient-Descent: 1, 1.1, 0.9; Gradient-Descent less Region-Shrinking: `shrink`
// and some noise.
Reproduction images(double shrink, double broken = 0) {
  Reproduction made;
  made.variants = {""};
  made.networks.push_back({.data = "mnist"});
  const auto add = [&](const char* row, std::vector<double> values, const char* column = "complexity") {
    for (const double value : values) made.results.add({"", "mnist", "mnist", row, column}, value);
  };
  for (const char* row : {"SHAP", "SS", "Grad", "G*I", "IG"}) add(row, {6, 6.1, 5.9});
  add("DL", {5, 5, 5});
  add("Best", {5, 5, 5});
  add("Gradient-Descent", {4, 3.9, 4.1});
  add("Region-Shrinking", {4 - shrink + 0.01, 3.9 - shrink, 4.1 - shrink - 0.01});
  for (const char* row : {"Convex", "Gradient-Descent", "Region-Shrinking"}) {
    add(row, {0, 0, row[0] == 'C' ? 0 : broken}, "above its members");
  }
  judge_claims(made);
  return made;
}

const Claim& claim_of(const Reproduction& made, std::string_view id) {
  return *std::ranges::find(made.claims, id, &Claim::id);
}

TEST(Claims, OfImagesByHand) {
  const Reproduction made = images(0.5);
  EXPECT_EQ(claim_of(made, "deeplift-simplest").verdict, Verdict::holds);
  EXPECT_EQ(claim_of(made, "both-lower").verdict, Verdict::holds);
  EXPECT_EQ(claim_of(made, "shrinking-below-walks").verdict, Verdict::holds);
  EXPECT_EQ(claim_of(made, "never-above").verdict, Verdict::by_construction);
  // 1, 1.1, 0.9: 1 -+ 4.302652730 * 0.1 / sqrt 3 = 0.248.
  EXPECT_THAT(claim_of(made, "both-lower").evidence,
              HasSubstr("Holds in 2 of 2 comparisons. Nearest to failing: Best above Gradient-Descent: 5 against 4, "
                        "difference 1 (0.7516 to 1.248)"));
  // Nothing is known about the other tables.
  EXPECT_EQ(claim_of(made, "ava-average").verdict, Verdict::cannot_be_tested);
  EXPECT_EQ(claim_of(made, "shap-faithful").verdict, Verdict::cannot_be_tested);
}

TEST(Claims, AnotherOrderFailsAndNoDifferenceCannotBeTested) {
  EXPECT_EQ(claim_of(images(-0.5), "shrinking-below-walks").verdict, Verdict::fails);
  EXPECT_EQ(claim_of(images(-0.5), "both-lower").verdict, Verdict::holds);
  EXPECT_EQ(claim_of(images(-1.5), "both-lower").verdict, Verdict::partly);
  EXPECT_EQ(claim_of(images(0), "shrinking-below-walks").verdict, Verdict::cannot_be_tested);
  EXPECT_EQ(claim_of(images(0.5, 1), "never-above").verdict, Verdict::fails);
}

// Whatever ours say, the paper's own cells come first; what ours say alone is kept beside.
TEST(Claims, ThePapersOwnTableComesFirst) {
  Reproduction made;
  made.variants = {"", "norm=unit"};
  made.networks.push_back({.data = "iris"});
  for (const std::string variant : {"", "norm=unit"}) {
    const double sign = variant.empty() ? 1 : -1;
    for (const double run : {0.0, 0.01, 0.02}) {
      for (const char* column : {"max at r", "avg at r"}) {
        for (const char* row : {"SHAP", "SS"}) made.results.add({variant, "sensitivity", "iris", row, column}, 1 + run);
        for (const char* row : {"Grad", "G*I", "IG", "DL"}) {
          made.results.add({variant, "sensitivity", "iris", row, column}, 1 + sign + 2 * run);
        }
      }
    }
  }
  judge_claims(made);
  const Claim& claim = claim_of(made, "perturbation-below-gradient");
  EXPECT_EQ(claim.verdict, Verdict::paper_disagrees);
  EXPECT_THAT(claim.evidence, HasSubstr("59.75 against 125.5. Ours: Holds in 2 of 2 comparisons."));
  EXPECT_EQ(claim.in_variants.at(""), Verdict::holds);
  EXPECT_EQ(claim.in_variants.at("norm=unit"), Verdict::fails);
}

// Below half of the rows with a neighbour, claims are read at the radius of ten neighbours.
TEST(Claims, AreReadWhereRowsHaveNeighbours) {
  for (const double coverage : {0.4, 0.6}) {
    Reproduction made;
    made.variants = {""};
    made.networks.push_back({.data = "iris"});
    for (const double run : {0.0, 0.01, 0.02}) {
      for (const auto& [row, at_r, at_1x] : {std::tuple{"SHAP", 1.0, 2.0}, std::tuple{"AVA", 2.0, 1.0}}) {
        made.results.add({"", "ava", "iris", row, "avg at r"}, at_r + run * at_r, coverage);
        made.results.add({"", "ava", "iris", row, "avg at 1x"}, at_1x + run * at_1x);
      }
    }
    judge_claims(made);
    EXPECT_EQ(claim_of(made, "ava-average").verdict, coverage < 0.5 ? Verdict::holds : Verdict::fails);
  }
}

TEST(Claims, ASetWhoseNetworksLearntNothingIsNotJudged) {
  Reproduction made;
  made.variants = {""};
  made.networks.push_back({.data = "eicu", .clinical = true, .judged = false});
  for (const double run : {0.0, 0.01, 0.02}) {
    made.results.add({"", "ava", "eicu", "SHAP", "avg at r"}, 2 + run);
    made.results.add({"", "ava", "eicu", "AVA", "avg at r"}, 1 + 2 * run);
  }
  judge_claims(made);
  EXPECT_EQ(claim_of(made, "ava-average").verdict, Verdict::cannot_be_tested);
  EXPECT_EQ(nearest_clinical(made), "");
  made.networks.push_back({.data = "cinc2019", .clinical = true});
  made.networks.push_back({.data = "cinc2012", .clinical = true});
  EXPECT_EQ(nearest_clinical(made), "cinc2012");
}

std::set<std::string> given_options(const Spec& spec) {
  std::set<std::string> out;
  for (const auto& option : spec.options) out.insert(option.first);
  return out;
}

template <class Options>
std::set<std::string> listed_options(const Options& options) {
  std::set<std::string> out;
  for (const OptionInfo& option : options) out.insert(option.name);
  return out;
}

// An option that is not written out would change the page when its default changes, or when it is new.
TEST(PaperSetup, WritesOutEveryOptionOfWhatItRuns) {
  for (const bool quick : {false, true}) {
    for (const PaperMethod& method : image_methods(quick)) {
      EXPECT_EQ(given_options(method.spec), listed_options(find_method(method.spec.name).options)) << method.name;
    }
  }
  for (const PaperMethod& method : paper_methods()) {
    EXPECT_EQ(given_options(method.spec), listed_options(find_method(method.spec.name).options)) << method.name;
  }
  for (const Variant& variant : setup_variants()) {
    std::vector<PaperMethod> aggregates = image_aggregates(variant.setup);
    aggregates.push_back({"AVA", ava_spec(variant.setup)});
    for (const PaperMethod& each : aggregates) {
      EXPECT_EQ(given_options(each.spec), listed_options(find_aggregator(each.spec.name).options)) << each.name;
    }
  }
}

// The published estimators.
TEST(PaperSetup, MethodsAreAsPublished) {
  EXPECT_EQ(spec_text(paper_methods()[0].spec),
            "kernel_shap:samples=2048:sampling=kernel:interactions=false:tolerance=0:most_samples=65536");
  EXPECT_EQ(spec_text(paper_methods()[1].spec), "shapley_sampling:permutations=32:antithetic=false");
}

// One option away from the primary set-up, and each option has a variant.
TEST(PaperSetup, VariantsChangeOneThing) {
  const std::vector<OptionInfo> primary = list_options<assay::Setup>();
  std::set<std::string> changed_by_some;
  for (const Variant& variant : setup_variants()) {
    const std::vector<OptionInfo> options = list_options(variant.setup);
    std::string changes;
    for (size_t i = 0; i < options.size(); i++) {
      if (options[i].value == primary[i].value) continue;
      changes += options[i].name + "=" + options[i].value;
      changed_by_some.insert(options[i].name);
    }
    EXPECT_EQ(changes, variant.name);
    EXPECT_EQ(variant.why.empty(), variant.name.empty());
  }
  EXPECT_EQ(changed_by_some, listed_options(primary));
}

}  // namespace
}  // namespace assay::testing
