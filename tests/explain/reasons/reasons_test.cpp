#include "assay/explain/reasons/reasons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/explain/reasons/some_explanations.h"
#include "tests/message.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::made_of;

std::vector<std::string> names(const Reasons& reasons, size_t row) {
  std::vector<std::string> found;
  for (const Reason& each : reasons.list) {
    if (each.row == row && each.rank > 0) found.push_back(reasons.features[each.player]);
  }
  return found;
}

std::string note_with(const Reasons& reasons, const std::string& word) {
  for (const std::string& note : reasons.notes) {
    if (note.find(word) != std::string::npos) return note;
  }
  return "none";
}

TEST(Reasons, AreTheFeaturesThatSpeakMostInTheDirection) {
  // 1 + 3 - 4 - 0.5 - 2 = -2.5 from the base 1 to the output -1.5
  const Explanations made = made_of({{1, 3, -4, -0.5F, -2}}, {-1.5});
  const Reasons against = find_reasons(made, {}, {.top = 2}, {});
  ASSERT_EQ(against.list.size(), 2U);
  EXPECT_THAT(names(against, 0), ElementsAre("c", "e"));
  EXPECT_EQ(against.list[0].rank, 1U);
  EXPECT_EQ(against.list[1].rank, 2U);
  EXPECT_EQ(against.list[0].attribution, -4);
  EXPECT_DOUBLE_EQ(against.list[0].share, 1.6);  // -4 / -2.5
  EXPECT_DOUBLE_EQ(against.list[1].share, 0.8);
  EXPECT_EQ(against.list[0].certainty, 1);
  EXPECT_EQ(against.list[0].order_certainty, 1);
  EXPECT_TRUE(std::isnan(against.list[0].agreement));
  EXPECT_THAT(note_with(against, "no draw"), HasSubstr("certainty is 1, unless features tie within rounding"));
  EXPECT_THAT(note_with(against, "model itself"), HasSubstr("may give other reasons"));
  EXPECT_THAT(note_with(against, "agreement is"), HasSubstr("not known"));

  const Reasons favour = find_reasons(made, {}, {.top = 5, .direction = ReasonDirection::favour}, {});
  EXPECT_THAT(names(favour, 0), ElementsAre("b", "a")) << "only two speak for it";
  EXPECT_DOUBLE_EQ(favour.list[0].share, -1.2);
}

TEST(Reasons, TiesShareTheirPlaces) {
  // b, c and d tie for the second place of two.
  const Explanations made = made_of({{-4, -2, -2, -2, -1}}, {-10});
  const Reasons two = find_reasons(made, {}, {.top = 2}, {});
  EXPECT_THAT(names(two, 0), ElementsAre("a", "b"));
  EXPECT_EQ(two.list[0].certainty, 1);
  EXPECT_DOUBLE_EQ(two.list[1].certainty, 1.0 / 3);
  EXPECT_DOUBLE_EQ(two.list[1].order_certainty, 1.0 / 3);
  const Reasons three = find_reasons(made, {}, {.top = 3}, {});
  EXPECT_DOUBLE_EQ(three.list[1].certainty, 2.0 / 3);
  const Reasons four = find_reasons(made, {}, {.top = 4}, {});
  EXPECT_EQ(four.list[3].certainty, 1) << "all three have a place";
  EXPECT_DOUBLE_EQ(four.list[3].order_certainty, 1.0 / 3) << "but which one is not known";
  EXPECT_THAT(uncertain_rows(two, 0.9), ElementsAre(0));
  EXPECT_TRUE(uncertain_rows(four, 0.9).empty());

  // Within rounding is a tie, and a value within rounding of 0 speaks in no direction. The row's largest number is its
  // base of 100: rounding is 4 * 100 / 2^24 = 2.4e-5.
  Explanations near = made_of({{-1, -1.00002F, -0.00002F, 0.5F, 0}}, {98});
  near.base = {100};
  const Reasons found = find_reasons(near, {}, {.top = 1}, {});
  EXPECT_DOUBLE_EQ(found.list[0].certainty, 0.5);
  EXPECT_THAT(names(find_reasons(near, {}, {.top = 3}, {}), 0), ElementsAre("b", "a"));
}

