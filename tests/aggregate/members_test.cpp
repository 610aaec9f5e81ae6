#include "assay/aggregate/members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/aggregate/trial.h"
#include "tests/message.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;

// Two members of two rows and two features, which fit together in all respects.
MemberTrial pair_of_members() {
  MemberTrial trial = bare_members({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}});
  for (Explanations& member : trial.members) {
    member.ids = {"a", "b"};
    member.id_name = "id";
    member.target = {0, 1};
    member.target_names = {"no", "yes"};
    member.provenance.unit = "margin";
  }
  return trial;
}

// What check_members says of two members named "one" and "two", of which the second was changed.
std::string complaint(const std::function<void(Explanations&)>& change) {
  MemberTrial trial = pair_of_members();
  change(trial.members[1]);
  const std::vector<std::string> names = {"one", "two"};
  AggregateTask task = trial.task();
  task.names = names;
  return sentence([&] { check_members(task); });
}

TEST(CheckMembers, AcceptsWhatFits) {
  EXPECT_EQ(complaint([](Explanations&) {}), "no error");
}

TEST(CheckMembers, NamesBothMembersAndWhatDiffers) {
  EXPECT_EQ(complaint([](Explanations& other) { other = explanations_of(Matrix(3, 2)); }),
            "two: expected 2 rows, as 'one' has, found 3");
  EXPECT_EQ(complaint([](Explanations& other) { other = explanations_of(Matrix(2, 3)); }),
            "two: expected 2 columns, one for each player of 'one', found 3");
  EXPECT_EQ(complaint([](Explanations& other) { other.features[1] = "age"; }),
            "two: expected 'p1' as player 2, as in 'one', found 'age'");
  EXPECT_EQ(complaint([](Explanations& other) { other.ids[1] = "c"; }),
            "two: expected the id 'b' in row 2, as in 'one', found 'c'");
  EXPECT_EQ(complaint([](Explanations& other) { other.target[0] = 1; }),
            "two: expected the target 'no' in row 1, as in 'one', found 'yes'");
  EXPECT_EQ(complaint([](Explanations& other) { other.provenance.unit = "probability"; }),
            "two: expected explanations in the unit margin, as in 'one', found probability");
}

// Targets are compared by name, not by number.
// The last digits differ between machines and formats; other rows and other models differ in more.
TEST(CheckMembers, ExplainedValuesAreOne) {
  const auto with_outputs = [](std::vector<double> first, std::vector<double> second) {
    MemberTrial trial = pair_of_members();
    trial.members[0].output = std::move(first);
    trial.members[1].output = std::move(second);
    const std::vector<std::string> names = {"one", "two"};
    AggregateTask task = trial.task();
    task.names = names;
    return sentence([&] { check_members(task); });
  };
  EXPECT_EQ(with_outputs({1.5, -2}, {1.5000001, -2}), "no error");
  EXPECT_EQ(with_outputs({1.5, NAN}, {NAN, 7}), "no error");
  EXPECT_EQ(with_outputs({1.5, -2}, {1.5, -2.01}),
            "two: expected the explained value -2 in row 2, as in 'one', found -2.01: another model, or other rows");
}

TEST(CheckMembers, WhereTheyAreFromIsNoted) {
  MemberTrial trial = pair_of_members();
  trial.members[0].provenance.model = "a.onnx";
  trial.members[1].provenance.model = "b.onnx";
  trial.members[1].provenance.data = "iris";
  const AggregateTask task = trial.task();
  Explanations made;
  note_members(task, Members(task, true), made);
  EXPECT_THAT(made.notes, ElementsAre("member 2 is of another model ('b.onnx') than member 1 ('a.onnx')"));
}

TEST(CheckMembers, TargetsAreTheirNames) {
  EXPECT_EQ(complaint([](Explanations& other) {
              other.target = {1, 0};
              other.target_names = {"yes", "no"};
            }),
            "no error");
}

// A file from elsewhere says less: numbered features, no ids, targets or unit.
TEST(CheckMembers, WhatAMemberDoesNotSayFitsEverything) {
  EXPECT_EQ(complaint([](Explanations& other) {
              other.features = {"0", "1"};
              other.ids.clear();
              other.target.clear();
              other.target_names.clear();
              other.provenance.unit.clear();
            }),
            "no error");
}

// The second says nothing, so the third is held against the first.
TEST(CheckMembers, EachIsHeldAgainstAllBeforeIt) {
  MemberTrial trial = pair_of_members();
  trial.members.push_back(trial.members[0]);
  trial.members[1].ids.clear();
  trial.members[2].ids = {"a", "x"};
  for (size_t j = 0; j < 3; j++) trial.members[j].provenance.method = j == 0 ? "lime" : "";
  EXPECT_EQ(sentence([&] { check_members(trial.task()); }),
            "member 3: expected the id 'b' in row 2, as in 'lime', found 'x'");
}

