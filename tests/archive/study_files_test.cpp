#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "assay/archive/io/run_json.h"
#include "assay/archive/io/scores_csv.h"
#include "assay/archive/io/study_json.h"
#include "assay/archive/manifest.h"
#include "assay/core/sha256.h"
#include "tests/message.h"

namespace assay::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const std::string kHash(64, 'a');

Scores row_scores(std::vector<double> values, double mean, double coverage) {
  Scores scores;
  scores.options = {{"zeta", "1"}, {"alpha", "2"}};
  scores.values = std::move(values);
  scores.mean = mean;
  scores.mean_error = 0.5;
  scores.interval = {mean - 1, mean + 1};
  scores.coverage = coverage;
  return scores;
}

// Two rows, a method and an aggregate; a criterion of rows and one of the whole data set.
Study small_study() {
  Study study;
  study.facts.reference_facts = {.rows = 100, .value = 0.5, .pool_value = 0.25, .drawn_rows = std::string(64, 'd')};
  study.facts.title = "m.onnx on <script>";
  study.facts.rows = 2;
  study.facts.seed = UINT64_MAX;
  study.facts.accuracy = NAN;
  study.facts.settings = {{"rows", "all"}, {"methods", "lime"}};
  study.facts.inputs = {{"model", "m.onnx", kHash}, {"data", "iris"}};
  study.facts.version = "0.1.0";
  study.criteria = {"faithfulness:subset=2", "roar"};
  study.criterion_names = {"faithfulness", "roar"};
  study.directions = {Direction::higher, Direction::lower};
  Scores runs = row_scores({1, 2, 3}, 2, 1);
  runs.of_rows = false;
  Explanations made;
  made.ids = {"p,1", "say \"a\"\nb"};
  made.target = {1, 0};
  made.target_names = {"no", "yes"};
  made.notes = {"kept"};
  made.provenance.method = "lime";
  made.provenance.options = {{"width", "1"}, {"samples", "9"}};
  StudyEntry lime = {.name = "lime:samples=9", .stem = "lime-9", .explanations = made, .scores = {}};
  lime.scores = {row_scores({0.1, NAN}, 0.1, 0.5), runs};
  lime.scores[0].undefined = {{"flat", 1}};
  lime.curves = {{"faithfulness", "subset", {1, 2}, {0.5, NAN}, {0.1, NAN}, {1, 0}}};
  lime.variations = {{"seed", "1", {"faithfulness"}, {0.25}}};
  StudyEntry mean = {.name = "mean", .stem = "mean", .kind = EntryKind::aggregate, .explanations = made, .scores = {}};
  mean.scores = {row_scores({-kInfinity, 1e-7}, -kInfinity, 1), runs};
  study.entries = {lime, mean};
  study.left_out = {{"method", "gradient", "It has no gradient."}};
  study.notes = {"a note"};
  return study;
}

Assessment small_assessment() {
  Assessment assessment;
  assessment.rankings = {{0, {0, 1}, {Standing::best, Standing::worse}, {NAN, 0.5}, {{NAN, NAN}, {0.25, 0.75}}, true},
                         {1, {}, {}, {}, {}, false}};
  assessment.dominated = {false, true};
  assessment.dominated_by = {0, 0};
  assessment.verdict = {"Use lime."};
  assessment.warnings = {"Few rows."};
  return assessment;
}

