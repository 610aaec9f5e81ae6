#include "assay/study/assess.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/study/comparisons.h"
#include "assay/study/verdict.h"
#include "tests/study/hand_study.h"

namespace assay::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Rows so many that intervals reach less than a tenth of the differences in these tests.
constexpr size_t kMany = 401;

const std::vector<double> first_rows = {0.9, 0.8, 0.95, 0.85, 0.9};  // mean 0.88
const std::vector<double> second_rows = {0.7, 0.75, 0.9, 0.6, 0.8};  // mean 0.75
const std::vector<double> third_rows = {0.5, 0.9, 0.85, 0.8, 0.9};   // mean 0.79
constexpr double kFirstSecond = 0.032888933396513796;                // p of the pair, by scipy.stats.ttest_rel

std::vector<double> negated(std::vector<double> values) {
  for (double& v : values) v = -v;
  return values;
}

Study of_one(Direction direction, const std::vector<std::vector<double>>& entries) {
  Study study = hand_study(entries.at(0).size(), {{"infidelity", direction}});
  for (size_t e = 0; e < entries.size(); ++e) {
    add_entry(study, std::string(1, static_cast<char>('a' + e)), EntryKind::method, {entries[e]});
  }
  return study;
}

CriterionRanking ranked(const Study& study) { return assess(study).rankings.at(0); }

// Differences 0.2, 0.05, 0.05, 0.25, 0.1: mean 0.13, squared deviations 0.0049 + 0.0064 + 0.0064 + 0.0144 + 0.0009 =
// 0.033, error sqrt(0.033 / 4 / 5) = 0.0406202, t = 3.2004.
TEST(Assess, OneComparisonIsStudentsPairedTest) {
  const EntryComparison test = entry_comparison(hand_scores(first_rows), hand_scores(second_rows));
  EXPECT_TRUE(test.paired);
  EXPECT_NEAR(test.difference, 0.13, 1e-12);
  EXPECT_NEAR(test.error, std::sqrt(0.033 / 20), 1e-12);
  EXPECT_NEAR(test.p_value, kFirstSecond, 1e-12);
}

// Marks are by the simultaneous intervals of all pairs: those of comparisons.h.
TEST(Assess, StandingIsByTheIntervalsOfAllPairs) {
  const Study study = of_one(Direction::higher, {around(0.5, 0.1, kMany, 1), around(0.9, 0.1, kMany, 2),
                                                 around(0.899, 0.1, kMany, 3), around(0.7, 0.1, kMany, 4)});
  const CriterionRanking found = ranked(study);
  EXPECT_TRUE(found.ranks);
  EXPECT_THAT(found.order, ElementsAre(1, 2, 3, 0));
  EXPECT_THAT(found.standing, ElementsAre(Standing::worse, Standing::tied, Standing::tied, Standing::worse));
  const CriterionComparison compared(study, 0, {1, 2, 3, 0}, {});
  for (const size_t e : {0U, 2U, 3U}) {
    EXPECT_EQ(found.behind[e], compared.between(1, e).mean);
    EXPECT_EQ(found.behind_interval[e].low, compared.between(1, e).interval.low);
    EXPECT_EQ(found.behind_interval[e].high, compared.between(1, e).interval.high);
  }
  EXPECT_TRUE(std::isnan(found.behind[1]) && std::isnan(found.behind_interval[1].low));
  Study without = study;
  without.entries.erase(without.entries.begin() + 2);
  EXPECT_THAT(ranked(without).standing, ElementsAre(Standing::worse, Standing::best, Standing::worse));
}

// Ten entries that are all the same but for noise: in 5 % of such studies at most anything may be called worse than the
// one that happens to come first. 300 studies have a standard error of 1.3 points at 5 %, so more than 9 % would be
// three of them too many. Tests of single pairs would find one in every second study.
TEST(Assess, ChanceMakesNobodyWorse) {
  constexpr size_t kStudies = 300;
  size_t wrong = 0;
  for (size_t s = 0; s < kStudies; ++s) {
    RandomStream random(s, "chance");
    std::vector<std::vector<double>> values(10, std::vector<double>(30));
    for (auto& entry : values) {
      for (double& v : entry) v = random.normal();
    }
    const CriterionRanking found = ranked(of_one(Direction::higher, values));
    wrong += std::ranges::count(found.standing, Standing::worse) > 0;
  }
  EXPECT_LT(wrong, kStudies * 9 / 100);
  EXPECT_GT(wrong, 0U) << "a test that never calls anything worse bounds nothing";
}

