#include "assay/evaluate/joining/explanation_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "assay/evaluate/joining/explained_values.h"
#include "tests/message.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Two classes with the margins (2 a, a + b).
std::unique_ptr<Model> two_margins() {
  ModelInfo info;
  info.name = "m.onnx";
  info.feature_names = {"a", "b"};
  info.output_names = info.class_names = {"no", "yes"};
  info.unit = OutputUnit::margin;
  return model_from_function(info, [](MatrixView<const float> rows, MatrixView<float> out) {
    for (size_t i = 0; i < rows.rows(); i++) {
      out(i, 0) = 2 * rows(i, 0);
      out(i, 1) = rows(i, 0) + rows(i, 1);
    }
  });
}

struct Joined {
  std::unique_ptr<Model> model = two_margins();
  Dataset data;
  Explanations found;
  Targets targets;
};

// Rows (1, 3) and (5, 2): margins (2, 4) and (10, 7), so that they are predicted to be yes and no.
Joined joined_rows() {
  Joined made;
  made.data.source = "rows.csv";
  made.data.x = Matrix(2, 2);
  std::ranges::copy(std::initializer_list<float>{1, 3, 5, 2}, made.data.x.data());
  made.data.feature_names = {"a", "b"};
  made.data.ids = {"p1", "p2"};
  Explanations& found = made.found;
  found.values = Matrix(2, 2);
  found.features = {"a", "b"};
  found.ids = made.data.ids;
  found.target = {0, 1};
  found.target_names = {"yes", "no"};  // in the order of a table, not of the model
  found.output = {4, 10};
  found.base = {3, 2};
  found.provenance.method = "lime";
  found.provenance.target = std::string(kPredictedTarget);
  made.targets = named_targets("f.npz", found, *made.model, made.data.x.view());
  return made;
}

TEST(ExplanationChecks, ValuesAreOneUpToRounding) {
  EXPECT_TRUE(same_explained_value(1, 1.0009, 0));
  EXPECT_FALSE(same_explained_value(1, 1.0011, 0));
  EXPECT_TRUE(same_explained_value(0, 0.0009, 100));
  EXPECT_FALSE(same_explained_value(0, 0.0011, 100));
  EXPECT_FALSE(same_explained_value(kInfinity, 3, 1e9));
  EXPECT_TRUE(same_explained_value(kInfinity, kInfinity, 0));
  EXPECT_FALSE(same_explained_value(NAN, NAN, 0));
  Explanations some;
  some.output = {1, -7, NAN, kInfinity};
  EXPECT_EQ(largest_output(some), 7);
  EXPECT_EQ(row_in_words({}, 2), "row 3");
  EXPECT_EQ(row_in_words({"a\n"}, 0), "row a\\x0a");
}

TEST(ExplanationChecks, TargetsAreTheModelsOwnByName) {
  const Joined joined = joined_rows();
  EXPECT_THAT(joined.targets.of_row, ElementsAre(1, 0));
  EXPECT_TRUE(joined.targets.predicted);
  Explanations other = joined.found;
  other.target_names = {"yes", "maybe"};
  EXPECT_EQ(sentence([&] { named_targets("f.npz", other, *joined.model, joined.data.x.view()); }),
            "f.npz: expected targets of m.onnx: no or yes, found 'maybe'");
}

TEST(ExplanationChecks, ExplainedValuesAreTheModelsOwn) {
  Joined joined = joined_rows();
  EXPECT_THAT(explained_values(*joined.model, joined.data, joined.targets, {}), ElementsAre(4, 10));
  const auto check = [&] {
    return check_explained_values("f.npz", joined.found, *joined.model, joined.data, joined.targets, "; advice", {});
  };
  EXPECT_EQ(check(), 0U);
  joined.found.output[0] = NAN;
  EXPECT_EQ(check(), 1U);
  joined.found.output[1] = 7;
  EXPECT_EQ(
      sentence(check),
      "f.npz: the explained value of row p2 is 7, and m.onnx gives 10 for it in rows.csv: the explanations are of "
      "another model, of other rows or of another unit; advice");
}

TEST(ExplanationChecks, ManyRowsKeepTheirPlaces) {
  // More than are predicted at a time. Row i is (i, 1): margins (2 i, i + 1), so that class 1 has i + 1.
  constexpr size_t kRows = 20000;
  Joined joined = joined_rows();
  joined.data.x = Matrix(kRows, 2);
  for (size_t i = 0; i < kRows; i++) {
    joined.data.x(i, 0) = static_cast<float>(i);
    joined.data.x(i, 1) = 1;
  }
  const Targets yes = freeze_targets(*joined.model, joined.data.x.view(), {.predicted = false, .which = 1}, {});
  const std::vector<double> values = explained_values(*joined.model, joined.data, yes, {});
  Reference reference;
  reference.rows = joined.data.x;
  const Matrix outputs = reference_outputs(*joined.model, reference, {});
  for (size_t i = 0; i < kRows; i++) {
    ASSERT_EQ(values[i], static_cast<double>(i + 1));
    ASSERT_EQ(outputs(i, 0), static_cast<float>(2 * i));
  }
}

