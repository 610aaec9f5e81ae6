#include "assay/study/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "assay/study/assess.h"
#include "tests/explain/toys.h"
#include "tests/study/hand_study.h"

namespace assay::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr size_t kRows = 401;

// Scores far within their intervals of these means; sin() of another frequency for each entry and criterion.
StudyEntry& add_scored(Study& study, const std::string& name, EntryKind kind, const std::vector<double>& means) {
  std::vector<std::vector<double>> values;
  for (size_t c = 0; c < means.size(); ++c) {
    values.push_back(std::isnan(means[c]) ? std::vector<double>(kRows, NAN)
                                          : around(means[c], 0.01, kRows, 7 * study.entries.size() + c));
  }
  return add_entry(study, name, kind, std::move(values));
}

Study by_faithfulness(const std::vector<std::pair<std::string, double>>& entries) {
  Study study = hand_study(kRows, {{"faithfulness", Direction::higher}});
  for (const auto& [name, mean] : entries) add_scored(study, name, EntryKind::method, {mean});
  return study;
}

void make_sampled(StudyEntry& entry) { entry.explanations.standard_error = matrix_of({{0, 0.1F}}); }
void make_relative(StudyEntry& entry) { entry.explanations.combination.relative = true; }

std::string overall_of(const Study& study) {
  const Advice advice = assess(study).advice;
  return advice.overall ? study.entries[advice.overall->entry].name : "nothing";
}

TEST(Advice, IsFaithfulWithinTheMarginAndNotBeyond) {
  Study study = hand_study(kRows, {{"faithfulness", Direction::higher}});
  size_t wave = 0;
  for (const auto& [name, mean] :
       std::vector<std::pair<std::string, double>>{{"far", 0.80}, {"best", 0.90}, {"near", 0.87}, {"edge", 0.853}}) {
    add_entry(study, name, EntryKind::method, {around(mean, 0.1, kRows, wave++)});
  }
  const Advice advice = assess(study).advice;
  EXPECT_EQ(advice.most_faithful, 1U);
  std::vector<Faithful> states;
  for (const EntryAdvice& entry : advice.entries) states.push_back(entry.faithful);
  EXPECT_THAT(states, ElementsAre(Faithful::no, Faithful::yes, Faithful::yes, Faithful::undecided));
  EXPECT_NEAR(advice.entries[0].behind, 0.1, 1e-9);
  EXPECT_LE(advice.entries[2].behind_interval.high, 0.05);
  EXPECT_GT(advice.entries[0].behind_interval.low, 0.05);
  EXPECT_EQ(advice.entries[1].behind, 0);
  EXPECT_TRUE(std::isnan(advice.entries[2].rows_to_decide));
  // Intervals shrink as 1 / sqrt(rows): 0.003 from the margin, so so many rows that they reach no further.
  const EntryAdvice& edge = advice.entries[3];
  const double reach = edge.behind_interval.high - edge.behind;
  EXPECT_GT(reach, 0.003);
  EXPECT_NEAR(edge.rows_to_decide, kRows * std::pow(reach / (0.05 - edge.behind), 2), 1);
  EXPECT_GT(advice.critical, 1.5);
  EXPECT_LT(advice.critical, 4);
  EXPECT_THAT(
      assess(study).verdict,
      Contains(StartsWith("Undecided: the rows do not say whether edge is within 0.05 of the faithfulness of best")));
}

TEST(Advice, MarginsOfNothingAndOfEverything) {
  Study study = by_faithfulness({{"best", 0.90}, {"near", 0.8999}, {"far", -0.05}});
  study.advice = {.margin = 0, .tie = 0};
  Advice advice = assess(study).advice;
  EXPECT_EQ(advice.entries[0].faithful, Faithful::yes);
  EXPECT_EQ(advice.entries[1].faithful, Faithful::undecided);
  EXPECT_EQ(advice.entries[2].faithful, Faithful::no);
  EXPECT_EQ(overall_of(study), "best");
  study.advice = {.margin = 1, .tie = 1};
  advice = assess(study).advice;
  for (const EntryAdvice& entry : advice.entries) EXPECT_EQ(entry.faithful, Faithful::yes);
  EXPECT_THAT(advice.overall->better, ElementsAre(2U)) << "within the margin, and told apart all the same";
  // A tie of 1 makes all alike: the cheapest.
  study.entries[0].explanations.evaluations = study.entries[1].explanations.evaluations = 9;
  EXPECT_EQ(overall_of(study), "far");
}

