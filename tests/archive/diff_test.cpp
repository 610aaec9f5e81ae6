// Two studies against each other, and a study against its second run: folders of studies as small as can be.
#include "assay/archive/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numbers>
#include <string>

#include "assay/archive/io/entry_json.h"
#include "assay/archive/io/scores_csv.h"
#include "assay/archive/io/study_json.h"
#include "assay/archive/verify.h"
#include "assay/explain/explanations.h"
#include "tests/archive/study_folders.h"
#include "tests/message.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Differences 1, 2, 1, 2: mean 1.5, variance 4 x 0.25 / 3 = 1/3, standard error sqrt(1/3 / 4) = sqrt(1/12), so
// t = 1.5 sqrt(12) = 3 sqrt(3) with 3 degrees of freedom, whose distribution is
// 1/2 + (u / (1 + u^2) + atan u) / pi with u = t / sqrt(3) = 3: p = 1 - 2/pi (0.3 + atan 3) = 0.0138.
double paired_p() { return 1 - 2 / std::numbers::pi * (0.3 + std::atan(3.0)); }

TEST_F(Folders, ScoresOfTheSameRowsArePaired) {
  const StudyDiff found = diff(study_of({{old_values(), old_values(), old_values()}}),
                               study_of({{new_values(), new_values(), new_values()}}));
  EXPECT_TRUE(found.same_rows);
  ASSERT_EQ(found.scores.size(), 3U);
  for (const ScoreChange& score : found.scores) {
    EXPECT_TRUE(score.test.paired);
    EXPECT_EQ(score.before.mean, 2.5);
    EXPECT_EQ(score.after.mean, 4);
    EXPECT_NEAR(score.test.difference, 1.5, 1e-12);
    EXPECT_NEAR(score.test.error, std::sqrt(1.0 / 12), 1e-12);
    EXPECT_NEAR(score.test.p_value, paired_p(), 1e-9);
    EXPECT_NEAR(score.adjusted_p, paired_p(), 1e-9) << "one explanation: nothing to correct";
  }
  // The same rise is good, bad or neither by the criterion.
  EXPECT_EQ(found.scores[0].change, ChangeKind::better);
  EXPECT_EQ(found.scores[1].change, ChangeKind::worse);
  EXPECT_EQ(found.scores[2].change, ChangeKind::different);
  EXPECT_TRUE(something_worse(found));
}

// All rows share the draw of a background: paired rows do not show what it changes.
TEST_F(Folders, WhatMayComeFromTheDrawIsNotTested) {
  Study before = study_of({{old_values(), old_values(), old_values()}});
  Study after = study_of({{new_values(), new_values(), new_values()}});
  before.facts.reference_facts = {.rows = 100, .drawn_rows = std::string(64, 'a')};
  after.facts.reference_facts = {.rows = 100, .drawn_rows = std::string(64, 'b')};
  const StudyDiff found = diff(before, after);
  for (const ScoreChange& score : found.scores) {
    EXPECT_EQ(score.change, ChangeKind::untested);
    EXPECT_NEAR(score.test.difference, 1.5, 1e-12);
    EXPECT_TRUE(std::isnan(score.adjusted_p));
  }
  EXPECT_FALSE(something_worse(found));
  EXPECT_TRUE(something_untested(found));
  EXPECT_FALSE(found.drivers.tested);
  ASSERT_EQ(found.notes.size(), 1U);
  EXPECT_THAT(found.notes[0], HasSubstr("each study drew background rows of its own"));

  after.facts.reference_facts.drawn_rows = before.facts.reference_facts.drawn_rows;
  EXPECT_EQ(diff(before, after).scores[1].change, ChangeKind::worse) << "against the same rows";
  before.facts.reference_facts.drawn_rows = after.facts.reference_facts.drawn_rows = "";
  EXPECT_EQ(diff(before, after).scores[1].change, ChangeKind::worse) << "nothing was drawn";
}