TEST(Assess, LowerIsTheMirrorOfHigher) {
  const CriterionRanking higher = ranked(of_one(Direction::higher, {third_rows, first_rows, second_rows}));
  const CriterionRanking lower =
      ranked(of_one(Direction::lower, {negated(third_rows), negated(first_rows), negated(second_rows)}));
  EXPECT_EQ(higher.order, lower.order);
  EXPECT_EQ(higher.standing, lower.standing);
  for (const size_t e : {0U, 2U}) {
    EXPECT_EQ(higher.behind[e], lower.behind[e]);
    EXPECT_EQ(higher.behind_interval[e].low, lower.behind_interval[e].low);
    EXPECT_EQ(higher.behind_interval[e].high, lower.behind_interval[e].high);
  }
}

TEST(Assess, EqualEntriesAreTiedByIndex) {
  const CriterionRanking found = ranked(of_one(Direction::lower, {first_rows, first_rows}));
  EXPECT_THAT(found.order, ElementsAre(0, 1));
  EXPECT_THAT(found.standing, ElementsAre(Standing::tied, Standing::tied));
  EXPECT_EQ(found.behind[1], 0);
}

// A regular difference in the eighth digit has any t one likes, and is rounding all the same.
TEST(Assess, RoundingIsNoDifference) {
  std::vector<double> twin = first_rows;
  for (double& v : twin) v += 1e-8;
  const CriterionRanking found = ranked(of_one(Direction::higher, {first_rows, twin}));
  EXPECT_THAT(found.order, ElementsAre(1, 0));
  EXPECT_EQ(entry_comparison(hand_scores(twin), hand_scores(first_rows)).p_value, 1);
  EXPECT_THAT(found.standing, ElementsAre(Standing::tied, Standing::tied));
  for (double& v : twin) v += 1e-5;
  EXPECT_THAT(ranked(of_one(Direction::higher, {first_rows, twin})).standing,
              ElementsAre(Standing::worse, Standing::best));
}

TEST(Assess, OneEntryAloneIsNotTheBest) {
  const Assessment found = assess(of_one(Direction::higher, {first_rows}));
  EXPECT_THAT(found.rankings[0].standing, ElementsAre(Standing::tied));
  EXPECT_TRUE(std::isnan(found.rankings[0].behind[0]));
  EXPECT_THAT(found.verdict, ElementsAre("By infidelity, a comes first (0.88 +- 0.03).",
                                         "Nothing is recommended: faithfulness was not scored, and the best by another "
                                         "criterion may be wrong."));
}

TEST(Assess, WhatHasNoFiniteMeanIsNotRankedNorCounted) {
  const std::vector<double> nothing(kMany, NAN);
  std::vector<double> endless(kMany, 1);
  endless[2] = INFINITY;
  const std::vector<double> high = around(0.9, 0.1, kMany, 1);
  const std::vector<double> low = around(0.8, 0.1, kMany, 2);
  const CriterionRanking found = ranked(of_one(Direction::higher, {nothing, high, low, endless}));
  EXPECT_THAT(found.order, ElementsAre(1, 2));
  EXPECT_THAT(found.standing, ElementsAre(Standing::undefined, Standing::best, Standing::worse, Standing::undefined));
  EXPECT_EQ(found.behind_interval[2].low, ranked(of_one(Direction::higher, {high, low})).behind_interval[1].low)
      << "they are no pairs either";
  EXPECT_TRUE(std::isnan(found.behind[0]) && std::isnan(found.behind[3]));

  const Assessment none = assess(of_one(Direction::higher, {nothing, nothing}));
  EXPECT_FALSE(none.rankings[0].ranks);
  EXPECT_THAT(none.rankings[0].order, IsEmpty());
  EXPECT_THAT(none.warnings, Contains("Nothing has a score by infidelity."));
  EXPECT_THAT(none.verdict, ElementsAre("No criterion here says which explanation is better."));
}

TEST(Assess, WithoutADirectionNothingRanks) {
  EXPECT_FALSE(ranked(of_one(Direction::neither, {first_rows, second_rows})).ranks);
}