TEST(Advice, PrefersCompleteThenExactThenCheap) {
  Study study = by_faithfulness({{"relative", 0.92}, {"sampled", 0.9003}, {"dear", 0.9002}, {"cheap", 0.9001}});
  make_relative(study.entries[0]);
  make_sampled(study.entries[1]);
  study.entries[1].explanations.evaluations = 1;
  study.entries[2].explanations.evaluations = 50;
  study.entries[3].explanations.evaluations = 20;
  const Advice advice = assess(study).advice;
  EXPECT_FALSE(advice.entries[0].complete);
  EXPECT_TRUE(advice.entries[1].complete);
  EXPECT_FALSE(advice.entries[1].exact);
  EXPECT_TRUE(advice.entries[2].exact);
  EXPECT_EQ(advice.overall->entry, 3U);
  EXPECT_THAT(advice.overall->ahead, ElementsAre(0U)) << "told apart, and passed over as incomplete";
  EXPECT_THAT(advice.overall->tied, ElementsAre(1U, 2U));
  EXPECT_EQ(advice.faithfulness->entry, 0U) << "the best mean; the others are beyond the tie";
  EXPECT_THAT(advice.faithfulness->better, ElementsAre(1U, 2U, 3U));
  const auto sentences = assess(study).verdict;
  EXPECT_THAT(sentences[0], HasSubstr("0.02 less than that of relative, which does not add up to the prediction"));
  EXPECT_THAT(sentences[0], HasSubstr("it adds up to the prediction, and nothing in it is sampled; 20 model eval"));

  study.entries[2].explanations.evaluations = 20;
  EXPECT_EQ(overall_of(study), "dear") << "alike in everything: the better mean";
  study.advice.tie = 0;
  EXPECT_EQ(overall_of(study), "sampled");
  study.advice.tie = 0.002;
  study.entries[0].scores[0] = hand_scores(around(0.9005, 0.01, kRows, 0));
  EXPECT_EQ(overall_of(study), "dear");
  for (StudyEntry& entry : study.entries) make_relative(entry);
  study.entries[0].explanations.evaluations = 30;
  EXPECT_EQ(overall_of(study), "dear") << "nothing adds up: all faithful ones";
}

TEST(Advice, SaysWhyTheBestMeanIsPassedOver) {
  Study study = by_faithfulness({{"a", 0.9008}, {"b", 0.9}});
  make_sampled(study.entries[0]);
  EXPECT_THAT(assess(study).verdict[0], HasSubstr("0.001 less than that of a, which is sampled"));
  study.entries[0].explanations.standard_error = {};
  study.entries[0].explanations.evaluations = 5;
  EXPECT_THAT(assess(study).verdict[0], HasSubstr("0.001 less than that of a, which takes more evaluations"));
  study.entries[0].scores[0] = hand_scores(around(0.9001, 0.01, kRows, 0));
  EXPECT_THAT(assess(study).verdict[0], HasSubstr("to three digits that of a, which takes more evaluations"));
  study.entries[0].explanations.evaluations = 0;
  EXPECT_THAT(assess(study).verdict[0], StartsWith("Use a: faithfulness 0.9"));
  EXPECT_THAT(assess(study).verdict[0], HasSubstr("the best here"));
}

// Completeness by what is known of a method, else by the gaps: at most a thousandth of the rise.
TEST(Advice, CompletenessIsMeasured) {
  Study study = by_faithfulness({{"known", 0.9}, {"adds", 0.9}, {"misses", 0.9}, {"unknown", 0.9}, {"jumps", 0.9}});
  study.entries[0].explanations.provenance.method = "exact_shapley";
  study.entries[0].explanations.gap = {NAN};
  // A path integral of a model with jumps: what the method promises does not hold here.
  Explanations& jumps = study.entries[4].explanations;
  jumps.provenance.method = "integrated_gradients";
  jumps.base = {1, 0};
  jumps.output = {3, 2};
  jumps.gap = {0.5, NAN};
  for (size_t e = 1; e < 4; ++e) {
    Explanations& made = study.entries[e].explanations;
    made.provenance.method = "gradient_x_input";
    made.base = {1, 0};
    made.output = {3, 2};
    made.gap = {e == 1 ? 0.0039 : e == 2 ? -0.0041 : NAN, 0};
  }
  std::vector<bool> complete;
  for (const EntryAdvice& entry : describe_entries(study)) complete.push_back(entry.complete);
  EXPECT_THAT(complete, ElementsAre(true, true, false, false, false));
}

