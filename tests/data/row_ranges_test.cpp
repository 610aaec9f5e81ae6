#include "assay/data/row_ranges.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/message.h"

namespace assay {
namespace {

TEST(RowRanges, KeepTheirOrderAndCountFromOne) {
  EXPECT_EQ(rows_from_ranges("--rows", "3,1-2,2", 3), (std::vector<size_t>{2, 0, 1, 1}));
  EXPECT_EQ(rows_from_ranges("--rows", "7-7", 7), (std::vector<size_t>{6}));
}

TEST(RowRanges, AnythingElseIsRefused) {
  for (const char* bad : {"", ",", "1,", "0", "0-1", "2-1", "4", "1-4", "-1", "1-", "1-2-3", "+1", "1 ", "a", "1.5",
                          "99999999999999999999"}) {
    const std::string sentence = message_of([&] { rows_from_ranges("--rows", bad, 3); });
    EXPECT_EQ(sentence.substr(0, 40), "--rows: expected rows from 1 to 3, as in") << bad;
  }
}

TEST(RowRanges, WordsAreJudgedWithoutATable) {
  EXPECT_FALSE(no_row_range("1,5,10-20"));
  EXPECT_FALSE(no_row_range("0,7-3"));  // of no table either, but ranges all the same
  EXPECT_EQ(no_row_range("1,x,-1"), "x");
  EXPECT_EQ(no_row_range(""), "");
}

// A megabyte of "1-1000000," would name a hundred billion rows.
TEST(RowRanges, ManyTimesAllRowsIsRefused) {
  std::string often = "1-70000";
  EXPECT_EQ(rows_from_ranges("--rows", often, 70000).size(), 70000U);
  EXPECT_EQ(message_of([&] { rows_from_ranges("--rows", often + ",1", 70000); }),
            "--rows: expected at most 70000 rows, found more");
  EXPECT_EQ(rows_from_ranges("--rows", "1-3,1-3,1-3", 3).size(), 9U);
}

}  // namespace
}  // namespace assay
