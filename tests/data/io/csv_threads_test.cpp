// A table is the same, and so is the sentence about what is wrong with it, on any number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <string>
#include <vector>

#include "assay/core/random.h"
#include "assay/data/io/csv.h"
#include "tests/message.h"

namespace assay {
namespace {

struct ReadTable {
  Table table;
  KeptDoubles doubles;
};

ReadTable read_on(unsigned threads, const std::string& text, TableOptions options = {}) {
  ReadTable out;
  options.doubles = &out.doubles;
  Context context;
  context.threads = threads;
  out.table = read_csv([&] { return memory_bytes("t.csv", text); }, options, context);
  return out;
}

void expect_same(const ReadTable& a, const ReadTable& b) {
  ASSERT_EQ(a.table.rows(), b.table.rows());
  ASSERT_EQ(a.table.columns.size(), b.table.columns.size());
  for (size_t j = 0; j < a.table.columns.size(); j++) {
    const Column& left = a.table.columns[j];
    const Column& right = b.table.columns[j];
    EXPECT_EQ(left.name, right.name);
    EXPECT_EQ(left.kind, right.kind);
    EXPECT_EQ(left.levels, right.levels);
    EXPECT_EQ(left.rounded, right.rounded);
  }
  EXPECT_EQ(a.table.ids, b.table.ids);
  const auto same_bits = [](float x, float y) { return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y); };
  EXPECT_TRUE(std::ranges::equal(a.table.values.values(), b.table.values.values(), same_bits));
  ASSERT_EQ(a.doubles.columns().size(), b.doubles.columns().size());
  for (const auto& [name, cells] : a.doubles.columns()) {
    const std::vector<double>* other = b.doubles.find(name);
    ASSERT_NE(other, nullptr) << name;
    const auto same = [](double x, double y) { return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y); };
    EXPECT_TRUE(std::ranges::equal(cells, *other, same)) << name;
  }
}

// About three megabytes, so that several blocks of several parts are read: an id, numbers of which some are missing,
// some too long for float32 and some beyond 2^24, words, and words in quotes with line ends inside. `line` is asked for
// every row and may give another one in its place.
std::string large_table(bool quotes, const std::string& end,
                        const std::function<std::string(size_t, const std::string&)>& line = {}) {
  RandomStream random(31, "threads");
  std::string text = "name,small,long,large,word,note" + end;
  for (size_t i = 0; i < 60000; i++) {
    std::string row = "r" + std::to_string(i) + ',' + std::to_string(random.below(100));
    row += random.below(50) == 0 ? ",NA" : ",0." + std::to_string(random.bits64() >> 8);
    // The first thousands of rows are exact as float32.
    row += i < 20000 ? ",7" : "," + std::to_string(16777000 + random.below(1000));
    row += ",w" + std::to_string(random.below(3000));
    row += quotes && random.below(3) == 0 ? ",\"a, \"\"b\"\"\nc\"" : ",x";
    if (random.below(500) == 0) row += end;
    text += (line ? line(i, row) : row) + end;
  }
  return text;
}

TableOptions named_rows() {
  TableOptions options;
  options.id = "name";
  return options;
}

TEST(CsvThreads, TheTableIsTheSame) {
  for (const bool quotes : {false, true}) {
    for (const std::string end : {"\n", "\r\n", "\r"}) {
      const std::string text = large_table(quotes, end);
      const ReadTable one = read_on(1, text, named_rows());
      EXPECT_EQ(one.table.rows(), 60000u);
      EXPECT_GT(one.table.columns[2].rounded, 0u);
      EXPECT_NE(one.doubles.find("long"), nullptr);
      for (const unsigned threads : {2u, 5u}) expect_same(one, read_on(threads, text, named_rows()));
    }
  }
}

// The index that pandas writes is left out beside an id: columns behind it have other places in the file than in the
// table.
TEST(CsvThreads, AnIndexThatIsLeftOut) {
  std::string text = large_table(false, "\n");
  std::string indexed;
  size_t row = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at) + 1;
    if (end - at > 1) indexed += (row == 0 ? "," : std::to_string(row - 1) + ",") + text.substr(at, end - at);
    row += end - at > 1 ? 1 : 0;
    at = end;
  }
  const ReadTable expected = read_on(1, text, named_rows());
  for (const unsigned threads : {1U, 2U, 5U}) expect_same(expected, read_on(threads, indexed, named_rows()));
}