TEST(Advice, AnAggregateCostsWhatItsMembersCostAndIsAsSampledAsTheyAre) {
  Study study = by_faithfulness({{"a", 0.9}, {"b", 0.9}, {"mix", 0.9}});
  study.entries[0].explanations.evaluations = 100;
  study.entries[1].explanations.evaluations = 20;
  make_sampled(study.entries[1]);
  study.entries[2].explanations.evaluations = 3;
  study.entries[2].explanations.combination.members = {"a", "elsewhere"};
  EXPECT_EQ(describe_entries(study)[2].evaluations, 103U);
  EXPECT_TRUE(describe_entries(study)[2].exact);
  study.entries[2].explanations.combination.members = {"a", "b"};
  EXPECT_EQ(describe_entries(study)[2].evaluations, 123U);
  EXPECT_FALSE(describe_entries(study)[2].exact);
}

Explanations values_of(const std::vector<std::vector<float>>& rows) {
  Explanations made;
  made.values = matrix_of(rows);
  return made;
}

TEST(Advice, SameDirectionsAreAliases) {
  const Explanations one = values_of({{1, 2}, {0, -1}, {0, 0}});
  EXPECT_TRUE(same_directions(one, values_of({{3, 6}, {0, -0.25F}, {0, 0}})));
  EXPECT_TRUE(same_directions(one, values_of({{1, 2.000002F}, {0, -1}, {0, 0}})));  // 4e-7 apart
  EXPECT_FALSE(same_directions(one, values_of({{1, 2.00001F}, {0, -1}, {0, 0}})));  // 2e-6
  EXPECT_FALSE(same_directions(one, values_of({{1, 2}, {0, 1}, {0, 0}}))) << "the other way round";
  EXPECT_FALSE(same_directions(one, values_of({{1, 2}, {0, -1}, {0, 1e-9F}}))) << "zero has no direction";
  EXPECT_FALSE(same_directions(one, values_of({{1, 2}, {0, -1}})));
  EXPECT_FALSE(same_directions({}, {})) << "nothing to compare";
  const Explanations holes = values_of({{NAN, 2}, {0, -1}, {0, 0}});
  EXPECT_FALSE(same_directions(one, holes));
  EXPECT_TRUE(same_directions(holes, holes));
}

// Three aliases and a rival. The exact one speaks, and is the only one of the three that is compared.
TEST(Advice, AliasesSpeakWithOneVoice) {
  Study study = by_faithfulness({{"sampled", 0.9}, {"exact", 0.9}, {"rival", 0.89}, {"longer", 0.9}});
  for (const size_t e : {0U, 1U, 3U}) {
    study.entries[e].explanations = values_of({{1, 2}, {2, -1}});
    study.entries[e].scores = study.entries[1].scores;
  }
  study.entries[3].explanations = values_of({{10, 20}, {20, -10}});
  study.entries[2].explanations = values_of({{1, 1}, {2, -1}});
  study.entries[3].explanations.evaluations = 5;
  study.entries[0].explanations.standard_error = matrix_of({{0.1F, 0}});
  const Assessment found = assess(study);
  const Advice& advice = found.advice;
  std::vector<size_t> voices;
  for (const EntryAdvice& entry : advice.entries) voices.push_back(entry.alias_of);
  EXPECT_THAT(voices, ElementsAre(1, 1, 2, 1));
  EXPECT_THAT(aliases_of(advice, 1), ElementsAre(0, 3));
  EXPECT_THAT(aliases_of(advice, 0), IsEmpty());
  EXPECT_EQ(advice.overall->entry, 1U);
  EXPECT_THAT(advice.overall->better, ElementsAre(2));
  EXPECT_THAT(advice.overall->tied, IsEmpty());
  for (const size_t e : {0U, 3U}) {
    EXPECT_EQ(advice.entries[e].faithful, Faithful::yes);
    EXPECT_EQ(advice.entries[e].behind, 0);
  }
  EXPECT_THAT(found.rankings[0].standing, ElementsAre(Standing::best, Standing::best, Standing::worse, Standing::best));
  EXPECT_THAT(found.verdict[0], StartsWith("Use exact (also sampled and longer): "));
}