// Two runs of Welch's test against scipy.stats.ttest_ind(equal_var=False); dependent rows against the normal
// distribution: 0.3 / hypot(0.1, 0.1), by scipy.stats.norm.sf.
TEST(Assess, RunsAndDependentValuesAreComparedByTheirMeans) {
  Study study = of_one(Direction::higher, {{3.0, 3.2, 2.8}, {2.0, 2.6, 2.2, 2.4}});
  for (StudyEntry& entry : study.entries) entry.scores[0].of_rows = false;
  const auto p_of = [](const Study& of) {
    return entry_comparison(of.entries[0].scores[0], of.entries[1].scores[0]).p_value;
  };
  EXPECT_NEAR(p_of(study), 0.010076943347988872, 1e-10);
  EXPECT_THAT(ranked(study).standing, ElementsAre(Standing::best, Standing::worse));
  study.entries[1].scores[0].mean_error = NAN;
  EXPECT_TRUE(std::isnan(p_of(study)));
  EXPECT_THAT(ranked(study).standing, ElementsAre(Standing::tied, Standing::tied));

  Study dependent = of_one(Direction::higher, {{0.8, 0.8}, {0.5, 0.5}});
  for (StudyEntry& entry : dependent.entries) {
    entry.scores[0].dependent = true;
    entry.scores[0].mean_error = 0.1;
  }
  EXPECT_NEAR(p_of(dependent), 0.03389485352468927, 1e-12);
}

// All rows 0.1 apart, and draws that all rows share with an error of 0.1 on both sides: t = 0.1 / hypot(0.1, 0.1) with
// 4 degrees of freedom. Without the second part the difference would be certain.
TEST(Assess, SharedDrawsAddToTheError) {
  std::vector<double> below = first_rows;
  for (double& v : below) v -= 0.1;
  Scores first = hand_scores(first_rows);
  Scores second = hand_scores(below);
  EXPECT_LT(entry_comparison(first, second).p_value, 1e-9);
  first.shared_error = second.shared_error = 0.1;
  EXPECT_NEAR(entry_comparison(first, second).p_value, 0.5185185185185182, 1e-9);
}

// a has only the rows on which everybody does well: its mean is the highest, yet where both have a score b is ahead.
TEST(Assess, DifferentCoverageDoesNotMakeAWinner) {
  std::vector<double> partial(40, NAN);
  std::vector<double> full(40, 0.1);
  for (size_t r = 0; r < 10; ++r) {
    partial[r] = 0.8 + 0.001 * static_cast<double>(r);
    full[r] = 0.9 - 0.001 * static_cast<double>(r);
  }
  const Assessment found = assess(of_one(Direction::higher, {partial, full}));
  EXPECT_THAT(found.rankings[0].order, ElementsAre(0, 1));
  EXPECT_LT(found.rankings[0].behind_interval[1].high, 0);
  EXPECT_THAT(found.rankings[0].standing, ElementsAre(Standing::tied, Standing::tied));
  EXPECT_THAT(found.rankings[0].ahead_on_common_rows, ElementsAre(1));
  EXPECT_THAT(found.warnings,
              ElementsAre("Most rows have no score, and the means are of the few that do: infidelity of a (25 %).",
                          "Means are of different rows, since coverage differs: infidelity (25 % to 100 %).",
                          "The best mean is not the best on the rows where both have a score: by infidelity, b is "
                          "ahead of a.",
                          "No significant winner by 1 criterion."));
}

TEST(Assess, FewerThanTwoCommonRowsAreNoTest) {
  const CriterionRanking found = ranked(of_one(Direction::higher, {{1, 2, NAN, NAN}, {NAN, 0, 0.5, 0.2}}));
  EXPECT_TRUE(std::isnan(found.behind_interval[1].low));
  EXPECT_THAT(found.standing, ElementsAre(Standing::tied, Standing::tied));
}

// Small whole numbers, so that equal means are frequent; NaN for some.
RC_GTEST_PROP(Assess, DominationIsThatOfBruteForce, (uint64_t seed)) {
  RandomStream random(seed, "domination");
  Study study = study_of_aims(2);
  const size_t count = 1 + random.below(7);
  for (size_t e = 0; e < count; ++e) {
    std::vector<std::vector<double>> values;
    for (size_t c = 0; c < 3; ++c) {
      const double value = random.below(12) == 0 ? NAN : static_cast<double>(random.below(4));
      values.push_back({value, value});
    }
    add_entry(study, std::to_string(e), EntryKind::method, values);
  }
  const Assessment found = assess(study);
  const auto mean = [&](size_t e, size_t c) { return (c == 0 ? 1 : -1) * study.entries[e].scores[c].mean; };
  for (size_t c = 0; c < 3; ++c) {
    if (!found.rankings[c].ranks) return;  // then the aim is as if not studied: another test has that
  }
  for (size_t e = 0; e < count; ++e) {
    size_t by = count;
    for (size_t other = count; other-- > 0;) {
      bool no_worse = true;
      bool better = false;
      for (size_t c = 0; c < 3; ++c) {
        no_worse = no_worse && mean(other, c) >= mean(e, c);  // false for NaN
        better = better || mean(other, c) > mean(e, c);
      }
      if (no_worse && better) by = other;
    }
    RC_ASSERT(found.dominated[e] == (by < count));
    RC_ASSERT(found.dominated_by[e] == (by < count ? by : e));
  }
}