TEST(StudyJson, SaysWhatTheStudyFound) {
  const std::string text = study_json(small_study(), small_assessment());
  EXPECT_EQ(text, study_json(small_study(), small_assessment()));
  EXPECT_EQ(text.substr(0, 31), "{\n \"schema\": \"assay.study/2\",\n ");
  EXPECT_TRUE(text.ends_with("\n}\n"));
  const json read = json::parse(text);
  EXPECT_EQ(read["facts"]["seed"], UINT64_MAX);
  EXPECT_TRUE(read["facts"]["accuracy"].is_null());
  json reference = json::parse(R"({"rows": 100, "background": true, "value": 0.5, "pool_value": 0.25,
                                   "probability": null, "pool_probability": null, "common_share": null})");
  reference["drawn_rows"] = std::string(64, 'd');
  EXPECT_EQ(read["facts"]["reference_facts"], reference);
  EXPECT_EQ(read["facts"]["settings"], json::parse(R"([["rows", "all"], ["methods", "lime"]])"));
  EXPECT_EQ(read["facts"]["inputs"][0]["sha256"], kHash);
  EXPECT_TRUE(read["facts"]["inputs"][1]["sha256"].is_null());
  EXPECT_EQ(read["verdict"][0], "Use lime.");
  EXPECT_EQ(read["warnings"][0], "Few rows.");
  EXPECT_EQ(read["notes"][0], "a note");
  EXPECT_EQ(read["left_out"][0]["reason"], "It has no gradient.");
  const json& criterion = read["criteria"][0];
  EXPECT_EQ(criterion["spec"], "faithfulness:subset=2");
  EXPECT_EQ(criterion["family"], "faithfulness");
  EXPECT_EQ(criterion["direction"], "higher");
  EXPECT_EQ(criterion["order"], json::parse(R"(["lime:samples=9", "mean"])"));
  EXPECT_EQ(read["criteria"][1]["order"], json::array());
  const json& lime = read["entries"][0];
  EXPECT_EQ(lime["kind"], "method");
  EXPECT_EQ(lime["notes"][0], "kept");
  EXPECT_EQ(lime["dominated"], false);
  EXPECT_TRUE(lime["dominated_by"].is_null());
  EXPECT_EQ(lime["curves"][0]["mean"], json::parse("[0.5, null]"));
  EXPECT_EQ(lime["variations"][0]["value"], "1");
  const json& score = lime["scores"][0];
  EXPECT_EQ(score["mean"], 0.1);
  EXPECT_EQ(score["values"], 2);
  EXPECT_EQ(score["defined"], 1);
  EXPECT_EQ(score["standing"], "best");
  EXPECT_TRUE(score["behind"].is_null());
  EXPECT_EQ(score["behind_interval"], json::parse("[null, null]"));
  EXPECT_EQ(score["undefined"][0]["reason"], "flat");
  const json& mean = read["entries"][1];
  EXPECT_EQ(mean["kind"], "aggregate");
  EXPECT_EQ(mean["dominated_by"], "lime:samples=9");
  EXPECT_EQ(mean["scores"][0]["mean"], "-Infinity");
  EXPECT_EQ(mean["scores"][0]["behind"], 0.5);
  EXPECT_EQ(mean["scores"][0]["behind_interval"], json::parse("[0.25, 0.75]"));
  EXPECT_TRUE(mean["scores"][1]["behind"].is_null());
  EXPECT_TRUE(mean["scores"][1]["standing"].is_null());
  EXPECT_EQ(mean["scores"][1]["per"], "run");
}

// Explanations that were read back from their file have their options in another order.
TEST(StudyJson, DoesNotDependOnTheOrderOfOptions) {
  Study study = small_study();
  const std::string text = study_json(study, small_assessment());
  std::ranges::reverse(study.entries[0].explanations.provenance.options);
  std::ranges::reverse(study.entries[1].scores[0].options);
  EXPECT_EQ(study_json(study, small_assessment()), text);
}

TEST(StudyJson, IsReadBackAsASummary) {
  const StudySummary read = study_summary_from_json("s", study_json(small_study(), small_assessment()));
  EXPECT_EQ(read.title, "m.onnx on <script>");
  EXPECT_EQ(read.version, "0.1.0");
  EXPECT_EQ(read.seed, UINT64_MAX);
  EXPECT_EQ(read.rows, 2U);
  ASSERT_EQ(read.inputs.size(), 2U);
  EXPECT_EQ(read.inputs[0].sha256, kHash);
  EXPECT_EQ(read.inputs[1].name, "iris");
  EXPECT_EQ(read.inputs[1].sha256, "");
  ASSERT_EQ(read.criteria.size(), 2U);
  EXPECT_EQ(read.criteria[0].spec, "faithfulness:subset=2");
  EXPECT_EQ(read.criteria[0].name, "faithfulness");
  EXPECT_EQ(read.criteria[1].direction, Direction::lower);
  ASSERT_EQ(read.entries.size(), 2U);
  EXPECT_EQ(read.entries[0].stem, "lime-9");
  EXPECT_EQ(read.entries[1].kind, EntryKind::aggregate);
  ASSERT_EQ(read.entries[0].scores.size(), 2U);
  const ScoreSummary& score = read.entries[0].scores[0];
  EXPECT_EQ(score.mean, 0.1);
  EXPECT_EQ(score.mean_error, 0.5);
  EXPECT_EQ(score.interval.low, 0.1 - 1);
  EXPECT_EQ(score.interval.high, 1.1);
  EXPECT_EQ(score.coverage, 0.5);
  EXPECT_EQ(read.entries[1].scores[0].mean, -kInfinity);
}