// By a criterion that measures size, aliases of different size are different.
TEST(Advice, AliasesOfAnotherScoreSpeakForThemselves) {
  Study study = hand_study(kRows, {{"faithfulness", Direction::higher}, {"infidelity", Direction::lower}});
  add_scored(study, "a", EntryKind::method, {0.9, 5});
  add_scored(study, "twice", EntryKind::method, {0.9, 1});
  add_scored(study, "none", EntryKind::method, {0.9, NAN});
  study.entries[0].explanations = values_of({{1, 2}});
  study.entries[1].explanations = study.entries[2].explanations = values_of({{2, 4}});
  for (StudyEntry& entry : study.entries) entry.scores[0] = study.entries[0].scores[0];
  const Assessment found = assess(study);
  EXPECT_EQ(found.advice.entries[1].alias_of, 0U);
  EXPECT_THAT(found.rankings[0].standing, ElementsAre(Standing::tied, Standing::tied, Standing::tied));
  EXPECT_THAT(found.rankings[1].standing, ElementsAre(Standing::worse, Standing::best, Standing::undefined));
  // Even if the one that speaks for them has no score.
  study.entries[0].scores[1] = study.entries[2].scores[1];
  EXPECT_THAT(assess(study).rankings[1].order, ElementsAre(1));
  EXPECT_THAT(assess(study).rankings[1].standing,
              ElementsAre(Standing::undefined, Standing::tied, Standing::undefined));
}

// faithfulness, average sensitivity, complexity
Study by_aims() {
  Study study = study_of_aims(kRows);
  add_scored(study, "best", EntryKind::method, {0.90, 0.50, 1.5});
  add_scored(study, "steady", EntryKind::method, {0.88, 0.30, 1.4});
  add_scored(study, "wrong", EntryKind::method, {0.30, 0.10, 0.5});
  add_scored(study, "mix", EntryKind::aggregate, {0.89, 0.40, 1.0});
  return study;
}

TEST(Advice, RecommendsOnlyFaithfulOnesForEachAim) {
  const Study study = by_aims();
  const Assessment found = assess(study);
  const Advice& advice = found.advice;
  EXPECT_EQ(advice.overall->entry, 0U);
  EXPECT_EQ(advice.faithfulness->entry, 0U);
  EXPECT_EQ(advice.stability->entry, 1U);
  EXPECT_EQ(advice.stability->criterion, 1U);
  EXPECT_THAT(advice.stability->unfaithful, ElementsAre(2U));
  EXPECT_THAT(advice.stability->better, ElementsAre(3U, 0U));
  EXPECT_EQ(advice.simplicity->entry, 3U);
  EXPECT_THAT(advice.simplicity->better, ElementsAre(1U, 0U));
  EXPECT_THAT(found.verdict[1], StartsWith("When stability matters most, use steady: average sensitivity 0.3"));
  EXPECT_THAT(found.verdict[1],
              HasSubstr("Against best it costs 0.02 of faithfulness; it is at most 0.021 behind best;"));
  EXPECT_THAT(found.verdict[1], HasSubstr("Ahead by stability, but not known to be faithful: wrong."));
  EXPECT_THAT(found.verdict[2], StartsWith("When simplicity matters most, use mix: complexity 1"));
}