TEST(Reasons, CertaintyIsTheShareOfReplicates) {
  Explanations made = made_of({{-3, -2, -1, 1, 0}}, {-4});
  made.provenance.draw = kDrawnBackground;
  const Reasons unknown = find_reasons(made, {}, {.top = 2}, {});
  EXPECT_FALSE(unknown.certainty_known);
  EXPECT_TRUE(std::isnan(unknown.list[0].certainty) && std::isnan(unknown.list[0].order_certainty));
  EXPECT_THAT(note_with(unknown, "certainty is not known"), HasSubstr("the background's rows were drawn"));
  EXPECT_TRUE(uncertain_rows(unknown, 0.9).empty());

  made.replicates = Matrix(1, 4 * 5);
  const std::vector<std::vector<float>> replicates = {
      {-3, -2, -1, 1, 0},   // a, b
      {-2, -3, -1, 1, 0},   // b, a
      {-3, -1, -2, -9, 0},  // d, a
      {-3, 2, 1, 1, 1},     // a alone
  };
  for (size_t c = 0; c < 4; c++) std::ranges::copy(replicates[c], made.replicates.row(0).subspan(5 * c).begin());
  const Reasons known = find_reasons(made, {}, {.top = 2}, {});
  ASSERT_EQ(known.replicates, 4U);
  EXPECT_EQ(known.list[0].certainty, 1);
  EXPECT_EQ(known.list[0].order_certainty, 0.5);
  EXPECT_EQ(known.list[1].certainty, 0.5);
  EXPECT_EQ(known.list[1].order_certainty, 0.25);
  EXPECT_THAT(note_with(known, "replicates in which"), HasSubstr("another draw of the background's rows"));
  EXPECT_THAT(uncertain_rows(known, 0.9), ElementsAre(0));
  EXPECT_TRUE(uncertain_rows(known, 0.5).empty());
  // Without a, b is first in the first two.
  const Reasons excluded = find_reasons(made, {}, {.top = 1, .exclude = {"a"}}, {});
  EXPECT_THAT(names(excluded, 0), ElementsAre("b"));
  EXPECT_EQ(excluded.list[0].certainty, 0.5);
}

TEST(Reasons, SaysWhyCertaintyIsNotKnown) {
  Explanations sampled = made_of({{-3, -2, -1, 1, 0}}, {-4});
  sampled.standard_error = Matrix(1, 5);
  EXPECT_TRUE(find_reasons(sampled, {}, {}, {}).certainty_known) << "every coalition was played: errors are 0";
  sampled.standard_error(0, 1) = 0.5F;
  EXPECT_THAT(note_with(find_reasons(sampled, {}, {}, {}), "not known"), HasSubstr("kernel_shap samples"));
  Explanations old = made_of({{-3, -2, -1, 1, 0}}, {-4});
  old.provenance.draw.clear();
  EXPECT_THAT(note_with(find_reasons(old, {}, {}, {}), "not known"), HasSubstr("do not say whether"));
  Explanations aggregate = made_of({{-3, -2, -1, 1, 0}}, {-4});
  aggregate.combination.members = {"lime", "deeplift"};
  EXPECT_THAT(note_with(find_reasons(aggregate, {}, {}, {}), "not known"), HasSubstr("aggregate"));
}

TEST(Reasons, GroupsAreOneReasonAndTheirReplicatesAreSummed) {
  Explanations made = made_of({{-3, 2.5F, -1, -1.5F, 0}}, {-2});
  made.provenance.draw = kDrawnBackground;
  made.replicates = Matrix(1, 2 * 5);
  const std::vector<float> replicates = {-3, 2.5F, -1, -1.5F, 0, -3, 0, -1, -1.5F, 0};
  std::ranges::copy(replicates, made.replicates.row(0).begin());
  ReasonOptions options{.top = 1};
  options.groups = players_from_json("groups.json", R"({"money": ["a", "b"], "history": ["c", "d"]})", made.features);
  const Reasons found = find_reasons(made, {}, options, {});
  ASSERT_THAT(found.features, ElementsAre("money", "history", "e"));
  EXPECT_THAT(names(found, 0), ElementsAre("history"));
  EXPECT_DOUBLE_EQ(found.list[0].attribution, -2.5);
  EXPECT_DOUBLE_EQ(found.list[0].certainty, 0.5);  // in the second, money is -3
  EXPECT_THAT(sentence([&] {
                ReasonOptions wrong = options;
                wrong.exclude = {"c"};
                find_reasons(made, {}, wrong, {});
              }),
              HasSubstr("exclude: expected features that are reasons of their own, found 'c', which is in the group "
                        "'history'"));
}

TEST(Reasons, WhatMayNotBeNamedIsWithheldNotLost) {
  const Explanations made =
      made_of({{-4, -3, -2, -1, 0}, {-4, 1, 2, 3, 0}, {1, -1, -2, 1, 0}, {1, 1, 1, 1, 1}}, {-9, 3, 0, 6});
  const Reasons found = find_reasons(made, {}, {.top = 2, .exclude = {"a", "d"}}, {});
  EXPECT_THAT(names(found, 0), ElementsAre("b", "c")) << "the next takes its place";
  EXPECT_THAT(found.list[0].withheld, ElementsAre(0)) << "d is not among the two";
  EXPECT_THAT(found.list[1].withheld, ElementsAre(0));
  // Row 1 has no other reason: a line of rank 0 says what is withheld.
  ASSERT_EQ(found.list[2].row, 1U);
  EXPECT_EQ(found.list[2].rank, 0U);
  EXPECT_THAT(found.list[2].withheld, ElementsAre(0));
  EXPECT_THAT(names(found, 2), ElementsAre("c", "b"));
  EXPECT_TRUE(found.list[3].withheld.empty());
  EXPECT_TRUE(names(found, 3).empty());
  EXPECT_EQ(found.list.size(), 5U);
  EXPECT_THAT(note_with(found, "withheld"), HasSubstr("for 2 rows"));
  EXPECT_THAT(note_with(found, "without a reason"), HasSubstr("2 rows without a reason"));
}

