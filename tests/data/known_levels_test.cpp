#include "assay/data/known_levels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/message.h"

namespace assay::testing {
namespace {

using ::testing::HasSubstr;

Column numbers() { return {.name = "c"}; }
Column texts(std::vector<std::string> levels) {
  return {.name = "c", .kind = ColumnKind::categorical, .levels = std::move(levels)};
}

TEST(KnownLevels, TextsAreLookedUpAsTheyAre) {
  const KnownLevels levels({"b", "007", "1.0"});
  EXPECT_EQ(levels.find(texts({"007", "7", "b"}), 0), 1U);
  EXPECT_EQ(levels.find(texts({"007", "7", "b"}), 1), std::nullopt);
  EXPECT_EQ(levels.find(texts({"007", "7", "b"}), 2), 0U);
}

TEST(KnownLevels, NumbersAreLookedUpByTheirShortestText) {
  const KnownLevels levels({"7", "0.5", "100"});
  EXPECT_EQ(levels.find(numbers(), 7), 0U);
  EXPECT_EQ(levels.find(numbers(), 0.5F), 1U);
  EXPECT_EQ(levels.find(numbers(), 8), std::nullopt);
  // Where all are numbers in the shortest form, so are other spellings of them, unless float32 does not hold them.
  EXPECT_EQ(levels.find(texts({"1e2", "007"}), 0), 2U);
  EXPECT_EQ(levels.find(texts({"1e2", "007"}), 1), 0U);
  EXPECT_EQ(KnownLevels({"16777216"}).find(texts({"16777217"}), 0), std::nullopt);
}

TEST(TruthWords, AreSpeltAsInTheColumn) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(truth_words({"False", "True"}), (Words{"False", "True"}));
  EXPECT_EQ(truth_words({"TRUE"}), (Words{"FALSE", "TRUE"}));
  EXPECT_EQ(truth_words({"false"}), (Words{"false", "true"}));
  EXPECT_EQ(truth_words({"True"}), (Words{"False", "True"}));
  EXPECT_TRUE(truth_words({"False", "True", "true"}).empty()) << "two spellings of one";
  EXPECT_TRUE(truth_words({"False", "maybe"}).empty());
  EXPECT_TRUE(truth_words({}).empty());
}

TEST(KnownLevels, TruthIsAWordOrANumber) {
  const KnownLevels both({"False", "True"});
  EXPECT_EQ(both.find(numbers(), 0), 0U);
  EXPECT_EQ(both.find(numbers(), 1), 1U);
  EXPECT_EQ(both.find(numbers(), 2), std::nullopt);
  EXPECT_EQ(both.find(texts({"True"}), 0), 1U);
  EXPECT_EQ(KnownLevels({"TRUE"}).find(numbers(), 1), 0U);
  EXPECT_EQ(KnownLevels({"TRUE"}).find(numbers(), 0), std::nullopt);
  EXPECT_EQ(KnownLevels({"True", "maybe"}).find(numbers(), 1), std::nullopt);
}

TEST(KnownLevels, ASpellingThatNumbersLoseIsRefused) {
  Table table;
  table.source = "t.csv";
  table.columns = {numbers()};
  table.values = Matrix(1, 1);
  KnownLevels({"7", "8"}).check(table, 0);
  EXPECT_THAT(sentence([&] { KnownLevels({"007"}).check(table, 0); }),
              HasSubstr("t.csv: column 'c' was read as numbers, and the model knows the category '007'"));
  table.columns[0].rounded = 1;
  EXPECT_THAT(sentence([&] { KnownLevels({"7"}).check(table, 0); }), HasSubstr("holds numbers beyond 2^24"));
}

}  // namespace
}  // namespace assay::testing
