#include "assay/report/terminal.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "tests/study/hand_study.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Two methods and an aggregate on four rows.
Study small_study() {
  Study study = hand_study(4, {{"faithfulness:subset=1", Direction::higher},
                               {"complexity", Direction::lower},
                               {"roar", Direction::higher},
                               {"conviction", Direction::neither}});
  const std::vector<double> none(4, NAN);
  add_entry(study, "a", EntryKind::method, {{0.8, 0.9, 0.8, 0.9}, {1, 1, 2, 2}, none, {1, 2, 3, NAN}});
  add_entry(study, "lime:samples=9", EntryKind::method, {{0.6, 0.7, 0.5, 0.6}, {1, NAN, 2, NAN}, none, {1, 1, 1, 1}});
  add_entry(study, "mean", EntryKind::aggregate, {{0.8, 0.8, 0.8, 0.8}, {0.1, 0.2, 0.9, 1.0}, none, none});
  for (StudyEntry& entry : study.entries) entry.scores[2].undefined = {{"roar needs a\ntrainer", 4}};
  study.entries[2].scores[3].undefined = {{"no pool", 3}, {"no number", 1}};
  study.entries[0].evaluations = 1234567;
  return study;
}

// Of the first two criteria; the others rank nothing.
Assessment marks(const std::vector<Standing>& faithfulness, const std::vector<Standing>& complexity) {
  const std::vector<double> none(faithfulness.size(), NAN);
  const std::vector<Interval> nowhere(faithfulness.size(), {NAN, NAN});
  Assessment made;
  made.rankings = {{0, {0}, faithfulness, none, nowhere, true}, {1, {0}, complexity, none, nowhere, true}};
  for (const size_t criterion : {2U, 3U}) made.rankings.emplace_back().criterion = criterion;
  made.dominated.assign(faithfulness.size(), false);
  return made;
}

std::string table_of(const Study& study, const StudyTimes& times = {}) {
  return study_table(study, assess(study), times);
}

TEST(StudyTable, OfASmallStudy) {
  StudyTimes times;
  times.entries = {{"mean", 150, 20.4}, {"a", 0.25, 1}, {"lime:samples=9", NAN, NAN}};
  const Assessment assessment =
      marks({Standing::tied, Standing::worse, Standing::tied}, {Standing::worse, Standing::tied, Standing::tied});
  EXPECT_EQ(study_table(small_study(), assessment, times),
            R"(                  faithfulness     complexity              model
                      subset=1
better:                 higher          lower              evals  seconds
a               0.850 +- 0.029~  1.50 +- 0.29          1,234,567     1.25
lime:samples=9  0.600 +- 0.041   1.50 +- 0.50~ (50 %)          0        -

mean                       0.8~  0.55 +- 0.23~                 0      170

                  roar    conviction
better:         higher             -
a                   -   2.00 +- 0.58  (75 %)
lime:samples=9      -              1

mean                -              -

mean +- standard error; * significantly best; ~ not distinguishable from the best; (n %) share of
rows with a score; - no score; seconds -: made by an earlier run
- roar: no score: roar needs a\x0atrainer
- conviction: no score of mean: no pool; no number
)");
}