TEST(StudyJson, RefusesASummaryThatDoesNotFit) {
  const json whole = json::parse(study_json(small_study(), small_assessment()));
  const auto after = [&](const char* where, const char* value) {
    json document = whole;
    document.at(json::json_pointer(where)) = json::parse(value);
    return sentence([&] { study_summary_from_json("s", document.dump()); });
  };
  EXPECT_EQ(after("/schema", "\"assay.study/1\""), "s: expected \"assay.study/2\" as 'schema', found 'assay.study/1'");
  EXPECT_EQ(after("/facts", "[]"), "s, 'facts': expected an object, found '[]'");
  EXPECT_THAT(after("/facts/seed", "1.5"), HasSubstr("a whole number as 'seed'"));
  EXPECT_THAT(after("/facts/inputs/0/sha256", "\"A\""), HasSubstr("s, 'facts', 'inputs' 1: expected 64 hexadecimal"));
  EXPECT_THAT(after("/criteria/0/direction", "\"x\""), HasSubstr("higher, lower or neither"));
  EXPECT_EQ(after("/criteria/1/spec", "\"faithfulness:subset=2\""),
            "s, 'criteria' 2: expected each 'spec' once, found 'faithfulness:subset=2' twice");
  EXPECT_EQ(after("/entries/1/name", "\"lime:samples=9\""),
            "s, 'entries' 2: expected each 'name' once, found 'lime:samples=9' twice");
  EXPECT_THAT(after("/entries/1/stem", "\"LIME-9\""), HasSubstr("each 'stem' once"));
  EXPECT_THAT(after("/entries/1/stem", "\"..\""), HasSubstr("as 'stem', found '..'"));
  EXPECT_THAT(after("/entries/0/scores", "[]"), HasSubstr("2 'scores', one for each criterion, found 0"));
  EXPECT_EQ(after("/entries/0/scores/1/criterion", "\"kar\""),
            "s, 'entries' 1, 'scores' 2: expected 'roar' as 'criterion', found 'kar'");
  EXPECT_THAT(after("/entries/0/scores/1/mean", "\"x\""), HasSubstr("as 'mean'"));
  EXPECT_THAT(after("/entries/0/scores/1/coverage", "2"), HasSubstr("from 0 to 1"));
  EXPECT_EQ(sentence([] { study_summary_from_json("s", "{"); }).substr(0, 16), "s: expected JSON");
}

TEST(RunJson, HasTimesOfEveryEntry) {
  StudyTimes times;
  times.entries = {{"mean", NAN, 0.25}};
  times.total = 12.5;
  times.threads = 2;
  times.machine = "a \"machine\"";
  EXPECT_EQ(run_json(small_study(), times), R"({
 "schema": "assay.run/1",
 "threads": 2,
 "machine": "a \"machine\"",
 "seconds": 12.5,
 "entries": [
  {
   "name": "lime:samples=9",
   "explaining": null,
   "scoring": null
  },
  {
   "name": "mean",
   "explaining": null,
   "scoring": 0.25
  }
 ]
}
)");
}

TEST(ScoresCsv, HasALineForEachRowAndEntry) {
  EXPECT_EQ(scores_csv(small_study()),
            "row,id,target,explanation,faithfulness:subset=2\n"
            "1,\"p,1\",yes,lime:samples=9,0.1\n"
            "2,\"say \"\"a\"\"\nb\",no,lime:samples=9,\n"
            "1,\"p,1\",yes,mean,-inf\n"
            "2,\"say \"\"a\"\"\nb\",no,mean,1e-07\n");
  Study study = small_study();
  for (StudyEntry& entry : study.entries) entry.explanations.ids.clear();
  study.entries[0].name = "=1+2, \"x\"\r";
  study.entries[1].explanations.target_names[0] = "n\ro";
  // A criterion that could not score the entry at all.
  study.entries[1].scores[0].values.clear();
  EXPECT_EQ(scores_csv(study),
            "row,target,explanation,faithfulness:subset=2\n"
            "1,yes,\"=1+2, \"\"x\"\"\r\",0.1\n2,no,\"=1+2, \"\"x\"\"\r\",\n1,yes,mean,\n2,\"n\ro\",mean,\n");
}