// A least-squares fit at the tested size can beat the true attributions at their own test.
TEST(Advice, ShapleyValuesAreTheStandard) {
  Study study =
      by_faithfulness({{"fit", 0.55}, {"exact_shapley", 0.33}, {"kernel_shap:samples=64", 0.31}, {"off", 0.1}});
  make_relative(study.entries[0]);
  make_sampled(study.entries[2]);
  study.entries[1].explanations.provenance.method = "exact_shapley";
  study.entries[2].explanations.provenance.method = "kernel_shap";
  const Assessment found = assess(study);
  EXPECT_EQ(found.advice.most_faithful, 0U);
  EXPECT_EQ(found.advice.standard, 1U);
  EXPECT_EQ(found.advice.overall->entry, 1U);
  EXPECT_THAT(found.advice.overall->ahead, ElementsAre(0U));
  EXPECT_EQ(found.advice.faithfulness->entry, 1U) << "above the standard by more than the margin: fitted to the test";
  EXPECT_EQ(found.advice.entries[0].faithful, Faithful::yes);
  EXPECT_EQ(found.advice.entries[2].faithful, Faithful::yes);
  EXPECT_EQ(found.advice.entries[3].faithful, Faithful::no);
  EXPECT_TRUE(found.advice.one_number_fails) << "the fit at 0.55 is no evidence to the contrary";
  EXPECT_THAT(found.verdict[0], HasSubstr("the faithfulness of exact_shapley is 0.33"));
  EXPECT_THAT(found.verdict[1], HasSubstr("0.22 less than that of fit, which does not add up to the prediction"));
  // However they are estimated, and whether an option is said or left at its default.
  study.entries[1].name = "exact_shapley:other=1";
  EXPECT_EQ(assess(study).advice.standard, 1U);
  // But an estimate from so few draws that it may be far off is no standard.
  Explanations& rough = study.entries[1].explanations;
  rough.values = matrix_of({{3, 4}});
  rough.standard_error = matrix_of({{0, 1.5F}});
  EXPECT_NE(assess(study).advice.standard, 1U);
  rough.standard_error = matrix_of({{0, 0.75F}});
  EXPECT_EQ(assess(study).advice.standard, 1U);
  rough.standard_error = matrix_of({{NAN, 0}});
  EXPECT_NE(assess(study).advice.standard, 1U) << "nobody knows how far off";
  rough.standard_error = {};
  for (const size_t e : {1U, 2U}) study.entries[e].explanations.provenance.method = "elsewhere";
  EXPECT_EQ(assess(study).advice.standard, 0U);
  EXPECT_FALSE(assess(study).advice.one_number_fails) << "no Shapley values, whose sums are the standard";
}

// No interval can be within the margin with so few rows; what is within the tie is as good as the best all the same.
TEST(Advice, OfFewRowsWhatIsWithinTheTieCounts) {
  Study study = hand_study(2, {{"faithfulness", Direction::higher}});
  add_entry(study, "dear", EntryKind::aggregate, {{0.9, 0.91}}).explanations.evaluations = 900;
  add_entry(study, "cheap", EntryKind::method, {{0.899, 0.909}}).explanations.evaluations = 9;
  add_entry(study, "behind", EntryKind::method, {{0.87, 0.84}});
  const Advice advice = assess(study).advice;
  EXPECT_EQ(advice.entries[1].faithful, Faithful::yes);
  EXPECT_EQ(advice.entries[2].faithful, Faithful::undecided);
  EXPECT_EQ(advice.overall->entry, 1U);
}

// Three of 60 rows are no evidence of being as good as the best.
TEST(Advice, AMeanOfFewRowsIsNotWithinTheTie) {
  Study study = by_faithfulness({{"best", 0.9}});
  std::vector<double> few(kRows, NAN);
  for (size_t r = 0; r < 3; ++r) few[r] = study.entries[0].scores[0].values[r] - 0.001;
  add_entry(study, "few", EntryKind::method, {few});
  add_entry(study, "other", EntryKind::method, {around(0.5, 0.01, kRows, 3)});
  EXPECT_EQ(assess(study).advice.entries[1].faithful, Faithful::undecided);
}

// By stability: the aggregate has the better mean, and the rows do not tell it from the method.
TEST(Advice, AnAggregateIsRecommendedForAnAimOnlyIfItGains) {
  Study study = study_of_aims(kRows);
  add_entry(study, "method", EntryKind::method,
            {around(0.9, 0.01, kRows, 1), around(0.50, 0.2, kRows, 2), around(1, 0.01, kRows, 3)});
  add_entry(study, "mix", EntryKind::aggregate,
            {around(0.9, 0.01, kRows, 4), around(0.49, 0.2, kRows, 5), around(0.8, 0.01, kRows, 6)});
  const Advice advice = assess(study).advice;
  EXPECT_EQ(advice.stability->entry, 0U);
  EXPECT_THAT(advice.stability->tied, ElementsAre(1U));
  EXPECT_EQ(advice.simplicity->entry, 1U);
  ASSERT_EQ(advice.gains.size(), 3U);
  EXPECT_LT(advice.gains[1].interval.low, 0);
  EXPECT_GT(advice.gains[2].interval.low, 0);
}