TEST_F(Folders, TheOtherWayRoundIsTheOpposite) {
  const StudyDiff found = diff(study_of({{new_values(), new_values(), new_values()}}),
                               study_of({{old_values(), old_values(), old_values()}}));
  EXPECT_EQ(found.scores[0].change, ChangeKind::worse);
  EXPECT_EQ(found.scores[1].change, ChangeKind::better);
  EXPECT_NEAR(found.scores[0].test.difference, -1.5, 1e-12);
}

TEST_F(Folders, OtherRowsAreComparedByMeansAndErrors) {
  Study after = study_of({{new_values(), new_values(), new_values()}});
  after.facts.inputs[0].sha256 = std::string(64, 'b');
  const StudyDiff found = diff(study_of({{old_values(), old_values(), old_values()}}), after);
  EXPECT_FALSE(found.same_rows);
  // s1^2 = (5/3) / 4, s2^2 = (8/3) / 4; together 13/12. Degrees: (169/144) / ((25/144 + 64/144) / 3) = 507/89.
  const ScoreChange& score = found.scores[0];
  EXPECT_FALSE(score.test.paired);
  EXPECT_NEAR(score.test.error, std::sqrt(13.0 / 12), 1e-12);
  EXPECT_NEAR(score.test.p_value, 2 * student_t_cdf(-1.5 / std::sqrt(13.0 / 12), 507.0 / 89), 1e-12);
  EXPECT_EQ(score.change, ChangeKind::unclear) << "the same numbers are significant only in pairs";
  EXPECT_FALSE(something_worse(found));
}

TEST_F(Folders, RowsAreTheSameByNameOrByDataAndChoice) {
  const std::vector<Values> values = {old_values(), old_values(), old_values()};
  const std::vector<std::string> ids = {"p", "q", "r", "s"};
  const auto same = [&](const Study& before, const Study& after) { return diff(before, after).same_rows; };
  Study other = study_of({values}, ids);
  other.facts.inputs[0].sha256 = std::string(64, 'b');
  EXPECT_TRUE(same(study_of({values}, ids), other)) << "names say it, whatever the file";
  EXPECT_FALSE(same(study_of({values}, ids), study_of({values}, {"p", "q", "s", "r"})));

  other = study_of({values});
  other.facts.inputs[0].name = "elsewhere/rows.csv";
  other.facts.data = "all rows of elsewhere/rows.csv";
  EXPECT_TRUE(same(study_of({values}), other)) << "the file has moved";
  other.facts.data = "rows 5 to 8 of elsewhere/rows.csv";
  EXPECT_FALSE(same(study_of({values}), other));

  other = study_of({values});
  other.facts.seed = 7;
  EXPECT_TRUE(same(study_of({values}), other)) << "all rows are all rows by any seed";
  Study sampled = study_of({values});
  sampled.facts.rows_available = other.facts.rows_available = 100;
  EXPECT_FALSE(same(sampled, other)) << "another seed chose other rows";
  other.facts.seed = 0;
  EXPECT_TRUE(same(sampled, other));
  other.facts.inputs.clear();
  sampled.facts.inputs.clear();
  EXPECT_FALSE(same(sampled, other)) << "nothing is known of the data";
}

// The program numbers the rows of a sample. The numbers of another file's rows are the same.
TEST_F(Folders, RowNumbersAreNoNames) {
  const std::vector<Values> values = {old_values(), old_values(), old_values()};
  const auto numbered = [&](const std::vector<std::string>& numbers) {
    Study study = study_of({values}, numbers);
    study.facts.rows_available = 100;
    for (StudyEntry& entry : study.entries) {
      entry.explanations.id_name = "row";
      entry.explanations.row_numbers = true;
    }
    return study;
  };
  const Study before = numbered({"3", "5", "8", "9"});
  EXPECT_TRUE(diff(before, before).same_rows);
  EXPECT_THAT(diff(before, before).rows_words, HasSubstr("of the same data"));
  Study other_file = before;
  other_file.facts.inputs[0].sha256 = std::string(64, 'b');
  EXPECT_FALSE(diff(before, other_file).same_rows);
  EXPECT_FALSE(diff(before, numbered({"3", "5", "8", "10"})).same_rows);
  // A column of the user's that is called "row" does name them.
  Study named = before;
  Study in_other_file = other_file;
  for (Study* study : {&named, &in_other_file}) {
    for (StudyEntry& entry : study->entries) entry.explanations.row_numbers = false;
  }
  EXPECT_TRUE(diff(named, in_other_file).same_rows);
}