// By the grammar of RFC 4180, with \n between records.
std::vector<std::vector<std::string>> parsed_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows = {{""}};
  bool quoted = false;
  for (size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      rows.back().back() += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      rows.back().emplace_back();
    } else if (!quoted && c == '\n') {
      rows.push_back({""});
    } else {
      rows.back().back() += c;
    }
  }
  rows.pop_back();
  return rows;
}

RC_GTEST_PROP(ScoresCsv, ReadsBackWhateverTheNamesHold, (const std::string& random, double value)) {
  Study study = small_study();
  const std::string name = random + "\",\r\n" + random;
  study.entries[1].name = name;
  study.entries[1].explanations.ids[0] = name;
  study.entries[1].explanations.target_names[1] = name;
  study.entries[1].scores[0].values[0] = value;
  study.criteria[0] = name;
  const auto rows = parsed_csv(scores_csv(study));
  RC_ASSERT(rows.size() == 5U);
  RC_ASSERT((rows[0] == std::vector<std::string>{"row", "id", "target", "explanation", name}));
  RC_ASSERT(rows[3].size() == 5U);
  RC_ASSERT(rows[3][0] == "1" && rows[3][1] == name && rows[3][2] == name && rows[3][3] == name);
  RC_ASSERT(std::stod(rows[3][4]) == value);
}