TEST(Assess, RoundingDominatesNothing) {
  Study study = study_of_aims(2);
  add_entry(study, "a", EntryKind::method, {{0.5, 0.5}, {1, 1}, {2, 2}});
  add_entry(study, "b", EntryKind::method, {{0.5 + 1e-8, 0.5}, {1, 1}, {2, 2}});
  EXPECT_THAT(assess(study).dominated, ElementsAre(false, false));
  add_entry(study, "c", EntryKind::method, {{0.51, 0.51}, {1 + 1e-8, 1}, {2, 2}});
  EXPECT_THAT(assess(study).dominated, ElementsAre(true, true, false));
  EXPECT_THAT(assess(study).dominated_by, ElementsAre(2, 2, 2));
}

TEST(Assess, OneAimAloneDominatesNothing) {
  const Assessment found = assess(of_one(Direction::higher, {first_rows, second_rows}));
  EXPECT_THAT(found.dominated, ElementsAre(false, false));
  EXPECT_THAT(found.dominated_by, ElementsAre(0, 1));
  Study study = hand_study(5, {{"faithfulness", Direction::higher}, {"complexity", Direction::lower}});
  add_entry(study, "a", EntryKind::method, {first_rows, std::vector<double>(5, NAN)});
  add_entry(study, "b", EntryKind::method, {second_rows, std::vector<double>(5, NAN)});
  EXPECT_THAT(assess(study).dominated, ElementsAre(false, false));
}

// Four entries far apart by every aim, but c and d by faithfulness.
//   faithfulness     a 0.9  b 0.6  c 0.3  d 0.3    a is best
//   avg_sensitivity  a 0.5  b 0.4  c 0.2  d 0.6
//   complexity       a 1.5  b 1.2  c 1.0  d 1.6
// d is below a in all.
Study four_entries(size_t rows) {
  Study study = study_of_aims(rows);
  const auto add = [&](std::string name, EntryKind kind, size_t i, double f, double s, double c) {
    add_entry(study, std::move(name), kind,
              {around(f, 0.01, rows, 3 * i), around(s, 0.01, rows, 3 * i + 1), around(c, 0.01, rows, 3 * i + 2)});
  };
  add("a", EntryKind::method, 0, 0.9, 0.5, 1.5);
  add("b", EntryKind::method, 1, 0.6, 0.4, 1.2);
  add("c", EntryKind::aggregate, 2, 0.3, 0.2, 1.0);
  add("d", EntryKind::aggregate, 3, 0.3, 0.6, 1.6);
  return study;
}

// Whatever is more stable or simpler than a is far from the truth.
TEST(Verdict, SaysWhichToUseWhen) {
  const Assessment found = assess(four_entries(37));
  EXPECT_THAT(
      found.verdict,
      ElementsAre(
          "Use a: faithfulness 0.900 +- 0.001, the best here; it adds up to the prediction, and nothing in it "
          "is sampled; 0 model evaluations.",
          "When stability matters most, use a as well: average sensitivity 0.500 +- 0.001. Ahead by stability, "
          "but not known to be faithful: c and b.",
          "When simplicity matters most, use a as well: complexity 1.500 +- 0.001. Ahead by simplicity, but not "
          "known to be faithful: c and b.",
          "No aggregate is known to be faithful here: use single methods."));
  EXPECT_THAT(found.warnings, IsEmpty());
  EXPECT_THAT(found.dominated, ElementsAre(false, false, false, true));
}