// Of methods that the rows do not tell apart, the one that is better made.
TEST(Advice, TiesOfAnAimAreThoseThatTheRowsDoNotTellApart) {
  Study study = study_of_aims(kRows);
  for (size_t e = 0; e < 3; ++e) {
    add_entry(study, std::string(1, static_cast<char>('a' + e)), EntryKind::method,
              {around(0.9, 0.01, kRows, e), around(0.5 + 0.01 * static_cast<double>(e), 0.2, kRows, 5 + e),
               around(1 + 0.2 * static_cast<double>(e), 0.01, kRows, 9 + e)});
  }
  make_relative(study.entries[0]);
  make_sampled(study.entries[1]);
  const Advice advice = assess(study).advice;
  EXPECT_EQ(advice.stability->entry, 2U) << "adds up, and is not sampled";
  EXPECT_EQ(advice.simplicity->entry, 0U) << "told apart: the best";
}

TEST(Advice, RanksWithoutSignsTakeNoPart) {
  Study study = by_aims();
  study.entries[3].explanations.provenance.method = "borda";
  const Advice advice = assess(study).advice;
  EXPECT_FALSE(advice.entries[3].has_signs);
  EXPECT_EQ(advice.entries[3].faithful, Faithful::unknown);
  EXPECT_EQ(advice.simplicity->entry, 1U);
  for (const auto& made : {advice.overall, advice.faithfulness, advice.stability, advice.simplicity}) {
    EXPECT_THAT(made->tied, Not(Contains(3U)));
    EXPECT_THAT(made->better, Not(Contains(3U)));
    EXPECT_THAT(made->unfaithful, Not(Contains(3U)));
  }
  EXPECT_THAT(advice.gains, IsEmpty());
}

TEST(Advice, GainsAreOfTheBestAggregateOverTheBestMethod) {
  Study study = by_aims();
  const Advice advice = assess(study).advice;
  ASSERT_EQ(advice.gains.size(), 3U);
  EXPECT_EQ(advice.gains[0].aggregate, 3U);
  EXPECT_EQ(advice.gains[0].method, 0U);
  EXPECT_NEAR(advice.gains[0].difference, -0.01, 1e-9);
  EXPECT_EQ(advice.gains[1].method, 1U);
  EXPECT_NEAR(advice.gains[1].difference, -0.1, 1e-9);
  EXPECT_NEAR(advice.gains[2].difference, 0.4, 1e-9);
  EXPECT_LT(advice.gains[2].interval.low, 0.4);
  EXPECT_GT(advice.gains[2].interval.low, 0);
  EXPECT_THAT(
      assess(study).verdict,
      Contains(StartsWith("Aggregates gain over the best faithful method: mix over steady in simplicity, by 0.4 "
                          "(0.39")));
  EXPECT_THAT(assess(study).verdict, Contains(HasSubstr("). None gains in faithfulness or stability.")));
  study.entries[3].scores[2] = hand_scores(around(1.4, 0.01, kRows, 3));
  EXPECT_THAT(assess(study).verdict,
              Contains("No aggregate gains over the best method, in faithfulness, stability or simplicity."));
  study.entries[3].scores[0] = hand_scores(around(0.5, 0.01, kRows, 3));
  EXPECT_THAT(assess(study).verdict, Contains("No aggregate is known to be faithful here: use single methods."));
  study.entries[3].scores[0] = hand_scores(around(0.99, 0.01, kRows, 3));
  EXPECT_THAT(assess(study).verdict, Contains("Only aggregates are known to be faithful here, no single method."));
}

TEST(Advice, ThatOneNumberFailsNeedsAnUpperBoundBelowAHalf) {
  Study study = by_faithfulness({{"a", 0.45}, {"b", 0.2}});
  study.entries[0].scores[0].interval = {0.42, 0.4999};
  Assessment found = assess(study);
  EXPECT_EQ(found.advice.best_upper, 0.4999);
  // Other methods might do better than these two.
  EXPECT_TRUE(found.advice.none_describes && !found.advice.one_number_fails);
  EXPECT_TRUE(!found.advice.overall && found.advice.entries[0].faithful == Faithful::no);
  EXPECT_THAT(found.verdict[0], StartsWith("None of these explanations describes the model at these rows: the best "
                                           "faithfulness, that of a, is 0.45"));
  study.entries[0].explanations.provenance.method = "exact_shapley";
  found = assess(study);
  EXPECT_TRUE(found.advice.one_number_fails && !found.advice.none_describes);
  // Correlations over all rows at once have another scale.
  study.entries[0].scores[0].of_rows = false;
  EXPECT_FALSE(assess(study).advice.one_number_fails || assess(study).advice.none_describes);
  study.entries[0].scores[0].of_rows = true;
  EXPECT_THAT(found.verdict[0], StartsWith("One number for each feature does not describe this model at these rows: "
                                           "the faithfulness of a is 0.45"));
  study.entries[0].scores[0].interval.high = 0.5;
  found = assess(study);
  EXPECT_FALSE(found.advice.one_number_fails);
  EXPECT_THAT(found.verdict[0], StartsWith("Use a: "));
  // Without an interval: two errors of the mean.
  study.entries[0].scores[0].interval = {NAN, NAN};
  study.entries[0].scores[0].mean_error = 0.02;
  EXPECT_NEAR(assess(study).advice.best_upper, 0.49, 1e-9);
}