TEST_F(Folders, SeveralExplanationsAreCorrectedFor) {
  // Holm: the smallest of n p-values is multiplied by n. 4 x 0.0138 = 0.0554 is not significant any more.
  const std::vector<Values> before = {old_values(), old_values(), old_values()};
  const std::vector<Values> after = {new_values(), new_values(), new_values()};
  const StudyDiff three = diff(study_of({before, before, before}), study_of({after, before, before}));
  EXPECT_NEAR(three.scores[0].adjusted_p, 3 * paired_p(), 1e-9);
  EXPECT_EQ(three.scores[0].change, ChangeKind::better);
  const StudyDiff four = diff(study_of({before, before, before, before}), study_of({after, before, before, before}));
  ASSERT_EQ(four.scores.size(), 12U);
  EXPECT_EQ(four.scores[0].explanation, "k");
  EXPECT_EQ(four.scores[3].criterion_spec, "faithfulness");
  EXPECT_EQ(four.scores[4].criterion_spec, "complexity");
  EXPECT_NEAR(four.scores[0].adjusted_p, 4 * paired_p(), 1e-9);
  EXPECT_EQ(four.scores[0].change, ChangeKind::unclear);
  EXPECT_EQ(four.scores[1].change, ChangeKind::same);
}

TEST_F(Folders, WhatBecameUndefinedIsLost) {
  const Values none(4, NAN);
  const StudyDiff found = diff(study_of({{old_values(), none, none}}), study_of({{none, old_values(), none}}));
  EXPECT_EQ(found.scores[0].change, ChangeKind::lost);
  EXPECT_EQ(found.scores[1].change, ChangeKind::gained);
  EXPECT_EQ(found.scores[2].change, ChangeKind::same);
  EXPECT_TRUE(something_worse(found));
}

TEST_F(Folders, SaysWhatOnlyOneHasAndWhatWentIn) {
  const std::vector<Values> values = {old_values(), old_values(), old_values()};
  Study before = study_of({values, values});
  Study after = study_of({values});
  after.criteria[2] = "sparseness:x=1";
  after.facts.seed = 3;
  after.facts.settings = {{"arguments", "--data rows.csv --sample all"}};
  before.entries[0].scores[0].options = {{"subset", "2"}};
  after.entries[0].scores[0].options = {{"subset", "3"}};
  const StudyDiff found = diff(before, after);
  EXPECT_THAT(found.only_before, ElementsAre("the method l", "the criterion sparseness"));
  EXPECT_THAT(found.only_after, ElementsAre("the criterion sparseness:x=1"));
  EXPECT_THAT(found.notes, ElementsAre("faithfulness was computed with other options: subset 2 -> 3"));
  ASSERT_EQ(found.inputs.size(), 2U);
  EXPECT_EQ(found.inputs[0].what, "seed");
  EXPECT_EQ(found.inputs[1].after, "--data rows.csv --sample all");
  EXPECT_EQ(found.scores.size(), 2U);
}

TEST_F(Folders, AStudyIsTheSameAsItself) {
  const Study study = study_of({{old_values(), new_values(), {0, 0, 0, NAN}}});
  const StudyDiff found = diff(study, study);
  EXPECT_TRUE(found.inputs.empty() && found.only_before.empty() && found.only_after.empty());
  for (const ScoreChange& score : found.scores) EXPECT_EQ(score.change, ChangeKind::same);
}