TEST(Verdict, OfCriteriaWithoutFaithfulnessNamesTheTied) {
  Study study = hand_study(37, {{"avg_sensitivity:radius=1", Direction::lower}, {"max_sensitivity", Direction::lower}});
  const auto add = [&](std::string name, size_t i, double average, double largest) {
    add_entry(study, std::move(name), EntryKind::method,
              {around(average, 0.1, 37, 2 * i), around(largest, 0.01, 37, 2 * i + 1)});
  };
  add("a", 0, 0.2, 0.9);
  add("b", 1, 0.201, 0.5);
  add("c", 2, 0.9, 0.99);
  EXPECT_THAT(assess(study).verdict,
              ElementsAre("By avg_sensitivity, a comes first (0.20 +- 0.01); the rows do not tell it from b.",
                          "By max_sensitivity, b comes first (0.500 +- 0.001).",
                          "Nothing is recommended: faithfulness was not scored, and the best by another criterion may "
                          "be wrong."));
  EXPECT_THAT(assess(study).warnings, ElementsAre("No significant winner by avg_sensitivity (2 of 3 tied)."));
}

TEST(Verdict, CutsLongListsAndCleansNames) {
  Study study = study_of_aims(37);
  for (size_t e = 0; e < 14; ++e) {
    const double worse = 0.001 * static_cast<double>(e);
    add_entry(study, fmt::format("n\n\x1b[31m{}", e), EntryKind::method,
              {around(0.9 - worse, 0.01, 37, e), around(1 + worse, 0.1, 37, e), around(1 + worse, 0.1, 37, e)});
  }
  const Assessment found = assess(study);
  EXPECT_THAT(found.verdict, Contains(HasSubstr(" more")));
  for (const std::string& sentence : found.verdict) {
    EXPECT_THAT(sentence, Not(HasSubstr("\n")));
    EXPECT_THAT(sentence, Not(HasSubstr("\x1b")));
  }
  EXPECT_EQ(entry_names(study, {0, 1, 2, 3, 4}, 3), "n\\x0a\\x1b[31m0, n\\x0a\\x1b[31m1, n\\x0a\\x1b[31m2 and 2 more");
}

TEST(VerdictWarnings, OfFewRows) {
  EXPECT_THAT(assess(four_entries(29)).warnings,
              ElementsAre("Only 29 rows are studied: below 30 rows, standard errors and tests are rough."));
  EXPECT_THAT(assess(four_entries(30)).warnings, IsEmpty());
}

Curve flat_curve(std::string criterion, std::string along, std::vector<double> means) {
  Curve curve;
  curve.criterion = std::move(criterion);
  curve.along = std::move(along);
  for (size_t i = 0; i < means.size(); ++i) curve.x.push_back(0.5 * static_cast<double>(i + 1));
  curve.error.assign(means.size(), 0.01);
  curve.coverage.assign(means.size(), 1);
  curve.mean = std::move(means);
  return curve;
}

TEST(VerdictWarnings, OfTheBestThatChangesAlongACurve) {
  Study study = four_entries(37);
  study.entries[0].curves = {flat_curve("avg_sensitivity", "radius", {0.5, 0.5, 0.5, 0.5})};
  study.entries[1].curves = {flat_curve("avg_sensitivity", "radius", {0.4, 0.1, 0.1, 0.1}),
                             flat_curve("faithfulness", "subset", {0.6, 0.91})};
  study.entries[2].curves = {flat_curve("avg_sensitivity", "radius", {0.2, 0.2, 0.2, 0.2})};
  EXPECT_THAT(assess(study).warnings,
              ElementsAre("The most stable changes with the radius: by avg_sensitivity, c gives way to b at radius 1 "
                          "to 2."));
  study.entries[0].curves.push_back(flat_curve("faithfulness", "subset", {0.9, 0.9}));
  EXPECT_THAT(assess(study).warnings,
              Contains("The most faithful changes with the subset size: by faithfulness, a gives way to b at size 1."));
  // Where most rows have no neighbour there is nothing to say.
  study.entries[1].curves[0].coverage = {1, 0.4, 1, 0.4};
  study.entries[1].curves[1].coverage = {1, 0.4};
  EXPECT_THAT(assess(study).warnings,
              ElementsAre("The most stable changes with the radius: by avg_sensitivity, c gives way to b at radius "
                          "1.5."));
}

