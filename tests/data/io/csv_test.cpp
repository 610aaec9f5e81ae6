#include "assay/data/io/csv.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "assay/core/random.h"
#include "assay/data/io/csv_rows.h"
#include "tests/message.h"

namespace assay {
namespace {

Table read(const std::string& text, const TableOptions& options = {}) {
  return read_csv([&] { return memory_bytes("t.csv", text); }, options);
}

std::string complaint(const std::string& text, const TableOptions& options = {}) {
  return message_of([&] { read(text, options); });
}

std::vector<std::vector<std::string>> rows_of(const std::string& text, char delimiter = '\0') {
  CsvRows rows(memory_bytes("t.csv", text), delimiter);
  std::vector<std::vector<std::string>> out;
  while (rows.next()) out.emplace_back(rows.cells().begin(), rows.cells().end());
  return out;
}

using Rows = std::vector<std::vector<std::string>>;

TEST(CsvRows, QuotesAsInRfc4180) {
  EXPECT_EQ(rows_of("a,\"b,\"\"c\"\"\nd\"\r\n1,2\n"), (Rows{{"a", "b,\"c\"\nd"}, {"1", "2"}}));
  EXPECT_EQ(rows_of("a,\"\"\n"), (Rows{{"a", ""}}));
  EXPECT_EQ(rows_of("\"a\" , \"b\"\n"), (Rows{{"a", "b"}}));
}

TEST(CsvRows, LineEndsBomAndBlankLines) {
  EXPECT_EQ(rows_of("a,b\r\n1,2\r3,4\n\n5,6"), (Rows{{"a", "b"}, {"1", "2"}, {"3", "4"}, {"5", "6"}}));
  EXPECT_EQ(rows_of("\xEF\xBB\xBF"
                    "a,b\n"),
            (Rows{{"a", "b"}}));
  EXPECT_EQ(rows_of(""), Rows{});
  EXPECT_EQ(rows_of("\n\n"), Rows{});
}

TEST(CsvRows, BlanksAroundUnquotedCellsAreDroppedAndQuotesInsideThemKept) {
  EXPECT_EQ(rows_of(" a ,\t5\" pipe, \n"), (Rows{{"a", "5\" pipe", ""}}));
}

TEST(CsvRows, FindsTheDelimiterOutsideQuotes) {
  EXPECT_EQ(rows_of("a;\"b,c,d\"\n")[0].size(), 2u);
  EXPECT_EQ(rows_of("a\tb\n")[0].size(), 2u);
  EXPECT_EQ(rows_of("a|b|c,\n")[0].size(), 3u);
  EXPECT_EQ(rows_of("alone\n")[0].size(), 1u);
}

TEST(CsvRows, LongCellsAndRowsCrossTheBuffer) {
  const std::string longest(700000, 'x');
  const auto rows = rows_of("a,\"" + longest + "\"\"\"\n" + longest + ",b\n");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0][1], longest + "\"");
  EXPECT_EQ(rows[1][0], longest);
}

TEST(CsvRows, CountsLinesThroughQuotedLineEnds) {
  CsvRows rows(memory_bytes("t.csv", "a,\"1\n2\n3\"\n\nb,c\n"));
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.line(), 1u);
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.line(), 5u);
}

