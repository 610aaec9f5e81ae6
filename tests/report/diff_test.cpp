// Two studies against each other, and a study against its second run: folders of studies as small as can be.
#include "assay/report/diff.h"

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

#include "assay/explain/explanations.h"
#include "assay/report/scores_csv.h"
#include "assay/report/study_json.h"
#include "assay/report/verify.h"
#include "assay/study/io/entry_json.h"
#include "tests/message.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Values = std::vector<double>;

class Folders : public ::testing::Test {
 protected:
  Folders() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() / (std::string("assay_diff_") + test->name() + std::to_string(::getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~Folders() override { fs::remove_all(root_); }

  std::string path(const std::string& name) const { return (root_ / name).string(); }

  void put(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << text;
  }
  std::string get(const std::string& name) const {
    std::ifstream file(root_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void replace(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = get(name);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << name << " has no " << from;
    put(name, text.replace(at, from.size(), to));
  }

  // Writes the files of a study that diff and verify read.
  void write(const std::string& name, const Study& study) const {
    put(name + "/study.json", study_json(study, {}));
    put(name + "/scores.csv", scores_csv(study));
    fs::create_directories(root_ / name / "explanations");
    for (const StudyEntry& entry : study.entries) {
      put(name + "/scores/" + entry.stem + ".json", entry_json(entry));
      write_explanations(entry.explanations, path(name + "/explanations/" + entry.stem + ".npz"), {});
    }
  }

  StudyFolder opened(const std::string& name) const { return open_study_folder(path(name), {}); }

  StudyDiff diff(const Study& before, const Study& after) const {
    write("before", before);
    write("after", after);
    return diff_studies(open_study_folder(path("before"), {}), open_study_folder(path("after"), {}), {});
  }

 private:
  fs::path root_;
};

Scores scores_of(const std::string& criterion, Direction direction, const Values& values) {
  Scores scores;
  scores.criterion = criterion;
  scores.direction = direction;
  scores.values = values;
  summarise(scores, {.draws = 0}, {});
  return scores;
}

StudyEntry entry_of(const std::string& name, const Study& study, const std::vector<Values>& values,
                    const std::vector<std::string>& ids = {}) {
  StudyEntry entry;
  entry.name = name;
  entry.stem = name;
  const size_t rows = values[0].size();
  Explanations& made = entry.explanations;
  made.values = Matrix(rows, 2);
  for (size_t r = 0; r < rows; r++) made.values(r, 0) = static_cast<float>(values[0][r]);
  made.features = {"a", "b"};
  made.base.assign(rows, 0);
  made.output.assign(rows, 1);
  made.gap.assign(rows, 0);
  made.target.assign(rows, 0);
  made.target_names = {"yes"};
  made.ids = ids;
  made.id_name = ids.empty() ? "" : "id";
  for (size_t c = 0; c < values.size(); c++) {
    entry.scores.push_back(scores_of(study.criterion_names[c], study.directions[c], values[c]));
  }
  return entry;
}

// By faithfulness (higher is better), complexity (lower) and sparseness (here without direction).
Study study_of(const std::vector<std::vector<Values>>& entries, const std::vector<std::string>& ids = {}) {
  Study study;
  study.facts.title = "m.onnx on rows.csv";
  study.facts.data = "all rows of rows.csv";
  study.facts.rows = study.facts.rows_available = entries[0][0].size();
  study.facts.version = "1.0";
  study.facts.vector_target = "AVX2";
  study.facts.inputs = {{"data", "rows.csv", std::string(64, 'a')}};
  study.facts.settings = {{"arguments", "--data rows.csv"}};
  study.criteria = study.criterion_names = {"faithfulness", "complexity", "sparseness"};
  study.directions = {Direction::higher, Direction::lower, Direction::neither};
  for (const auto& values : entries) {
    study.entries.push_back(
        entry_of(std::string(1, static_cast<char>('k' + study.entries.size())), study, values, ids));
  }
  return study;
}

// Differences 1, 2, 1, 2: mean 1.5, variance 4 x 0.25 / 3 = 1/3, standard error sqrt(1/3 / 4) = sqrt(1/12), so
// t = 1.5 sqrt(12) = 3 sqrt(3) with 3 degrees of freedom, whose distribution is
// 1/2 + (u / (1 + u^2) + atan u) / pi with u = t / sqrt(3) = 3: p = 1 - 2/pi (0.3 + atan 3) = 0.0138.
const Values& old_values() {
  static const Values values = {1, 2, 3, 4};
  return values;
}
const Values& new_values() {
  static const Values values = {2, 4, 4, 6};
  return values;
}
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
  EXPECT_THAT(diff_text(found, false),
              AllOf(HasSubstr("faithfulness  k               2.5      4         1.5  0.2887  0.01385  better\n"),
                    HasSubstr("3 scores: 1 better, 1 worse and 1 different\n")));
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
  EXPECT_THAT(diff_text(found, false), AllOf(HasSubstr("not the same rows"), HasSubstr("input data sha256"),
                                             HasSubstr("aaaaaaaaaaaa  ->  bbbbbbbbbbbb\n")));
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
    for (StudyEntry& entry : study.entries) entry.explanations.id_name = "row";
    return study;
  };
  const Study before = numbered({"3", "5", "8", "9"});
  EXPECT_TRUE(diff(before, before).same_rows);
  EXPECT_THAT(diff(before, before).rows_words, HasSubstr("of the same data"));
  Study other_file = before;
  other_file.facts.inputs[0].sha256 = std::string(64, 'b');
  EXPECT_FALSE(diff(before, other_file).same_rows);
  EXPECT_FALSE(diff(before, numbered({"3", "5", "8", "10"})).same_rows);
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
  EXPECT_THAT(diff_text(four, false), Not(HasSubstr("  l  ")));
  EXPECT_THAT(diff_text(four, true), HasSubstr("  l  "));
}

TEST_F(Folders, WhatBecameUndefinedIsLost) {
  const Values none(4, NAN);
  const StudyDiff found = diff(study_of({{old_values(), none, none}}), study_of({{none, old_values(), none}}));
  EXPECT_EQ(found.scores[0].change, ChangeKind::lost);
  EXPECT_EQ(found.scores[1].change, ChangeKind::gained);
  EXPECT_EQ(found.scores[2].change, ChangeKind::same);
  EXPECT_TRUE(something_worse(found));
  EXPECT_THAT(diff_text(found, false), HasSubstr("undefined now; coverage 100 -> 0 %"));
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
  EXPECT_THAT(diff_json(found), HasSubstr(R"({"what":"seed","before":"0","after":"3"})"));
}

TEST_F(Folders, AStudyIsTheSameAsItself) {
  const Study study = study_of({{old_values(), new_values(), {0, 0, 0, NAN}}});
  const StudyDiff found = diff(study, study);
  EXPECT_TRUE(found.inputs.empty() && found.only_before.empty() && found.only_after.empty());
  for (const ScoreChange& score : found.scores) EXPECT_EQ(score.change, ChangeKind::same);
  EXPECT_THAT(diff_text(found, false), HasSubstr("3 scores: 3 same\n"));
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

TEST_F(Folders, ASecondRunIsTheSameBitForBit) {
  const Study study = study_of({{old_values(), new_values(), old_values()}});
  write("a", study);
  write("b", study);
  put("b/run.json", "other times");
  const FolderComparison found = compare_study_folders(path("a"), path("b"), {});
  EXPECT_TRUE(found.exact);
  EXPECT_THAT(found.same, ElementsAre("explanations/k.npz", "scores.csv", "scores/k.json", "study.json"));
  EXPECT_TRUE(found.different.empty());
}

TEST_F(Folders, EveryDifferenceIsFound) {
  const Study study = study_of({{old_values(), new_values(), old_values()}});
  const auto changed = [&](const auto& change) {
    write("a", study);
    fs::remove_all(path("b"));
    write("b", study);
    change();
    const FolderComparison found = compare_study_folders(path("a"), path("b"), {});
    EXPECT_EQ(found.different.size(), 1U);
    return found.different.empty() ? std::string() : found.different[0];
  };
  EXPECT_EQ(changed([&] { replace("b/study.json", "\"mean\": 2.5", "\"mean\": 2.6"); }),
            "study.json: 1 field differs, entries[0].scores[0].mean: recorded '2.5', found '2.6'");
  EXPECT_EQ(changed([&] { put("b/study.json", get("b/study.json") + "\n"); }),
            "study.json: the bytes differ, though they say the same");
  EXPECT_EQ(changed([&] { replace("b/scores.csv", "2,yes,k,2,4,2", "2,yes,k,2,4.5,2"); }),
            "scores.csv: line 3 differs: recorded '2,yes,k,2,4,2', found '2,yes,k,2,4.5,2'");
  EXPECT_THAT(changed([&] { replace("b/scores/k.json", "[1.0,2.0,3.0,4.0]", "[1.0,2.0,3.0]"); }),
              HasSubstr("scores/k.json: 1 field differs, scores[0].values: recorded 4 items, found 3 items"));
  EXPECT_THAT(changed([&] {
                Explanations made = study.entries[0].explanations;
                made.values(0, 1) = 1;
                write_explanations(made, path("b/explanations/k.npz"), {});
              }),
              HasSubstr("explanations/k.npz: recorded sha256 "));
  EXPECT_EQ(changed([&] { fs::remove(path("b/explanations/k.npz")); }),
            "explanations/k.npz: recorded, but the new run has none");
  EXPECT_EQ(changed([&] { put("b/scores/l.json", "{}"); }), "scores/l.json: not recorded, but the new run has one");
}

TEST_F(Folders, AnotherVectorTargetIsComparedWithinATolerance) {
  const Study study = study_of({{old_values(), new_values(), old_values()}});
  Values near = old_values();
  near[1] *= 1 + 5e-5;
  Values far = old_values();
  far[1] *= 1 + 1e-3;
  write("a", study);
  Study again = study_of({{near, new_values(), old_values()}});
  again.facts.vector_target = "NEON";
  write("b", again);
  FolderComparison found = compare_study_folders(path("a"), path("b"), {});
  EXPECT_FALSE(found.exact);
  EXPECT_THAT(found.why_not_exact, AllOf(HasSubstr("AVX2"), HasSubstr("NEON"), HasSubstr("1e-4")));
  EXPECT_TRUE(found.different.empty()) << found.different[0];
  EXPECT_EQ(found.same.size(), 4U);

  again = study_of({{far, new_values(), old_values()}});
  again.facts.vector_target = "NEON";
  write("b", again);
  found = compare_study_folders(path("a"), path("b"), {});
  ASSERT_EQ(found.different.size(), 4U) << "explanations, table, scores of rows, and their mean";
  EXPECT_THAT(found.different[0], HasSubstr("explanations/k.npz: 'values' of row 2: recorded 2, found 2.00"));
  EXPECT_THAT(found.different[1], HasSubstr("scores.csv: line 3"));
}

// Two methods that agree to the seventh digit change places, and with them all that is concluded.
TEST(VerifyJson, ConclusionsAreNotComparedAcrossVectorTargets) {
  const auto study = [](const std::string& derived, const std::string& option, const std::string& hash) {
    return R"({"facts": {"vector_target": ")" + derived +
           R"json(", "inputs": [{"role": "model (trained)", "name": "model.onnx",
      "sha256": ")json" +
           hash + R"("}, {"role": "data", "name": "d", "sha256": "1"}]}, "verdict": [")" + derived +
           R"("], "warnings": [")" + derived + R"(", "x"], "criteria": [{"spec": "c", "order": [")" + derived +
           R"("]}], "entries": [{"dominated": ")" + derived + R"(", "dominated_by": ")" + derived +
           R"(", "provenance": {"version": ")" + derived + R"(", "options": {"order": ")" + option +
           R"("}}, "scores": [{"p": ")" + derived + R"(", "standing": ")" + derived + R"(", "options": {"p": ")" +
           option + R"("}}]}]})";
  };
  const std::string recorded = study("a", "1", "f");
  EXPECT_EQ(json_difference("s", recorded, study("b", "1", "e"), true), "");
  EXPECT_THAT(json_difference("s", recorded, study("b", "1", "f"), false), HasSubstr("9 fields differ"));
  EXPECT_THAT(json_difference("s", recorded, study("a", "2", "f"), true),
              HasSubstr("2 fields differ, the first is entries[0].provenance.options.order"));
  EXPECT_THAT(json_difference("s", recorded, study("a", "1", "e"), false), HasSubstr("facts.inputs[0].sha256"));
  EXPECT_THAT(
      json_difference("s", R"({"facts": {"inputs": [{"role": "data", "name": "model.onnx", "sha256": "1"}]}})",
                      R"({"facts": {"inputs": [{"role": "data", "name": "model.onnx", "sha256": "2"}]}})", true),
      HasSubstr("facts.inputs[0].sha256"));
}

}  // namespace
}  // namespace assay
