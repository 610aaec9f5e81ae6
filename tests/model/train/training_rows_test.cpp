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

TEST(TrainingRows, ACategoryOfHeldOutRowsAloneIsKnown) {
  const Table training = table_of("a,b,y\n1,x,no\n2,z,yes\n");
  const Table alike = table_of("a,b,y\n3,z,no\n");
  const TrainingRows same = training_rows(training, &alike, "label");
  EXPECT_THAT(same.encoder.columns()[1].levels, ElementsAre("x", "z"));
  EXPECT_THAT(same.held_out->x.values(), ElementsAre(3, 1));

  const Table beyond = table_of("a,b,y\n3,w,no\n");
  const TrainingRows more = training_rows(training, &beyond, "label");
  EXPECT_EQ(more.encoder.columns()[1].levels.size(), 3U);
  EXPECT_EQ(more.data.rows(), 2U);
  ASSERT_EQ(more.held_out->rows(), 1U);
  EXPECT_NE(more.held_out->x(0, 1), more.data.x(0, 1));
  EXPECT_NE(more.held_out->x(0, 1), more.data.x(1, 1));
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
