#include "assay/model/train/training_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "assay/data/io/csv.h"
#include "tests/message.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Table table_of(const std::string& text, const std::string& label = "y") {
  TableOptions options;
  options.label = label;
  return read_csv([&] { return memory_bytes("t.csv", text); }, options);
}

TEST(TrainingRows, AreEncodedAsAsked) {
  const Table training = table_of("a,b,y\n1,x,no\n,z,yes\n5,x,no\n");
  const TrainingRows rows = training_rows(training, nullptr, kDefaultEncoding);
  EXPECT_THAT(rows.data.x.values(), ElementsAre(1, 0, 3, 1, 5, 0));  // missing: the mean of 1 and 5
  EXPECT_THAT(rows.data.labels, ElementsAre(0, 1, 0));
  EXPECT_FALSE(rows.held_out.has_value());
  EXPECT_THAT(training_rows(training, nullptr, "one_hot:impute=constant:constant=7").data.x.values(),
              ElementsAre(1, 1, 0, 7, 0, 1, 5, 1, 0));
}

TEST(TrainingRows, HeldOutRowsFitNothing) {
  // Every held-out row has another category, class or number than the training rows.
  const Table training = table_of("a,b,y\n1,x,no\n,z,yes\n5,x,no\n");
  const Table beyond = table_of("a,b,y\n100,w,no\n200,y,never\n,x,yes\n");
  for (const std::string encode : {"label:impute=mean", "one_hot:impute=median:scale=standardise",
                                   "one_hot:impute=mode:scale=min_max", "label:missing_level=false"}) {
    const TrainingRows alone = training_rows(training, nullptr, encode);
    const TrainingRows beside = training_rows(training, &beyond, encode);
    EXPECT_EQ(alone.encoder.to_json(), beside.encoder.to_json()) << encode;
    EXPECT_THAT(alone.notes, IsEmpty());
  }
  const TrainingRows rows = training_rows(training, &beyond, kDefaultEncoding);
  EXPECT_EQ(rows.encoder.columns()[0].fill, 3);  // the mean of 1 and 5
  EXPECT_THAT(rows.encoder.columns()[1].levels, ElementsAre("x", "z"));
  EXPECT_THAT(rows.encoder.class_names(), ElementsAre("no", "yes"));
  // The row of class "never" is left out; the missing number of the other is the mean of the training rows.
  ASSERT_TRUE(rows.held_out.has_value());
  EXPECT_THAT(rows.held_out->x.values(), ElementsAre(100, 2, 3, 0));
  EXPECT_THAT(rows.held_out->labels, ElementsAre(0, 1));
  EXPECT_THAT(rows.notes,
              ElementsAre("2 of the 3 rows of t.csv have a category of column 'b' that no training row has: it is "
                          "taken for unknown",
                          "1 of the 3 rows of t.csv has a class that no training row has: no accuracy counts it"));
}

TEST(TrainingRows, HeldOutRowsMayAllBeOfUnknownClasses) {
  const Table training = table_of("a,y\n1,no\n2,yes\n");
  const Table beyond = table_of("a,y\n3,never\n");
  const TrainingRows rows = training_rows(training, &beyond, "label");
  EXPECT_FALSE(rows.held_out.has_value());
  EXPECT_EQ(rows.notes.size(), 1U);
}

TEST(TrainingRows, HeldOutRowsDoNotMakeClassesValues) {
  // Whole numbers are classes. One half among the held-out labels is a class that is not known, not a regression.
  const Table training = table_of("a,y\n1,0\n2,1\n3,0\n");
  const Table beyond = table_of("a,y\n3,0.5\n4,1\n");
  const TrainingRows rows = training_rows(training, &beyond, "label");
  EXPECT_THAT(rows.data.class_names, ElementsAre("0", "1"));
  EXPECT_THAT(rows.held_out->labels, ElementsAre(1));
}

TEST(TrainingRows, WhatIsWrongIsNamedInTheUsersWords) {
  const Table bare = table_of("a,b\n1,2\n", "");
  EXPECT_EQ(sentence([&] { training_rows(bare, nullptr, "label"); }),
            "t.csv: expected a column of labels to predict; label names it, found none");
  EXPECT_EQ(sentence([&] { require_labels(bare, "--label"); }),
            "t.csv: expected a column of labels to predict; --label names it, found none");
  const Table good = table_of("a,y\n1,no\n2,yes\n");
  const auto refusal = [&](const std::string& encode, const TrainingWords& words) {
    return sentence([&] { training_rows(good, nullptr, encode, words); });
  };
  EXPECT_EQ(refusal("label:categorical=one_hot", {}),
            "encode: expected label or one_hot as the name alone, found an option categorical too");
  EXPECT_THAT(refusal("ordinal", {}), HasSubstr("encode ordinal"));
  EXPECT_THAT(refusal("ordinal", {.encode = "--encode"}), HasSubstr("--encode ordinal"));
  EXPECT_THAT(refusal("label:scale=big", {}), HasSubstr("'big'"));
}

}  // namespace
}  // namespace assay::testing