TEST_F(Folders, FilesThatDoNotFitAreRefused) {
  const Study study = study_of({{old_values(), old_values(), old_values()}});
  write("s", study);
  const auto opened = [&] { return open_study_folder(path("s"), {}); };
  const auto refusal = [&] { return sentence([&] { read_study_entry(opened(), 0, {}); }); };
  EXPECT_EQ(refusal(), "no error");
  Study other = study;
  other.entries[0].name = "another";
  put("s/scores/k.json", entry_json(other.entries[0]));
  EXPECT_THAT(refusal(), HasSubstr("the scores of 'k', as study.json says, found those of 'another'"));
  put("s/scores/k.json", entry_json(study_of({{{1, 2}, {1, 2}, {1, 2}}}).entries[0]));
  EXPECT_THAT(refusal(), HasSubstr("a value for each of 4 rows, found 2"));
  other = study;
  other.entries[0].scores.pop_back();
  put("s/scores/k.json", entry_json(other.entries[0]));
  EXPECT_THAT(refusal(), HasSubstr("as many criteria as study.json has, 3, found 2"));
  put("s/scores/k.json", std::string(1000, '['));
  EXPECT_THAT(refusal(), HasSubstr("deep"));
  fs::remove(path("s/study.json"));
  EXPECT_THAT(sentence(opened), HasSubstr("a finished study, found no file study.json in it"));
  EXPECT_THAT(sentence([&] { open_study_folder(path("nowhere"), {}); }), HasSubstr("the folder of a study"));
}

// Outside of the folder lies what is not the study's to show, and a pipe would be waited for without end.
TEST_F(Folders, LinksAndPipesAreNotOpened) {
  const Study study = study_of({{old_values(), old_values(), old_values()}});
  write("a", study);
  write("b", study);
  const auto refusal = [&] { return sentence([&] { diff_studies(opened("a"), opened("b"), {}); }); };
  const auto different = [&] { return compare_study_folders(path("a"), path("b"), {}).different; };
  EXPECT_EQ(refusal(), "no error");
  fs::rename(path("a/scores/k.json"), path("outside.json"));
  fs::create_symlink(path("outside.json"), path("a/scores/k.json"));
  EXPECT_THAT(refusal(), HasSubstr("a/scores/k.json: expected a regular file, found a link"));
  EXPECT_THAT(different(), ElementsAre("scores/k.json: expected a regular file, found a link"));
  fs::remove(path("a/scores/k.json"));
  ASSERT_EQ(::mkfifo(path("a/scores/k.json").c_str(), 0600), 0);
  EXPECT_THAT(refusal(), HasSubstr("expected a regular file, found something else"));
  EXPECT_THAT(different(), ElementsAre("scores/k.json: expected a regular file, found something else"));
  fs::remove(path("a/scores/k.json"));
  fs::rename(path("outside.json"), path("a/scores/k.json"));
  EXPECT_EQ(refusal(), "no error");

  fs::rename(path("a/explanations"), path("outside"));
  fs::create_directory_symlink(path("outside"), path("a/explanations"));
  EXPECT_THAT(refusal(), HasSubstr("expected a regular file, found a link at 'explanations'"));
  EXPECT_THAT(different(), ElementsAre("explanations: expected a folder, found a link",
                                       "explanations/k.npz: not recorded, but the new run has one"));
  fs::remove(path("a/explanations"));
  fs::rename(path("outside"), path("a/explanations"));

  fs::create_directory_symlink(path("a"), path("linked"));
  EXPECT_EQ(sentence([&] { opened("linked"); }), "no error") << "the user's own link";
  fs::rename(path("a/study.json"), path("outside.json"));
  fs::create_symlink(path("outside.json"), path("a/study.json"));
  EXPECT_THAT(refusal(), HasSubstr("study.json: expected a regular file, found a link"));
}

}  // namespace
}  // namespace assay