TEST(Advice, OfOneEntryAlone) {
  const Assessment found = assess(by_faithfulness({{"only", 0.9}}));
  EXPECT_EQ(found.advice.overall->entry, 0U);
  EXPECT_TRUE(std::isnan(found.advice.critical));
  EXPECT_THAT(found.advice.overall->tied, IsEmpty());
  EXPECT_THAT(found.advice.gains, IsEmpty());
  EXPECT_THAT(found.verdict, ElementsAre(StartsWith("Use only: faithfulness 0.9")));
}

TEST(Advice, WithoutScoresOrWithoutFaithfulnessNothingIsRecommended) {
  Assessment found = assess(by_faithfulness({{"a", NAN}, {"b", NAN}}));
  EXPECT_FALSE(found.advice.overall || found.advice.most_faithful || found.advice.stability);
  EXPECT_EQ(found.advice.entries[0].faithful, Faithful::unknown);
  EXPECT_THAT(found.verdict, ElementsAre("No criterion here says which explanation is better."));

  Study study = hand_study(kRows, {{"complexity", Direction::lower}});
  add_scored(study, "a", EntryKind::method, {1});
  add_scored(study, "b", EntryKind::method, {2});
  found = assess(study);
  EXPECT_FALSE(found.advice.overall || found.advice.simplicity);
  EXPECT_THAT(found.advice.drivers, IsEmpty());
  EXPECT_THAT(found.verdict, ElementsAre(StartsWith("By complexity, a comes first (1"),
                                         "Nothing is recommended: faithfulness was not scored, and the best by another "
                                         "criterion may be wrong."));
  EXPECT_THAT(assess(Study{}).verdict, ElementsAre("No criterion here says which explanation is better."));
}

// One row has no interval: only the best is known to be faithful, and nobody knows how many rows would decide.
TEST(Advice, OfOneRow) {
  Study study = hand_study(1, {{"faithfulness", Direction::higher}});
  add_entry(study, "a", EntryKind::method, {{0.9}});
  add_entry(study, "b", EntryKind::method, {{0.8}});
  const Assessment found = assess(study);
  EXPECT_EQ(found.advice.entries[0].faithful, Faithful::yes);
  EXPECT_EQ(found.advice.entries[1].faithful, Faithful::undecided);
  EXPECT_TRUE(std::isnan(found.advice.entries[1].rows_to_decide));
  EXPECT_THAT(found.verdict, Contains("Undecided: the rows do not say whether b is within 0.05 of the "
                                      "faithfulness of a; more of them would."));
}

TEST(Advice, DriversAreOfTheRecommendedExplanation) {
  Study study = by_faithfulness({{"worse", 0.8}, {"best", 0.9}});
  study.entries[0].explanations = values_of({{9, 9, 9}, {9, 9, 9}});
  study.entries[1].explanations = values_of({{1, -3, 0}, {-1, -1, NAN}});
  study.entries[1].trends = {0.5, -1, NAN};
  const std::vector<Driver> drivers = assess(study).advice.drivers;
  ASSERT_EQ(drivers.size(), 3U);
  EXPECT_EQ(drivers[0].player, 1U);
  EXPECT_EQ(drivers[0].size, 2);
  EXPECT_EQ(drivers[0].mean, -2);
  EXPECT_NEAR(drivers[0].share, 2.0 / 3, 1e-12);
  EXPECT_EQ(drivers[0].trend, -1);
  EXPECT_EQ(drivers[1].player, 0U);
  EXPECT_EQ(drivers[1].size, 1);
  EXPECT_EQ(drivers[1].mean, 0);
  EXPECT_EQ(drivers[2].size, 0);
  EXPECT_TRUE(std::isnan(drivers[2].trend));
}

}  // namespace
}  // namespace assay::testing
