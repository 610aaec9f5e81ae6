#include "assay/archive/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/archive/gate_study.h"
#include "tests/message.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;

bool passes(const std::string& rule) { return outcomes_of(rule).at(0).passed; }

TEST(Gate, BoundsTheMean) {
  EXPECT_TRUE(passes(R"({"criterion": "faithfulness", "explanation": "lime", "least": 0.9})"));
  EXPECT_FALSE(passes(R"({"criterion": "faithfulness", "explanation": "lime", "least": 0.9001})"));
  EXPECT_TRUE(passes(R"({"criterion": "complexity", "explanation": "lime", "most": 1.5})"));
  EXPECT_FALSE(passes(R"({"criterion": "complexity", "explanation": "lime", "most": 1.4999})"));
  EXPECT_TRUE(passes(R"({"criterion": "complexity", "explanation": "lime", "least": 1, "most": 2})"));
  EXPECT_FALSE(passes(R"({"criterion": "complexity", "explanation": "lime", "least": 1.6, "most": 2})"));
}

TEST(Gate, BoundsBothEndsOfTheInterval) {
  // lime's faithfulness is 0.9 +- 0.01: 0.88 to 0.92.
  const std::string rule = R"({"criterion": "faithfulness", "explanation": "lime", "by": "interval", )";
  EXPECT_TRUE(passes(rule + R"("least": 0.875})"));
  EXPECT_FALSE(passes(rule + R"("least": 0.885})"));
  EXPECT_TRUE(passes(rule + R"("most": 0.925})"));
  EXPECT_FALSE(passes(rule + R"("most": 0.915})"));
}

TEST(Gate, AnIntervalThatIsNotKnownKeepsNoBound) {
  StudySummary study = small_study();
  study.entries[0].scores[0].interval = {NAN, NAN};
  const auto outcomes =
      outcomes_of(R"({"criterion": "faithfulness", "explanation": "lime", "least": 0, "by": "interval"})", study);
  EXPECT_FALSE(outcomes[0].passed);
  EXPECT_EQ(outcomes[0].checks[0].reason, "its interval is undefined");
}

TEST(Gate, KnowsWhichExplanationsARuleIsAbout) {
  // By faithfulness: lime 0.9, occlusion 0.6, mean 0.7.
  EXPECT_FALSE(passes(R"({"criterion": "faithfulness", "least": 0.65})"));
  EXPECT_TRUE(passes(R"({"criterion": "faithfulness", "least": 0.6})"));
  EXPECT_FALSE(passes(R"({"criterion": "faithfulness", "explanation": "methods", "least": 0.65})"));
  EXPECT_TRUE(passes(R"({"criterion": "faithfulness", "explanation": "aggregates", "least": 0.65})"));
  EXPECT_TRUE(passes(R"({"criterion": "faithfulness", "explanation": "any", "least": 0.9})"));
  EXPECT_FALSE(passes(R"({"criterion": "faithfulness", "explanation": "any", "least": 0.91})"));
  EXPECT_EQ(outcomes_of(R"({"criterion": "faithfulness", "least": 0})")[0].checks.size(), 3U);
}

TEST(Gate, TheBestIsByTheCriterionsDirection) {
  // faithfulness, higher is better: lime's 0.9. complexity, lower is better: occlusion's 0.5.
  EXPECT_TRUE(passes(R"({"criterion": "faithfulness", "explanation": "best", "least": 0.85})"));
  EXPECT_TRUE(passes(R"({"criterion": "complexity", "explanation": "best", "most": 0.6})"));
  EXPECT_FALSE(passes(R"({"criterion": "complexity", "explanation": "best", "most": 0.4})"));
  StudySummary study = small_study();
  study.entries[0].scores[0].mean = NAN;
  const auto outcomes = outcomes_of(R"({"criterion": "faithfulness", "explanation": "best", "least": 0.65})", study);
  EXPECT_TRUE(outcomes[0].passed) << "the first is undefined, the aggregate is the best of the others";
  EXPECT_EQ(outcomes[0].checks[0].entry, 2U);
  EXPECT_THAT(sentence([] { outcomes_of(R"({"criterion": "sparseness", "explanation": "best", "least": 0})"); }),
              HasSubstr("a criterion that has a best"));
}

