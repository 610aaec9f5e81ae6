#include "assay/data/unseen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "assay/data/io/csv.h"
#include "tests/message.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Table table(const std::string& text, const std::string& label = "y") {
  TableOptions options;
  options.label = label;
  return read_csv([&] { return memory_bytes("t.csv", text); }, options);
}

// Categories x and z; classes no and yes.
const char* const kTraining = "a,b,y\n1,x,no\n2,z,yes\n";

Encoder fitted(const std::string& encode, const char* training = kTraining) {
  return Encoder::fit(table(training), encoder_options("--encode", encode));
}

std::vector<float> row(const Dataset& data, size_t i) { return {data.x.row(i).begin(), data.x.row(i).end()}; }

TEST(Unseen, ACodeBehindAllOthers) {
  const Encoder encoder = fitted("label");
  // y lies between x and z: a list of all three would have moved z from 1 to 2.
  const Dataset data = apply_with_unknown(encoder, table("a,b,y\n3,z,no\n4,y,no\n5,x,yes\n6,w,yes\n"));
  EXPECT_THAT(row(data, 0), ElementsAre(3, 1));
  EXPECT_THAT(row(data, 1), ElementsAre(4, 2));
  EXPECT_THAT(row(data, 2), ElementsAre(5, 0));
  EXPECT_THAT(row(data, 3), ElementsAre(6, 2));
  EXPECT_THAT(data.labels, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(data.groups[1].levels, ElementsAre("x", "z", "unknown"));
  const auto found = unknown_categories(data);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].feature, "b");
  EXPECT_EQ(found[0].rows, 2U);
  EXPECT_THAT(
      unknown_in_words(data, 0),
      ElementsAre("2 of the 4 rows of t.csv have a category of column 'b' that no training row has: it is taken "
                  "for unknown"));
}

TEST(Unseen, NoOneHotColumnIsSet) {
  const Dataset data = apply_with_unknown(fitted("one_hot"), table("a,b,y\n3,z,no\n4,w,no\n"));
  EXPECT_THAT(row(data, 0), ElementsAre(3, 0, 1));
  EXPECT_THAT(row(data, 1), ElementsAre(4, 0, 0));
  EXPECT_THAT(data.groups[1].levels, ElementsAre("x", "z"));
  EXPECT_EQ(unknown_categories(data).at(0).rows, 1U);

  const Dataset single =
      apply_with_unknown(fitted("one_hot", "a,b,y\n1,x,no\n2,x,yes\n"), table("a,b,y\n3,x,no\n4,w,no\n"));
  EXPECT_THAT(row(single, 0), ElementsAre(3, 1));
  EXPECT_THAT(row(single, 1), ElementsAre(4, 0));
  EXPECT_EQ(unknown_categories(single).at(0).rows, 1U);
}

TEST(Unseen, IsNotTheSameAsMissing) {
  const char* const training = "a,b,y\n1,x,no\n2,x,no\n3,unknown,yes\n4,,yes\n";
  const Table rows = table("a,b,y\n5,w,no\n6,,no\n7,unknown,no\n");
  const Dataset level = apply_with_unknown(fitted("label", training), rows);
  EXPECT_THAT(level.groups[1].levels, ElementsAre("missing", "unknown", "x", "(unknown)"));
  EXPECT_EQ(level.x(0, 1), 3);
  EXPECT_EQ(level.x(1, 1), 0);
  EXPECT_EQ(level.x(2, 1), 1);
  // A missing category takes the mode; an unknown one does not.
  const Dataset filled = apply_with_unknown(fitted("label:impute=mean", training), rows);
  EXPECT_EQ(filled.x(0, 1), 2);
  EXPECT_EQ(filled.x(1, 1), 1);
  const Dataset hot = apply_with_unknown(fitted("one_hot:missing_level=false", training), rows);
  EXPECT_THAT(row(hot, 0), ElementsAre(5, 0, 0));
  EXPECT_TRUE(std::isnan(hot.x(1, 1)) && std::isnan(hot.x(1, 2)));
}

TEST(Unseen, AClassThatIsNotKnownIsAMissingLabel) {
  const Encoder encoder = fitted("label");
  const Table rows = table("a,b,y\n3,z,perhaps\n4,x,no\n5,x,\n6,w,never\n");
  EXPECT_THAT(rows_of_unknown_class(encoder, rows), ElementsAre(0, 3));
  const Dataset data = apply_with_unknown(encoder, rows);
  EXPECT_TRUE(std::isnan(data.labels[0]) && std::isnan(data.labels[2]) && std::isnan(data.labels[3]));
  EXPECT_EQ(data.labels[1], 0);
  EXPECT_THAT(unknown_in_words(data, 2),
              ElementsAre("1 of the 4 rows of t.csv has a category of column 'b' that no training row has: it is taken "
                          "for unknown",
                          "2 of the 4 rows of t.csv have a class that no training row has: no accuracy counts them"));
  // Without labels, and for a regression, no class is unknown.
  EXPECT_THAT(rows_of_unknown_class(encoder, table("a,b\n1,x\n", "")), IsEmpty());
  EXPECT_THAT(rows_of_unknown_class(fitted("label:task=regression", "a,b,y\n1,x,1\n2,x,2\n"), table("a,b,y\n1,x,3\n")),
              IsEmpty());
}

TEST(Unseen, WhatIsKnownIsEncodedAsEver) {
  const Encoder encoder = fitted("label:impute=mean:scale=standardise", "a,b,y\n1,x,no\n,z,yes\n5,x,no\n");
  const Table rows = table("a,b,y\n3,z,no\n,,yes\n9,x,no\n");
  const Dataset plain = encoder.apply(rows), tolerant = apply_with_unknown(encoder, rows);
  for (size_t i = 0; i < rows.rows(); ++i) EXPECT_EQ(row(plain, i), row(tolerant, i));
  EXPECT_EQ(plain.labels, tolerant.labels);
  EXPECT_THAT(unknown_categories(tolerant), IsEmpty());
  EXPECT_THAT(unknown_in_words(tolerant, 0), IsEmpty());
}

TEST(Unseen, OtherMistakesAreErrorsStill) {
  const Encoder encoder = fitted("label");
  EXPECT_EQ(message_of([&] { apply_with_unknown(encoder, table("a,y\n1,no\n")); }),
            "t.csv: there is no column 'b', which the model needs (did you mean 'a'?)");
  EXPECT_EQ(message_of([&] { apply_with_unknown(encoder, table("a,b,y\none,x,no\n")); }),
            "t.csv, row 1, column 'a': expected a number, found 'one'");
}

}  // namespace
}  // namespace assay