TEST(CheckMembers, TheTaskMustFitThem) {
  MemberTrial trial = pair_of_members();
  trial.data = dataset_of(Matrix(3, 2));
  EXPECT_EQ(sentence([&] { check_members(trial.task()); }),
            "the members: expected 3 rows, as many as there are explained, found 2");
  trial.data.reset();
  trial.in_pool = {0};
  EXPECT_EQ(sentence([&] { check_members(trial.task()); }),
            "the members: expected 2 own rows, one for each row, found 1");
  MemberTrial none;
  EXPECT_EQ(sentence([&] { check_members(none.task()); }), "there is no explanation to aggregate");
  MemberTrial empty;
  empty.members.push_back(explanations_of(Matrix(0, 2)));
  EXPECT_EQ(sentence([&] { check_members(empty.task()); }), "there are no rows to aggregate");
}

TEST(MemberNames, AreThoseGivenElseMethods) {
  MemberTrial trial = pair_of_members();
  trial.members[0].provenance.method = "lime";
  EXPECT_THAT(member_names(trial.task()), ElementsAre("lime", "member 2"));
  const std::vector<std::string> names = {"a.npz", "b.npz"};
  AggregateTask task = trial.task();
  task.names = names;
  EXPECT_THAT(member_names(task), ElementsAre("a.npz", "b.npz"));
}

// What the first does not say comes from the next that does.
TEST(FillFrame, TakesEachPartFromTheFirstThatSaysIt) {
  MemberTrial trial = pair_of_members();
  trial.members[0].features = {"0", "1"};
  trial.members[0].ids.clear();
  trial.members[0].target.clear();
  Explanations made;
  fill_frame(trial.task().members, made);
  EXPECT_THAT(made.features, ElementsAre("p0", "p1"));
  EXPECT_THAT(made.ids, ElementsAre("a", "b"));
  EXPECT_EQ(made.id_name, "id");
  EXPECT_THAT(made.target, ElementsAre(0U, 1U));
  EXPECT_THAT(made.target_names, ElementsAre("no", "yes"));
}

TEST(KeepShared, EmptiesWhatDiffers) {
  Provenance shared;
  shared.unit = "margin";
  shared.model = "a.onnx";
  shared.reference = "zero";
  Provenance other = shared;
  other.reference = "mean";
  keep_shared(other, shared);
  EXPECT_EQ(shared.unit, "margin");
  EXPECT_EQ(shared.model, "a.onnx");
  EXPECT_EQ(shared.reference, "");
}

// (3, 4) has norm 5. Zero rows stay zero, and rows that are no numbers are known.
TEST(Members, HaveUnitNormUnlessRaw) {
  MemberTrial trial = bare_members({{{3, 4}, {0, 0}, {1, NAN}}, {{-2, 0}, {0, -0.5F}, {1, 1}}});
  const Members unit(trial.task(), true);
  EXPECT_EQ(unit.size(), 2U);
  EXPECT_EQ(unit.rows(), 3U);
  EXPECT_EQ(unit.players(), 2U);
  EXPECT_THAT(unit.of(0, 0), ElementsAre(0.6F, 0.8F));
  EXPECT_THAT(unit.of(0, 1), ElementsAre(0, 0));
  EXPECT_THAT(unit.of(1, 0), ElementsAre(-1, 0));
  EXPECT_TRUE(unit.zero(0, 1));
  EXPECT_FALSE(unit.zero(1, 1));
  EXPECT_TRUE(unit.finite(0));
  EXPECT_TRUE(unit.finite(1));
  EXPECT_FALSE(unit.finite(2));
  const Members raw(trial.task(), false);
  EXPECT_THAT(raw.of(0, 0), ElementsAre(3, 4));
  EXPECT_TRUE(raw.zero(0, 1));
}

// Norms of all sizes: unit to float32's digits, also where squares leave the range of float32.
TEST(Members, OfAnySizeHaveUnitNorm) {
  for (const float size : {1e-38F, 1e-20F, 1.0F, 1e30F}) {
    MemberTrial trial = one_row({{size, -size, 2 * size}});
    const Members members(trial.task(), true);
    double squares = 0;
    for (const float each : members.of(0, 0)) squares += static_cast<double>(each) * each;
    EXPECT_NEAR(squares, 1, 3e-7) << size;
  }
}

// A member whose first row explains a value that does not change: what its solve left of 0.
MemberTrial with_noise(float noise, double output) {
  MemberTrial trial = bare_members({{{noise, -noise, 0}, {0.5F, -0.25F, 0.125F}}, {{0, 0, 0}, {1, 2, 2}}});
  for (Explanations& member : trial.members) {
    member.output = {output, 1.5};
    member.base = {output, 0.75};
  }
  return trial;
}