TEST(Gate, TheRecommendedIsTheStudysOwn) {
  StudySummary study = small_study();
  study.recommended = {{"overall", "lime"}, {"stability", "mean"}};
  const auto first = [&](const std::string& explanation, const std::string& bound) {
    const std::string rule = R"({"criterion": "faithfulness", "explanation": ")" + explanation + "\", " + bound + "}";
    return outcomes_of(rule, study).at(0);
  };
  // By faithfulness: lime 0.9, mean 0.7.
  EXPECT_TRUE(first("recommended", R"("least": 0.85)").passed);
  EXPECT_EQ(first("recommended", R"("least": 0.85)").checks[0].entry, 0U);
  EXPECT_FALSE(first("recommended", R"("least": 0.95)").passed);
  EXPECT_TRUE(first("recommended:stability", R"("least": 0.65)").passed);
  EXPECT_EQ(first("recommended:stability", R"("least": 0.65)").checks[0].entry, 2U);
  EXPECT_FALSE(first("recommended:stability", R"("least": 0.75)").passed);
  EXPECT_EQ(sentence([&] { first("recommended:stabilty", R"("least": 0)"); }),
            "r.json, rule 1: expected recommended:overall, recommended:faithfulness, recommended:stability or "
            "recommended:simplicity, found 'recommended:stabilty' (did you mean 'recommended:stability'?)");
}

// A study that recommends nothing is what a gate is there to stop.
TEST(Gate, FailsWhereNothingIsRecommended) {
  StudySummary study = small_study();
  const auto outcomes = outcomes_of(R"({"criterion": "faithfulness", "explanation": "recommended", "least": 0},
                                       {"criterion": "faithfulness", "explanation": "recommended:stability", "most": 2},
                                       {"criterion": "faithfulness", "explanation": "lime", "least": 0})",
                                    study);
  ASSERT_EQ(outcomes.size(), 3U);
  EXPECT_FALSE(outcomes[0].passed);
  EXPECT_EQ(outcomes[0].reason, "no explanation is recommended");
  EXPECT_FALSE(outcomes[1].passed);
  EXPECT_EQ(outcomes[1].reason, "no explanation is recommended for stability");
  EXPECT_TRUE(outcomes[2].passed);
  EXPECT_FALSE(all_passed(outcomes));
  study.recommended = {{"overall", "lime"}};
  EXPECT_FALSE(
      outcomes_of(R"({"criterion": "complexity", "explanation": "recommended:simplicity", "most": 9})", study)[0]
          .passed);
}

TEST(Gate, UndefinedNeverPasses) {
  for (const char* bound : {R"("least": -1e300)", R"("most": 1e300)", R"("least_coverage": 0)"}) {
    const auto outcomes =
        outcomes_of(R"({"criterion": "sparseness", "explanation": "occlusion", )" + std::string(bound) + "}");
    EXPECT_FALSE(outcomes[0].passed) << bound;
    EXPECT_EQ(outcomes[0].checks[0].reason, "undefined");
  }
  EXPECT_FALSE(passes(R"({"criterion": "sparseness", "least": 0})"));
}

TEST(Gate, BoundsCoverage) {
  EXPECT_TRUE(passes(R"({"criterion": "faithfulness", "explanation": "mean", "least_coverage": 0.75})"));
  EXPECT_FALSE(passes(R"({"criterion": "faithfulness", "explanation": "mean", "least_coverage": 0.76})"));
  EXPECT_FALSE(passes(R"({"criterion": "faithfulness", "explanation": "mean", "least": 0, "least_coverage": 0.76})"));
}

TEST(Gate, PassesWhereAllRulesDo) {
  const std::string kept = R"({"criterion": "faithfulness", "explanation": "lime", "least": 0.8})";
  EXPECT_TRUE(all_passed(outcomes_of(kept)));
  EXPECT_FALSE(all_passed(outcomes_of(kept + R"(, {"criterion": "faithfulness", "least": 0.8})")));
}