TEST(Reasons, ShareIsUnknownWhereAttributionsDoNotAddUp) {
  Explanations made = made_of({{-3, 0, 0, 0, 0}, {-3, 0, 0, 0, 0}, {-3, 3, 0, 0, 0}}, {-2, -2, 1});
  made.gap = {0.5, 1e-6, 0};
  const Reasons found = find_reasons(made, {}, {.top = 1}, {});
  EXPECT_TRUE(std::isnan(found.list[0].share));
  EXPECT_DOUBLE_EQ(found.list[1].share, 1);
  EXPECT_TRUE(std::isnan(found.list[2].share)) << "the output is the base value";
  EXPECT_THAT(note_with(found, "share is not known"), HasSubstr("for 2 rows"));
  made.gap.assign(3, NAN);
  EXPECT_TRUE(std::isnan(find_reasons(made, {}, {.top = 1}, {}).list[1].share));
}

TEST(Reasons, AgreementIsTheShareOfMethods) {
  const Explanations own = made_of({{-3, -2, -1, 0, 0}}, {-5});
  const Explanations same = made_of({{-30, -20, -1, 0, 0}}, {-50});
  const Explanations other = made_of({{-3, 1, -2, 0, 0}}, {-3});
  const Explanations tied = made_of({{-3, -1, -1, 0, 0}}, {-4});
  const std::vector<const Explanations*> all = {&own, &same, &other, &tied};
  const Reasons found = find_reasons(own, all, {.top = 2}, {});
  EXPECT_EQ(found.list[0].agreement, 1);
  EXPECT_EQ(found.list[1].agreement, (1 + 1 + 0 + 0.5) / 4);
  EXPECT_THAT(note_with(found, "agreement is"), HasSubstr("over 4 methods"));
  const std::vector<const Explanations*> alone = {&own};
  EXPECT_TRUE(std::isnan(find_reasons(own, alone, {.top = 2}, {}).list[0].agreement));
  const Explanations two_rows = made_of({{-3, -2, -1, 0, 0}, {-3, -2, -1, 0, 0}}, {-5, -5});
  const std::vector<const Explanations*> wrong = {&own, &two_rows};
  EXPECT_THAT(sentence([&] { find_reasons(own, wrong, {}, {}); }),
              HasSubstr("agreement: expected explanations of the same rows and features"));
}

TEST(Reasons, UndefinedValuesSpeakInNoDirection) {
  const Explanations made = made_of({{NAN, -2, -INFINITY, 1, 0}}, {-4});
  EXPECT_THAT(names(find_reasons(made, {}, {.top = 5}, {}), 0), ElementsAre("c", "b"));
  EXPECT_EQ(find_reasons(made, {}, {.top = 5}, {}).list[1].certainty, 1);
}

TEST(Reasons, RefusesWhatItCannotDo) {
  const Explanations made = made_of({{-3, -2, -1, 1, 0}}, {-4});
  EXPECT_EQ(sentence([&] { find_reasons(made, {}, {.top = 0}, {}); }),
            "top: expected 1 reason or more for a row, found 0");
  EXPECT_EQ(sentence([&] { find_reasons(made, {}, {.exclude = {"<script>"}}, {}); }),
            "exclude: expected names of features, found '<script>'");
  EXPECT_EQ(sentence([] { direction_of("favour"); }), "direction: expected against or for, found 'favour'");
}

TEST(Reasons, AreTheSameOnAnyThreads) {
  std::vector<std::vector<float>> rows;
  for (int i = 0; i < 40; i++) {
    const auto x = static_cast<float>(i);
    rows.push_back({std::sin(x), std::cos(3 * x), std::sin(5 * x), std::cos(7 * x), 0});
  }
  const Explanations made = made_of(rows, std::vector<double>(40, 0.0));
  const auto list_on = [&](unsigned threads) {
    Context context;
    context.threads = threads;
    std::vector<std::pair<size_t, size_t>> list;
    for (const Reason& each : find_reasons(made, {}, {}, context).list) list.emplace_back(each.row, each.player);
    return list;
  };
  EXPECT_EQ(list_on(1), list_on(6));
}

}  // namespace
}  // namespace assay