TEST(ExplanationChecks, RowsAreAsManyAndOfTheSameNames) {
  Joined joined = joined_rows();
  const auto check = [&] { check_explained_rows("f.npz", joined.found, joined.data, "; advice"); };
  EXPECT_EQ(message_of(check), "no error");
  joined.found.ids = {"p1", "p3"};
  EXPECT_EQ(sentence(check), "f.npz: expected 'p2' as row 2, as in rows.csv, found 'p3'");
  joined.found.ids.clear();
  EXPECT_EQ(message_of(check), "no error");
  joined.found.values = Matrix(3, 2);
  joined.found.provenance.data = "other.csv";
  EXPECT_EQ(sentence(check), "f.npz: expected 2 rows, one for each of rows.csv, found 3 (made of other.csv); advice");
}

TEST(ExplanationChecks, PlayersAreAsManyAndOfTheSameNames) {
  const Joined joined = joined_rows();
  const auto check = [&](const std::vector<std::string>& names) {
    return message_of([&] { check_player_names("f.npz", joined.found, names, "rows.csv", "; advice"); });
  };
  EXPECT_EQ(check({"a", "b"}), "no error");
  EXPECT_EQ(check({"0", "1"}), "no error");  // an array made elsewhere knows no names
  EXPECT_EQ(check({"a", "c"}), "f.npz: expected 'c' as player 2, as in rows.csv, found 'b'; advice");
  EXPECT_EQ(check({"a"}), "f.npz: expected 1 columns, one for each player of rows.csv, found 2; advice");
}

// A model of LightGBM has underscores where its table has spaces; other libraries keep the table's names.
TEST(ExplanationChecks, SpacesOfNamesMayBeUnderscores) {
  Joined joined = joined_rows();
  const auto check = [&](const std::vector<std::string>& found, const std::vector<std::string>& names) {
    joined.found.features = found;
    return message_of([&] { check_player_names("f.npz", joined.found, names, "rows.csv"); });
  };
  EXPECT_EQ(check({"petal width", "b"}, {"petal_width", "b"}), "no error");
  EXPECT_EQ(check({"b", "petal width"}, {"petal_width", "b"}),
            "f.npz: expected 'petal_width' as player 1, as in rows.csv, found 'b'");
  EXPECT_EQ(check({"a b", "a_b"}, {"a_b", "a b"}), "f.npz: expected 'a_b' as player 1, as in rows.csv, found 'a b'");
}

TEST(ExplanationChecks, TwoFilesAreOfTheSame) {
  const Joined joined = joined_rows();
  const auto check = [&](const Explanations& other) {
    return message_of([&] { check_explained_alike("g.npz", other, "f.npz", joined.found); });
  };
  EXPECT_EQ(check(joined.found), "no error");
  Explanations other = joined.found;
  other.target = {1, 0};
  other.target_names = {"no", "yes"};
  EXPECT_EQ(check(other), "no error");
  other.target = {1, 1};
  EXPECT_EQ(check(other), "g.npz: expected the target 'no' in row 2, as in 'f.npz', found 'yes'");
  other.ids = {"p0", "p2"};
  EXPECT_EQ(check(other), "g.npz: expected the id 'p1' in row 1, as in 'f.npz', found 'p0'");
}

TEST(ExplanationChecks, UnitsAreKnownOrUnsaid) {
  Explanations found;
  EXPECT_EQ(message_of([&] { check_explained_unit("f.npz", found); }), "no error");
  found.provenance.unit = "log_odds";
  EXPECT_EQ(message_of([&] { check_explained_unit("f.npz", found); }), "no error");
  found.provenance.unit = "inches";
  EXPECT_THAT(sentence([&] { check_explained_unit("f.npz", found); }), HasSubstr("found 'inches'"));
}

TEST(ExplanationChecks, WhatCouldNotBeCheckedIsNoted) {
  Explanations found = joined_rows().found;
  EXPECT_FALSE(unchecked_note("f.npz", found, 0).has_value());
  EXPECT_EQ(unchecked_note("f.npz", found, 1),
            "f.npz says no explained value for 1 of 2 rows, which could not be checked against the model");
  found.target.clear();
  found.provenance.method.clear();
  EXPECT_FALSE(unchecked_note("f.npz", found, 1).has_value());
}

TEST(ExplanationChecks, ABaseOfAnotherReferenceShows) {
  Joined joined = joined_rows();
  Reference reference;
  reference.description = "mean of pool.csv";
  reference.rows = Matrix(2, 2);  // (0, 0) and (2, 4): margins (0, 0) and (4, 6), means 2 and 3
  std::ranges::copy(std::initializer_list<float>{0, 0, 2, 4}, reference.rows.data());
  EXPECT_THAT(base_values(*joined.model, joined.data, joined.targets, reference, {}), ElementsAre(3, 2));
  const auto note = [&] {
    return other_reference(joined.found, *joined.model, joined.data, joined.targets, reference, {});
  };
  EXPECT_FALSE(note().has_value());
  joined.found.base = {NAN, 5};
  joined.found.provenance.reference = "zero";
  EXPECT_EQ(note(),
            "explained against another reference (zero): its base for row p2 is 5, that of mean of pool.csv is 2");
}

}  // namespace
}  // namespace assay::testing