TEST(CsvThreads, AColumnThatTurnsOutCategoricalLateIsReadAgain) {
  const auto words = [](size_t i, const std::string& row) {
    if (i == 41000) return std::string("r,word,1,2,w,x");
    return i == 41001 ? std::string("r,1,word,2,w,x") : row;
  };
  const std::string text = large_table(false, "\n", words);
  const ReadTable one = read_on(1, text, named_rows());
  EXPECT_EQ(one.table.columns[0].kind, ColumnKind::categorical);
  EXPECT_EQ(one.table.columns[1].kind, ColumnKind::categorical);
  EXPECT_EQ(one.table.columns[2].kind, ColumnKind::numeric);
  expect_same(one, read_on(3, text, named_rows()));
}

TEST(CsvThreads, NumbersThatStandForMissingCells) {
  TableOptions options = named_rows();
  options.missing = {"7", "w5"};
  const std::string text = large_table(false, "\n");
  expect_same(read_on(1, text, options), read_on(2, text, options));
}

// Wrong rows early, in the middle and at the end, and two of them, of which the first is told.
TEST(CsvThreads, TheSentenceIsTheSame) {
  const std::vector<std::string> wrong{
      "r,1,2,3",         "r,1,2,3,w,x,y",  "r,1,2,3,\"w\"z,x", "r,1,2,3,w,\"x",
      "r,1,2,3,w\xFF,x", "r,1,2,word,w,x", "r,1,2,1e39,w,x",   std::string("r,\0,2,3,w,x", 11)};
  TableOptions options = named_rows();
  options.numeric = {"large"};
  for (const bool quotes : {false, true}) {
    for (size_t i = 0; i < wrong.size(); i++) {
      for (const size_t place : {1500u, 30011u, 59999u}) {
        const auto spoilt = [&](size_t row, const std::string& sound) {
          if (row == place) return wrong[i];
          return row == place + 3000 ? wrong[(i + 1) % wrong.size()] : sound;
        };
        const std::string text = large_table(quotes, "\n", spoilt);
        const std::string one = sentence([&] { read_on(1, text, options); });
        EXPECT_NE(one, "no error");
        EXPECT_EQ(sentence([&] { read_on(2, text, options); }), one);
        EXPECT_EQ(sentence([&] { read_on(7, text, options); }), one);
      }
    }
  }
}

// Line numbers by hand: the header is line 1, and a quoted cell with a line end makes its row two lines long.
TEST(CsvThreads, LinesAreCountedThroughAllParts) {
  std::string text = "a,b\r\n";
  for (int i = 0; i < 100000; i++) text += "1,\"x\ny\"\r\n\r\n";
  text += "1\r\n";
  for (const unsigned threads : {1u, 2u}) {
    EXPECT_EQ(message_of([&] { read_on(threads, text); }),
              "t.csv, line 300002: expected 2 cells as in line 1, found 1");
  }
}

TEST(CsvThreads, RowsLongerThanABlock) {
  const std::string longest(3000000, 'x');
  const std::string text = "a,b\n" + longest + ",1\ny,2\n\"" + longest + "\",3\n";
  const ReadTable one = read_on(1, text);
  EXPECT_EQ(one.table.rows(), 3u);
  EXPECT_EQ(one.table.columns[0].levels.size(), 2u);
  expect_same(one, read_on(2, text));
}

TEST(CsvThreads, CancellationStopsReading) {
  const std::atomic<bool> cancelled{true};
  const std::string text = large_table(false, "\n");
  for (const unsigned threads : {1u, 2u}) {
    Context context;
    context.threads = threads;
    context.cancelled = &cancelled;
    EXPECT_EQ(message_of([&] { read_csv([&] { return memory_bytes("t", text); }, {}, context); }), "interrupted");
  }
}

}  // namespace
}  // namespace assay