TEST(Gate, ARuleAboutWhatIsNotThereIsAnError) {
  EXPECT_EQ(sentence([] { outcomes_of(R"({"criterion": "faithfulnes", "least": 0})"); }),
            "r.json, rule 1: expected a criterion of the study: faithfulness:subset=2, complexity or sparseness, found "
            "'faithfulnes' (did you mean 'faithfulness'?)");
  EXPECT_THAT(sentence([] { outcomes_of(R"({"criterion": "complexity", "explanation": "lme", "least": 0})"); }),
              HasSubstr("expected an explanation of the study: all, methods, aggregates, any, best, recommended, lime, "
                        "occlusion or mean, "
                        "found 'lme' (did you mean 'lime'?)"));
  StudySummary study = small_study();
  study.criteria[1] = {"faithfulness:subset=1", "faithfulness", Direction::higher};
  EXPECT_THAT(sentence([&] { outcomes_of(R"({"criterion": "faithfulness", "least": 0})", study); }),
              HasSubstr("expected one criterion: faithfulness:subset=2 or faithfulness:subset=1"));
  study.entries.pop_back();
  EXPECT_THAT(
      sentence([&] { outcomes_of(R"({"criterion": "sparseness", "explanation": "aggregates", "least": 0})", study); }),
      HasSubstr("found 'aggregates'"));
}

TEST(Gate, RulesAreChecked) {
  const auto refusal = [](const std::string& text) { return sentence([&] { gate_rules_from_json("r.json", text); }); };
  const auto of_rule = [&](const std::string& rule) { return refusal(file_of(rule)); };
  EXPECT_THAT(refusal(""), HasSubstr("rules as JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("an object"));
  EXPECT_THAT(refusal("{}"), HasSubstr("schema"));
  EXPECT_THAT(refusal(R"({"schema": "assay.rules/2", "rules": []})"), HasSubstr("assay.rules/1"));
  EXPECT_THAT(refusal(R"({"schema": "assay.rules/1"})"), HasSubstr("at least one rule"));
  EXPECT_THAT(of_rule(""), HasSubstr("at least one rule"));
  EXPECT_THAT(refusal(R"({"schema": "assay.rules/1", "rules": {}})"), HasSubstr("at least one rule"));
  EXPECT_THAT(refusal(R"({"schema": "assay.rules/1", "rules": [{}], "x": 1})"), HasSubstr("'x'"));
  EXPECT_THAT(of_rule("1"), HasSubstr("rule 1: expected an object"));
  EXPECT_THAT(of_rule(R"({"least": 1})"), HasSubstr("criterion"));
  EXPECT_THAT(of_rule(R"({"criterion": 1, "least": 1})"), HasSubstr("text as 'criterion'"));
  EXPECT_THAT(of_rule(R"({"criterion": "a"})"), HasSubstr("a bound"));
  EXPECT_THAT(of_rule(R"({"criterion": "a", "least": "1"})"), HasSubstr("a number as 'least'"));
  EXPECT_THAT(of_rule(R"({"criterion": "a", "least": null})"), HasSubstr("a number as 'least'"));
  EXPECT_THAT(of_rule(R"({"criterion": "a", "least": 1e999})"), HasSubstr("out of range"));
  EXPECT_THAT(of_rule(R"({"criterion": "a", "least": 2, "most": 1})"), HasSubstr("'least' not above 'most'"));
  EXPECT_THAT(of_rule(R"({"criterion": "a", "least_coverage": 1.5})"), HasSubstr("0 to 1"));
  EXPECT_THAT(of_rule(R"({"criterion": "a", "least_coverage": 1, "by": "interval"})"), HasSubstr("'by'"));
  EXPECT_THAT(of_rule(R"({"criterion": "a", "least": 1, "by": "median"})"), HasSubstr("mean or interval"));
  EXPECT_THAT(of_rule(R"({"criterion": "a", "leest": 1})"), HasSubstr("'leest' (did you mean 'least'?)"));
  EXPECT_THAT(of_rule(R"({"criterion": "a", "least": 9, "least": 0})"), HasSubstr("'least' twice"));
  EXPECT_THAT(of_rule(std::string(100'000, '[')), HasSubstr("deep"));
  std::string many = "{}";
  for (int i = 0; i < 2'000; i++) many += ",{}";
  EXPECT_THAT(of_rule(many), HasSubstr("at most 1000 rules"));
}

}  // namespace
}  // namespace assay::testing