TEST(Members, NoiseIsNotScaledToUnitNorm) {
  // What float64 leaves, and what float32 does: one unit in the last place of 0.15.
  for (const float noise : {3e-17F, 1.5e-8F}) {
    MemberTrial trial = with_noise(noise, 0.15);
    const AggregateTask task = trial.task();
    const Members members(task, true);
    EXPECT_THAT(members.of(0, 0), ElementsAre(0, 0, 0)) << noise;
    EXPECT_TRUE(members.zero(0, 0));
    EXPECT_FALSE(members.zero(0, 1));
    Explanations made;
    note_members(task, members, made);
    EXPECT_THAT(made.notes, ElementsAre("1 of 2 rows of member 1 are zero up to rounding, and taken for all zero",
                                        "1 of 2 rows of member 2 are all zero"));
    // As they are where an aggregator takes them so.
    EXPECT_THAT(Members(task, false).of(0, 0), ElementsAre(noise, -noise, 0));
  }
}

// 2.5e-7 times 0.15 is 3.75e-8.
TEST(Members, SmallValuesAreNoNoise) {
  MemberTrial trial = with_noise(4e-8F, 0.15);
  EXPECT_FALSE(Members(trial.task(), true).zero(0, 0));
  EXPECT_NEAR(Members(trial.task(), true).of(0, 0)[0], std::sqrt(0.5), 1e-6);
  // Other units: derivatives by a feature of millions are small in all rows, and have no base.
  MemberTrial gradients = bare_members({{{1e-9F, -1e-9F}, {3e-9F, 2e-9F}}});
  gradients.members[0].output = {10, 12};
  EXPECT_FALSE(Members(gradients.task(), true).zero(0, 0));
  EXPECT_FALSE(Members(gradients.task(), true).zero(0, 1));
}

// Gradients vanish where a class is certain: small beside other rows and the output, which there is all to explain of.
TEST(Members, SmallValuesOfARowWithSomethingToExplainAreNoNoise) {
  MemberTrial trial = with_noise(1e-12F, 0.15);
  for (Explanations& member : trial.members) member.base[0] = 0.1499;
  EXPECT_FALSE(Members(trial.task(), true).zero(0, 0));
  EXPECT_NEAR(Members(trial.task(), true).of(0, 0)[0], std::sqrt(0.5), 1e-6);
}

// Output and base may differ by as much: 2.5e-7 times 0.15 again.
TEST(Members, OutputAndBaseAreEqualUpToRounding) {
  MemberTrial trial = with_noise(1.5e-8F, 0.15);
  for (Explanations& member : trial.members) member.base[0] = 0.15 + 3.7e-8;
  EXPECT_TRUE(Members(trial.task(), true).zero(0, 0));
  for (Explanations& member : trial.members) member.base[0] = 0.15 + 3.8e-8;
  EXPECT_FALSE(Members(trial.task(), true).zero(0, 0));
}

// Beside 0 nothing is small.
TEST(Members, OfAnOutputOfZeroOnlyZerosAreZero) {
  MemberTrial trial = with_noise(1e-38F, 0);
  const Members members(trial.task(), true);
  EXPECT_FALSE(members.zero(0, 0));
  EXPECT_TRUE(members.zero(1, 0));
}

// Attributions made elsewhere, without output or base: those of another member are of the same row. Where nobody says
// both, nothing is known to be noise.
TEST(Members, NoiseOfAttributionsMadeElsewhere) {
  MemberTrial trial = with_noise(1.5e-8F, 0.15);
  trial.members[0].output = {NAN, NAN};
  trial.members[0].base = {NAN, NAN};
  EXPECT_TRUE(Members(trial.task(), true).zero(0, 0));
  trial.members[1].base = {NAN, NAN};
  EXPECT_FALSE(Members(trial.task(), true).zero(0, 0));
  MemberTrial bare = bare_members({{{3e-17F, -3e-17F}, {0.5F, -0.25F}}});
  EXPECT_FALSE(Members(bare.task(), true).zero(0, 0));
  EXPECT_FALSE(Members(bare.task(), true).zero(0, 1));
}

// Whatever is beside it: the same bits alone, for noise that is cleared and for values that are only small.
TEST(Members, ARowIsTheSameAlone) {
  for (const double base : {0.15, 0.1499}) {
    MemberTrial trial = with_noise(1.5e-8F, 0.15);
    MemberTrial alone = one_row({{1.5e-8F, -1.5e-8F, 0}, {0, 0, 0}});
    for (size_t j = 0; j < 2; j++) {
      trial.members[j].base[0] = base;
      alone.members[j].output = {0.15};
      alone.members[j].base = {base};
    }
    const Members beside(trial.task(), true);
    const Members own(alone.task(), true);
    EXPECT_EQ(own.zero(0, 0), beside.zero(0, 0)) << base;
    for (size_t p = 0; p < 3; p++) EXPECT_EQ(own.of(0, 0)[p], beside.of(0, 0)[p]) << base;
  }
}

}  // namespace
}  // namespace assay::testing
