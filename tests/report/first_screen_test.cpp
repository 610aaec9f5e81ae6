#include "assay/report/first_screen.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/explain/toys.h"
#include "tests/study/hand_study.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

size_t lines_in(const std::string& text) { return static_cast<size_t>(std::ranges::count(text, '\n')); }

// 27 entries, each another kind of good; names as long and as hostile as files can make them.
Study large_study(const std::string& name) {
  Study study = study_of_aims(200);
  study.facts.accuracy = 0.875;
  study.facts.unit = "probability";
  study.facts.target = "bad\n\x1b[2J";
  study.facts.reference = fmt::format("a background of 100 rows,\nstratified {}", std::string(300, 'r'));
  for (size_t f = 0; f < 8; ++f) study.facts.features.push_back(fmt::format("{} {}", name, f));
  for (size_t e = 0; e < 27; ++e) {
    const double i = static_cast<double>(e);
    StudyEntry& entry =
        add_entry(study, fmt::format("{}{}", name, e), e < 13 ? EntryKind::method : EntryKind::aggregate,
                  {around(0.9 - 0.005 * i, 0.05, 200, e), around(1 - 0.01 * i, 0.05, 200, e + 1),
                   around(2 - 0.02 * std::fabs(i - 9), 0.05, 200, e + 2)});
    Matrix values(200, 8);
    for (size_t r = 0; r < 200; ++r) {
      for (size_t p = 0; p < 8; ++p) values.row(r)[p] = static_cast<float>((p == e % 8 ? 5.0 : 1.0) + 0.01 * i);
    }
    entry.explanations.values = std::move(values);
    entry.explanations.combination.relative = e % 3 == 0;
    entry.explanations.evaluations = 1234567 * (e + 1);
    entry.trends.assign(8, e % 2 == 0 ? 0.9 : -0.9);
  }
  return study;
}

TEST(FirstScreen, HasAtMost25Lines) {
  for (const std::string& name : {std::string("m"), std::string("a_rather_long_name_of_a_method:samples="),
                                  std::string(300, 'x') + "\n\x1b[31m"}) {
    const Study study = large_study(name);
    const Assessment assessment = assess(study);
    ASSERT_TRUE(assessment.advice.overall);
    const std::string screen = first_screen(study, assessment);
    EXPECT_LE(lines_in(screen), 25U) << screen;
    EXPECT_THAT(screen, StartsWith("Model      quality unknown: no labels that fit what is explained\nExplained  the "
                                   "probability of bad\\x0a"));
    EXPECT_THAT(screen, HasSubstr("\n- Use "));
    EXPECT_THAT(screen, Not(HasSubstr("\x1b")));
    EXPECT_THAT(screen, HasSubstr("\nDrivers    "));
  }
}

// Two methods and what is said of them, by hand.
TEST(FirstScreen, OfASmallStudy) {
  Study study = hand_study(401, {{"faithfulness", Direction::higher}, {"complexity", Direction::lower}});
  study.facts.unit = "value";
  study.facts.target = "price";
  study.facts.reference = "the mean row";
  study.facts.features = {"age", "sex", "job"};
  study.facts.accuracy = NAN;
  add_entry(study, "a", EntryKind::method, {around(0.9, 0.01, 401, 1), std::vector<double>(401, 1.5)});
  add_entry(study, "b", EntryKind::method, {around(0.5, 0.01, 401, 2), std::vector<double>(401, 1)});
  study.entries[0].explanations.values = matrix_of({{1, -6, 1e-9F}, {1, -6, 1e-9F}});
  study.entries[0].explanations.evaluations = 12345;
  study.entries[0].trends = {0.2, -0.31, NAN};
  StudyTimes times;
  times.total = 2.5;
  times.entries = {{"a", 0.25, 1}};
  const std::string screen = first_screen(study, assess(study));
  EXPECT_THAT(screen, HasSubstr("Explained  price\n"));
  EXPECT_THAT(screen, HasSubstr("Drivers    sex (86 %, higher lowers), age (14 %), by a\n"));
  EXPECT_THAT(screen, HasSubstr("a  overall, faithfulness, simplicity  yes "));
  EXPECT_THAT(screen, HasSubstr("12,345\n"));
  EXPECT_THAT(screen, HasSubstr(fmt::format("b{}no ", std::string(37, ' '))));
  EXPECT_THAT(screen, HasSubstr("  0\n"));
  EXPECT_EQ(time_words(study, assess(study).advice, times), "2.5 s in all, 0.25 s to explain by a");
  EXPECT_THAT(screen, HasSubstr("- Use a: faithfulness 0.9"));
  // Without faithfulness there is no table, and nothing to use.
  study.criterion_names[0] = study.criteria[0] = "sparseness";
  const std::string none = first_screen(study, assess(study));
  EXPECT_THAT(none, Not(HasSubstr("Drivers")));
  EXPECT_THAT(none, Not(HasSubstr("Use ")));
  EXPECT_THAT(none, HasSubstr("- Nothing is recommended"));
}

}  // namespace
}  // namespace assay::testing