TEST(StudyTable, MarksTheSignificantlyBest) {
  Study study = small_study();
  study.entries.pop_back();
  const std::string table =
      study_table(study, marks({Standing::best, Standing::worse}, {Standing::worse, Standing::best}), {});
  EXPECT_THAT(table, HasSubstr("a               0.850 +- 0.029*"));
  EXPECT_THAT(table, HasSubstr("lime:samples=9  0.600 +- 0.041   "));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(StudyTable, StaysWithinItsWidth) {
  Study study = hand_study(37, {});
  for (size_t c = 0; c < 20; ++c) {
    study.criteria.push_back(c < 2 ? fmt::format("faithfulness:subset={}", c) : fmt::format("criterion_{}", c));
    study.criterion_names.push_back(c < 2 ? "faithfulness" : study.criteria.back());
    study.directions.push_back(Direction::higher);
  }
  for (size_t e = 0; e < 3; ++e) {
    std::vector<std::vector<double>> values;
    for (size_t c = 0; c < 20; ++c) values.push_back(around(static_cast<double>(c), 0.1, 37, e + c));
    add_entry(study, fmt::format("a_rather_long_name_{}", e), EntryKind::method, values);
  }
  const std::string table = table_of(study);
  size_t widest = 0;
  for (const std::string& line : lines_of(table)) widest = std::max(widest, line.size());
  EXPECT_LE(widest, 120);
  EXPECT_GT(widest, 100);
  for (size_t c = 2; c < 20; ++c) EXPECT_THAT(table, HasSubstr(fmt::format("criterion_{}", c)));
}

// Cost stands beside the criteria or in a block of its own, never half of it.
TEST(StudyTable, KeepsTheCostTogether) {
  for (size_t length = 1; length < 60; ++length) {
    Study study = hand_study(37, {});
    for (const char* name : {"faithfulness", "max_sensitivity", "avg_sensitivity", "complexity"}) {
      study.criteria.emplace_back(name);
      study.criterion_names.emplace_back(name);
      study.directions.push_back(Direction::lower);
    }
    const std::vector<double> values = around(1, 0.1, 37, 1);
    add_entry(study, std::string(length, 'x'), EntryKind::method, {values, values, values, values}).evaluations = 1;
    StudyTimes times;
    times.entries = {{study.entries[0].name, 1, 2}};
    for (const std::string& line : lines_of(table_of(study, times))) {
      EXPECT_LE(line.size(), 120) << line;
      EXPECT_EQ(line.find("evals") == std::string::npos, line.find("seconds") == std::string::npos) << line;
    }
  }
}

TEST(StudyTable, NamesFromUsersStayOnTheirLine) {
  Study study = hand_study(4, {{"complexity", Direction::lower}});
  add_entry(study, "x\n\x1b[2J", EntryKind::method, {{1, 2, 3, 4}});
  add_entry(study, std::string(200, 'y'), EntryKind::method, {{1, 2, 3, 5}});
  const std::string table = table_of(study);
  EXPECT_THAT(table, HasSubstr("x\\x0a\\x1b[2J "));
  EXPECT_THAT(table, Not(HasSubstr("\x1b")));
  EXPECT_THAT(table, Not(HasSubstr(std::string(61, 'y'))));
}

TEST(StudyConclusions, AreWrappedLists) {
  Study study = small_study();
  study.left_out = {{"method", "gradient", "the model has\tno gradient"}};
  Assessment assessment;
  assessment.verdict = {"Short.", fmt::format("{}1.00 +- 0.02 and 62 % of it.", std::string(88, 'w') + " ")};
  EXPECT_EQ(study_conclusions(study, assessment), fmt::format(R"(Verdict
- Short.
- {}
  1.00 +- 0.02 and 62 % of it.

Left out
- method gradient: the model has\x09no gradient
)",
                                                              std::string(88, 'w')));
  assessment.warnings = {"Beware."};
  EXPECT_THAT(study_conclusions(study, assessment), HasSubstr("of it.\n\nWarnings\n- Beware.\n\nLeft out\n"));
  EXPECT_EQ(study_conclusions(Study{}, Assessment{}), "");
}

TEST(StudyConclusions, StayWithinTheirWidth) {
  Assessment assessment;
  std::string sentence;
  for (size_t i = 0; i < 200; ++i) sentence += fmt::format("{} ", std::string(1 + i % 13, 'a'));
  assessment.verdict = {sentence};
  const auto lines = lines_of(study_conclusions(Study{}, assessment));
  EXPECT_GT(lines.size(), 10);
  for (const std::string& line : lines) EXPECT_LE(line.size(), 100);
}

}  // namespace
}  // namespace assay::testing
