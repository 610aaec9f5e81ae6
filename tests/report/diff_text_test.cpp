// What two studies differ in, as it is shown. Whether it is right is tested in tests/archive/diff_test.cpp.
#include "assay/report/diff_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/archive/study_folders.h"

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Study three_times(const Values& values) { return study_of({{values, values, values}}); }

TEST_F(Folders, ShowsEveryChangeAndHowManyThereAre) {
  EXPECT_THAT(diff_text(diff(three_times(old_values()), three_times(new_values())), false),
              AllOf(HasSubstr("faithfulness  k               2.5      4         1.5  0.2887  0.01385  better\n"),
                    HasSubstr("3 scores: 1 better, 1 worse and 1 different\n")));
}

TEST_F(Folders, ShowsWhatWentInWithShortHashes) {
  Study after = three_times(new_values());
  after.facts.inputs[0].sha256 = std::string(64, 'b');
  after.facts.seed = 3;
  const StudyDiff found = diff(three_times(old_values()), after);
  EXPECT_THAT(diff_text(found, false), AllOf(HasSubstr("not the same rows"), HasSubstr("input data sha256"),
                                             HasSubstr("aaaaaaaaaaaa  ->  bbbbbbbbbbbb\n")));
  EXPECT_THAT(diff_json(found), HasSubstr(R"({"what":"seed","before":"0","after":"3"})"));
}

TEST_F(Folders, ShowsScoresThatDidNotChangeWhereAsked) {
  const std::vector<Values> before = {old_values(), old_values(), old_values()};
  const std::vector<Values> after = {new_values(), new_values(), new_values()};
  const StudyDiff four = diff(study_of({before, before, before, before}), study_of({after, before, before, before}));
  EXPECT_THAT(diff_text(four, false), Not(HasSubstr("  l  ")));
  EXPECT_THAT(diff_text(four, true), HasSubstr("  l  "));
}

TEST_F(Folders, ShowsWhatBecameUndefined) {
  const Values none(4, NAN);
  const StudyDiff found = diff(study_of({{old_values(), none, none}}), study_of({{none, old_values(), none}}));
  EXPECT_THAT(diff_text(found, false), HasSubstr("undefined now; coverage 100 -> 0 %"));
}

TEST_F(Folders, ShowsPredictionsDriversAndWhatIsNotCompared) {
  StudyDiff found = diff(three_times(old_values()), three_times(old_values()));
  EXPECT_THAT(diff_text(found, false), AllOf(HasSubstr("predictions: the output changed by 0 on average, of 1\n"),
                                             HasSubstr("drivers by k: no share of 2 players changed significantly\n")));
  found.predictions = {
      .rows = 30, .classes = true, .other_class = 3, .same_target = 27, .mean_change = 0.25, .mean_size = 2};
  found.drivers = {"k", {}};
  found.drivers.players.push_back({.player = "age", .before = 0.5, .after = 0.25, .rank_before = 1, .rank_after = 3});
  found.drivers.players[0].adjusted_p = 0.002;
  found.drivers.players.push_back({.player = "job", .before = 0.25, .after = 0.26, .rank_before = 2, .rank_after = 2});
  found.drivers.players[1].adjusted_p = 0.6;
  found.not_compared = {{"max_sensitivity", "one study explains margins and the other probabilities"},
                        {"deletion", "one study explains margins and the other probabilities"}};
  EXPECT_THAT(
      diff_text(found, false),
      AllOf(HasSubstr("predictions: 3 of 30 rows predicted to be of another class; the output changed by 0.25 on "
                      "average, of 2 (27 rows with the same target)\n"),
            HasSubstr("drivers by k, by their mean share of |attribution|:\n"
                      "driver  share before  after  rank        p\n"
                      "age             50 %   25 %  1 -> 3  0.002\n"),
            Not(HasSubstr("job")),
            HasSubstr("not compared: max_sensitivity and deletion, because one study explains margins and the "
                      "other probabilities\n")));
  EXPECT_THAT(diff_text(found, true), HasSubstr("job             25 %   26 %  2         0.6\n"));
  EXPECT_THAT(diff_json(found), AllOf(HasSubstr(R"("other_class":3)"), HasSubstr(R"("rank_before":1,"rank_after":3)"),
                                      HasSubstr(R"({"criterion":"deletion","reason":"one study explains margins)")));
}

TEST_F(Folders, ShowsThatNothingChanged) {
  const Study study = study_of({{old_values(), new_values(), {0, 0, 0, NAN}}});
  EXPECT_THAT(diff_text(diff(study, study), false), HasSubstr("3 scores: 3 same\n"));
}

}  // namespace
}  // namespace assay
