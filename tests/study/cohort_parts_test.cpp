// How columns are cut: small ones by hand, and the partition as a property of random ones.
#include "assay/study/cohort_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "assay/core/random.h"

namespace assay {
namespace {

using ::testing::ElementsAre;

RowColumn numbers(std::vector<double> values) { return {.name = "n", .values = std::move(values)}; }

RowColumn texts(std::vector<std::string> levels, std::vector<double> codes) {
  return {.name = "t", .kind = ColumnKind::categorical, .values = std::move(codes), .levels = std::move(levels)};
}

TEST(CohortParts, NumbersAreCutAtTheirQuartiles) {
  // A quarter of 8 rows is 2: the least numbers that 2, 4 and 6 rows do not exceed are 20, 40 and 60.
  const ColumnParts made = column_parts(numbers({80, 10, 20, 30, 40, 50, 60, 70}));
  EXPECT_EQ(made.cut, CohortCut::quantiles);
  EXPECT_THAT(made.names, ElementsAre("up to 20", "above 20, up to 40", "above 40, up to 60", "above 60"));
  EXPECT_THAT(made.of_row, ElementsAre(3, 0, 0, 1, 1, 2, 2, 3));
}

TEST(CohortParts, EqualNumbersStayTogether) {
  const ColumnParts most_low = column_parts(numbers({0, 0, 0, 0, 0, 0, 1, 2, 3, 4}));
  EXPECT_THAT(most_low.names, ElementsAre("up to 0", "above 0, up to 2", "above 2"));
  EXPECT_THAT(most_low.of_row, ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 2, 2));
  // All quartiles are the largest number: it is cut from what is below it.
  const ColumnParts most_high = column_parts(numbers({1, 2, 3, 4, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}));
  EXPECT_THAT(most_high.names, ElementsAre("up to 4", "above 4"));
}

TEST(CohortParts, FewNumbersAreLevels) {
  const ColumnParts made = column_parts(numbers({2, 0, NAN, 0.5, 2}));
  EXPECT_EQ(made.cut, CohortCut::levels);
  EXPECT_THAT(made.names, ElementsAre("0", "0.5", "2", "missing"));
  EXPECT_THAT(made.of_row, ElementsAre(2, 0, 3, 1, 2));
  // A double that float32 would round has all its digits.
  EXPECT_THAT(column_parts(numbers({0.1, 16777217})).names, ElementsAre("0.1", "16777217"));
}

TEST(CohortParts, LevelsWithoutRowsAreLeftOut) {
  const ColumnParts made = column_parts(texts({"a", "b", "c"}, {2, 2, 0, NAN}));
  EXPECT_THAT(made.names, ElementsAre("a", "c", "missing"));
  EXPECT_THAT(made.of_row, ElementsAre(1, 1, 0, 2));
}

TEST(CohortParts, RareLevelsAreOnePart) {
  std::vector<std::string> levels;
  std::vector<double> codes;
  for (size_t level = 0; level < 20; level++) {
    levels.push_back("level " + std::to_string(level));
    const size_t rows = level % 2 == 0 ? 5 : 1;  // ten of five rows, ten of one: level 1 is the first of those
    for (size_t i = 0; i < rows; i++) codes.push_back(static_cast<double>(level));
  }
  const ColumnParts made = column_parts(texts(levels, codes));
  ASSERT_EQ(made.names.size(), 12);
  EXPECT_THAT(std::vector(made.names.begin(), made.names.begin() + 3), ElementsAre("level 0", "level 1", "level 2"));
  EXPECT_EQ(made.names.back(), "9 other levels");
  EXPECT_EQ(std::ranges::count(made.of_row, 11U), 9);
}

TEST(CohortParts, NamesOfPartsAreNotThoseOfLevels) {
  const ColumnParts made = column_parts(texts({"missing", "x"}, {0, 1, NAN}));
  EXPECT_THAT(made.names, ElementsAre("missing", "x", "(missing)"));
}

// Every row is in one part, every part has a row, names differ, and of numbers no part reaches into the next.
TEST(CohortParts, ArePartitions) {
  for (uint32_t trial = 0; trial < 300; trial++) {
    RandomStream random(3, "columns to cut", 0, trial);
    const bool of_numbers = trial % 2 == 0;
    const uint32_t different = 1 + random.below(30);
    RowColumn column = of_numbers ? numbers({}) : texts({}, {});
    for (uint32_t level = 0; level < different && !of_numbers; level++) column.levels.push_back(std::to_string(level));
    const uint32_t rows = 1 + random.below(60);
    for (uint32_t row = 0; row < rows; row++) {
      column.values.push_back(random.below(8) == 0 ? NAN : static_cast<double>(random.below(different)));
    }
    const ColumnParts made = column_parts(column);
    ASSERT_EQ(made.of_row.size(), rows);
    EXPECT_EQ(std::set<uint32_t>(made.of_row.begin(), made.of_row.end()).size(), made.names.size());
    EXPECT_LT(*std::ranges::max_element(made.of_row), made.names.size());
    EXPECT_EQ(std::set<std::string>(made.names.begin(), made.names.end()).size(), made.names.size());
    for (uint32_t a = 0; a < rows; a++) {
      EXPECT_EQ(std::isnan(column.values[a]), made.names[made.of_row[a]] == "missing");
      for (uint32_t b = 0; b < rows && of_numbers; b++) {
        EXPECT_TRUE(!(column.values[a] < column.values[b]) || made.of_row[a] <= made.of_row[b]);
        EXPECT_TRUE(column.values[a] != column.values[b] || made.of_row[a] == made.of_row[b]);
      }
    }
  }
}

}  // namespace
}  // namespace assay