// A naive writer is the independent source: what it writes must be read back, wherever the buffer happens to end.
RC_GTEST_PROP(CsvRows, ReadsBackWhatAPlainWriterWrites, ()) {
  const auto width = *rc::gen::inRange<size_t>(2, 5);
  const auto cell = rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab ,;\"\n\r\t|\xC3\xA9")));
  Rows expected = *rc::gen::container<Rows>(rc::gen::container<std::vector<std::string>>(width, cell));
  std::string text;
  for (auto& row : expected) {
    for (size_t j = 0; j < width; ++j) {
      // The alphabet's last letter is two bytes long; single halves of it are not valid UTF-8.
      std::erase_if(row[j], [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
      if (j > 0) text += ',';
      text += '"';
      for (const char c : row[j]) text += c == '"' ? "\"\"" : std::string(1, c);
      text += '"';
    }
    text += "\n";
  }
  RC_ASSERT(rows_of(text, ',') == expected);
}

TEST(Csv, InfersKindsNamesAndMissing) {
  const Table t = read("age,job,score\n39,clerk,1.5\n?,,NA\n17,boss,NaN\n");
  ASSERT_EQ(t.columns.size(), 3u);
  EXPECT_EQ(t.columns[0].name, "age");
  EXPECT_EQ(t.columns[0].kind, ColumnKind::numeric);
  EXPECT_EQ(t.columns[1].kind, ColumnKind::categorical);
  EXPECT_EQ(t.columns[1].levels, (std::vector<std::string>{"boss", "clerk"}));
  EXPECT_EQ(t.values(0, 0), 39);
  EXPECT_EQ(t.values(0, 1), 1);
  EXPECT_EQ(t.values(2, 1), 0);
  EXPECT_TRUE(std::isnan(t.values(1, 0)));
  EXPECT_TRUE(std::isnan(t.values(1, 1)));
  EXPECT_TRUE(std::isnan(t.values(1, 2)));
  EXPECT_TRUE(std::isnan(t.values(2, 2)));
}

TEST(Csv, QuotedMissingTokensAreText) {
  const Table t = read("country\n\"NA\"\nNA\nDE\n");
  EXPECT_EQ(t.columns[0].levels, (std::vector<std::string>{"DE", "NA"}));
  EXPECT_EQ(t.values(0, 0), 1);
  EXPECT_TRUE(std::isnan(t.values(1, 0)));
}

TEST(Csv, QuotedInfinityAndNanAreWords) {
  const Table t = read("word,n\n\"inf\",1\n\"nan\",inf\n");
  EXPECT_EQ(t.columns[0].levels, (std::vector<std::string>{"inf", "nan"}));
  EXPECT_EQ(t.columns[1].kind, ColumnKind::numeric);
  EXPECT_TRUE(std::isinf(t.values(1, 1)));
  EXPECT_EQ(read("inf,nan\n1,2\n").columns[0].name, "inf");
}

TEST(Csv, TooManyColumnsAreRefused) {
  std::string line(2 * CsvRows::kMostColumns + 2, ',');
  EXPECT_EQ(complaint(line), "t.csv, line 1: expected at most 4194304 cells, found more");
}

TEST(Csv, HeaderIsDetectedOrTold) {
  EXPECT_EQ(read("5.1,setosa\n4.9,setosa\n").rows(), 2u);
  EXPECT_EQ(read("5.1,setosa\n4.9,setosa\n").columns[0].name, "x1");
  EXPECT_EQ(read("a,b\n1,2\n").rows(), 1u);
  // pandas numbers unnamed columns 0, 1, 2.
  EXPECT_EQ(read("0,1,2\n5,6,7\n").columns[1].name, "1");
  EXPECT_EQ(read("0,1,3\n5,6,7\n").rows(), 2u);
  TableOptions no;
  no.header = TableOptions::Header::no;
  EXPECT_EQ(read("a,b\nc,d\n", no).rows(), 2u);
  TableOptions yes;
  yes.header = TableOptions::Header::yes;
  EXPECT_EQ(read("1,2\n3,4\n", yes).columns[0].name, "1");
}

TEST(Csv, AColumnThatTurnsOutCategoricalLateIsReadAgain) {
  std::string text = "a,b,c\n";
  for (int i = 0; i < 3000; ++i) text += "007,1," + std::to_string(i) + "\n";
  text += "x,2,3\n7,y,4\n";
  const Table t = read(text);
  EXPECT_EQ(t.rows(), 3002u);
  EXPECT_EQ(t.columns[0].levels, (std::vector<std::string>{"007", "7", "x"}));
  EXPECT_EQ(t.columns[1].levels, (std::vector<std::string>{"1", "2", "y"}));
  EXPECT_EQ(t.columns[2].kind, ColumnKind::numeric);
  EXPECT_EQ(t.values(3001, 0), 1);
}

TEST(Csv, LabelAndIdByNameAndPosition) {
  TableOptions options;
  options.label = "-1";
  options.id = "name";
  const Table t = read("name,x,y\nann,1,a\nbob,2,b\n", options);
  EXPECT_EQ(t.ids, (std::vector<std::string>{"ann", "bob"}));
  EXPECT_EQ(t.id_name, "name");
  ASSERT_EQ(t.columns.size(), 2u);
  EXPECT_EQ(t.label, 1u);
  EXPECT_EQ(t.values(1, 0), 2);
}

TEST(Csv, KindsCanBeDeclared) {
  TableOptions options;
  options.categorical = {"zip"};
  const Table t = read("zip,v\n01234,1\n1234,2\n", options);
  EXPECT_EQ(t.columns[0].levels, (std::vector<std::string>{"01234", "1234"}));
}

TEST(Csv, LargeWholeNumbersAreCountedWhereTheyLoseDigits) {
  const Table t = read("n\n16777216\n16777217\n0.1\n123456789012\n");
  EXPECT_EQ(t.columns[0].rounded, 2u);
}

TEST(Csv, EveryMalformedTableGivesOneSentence) {
  EXPECT_EQ(complaint(""), "t.csv: expected a table with at least one row, found an empty file");
  EXPECT_EQ(complaint("\n\n"), "t.csv: expected a table with at least one row, found an empty file");
  EXPECT_EQ(complaint("a,b\n"), "t.csv: expected at least one row below the header, found none");
  EXPECT_EQ(complaint("a,b\n1,2\n3\n"), "t.csv, line 3: expected 2 cells as in line 1, found 1");
  EXPECT_EQ(complaint("a,b\n1,2,3\n"), "t.csv, line 2: expected 2 cells as in line 1, found 3");
  EXPECT_EQ(complaint("a,b\n1,\"2\n3,4\n"),
            "t.csv, line 2, column 2: expected a closing quote, found the end of the file");
  EXPECT_EQ(complaint("a,b\n1,\"2\"x\n"),
            "t.csv, line 2, column 2: expected the end of the cell after its closing quote, found 'x'");
  EXPECT_EQ(complaint("a,b,a\n1,2,3\n"),
            "t.csv, line 1, column 3: expected a name no other column has, found 'a' again");
  EXPECT_EQ(complaint("a,,c\nu,v,w\n"),
            "t.csv, line 1, column 2: expected the name of the column, found an empty cell");
  EXPECT_EQ(complaint(std::string("a,b\n1,\0\n", 8)),
            "t.csv, line 2, column 2: expected text, found a NUL byte (is this a binary file?)");
  EXPECT_EQ(complaint("a,b\n1,\xFF\xC3\n"),
            "t.csv, line 2, column 2: expected UTF-8 text, found bytes that are not valid UTF-8");
  EXPECT_EQ(complaint("\xFF\xFE"
                      "a"),
            "t.csv: expected UTF-8 text, found UTF-16 (save it as UTF-8)");
}

TEST(Csv, BadOptionsGiveOneSentence) {
  TableOptions numeric;
  numeric.numeric = {"b"};
  EXPECT_EQ(complaint("a,b\n1,2\n3,x\n", numeric),
            "t.csv, line 3, column 2 ('b'): expected a number (float32), found 'x'");
  EXPECT_EQ(complaint("a,b\n1,1e39\n", numeric),
            "t.csv, line 2, column 2 ('b'): expected a number (float32), found '1e39'");
  TableOptions label;
  label.label = "lable";
  EXPECT_EQ(complaint("label,b\n1,2\n", label),
            "t.csv: there is no column 'lable' (did you mean 'label'?); the columns are 'label' and 'b'");
  label.label = "3";
  EXPECT_EQ(complaint("label,b\n1,2\n", label), "t.csv: expected a column from 1 to 2 or -1 to -2, found 3");
  TableOptions both;
  both.label = both.id = "b";
  EXPECT_EQ(complaint("a,b\n1,2\n", both), "t.csv: column 'b' cannot be both label and id");
  TableOptions twice;
  twice.numeric = twice.categorical = {"a"};
  EXPECT_EQ(complaint("a,b\n1,2\n", twice), "t.csv: column 'a' is declared twice, with different kinds");
}

TEST(Csv, WritesWhatReadsBackEqual) {
  Table t = read("id,x,job\nr1,0.1,\"a,b\"\nr2,,\"say \"\"hi\"\"\"\nr3,-3e-40,NA\nr4,16777215,\"NA\"\n", [] {
    TableOptions o;
    o.id = "id";
    return o;
  }());
  for (const std::string extension : {".csv", ".tsv", ".psv", ".csv.gz", ".csv.xz"}) {
    const std::string path = ::testing::TempDir() + "written" + extension;
    write_csv(t, path);
    TableOptions options;
    options.id = "id";
    const Table back = read_csv(reopenable(path), options);
    EXPECT_EQ(back.ids, t.ids);
    ASSERT_EQ(back.columns.size(), 2u);
    EXPECT_EQ(back.columns[1].levels, t.columns[1].levels);
    for (size_t i = 0; i < t.rows(); ++i) {
      for (size_t j = 0; j < 2; ++j) {
        const float a = t.values(i, j);
        const float b = back.values(i, j);
        EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << i << ' ' << j;
      }
    }
  }
}

TEST(Csv, OneColumnOfMissingValuesKeepsItsRows) {
  const Table t = read("x\n1\nNA\n3\n");
  const std::string path = ::testing::TempDir() + "one_column.csv";
  write_csv(t, path);
  EXPECT_EQ(read_csv(reopenable(path)).rows(), 3u);
}

// The issue every large table has: the rows must not be held twice while they are read.
TEST(Csv, PeakMemoryIsTheMatrixAndABuffer) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers take memory of their own";
#endif
  const std::string path = ::testing::TempDir() + "peak_memory.csv";
  {
    std::ofstream file(path);
    for (int i = 0; i < 200000; ++i) file << i << ",0.5,0.25,0.125,1,2,3,4,5,6\n";
  }
  // In a process of its own, whose peak is its own.
  const pid_t child = ::fork();
  if (child == 0) {
    const auto peak = [] {
      rusage usage{};
      ::getrusage(RUSAGE_SELF, &usage);
      return static_cast<double>(usage.ru_maxrss) * 1024;
    };
    const double before = peak();
    const Table table = read_csv(reopenable(path));
    ::_exit(peak() - before <= 1.5 * static_cast<double>(table.values.values().size_bytes()) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "more than 1.5 times the matrix";
}

TEST(Csv, AFirstColumnWithoutANameNamesTheRows) {
  const Table t = read(",age,y\n7,1.5,a\nx,2,b\n");
  EXPECT_EQ(t.id_name, "index");
  EXPECT_EQ(t.ids, (std::vector<std::string>{"7", "x"}));
  ASSERT_EQ(t.columns.size(), 2u);
  EXPECT_EQ(t.columns[0].name, "age");
  TableOptions options;
  options.id = "age";
  const Table own = read(",age,b\n7,1.5,1\n8,2,2\n", options);
  EXPECT_EQ(own.id_name, "age");
  ASSERT_EQ(own.columns.size(), 1u) << "beside other names it is nothing to learn from";
  EXPECT_EQ(own.columns[0].name, "b");
  EXPECT_EQ(own.values(1, 0), 2);
  options.id = "index";
  EXPECT_EQ(read(",age\n0,1.5\n1,2\n", options).ids, (std::vector<std::string>{"0", "1"}));
  // One that only counts the rows names nothing.
  const Table counted = read(",age,y\n0,1.5,a\n1,2,b\n");
  EXPECT_TRUE(counted.ids.empty() && counted.id_name.empty());
  ASSERT_EQ(counted.columns.size(), 2u);
  // pandas numbers the columns of an array, behind an empty cell.
  const Table numbered = read(",0,1\n0,1.5,7\n1,2,8\n");
  ASSERT_EQ(numbered.columns.size(), 2u);
  EXPECT_EQ(numbered.columns[1].name, "1");
  EXPECT_EQ(numbered.rows(), 2u);
  EXPECT_EQ(complaint("a,,c\nx,2,3\n"),
            "t.csv, line 1, column 2: expected the name of the column, found an empty cell");
  EXPECT_EQ(read(",index\nx,2\n").columns[0].name, "index");
}

// Words of databases and spreadsheets are missing among numbers, and levels among texts.
TEST(Csv, WordsForNothing) {
  for (const char* word : {"NULL", "null", "None", "N/A", "n/a", "#N/A", "<NA>"}) {
    const Table t = read(std::string("a,b,c\n1,x,-1\n") + word + "," + word + ",NA\n3,z,?\n");
    EXPECT_EQ(t.columns[0].kind, ColumnKind::numeric) << word;
    EXPECT_TRUE(std::isnan(t.values(1, 0))) << word;
    EXPECT_EQ(t.columns[1].levels.size(), 3u) << word;
    TableOptions options;
    options.missing = {"-1"};
    const Table more = read("c\n-1\nNA\n?\n\"\"\n5\n", options);
    EXPECT_EQ(more.columns[0].kind, ColumnKind::numeric) << "the usual words stay missing";
    EXPECT_EQ(more.values(4, 0), 5);
    EXPECT_TRUE(std::isnan(more.values(0, 0)) && std::isnan(more.values(1, 0)) && std::isnan(more.values(2, 0)));
  }
}

TEST(Csv, NumbersThatStandForMissingCells) {
  TableOptions options;
  options.missing = {"-999", "99"};
  KeptDoubles doubles;
  options.doubles = &doubles;
  const Table t = read("a,b,c\n1,-999,x\n-999.0,99,-999\n\"-999\",5,y\n99.5,-9.99e2,z\n", options);
  const auto is_missing = [&](size_t row, size_t column) { return std::isnan(t.values(row, column)); };
  EXPECT_EQ(t.values(0, 0), 1);
  EXPECT_TRUE(is_missing(1, 0) && is_missing(2, 0) && is_missing(0, 1) && is_missing(1, 1) && is_missing(3, 1));
  EXPECT_EQ(t.values(3, 0), 99.5F);
  EXPECT_EQ(t.values(2, 1), 5);
  EXPECT_TRUE(is_missing(1, 2)) << "among words too";
  EXPECT_EQ(t.columns[2].levels, (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_EQ(read("a\n1\n-999\n").values(1, 0), -999) << "unless nobody said so";
}

TEST(Csv, NumbersWithCommasAreNoText) {
  const auto refused = [](const std::string& cells) {
    return complaint("a;b\n" + cells)
        .starts_with("t.csv, column 'a': expected numbers with a decimal point and nothing between thousands");
  };
  EXPECT_TRUE(refused("12,5;1\n3;2\n"));
  EXPECT_TRUE(refused("1.234,5;1\n-3,25;2\n"));
  EXPECT_TRUE(refused("1,234;1\n1,234,567.5;2\n"));
  EXPECT_TRUE(refused("12,5;1\nNA;2\n"));
  // Text with commas is text.
  for (const char* cells : {"12,5;1\nx;2\n", "1,2,3;1\n4,5,6;2\n", "a,b;1\nc;2\n", ",5;1\n,6;2\n", "12,;1\n13,;2\n",
                            "1,2345.5;1\n1,2345.6;2\n", "1,5 %;1\n2,5 %;2\n"}) {
    EXPECT_FALSE(refused(cells)) << cells;
  }
  TableOptions options;
  options.categorical = {"a"};
  EXPECT_EQ(read("a;b\n12,5;1\n3;2\n", options).columns[0].levels, (std::vector<std::string>{"12,5", "3"}));
}

TEST(Csv, NamesAndLinesToSkip) {
  TableOptions options;
  options.names = {"a", "b"};
  options.skip_lines = 2;
  const Table t = read("a remark, \"unclosed\n\n1,2\n3,4\n", options);
  EXPECT_EQ(t.rows(), 2u);
  EXPECT_EQ(t.columns[1].name, "b");
  EXPECT_EQ(complaint("x\ny\n1,2\n3\n", options), "t.csv, line 4: expected 2 cells as in line 3, found 1");
  EXPECT_EQ(complaint("x\ny\n1,2,3\n", options), "t.csv, line 3: expected 2 cells, one for each name, found 3");
  EXPECT_EQ(complaint("x\n", options), "t.csv: expected a table with at least one row, found an empty file");
}

TEST(Csv, CancellationStopsReading) {
  std::string text = "a\n";
  for (int i = 0; i < 10000; ++i) text += "1\n";
  const std::atomic<bool> cancelled{true};
  Context context;
  context.cancelled = &cancelled;
  EXPECT_EQ(message_of([&] { read_csv([&] { return memory_bytes("t", text); }, {}, context); }), "interrupted");
}

TEST(Utf8, KnowsItsRules) {
  EXPECT_TRUE(valid_utf8("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"));
  for (const char* bad : {"\x80", "\xC3", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                          "\xF5\x80\x80\x80", "\xE2\x82", "\xF0\x9F\x98"}) {
    EXPECT_FALSE(valid_utf8(bad)) << bad;
  }
}

}  // namespace
}  // namespace assay