// Entries that the study cannot tell apart change places along any curve; it is news beyond two standard errors.
TEST(VerdictWarnings, OfACurveAreNotOfNoise) {
  Study study = hand_study(37, {{"faithfulness", Direction::higher}});
  add_entry(study, "a", EntryKind::method, {around(0.500, 0.1, 37, 0)});
  add_entry(study, "b", EntryKind::method, {around(0.499, 0.1, 37, 1)});
  study.entries[0].curves = {flat_curve("faithfulness", "subset", {0.5, 0.5})};
  study.entries[1].curves = {flat_curve("faithfulness", "subset", {0.5, 0.528})};  // 2 x hypot(0.01, 0.01) = 0.0283
  const std::string tied = "No significant winner by faithfulness (2 of 2 tied).";
  EXPECT_THAT(assess(study).warnings, ElementsAre(tied));
  study.entries[1].curves[0].mean[1] = 0.529;
  EXPECT_THAT(assess(study).warnings, ElementsAre(tied,
                                                  "The most faithful changes with the subset size: by faithfulness, a "
                                                  "gives way to b at size 1."));
}

TEST(VerdictWarnings, OfSeedAndBaseline) {
  Study study = hand_study(37, {{"faithfulness", Direction::higher}, {"complexity", Direction::lower}});
  for (size_t e = 0; e < 4; ++e) {
    const double value = 0.2 * static_cast<double>(e);
    add_entry(study, std::string(1, static_cast<char>('a' + e)), EntryKind::method,
              {around(0.9 - value, 0.01, 37, e), around(1 + value, 0.01, 37, e + 4)});
  }
  const auto vary = [&](size_t e, std::string what, std::string value, double f, double c) {
    study.entries[e].variations.push_back({std::move(what), std::move(value), {"faithfulness", "complexity"}, {f, c}});
  };
  // Only b is sampled; the others are with any seed what they are. a and b change places: 1 of 6 pairs, tau 4 / 6.
  vary(1, "seed", "1", 0.95, 1.2);
  // Complexity keeps its order, faithfulness turns it: the best is d, all six pairs are apart.
  for (size_t e = 0; e < 4; ++e) {
    vary(e, "baseline", "zero", 0.1 + 0.2 * static_cast<double>(e), 1 + 0.2 * static_cast<double>(e));
  }
  // Aggregates are not asked.
  add_entry(study, "e", EntryKind::aggregate, {around(0.99, 0.01, 37, 9), around(3, 0.01, 37, 10)});
  EXPECT_THAT(assess(study).warnings,
              ElementsAre("The ranking of methods changes with the seed: by faithfulness with seed 1, b is best in "
                          "place of a and Kendall's tau of the 4 methods' order is 0.67.",
                          "The ranking of methods changes with the baseline: by faithfulness with baseline 'zero', d "
                          "is best in place of a and Kendall's tau of the 4 methods' order is -1.00."));
}

// Small as its lead is now, the one that takes over was significantly worse. Were the two tied, it would be noise.
TEST(VerdictWarnings, OfABaselineThatLiftsTheWorse) {
  Study study = hand_study(37, {{"faithfulness", Direction::higher}});
  add_entry(study, "a", EntryKind::method, {around(0.9, 0.05, 37, 0)}).variations = {
      {"baseline", "zero", {"faithfulness"}, {0.500}}};
  add_entry(study, "b", EntryKind::method, {around(0.8, 0.05, 37, 1)}).variations = {
      {"baseline", "zero", {"faithfulness"}, {0.501}}};
  EXPECT_THAT(assess(study).warnings, ElementsAre(HasSubstr("with baseline 'zero', b is best in place of a")));
  study.entries[1].scores[0] = hand_scores(around(0.899, 0.05, 37, 1));
  EXPECT_THAT(assess(study).warnings, Not(Contains(HasSubstr("in place of"))));
}

TEST(VerdictWarnings, StayFew) {
  Study study = hand_study(10, {});
  for (size_t c = 0; c < 36; ++c) {
    study.criteria.push_back(fmt::format("criterion{}", c));
    study.criterion_names.push_back(study.criteria.back());
    study.directions.push_back(Direction::higher);
  }
  for (size_t e = 0; e < 20; ++e) {
    std::vector<std::vector<double>> values;
    for (size_t c = 0; c < 36; ++c) {
      values.push_back(around(0, 1, 10, e + c));
      for (size_t r = 0; r < (e + c) % 10; ++r) values.back()[r] = NAN;
    }
    add_entry(study, fmt::format("entry{}", e), EntryKind::method, values);
  }
  const Assessment found = assess(study);
  EXPECT_LE(found.warnings.size(), 8);
  for (const std::string& warning : found.warnings) EXPECT_LT(warning.size(), 700) << warning;
}

}  // namespace
}  // namespace assay::testing