TEST(ScoresCsv, ComesInPieces) {
  Study study = small_study();
  study.facts.rows = 20'000;
  for (StudyEntry& entry : study.entries) {
    entry.explanations.ids.assign(study.rows(), "x");
    entry.explanations.target.assign(study.rows(), 0);
    entry.scores[0].values.assign(study.rows(), 1.0 / 3);
  }
  size_t largest = 0;
  size_t pieces = 0;
  std::string whole;
  write_scores_csv(study, [&](std::string_view piece) {
    largest = std::max(largest, piece.size());
    pieces++;
    whole += piece;
  });
  EXPECT_GT(pieces, 10U);
  EXPECT_LT(largest, 100'000U);
  EXPECT_EQ(std::ranges::count(whole, '\n'), 40'001);
  EXPECT_EQ(whole, scores_csv(study));
}

class ManifestOfAFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "scores");
    write("study.json", "{}");
    write("scores/lime.json", "[1]");
    write("manifest.json", "whatever");
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  std::vector<std::string> problems() const { return manifest_problems(folder_.string(), manifest_, {}); }

  // Tests run side by side.
  fs::path folder_ = fs::path(::testing::TempDir()) /
                     (std::string("assay_manifest_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  Manifest manifest_ = manifest_from_json(
      "m", manifest_json({}, {{"study.json", sha256_hex("{}")}, {"scores/lime.json", sha256_hex("[1]")}}));
};

TEST(ManifestJson, ListsInputsAndOutputs) {
  const std::string text = manifest_json({{"model", "../m.onnx", kHash}, {"data", "iris"}},
                                         {{"study.json", kHash}, {"report.html", std::string(64, '0')}});
  EXPECT_EQ(text,
            "{\n \"schema\": \"assay.manifest/1\",\n \"inputs\": [\n  {\n   \"role\": \"model\",\n   \"name\": "
            "\"../m.onnx\",\n   \"sha256\": \"" +
                kHash +
                "\"\n  },\n  {\n   \"role\": \"data\",\n   \"name\": \"iris\",\n   \"sha256\": null\n  }\n ],\n"
                " \"outputs\": [\n  {\n   \"name\": \"report.html\",\n   \"sha256\": \"" +
                std::string(64, '0') + "\"\n  },\n  {\n   \"name\": \"study.json\",\n   \"sha256\": \"" + kHash +
                "\"\n  }\n ]\n}\n");
  const Manifest read = manifest_from_json("m", text);
  ASSERT_EQ(read.inputs.size(), 2U);
  EXPECT_EQ(read.inputs[0].role, "model");
  EXPECT_EQ(read.inputs[0].name, "../m.onnx");
  EXPECT_EQ(read.inputs[1].sha256, "");
  EXPECT_EQ(manifest_json(read.inputs, read.outputs), text);
}

TEST(ManifestJson, RefusesNamesThatLeadOutside) {
  const auto with = [](const std::string& name, const std::string& hash) {
    const json document = {
        {"schema", "assay.manifest/1"}, {"inputs", json::array()}, {"outputs", {{{"name", name}, {"sha256", hash}}}}};
    return message_of([&] { manifest_from_json("m", document.dump()); });
  };
  EXPECT_EQ(with("scores/a.json", kHash), "no error");
  EXPECT_EQ(with("..a/b..", kHash), "no error");
  for (const char* name :
       {"/etc/passwd", "../x", "a/../../x", "a/..", "..", ".", "./a", "a//b", "a/", "", "a\\b", "C:x"}) {
    EXPECT_THAT(with(name, kHash), HasSubstr("m, 'outputs' 1: expected the name of a file inside of the folder"))
        << name;
  }
  EXPECT_THAT(with(std::string("a\0b", 3), kHash), HasSubstr("inside of the folder"));
  EXPECT_THAT(with("a", std::string(64, 'A')), HasSubstr("64 hexadecimal digits in lower case as 'sha256'"));
  EXPECT_THAT(with("a", std::string(63, 'a')), HasSubstr("64 hexadecimal digits in lower case as 'sha256'"));
}

TEST(ManifestJson, RefusesOtherDocuments) {
  EXPECT_THAT(sentence([] { manifest_from_json("m", manifest_json({}, {{"a", kHash}, {"b", kHash}, {"a", kHash}})); }),
              HasSubstr("expected each of the 'outputs' once, found 'a' twice"));
  EXPECT_THAT(sentence([] { manifest_from_json("m", study_json(small_study(), small_assessment())); }),
              HasSubstr("expected"));
  EXPECT_THAT(sentence([] { manifest_from_json("m", "{\"schema\": \"assay.manifest/9\"}"); }),
              HasSubstr("\"assay.manifest/1\" as 'schema'"));
  EXPECT_THAT(sentence([] { manifest_from_json("m", std::string(100'000, '{')); }), HasSubstr("m: "));
}

TEST_F(ManifestOfAFolder, IsAsItWasWritten) {
  EXPECT_THAT(problems(), ElementsAre());
  EXPECT_THAT(manifest_problems(folder_.string() + "/", manifest_, {}), ElementsAre());
}

TEST_F(ManifestOfAFolder, NamesWhatHasChanged) {
  write("study.json", "{ }");
  write("scores/a\nb", "");
  write("extra.txt", "");
  fs::remove(folder_ / "scores/lime.json");
  fs::create_directory_symlink("..", folder_ / "up");
  EXPECT_THAT(
      problems(),
      ElementsAre("'extra.txt' is extra: the manifest does not list it",
                  "'scores/a\\x0ab' is extra: the manifest does not list it", "'scores/lime.json' is missing",
                  "'study.json' has changed: expected sha256 " + sha256_hex("{}") + ", found " + sha256_hex("{ }"),
                  "'up' is extra: the manifest does not list it"));
  fs::remove(folder_ / "study.json");
  fs::create_directory(folder_ / "study.json");
  EXPECT_EQ(problems()[3], "study.json: expected a regular file, found a folder");
}

// The bytes are right, but they are not the folder's.
TEST_F(ManifestOfAFolder, DoesNotFollowLinksNorOpenPipes) {
  const fs::path outside = fs::path(folder_.string() + "_outside");
  fs::remove_all(outside);
  fs::rename(folder_ / "scores", outside);
  fs::create_directory_symlink(outside, folder_ / "scores");
  EXPECT_THAT(problems(), ElementsAre("'scores' is extra: the manifest does not list it",
                                      "scores/lime.json: expected a regular file, found a link at 'scores'"));
  fs::remove(folder_ / "scores");
  fs::create_directory(folder_ / "scores");
  fs::create_symlink(outside / "lime.json", folder_ / "scores/lime.json");
  EXPECT_THAT(problems(), ElementsAre("scores/lime.json: expected a regular file, found a link"));
  fs::remove(folder_ / "scores/lime.json");
  ASSERT_EQ(::mkfifo((folder_ / "scores/lime.json").c_str(), 0600), 0);
  EXPECT_THAT(problems(), ElementsAre("scores/lime.json: expected a regular file, found something else"));
  fs::remove_all(outside);
}

TEST_F(ManifestOfAFolder, MustBeThere) {
  EXPECT_THAT(message_of([&] { manifest_problems((folder_ / "none").string(), {}, {}); }),
              HasSubstr("cannot look through it: No such file or directory"));
}

}  // namespace
}  // namespace assay::testing
